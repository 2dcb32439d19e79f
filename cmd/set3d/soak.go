package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// soakRules let no table outlive its players for long, and no claim wait.
const soakRules = `{"valid_anim_ms":0,"refill_anim_ms":0,"expand_anim_ms":0,"invalid_anim_ms":100,"drop_hold_ms":1000,"idle_limit_ms":60000}`

const (
	maxSoakTables  = 1_000_000
	maxSoakWorkers = 500
	soakPlayers    = 2
	soakPace       = 50 * time.Millisecond // between a player's claims
	settleEvery    = 500 * time.Millisecond
	soakPatience   = 10 * time.Second // with a server that cannot be reached
)

type soakFlags struct {
	server  serverFlags
	tables  int
	workers int
	play    time.Duration
	settle  time.Duration
}

func newSoakCommand() *cobra.Command {
	var flags soakFlags
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "Make, play and leave many tables, and see that none stays",
		Long: `soak makes tables in every way there is, plays at them for a moment, and leaves them in every way there is: by forfeiting, by
cutting the connection, by leaving the lobby, by never coming. At the end it waits until the server lists none of them any more.
What stays in the server then (memory, goroutines) is a leak: compare its metrics before and after.
` + exitCodesHelp,
		Example: `  set3d soak --tables 1000
  set3d soak --url http://127.0.0.1:7350 --tables 10000 --workers 32`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return soak(cmd, flags) },
	}
	flags.server.add(cmd)
	f := cmd.Flags()
	f.IntVar(&flags.tables, "tables", 1_000, fmt.Sprintf("how many, 1 to %d", maxSoakTables))
	f.IntVar(&flags.workers, "workers", 16, fmt.Sprintf("how many at once, 1 to %d", maxSoakWorkers))
	f.DurationVar(&flags.play, "play", 200*time.Millisecond, "how long each is played")
	f.DurationVar(&flags.settle, "settle", 3*time.Minute, "how long the last tables may take to close")
	return cmd
}

func soak(cmd *cobra.Command, flags soakFlags) error {
	switch {
	case flags.tables < 1 || flags.tables > maxSoakTables:
		return exit(exitUsage, "--tables is %d, want 1 to %d", flags.tables, maxSoakTables)
	case flags.workers < 1 || flags.workers > maxSoakWorkers:
		return exit(exitUsage, "--workers is %d, want 1 to %d", flags.workers, maxSoakWorkers)
	case flags.play < 0 || flags.settle < 0:
		return exit(exitUsage, "--play and --settle are durations, not negative")
	}
	c, format, err := flags.server.open()
	if err != nil {
		return err
	}
	s := &soaker{client: c, format: format, flags: flags, patience: soakPatience, made: map[string]bool{}, errors: map[string]int{}}
	if s.watcher, err = c.AuthenticateDevice(cmd.Context(), client.RandomID(), ""); err != nil {
		return explain(err, c.URL())
	}
	return s.soak(cmd.Context(), newPen(cmd.OutOrStdout()), cmd.ErrOrStderr())
}

// soaker keeps its workers busy with tables.
type soaker struct {
	client   *client.Client
	format   client.Format
	flags    soakFlags
	watcher  *client.User
	patience time.Duration

	mu        sync.Mutex
	downSince time.Time // since when no request has reached the server; zero while some do
	begun     int
	made      map[string]bool // public tables that may still be open
	errors    map[string]int
}

// soak makes the tables, waits until they have closed, prints what was seen, and returns what went wrong.
func (s *soaker) soak(ctx context.Context, p *pen, progress io.Writer) error {
	start := time.Now()
	s.run(ctx, progress)
	played := time.Since(start)
	left, lost := s.wait(ctx, progress)
	open := fmt.Sprintf("%d are still open", left)
	if left == 1 {
		open = "1 is still open"
	}
	if lost != nil {
		open = "how many are still open is not known"
	}
	p.printf("%s in %.1f s, %.0f a second; %d failed; %s after %.1f s more\n",
		count(s.begun, "table"), played.Seconds(), float64(s.begun)/played.Seconds(), s.failures(), open, (time.Since(start) - played).Seconds())
	for _, reason := range sortedReasons(s.errors) {
		p.printf("  %d × %s\n", s.errors[reason], reason)
	}
	switch {
	case ctx.Err() != nil:
		return exit(exitStopped, "interrupted")
	case errors.Is(lost, client.ErrNoRoute):
		return exit(exitNoRoute, "the server at %s was lost, so that nobody knows which tables stayed (%s)", s.client.URL(), cause(lost))
	case lost != nil:
		return exit(exitWrong, "the server does not list its tables: %w", lost)
	case left > 0 || s.failures() > 0:
		return exit(exitWrong, "%s failed, %d stayed", count(s.failures(), "table"), left)
	}
	return nil
}

func (s *soaker) run(ctx context.Context, progress io.Writer) {
	var workers sync.WaitGroup
	for range s.flags.workers {
		workers.Go(func() {
			for i, ok := s.next(ctx); ok; i, ok = s.next(ctx) {
				err := s.table(ctx, i)
				if ctx.Err() == nil {
					s.ended(ctx, err)
				}
				if i > 0 && i%1_000 == 0 {
					_, _ = fmt.Fprintf(progress, "%d tables\n", i)
				}
			}
		})
	}
	workers.Wait()
}

func (s *soaker) next(ctx context.Context) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun == s.flags.tables || ctx.Err() != nil || s.givesUpLocked() {
		return 0, false
	}
	s.begun++
	return s.begun - 1, true
}

// ended notes how a table ended. Without a server it waits a little, for one that may come back.
func (s *soaker) ended(ctx context.Context, err error) {
	if err != nil {
		s.failed(err)
	}
	if s.reached(err); errors.Is(err, client.ErrNoRoute) {
		sleep(ctx, min(settleEvery, s.patience))
	}
}

// reached notes whether the server could be reached.
func (s *soaker) reached(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !errors.Is(err, client.ErrNoRoute) {
		s.downSince = time.Time{}
	} else if s.downSince.IsZero() {
		s.downSince = time.Now()
	}
}

// givesUp reports whether the server could not be reached for too long.
func (s *soaker) givesUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.givesUpLocked()
}

func (s *soaker) givesUpLocked() bool {
	return !s.downSince.IsZero() && time.Since(s.downSince) >= s.patience
}

func (s *soaker) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var refused *client.Error
	text := err.Error()
	if errors.As(err, &refused) && refused.Reason != "" {
		text = refused.Reason
	}
	if errors.Is(err, client.ErrNoRoute) {
		text = noConnection // the cause names ports, which differ
	}
	s.errors[text]++
}

func (s *soaker) failures() int {
	n := 0
	for _, count := range s.errors {
		n += count
	}
	return n
}

// table is one way after the other to make a table and to leave it, with new users.
func (s *soaker) table(ctx context.Context, i int) error {
	users := make([]*client.User, soakPlayers)
	for seat := range users {
		var err error
		if users[seat], err = s.client.AuthenticateDevice(ctx, client.RandomID(), ""); err != nil {
			return err
		}
	}
	switch i % 5 {
	case 0:
		return s.created(ctx, users, client.CreateMatch{}, s.playAndForfeit)
	case 1:
		return s.created(ctx, users, client.CreateMatch{Private: true}, s.playAndForfeit)
	case 2:
		return s.created(ctx, users, client.CreateMatch{}, s.playAndVanish)
	case 3: // the lobby is left again, or nobody ever comes
		return s.created(ctx, users[:i/5%2], client.CreateMatch{}, s.playAndVanish)
	}
	return s.quick(ctx, users)
}

type soakVisit func(ctx context.Context, user *client.User, matchID string, options client.JoinOptions) error

func (s *soaker) created(ctx context.Context, visitors []*client.User, request client.CreateMatch, visit soakVisit) error {
	if err := json.Unmarshal([]byte(soakRules), &request.Rules); err != nil {
		return err
	}
	owner, err := s.client.AuthenticateDevice(ctx, client.RandomID(), "")
	if err != nil {
		return err
	}
	request.Seats = soakPlayers
	made, err := s.client.CreateMatch(ctx, owner, request)
	if err != nil {
		return err
	}
	if !request.Private {
		s.note(made.MatchID)
	}
	return s.each(visitors, func(user *client.User) error {
		found, err := s.client.ResolveCode(ctx, user, made.Code)
		if err != nil {
			return err
		}
		return visit(ctx, user, found.MatchID, client.JoinOptions{Metadata: map[string]string{"code": made.Code}})
	})
}

func (s *soaker) quick(ctx context.Context, users []*client.User) error {
	return s.each(users, func(user *client.User) error {
		found, err := s.client.QuickMatch(ctx, user, client.QuickMatch{Preset: "fast", Seats: soakPlayers})
		if err != nil {
			return err
		}
		s.note(found.MatchID)
		return s.playAndForfeit(ctx, user, found.MatchID, client.JoinOptions{})
	})
}

func (s *soaker) each(users []*client.User, do func(*client.User) error) error {
	errs := make([]error, len(users))
	var all sync.WaitGroup
	for i, user := range users {
		all.Go(func() { errs[i] = do(user) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (s *soaker) note(matchID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[matchID] = true
}

func (s *soaker) playAndForfeit(ctx context.Context, user *client.User, matchID string, options client.JoinOptions) error {
	return s.play(ctx, user, matchID, options, func(link *client.Link) {
		link.Send(wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	})
}

func (s *soaker) playAndVanish(ctx context.Context, user *client.User, matchID string, options client.JoinOptions) error {
	return s.play(ctx, user, matchID, options, func(link *client.Link) {
		if socket := link.Match().Socket(); socket != nil {
			_ = socket.Abort()
		}
	})
}

// play plays for a moment and leaves. A match that is over before is fine.
func (s *soaker) play(ctx context.Context, user *client.User, matchID string, options client.JoinOptions, leave func(*client.Link)) error {
	link, err := s.client.OpenLink(ctx, user, s.format, matchID, options)
	if err != nil {
		return err
	}
	defer link.Close()
	playing, stop := context.WithTimeout(ctx, s.flags.play)
	defer stop()
	config := client.PlayerConfig{Seed: uint64(time.Now().UnixNano()), Reaction: soakPace, ErrorRate: 0.1}
	err = client.NewDriver(link, config, nil).Run(playing)
	leave(link)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrTableClosed) {
		return nil
	}
	return err
}
