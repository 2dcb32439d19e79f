package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// playRules shorten the animations, so that a match is over before one gets tired of watching it.
const playRules = `{"valid_anim_ms":250,"refill_anim_ms":150,"expand_anim_ms":150,"invalid_anim_ms":600}`

type playFlags struct {
	server   serverFlags
	players  int
	preset   string
	seed     int32
	rules    string
	pace     time.Duration
	errors   float64
	timeout  time.Duration
	patience time.Duration
}

func newPlayCommand() *cobra.Command {
	var flags playFlags
	cmd := &cobra.Command{
		Use:   "play",
		Short: "Play a whole match with automatic players, show it, and check every message",
		Long: `play connects automatic players, creates a match, plays it to the end and shows it as it happens: the board, who took
what, the scores. Each player checks on every message what a client can check, and at the end deals the deck again from
the key that the server reveals. A restart of the server only interrupts the match.

The cards: ` + legend + `
A + marks a card that was just dealt. Output is in colour on a terminal, plain when piped or with NO_COLOR set.
` + exitCodesHelp,
		Example: `  set3d play
  set3d play --players 4 --pace 400ms
  set3d play --preset timed --rules '{}'            # the preset's own animations
  set3d play --seed 42 --players 1                  # the same deck every time
  set3d play --url http://127.0.0.1:17350 --key defaultkey --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return play(cmd, flags) },
	}
	flags.server.add(cmd)
	f := cmd.Flags()
	f.IntVar(&flags.players, "players", 2, "how many play, 1 to 8")
	f.StringVar(&flags.preset, "preset", "", "rules by name, the server's default when empty")
	f.StringVar(&flags.rules, "rules", playRules, "fields of the rules to replace, as JSON")
	f.Int32Var(&flags.seed, "seed", 0, "deal the deck of this seed; 0 is a secret deck")
	f.DurationVar(&flags.pace, "pace", 900*time.Millisecond, "mean time that a player takes to find a Set")
	f.Float64Var(&flags.errors, "errors", 0.05, "share of claims that are wrong, 0 to 0.9")
	f.DurationVar(&flags.timeout, "timeout", 10*time.Minute, "give up a match that is not over by then")
	f.DurationVar(&flags.patience, "patience", 30*time.Second, patienceHelp)
	return cmd
}

// request checks the flags that make the match.
func (f playFlags) request() (client.CreateMatch, error) {
	request := client.CreateMatch{Preset: f.preset, Seats: f.players, Seed: f.seed}
	if err := checkPlayers(f.players); err != nil {
		return request, err
	}
	if f.pace < 0 || f.pace > time.Minute {
		return request, exit(exitUsage, "--pace is %v, want 0 to 1m", f.pace)
	}
	if err := checkErrors(f.errors); err != nil {
		return request, err
	}
	if err := checkPatience(f.patience); err != nil {
		return request, err
	}
	return request, readRules(f.rules, &request)
}

func readRules(text string, request *client.CreateMatch) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &request.Rules); err != nil {
		return exit(exitUsage, "--rules: want a JSON object such as %s (%w)", playRules, err)
	}
	return nil
}

// playerNames are those of automatic players, by seat.
var playerNames = [...]string{"Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gil", "Hana"}

func play(cmd *cobra.Command, flags playFlags) error {
	request, err := flags.request()
	if err != nil {
		return err
	}
	c, format, err := flags.server.open()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), flags.timeout)
	defer cancel()
	show := newPen(cmd.OutOrStdout())
	show.printf("Connecting %s to %s …\n", count(flags.players, "player"), c.URL())
	g := &game{pen: show, client: c, format: format, flags: flags, narrator: newNarrator(show), shared: client.NewBroadcasts()}
	defer g.close()
	if err := g.connect(ctx, request); err != nil {
		return explain(err, c.URL())
	}
	played := g.run(ctx)
	if played != nil && cmd.Context().Err() != nil {
		g.forfeit()
		return exit(exitStopped, "interrupted")
	}
	return g.verdict(playedOrWhy(played, flags))
}

// playedOrWhy is nil for a match that was played to its end, and else says once why it was not, whoever found out first.
func playedOrWhy(played error, flags playFlags) error {
	var refused *client.Error
	switch {
	case played == nil:
		return nil
	case errors.Is(played, context.DeadlineExceeded) && !errors.Is(played, client.ErrLinkFailed):
		return exit(exitWrong, "the match is not over after %v (--timeout)", flags.timeout)
	case errors.Is(played, client.ErrLinkFailed) && !errors.As(played, &refused):
		return exit(exitNoRoute, "the connection was lost, and no server answered for %v (--patience)", flags.patience)
	}
	return exit(exitWrong, "the match was not played to its end: %w", played)
}

// game is one match with all its players.
type game struct {
	pen       *pen
	client    *client.Client
	format    client.Format
	flags     playFlags
	narrator  *narrator
	shared    *client.Broadcasts
	drivers   []*client.Driver
	verifiers []*client.Verifier
	device    string // the first player's
	resultID  string // of the match that is over; written by the first player's driver
}

// connect signs the players in, creates the match and joins it with all of them.
func (g *game) connect(ctx context.Context, request client.CreateMatch) error {
	var users []*client.User
	for seat := range g.flags.players {
		device := client.RandomID()
		if seat == 0 {
			g.device = device
		}
		user, err := g.client.AuthenticateDevice(ctx, device, playerNames[seat]+"-"+device[:4])
		if err != nil {
			return err
		}
		users = append(users, user)
		g.narrator.call(user.Username, playerNames[seat])
	}
	hello, err := g.client.Hello(ctx, users[0])
	if err != nil {
		return err
	}
	if !hello.Speaks(client.ProtocolVersion) {
		return exit(exitRefused, "the server speaks protocol versions %v, this program %d", hello.ProtocolVersions, client.ProtocolVersion)
	}
	made, err := g.client.CreateMatch(ctx, users[0], request)
	if err != nil {
		return err
	}
	g.pen.printf("Server %s, match %s\nPreset %s, %s, %s sockets\n%s\n", hello.ServerVersion, made.MatchID, made.Preset,
		count(made.Seats, "player"), g.format, g.pen.dim.Render(legend))
	for seat, user := range users {
		if err := g.join(ctx, seat, user, made); err != nil {
			return err
		}
	}
	return nil
}

func (g *game) join(ctx context.Context, seat int, user *client.User, made client.CreatedMatch) error {
	verifier := client.NewVerifier(client.VerifierConfig{Shared: g.shared})
	link, err := g.client.OpenLink(ctx, user, g.format, made.MatchID, client.JoinOptions{Tap: verifier, GiveUpAfter: g.flags.patience, TableID: made.TableID})
	if err != nil {
		return err
	}
	config := client.PlayerConfig{Seed: uint64(time.Now().UnixNano()) + uint64(seat), Reaction: g.flags.pace, ErrorRate: g.flags.errors}
	driver := client.NewDriver(link, config, nil)
	driver.Audience = &seated{game: g, driver: driver, tells: seat == 0}
	g.drivers = append(g.drivers, driver)
	g.verifiers = append(g.verifiers, verifier)
	return nil
}

// seated is the audience of one player's client.
type seated struct {
	game   *game
	driver *client.Driver
	tells  bool // this client's messages are the story
	lost   bool // its connection
	// incarnation is that of the match as it was last heard of.
	incarnation uint32
}

// ConnectionLost implements client.ConnectionAudience.
func (s *seated) ConnectionLost() {
	s.lost = true
	if s.tells {
		s.game.narrator.say("The connection is lost, trying again …")
	}
}

// ConnectionMade implements client.ConnectionAudience.
func (s *seated) ConnectionMade() {
	if s.lost && s.tells {
		s.game.narrator.say("Connected again")
	}
	s.lost = false
}

func (s *seated) Message(m client.Message) {
	if s.tells {
		s.server(m)
		s.game.narrator.Message(m)
	}
}

// server tells what the server says about itself.
func (s *seated) server(m client.Message) {
	switch body := m.Body.(type) {
	case *wire.Notice:
		if body.GetKind() == wire.NoticeKind_NOTICE_KIND_SUSPENDED { // the narrator tells the others
			s.game.narrator.say("The match is interrupted, it goes on when the server is back")
		}
	case *wire.Welcome:
		if now := body.GetStamp().GetIncarnation(); now > s.incarnation {
			s.incarnation = now
			s.game.narrator.say("The server was restarted, and the match goes on")
		}
		s.ended(body.GetEnded())
	case *wire.Update:
		for _, event := range body.GetEvents() {
			s.ended(event.GetMatchEnded())
		}
	}
}

// ended keeps the id of the match's result.
func (s *seated) ended(e *wire.MatchEnded) {
	if id := e.GetResultId(); id != "" {
		s.game.resultID = id
	}
}

func (s *seated) Resolved(r client.Resolution) {
	if seat, ok := s.driver.Controller.Seat(); ok {
		s.game.narrator.refused(seat, r)
	}
}

// run plays until the match is over for everybody.
func (g *game) run(ctx context.Context) error {
	errs := make([]error, len(g.drivers))
	var all sync.WaitGroup
	for i, driver := range g.drivers {
		all.Go(func() {
			if errs[i] = driver.Run(ctx); errors.Is(errs[i], client.ErrLinkFailed) {
				g.verifiers[i].Lost()
			}
		})
	}
	all.Wait()
	return mostTelling(errs)
}

// mostTelling is one error of those of all players, which mostly have the same one; that the time is over says least.
func mostTelling(errs []error) (told error) {
	for _, err := range errs {
		if told == nil || err != nil && errors.Is(told, context.DeadlineExceeded) && !errors.Is(told, client.ErrLinkFailed) {
			told = err
		}
	}
	return told
}

// forfeit ends the match for those who would otherwise keep a seat held.
func (g *game) forfeit() {
	for _, driver := range g.drivers {
		driver.Link.Send(wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	}
}

func (g *game) close() {
	for _, driver := range g.drivers {
		driver.Link.Close()
	}
}

// verdict says what the checks found.
func (g *game) verdict(played error) error {
	var sum client.Report
	proven, committed, wrong := 0, 0, 0
	for i, verifier := range g.verifiers {
		report := verifier.Report()
		sum.Messages += report.Messages
		sum.Claims += report.Claims
		sum.Answers += report.Answers
		sum.Dealt = max(sum.Dealt, report.Dealt)
		proven += oneIf(report.DealProven)
		committed += oneIf(report.Committed)
		wrong += len(report.Violations) + report.Suppressed
		for _, violation := range report.Violations {
			g.pen.printf("%s  %s, %s\n", g.pen.bad.Render("WRONG"), playerNames[i], violation)
		}
	}
	answered := ", each answered"
	if played != nil {
		answered = ", as far as it went"
	}
	g.pen.printf("Checked %s and %s%s.\n", count(sum.Messages, "message"), count(sum.Claims, "claim"), answered)
	switch n := len(g.verifiers); {
	case committed == n && proven == n:
		g.pen.printf("The cards were dealt as the server had committed itself to before the first one.\n")
	case proven == n:
		g.pen.printf("The cards were dealt as the seed says.\n")
	default:
		g.pen.printf("The deal could not be proven: no key or seed was revealed.\n")
	}
	if g.resultID != "" {
		g.pen.printf("Replay it: set3d replay %s --device %s%s\n", g.resultID, g.device, g.flags.server.others())
	}
	switch {
	case played != nil:
		return played
	case wrong > 0:
		return exit(exitWrong, "%s found", count(wrong, "violation"))
	}
	g.pen.printf("%s\n", g.pen.good.Render("All well."))
	return nil
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	if noun == "match" {
		noun = "matche"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
