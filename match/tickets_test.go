package match

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// fakeMatchmaker counts tickets as Nakama does.
type fakeMatchmaker struct {
	t      *testing.T
	n      *fakeNakama
	held   map[string]map[string]bool // by session, parties' tickets too
	made   int
	errors int  // ERROR lines that Nakama has written
	deaf   bool // another module has the hooks behind the answers
	early  func(ticket string)
}

func newMatchmaker(t *testing.T, settings ...string) *fakeMatchmaker {
	t.Helper()
	return &fakeMatchmaker{t: t, n: newFake(t, settings...), held: map[string]map[string]bool{}}
}

var errNakamaRefused = errors.New("Error adding to matchmaker") //nolint:staticcheck // Nakama's text

// add asks for a ticket of a session's.
func (m *fakeMatchmaker) add(u *fakeUser) (string, error) {
	in, err := m.n.hooks["MatchmakerAdd"](u.ctx, ticketOf(8, 8, nil, nil))
	if err != nil {
		return "", err
	}
	if len(m.held[u.sessionID]) >= 3 {
		m.errors++
		return "", errNakamaRefused
	}
	ticket := m.hold(u)
	if m.early != nil {
		m.early(ticket)
	}
	if !m.deaf {
		out := &rtapi.Envelope{Message: &rtapi.Envelope_MatchmakerTicket{
			MatchmakerTicket: &rtapi.MatchmakerTicket{Ticket: ticket},
		}}
		if err := m.n.after["MatchmakerAdd"](u.ctx, out, in); err != nil {
			m.t.Fatal(err)
		}
	}
	return ticket, nil
}

func (m *fakeMatchmaker) hold(u *fakeUser) string {
	if m.held[u.sessionID] == nil {
		m.held[u.sessionID] = map[string]bool{}
	}
	m.made++
	ticket := fmt.Sprint("ticket-", m.made)
	m.held[u.sessionID][ticket] = true
	return ticket
}

func (m *fakeMatchmaker) mustAdd(u *fakeUser) string {
	m.t.Helper()
	ticket, err := m.add(u)
	if err != nil {
		m.t.Fatalf("a ticket of %s, who has %d: %v", u.username, len(m.held[u.sessionID]), err)
	}
	return ticket
}

// mustRefuse asks for a ticket that the hook refuses.
func (m *fakeMatchmaker) mustRefuse(u *fakeUser) {
	m.t.Helper()
	before := m.errors
	_, err := m.add(u)
	if reasonOf(err) != "TOO_MANY_REQUESTS" || !strings.Contains(err.Error(), `"limit":3,"retry_after_ms":`) {
		m.t.Fatalf("a ticket of %s, who has %d, is answered %v", u.username, len(m.held[u.sessionID]), err)
	}
	if m.errors != before {
		m.t.Fatalf("Nakama has written %d lines", m.errors-before)
	}
}

func (m *fakeMatchmaker) remove(u *fakeUser, ticket string) {
	delete(m.held[u.sessionID], ticket)
	in := &rtapi.Envelope{Message: &rtapi.Envelope_MatchmakerRemove{
		MatchmakerRemove: &rtapi.MatchmakerRemove{Ticket: ticket},
	}}
	if err := m.n.after["MatchmakerRemove"](u.ctx, &rtapi.Envelope{}, in); err != nil {
		m.t.Fatal(err)
	}
}

func (m *fakeMatchmaker) match(u *fakeUser, ticket string) {
	delete(m.held[u.sessionID], ticket)
	entries := []runtime.MatchmakerEntry{fakeEntry{user: u, ticket: ticket}, fakeEntry{user: m.n.session("other")}}
	if _, err := m.n.matched(entries); err != nil {
		m.t.Fatal(err)
	}
}

func (m *fakeMatchmaker) wait(d time.Duration) { m.n.clock.next(m.n.clock.now() + d) }

// Nakama, which would write an ERROR line for each, never hears of a ticket too many.
func TestTooManyTickets(t *testing.T) {
	m := newMatchmaker(t)
	ann, bob := m.n.session("ann"), m.n.session("bob")
	logged := len(m.n.logger.lines)
	for range 3 {
		m.mustAdd(ann)
	}
	for range 50 {
		m.mustRefuse(ann)
	}
	m.mustAdd(bob)
	m.mustAdd(m.n.session("ann")) // Nakama counts by session
	refused, lines := m.n.counter("set3d_tickets_refused_total"), m.n.logger.lines[logged:]
	if m.errors != 0 || refused != 50 || len(lines) != 0 {
		t.Fatalf("%d lines of Nakama's, %d refused, lines %q", m.errors, refused, lines)
	}
}

// As soon as a ticket is gone there is room for another, whichever way it went.
func TestTicketsGo(t *testing.T) {
	m := newMatchmaker(t)
	ann := m.n.session("ann")
	one, two := m.mustAdd(ann), m.mustAdd(ann)
	m.mustAdd(ann)
	m.mustRefuse(ann)
	m.remove(ann, one)
	m.mustAdd(ann)
	m.mustRefuse(ann)
	m.match(ann, two)
	m.mustAdd(ann)
	m.mustRefuse(ann)
	bob := m.n.session("bob")
	m.early = func(ticket string) { m.match(bob, ticket) } // before Nakama's answer has come
	for range 20 {
		m.mustAdd(bob)
	}
	m.early = nil
	for range 3 {
		m.mustAdd(bob)
	}
	m.mustRefuse(bob)
	if m.errors != 0 {
		t.Fatalf("Nakama has written %d lines", m.errors)
	}
}

// A count that is wrong, because nobody said that tickets were gone, locks nobody out: after a while one is let
// through, and then the count is right.
func TestLostTickets(t *testing.T) {
	m := newMatchmaker(t)
	ann := m.n.session("ann")
	for range 3 {
		m.mustAdd(ann)
	}
	clear(m.held)
	m.mustRefuse(ann)
	m.wait(ticketPause)
	for range 3 {
		m.mustAdd(ann)
	}
	m.mustRefuse(ann)
	if m.errors != 0 {
		t.Fatalf("Nakama has written %d lines", m.errors)
	}
}

// Tickets that are not seen here, a party's, count all the same: Nakama refuses one, and is not asked for a while.
func TestPartyFillsSession(t *testing.T) {
	m := newMatchmaker(t)
	m.mustAdd(m.n.session("bob"))
	ann := m.n.session("ann")
	party := m.hold(ann)
	m.hold(ann)
	m.mustAdd(ann)
	for round := range 3 {
		if _, err := m.add(ann); !errors.Is(err, errNakamaRefused) || m.errors != round+1 {
			t.Fatalf("round %d: %v, Nakama has written %d lines", round, err, m.errors)
		}
		for range 20 {
			m.mustRefuse(ann)
		}
		m.wait(ticketPause)
	}
	if _, err := m.add(ann); !errors.Is(err, errNakamaRefused) {
		t.Fatal(err)
	}
	m.match(ann, party) // before anything else was asked
	m.mustAdd(ann)
	if _, err := m.add(ann); !errors.Is(err, errNakamaRefused) {
		t.Fatal(err)
	}
	m.mustRefuse(ann)
	for ticket := range m.held[ann.sessionID] {
		m.remove(ann, ticket)
	}
	m.mustAdd(ann)
}

// Where another module has the hooks behind the answers, nothing is known, and nobody is refused for it.
func TestTicketsUnheard(t *testing.T) {
	m := newMatchmaker(t)
	m.deaf = true
	ann := m.n.session("ann")
	for range 10 {
		clear(m.held)
		m.mustAdd(ann)
	}
}

// Tickets have a rate for each user, over all sessions.
func TestTicketsHaveARate(t *testing.T) {
	m := newMatchmaker(t, "SET3D_RPC_PER_MINUTE=10")
	for range 5 {
		u := m.n.session("ann")
		m.remove(u, m.mustAdd(u))
		_, err := m.n.hooks["PartyMatchmakerAdd"](u.ctx, &rtapi.Envelope{Message: &rtapi.Envelope_PartyMatchmakerAdd{
			PartyMatchmakerAdd: &rtapi.PartyMatchmakerAdd{MinCount: 2, MaxCount: 2},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := m.add(m.n.session("ann"))
	if reasonOf(err) != "TOO_MANY_REQUESTS" || strings.Contains(err.Error(), "limit") {
		t.Fatal(err)
	}
	m.mustAdd(m.n.session("bob"))
}

// Sessions are forgotten, those that ended without a word, too.
func TestTicketsForget(t *testing.T) {
	m := newMatchmaker(t)
	for i := range 500 {
		m.mustAdd(m.n.session(fmt.Sprint("u", i)))
	}
	m.wait(holderLife)
	m.mustAdd(m.n.session("ann"))
	if left := len(m.n.module.tickets.holders); left != 1 {
		t.Fatalf("%d sessions are remembered", left)
	}
}

// Counts that Nakama refuses are refused here: its refusal would be taken for one of a ticket too many.
func TestTicketMultiples(t *testing.T) {
	n := newFake(t)
	for _, c := range []struct {
		least, most, multiple int32
		fine                  bool
	}{
		{2, 4, -2, false}, {2, 4, 0, false}, {2, 4, 1, true}, {2, 4, 2, true}, {2, 4, 3, false}, {2, 4, 4, false},
		{2, 3, 2, false},
	} {
		in := ticketOf(c.least, c.most, nil, nil)
		in.GetMatchmakerAdd().CountMultiple = wrapperspb.Int32(c.multiple)
		_, err := n.hooks["MatchmakerAdd"](n.session("ann").ctx, in)
		if (err == nil) != c.fine || err != nil && !strings.Contains(err.Error(), `"OUT_OF_RANGE"`) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
