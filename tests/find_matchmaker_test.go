package tests

import (
	"strings"
	"testing"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

func ticketOf(preset string, count int32) *rtapi.Envelope {
	add := &rtapi.MatchmakerAdd{MinCount: count, MaxCount: count, Query: "*"}
	if preset != "" {
		add.StringProperties = map[string]string{"preset": preset}
	}
	return &rtapi.Envelope{Message: &rtapi.Envelope_MatchmakerAdd{MatchmakerAdd: add}}
}

// ticket puts a peer into the matchmaker.
func (p *peer) ticket(preset string, count int32) {
	p.t.Helper()
	if answer := p.call(ticketOf(preset, count)); answer.GetMatchmakerTicket().GetTicket() == "" {
		p.t.Fatalf("a ticket is answered {%v}", answer)
	}
}

// matched waits until the matchmaker has found a match, and returns its id.
func (p *peer) matched() string {
	p.t.Helper()
	var found *rtapi.MatchmakerMatched
	p.await("the matchmaker", func() bool {
		for _, e := range p.envelopes {
			if e.GetMatchmakerMatched() != nil {
				found = e.GetMatchmakerMatched()
			}
		}
		return found != nil
	})
	if found.GetMatchId() == "" || found.GetToken() != "" {
		p.t.Fatalf("the matchmaker offers a relayed match: {%v}", found)
	}
	return found.GetMatchId()
}

// TestFindMatchmaker: two who want the same are brought together at a table of theirs, and play.
func TestFindMatchmaker(t *testing.T) {
	on := shared(t)
	a, b, other := connect(t, on, asJSON), connect(t, on, asProtobuf), connect(t, on, asJSON)
	other.ticket("timed", 2)
	a.ticket("fast", 2)
	b.ticket("fast", 2)
	matchID := a.matched()
	if id := b.matched(); id != matchID {
		t.Fatalf("two matches: %s and %s", matchID, id)
	}
	stranger := connect(t, on, asJSON)
	if w := stranger.join(matchID, nil); w.GetRole() != wire.Role_ROLE_SPECTATOR {
		t.Errorf("a stranger gets {%v}", w)
	}
	x := &table{t: t, on: on, made: client.CreatedMatch{MatchID: matchID}, shared: client.NewBroadcasts()}
	for _, p := range []*peer{a, b} {
		w := x.seat(p)
		if s := w.GetSettings(); w.GetRole() != wire.Role_ROLE_PLAYER || s.GetPreset() != "fast" || !s.GetRanked() || w.GetRules().GetDropHoldMs() != 60_000 {
			t.Errorf("WELCOME {%v}", w)
		}
	}
	for _, p := range []*peer{a, b} {
		first(p, "the start", func(u *wire.Update) bool { return u.GetEvents()[0].GetMatchStarted() != nil })
		p.forfeit()
	}
	for _, e := range other.envelopes {
		if e.GetMatchmakerMatched() != nil {
			t.Error("one who wants another preset is brought in")
		}
	}
}

// TestFindMatchmakerGoesOn: one of three never comes, and the two others play all the same.
func TestFindMatchmakerGoesOn(t *testing.T) {
	on := serverWith(t, func(l limits) bool { return l.ReservationMs <= 3_000 }, "SET3D_RESERVATION_MS=2000")
	a, b, away := connect(t, on, asJSON), connect(t, on, asProtobuf), connect(t, on, asJSON)
	for _, p := range []*peer{a, b, away} {
		p.ticket("", 3)
	}
	for _, p := range []*peer{a, b} {
		if w := p.join(p.matched(), nil); w.GetRole() != wire.Role_ROLE_PLAYER {
			t.Errorf("WELCOME {%v}", w)
		}
	}
	for _, p := range []*peer{a, b} {
		start := first(p, "the start", func(u *wire.Update) bool { return u.GetEvents()[0].GetMatchStarted() != nil })
		if n := start.GetEvents()[0].GetMatchStarted().GetSeatCount(); n != 2 {
			t.Errorf("%d seats play", n)
		}
	}
	if w := away.join(away.matched(), nil); w.GetRole() != wire.Role_ROLE_SPECTATOR {
		t.Errorf("who comes too late gets {%v}", w)
	}
}

// TestFindFalseTickets: what a ticket claims is checked when it comes.
func TestFindFalseTickets(t *testing.T) {
	on := shared(t)
	for _, format := range []client.Format{asJSON, asProtobuf} {
		p := connect(t, on, format)
		elo := ticketOf("classic", 2)
		elo.GetMatchmakerAdd().NumericProperties = map[string]float64{"elo": 3_000}
		for want, ticket := range map[string]*rtapi.Envelope{
			`"UNKNOWN_PRESET"`: ticketOf("practice", 2), `"OUT_OF_RANGE"`: ticketOf("classic", 9), `"UNKNOWN_FIELD"`: elo,
		} {
			if refused := p.call(ticket).GetError(); refused.GetCode() != 7 || !strings.Contains(refused.GetMessage(), want) {
				t.Errorf("a false ticket is answered {%v}, want %s", refused, want)
			}
		}
	}
}

// TestFindTooManyTickets: a session has three tickets at most. More are refused before Nakama hears of them, which
// would write a line for each.
func TestFindTooManyTickets(t *testing.T) {
	on := shared(t)
	for _, format := range bothFormats {
		p := connect(t, on, format)
		refused := func() {
			t.Helper()
			const want = `{"reason":"TOO_MANY_REQUESTS","args":{"limit":3,"retry_after_ms":`
			e := p.call(ticketOf("classic", 8)).GetError()
			if e.GetCode() != 7 || !strings.HasPrefix(e.GetMessage(), want) {
				t.Fatalf("a ticket too many is answered {%v}", e)
			}
		}
		ticket := p.call(ticketOf("classic", 8)).GetMatchmakerTicket().GetTicket()
		p.ticket("classic", 8)
		p.ticket("classic", 8)
		for range 20 {
			refused()
		}
		p.call(&rtapi.Envelope{Message: &rtapi.Envelope_MatchmakerRemove{
			MatchmakerRemove: &rtapi.MatchmakerRemove{Ticket: ticket},
		}})
		p.ticket("classic", 8)
		refused()
		p.hangUp()
		connectAs(t, on, p.user, format).ticket("classic", 8) // another session has its own
	}
	if on.process != nil && strings.Contains(on.log.text(), "Error adding to matchmaker") {
		t.Error("the matchmaker has heard of a ticket too many")
	}
}

// TestFindNoRelayedMatch: nobody can make or join a match without rules.
func TestFindNoRelayedMatch(t *testing.T) {
	on := shared(t)
	p := connect(t, on, asJSON)
	for what, in := range map[string]*rtapi.Envelope{
		"making":   {Message: &rtapi.Envelope_MatchCreate{MatchCreate: &rtapi.MatchCreate{}}},
		"joining":  joinOf("5f0a2a3c-0000-4000-8000-000000000000."),
		"a ticket": {Message: &rtapi.Envelope_MatchJoin{MatchJoin: &rtapi.MatchJoin{Id: &rtapi.MatchJoin_Token{Token: "x.y.z"}}}},
	} {
		if refused := p.call(in).GetError(); refused.GetCode() != 7 || !strings.Contains(refused.GetMessage(), `"UNKNOWN_MATCH"`) {
			t.Errorf("%s a relayed match is answered {%v}", what, refused)
		}
	}
	p.alive()
}
