package match

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// fakeEntry is a ticket of a match that was formed.
type fakeEntry struct {
	runtime.MatchmakerEntry
	user       *fakeUser
	properties map[string]any
	ticket     string
}

func (e fakeEntry) GetPresence() runtime.Presence { return e.user }
func (e fakeEntry) GetProperties() map[string]any { return e.properties }
func (e fakeEntry) GetTicket() string             { return e.ticket }

func (n *fakeNakama) bringTogether(preset any, users ...*fakeUser) *fakeMatch {
	n.t.Helper()
	var entries []runtime.MatchmakerEntry
	for _, u := range users {
		entries = append(entries, fakeEntry{user: u, properties: map[string]any{"preset": preset}})
	}
	id, err := n.matched(entries)
	if err != nil || n.match(id) == nil {
		n.t.Fatalf("the matchmaker's match is %q, %v", id, err)
	}
	return n.match(id)
}

func TestMatchmakerStarts(t *testing.T) {
	n := newFake(t)
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	m := n.bringTogether("timed", ann, bob)
	if reason := eve.join(m); reason != "" || m.table().seatOf(eve.userID) != spectatorSeat {
		t.Fatalf("a stranger sits at the matchmaker's table, or hears %q", reason)
	}
	if want := `"phase":"lobby","open":false,"private":false,"ranked":true,"start":"full","preset":"timed"`; !strings.Contains(m.label, want) {
		t.Fatalf("label %s", m.label)
	}
	ann.join(m)
	m.leave(ann)
	if w := n.session("dan"); w.join(m) != "" || m.table().seatOf(w.userID) != spectatorSeat || !strings.Contains(m.label, `"open":false`) {
		t.Fatalf("a stranger takes the seat of one who has left; label %s", m.label)
	}
	ann.join(m)
	bob.join(m)
	if !m.table().standing.started || m.table().setup.Rules.DropHoldMs != rankedHoldMs {
		t.Fatalf("all are here: started %t, hold %d ms", m.table().standing.started, m.table().setup.Rules.DropHoldMs)
	}
}

// One of three never comes: the two who are here play when the time is over.
func TestMatchmakerGoesOnWithoutOne(t *testing.T) {
	n := newFake(t, "SET3D_RESERVATION_MS=5000")
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	m := n.bringTogether("fast", ann, eve, bob)
	bob.join(m)
	ann.join(m)
	m.pass(4900 * time.Millisecond)
	if m.table().standing.started {
		t.Fatal("started before the time was over")
	}
	m.pass(time.Second)
	table := m.table()
	if !table.standing.started || table.seats.count != 2 || table.seatOf(ann.userID) == spectatorSeat || table.seatOf(bob.userID) == spectatorSeat {
		t.Fatalf("started %t with %d seats", table.standing.started, table.seats.count)
	}
	if reason := eve.join(m); reason != "" || table.seatOf(eve.userID) != spectatorSeat {
		t.Fatalf("who comes too late sits, or hears %q", reason)
	}
}

// Only one comes: the table is open to others then, and no longer ranked.
func TestMatchmakerLeavesOne(t *testing.T) {
	n := newFake(t, "SET3D_RESERVATION_MS=5000")
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	m := n.bringTogether("classic", ann, bob)
	ann.join(m)
	m.pass(6 * time.Second)
	if !strings.Contains(m.label, `"open":true,"private":false,"ranked":false`) {
		t.Fatalf("label %s", m.label)
	}
	if found := mustQuick(t, eve, `{}`); found.MatchID != m.id || found.Rules.DropHoldMs != rankedHoldMs {
		t.Fatalf("eve is sent to %+v", found)
	}
	eve.join(m)
	if !m.table().standing.started {
		t.Fatal("full, and not started")
	}
}

// Nobody comes: the table closes like any other.
func TestMatchmakerIsStoodUp(t *testing.T) {
	n := newFake(t, "SET3D_EMPTY_TABLE_MS=20000")
	m := n.bringTogether("classic", n.session("ann"), n.session("bob"))
	m.pass(16 * time.Second)
	m.pass(16 * time.Second)
	if m.loop() {
		t.Fatal("an empty table lives on")
	}
	eventually(t, func() bool { return tablesOf(n).population() == 0 })
}

// What tickets claim is not believed: an unknown preset is the usual game, and one user twice has one seat.
func TestMatchmakerBelievesNothing(t *testing.T) {
	n := newFake(t)
	ann, again := n.session("ann"), n.session("ann")
	for _, preset := range []any{"practice", "blitz", 7.0, nil, ""} {
		m := n.bringTogether(preset, n.session("bob"), n.session("eve"))
		if setup := m.table().setup; setup.Preset != "classic" || setup.Seats != 2 {
			t.Fatalf("preset %v makes %+v", preset, setup)
		}
	}
	m := n.bringTogether("classic", ann, again)
	ann.join(m)
	again.join(m)
	if m.table().standing.started || m.table().seats.taken() != 1 || strings.Contains(m.label, `"ranked":true`) {
		t.Fatalf("one user plays alone: %s", m.label)
	}
}

// Whatever goes wrong there is a match id, or clients would get a token for a relayed match.
func TestMatchmakerAlwaysNamesAMatch(t *testing.T) {
	n := newFake(t)
	n.createFault = func(made int) error {
		if made == 1 {
			return errors.New("bad luck")
		}
		return nil
	}
	n.bringTogether("classic", n.session("ann"), n.session("bob"))
	n.createFault = func(int) error { return errors.New("the server is ill") }
	for _, entries := range [][]runtime.MatchmakerEntry{
		{fakeEntry{user: n.session("ann")}, fakeEntry{user: n.session("bob")}},
		{nil, nil}, // panics
	} {
		if id, err := n.matched(entries); id != nowhere || err != nil {
			t.Fatalf("answered %q, %v", id, err)
		}
	}
	if n.counter("set3d_panics_total matchmaker") != 1 || n.counter("set3d_matchmaker_failed_total") != 2 {
		t.Fatalf("counters %v", n.counters)
	}
	if left := len(tablesOf(n).openings); left != 0 {
		t.Fatalf("%d openings are left", left)
	}
}

// Tickets that meet while the server shuts down get no match, and no line in the log for each.
func TestMatchmakerDuringAShutdown(t *testing.T) {
	n := newFake(t)
	n.module.operator.leaving.Store(true)
	id, err := n.matched(nil)
	if err != nil || id != nowhere || n.logger.has("ERROR") {
		t.Fatalf("%s, %v", id, err)
	}
}
