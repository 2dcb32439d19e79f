package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"set3d/domain"
	"set3d/domain/simulation"
)

type simulateFlags struct {
	seeds  uint64
	from   uint64
	league bool
	games  int
}

// The limits of a simulation's flags: slips of the finger are beyond them.
const maxLeagueGames = 1_000_000

func newSimulateCommand() *cobra.Command {
	var flags simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Play random matches without a server, and check the rules after every step",
		Long: `simulate plays one match for each seed: random rules, players, bots and decks, right, wrong and hostile claims, drops, rejoins, and
clocks, straight on the rules and without a server. After every step it checks what must hold in every match: each card is in
exactly one place, an idle board holds a Set, a view rebuilt from the events equals the state, a refusal has changed nothing, a
claim has one answer, the record replays to the same bytes. All of a match follows from its seed. When something does not hold, the
lowest seed at which that was found is printed, with the command that replays it.

With --league, bots of the three levels play against each other, each with each, all together and alone.

Progress goes to standard error, the result to standard output.
` + exitCodesHelp,
		Example: `  set3d simulate
  set3d simulate --seeds 1000000
  set3d simulate --seeds 1 --from 4711     # one match again
  set3d simulate --league --games 1000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.check(cmd.Flags().Changed); err != nil {
				return err
			}
			if flags.league {
				return leagues(cmd.Context(), flags, newPen(cmd.OutOrStdout()))
			}
			s := &simulator{flags: flags, run: simulation.Run}
			return s.report(s.simulate(cmd.Context(), cmd.ErrOrStderr()), newPen(cmd.OutOrStdout()))
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&flags.seeds, "seeds", 1000, "how many seeds, a match each")
	f.Uint64Var(&flags.from, "from", 0, "the first seed; the seed of a league")
	f.BoolVar(&flags.league, "league", false, "let bots play against each other instead")
	f.IntVar(&flags.games, "games", 200, "games of each league")
	return cmd
}

func (f simulateFlags) check(given func(flag string) bool) error {
	switch {
	case f.league && given("seeds"):
		return exit(exitUsage, "--seeds is for matches without --league; a league has --games, and its seed is --from")
	case !f.league && given("games"):
		return exit(exitUsage, "--games is for a league: add --league, or use --seeds")
	case f.seeds < 1 || f.seeds-1 > math.MaxUint64-f.from:
		return exit(exitUsage, "--seeds is %d from %d, want at least 1, and a last seed that fits 64 bits", f.seeds, f.from)
	case f.games < 1 || f.games > maxLeagueGames:
		return exit(exitUsage, "--games is %d, want 1 to %d", f.games, maxLeagueGames)
	}
	return nil
}

// simulator runs the seeds on all processors.
type simulator struct {
	flags simulateFlags
	run   func(seed uint64) (simulation.Stats, error)

	mu      sync.Mutex
	next    uint64 // seeds handed out so far
	done    uint64
	total   simulation.Stats
	failed  bool
	seed    uint64 // the lowest that failed
	failure error
	elapsed time.Duration
}

// simulate runs until all seeds are done, one fails, or the context ends, which is the error. As the seeds are handed out
// in order, all that are lower than one that failed are run to their end, so that the lowest is always found.
func (s *simulator) simulate(ctx context.Context, progress io.Writer) error {
	start := time.Now()
	reporting, stop := context.WithCancel(ctx)
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		s.reportProgress(reporting, progress, start)
	}()
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed, more := s.take(ctx); more; seed, more = s.take(ctx) {
				stats, err := s.run(seed)
				s.enter(seed, stats, err)
			}
		})
	}
	workers.Wait()
	s.elapsed = time.Since(start)
	stop()
	<-reported
	return ctx.Err()
}

func (s *simulator) take(ctx context.Context) (seed uint64, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed || s.next == s.flags.seeds || ctx.Err() != nil {
		return 0, false
	}
	s.next++
	return s.flags.from + s.next - 1, true
}

func (s *simulator) enter(seed uint64, stats simulation.Stats, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	s.total.Add(stats)
	if err != nil && (!s.failed || seed < s.seed) {
		s.failed, s.seed, s.failure = true, seed, err
	}
}

func (s *simulator) reportProgress(ctx context.Context, w io.Writer, start time.Time) {
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.mu.Lock()
			done := s.done
			s.mu.Unlock()
			seconds := time.Since(start).Seconds()
			_, _ = fmt.Fprintf(w, "%5.0f s  %d of %d seeds, %.0f a second\n", seconds, done, s.flags.seeds, float64(done)/seconds)
		case <-ctx.Done():
			return
		}
	}
}

// report prints what was seen, and returns what went wrong. A seed that failed matters more than an interruption.
func (s *simulator) report(interrupted error, p *pen) error {
	t := s.total
	p.printf("%s from seed %d in %.1f s, %.0f a second\n\n", count(int(s.done), "match"), s.flags.from, s.elapsed.Seconds(),
		float64(s.done)/s.elapsed.Seconds())
	p.printf("%s    %d, %s to the end\n", p.bold.Render("Steps"), t.Steps, count(t.Ended, "seed"))
	p.printf("%s   %d Sets, %d wrong, %d of these by bots;\n         %d repeated, %d held, of which %d in vain\n", p.bold.Render("Claims"),
		t.Valid, t.Invalid, t.BotClaims, t.Repeated, t.Held, t.LateAnswers)
	p.printf("%s  %d%s\n", p.bold.Render("Refused"), t.Refused, byReason(p.width, t.Reasons[:], func(i int) string { return domain.Reason(i).String() }))
	p.printf("%s     %d%s\n", p.bold.Render("Ends"), sum(t.Ends[:]), byReason(p.width, t.Ends[:], func(i int) string { return domain.EndReason(i).String() }))
	switch {
	case s.failed:
		return exit(exitWrong, "%w\nReplay it with: set3d simulate --seeds 1 --from %d", s.failure, s.seed)
	case interrupted != nil:
		return exit(exitStopped, "interrupted; so far nothing was wrong")
	}
	p.printf("\n%s\n", p.good.Render("Nothing was wrong."))
	return nil
}

// reasonsIndent is where the counts of refusals and ends begin.
const reasonsIndent = 9

// byReason lists the counts, in lines of the width under the first of them.
func byReason(width int, counts []int, name func(int) string) string {
	var text strings.Builder
	at := width
	for i, n := range counts {
		if n == 0 {
			continue
		}
		part := fmt.Sprintf("%s %d", name(i), n)
		switch {
		case text.Len() == 0:
			text.WriteString(":")
		default:
			text.WriteString(",")
		}
		if at+len(", ")+len(part) >= width {
			text.WriteString("\n" + strings.Repeat(" ", reasonsIndent))
			at = reasonsIndent
		} else {
			text.WriteString(" ")
			at++
		}
		text.WriteString(part)
		at += len(part) + len(",")
	}
	return text.String()
}

func sum(counts []int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// leagueTables are who plays whom.
var leagueTables = [][]domain.BotLevel{
	{domain.BotHard, domain.BotMedium},
	{domain.BotMedium, domain.BotEasy},
	{domain.BotHard, domain.BotEasy},
	{domain.BotHard, domain.BotMedium, domain.BotEasy},
	{domain.BotHard},
	{domain.BotMedium},
	{domain.BotEasy},
}

// against names a league by who plays in it.
func against(levels []domain.BotLevel) string {
	var names []string
	for _, level := range levels {
		names = append(names, level.String())
	}
	if len(names) == 1 {
		return names[0] + " alone"
	}
	return strings.Join(names, " against ")
}

func leagues(ctx context.Context, flags simulateFlags, p *pen) error {
	p.printf("%s each, seed %d, default rules\n\n", count(flags.games, "game"), flags.from)
	p.printf("%s\n", p.bold.Render("  level     won  tied    Sets  s a Set  wrong  missed  s a game"))
	for _, levels := range leagueTables {
		if ctx.Err() != nil {
			return exit(exitStopped, "interrupted")
		}
		table, err := simulation.League(levels, flags.games, flags.from)
		if err != nil {
			return exit(exitWrong, "%w", err)
		}
		p.printf("%s\n", against(levels))
		for i, s := range table.Standings {
			p.printf("  %-6v %6d  %4d  %6d  %7.1f  %5d  %6d", s.Level, s.Wins, s.Ties, s.Sets, float64(s.MeanSeenMs())/1000, s.Wrong, s.Misses)
			if i == 0 {
				p.printf("  %8.0f", float64(table.PlayedMs)/float64(table.Games)/1000)
			}
			p.printf("\n")
		}
		p.printf("\n")
	}
	return nil
}
