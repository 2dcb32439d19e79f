package match

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

var errNoDatabase = errors.New("the database is gone")

// block lets operations of the database wait until the returned function is called.
func (s *fakeStorage) block(ops ...string) (open func()) {
	gate := make(chan struct{})
	s.setFault(func(op string) error {
		for _, blocked := range ops {
			if op == blocked {
				<-gate
			}
		}
		return nil
	})
	return func() {
		s.setFault(nil)
		close(gate)
	}
}

func newSafeGame(t *testing.T, request string, names ...string) *game {
	t.Helper()
	return startSafe(newFake(t, "SET3D_DURABILITY=safe"), request, names...)
}

func startSafe(n *fakeNakama, request string, names ...string) *game {
	n.t.Helper()
	g := startGame(n, request, names...)
	g.waitTold()
	g.read()
	return g
}

// isHolding looks at the outbox while no callback runs.
func (m *fakeMatch) isHolding() bool {
	m.callback.Lock()
	defer m.callback.Unlock()
	return m.table().outbox.isHolding()
}

// waitTold waits until all that happened is stored and told.
func (g *game) waitTold() {
	g.n.t.Helper()
	eventually(g.n.t, func() bool { return !g.m.isHolding() })
}

// ops are the op codes of frames, in order.
func ops(frames []frame) string {
	var names []string
	for _, f := range frames {
		names = append(names, strings.TrimPrefix(wire.OpCode(f.op).String(), "OP_CODE_"))
	}
	return strings.Join(names, " ")
}

// A verdict is told when it is stored, and all behind it waits, so that the order stays; each claim is answered once.
func TestVerdictWaitsForItsCheckpoint(t *testing.T) {
	g := newSafeGame(t, deckRequest(`,"rules":{"valid_anim_ms":0,"refill_anim_ms":0}`), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	open := g.n.storage.block("write")
	ann.claim(g.m, 1, setSA)
	ann.claim(g.m, 1, setSA) // resent
	ann.send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{ClientTimeMs: 7})
	bob.claim(g.m, 2, setSA) // gone
	g.m.loop()
	told := g.m.table().sentRevision - 1
	if pong := one[*wire.Pong](t, ann.news()); pong.Stamp.Revision != told { // it says nothing of the verdict, and waits for nothing
		t.Fatalf("pong %v, want revision %d", pong, told)
	}
	wantQuiet(t, "bob", bob.news())
	open()
	g.waitTold()
	annNews, bobNews := ann.news(), bob.news()
	if got := ops(annNews); got != "UPDATE CLAIM_RESULT" {
		t.Fatalf("ann was told %s", got)
	}
	if got := ops(bobNews); got != "UPDATE CLAIM_RESULT" {
		t.Fatalf("bob was told %s", got)
	}
	if v := verdict(t, annNews); v.ClaimId != 1 || !v.Valid {
		t.Fatalf("verdict %v", v)
	}
	ann.send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{})
	if pong := one[*wire.Pong](t, ann.news()); pong.Stamp.Revision != told+1 {
		t.Fatalf("with nothing to be stored: %v", pong)
	}
}

// A message that says nothing of the state does not wait for the database, in the match and in the hook: it carries the
// revisions that were told last. A WELCOME waits.
func TestWhatDoesNotWait(t *testing.T) {
	g := newSafeGame(t, deckRequest(`,"rules":{"valid_anim_ms":0,"refill_anim_ms":0}`), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	told, roster := g.m.table().standing.revision, g.m.table().standing.rosterRevision
	open := g.n.storage.block("write")
	ann.claim(g.m, 1, setSA)
	bob.sendRaw(g.m, opClaimSet, []byte{0xff})
	bob.send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{ClientTimeMs: 9})
	bob.send(g.m, wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
	g.n.mustAdmin("admin_drain", `{"on":true}`, nil)
	g.m.terminate(30)
	for range 20 {
		bob.send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{}) // beyond the limit: refused by the hook
	}
	news := bob.news()
	if got := ops(news); !strings.HasPrefix(got, "ERROR PONG NOTICE NOTICE") || strings.Contains(got, "UPDATE") || strings.Contains(got, "WELCOME") {
		t.Fatalf("bob was told %s", got)
	}
	limited := false
	for _, f := range news {
		message := decode(t, f)
		stamp := message.(interface{ GetStamp() *wire.Stamp }).GetStamp()
		if stamp.Revision != told || stamp.RosterRevision != roster {
			t.Errorf("%v is stamped %v, told were %d and %d", wire.OpCode(f.op), stamp, told, roster)
		}
		e, isError := message.(*wire.Error)
		limited = limited || isError && e.Reason == wire.Reason_REASON_RATE_LIMITED
	}
	if !limited {
		t.Error("the hook has refused nothing")
	}
	open()
	g.waitTold()
	if got := ops(bob.news()); !strings.HasPrefix(got, "UPDATE WELCOME") {
		t.Fatalf("bob was told %s", got)
	}
}

// What was told is stored: a process that dies takes nothing back. What it had not told has not happened.
func TestSafeCrash(t *testing.T) {
	g := newSafeGame(t, deckRequest(`,"rules":{"valid_anim_ms":0,"refill_anim_ms":0}`), "ann", "bob")
	ann := g.players[0]
	ann.claim(g.m, 1, setSA)
	g.waitTold()
	if v := verdict(t, ann.news()); !v.Valid {
		t.Fatal(v)
	}
	open := g.n.storage.block("write")
	defer open()
	ann.claim(g.m, 2, "0010 0011 0012")
	g.m.loop()
	wantQuiet(t, "ann", ann.news())

	n := g.n.another("SET3D_DURABILITY=safe")
	again := n.session("ann")
	matchID, err := again.resume(g.m.table().setup.TableID)
	if err != nil {
		t.Fatal(err)
	}
	m := n.match(matchID)
	if reason := again.join(m); reason != "" {
		t.Fatal(reason)
	}
	next := &game{n: n, m: m, players: []*fakeUser{again}}
	next.waitTold()
	w := one[*wire.Welcome](t, again.news())
	if w.Snapshot.Scores[0] != 1 || w.LastVerdict.GetClaimId() != 1 || w.Stamp.Incarnation != 1 {
		t.Fatalf("welcome %v", w)
	}
	again.claim(m, 2, "0010 0011 0012")
	next.waitTold()
	if v := verdict(t, again.news()); !v.Valid || v.ClaimId != 2 {
		t.Fatalf("verdict %v", v)
	}
}

// A database that does not answer delays a verdict by SET3D_SAFE_WAIT_MS, and from then on none until it answers.
func TestDatabaseDoesNotAnswerInTime(t *testing.T) {
	g := startSafe(newFake(t, "SET3D_DURABILITY=safe", "SET3D_SAFE_WAIT_MS=3000"), deckRequest(`,"rules":{"penalty_mode":"point","invalid_anim_ms":0}`), "ann", "bob")
	ann := g.players[0]
	open := g.n.storage.block("write")
	ann.claim(g.m, 1, notSet)
	g.pass(2900 * time.Millisecond)
	wantQuiet(t, "ann", ann.news())
	g.pass(200 * time.Millisecond)
	if v := verdict(t, ann.news()); v.ClaimId != 1 || g.n.counter("set3d_verdicts_unsafe_total") != 1 {
		t.Fatalf("verdict %v", v)
	}
	for id := range uint64(5) {
		ann.claim(g.m, 10+id, notSet)
		if v := verdict(t, ann.news()); v.ClaimId != 10+id {
			t.Fatal("a verdict waits although the database is known to be gone")
		}
	}
	open()
	g.n.waitStored()
	eventually(t, func() bool {
		g.m.callback.Lock()
		defer g.m.callback.Unlock()
		return !g.m.table().outbox.late
	})
	open = g.n.storage.block("write")
	ann.claim(g.m, 20, notSet)
	g.m.loop()
	wantQuiet(t, "ann", ann.news())
	open()
	g.waitTold()
	if v := verdict(t, ann.news()); v.ClaimId != 20 {
		t.Fatal(v)
	}
}

// A newcomer's WELCOME says nothing that is not stored, even if it was judged a moment before.
func TestWelcomeIsSafe(t *testing.T) {
	g := newSafeGame(t, deckRequest(""), "ann", "bob")
	ann, eve := g.players[0], g.n.session("eve")
	open := g.n.storage.block("write")
	if allow, reason := g.m.attempt(eve); !allow {
		t.Fatal(reason)
	}
	g.n.mu.Lock()
	g.n.signalFault = func(int) signalFault { return signalNotRun }
	g.n.mu.Unlock()
	ann.put(g.m, opClaimSet, marshal(t, claimOf(1, setSA))) // it waits in the mailbox for MatchJoin
	g.m.join(eve)
	wantQuiet(t, "eve", eve.news())
	wantQuiet(t, "ann", ann.news())
	g.n.mu.Lock()
	g.n.signalFault = nil
	g.n.mu.Unlock()
	open()
	g.n.waitStored()
	eventually(t, func() bool { g.m.loop(); return !g.m.isHolding() })
	if w := one[*wire.Welcome](t, eve.news()); w.Snapshot.Scores[0] != 1 {
		t.Fatalf("welcome %v", w)
	}
	if v := verdict(t, ann.news()); !v.Valid {
		t.Fatal(v)
	}
}

// The end is told when the result is stored: whoever asks for it then gets it.
func TestEndWaitsForTheResult(t *testing.T) {
	g := newSafeGame(t, endDeck, "ann", "bob")
	ann := g.players[0]
	ann.claim(g.m, 1, "0110 1101 2122")
	g.waitTold()
	ann.news()
	open := g.n.storage.block("multi")
	ann.claim(g.m, 2, "1110 0112 2111")
	g.m.loop()
	wantQuiet(t, "ann", ann.news())
	g.m.terminate(30) // a table that has ended closes at once, but not before it has said so
	if g.m.loop(); g.m.table().closing {
		t.Fatal("closed before the end was told")
	}
	open()
	g.waitTold()
	if g.m.loop(); !g.m.table().closing {
		t.Fatal("the table stays open")
	}
	end := ended(t, ann.news())
	if end == nil {
		t.Fatal("no end")
	}
	if answer, err := ann.rpc("get_result", `{"result_id":"`+end.ResultId+`"}`); err != nil || !strings.Contains(answer, `"final"`) {
		t.Fatalf("%s, %v", answer, err)
	}
}

// Who is removed hears all that was said before, and nothing after.
func TestRemovalWaitsItsTurn(t *testing.T) {
	g := newSafeGame(t, deckRequest(""), "ann", "bob")
	bob, newer := g.players[1], g.n.session("bob")
	open := g.n.storage.block("write")
	g.players[0].claim(g.m, 1, setSA)
	if reason := newer.join(g.m); reason != "" {
		t.Fatal(reason)
	}
	if len(g.m.kicked) != 0 {
		t.Fatal("removed before all was told")
	}
	open()
	g.waitTold()
	if got := ops(bob.news()); !strings.HasPrefix(got, "UPDATE ") || !strings.HasSuffix(got, " NOTICE") {
		t.Fatalf("the older session was told %s", got)
	}
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	if fmt.Sprint(g.m.kicked) != "["+bob.sessionID+"]" {
		t.Fatalf("removed %v", g.m.kicked)
	}
}

// At a shutdown without a database what is not stored is not told: the table closes, and what it goes on from later is
// what was told.
func TestShutdownTellsNothingUnstored(t *testing.T) {
	g := newSafeGame(t, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	open := g.n.storage.block("write", "multi")
	defer open()
	g.m.terminate(30)
	ann.news()
	g.pass(24 * time.Second)
	ann.claim(g.m, 1, setSA)
	g.pass(1100 * time.Millisecond) // the time to be suspended, but for what is held back
	wantQuiet(t, "ann", ann.news())
	if g.m.table().closing {
		t.Fatal("closed, although there is time to wait")
	}
	g.pass(2 * time.Second)
	if got := one[*wire.Notice](t, ann.news()); got.Kind != wire.NoticeKind_NOTICE_KIND_SUSPENDED {
		t.Fatalf("notice %v", got)
	}
	if g.m.loop() {
		t.Fatal("goes on")
	}
	n := g.n.another()
	if mine := n.session("ann").mine(t); len(mine) != 1 || mine[0].Score != 0 {
		t.Fatalf("ann finds %+v", mine)
	}
}

// Another process has taken the table over: the match closes, and tells nothing of what is not true any more.
func TestTakenOver(t *testing.T) {
	for _, durability := range []string{"fast", "safe"} {
		t.Run(durability, func(t *testing.T) {
			g := startSafe(newFake(t, "SET3D_DURABILITY="+durability), deckRequest(""), "ann", "bob")
			g.n.waitStored()
			ann, id := g.players[0], g.m.table().setup.TableID
			other := g.n.another()
			if _, err := other.session("bob").resume(id); err != nil {
				t.Fatal(err)
			}
			g.n.storage.mu.Lock()
			g.n.storage.objects = other.storage.objects
			g.n.storage.mu.Unlock()
			ann.claim(g.m, 1, setSA)
			eventually(t, func() bool { g.m.loop(); return g.m.isStopped() })
			news := ann.news()
			notices := only[*wire.Notice](t, news)
			if len(notices) != 1 || notices[0].Kind != wire.NoticeKind_NOTICE_KIND_SUSPENDED {
				t.Fatalf("ann was told:\n%s", story(t, news))
			}
			if told := len(only[*wire.Update](t, news)) > 0; told != (durability == "fast") {
				t.Fatalf("the void verdict was told: %t", told)
			}
			g.n.waitStored()
			if mine := other.session("ann").mine(t); len(mine) != 1 || mine[0].Score != 0 {
				t.Fatalf("the other process was disturbed: %+v", mine)
			}
		})
	}
}

// A server that shuts down while the database is away suspends its matches as soon as it knows, and says so, instead of
// playing on for nothing: whether the database went before the shutdown or during it, refuses or does not answer.
func TestShutdownWithoutADatabase(t *testing.T) {
	for _, durability := range []string{"fast", "safe"} {
		for _, silent := range []bool{false, true} {
			if silent && durability == "fast" {
				continue // nothing shows that it is away before the call's time-out
			}
			for _, before := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, silent %t, before %t", durability, silent, before), func(t *testing.T) {
					g := startSafe(newFake(t, "SET3D_DURABILITY="+durability, "SET3D_CHECKPOINT_MS=10"), deckRequest(`,"rules":{"valid_anim_ms":0,"refill_anim_ms":0}`), "ann", "bob")
					g.n.waitStored()
					ann := g.players[0]
					stop := func() {
						if silent {
							t.Cleanup(g.n.storage.block("write", "multi", "read"))
						} else {
							g.n.storage.setFault(func(string) error { return errNoDatabase })
						}
					}
					if before {
						stop()
						ann.claim(g.m, 1, setSA)
					}
					g.m.terminate(30)
					if !before {
						stop()
						ann.claim(g.m, 1, setSA)
					}
					if !silent {
						eventually(t, g.n.module.archive.IsAway)
						g.pass(time.Second)
					} else {
						g.pass(5100 * time.Millisecond)
					}
					notices := only[*wire.Notice](t, ann.news())
					if last := notices[len(notices)-1]; last.Kind != wire.NoticeKind_NOTICE_KIND_SUSPENDED {
						t.Fatalf("notices %v", notices)
					}
					if g.m.loop() {
						t.Fatal("goes on")
					}
					if durability == "safe" && g.n.counter("set3d_verdicts_unsafe_total") != 0 {
						t.Fatal("verdicts were told unstored")
					}
				})
			}
		}
	}
}

// An end that could not be stored is not told: at a shutdown the table is suspended and not closed, so that its players
// come back to what is stored.
func TestShutdownDoesNotCloseWhatHasNotEnded(t *testing.T) {
	g := startSafe(newFake(t, "SET3D_DURABILITY=safe"), endDeck, "ann", "bob")
	ann := g.players[0]
	ann.claim(g.m, 1, "0110 1101 2122")
	g.waitTold()
	ann.news()
	open := g.n.storage.block("multi", "write")
	defer open()
	ann.claim(g.m, 2, "1110 0112 2111")
	g.m.terminate(30)
	g.pass(28 * time.Second)
	news := ann.news()
	notices := only[*wire.Notice](t, news)
	if last := notices[len(notices)-1]; last.Kind != wire.NoticeKind_NOTICE_KIND_SUSPENDED || len(only[*wire.Update](t, news)) != 0 {
		t.Fatalf("ann was told:\n%s", story(t, news))
	}
	if n := g.n.another().session("ann"); len(n.mine(t)) != 1 {
		t.Fatal("the match is not there to be resumed")
	}
}
