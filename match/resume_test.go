package match

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// another is a second process on the same database: a node of another name, or with the same name the first one after a restart.
func (n *fakeNakama) another(settings ...string) *fakeNakama {
	n.t.Helper()
	next := newFake(n.t, settings...)
	next.storage.mu.Lock()
	defer next.storage.mu.Unlock()
	n.storage.mu.Lock()
	defer n.storage.mu.Unlock()
	next.storage.objects, next.storage.scores = n.storage.objects, n.storage.scores
	next.made = 100 // Nakama never gives a match id twice
	return next
}

// waitStored waits until the archive has nothing left to store.
func (n *fakeNakama) waitStored() {
	n.t.Helper()
	eventually(n.t, func() bool { return n.module.archive.Counters().Waiting == 0 })
}

func (u *fakeUser) resume(tableID string) (string, error) {
	answer, err := u.rpc("resume_match", `{"table_id":"`+tableID+`"}`)
	if err != nil {
		return "", err
	}
	var r resumeResponse
	return r.MatchID, json.Unmarshal([]byte(answer), &r)
}

// A process dies without a word, and its match goes on in the next: board, score, seats and time.
func TestMatchGoesOnAfterACrash(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.pass(10 * time.Second)
	g.players[0].claim(g.m, 1, setSA)
	before := one[*wire.Update](t, g.players[1].news())
	g.n.waitStored()

	n := g.n.another()
	ann := n.session("ann")
	mine := ann.mine(t)
	if len(mine) != 1 || mine[0].Phase != "interrupted" || mine[0].MatchID != "" || mine[0].Score != 1 || *mine[0].Seat != 0 {
		t.Fatalf("ann finds %+v", mine)
	}
	matchID, err := ann.resume(mine[0].TableID)
	if err != nil {
		t.Fatal(err)
	}
	m := n.match(matchID)
	if reason := ann.join(m); reason != "" {
		t.Fatalf("ann cannot come back: %s", reason)
	}
	w := one[*wire.Welcome](t, ann.news())
	if w.Stamp.Incarnation != 1 || w.TableId != mine[0].TableID || w.GetSeat() != 0 || w.Snapshot.Scores[0] != 1 ||
		w.LastVerdict.GetClaimId() != 1 || w.Stamp.ServerTimeMs != before.Stamp.ServerTimeMs {
		t.Fatalf("welcome %v after %v", w, before)
	}
	if bob := w.Roster.Seats[1]; bob.UserId != "user-bob" || bob.Connected || bob.HeldUntilMs == nil {
		t.Fatalf("bob's seat is not held: %v", bob)
	}
	bob := n.session("bob")
	if again, err := bob.resume(mine[0].TableID); err != nil || again != matchID {
		t.Fatalf("bob is sent to %s: %v", again, err)
	}
	if reason := bob.join(m); reason != "" {
		t.Fatal(reason)
	}
	m.pass(time.Second)
	bob.news()
	bob.claim(m, 9, "0010 0011 0012")
	if u := one[*wire.Update](t, bob.news()); len(u.Events) == 0 || u.Stamp.Incarnation != 1 {
		t.Fatalf("the match does not go on: %v", u)
	}
	if _, err := n.session("eve").resume(mine[0].TableID); err == nil || !strings.Contains(err.Error(), "UNKNOWN_MATCH") {
		t.Fatalf("eve, who does not play there: %v", err)
	}
}

// A match that ends leaves one result, and statistics.
func TestResultOfAMatch(t *testing.T) {
	g := newGame(t, `{"seats":2}`, "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	bob.send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	end := one[*wire.Update](t, ann.news())
	id := end.Events[len(end.Events)-1].GetMatchEnded().GetResultId()
	g.n.waitStored()
	answer, err := ann.rpc("get_result", `{"result_id":"`+id+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	var r resultResponse
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		t.Fatal(err)
	}
	if r.Status != "final" || r.Result.Reason != "LAST_PLAYER" || !r.Result.Counted || len(r.Result.Players) != 2 || r.Result.Winners[0] != 0 {
		t.Fatalf("result %s", answer)
	}
	stats, err := ann.rpc("player_stats", "")
	if err != nil || !strings.Contains(stats, `"matches":1,"wins":1`) {
		t.Fatalf("statistics %s, %v", stats, err)
	}
	for _, rpc := range []string{"match_history", "export_my_data"} {
		if page, err := bob.rpc(rpc, ""); err != nil || !strings.Contains(page, id) {
			t.Fatalf("%s: %s, %v", rpc, page, err)
		}
	}
	if _, err := ann.rpc("report_player", `{"result_id":"`+id+`","seat":1,"reason":"idle","text":"gone"}`); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.rpc("delete_my_data", `{"confirm":true}`); err != nil {
		t.Fatal(err)
	}
	answer, _ = ann.rpc("get_record", `{"result_id":"`+id+`"}`)
	if strings.Contains(answer, "user-bob") || !strings.Contains(answer, "user-ann") || !strings.Contains(answer, `"deleted":true`) {
		t.Fatalf("after bob's data was deleted: %s", answer)
	}
}

// The database is gone for a while: the match plays on, the result waits, and is there when the database is.
func TestDatabaseIsGoneForAWhile(t *testing.T) {
	g := newGame(t, `{"seats":2}`, "ann", "bob")
	g.n.waitStored()
	g.n.storage.setFault(func(op string) error { return errors.New("the database is gone: " + op) })
	ann := g.players[0]
	g.players[1].send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	end := one[*wire.Update](t, ann.news())
	id := end.Events[len(end.Events)-1].GetMatchEnded().GetResultId()
	eventually(t, func() bool { return g.n.module.archive.Counters().Failures > 0 })
	if !g.n.module.archive.Pending(id) {
		t.Fatal("the result does not wait")
	}
	g.n.storage.setFault(nil)
	g.n.waitStored()
	if answer, err := ann.rpc("get_result", `{"result_id":"`+id+`"}`); err != nil || !strings.Contains(answer, `"status":"final"`) {
		t.Fatalf("%s, %v", answer, err)
	}
}

// Nobody comes back to an interrupted match: it ends as abandoned, and is stored.
func TestNobodyComesBack(t *testing.T) {
	g := newGame(t, `{"seats":2}`, "ann", "bob")
	g.n.waitStored()
	id := g.m.table().setup.TableID
	n := g.n.another("SET3D_RESUME_WITHIN_MS=1000")
	n.clock.runRepeated() // the fake calendar is years behind: all checkpoints are old
	n.waitStored()
	answer, err := n.session("ann").rpc("get_result", `{"result_id":"`+id+`"}`)
	if err != nil || !strings.Contains(answer, `"reason":"ABANDONED"`) {
		t.Fatalf("%s, %v", answer, err)
	}
	if mine := n.session("ann").mine(t); len(mine) != 0 {
		t.Fatalf("it is still there to be resumed: %+v", mine)
	}
}
