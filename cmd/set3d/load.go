package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// loadRules leave out the animations: each claim is judged when it comes, and what is measured is the server, not the rules.
const loadRules = `{"valid_anim_ms":0,"refill_anim_ms":0,"expand_anim_ms":0,"invalid_anim_ms":0}`

// The limits of a load: one process cannot drive more, and a slip of the finger should not try.
const (
	maxLoadMatches  = 2000
	maxLoadPace     = 10 * time.Minute
	maxLoadDuration = 24 * time.Hour
	drainTime       = 10 * time.Second // for the last answers
	progressEvery   = 2 * time.Second
	startsPerSecond = 200 // sign-ins
)

type loadFlags struct {
	server   serverFlags
	players  int
	matches  int
	duration time.Duration
	pace     time.Duration
	errors   float64
	patience time.Duration
	preset   string
	rules    string
	json     bool
	verify   bool
}

func newLoadCommand() *cobra.Command {
	var flags loadFlags
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Load a server with many matches at once, and measure its verdicts",
		Long: `load keeps a number of matches running for a time, each with automatic players, and measures how long a claim waits for its
answer: from just before it is written to the socket until the answer has been read. When a match ends another one is created.
Refused claims are answers too. Without the default --rules, a claim that the server holds during an animation is counted with
the time it was held.

Progress goes to standard error, the result to standard output.
` + exitCodesHelp,
		Example: `  set3d load --duration 10s
  set3d load --matches 1 --players 2 --pace 500ms           # latency of one quiet match
  set3d load --matches 250 --players 4 --pace 2s --duration 1m --verify=false
  set3d load --json > result.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return load(cmd, flags) },
	}
	flags.server.add(cmd)
	f := cmd.Flags()
	f.IntVar(&flags.players, "players", 4, "players of each match, 1 to 8")
	f.IntVar(&flags.matches, "matches", 10, fmt.Sprintf("matches at once, 1 to %d", maxLoadMatches))
	f.DurationVar(&flags.duration, "duration", 30*time.Second, "how long")
	f.DurationVar(&flags.pace, "pace", 2*time.Second, "mean time between the claims of a player")
	f.Float64Var(&flags.errors, "errors", 0.05, "share of claims that are wrong, 0 to 0.9")
	f.DurationVar(&flags.patience, "patience", 5*time.Second, patienceHelp)
	f.StringVar(&flags.preset, "preset", "", "rules by name, the server's default when empty")
	f.StringVar(&flags.rules, "rules", loadRules, "fields of the rules to replace, as JSON")
	f.BoolVar(&flags.json, "json", false, "print the result as JSON")
	f.BoolVar(&flags.verify, "verify", true, "check every message as play does; costs this process some time")
	return cmd
}

func (f loadFlags) request() (client.CreateMatch, error) {
	request := client.CreateMatch{Preset: f.preset, Seats: f.players}
	if err := checkPlayers(f.players); err != nil {
		return request, err
	}
	switch {
	case f.matches < 1 || f.matches > maxLoadMatches:
		return request, exit(exitUsage, "--matches is %d, want 1 to %d", f.matches, maxLoadMatches)
	case f.duration <= 0 || f.duration > maxLoadDuration:
		return request, exit(exitUsage, "--duration is %v, want more than 0 and at most %v", f.duration, maxLoadDuration)
	case f.pace < 0 || f.pace > maxLoadPace:
		return request, exit(exitUsage, "--pace is %v, want 0 to %v", f.pace, maxLoadPace)
	case f.errors < 0 || f.errors > 0.9:
		return request, exit(exitUsage, "--errors is %v, want 0 to 0.9", f.errors)
	}
	if err := checkPatience(f.patience); err != nil {
		return request, err
	}
	return request, readRules(f.rules, &request)
}

func load(cmd *cobra.Command, flags loadFlags) error {
	request, err := flags.request()
	if err != nil {
		return err
	}
	c, format, err := flags.server.open()
	if err != nil {
		return err
	}
	l := &loader{client: c, format: format, flags: flags, request: request, tally: newTally()}
	if err := l.firstContact(cmd.Context()); err != nil {
		return explain(err, c.URL())
	}
	result := l.run(cmd.Context(), cmd.ErrOrStderr())
	result.Interrupted = cmd.Context().Err() != nil
	if flags.json {
		err = result.writeJSON(cmd.OutOrStdout())
	} else {
		err = result.writeTable(newPen(cmd.OutOrStdout()))
	}
	if err != nil {
		return exit(exitWrong, "write the result: %w", err)
	}
	return result.judge()
}

// loader keeps the tables busy.
type loader struct {
	client  *client.Client
	format  client.Format
	flags   loadFlags
	request client.CreateMatch
	tally   *tally
}

// firstContact finds out before anything is started whether there is a server that takes these matches.
func (l *loader) firstContact(ctx context.Context) error {
	user, err := l.client.AuthenticateDevice(ctx, client.RandomID(), "")
	if err != nil {
		return err
	}
	_, err = l.client.Hello(ctx, user)
	return err
}

// run starts the tables one after the other, and lets them play until the time is over.
func (l *loader) run(ctx context.Context, progress io.Writer) result {
	playing, stop := context.WithTimeout(ctx, l.flags.duration)
	defer stop()
	start := time.Now()
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		l.reportProgress(playing, progress, start)
	}()
	var tables sync.WaitGroup
	for range l.flags.matches {
		tables.Go(func() { l.table(playing) })
		if !sleep(playing, time.Duration(l.flags.players)*time.Second/startsPerSecond) {
			break
		}
	}
	<-playing.Done()
	elapsed := time.Since(start)
	traffic := l.tally.traffic()
	tables.Wait()
	<-reported
	return l.tally.result(l.flags, elapsed, traffic)
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *loader) reportProgress(ctx context.Context, w io.Writer, start time.Time) {
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_, _ = fmt.Fprintf(w, "%5.0f s  %s\n", time.Since(start).Seconds(), l.tally.progress())
		case <-ctx.Done():
			_, _ = fmt.Fprintf(w, "%5.0f s  done; waiting for the last answers\n", time.Since(start).Seconds())
			return
		}
	}
}

// table plays one match after the other. After a failure it waits a little, so that a server in trouble is not made to suffer
// more.
func (l *loader) table(ctx context.Context) {
	for ctx.Err() == nil {
		if err := l.match(ctx); err != nil && ctx.Err() == nil {
			l.tally.failed(err)
			sleep(ctx, time.Second)
		}
	}
}

// match plays one match with new users: a user may have created only so many tables that are still open.
func (l *loader) match(ctx context.Context) error {
	users := make([]*client.User, l.flags.players)
	for seat := range users {
		var err error
		if users[seat], err = l.client.AuthenticateDevice(ctx, client.RandomID(), ""); err != nil {
			return err
		}
	}
	request := l.request
	made, err := l.client.CreateMatch(ctx, users[0], request)
	if err != nil {
		return err
	}
	var shared *client.Broadcasts
	if l.flags.verify {
		shared = client.NewBroadcasts()
	}
	l.tally.begun()
	errs := make([]error, len(users))
	var players sync.WaitGroup
	for seat, user := range users {
		players.Go(func() { errs[seat] = l.player(ctx, user, made.MatchID, shared) })
	}
	players.Wait()
	err = errors.Join(errs...)
	l.tally.over(err == nil && ctx.Err() == nil)
	return err
}

// player plays one seat to the end of the match, or of the time.
func (l *loader) player(ctx context.Context, user *client.User, matchID string, shared *client.Broadcasts) error {
	meter := &meter{tally: l.tally, sent: map[uint64]time.Time{}}
	if l.flags.verify {
		meter.verifier = client.NewVerifier(client.VerifierConfig{Shared: shared})
	}
	outliving := context.WithoutCancel(ctx) // the last answers come after the time is over
	link, err := l.client.OpenLink(outliving, user, l.format, matchID, client.JoinOptions{Tap: meter, GiveUpAfter: l.flags.patience})
	if err != nil {
		return err
	}
	meter.open(link)
	defer meter.close()
	config := client.PlayerConfig{Seed: uint64(time.Now().UnixNano()), Reaction: l.flags.pace, ErrorRate: l.flags.errors}
	driver := client.NewDriver(link, config, meter)
	err = driver.Run(ctx)
	if ctx.Err() != nil {
		drain, cancel := context.WithTimeout(outliving, drainTime)
		defer cancel()
		if err := driver.Drain(drain); errors.Is(err, client.ErrLinkFailed) {
			meter.lost()
			l.tally.failed(err) // nobody else counts what fails after the time
		}
		link.Send(wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
		return nil
	}
	if errors.Is(err, client.ErrLinkFailed) {
		meter.lost()
	}
	return err
}
