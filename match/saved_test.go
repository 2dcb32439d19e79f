package match

import (
	"testing"
	"time"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// The terms follow every change of the table that they describe, and are not made anew without one.
func TestTermsFollowTheTable(t *testing.T) {
	tb := newGame(t, deckRequest(""), "ann", "bob").m.table()
	for name, change := range map[string]func(){
		"setup":  func() { tb.setup.Ranked = true },
		"name":   func() { tb.seats.seat[1].name = "Bob" },
		"avatar": func() { tb.seats.seat[1].avatar = "https://example.com" },
		"bot":    func() { tb.seats.seat[1].bot = domain.BotHard },
		"order":  func() { tb.seats.seat[1].order = 7 },
		"barred": func() { tb.box.ledger.bar("user-eve") },
		"seats":  func() { tb.seats.count++ },
	} {
		before := tb.terms()
		change()
		after := tb.terms()
		if string(mustJSON(before)) == string(mustJSON(after)) {
			t.Errorf("%s has changed, and the terms have not", name)
		}
		if n := testing.AllocsPerRun(10, func() { tb.terms() }); n != 0 {
			t.Errorf("%s: %v allocations without a change", name, n)
		}
	}
}

// A name that is found after the start is stored soon, although nothing else happens.
func TestLateNameIsKept(t *testing.T) {
	g := quickGame(t, deckRequest(""), "ann", "bob")
	g.m.callback.Lock()
	g.m.table().rename("user-ann", "Ann of Arc", "https://example.com/a.png")
	g.m.callback.Unlock()
	g.pass(KeepWrongWithin)
	g.pass(time.Second)
	n, id := g.crash()
	w := one[*wire.Welcome](t, n.comeBack(id, "bob").players[0].news())
	if s := w.Roster.Seats[0]; s.DisplayName != "Ann of Arc" || s.AvatarUrl == "" {
		t.Fatalf("ann is %v", s)
	}
}

// A claim that the session held before the interruption is answered when the resumed table breaks.
func TestHeldClaimIsAnsweredAfterResuming(t *testing.T) {
	g := quickGame(t, deckRequest(`,"rules":{"claim_grace_ms":1000}`), "ann", "bob")
	g.players[1].claim(g.m, 1, setSA)
	g.pass(100 * time.Millisecond)
	g.players[0].claim(g.m, 2, "0010 0011 0012")
	g.m.terminate(0)
	g.m.loop()
	n, id := g.crash()
	next := n.comeBack(id, "ann", "bob")
	next.players[0].claim(next.m, 2, "0010 0011 0012")
	next.players[0].news()
	next.m.table().box.poison()
	next.m.loop()
	wantRefused(t, next.players[0].news(), wire.Reason_REASON_TABLE_CLOSED)
}
