package match

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

// endDeck is scenario 15's: two Sets, then none, and an empty deck.
const endDeck = `{"preset":"fast","test_deck":"0021 2201 0020 0221 1011 0222 0110 1101 2122 1110 0112 2111"}`

func TestWelcomeIsFirst(t *testing.T) {
	n := newFake(t)
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	m := ann.create(`{}`)
	for i, u := range []*fakeUser{ann, bob, eve} {
		if reason := u.join(m); reason != "" {
			t.Fatal(reason)
		}
		frames := u.news()
		w, ok := decode(t, frames[0]).(*wire.Welcome)
		if !ok {
			t.Fatalf("the first frame is no WELCOME:\n%s", story(t, frames))
		}
		if w.TableId == "" || w.ProtocolVersion != 1 || w.Rules == nil || w.Timing == nil || w.Roster == nil {
			t.Fatalf("welcome %v", w)
		}
		wantRole, seats := wire.Role_ROLE_PLAYER, 2
		if i == 2 {
			wantRole = wire.Role_ROLE_SPECTATOR
		}
		if w.Role != wantRole || len(w.Roster.Seats) != seats || (i < 2 && *w.Seat != uint32(i)) {
			t.Fatalf("user %d: role %v, seat %v", i, w.Role, w.Seat)
		}
		if (i == 2) != (w.Snapshot != nil) || (i == 2) != (len(w.Commitment) == 32) {
			t.Fatalf("user %d: snapshot %v, commitment %x", i, w.Snapshot, w.Commitment)
		}
	}
	m.pass(time.Second)
}

// The match starts when the last seat is taken; everybody sees the first deal as events in an UPDATE.
func TestMatchStartsWhenSeatsAreFull(t *testing.T) {
	n := newFake(t)
	ann, bob := n.session("ann"), n.session("bob")
	m := ann.create(`{"seats":2}`)
	ann.join(m)
	if frames := ann.news(); len(only[*wire.Update](t, frames)) != 0 {
		t.Fatalf("started with one of two:\n%s", story(t, frames))
	}
	bob.join(m)
	for _, u := range []*fakeUser{ann, bob} {
		update := one[*wire.Update](t, u.news())
		started := update.Events[0].GetMatchStarted()
		if started == nil || started.SeatCount != 2 || len(started.Commitment) != 32 || update.FromRevision != 0 {
			t.Fatalf("update %v", update)
		}
		if len(update.Snapshot.Board) < 12 || update.Stamp.Revision == 0 {
			t.Fatalf("snapshot %v at revision %d", update.Snapshot, update.Stamp.Revision)
		}
	}
}

// Before the start a leave frees the seat.
func TestLeaveBeforeTheStart(t *testing.T) {
	n := newFake(t)
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	m := ann.create(`{"seats":3}`)
	ann.join(m)
	bob.join(m)
	m.leave(ann)
	bob.news()
	eve.join(m)
	frames := eve.news()
	if w := one[*wire.Welcome](t, frames); *w.Seat != 0 || *w.Roster.HostSeat != 1 {
		t.Fatalf("eve sits on %d, the host on %d", *w.Seat, *w.Roster.HostSeat)
	}
	if m.table().standing.started {
		t.Fatal("started with two of three")
	}
}

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
func TestRequestSnapshot(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	eve := g.n.session("eve")
	eve.join(g.m)
	g.read()
	ann.claim(g.m, 1, setSA)
	update := one[*wire.Update](t, ann.news())
	for _, u := range []*fakeUser{ann, eve} {
		u.news()
		u.send(g.m, wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
		w := one[*wire.Welcome](t, u.news())
		if !proto.Equal(w.Snapshot, update.Snapshot) || w.Stamp.Revision != update.Stamp.Revision {
			t.Fatalf("snapshot %v, the update's was %v", w.Snapshot, update.Snapshot)
		}
	}
	wantQuiet(t, "bob", without(t, g.players[1].news(), update))
}

// without drops the given update from the frames.
func without(t *testing.T, frames []frame, u *wire.Update) []frame {
	t.Helper()
	var rest []frame
	for _, f := range frames {
		if m, ok := decode(t, f).(*wire.Update); !ok || !proto.Equal(m, u) {
			rest = append(rest, f)
		}
	}
	return rest
}

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
func TestNewcomerSeesNoStepTwice(t *testing.T) {
	g := newGame(t, `{"preset":"fast","test_deck":"`+boardMAX+boardRest+`"}`, "ann", "bob")
	ann := g.players[0]
	g.m.leave(g.players[1])
	back := g.n.session("bob")
	g.m.attempt(back)
	back.put(g.m, opClaimSet, marshal(t, claimOf(2, "0010 0011 0012")))
	g.m.callback.Lock()
	ann.put(g.m, opClaimSet, marshal(t, claimOf(1, setSA)))
	g.m.callback.Unlock()
	g.m.join(back)
	g.m.settle()
	frames := back.news()
	at := one[*wire.Welcome](t, frames).Stamp.Revision
	for _, u := range only[*wire.Update](t, frames) {
		if u.Stamp.Revision > at && u.FromRevision != at {
			t.Fatalf("welcome at %d, then:\n%s", at, story(t, frames))
		}
	}
	if g.score(0) != 1 || g.score(1) != 1 {
		t.Fatalf("scores %d : %d", g.score(0), g.score(1))
	}
}

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
func TestTableCrowded(t *testing.T) {
	n := newFake(t, "SET3D_MAX_SPECTATORS=2")
	g := startGame(n, `{}`, "ann", "bob")
	for i := range 2 {
		if reason := n.session(fmt.Sprint("eve", i)).join(g.m); reason != "" {
			t.Fatal(reason)
		}
	}
	if reason := n.session("eve2").join(g.m); reason != `{"reason":"TABLE_CROWDED","args":{}}` {
		t.Fatalf("answered %q", reason)
	}
	if reason := n.session("ann").join(g.m); reason != "" {
		t.Fatalf("a player's new session: %q", reason)
	}
	if reason := n.session("eve0").join(g.m); reason != "" {
		t.Fatalf("a spectator's new session: %q", reason)
	}
}

// Attempts that were allowed count until they have arrived: no more are let in than there is room.
func TestAttemptsCount(t *testing.T) {
	n := newFake(t, "SET3D_MAX_SPECTATORS=1", "SET3D_EMPTY_TABLE_MS=600000")
	ann := n.session("ann")
	m := ann.create(`{"seats":2}`)
	allowed := 0
	for i := range 10 {
		if ok, _ := m.attempt(n.session(fmt.Sprint("u", i))); ok {
			allowed++
		}
	}
	if allowed != 3 {
		t.Fatalf("%d were let in, there is room for 2 players and 1 spectator", allowed)
	}
	m.pass(arrivalLimit)
	if ok, _ := m.attempt(n.session("late")); !ok {
		t.Fatal("those who never arrived still take the room")
	}
}

// An empty table closes by itself, whether somebody has been there or not.
func TestEmptyTableCloses(t *testing.T) {
	for _, visited := range []bool{false, true} {
		n := newFake(t, "SET3D_EMPTY_TABLE_MS=5000")
		ann := n.session("ann")
		m := ann.create(`{}`)
		if visited {
			m.pass(4 * time.Second)
			ann.join(m)
			m.pass(60 * time.Second)
			if m.table().closing {
				t.Fatal("closed while ann was there")
			}
			m.leave(ann)
		}
		m.pass(4900 * time.Millisecond)
		if m.table().closing {
			t.Fatal("closed too early")
		}
		m.pass(200 * time.Millisecond)
		if !m.table().closing || m.loop() {
			t.Fatal("an empty table lives on")
		}
	}
}

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

func TestPing(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.pass(1234 * time.Millisecond)
	g.read()
	g.players[0].send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{ClientTimeMs: 99})
	if p := one[*wire.Pong](t, g.players[0].news()); p.ClientTimeMs != 99 || p.Stamp.ServerTimeMs != 1234 {
		t.Fatalf("pong %v", p)
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
