package match

import (
	"errors"
	"strings"
	"testing"
	"time"

	"set3d/domain"
	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

func (n *fakeNakama) result(t *testing.T, id string) *archive.Result {
	t.Helper()
	n.waitStored()
	r, err := n.module.archive.Result(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A match that breaks leaves one result, which counts for nothing.
func TestBrokenMatchLeavesAResult(t *testing.T) {
	g := newGame(t, deckRequest(`,"test_panic_at":"leave"`), "ann", "bob")
	g.players[0].claim(g.m, 1, setSA)
	g.read()
	g.m.leave(g.players[1])
	end := ended(t, g.players[0].news())
	if end == nil || end.ResultId == "" || g.m.loop() {
		t.Fatalf("end %v", end)
	}
	r := g.n.result(t, end.ResultId)
	if r == nil || r.Reason != "INTERNAL_ERROR" || r.Counted || r.Players[0].Score != 1 || r.Players[0].Name != "ann" {
		t.Fatalf("result %+v", r)
	}
	if s, err := g.n.module.archive.Stats("user-ann"); err != nil || s.Matches != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	eventually(t, func() bool { return len(g.players[0].mine(t)) == 0 }) // it cannot be resumed
}

// A resumed match that breaks before its first checkpoint does so too.
func TestResumedMatchBreaks(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.players[0].claim(g.m, 1, setSA)
	g.n.waitStored()
	id := g.m.table().setup.TableID
	n := g.n.another()
	matchID, err := n.session("bob").resume(id)
	if err != nil {
		t.Fatal(err)
	}
	m := n.match(matchID)
	m.table().box.poison() // as a goroutine beside the match does that panics
	if m.loop(); m.loop() {
		t.Fatal("goes on")
	}
	r := n.result(t, id)
	if r == nil || r.Reason != "INTERNAL_ERROR" || r.Counted || r.Incarnation != 1 || r.Players[0].Score != 1 {
		t.Fatalf("result %+v", r)
	}
}

// With too many results that cannot be stored no new tables are opened, until they can.
func TestBacklog(t *testing.T) {
	n := newFake(t, "SET3D_BACKLOG_MAX=2")
	n.storage.setFault(func(op string) error {
		if op == "multi" {
			return errNoDatabase
		}
		return nil
	})
	for _, host := range []string{"ann", "bob"} {
		g := startGame(n, `{"seats":2}`, host, "guest")
		g.players[1].send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	}
	if _, err := n.session("cid").rpc("create_match", `{}`); err == nil || !strings.Contains(err.Error(), "STORAGE_UNAVAILABLE") {
		t.Fatalf("a table is opened: %v", err)
	}
	n.storage.setFault(nil)
	n.waitStored()
	if _, err := n.session("cid").rpc("create_match", `{}`); err != nil {
		t.Fatal(err)
	}
}

// What counts is followed by a checkpoint that has it, a wrong claim that costs nothing by a later one, and nothing else needs one.
func TestWhatIsKept(t *testing.T) {
	g := newGame(t, deckRequest(`,"rules":{"invalid_anim_ms":100}`), "ann", "bob")
	ann := g.players[0]
	kept := func() bool { return string(g.m.table().kept.Record) == string(g.m.table().session.Record()) }
	before := len(g.m.table().kept.Record)
	ann.send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{})
	ann.claim(g.m, 1, "2222 2221 2220") // not on the board
	g.m.leave(g.players[1])
	g.players[1].join(g.m)
	g.m.loop()
	if len(g.m.table().kept.Record) != before {
		t.Fatal("a checkpoint without a reason")
	}
	ann.claim(g.m, 2, notSet)
	if g.pass(KeepWrongWithin - 2*time.Second); len(g.m.table().kept.Record) != before {
		t.Fatal("a wrong claim that costs nothing is stored at once")
	}
	g.pass(3 * time.Second)
	if before == len(g.m.table().kept.Record) {
		t.Fatal("a wrong claim is not stored")
	}
	if ann.claim(g.m, 3, setSA); !kept() {
		t.Fatal("no checkpoint after a Set")
	}
	g.n.waitStored()
	stored, err := g.n.module.archive.Find(g.m.table().setup.TableID)
	if err != nil || string(stored.Record) != string(g.m.table().session.Record()) || stored.MatchID != g.m.id || stored.Seats[1].UserID != "user-bob" {
		t.Fatalf("stored %+v, %v", stored, err)
	}
}

// A wrong claim that costs something is stored at once, and any claim whose verdict waits for that.
func TestWrongClaimIsKept(t *testing.T) {
	for name, g := range map[string]*game{
		"a point": newGame(t, deckRequest(`,"rules":{"penalty_mode":"point"}`), "ann", "bob"),
		"time":    newGame(t, deckRequest(`,"rules":{"penalty_mode":"time","penalty_time_ms":100,"time_limit_ms":60000}`), "ann", "bob"),
		"safe":    startGame(newFake(t, "SET3D_DURABILITY=safe"), deckRequest(""), "ann", "bob"),
	} {
		g.n.waitStored()
		g.players[0].claim(g.m, 1, notSet)
		g.m.callback.Lock() // the checkpoint's confirmation is one
		kept, record := g.m.table().kept.Record, g.m.table().session.Record()
		g.m.callback.Unlock()
		if string(kept) != string(record) {
			t.Errorf("%s: no checkpoint", name)
		}
	}
}

// No match stalls while the database hangs: everything is judged and told at once.
func TestHangingDatabaseStallsNothing(t *testing.T) {
	open := func() {}
	n := newFake(t)
	g := startGame(n, deckRequest(`,"rules":{"invalid_anim_ms":100}`), "ann", "bob")
	open = n.storage.block("read", "write", "multi", "list", "delete", "users")
	defer func() { open() }()
	g.read()
	for id := range uint64(50) {
		g.players[0].claim(g.m, 1+id, notSet)
		if v := verdict(t, g.players[1].news()); v.ClaimId != 1+id {
			t.Fatal(v)
		}
		g.pass(100 * time.Millisecond)
	}
	if w := n.module.archive.Counters().Waiting; w != 1 {
		t.Fatalf("%d tables wait", w)
	}
}

// BenchmarkKeep is what a checkpoint costs the match's goroutine, with a record of 2 KiB; the database is gone.
func BenchmarkKeep(b *testing.B) {
	for _, durability := range []string{"fast", "safe"} {
		b.Run(durability, func(b *testing.B) {
			n := newFake(b, "SET3D_DURABILITY="+durability)
			g := startGame(n, `{"seats":4,"rules":{"invalid_anim_ms":100,"idle_limit_ms":3600000},"test_deck":"`+boardMAX+boardRest+`"}`, "ann", "bob", "cid", "dan")
			n.storage.setFault(func(string) error { return errors.New("gone") })
			t := g.m.table()
			for id := uint64(1); len(t.session.Record()) < 2_048 && id < 1_000; id++ {
				t.session.Apply(100*int64(id), domain.ClaimSet{Seat: 0, ID: id, Cards: claimOf(id, notSet).Cards}, &domain.Output{})
			}
			b.ReportMetric(float64(len(t.session.Record())), "record-B")
			b.ReportAllocs()
			for b.Loop() {
				t.unkept = true
				t.keep()
				t.outbox.drop()
			}
		})
	}
}
