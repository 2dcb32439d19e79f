package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"set3d/client"
)

const (
	maxCrashRounds  = 100_000
	maxCrashMatches = 200
)

type crashFlags struct {
	server       serverFlags
	command      string
	rounds       int
	matches      int
	seed         uint64
	durability   string
	checkpoint   time.Duration
	resumeWithin time.Duration
	pace         time.Duration
	keep         bool
}

func newCrashCommand() *cobra.Command {
	var flags crashFlags
	cmd := &cobra.Command{
		Use:   "crash",
		Short: "Kill a server again and again while matches are played, and see that nothing is lost",
		Long: `crash starts a server, plays many matches on it with automatic players, ranked ones among them, kills it without warning at chosen moments
(after a verdict, at the end of a match, while results are written, while players come back), starts it again, and lets the players come back;
some never do. At the end it asks for every result, record, history and statistic, and compares them with what the players were told:

  - no verdict, no score and no forfeit that was told is missing; with --durability fast only what was told less than --checkpoint before a kill may be,
    and wrong claims that cost nothing and were told less than six seconds before that
  - every match that began has one result, also those to which nobody came back
  - every record verifies itself and agrees with its result, and its deck is the one that was committed to
  - the statistics of every player are the sum of the history
  - the changes of ratings in a player's ranked results follow from one another, from a newcomer's rating to the one in the statistics and on the
    leaderboard; a match that was abandoned, or decided by who did not come back after a kill, changes none
  - a match's incarnation rises by one with every restart

Without --server it starts the development host of this program, with its state in a temporary file. With --server it runs a shell command that
must stay in the foreground until it is killed, and waits until a server answers at --url. The command gets what it should be set to
in its environment: SET3D_DURABILITY, SET3D_CHECKPOINT_MS, SET3D_RESUME_WITHIN_MS and some limits, all of them in SET3D_SETTINGS too, as
KEY=VALUE with blanks between.
` + exitCodesHelp,
		Example: `  set3d crash
  set3d crash --rounds 1000 --durability fast
  set3d crash --seed 7                                  # the same choices as in the run that printed it
  set3d crash --server ./start-nakama.sh --url http://127.0.0.1:7350 --rounds 20`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return crash(cmd, flags) },
	}
	flags.server.add(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.command, "server", "", "a shell command that runs the server; empty: the development host of this program")
	f.IntVar(&flags.rounds, "rounds", 5, fmt.Sprintf("how often the server is killed, 1 to %d", maxCrashRounds))
	f.IntVar(&flags.matches, "matches", 12, fmt.Sprintf("how many are played at once, 1 to %d", maxCrashMatches))
	f.Uint64Var(&flags.seed, "seed", 0, "makes the same choices again; 0: any, which is printed")
	f.StringVar(&flags.durability, "durability", "safe", "what the server is set to and held to: safe or fast")
	f.DurationVar(&flags.checkpoint, "checkpoint", 500*time.Millisecond, "how old what is lost may be with --durability fast, besides a second for the write")
	f.DurationVar(&flags.resumeWithin, "resume-within", 10*time.Second, "how long an interrupted match waits for its players")
	f.DurationVar(&flags.pace, "pace", 150*time.Millisecond, "mean time that a player takes to find a Set")
	f.BoolVar(&flags.keep, "keep", false, "keep the state file of the development host, and say where it is")
	return cmd
}

func (f *crashFlags) check() error {
	switch {
	case f.rounds < 1 || f.rounds > maxCrashRounds:
		return exit(exitUsage, "--rounds is %d, want 1 to %d", f.rounds, maxCrashRounds)
	case f.matches < 1 || f.matches > maxCrashMatches:
		return exit(exitUsage, "--matches is %d, want 1 to %d", f.matches, maxCrashMatches)
	case f.durability != "safe" && f.durability != "fast":
		return exit(exitUsage, "--durability %q: want safe or fast", f.durability)
	case f.checkpoint < 10*time.Millisecond || f.checkpoint > time.Minute:
		return exit(exitUsage, "--checkpoint is %v, want 10ms to 1m", f.checkpoint)
	case f.resumeWithin < time.Second || f.resumeWithin > time.Hour:
		return exit(exitUsage, "--resume-within is %v, want 1s to 1h", f.resumeWithin)
	case f.pace < 10*time.Millisecond || f.pace > time.Minute:
		return exit(exitUsage, "--pace is %v, want 10ms to 1m", f.pace)
	}
	return nil
}

func crash(cmd *cobra.Command, flags crashFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	if flags.seed == 0 {
		flags.seed = rand.Uint64()
	}
	server, err := newVictim(&flags)
	if err != nil {
		return err
	}
	defer server.close()
	c, format, err := flags.server.open()
	if err != nil {
		return err
	}
	pen := newPen(cmd.OutOrStdout())
	pen.printf("Seed %d: %s, %s at once, durability %s\n", flags.seed, count(flags.rounds, "kill"), count(flags.matches, "match"), flags.durability)
	if flags.keep && server.folder != "" {
		pen.printf("The state is in %s\n", server.folder)
	}
	cr := &crasher{
		flags: flags, client: c, format: format, server: server, pen: pen, progress: cmd.ErrOrStderr(),
		random: rand.New(rand.NewPCG(flags.seed, 0xc4a54)),
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
	seeking  [len(crashKinds)]sync.Mutex // held while the players of a ranked match of this kind look for each other
	pen      *pen
	progress io.Writer
	random   *rand.Rand // of the choices that the seed repeats; only run draws

	mu       sync.Mutex
	trigger  *trigger
	kills    []time.Time
	lastKill bool // one of the kills is that after the last matches
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
	// ranked are results of ranked matches, rated of them changed ratings; chain is the most of them that one player had.
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

// run plays all rounds, and checks.
func (c *crasher) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
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

// killed are the moments of all kills so far.
func (c *crasher) killed() []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.kills)
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

// kill kills the server, and notes when.
func (c *crasher) kill() {
	c.server.kill()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills = append(c.kills, time.Now())
	c.trigger = nil
}

// life is how often the server was killed so far.
func (c *crasher) life() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.kills)
}

func (c *crasher) all() []*crashMatch {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*crashMatch(nil), c.matches...)
}

func (c *crasher) say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.progress, format+"\n", args...)
}

// errGone says that a server ended by itself.
var errGone = errors.New("the server ended by itself")
