package tests

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// wholeMatchLimit is for one match from the first card to the end.
const wholeMatchLimit = 60 * time.Second

// TestWholeMatches plays matches to their ends with the reference client. What the server said is checked message by message, and the deal
// against what it had committed itself to.
func TestWholeMatches(t *testing.T) {
	t.Parallel()
	both := []client.Format{asJSON, asProtobuf}
	cases := []struct {
		name    string
		request client.CreateMatch
		formats []client.Format
		errors  float64
		reason  wire.EndReason
		long    bool // left out of short runs
	}{
		{name: "1 player, secret deck, JSON", formats: both[:1], errors: 0.1},
		{name: "1 player, seed 42, protobuf", formats: both[1:], request: client.CreateMatch{Seed: 42}, long: true},
		{name: "2 players, secret deck, both formats", formats: both, errors: 0.1},
		{name: "2 players, seed -2147483648, JSON", formats: []client.Format{asJSON, asJSON}, request: client.CreateMatch{Seed: -2147483648}, long: true},
		{name: "4 players, secret deck, both formats", formats: []client.Format{asJSON, asProtobuf, asProtobuf, asJSON}, errors: 0.2},
		{name: "4 players, seed 7, tournament, points at stake", formats: []client.Format{asProtobuf, asJSON, asProtobuf, asJSON}, errors: 0.3,
			request: client.CreateMatch{Preset: "tournament", Seed: 7, Rules: map[string]any{"penalty_mode": "point"}}, long: true},
		{name: "2 players against the clock", formats: both, errors: 0.3, reason: wire.EndReason_END_REASON_TIME_UP,
			request: client.CreateMatch{Preset: "timed", Rules: map[string]any{"time_limit_ms": 3_000, "penalty_time_ms": 200}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.long && testing.Short() {
				t.Skip("a match more")
			}
			t.Parallel()
			rules := map[string]any{"valid_anim_ms": 40, "refill_anim_ms": 30, "expand_anim_ms": 20, "invalid_anim_ms": 100, "drop_hold_ms": 10_000}
			for name, value := range c.request.Rules {
				rules[name] = value
			}
			c.request.Rules, c.request.Seats = rules, len(c.formats)
			g := playWhole(t, shared(t), c.request, c.errors, c.formats...)
			if c.reason == 0 {
				c.reason = wire.EndReason_END_REASON_NO_SETS_LEFT
			}
			g.check(c.reason, c.request.Seed == 0)
		})
	}
}

// game is a whole match, played by automatic players.
type game struct {
	t         *testing.T
	drivers   []*client.Driver
	verifiers []*client.Verifier
}

// playWhole creates a match and plays it until it has ended for all.
func playWhole(t *testing.T, on *server, request client.CreateMatch, errorRate float64, formats ...client.Format) *game {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wholeMatchLimit)
	defer cancel()
	c := on.client()
	g := &game{t: t}
	broadcasts := client.NewBroadcasts()
	var matchID string
	for seat, format := range formats {
		user := signIn(t, on)
		if seat == 0 {
			made, err := c.CreateMatch(ctx, user, request)
			if err != nil {
				t.Fatal(err)
			}
			matchID = made.MatchID
		}
		verifier := client.NewVerifier(client.VerifierConfig{Shared: broadcasts})
		link, err := c.OpenLink(t.Context(), user, format, matchID, client.JoinOptions{Tap: verifier})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(link.Close)
		pace := time.Duration(len(formats)) * 120 * time.Millisecond
		g.drivers = append(g.drivers, client.NewDriver(link, client.PlayerConfig{Seed: uint64(seat) + 1, Reaction: pace, ErrorRate: errorRate}, nil))
		g.verifiers = append(g.verifiers, verifier)
	}
	g.run(ctx)
	return g
}

func (g *game) run(ctx context.Context) {
	g.t.Helper()
	var all sync.WaitGroup
	for seat, driver := range g.drivers {
		all.Go(func() {
			if err := driver.Run(ctx); err != nil {
				g.t.Errorf("player %d: %v", seat, err)
			}
		})
	}
	all.Wait()
	if g.t.Failed() {
		g.t.FailNow()
	}
}

// check looks at the end as everybody saw it.
func (g *game) check(reason wire.EndReason, keyed bool) {
	g.t.Helper()
	end := g.drivers[0].Controller.Ended()
	if end.GetReason() != reason {
		g.t.Errorf("the match ended with %v, want %v", end.GetReason(), reason)
	}
	if (len(end.GetKey()) == 32) != keyed {
		g.t.Errorf("the end reveals %v, want a key: %v", end.GetDeck(), keyed)
	}
	taken := uint32(0)
	for seat, driver := range g.drivers {
		report := g.verifiers[seat].Report()
		for _, violation := range report.Violations {
			g.t.Errorf("player %d: %s", seat, violation)
		}
		if !report.DealProven || report.Committed != keyed {
			g.t.Errorf("player %d: the deal is proven: %t, was committed to: %t", seat, report.DealProven, report.Committed)
		}
		if report.Claims == 0 || report.Answers < report.Claims {
			g.t.Errorf("player %d: %d claims, %d answers", seat, report.Claims, report.Answers)
		}
		if other := driver.Controller.Ended(); fmt.Sprint(other) != fmt.Sprint(end) {
			g.t.Errorf("player %d sees the end {%v}, player 0 {%v}", seat, other, end)
		}
		taken += end.GetTable()[seat].GetScore()
	}
	state, _ := g.drivers[0].Controller.Snapshot()
	if reason == wire.EndReason_END_REASON_NO_SETS_LEFT && (state.DeckCount != 0 || state.Board.CardCount() > 18) {
		g.t.Errorf("the match ended with %d cards in the deck and %d on the board", state.DeckCount, state.Board.CardCount())
	}
	g.t.Logf("%d Sets counted in the final scores, %d cards left on the board", taken, state.Board.CardCount())
}
