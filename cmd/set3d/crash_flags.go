package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

const (
	maxCrashRounds  = 100_000
	maxCrashMatches = 200
)

type crashFlags struct {
	server       serverFlags
	command      string
	database     string
	ways         string
	grace        time.Duration
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
		Long: `crash starts a server, plays many matches on it with automatic players, ranked ones among them, ends it at chosen
moments (after a verdict, at the end of a match, while results are written, while players come back), starts it again,
and lets the players come back; some never do. At the end it asks for every result, record, history and statistic, and
compares them with what the players were told:

  - no verdict, no score and no forfeit that was told is missing; with --durability fast only what was told less than
    --checkpoint before a kill of the server may be, and wrong claims that cost nothing and were told less than six
    seconds before that
  - every match that began has one result, also those to which nobody came back
  - every record verifies itself and agrees with its result, and its deck is the one that was committed to
  - the statistics of every player are the sum of the history
  - the changes of ratings in a player's ranked results follow from one another, from a newcomer's rating to the one
    in the statistics and on the leaderboard; a match that was abandoned, or decided by who did not come back after a
    restart, changes none
  - a match's incarnation rises by one with every restart of the server

Without --server it starts the development host of this program, with its state in a temporary file. With --server it
runs a shell command that must stay in the foreground until it is ended, and waits until a server answers at --url.
The command gets what it should be set to in its environment: SET3D_DURABILITY, SET3D_CHECKPOINT_MS,
SET3D_RESUME_WITHIN_MS and some limits, all of them in SET3D_SETTINGS too, as KEY=VALUE with blanks between.

With --database it runs the server's PostgreSQL as well: a shell command that stays in the foreground and writes
PostgreSQL's log to standard error or output. Each signal goes to the command's process group, which has ended when
all of it has. It is started before the server, and whatever the server needs in it must be there. --ways chooses
among:

  server    SIGKILL of the server
  database  SIGKILL of PostgreSQL, which is started again while the server lives
  both      SIGKILL of both
  host      SIGTERM to both at the same moment, and SIGKILL to what is left after --grace, as at a restart of the
            host. To PostgreSQL this is a smart shutdown, which waits for its clients
  outage    a fast shutdown of PostgreSQL (SIGINT), which is started again some seconds later while the server lives
  isolated  the same, and SIGKILL of the server before PostgreSQL is started again

With --durability safe nothing that was told may be missing, in any way. The server is set to
SET3D_SAFE_WAIT_MS=60000, its maximum: a database that is away for longer than this lets it tell what it could not
store. With --durability fast nothing may be missing after database and outage, nor after a host that stopped in time,
unless PostgreSQL ended before the server. If the server is killed while its database is away, or less than 20 s after
that, what was told since then may be missing: what --checkpoint bounds is how long a write waits before it is tried.
` + exitCodesHelp,
		Example: `  set3d crash
  set3d crash --rounds 1000 --durability fast
  set3d crash --ways server,host                        # the development host is killed, or asked to end
  set3d crash --seed 7                                  # the same choices as in the run that printed it
  set3d crash --server ./start-nakama.sh --url http://127.0.0.1:7350 --rounds 20
  set3d crash --server ./start-nakama.sh --database 'exec postgres -D ./data -p 5433' --rounds 20`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return crash(cmd, flags) },
	}
	flags.add(cmd)
	return cmd
}

func (f *crashFlags) add(cmd *cobra.Command) {
	f.server.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.command, "server", "",
		"a shell command that runs the server; empty: the development host of this program")
	flags.StringVar(&f.database, "database", "",
		"a shell command that runs the PostgreSQL of the server, to be ended too; needs --server")
	flags.StringVar(&f.ways, "ways", "",
		"what is ended, with commas between; empty: server, and with --database all there are")
	flags.DurationVar(&f.grace, "grace", 45*time.Second, "how long the host's way waits until it kills")
	flags.IntVar(&f.rounds, "rounds", 5, fmt.Sprintf("how often something is ended, 1 to %d", maxCrashRounds))
	flags.IntVar(&f.matches, "matches", 12, fmt.Sprintf("how many are played at once, 1 to %d", maxCrashMatches))
	flags.Uint64Var(&f.seed, "seed", 0, "makes the same choices again; 0: any, which is printed")
	flags.StringVar(&f.durability, "durability", "safe", "what the server is set to and held to: safe or fast")
	flags.DurationVar(&f.checkpoint, "checkpoint", 500*time.Millisecond,
		"how old what is lost may be with --durability fast, besides a second for the write")
	flags.DurationVar(&f.resumeWithin, "resume-within", 10*time.Second,
		"how long an interrupted match waits for its players")
	flags.DurationVar(&f.pace, "pace", 150*time.Millisecond, "mean time that a player takes to find a Set")
	flags.BoolVar(&f.keep, "keep", false, "keep the state file of the development host, and say where it is")
}

func (f *crashFlags) check() ([]crashWay, error) {
	switch {
	case f.rounds < 1 || f.rounds > maxCrashRounds:
		return nil, exit(exitUsage, "--rounds is %d, want 1 to %d", f.rounds, maxCrashRounds)
	case f.matches < 1 || f.matches > maxCrashMatches:
		return nil, exit(exitUsage, "--matches is %d, want 1 to %d", f.matches, maxCrashMatches)
	case f.durability != "safe" && f.durability != "fast":
		return nil, exit(exitUsage, "--durability %q: want safe or fast", f.durability)
	case f.database != "" && f.command == "":
		return nil, exit(exitUsage, "--database needs --server: the development host has no database of its own")
	}
	for _, d := range []struct {
		flag               string
		value, least, most time.Duration
	}{
		{"checkpoint", f.checkpoint, 10 * time.Millisecond, time.Minute},
		{"resume-within", f.resumeWithin, time.Second, time.Hour},
		{"pace", f.pace, 10 * time.Millisecond, time.Minute}, {"grace", f.grace, time.Second, time.Hour},
	} {
		if d.value < d.least || d.value > d.most {
			return nil, exit(exitUsage, "--%s is %v, want %v to %v", d.flag, d.value, d.least, d.most)
		}
	}
	return readWays(f.ways, f.database != "")
}
