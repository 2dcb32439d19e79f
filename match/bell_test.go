package match

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// However Nakama fails a signal, what is in the mailbox is judged exactly once.
func TestSignalFaults(t *testing.T) {
	for name, fault := range map[string]signalFault{
		"queue full, not run": signalNotRun, "runs late": signalRunsLate, "ran, answer lost": signalRan,
	} {
		t.Run(name, func(t *testing.T) {
			n := newFake(t)
			g := startGame(n, deckRequest(""), "ann", "bob")
			first := n.signals
			n.mu.Lock()
			n.signalFault = func(i int) signalFault {
				if i <= first+3 {
					return fault
				}
				return signalFine
			}
			n.mu.Unlock()
			ann := g.players[0]
			ann.put(g.m, opClaimSet, marshal(t, claimOf(1, notSet)))
			eventually(t, func() bool {
				g.pass(ringAgainAfter)
				return g.revision() > 1
			})
			g.pass(100 * time.Millisecond)
			if v := verdict(t, ann.news()); v.ClaimId != 1 {
				t.Fatalf("verdict %v", v)
			}
		})
	}
}

// A bell that fails rings again by itself, without a tick.
func TestBellRingsAgain(t *testing.T) {
	n := newFake(t)
	g := startGame(n, deckRequest(""), "ann", "bob")
	n.mu.Lock()
	first := n.signals
	n.signalFault = func(i int) signalFault {
		if i <= first+2 {
			return signalNotRun
		}
		return signalFine
	}
	n.mu.Unlock()
	g.players[0].put(g.m, opClaimSet, marshal(t, claimOf(1, notSet)))
	eventually(t, func() bool {
		if f := n.clock.next(n.clock.now() + ringAgainAfter); f != nil {
			f()
		}
		return len(only[*wire.Update](t, g.players[0].news())) > 0
	})
	if n.counter("set3d_bell_retries_total") != 2 {
		t.Fatalf("%d retries", n.counter("set3d_bell_retries_total"))
	}
}

// A bell whose signal panics costs that match only.
func TestSignalPanics(t *testing.T) {
	n := newFake(t)
	g := startGame(n, deckRequest(""), "ann", "bob")
	n.mu.Lock()
	n.signalFault = func(int) signalFault { return signalPanics }
	n.mu.Unlock()
	g.players[0].put(g.m, opClaimSet, marshal(t, claimOf(1, setSA)))
	eventually(t, func() bool { return n.counter("set3d_panics_total bell") == 1 })
	g.m.loop()
	wantRefused(t, g.players[0].news(), wire.Reason_REASON_TABLE_CLOSED)
	if g.m.loop() {
		t.Fatal("goes on")
	}
}

// The bell of a match that is gone falls silent.
func TestBellOfAMatchThatIsGone(t *testing.T) {
	n := newFake(t)
	g := startGame(n, deckRequest(""), "ann", "bob")
	n.mu.Lock()
	delete(n.matches, g.m.id)
	n.mu.Unlock()
	g.players[0].put(g.m, opPing, nil)
	eventually(t, func() bool { n.mu.Lock(); defer n.mu.Unlock(); return n.signals > 0 })
	before := n.clock.pendingAlarms()
	time.Sleep(time.Millisecond)
	if n.clock.pendingAlarms() != before {
		t.Fatal("the bell goes on ringing")
	}
}

// A deadline is met by the timer alone: no tick, no message.
func TestTimerMeetsDeadlines(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.players[0].claim(g.m, 1, setSA)
	g.read()
	until := g.n.clock.now() + 601*time.Millisecond
	f := g.n.clock.next(until)
	if f == nil || g.n.clock.now() != until-time.Millisecond {
		t.Fatalf("the alarm is not at 600 ms")
	}
	f()
	eventually(t, func() bool { return len(only[*wire.Update](t, g.players[1].news())) > 0 })
	g.m.settle()
	if s := g.m.table().session.Snapshot().State.String(); s != "RefillAnim" {
		t.Fatalf("state %s", s)
	}
}

// Every claim of many senders, with signals that fail in every way and callbacks of all kinds in between, gets exactly one
// answer. Run it with -race.
func TestEveryClaimIsAnsweredOnce(t *testing.T) {
	const senders, claims = 8, 60
	n := newFake(t, "SET3D_RATE_PER_SECOND=1000", "SET3D_RATE_BURST=1000", "SET3D_MAX_SPECTATORS=50")
	names := make([]string, senders)
	for i := range names {
		names[i] = fmt.Sprint("u", i)
	}
	g := startGame(n, fmt.Sprintf(`{"seats":%d,"rules":{"penalty_mode":"point","invalid_anim_ms":0}}`, senders), names...)
	random := rand.New(rand.NewPCG(1, 2))
	n.mu.Lock()
	n.signalFault = func(int) signalFault {
		if random.IntN(3) > 0 {
			return signalFine
		}
		return []signalFault{signalNotRun, signalRunsLate, signalRan}[random.IntN(3)]
	}
	n.mu.Unlock()
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() { n.churn(g, stop) })
	var wg sync.WaitGroup
	for seat, u := range g.players {
		wg.Go(func() {
			for i := range claims {
				u.put(g.m, opClaimSet, marshal(t, &wire.ClaimSet{ClaimId: uint64(seat*1000 + i + 1), Cards: []byte{byte(i), byte(i + 1), byte(i + 2)}}))
			}
		})
	}
	wg.Wait()
	close(stop)
	others.Wait()
	n.mu.Lock()
	n.signalFault = nil
	n.mu.Unlock()
	g.m.loop()
	g.m.settle()
	g.pass(time.Minute)
	for seat, u := range g.players {
		answers := answersTo(t, u, uint32(seat))
		for i := range claims {
			if id := uint64(seat*1000 + i + 1); answers[id] != 1 {
				t.Fatalf("claim %d of seat %d got %d answers", id, seat, answers[id])
			}
		}
	}
}

// churn runs other callbacks while claims come in, and moves the clock.
func (n *fakeNakama) churn(g *game, stop chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		eve := n.session(fmt.Sprint("eve", i%5))
		eve.join(g.m)
		g.m.loop()
		g.m.leave(eve)
		if f := n.clock.next(n.clock.now() + 3*time.Millisecond); f != nil {
			f()
		}
	}
}

// answersTo counts a session's answers by claim id: verdicts of its seat, and results.
func answersTo(t *testing.T, u *fakeUser, seat uint32) map[uint64]int {
	answers := map[uint64]int{}
	frames := u.news()
	for _, r := range only[*wire.ClaimResult](t, frames) {
		answers[r.ClaimId]++
	}
	for _, update := range only[*wire.Update](t, frames) {
		for _, e := range update.Events {
			if c := e.GetSetClaimed(); c != nil && c.Seat == seat {
				answers[c.ClaimId]++
			}
		}
	}
	return answers
}

// A full mailbox answers busy; what was taken is judged, what was not can be sent again.
func TestFullMailbox(t *testing.T) {
	n := newFake(t, "SET3D_RATE_PER_SECOND=1000", "SET3D_RATE_BURST=1000")
	g := startGame(n, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	g.m.callback.Lock()
	for i := range mailboxSize + 10 {
		ann.put(g.m, opClaimSet, marshal(t, claimOf(uint64(i+1), "0000 1010 2020")))
	}
	busy := only[*wire.ClaimResult](t, ann.news())
	if len(busy) != 10 {
		t.Errorf("%d were answered at once", len(busy))
	}
	for i, r := range busy {
		if r.ClaimId != uint64(mailboxSize+i+1) || r.GetRefused().Reason != wire.Reason_REASON_BUSY {
			t.Errorf("answer %v", r)
		}
	}
	g.m.callback.Unlock()
	g.m.settle()
	if n := len(only[*wire.ClaimResult](t, ann.news())); n != mailboxSize {
		t.Fatalf("%d answers", n)
	}
	ann.claim(g.m, mailboxSize+1, setSA)
	if !verdict(t, ann.news()).Valid {
		t.Fatal("a claim that was refused as busy is spoilt")
	}
}

// The order of what a callback does: mail first, each at its arrival, then the callback's own business.
func TestMailComesBeforeTheLeave(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	g.m.callback.Lock()
	ann.put(g.m, opClaimSet, marshal(t, claimOf(1, setSA)))
	g.n.clock.next(g.n.clock.now() + 50*time.Millisecond)
	g.m.callback.Unlock()
	g.m.leave(ann)
	g.m.settle()
	update := one[*wire.Update](t, bob.news())
	if c := update.Events[0]; c.GetSetClaimed() == nil || c.AtMs != 0 || update.Snapshot.Scores[0] != 1 {
		t.Fatalf("update %v", update)
	}
}

// Every callback drains the mailbox and tells what came of it, whatever else it does.
func TestEveryCallbackDrains(t *testing.T) {
	for name, run := range map[string]func(g *game, other *fakeUser){
		"attempt":   func(g *game, other *fakeUser) { g.m.attempt(other) },
		"join":      func(g *game, other *fakeUser) { g.m.join(other) },
		"leave":     func(g *game, _ *fakeUser) { g.m.leave(g.players[1]) },
		"loop":      func(g *game, _ *fakeUser) { g.m.loop() },
		"signal":    func(g *game, _ *fakeUser) { g.m.signal("anything") },
		"terminate": func(g *game, _ *fakeUser) { g.m.terminate(1) },
	} {
		t.Run(name, func(t *testing.T) {
			n := newFake(t)
			g := startGame(n, deckRequest(""), "ann", "bob")
			n.mu.Lock()
			n.signalFault = func(int) signalFault { return signalNotRun }
			n.mu.Unlock()
			g.players[0].put(g.m, opClaimSet, marshal(t, claimOf(1, setSA)))
			run(g, n.session("eve"))
			if v := verdict(t, g.players[0].news()); !v.Valid {
				t.Fatalf("verdict %v", v)
			}
			g.m.table().box.mu.Lock()
			defer g.m.table().box.mu.Unlock()
			if len(g.m.table().box.queue) != 0 {
				t.Fatal("something is left in the mailbox")
			}
		})
	}
}

// Whatever a drain did, however many steps, is one frame with the same bytes for everybody.
func TestOneUpdatePerDrain(t *testing.T) {
	g := newGame(t, `{"preset":"fast","rules":{"penalty_mode":"point","invalid_anim_ms":0},"test_deck":"`+boardMAX+boardRest+`"}`, "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	before := g.revision()
	g.m.callback.Lock()
	ann.put(g.m, opClaimSet, marshal(t, claimOf(1, setSA)))
	bob.put(g.m, opClaimSet, marshal(t, claimOf(2, "0010 0011 0012")))
	ann.put(g.m, opClaimSet, marshal(t, claimOf(3, "0020 0021 0022")))
	g.m.callback.Unlock()
	g.m.settle()
	a, b := ann.news(), bob.news()
	if len(a) != 1 || len(b) != 1 || string(a[0].data) != string(b[0].data) || !a[0].all {
		t.Fatalf("ann:\n%s\nbob:\n%s", story(t, a), story(t, b))
	}
	update := one[*wire.Update](t, a)
	if update.FromRevision != before || update.Stamp.Revision != g.revision() || g.score(0) != 2 || g.score(1) != 1 {
		t.Fatalf("update %v", update)
	}
}
