package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"set3d/client"
)

func crash(cmd *cobra.Command, flags crashFlags) error {
	ways, err := flags.check()
	if err != nil {
		return err
	}
	if flags.seed == 0 {
		flags.seed = rand.Uint64()
	}
	server, err := newVictim(&flags)
	if err != nil {
		return err
	}
	c, format, err := flags.server.open()
	if err != nil {
		return err
	}
	db := newDatabase(flags.database)
	if db != nil {
		defer db.close()
	}
	pen := newPen(cmd.OutOrStdout())
	defer server.close() // before its database
	pen.printf("Seed %d: %s, %s at once, durability %s\n", flags.seed, count(flags.rounds, "round"), count(flags.matches, "match"), flags.durability)
	if flags.keep && server.folder != "" {
		pen.printf("The state is in %s\n", server.folder)
	}
	cr := &crasher{
		flags: flags, client: c, format: format, server: server, database: db, ways: ways, pen: pen,
		progress: cmd.ErrOrStderr(),
		random:   rand.New(rand.NewPCG(flags.seed, 0xc4a54)),
		leaving:  rand.New(rand.NewPCG(flags.seed, 0x1eaf)),
	}
	if err := cr.run(cmd.Context()); err != nil {
		if cmd.Context().Err() != nil {
			cr.interrupted()
			return exit(exitStopped, "interrupted")
		}
		return explain(err, c.URL())
	}
	return cr.verdict()
}

// crasher plays and kills.
type crasher struct {
	flags    crashFlags
	client   *client.Client
	format   client.Format
	server   *victim
	database *database // or nil
	ways     []crashWay
	seeking  [len(crashKinds)]sync.Mutex // held while the players of a ranked match of this kind look for each other
	pen      *pen
	progress io.Writer
	random   *rand.Rand // of when and what is ended, which the seed repeats; only round draws
	leaving  *rand.Rand // of who stays away; only round draws, more often the more matches there are

	mu       sync.Mutex
	trigger  *trigger
	lives    []lifeEnd // of the server, that have ended
	lastKill bool      // one of the ends is the kill after the last matches
	away     []span
	struck   [crashWays]int // rounds
	orphaned int            // how often a host's database was gone before the server
	overdue  int            // how often a server had to be killed that was asked to end
	users    []*client.User
	ranked   people
	matches  []*crashMatch
	over     bool // no more matches are begun
	wrong    []string
	surplus  int // of wrong, not kept
	finished crashSums

	background sync.WaitGroup // of what lives until run returns
}

// crashSums are what was checked.
type crashSums struct {
	results, untold, records, verdicts, abandoned, resumed int
	// takenBack were told, and are not in the record: all less than the window before a kill.
	takenBack, lostMatches, lostEnds int
	oldest                           time.Duration // before the kill, of these
	// ranked are results of ranked matches, rated of them changed ratings; chain is the most of them that one player
	// had.
	ranked, rated, chain int
}

func (c *crasher) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.wrong) < 50 {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
		return
	}
	c.surplus++
}

// failAt is fail for something of a match. The lock of its ledger is held.
func (c *crasher) failAt(m *crashMatch, format string, args ...any) {
	about := []any{m.made.TableID, m.made.Preset, m.kind.ranked}
	c.fail("table %s, preset %s, ranked %v: "+format, append(about, args...)...)
}

// run plays all rounds, and checks.
func (c *crasher) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.database != nil {
		if err := c.database.start(ctx); err != nil {
			return err
		}
	}
	if err := c.server.start(ctx); err != nil {
		return err
	}
	if err := c.signIn(ctx); err != nil {
		return err
	}
	var tables sync.WaitGroup
	defer c.background.Wait()
	defer tables.Wait()
	defer cancel() // before both waits
	for i := range c.flags.matches {
		tables.Go(func() { c.table(ctx, i) })
	}
	for round := 1; round <= c.flags.rounds; round++ {
		if err := c.round(ctx, round); err != nil {
			return err
		}
	}
	if err := c.playOut(ctx, &tables); err != nil {
		return err
	}
	return c.check(ctx)
}

// killed are the moments of all ends of the server so far.
func (c *crasher) killed() []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	moments := make([]time.Time, len(c.lives))
	for i, end := range c.lives {
		moments[i] = end.at
	}
	return moments
}

// life is how often the server has ended so far.
func (c *crasher) life() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.lives)
}

func (c *crasher) signIn(ctx context.Context) error {
	for range max(4, c.flags.matches) {
		user, err := c.client.AuthenticateDevice(ctx, client.RandomID(), "")
		if err != nil {
			return err
		}
		c.users = append(c.users, user)
	}
	return nil
}

// playOut lets the last matches come to their ends, and those end that nobody comes back to.
func (c *crasher) playOut(ctx context.Context, tables *sync.WaitGroup) error {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.say("the last matches are played to their ends")
	played := make(chan struct{})
	go func() { tables.Wait(); close(played) }()
	select {
	case <-played:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(crashPatience):
		for _, m := range c.all() {
			m.complainOfSeats(c)
		}
		return nil
	}
	c.say("waiting %v, so that what nobody came back to is abandoned", c.flags.resumeWithin+time.Second)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(c.flags.resumeWithin + time.Second):
	}
	c.kill()
	c.mu.Lock()
	c.lastKill = true
	c.mu.Unlock()
	return c.server.start(ctx)
}

func (c *crasher) all() []*crashMatch {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*crashMatch(nil), c.matches...)
}

func (c *crasher) say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.progress, format+"\n", args...)
}
