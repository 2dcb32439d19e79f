package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// crashWay is what is ended in a round, and how.
type crashWay uint8

const (
	killServer   crashWay = iota
	killDatabase          // the server lives on
	killBoth
	stopHost     // both are asked to end at the same moment
	loseDatabase // it is away for some seconds; the server lives on
	loseBoth     // the server is killed while the database is away
	crashWays
)

func (w crashWay) String() string {
	return [...]string{"server", "database", "both", "host", "outage", "isolated"}[w]
}

// needsDatabase reports whether a way needs a database of its own.
func (w crashWay) needsDatabase() bool {
	return w != killServer && w != stopHost
}

const (
	// stopLimit is how long a database may take for its fast shutdown.
	stopLimit = 30 * time.Second
	// shortestOutage and longestOutage are for how long a database is away, besides its shutdown and start.
	shortestOutage = time.Second
	longestOutage  = 6 * time.Second
	// disconnected is how long before its end a server may have left its database, which then ends.
	disconnected = 500 * time.Millisecond
	// catchUp is after how long the server has written all that it could not write while the database was away.
	catchUp = 20 * time.Second
)

// readWays reads names with commas between; a way that is named twice is chosen twice as often. None: those that there
// can be.
func readWays(text string, hasDatabase bool) ([]crashWay, error) {
	if text == "" && !hasDatabase {
		return []crashWay{killServer}, nil
	}
	var ways []crashWay
	if text == "" {
		for w := range crashWays {
			ways = append(ways, w)
		}
		return ways, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		w := killServer
		for w < crashWays && w.String() != name {
			w++
		}
		switch {
		case w == crashWays:
			return nil, exit(exitUsage, "--ways: %q: want server, database, both, host, outage, isolated", name)
		case w.needsDatabase() && !hasDatabase:
			return nil, exit(exitUsage, "--ways: %s needs --database", name)
		}
		ways = append(ways, w)
	}
	return ways, nil
}

// lifeEnd is how a run of the server ended.
type lifeEnd struct {
	way crashWay
	at  time.Time // when the server was gone
	// stored is from when on something may not have been stored, before the time that a write takes.
	stored time.Time
	// whole says that the server has ended when it was asked to, and its database not before: nothing is lost.
	whole bool
}

// span is for how long the database was away while the server lived.
type span struct{ from, to time.Time }

// strike ends what the way says, and starts the database again. If the server has ended, it is to be started.
func (c *crasher) strike(ctx context.Context, way crashWay, outage time.Duration) error {
	c.mu.Lock()
	c.struck[way]++
	c.mu.Unlock()
	switch way {
	case killDatabase, loseDatabase, loseBoth:
		return c.takeAway(ctx, way, outage)
	case killBoth:
		var both sync.WaitGroup
		both.Go(c.database.kill)
		both.Go(c.server.kill)
		both.Wait()
		c.lifeOver(lifeEnd{way: way, at: c.server.goneAt})
		return c.database.start(ctx)
	case stopHost:
		return c.stopHost(ctx)
	default:
		c.kill()
		return nil
	}
}

// kill kills the server, and notes when.
func (c *crasher) kill() {
	c.server.kill()
	c.lifeOver(lifeEnd{at: c.server.goneAt})
}

// takeAway lets the database be away while the server lives, or until it is killed.
func (c *crasher) takeAway(ctx context.Context, way crashWay, outage time.Duration) error {
	from := time.Now()
	if way == killDatabase {
		c.database.kill()
	} else {
		if !c.database.stop(syscall.SIGINT, stopLimit) {
			c.say("the database was killed: it has not stopped in %v", stopLimit)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(outage):
		}
	}
	if way == loseBoth {
		c.server.kill()
		c.lifeOver(lifeEnd{way: way, at: c.server.goneAt, stored: from})
		return c.database.start(ctx)
	}
	err := c.database.start(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = append(c.away, span{from, time.Now()})
	c.trigger = nil
	return err
}

// stopHost asks server and database to end at the same moment, as a host does that is restarted.
func (c *crasher) stopHost(ctx context.Context) error {
	var both sync.WaitGroup
	var killed bool
	both.Go(func() { killed = !c.server.stop(syscall.SIGTERM, c.flags.grace) })
	if c.database != nil {
		both.Go(func() { c.database.stop(syscall.SIGTERM, c.flags.grace) })
	}
	both.Wait()
	end := lifeEnd{way: stopHost, at: c.server.goneAt, whole: !killed}
	c.mu.Lock()
	c.overdue += oneIf(killed)
	c.mu.Unlock()
	if c.database != nil && c.server.goneAt.Sub(c.database.goneAt) > disconnected {
		end.whole, end.stored = false, c.database.goneAt
		c.mu.Lock()
		c.orphaned++
		c.mu.Unlock()
		c.say("the database ended %v before the server", c.server.goneAt.Sub(c.database.goneAt).Round(time.Millisecond))
	}
	c.lifeOver(end)
	if c.database == nil {
		return nil
	}
	return c.database.start(ctx)
}

// lifeOver notes how a run of the server ended.
func (c *crasher) lifeOver(end lifeEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end.stored.IsZero() {
		end.stored = end.at
	}
	for _, away := range slices.Backward(c.away) {
		if end.stored.Sub(away.to) < catchUp {
			end.stored = away.from
		}
	}
	c.lives = append(c.lives, end)
	c.trigger = nil
}

// mayLose reports whether what was told then may be taken back by the end of that life.
func (c *crasher) mayLose(life int, at time.Time) bool {
	return c.mayLoseWithin(c.flags.checkpoint+writeSlack, life, at)
}

func (c *crasher) mayLoseWithin(most time.Duration, life int, at time.Time) bool {
	if c.flags.durability != "fast" || life >= len(c.lives) {
		return false
	}
	end := c.lives[life]
	return !end.whole && end.stored.Sub(at) <= most
}

// before says how long before the end of a life something happened, for a message.
func (c *crasher) before(life int, at time.Time) string {
	if life >= len(c.lives) {
		return "after the last kill"
	}
	end := c.lives[life]
	what := [...]string{
		killServer: "a kill", killBoth: "a kill of both", stopHost: "the end of a host's shutdown",
		loseBoth: "a kill while the database was away",
	}[end.way]
	return fmt.Sprintf("%v before %s", end.at.Sub(at).Round(time.Microsecond), what)
}

// killCount tells the rounds' kills from the one that is made when the last matches are over, to see that what was
// abandoned is too.
func (c *crasher) killCount() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	rounds, kinds := 0, []string{}
	for way, n := range c.struck {
		rounds += n
		if n > 0 {
			kinds = append(kinds, fmt.Sprintf("%s %d", crashWay(way), n))
		}
	}
	text := "Killed " + count(rounds, "time")
	if c.struck[killServer] < rounds {
		text = fmt.Sprintf("%s: %s", count(rounds, "round"), strings.Join(kinds, ", "))
	}
	if c.lastKill && c.struck[killServer] < rounds {
		text += "; the server was killed once more after the last matches"
	} else if c.lastKill {
		text += ", and once more after the last matches"
	}
	return text + "."
}
