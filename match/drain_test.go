package match

import (
	"context"
	"strings"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// shutDown runs the shutdown function as Nakama does, with a context that ends with the grace, and returns when it is done.
func (n *fakeNakama) shutDown() (cancel context.CancelFunc, done <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		n.storage.shutdown(ctx)
	}()
	n.t.Cleanup(cancel)
	return cancel, returned
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Shutdown with grace: a match goes on until shortly before, then it is suspended as it stands, and goes on in the next process.
func TestSuspension(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann, id := g.players[0], g.m.table().setup.TableID
	_, done := g.n.shutDown()
	g.m.terminate(12)
	g.pass(7 * time.Second)
	g.read()
	ann.claim(g.m, 1, setSA)
	if v := verdict(t, ann.news()); !v.Valid {
		t.Fatal("the match does not go on during the grace")
	}
	if isDone(done) {
		t.Fatal("the server may go while a match is played")
	}
	g.pass(time.Second)
	atMs := g.m.table().session.NowMs()
	if notices := only[*wire.Notice](t, ann.news()); len(notices) != 1 || notices[0].Kind != wire.NoticeKind_NOTICE_KIND_SUSPENDED {
		t.Fatalf("notices %v", notices)
	}
	if g.m.loop() {
		t.Fatal("the suspended match goes on")
	}
	<-done
	if g.n.counter("set3d_matches_suspended_total") != 1 || !g.n.logger.has("INFO all matches are stored") {
		t.Fatal("not suspended")
	}

	n := g.n.another()
	again := n.session("ann")
	matchID, err := again.resume(id)
	if err != nil {
		t.Fatal(err)
	}
	m := n.match(matchID)
	if reason := again.join(m); reason != "" {
		t.Fatal(reason)
	}
	w := one[*wire.Welcome](t, again.news())
	if w.Snapshot.Scores[0] != 1 || int64(w.Stamp.ServerTimeMs) != atMs || w.LastVerdict.GetClaimId() != 1 {
		t.Fatalf("welcome %v, suspended at %d", w, atMs)
	}
}

// From the first sign of a shutdown on hello sends new players elsewhere, and an operator cannot call it off.
func TestHelloDuringAShutdown(t *testing.T) {
	byTable := newGame(t, deckRequest(""), "ann", "bob")
	byTable.m.terminate(12)
	empty := newFake(t)
	_, done := empty.shutDown()
	<-done
	for _, n := range []*fakeNakama{byTable.n, empty} {
		var answer adminDrainResponse
		n.mustAdmin("admin_drain", `{"on":false}`, &answer)
		if !n.hello("").Draining || !answer.Draining {
			t.Error("it does not drain")
		}
	}
}

// A match that ends within the grace is not suspended: its result is there when the server goes.
func TestMatchEndsDuringTheGrace(t *testing.T) {
	g := newGame(t, endDeck, "ann", "bob")
	open := g.n.storage.block("multi")
	_, done := g.n.shutDown()
	g.m.terminate(30)
	g.players[0].claim(g.m, 1, "0110 1101 2122")
	g.players[0].claim(g.m, 2, "1110 0112 2111")
	g.m.loop()
	if g.m.loop() {
		t.Fatal("the table stays open")
	}
	eventually(t, func() bool { return g.n.module.archive.Counters().Finished == 1 })
	for range 20 {
		time.Sleep(time.Millisecond)
		if isDone(done) {
			t.Fatal("the server may go, and the result is not stored")
		}
	}
	open()
	<-done
	id := g.m.table().setup.TableID
	if answer, err := g.n.another().session("bob").rpc("get_result", `{"result_id":"`+id+`"}`); err != nil || !strings.Contains(answer, "NO_SETS_LEFT") {
		t.Fatalf("%s, %v", answer, err)
	}
}

// However slow the database is, the shutdown waits for the last suspension, and no longer than the grace.
func TestShutdownWaitsForTheWriter(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.n.waitStored()
	open := g.n.storage.block("write")
	cancel, done := g.n.shutDown()
	g.m.terminate(0)
	if g.m.loop() {
		t.Fatal("without grace the match goes on")
	}
	for range 20 {
		time.Sleep(time.Millisecond)
		if isDone(done) {
			t.Fatal("the server may go, and the suspension is not stored")
		}
	}
	cancel() // the grace is over
	<-done
	if !g.n.logger.has("WARN 1 matches are not stored") {
		t.Fatalf("an operator is told %v", g.n.logger.lines)
	}
	open()
	g.n.waitStored()
	_, done = g.n.shutDown()
	<-done
}

// What a table hands over before it closes is waited for, at whatever moment that is.
func TestShutdownMissesNothing(t *testing.T) {
	for range 15 {
		g := startGame(newFake(t, "SET3D_CHECKPOINT_MS=10"), deckRequest(""), "ann", "bob")
		g.n.waitStored()
		_, done := g.n.shutDown()
		time.Sleep(time.Millisecond)
		g.n.storage.setFault(func(op string) error {
			if op == "write" {
				time.Sleep(3 * time.Millisecond)
			}
			return nil
		})
		g.m.terminate(0)
		<-done
		if waiting := g.n.module.archive.Counters().Waiting; waiting != 0 {
			t.Fatalf("the server may go, and %d are not stored", waiting)
		}
	}
}

// Nakama stops a match without a word, when a queue overflows or an operator says so: its players can go on with it in the same process.
func TestMatchIsStoppedWithoutAWord(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann, id := g.players[0], g.m.table().setup.TableID
	ann.claim(g.m, 1, setSA)
	g.m.stop()
	eventually(t, func() bool { mine := ann.mine(t); return len(mine) == 1 && mine[0].Phase == "interrupted" })
	matchID, err := ann.resume(id)
	if err != nil || matchID == g.m.id {
		t.Fatalf("%s, %v", matchID, err)
	}
	m := g.n.match(matchID)
	if reason := ann.join(m); reason != "" {
		t.Fatal(reason)
	}
	m.pass(time.Second)
	ann.news()
	ann.claim(m, 2, "0010 0011 0012")
	if v := verdict(t, ann.news()); !v.Valid || m.table().session.Snapshot().ByPlayer[0].Score != 2 {
		t.Fatalf("verdict %v", v)
	}
}

// A grace may be shorter than a tick: the suspension waits for none.
func TestSuspensionWaitsForNoTick(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.m.terminate(3)
	until := g.n.clock.now() + 2*time.Second
	for f := g.n.clock.next(until); f != nil; f = g.n.clock.next(until) {
		f()
		g.m.settle()
	}
	if !g.m.table().closing {
		t.Fatal("not suspended before the next tick")
	}
}
