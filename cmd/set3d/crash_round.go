package main

import (
	"context"
	"time"
)

const (
	// crashPatience is for what must come while the server is there: players who come back, matches that end.
	crashPatience = 2 * time.Minute
	// triggerLimit is when the server is killed although what was waited for has not happened.
	triggerLimit = 5 * time.Second
	// rankedLimit is the same for a ranked match, whose players find each other first.
	rankedLimit = 12 * time.Second
	backPoll    = 20 * time.Millisecond
)

// crashPoint is after what the server is killed.
type crashPoint uint8

const (
	atVerdict crashPoint = iota
	atEnd
	atStart
	atReturn
	atRankedVerdict
	atRankedEnd
	atAnyTime
)

func (p crashPoint) String() string {
	return [...]string{
		atVerdict: "a verdict", atEnd: "an end", atStart: "a start", atReturn: "a return",
		atRankedVerdict: "a verdict of a ranked match", atRankedEnd: "an end of a ranked match", atAnyTime: "some time",
	}[p]
}

// trigger fires when something has happened so many times.
type trigger struct {
	point crashPoint
	left  int
	limit time.Duration
	fire  chan struct{}
}

// happened tells the trigger, if it waits for that.
func (c *crasher) happened(point crashPoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.trigger; t != nil && t.point == point && t.left > 0 {
		if t.left--; t.left == 0 {
			close(t.fire)
		}
	}
}

// plan chooses when the server is to be killed.
func (c *crasher) plan() (*trigger, time.Duration) {
	points := [...]crashPoint{
		atVerdict, atVerdict, atVerdict, atEnd, atEnd, atEnd, atStart, atReturn, atRankedVerdict,
		atRankedEnd, atRankedEnd, atAnyTime,
	}
	t := &trigger{point: points[c.random.IntN(len(points))], limit: triggerLimit, fire: make(chan struct{})}
	delay := time.Duration(c.random.IntN(3_000)) * time.Microsecond
	switch t.point {
	case atVerdict:
		t.left = 1 + c.random.IntN(4*c.flags.matches)
	case atEnd:
		t.left = 1 + c.random.IntN(3)
		delay *= 10 // the settlement takes some writes
	case atStart:
		t.left = 1 + c.random.IntN(2)
	case atReturn:
		t.left = 1 + c.random.IntN(2*c.flags.matches)
	case atRankedVerdict:
		t.left, t.limit = 1+c.random.IntN(2*c.flags.matches), rankedLimit
	case atRankedEnd:
		t.left, t.limit = 1+c.random.IntN(2), rankedLimit
		delay *= 10
	case atAnyTime:
		delay *= 500
		close(t.fire)
	}
	return t, delay
}

// round plays for a while, ends something, lets some players stay away if it was the server, and starts it again.
func (c *crasher) round(ctx context.Context, n int) error {
	t, delay := c.plan()
	way := c.ways[c.random.IntN(len(c.ways))]
	outage := shortestOutage + time.Duration(c.random.Int64N(int64(longestOutage-shortestOutage)))
	c.mu.Lock()
	c.trigger = t
	c.mu.Unlock()
	if t.point != atReturn {
		if err := c.awaitAll(ctx); err != nil {
			return err
		}
	}
	select {
	case <-t.fire:
	case <-time.After(t.limit):
	case <-ctx.Done():
		return ctx.Err()
	}
	time.Sleep(delay)
	if err := c.died(); err != nil {
		return err
	}
	life := c.life()
	if err := c.strike(ctx, way, outage); err != nil {
		return err
	}
	away := 0
	if c.life() > life {
		away = c.sendAway()
	}
	begun, over := c.progressed()
	c.say("round %d of %d: %v after %v; %d matches so far, %d of them over, %d players stay away",
		n, c.flags.rounds, way, t.point, begun, over, away)
	if c.life() > life {
		return c.server.start(ctx)
	}
	return nil
}

// died says that the server or its database has ended by itself, or nil.
func (c *crasher) died() error {
	if c.database != nil {
		if err := c.database.died(); err != nil {
			return err
		}
	}
	return c.server.died()
}

// awaitAll waits until all who want to have come back.
func (c *crasher) awaitAll(ctx context.Context) error {
	deadline := time.Now().Add(crashPatience)
	for {
		missing := 0
		life := c.life()
		for _, m := range c.all() {
			missing += m.missing(life)
		}
		if missing == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			for _, m := range c.all() {
				m.complainOfSeats(c)
			}
			return exit(exitWrong, "not everybody came back in %v", crashPatience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(backPoll):
		}
		if err := c.died(); err != nil {
			return err
		}
	}
}

// sendAway lets some players never come back: all of a match, or one.
func (c *crasher) sendAway() int {
	away := 0
	for _, m := range c.all() {
		if m.isDone() {
			continue
		}
		switch dice := c.leaving.IntN(100); {
		case dice < 6:
			away += m.leave(-1)
		case dice < 14:
			away += m.leave(c.leaving.IntN(len(m.seats)))
		}
	}
	return away
}

func (c *crasher) progressed() (begun, over int) {
	for _, m := range c.all() {
		begun++
		if m.isDone() {
			over++
		}
	}
	return begun, over
}
