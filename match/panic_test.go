package match

import (
	"strings"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// panicGame is a game in which the given entry point is to panic, and a second one beside it.
func panicGame(t *testing.T, at entryPoint) (broken, healthy *game) {
	n := newFake(t)
	return startGame(n, deckRequest(`,"test_panic_at":"`+string(at)+`"`), "ann", "bob"),
		startGame(n, deckRequest(""), "cid", "dan")
}

// A panic at any entry point ends the one match, tells its players, and leaves the other playing.
func TestPanicEndsOneMatch(t *testing.T) {
	cases := map[entryPoint]func(g *game){
		atLoop:      func(g *game) { g.m.loop() },
		atSignal:    func(g *game) { g.m.signal("anything") },
		atLeave:     func(g *game) { g.m.leave(g.players[1]) },
		atTerminate: func(g *game) { g.m.terminate(5) },
		atHook:      func(g *game) { g.players[0].put(g.m, opPing, nil); g.m.settle() },
		atTimer: func(g *game) {
			g.players[0].claim(g.m, 1, setSA)
			if f := g.n.clock.next(g.n.clock.now() + time.Second); f == nil {
				g.n.t.Fatal("no timer is set")
			} else {
				f()
			}
			g.m.loop()
		},
		atBell: func(g *game) {
			g.players[0].put(g.m, opClaimSet, marshal(g.n.t, claimOf(1, setSA)))
			eventually(g.n.t, func() bool { return g.n.counter("set3d_panics_total bell") > 0 })
			g.m.loop()
		},
	}
	for at, provoke := range cases {
		t.Run(string(at), func(t *testing.T) {
			broken, healthy := panicGame(t, at)
			provoke(broken)
			frames := broken.players[0].news()
			end := ended(t, frames)
			if end == nil || end.Reason != wire.EndReason_END_REASON_INTERNAL_ERROR {
				t.Fatalf("ann was told:\n%s", story(t, frames))
			}
			wantDead(t, broken, at)
			healthy.read()
			healthy.players[0].claim(healthy.m, 1, setSA)
			if v := verdict(t, healthy.players[0].news()); !v.Valid {
				t.Fatal("the other match has suffered")
			}
		})
	}
}

// wantDead fails unless the match is closed, stops at its next loop, and the panic was logged with its match and counted.
func wantDead(t *testing.T, g *game, at entryPoint) {
	t.Helper()
	ann := g.players[0]
	ann.news()
	ann.put(g.m, opClaimSet, marshal(t, claimOf(9, setSB)))
	wantRefused(t, ann.news(), wire.Reason_REASON_TABLE_CLOSED)
	if ok, reason := g.m.attempt(g.n.session("late")); ok || !strings.Contains(reason, "TABLE_CLOSED") {
		t.Fatalf("a dead table answers %t %q", ok, reason)
	}
	if g.m.loop() {
		t.Fatal("a dead table goes on")
	}
	if n := g.n.counter("set3d_panics_total " + string(at)); n != 1 {
		t.Fatalf("%d panics counted", n)
	}
	if !g.n.logger.has("ERROR panic in "+string(at), g.m.id, "goroutine") {
		t.Fatal("the panic was not logged with its match and its stack")
	}
}

func (l *fakeLogger) has(parts ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		found := true
		for _, part := range parts {
			found = found && strings.Contains(line, part)
		}
		if found {
			return true
		}
	}
	return false
}

func TestPanicInJoinAttempt(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	m := ann.create(`{"test_panic_at":"join_attempt"}`)
	if allow, reason := m.attempt(ann); allow || reason != internalError {
		t.Fatalf("answered %t %q", allow, reason)
	}
	if m.loop() {
		t.Fatal("goes on")
	}
}

func TestPanicInJoin(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	m := ann.create(`{"test_panic_at":"join"}`)
	ann.join(m)
	if end := ended(t, ann.news()); end == nil || end.Reason != wire.EndReason_END_REASON_INTERNAL_ERROR {
		t.Fatalf("end %v", end)
	}
	if m.loop() {
		t.Fatal("goes on")
	}
}

func TestPanicInInitAndRPC(t *testing.T) {
	for _, at := range []entryPoint{atMatchInit, atRPC} {
		n := newFake(t)
		ann := n.session("ann")
		for range 30 { // nothing counts as open that is not
			_, err := ann.rpc("create_match", `{"test_panic_at":"`+string(at)+`","request_id":"r"}`)
			if err == nil || err.Error() != internalError {
				t.Fatalf("%s: %v", at, err)
			}
		}
		if _, err := ann.rpc("create_match", `{"request_id":"r"}`); err != nil {
			t.Fatalf("%s: afterwards: %v", at, err)
		}
	}
}

// The match's context ends in a panic: the table is unregistered all the same.
func TestPanicInAfterFunc(t *testing.T) {
	broken, _ := panicGame(t, atAfterFunc)
	broken.m.stop()
	box := broken.m.table().box
	eventually(t, func() bool { return box.module.tables.find(box.key) == nil })
	eventually(t, func() bool { return broken.n.counter("set3d_panics_total after_func") == 1 })
}

func TestPanicInString(t *testing.T) {
	broken, _ := panicGame(t, atString)
	if text := broken.m.table().String(); text != "{}" {
		t.Fatalf("shows %s", text)
	}
	if broken.n.counter("set3d_panics_total string") != 1 {
		t.Fatal("not counted")
	}
}

// A panic in the middle of a batch: what was judged, what panicked and what still waited, all is answered, and nothing is
// judged twice.
func TestPanicInTheMiddleOfABatch(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	g.m.callback.Lock()
	bob.put(g.m, opClaimSet, marshal(t, claimOf(1, "0000 1010 2020"))) // refused, the answer waits
	ann.put(g.m, opClaimSet, marshal(t, claimOf(2, notSet)))           // judged, the event waits
	bob.put(g.m, opClaimSet, marshal(t, claimOf(3, setSA)))            // panics
	ann.put(g.m, opClaimSet, marshal(t, claimOf(4, setSB)))            // waits
	g.m.table().box.queue[2].from = nil
	g.m.callback.Unlock()
	g.m.settle()
	answered := map[uint64]int{}
	for _, u := range g.players {
		frames := u.news()
		if ended(t, frames) == nil {
			t.Fatalf("%s was not told:\n%s", u.username, story(t, frames))
		}
		for _, r := range only[*wire.ClaimResult](t, frames) {
			if r.GetRefused().Reason != wire.Reason_REASON_TABLE_CLOSED {
				t.Fatalf("answer %v", r)
			}
			answered[r.ClaimId]++
		}
	}
	for _, id := range []uint64{1, 2, 4} { // 3 has lost its sender
		if answered[id] != 1 {
			t.Errorf("claim %d got %d answers", id, answered[id])
		}
	}
}

// A claim that the session holds when the table dies is answered too.
func TestHeldClaimIsAnsweredWhenTheTableDies(t *testing.T) {
	g := newGame(t, deckRequest(`,"test_panic_at":"terminate"`), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	bob.claim(g.m, 1, setSA)
	ann.claim(g.m, 2, "0010 0011 0012")
	g.read()
	g.m.terminate(5)
	if r := wantRefused(t, ann.news(), wire.Reason_REASON_TABLE_CLOSED); r == nil {
		t.Fatal("no answer")
	}
	for _, r := range only[*wire.ClaimResult](t, bob.news()) {
		t.Fatalf("bob's claim was answered before, and again: %v", r)
	}
}

// The abort's UPDATE beats what clients have, and holds a state that they can draw.
func TestAbortIsDrawable(t *testing.T) {
	g := newGame(t, deckRequest(`,"test_panic_at":"loop"`), "ann", "bob")
	g.players[0].claim(g.m, 1, setSA)
	before := one[*wire.Update](t, g.players[1].news())
	g.m.loop()
	after := one[*wire.Update](t, g.players[1].news())
	if after.Stamp.Revision <= before.Stamp.Revision {
		t.Fatalf("revision %d after %d", after.Stamp.Revision, before.Stamp.Revision)
	}
	if s := after.Snapshot; s.State != wire.BoardState_BOARD_STATE_MATCH_END || s.Animation != nil || len(s.Board) != 12 || s.Scores[0] != 1 {
		t.Fatalf("snapshot %v", s)
	}
}

// Even a logger or a dispatcher that panics does not let a panic out.
func TestPanicWhileDying(t *testing.T) {
	g := newGame(t, deckRequest(`,"test_panic_at":"loop"`), "ann", "bob")
	g.m.table().module.logger = nil
	g.m.table().abort = nil
	g.m.loop()
	if g.m.loop() {
		t.Fatal("goes on")
	}
}
