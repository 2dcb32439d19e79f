package match

import (
	"strings"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// endDeck is scenario 15's: two Sets, then none, and an empty deck.
const endDeck = `{"preset":"fast","test_deck":"0021 2201 0020 0221 1011 0222 0110 1101 2122 1110 0112 2111"}`

// The match starts when the last seat is taken; everybody sees the first deal as events in an UPDATE.
// Before the start a leave frees the seat.
// Scenario 19: claims after the end.
func TestClaimsAfterTheEnd(t *testing.T) {
	g := newGame(t, endDeck, "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	ann.claim(g.m, 1, "0110 1101 2122")
	bob.claim(g.m, 2, "1110 0112 2111")
	end := ended(t, ann.news())
	if end == nil || end.Reason != wire.EndReason_END_REASON_NO_SETS_LEFT || len(end.Winners) != 2 || end.Winner != nil {
		t.Fatalf("end %v", end)
	}
	if end.Table[0].DisplayName != "ann" || end.Table[1].DisplayName != "bob" || end.Table[1].Score != 1 {
		t.Fatalf("table %v", end.Table)
	}
	bob.news()
	ann.claim(g.m, 3, "0021 2201 0020")
	wantRefused(t, ann.news(), wire.Reason_REASON_ENDED)
	ann.claim(g.m, 1, "0110 1101 2122")
	if v := one[*wire.ClaimResult](t, ann.news()).GetRepeatedVerdict(); v == nil || !v.Valid {
		t.Fatal("the repeat of a judged claim has lost its verdict")
	}
	wantQuiet(t, "bob", bob.news())
	late := g.n.session("eve")
	late.join(g.m)
	if w := one[*wire.Welcome](t, late.news()); w.Ended == nil {
		t.Fatal("a late visitor is not told that the match has ended")
	}
}

// A table whose match is over stays open for a while, then closes, and the match stops.
func TestTableClosesAfterTheEnd(t *testing.T) {
	g := newGame(t, endDeck, "ann", "bob")
	ann := g.players[0]
	ann.claim(g.m, 1, "0110 1101 2122")
	ann.claim(g.m, 2, "1110 0112 2111")
	g.pass(59 * time.Second)
	g.read()
	g.pass(2 * time.Second)
	if notice := one[*wire.Notice](t, ann.news()); notice.Kind != wire.NoticeKind_NOTICE_KIND_CLOSED {
		t.Fatalf("notice %v", notice)
	}
	ann.claim(g.m, 3, setSA)
	wantRefused(t, ann.news(), wire.Reason_REASON_TABLE_CLOSED)
	if reason := g.n.session("eve").join(g.m); !strings.Contains(reason, "TABLE_CLOSED") {
		t.Fatalf("joining answered %q", reason)
	}
	if g.m.loop() {
		t.Fatal("the match goes on")
	}
	if id := g.n.session("eve").put(g.m, opPing, nil).GetMatchDataSend().MatchId; id != g.m.id {
		// unregistered in a goroutine of its own: until then the hook consumes
		eventually(t, func() bool { return g.n.session("eve").put(g.m, opPing, nil).GetMatchDataSend().MatchId == g.m.id })
	}
	if n := g.n.clock.pendingAlarms(); n != 0 {
		t.Fatalf("%d alarms are still set", n)
	}
}

// Scenario 20: joining again on a live session fires nothing; a snapshot can be had at any time.
// without drops the given update from the frames.
// Scenario 21: one user, two sessions.
func TestNewerSessionTakesTheSeat(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	old, bob := g.players[0], g.players[1]
	newer := g.n.session("ann")
	if allow, _ := g.m.attempt(newer); !allow {
		t.Fatal("refused")
	}
	old.claim(g.m, 1, notSet) // the attempt alone replaces nobody
	verdict(t, old.news())
	g.m.join(newer)
	frames := newer.news()
	if w := one[*wire.Welcome](t, frames); w.Role != wire.Role_ROLE_PLAYER || *w.Seat != 0 {
		t.Fatalf("welcome %v", w)
	}
	if notice := one[*wire.Notice](t, old.news()); notice.Kind != wire.NoticeKind_NOTICE_KIND_REPLACED {
		t.Fatalf("the older session was told %v", notice)
	}
	if len(g.m.kicked) != 1 || g.m.kicked[0] != old.sessionID {
		t.Fatalf("kicked %v", g.m.kicked)
	}
	g.read()
	old.claim(g.m, 2, setSA)
	wantRefused(t, old.news(), wire.Reason_REASON_NOT_IN_MATCH)
	g.m.leave(old)
	if _, dropped := g.m.table().session.HeldUntilMs(0); dropped {
		t.Fatal("closing the older session dropped the player")
	}
	wantQuiet(t, "bob", bob.news())
	g.pass(3 * time.Second)
	newer.news()
	newer.claim(g.m, 3, setSA)
	if v := verdict(t, newer.news()); !v.Valid || v.Seat != 0 {
		t.Fatalf("verdict %v", v)
	}
}

// Scenarios 22 and 23: a dropped player's seat and score are held, the others are told.
func TestDropAndReturn(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	ann.claim(g.m, 1, setSA)
	g.pass(2 * time.Second)
	g.read()
	g.m.leave(ann)
	r := one[*wire.Roster](t, bob.news())
	if r.Seats[0].Connected || r.Seats[0].HeldUntilMs == nil || *r.Seats[0].HeldUntilMs != 182_000 || r.Seats[0].UserId != ann.userID {
		t.Fatalf("roster %v", r)
	}
	g.pass(30 * time.Second)
	back := g.n.session("ann")
	back.join(g.m)
	w := one[*wire.Welcome](t, back.news())
	if w.Snapshot.Scores[0] != 1 || *w.Seat != 0 || !w.Roster.Seats[0].Connected || w.Roster.Seats[0].HeldUntilMs != nil {
		t.Fatalf("welcome %v", w)
	}
	if r := one[*wire.Roster](t, bob.news()); !r.Seats[0].Connected || r.Stamp.RosterRevision <= 2 {
		t.Fatalf("roster %v", r)
	}
}

// A hold that expires forfeits the seat; who comes back later watches, and is told.
func TestHoldExpires(t *testing.T) {
	g := newGame(t, `{"seats":3,"rules":{"drop_hold_ms":5000}}`, "ann", "bob", "cid")
	ann, bob := g.players[0], g.players[1]
	g.m.leave(ann)
	g.read()
	g.pass(6 * time.Second)
	frames := bob.news()
	if r := one[*wire.Roster](t, frames); !r.Seats[0].Forfeited {
		t.Fatalf("roster %v", r)
	}
	back := g.n.session("ann")
	if reason := back.join(g.m); reason != "" {
		t.Fatal(reason)
	}
	frames = back.news()
	if w := one[*wire.Welcome](t, frames); w.Role != wire.Role_ROLE_SPECTATOR || w.Seat != nil {
		t.Fatalf("welcome %v", w)
	}
	if notice := one[*wire.Notice](t, frames); notice.Kind != wire.NoticeKind_NOTICE_KIND_SEAT_FORFEITED || *notice.Seat != 0 {
		t.Fatalf("notice %v", notice)
	}
	back.claim(g.m, 1, setSA)
	wantRefused(t, back.news(), wire.Reason_REASON_NOT_A_PLAYER)
}

// Who has left can send nothing more, and who is dismissed is answered all the same.
func TestWhoHasLeftIsAStranger(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	g.m.leave(ann)
	ann.claim(g.m, 1, setSA)
	wantRefused(t, ann.news(), wire.Reason_REASON_NOT_IN_MATCH)
	if g.score(0) != 0 {
		t.Fatal("judged")
	}
}

// What was drained when somebody joins, and what that one had sent ahead, are two UPDATEs: the newcomer's WELCOME lies
// between them, and its first UPDATE goes on exactly where the WELCOME stands.
// Scenario 24: leaving at the moment of scoring. The claim is judged first, then the leave: one end, one result.
func TestClaimAndLeaveAtOnce(t *testing.T) {
	g := newGame(t, `{"rules":{"drop_hold_ms":0},"test_deck":"`+boardMAX+`"}`, "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	g.m.callback.Lock()
	ann.put(g.m, opClaimSet, marshal(t, claimOf(1, setSA)))
	ann.put(g.m, opForfeit, nil)
	g.m.callback.Unlock()
	g.m.leave(ann)
	g.m.settle()
	g.pass(time.Second)
	end := ended(t, bob.news())
	if end == nil || end.Reason != wire.EndReason_END_REASON_LAST_PLAYER || *end.Winner != 1 {
		t.Fatalf("end %v", end)
	}
	if end.Table[0].Score != 1 || !end.Table[0].Forfeited {
		t.Fatalf("table %v", end.Table)
	}
}

// Scenario 25: a spectator cannot act.
func TestSpectatorCannotAct(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	eve := g.n.session("eve")
	eve.join(g.m)
	eve.news()
	g.read()
	eve.claim(g.m, 1, setSA)
	wantRefused(t, eve.news(), wire.Reason_REASON_NOT_A_PLAYER)
	eve.send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	if e := one[*wire.Error](t, eve.news()); e.Reason != wire.Reason_REASON_NOT_A_PLAYER {
		t.Fatalf("answered %v", e)
	}
	wantQuiet(t, "ann", g.players[0].news())
}

// Scenario 26: two matches with the same seed.
func TestMatchesAreApart(t *testing.T) {
	n := newFake(t)
	a := startGame(n, `{"seed":7}`, "ann", "bob")
	b := startGame(n, `{"seed":7}`, "cid", "dan")
	if x, y := a.m.table().session.Snapshot().Board, b.m.table().session.Snapshot().Board; x != y {
		t.Fatal("one seed, two boards")
	}
	a.players[0].send(a.m, wire.OpCode_OP_CODE_CLAIM_SET, &wire.ClaimSet{ClaimId: 1, Cards: a.board()[:3]})
	verdict(t, a.players[0].news())
	wantQuiet(t, "cid", b.players[0].news())
	for _, f := range a.players[1].news() {
		if f.matchID != a.m.id {
			t.Fatalf("a frame of match %s", f.matchID)
		}
	}
	a.players[0].send(b.m, wire.OpCode_OP_CODE_CLAIM_SET, &wire.ClaimSet{ClaimId: 2, Cards: b.board()[:3]})
	wantRefused(t, a.players[0].news(), wire.Reason_REASON_NOT_IN_MATCH)
	wantQuiet(t, "cid", b.players[0].news())
}

// board is the cards on the board, as ids.
func (g *game) board() []byte {
	var frame snapshotFrame
	snapshot := g.m.table().session.Snapshot()
	return frame.fill(&snapshot).Board
}

// Spectators are let in up to a limit; players always have their seats.
// Attempts that were allowed count until they have arrived: no more are let in than there is room.
// An empty table closes by itself, whether somebody has been there or not.
// Scenario 28: everybody leaves in the middle of an animation; the match ends by its own rule.
func TestEverybodyLeaves(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.players[0].claim(g.m, 1, setSA)
	g.m.leave(g.players[0])
	g.m.leave(g.players[1])
	g.pass(2 * time.Minute)
	if g.m.table().ended {
		t.Fatal("ended while the seats are held")
	}
	g.pass(2 * time.Minute)
	if !g.m.table().ended {
		t.Fatal("goes on with nobody")
	}
	g.pass(time.Minute)
	if g.m.loop() {
		t.Fatal("the match was not stopped")
	}
}

func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never happened")
		}
	}
}
