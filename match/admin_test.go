package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

// admin calls an RPC with the server's key.
func (n *fakeNakama) admin(id, payload string) (string, error) {
	return n.rpcs[id](context.Background(), n.logger, nil, n, payload)
}

func (n *fakeNakama) mustAdmin(id, payload string, into any) {
	n.t.Helper()
	answer, err := n.admin(id, payload)
	if err != nil {
		n.t.Fatalf("%s %s: %v", id, payload, err)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(answer), into); err != nil {
			n.t.Fatalf("%s %s: %v in %s", id, payload, err, answer)
		}
	}
}

func (n *fakeNakama) hello(payload string) (hello helloResponse) {
	n.mustAdmin("hello", payload, &hello)
	return hello
}

func notices(frames []frame, kind wire.NoticeKind) (found []*wire.Notice) {
	for _, f := range frames {
		var n wire.Notice
		if f.op == int64(wire.OpCode_OP_CODE_NOTICE) && unmarshal.Unmarshal(f.data, &n) == nil && n.Kind == kind {
			found = append(found, &n)
		}
	}
	return found
}

// No user may call an operator's RPC, whatever is asked.
func TestAdminIsTheOperators(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	count := 0
	for id := range n.rpcs {
		if !strings.HasPrefix(id, "admin_") {
			continue
		}
		count++
		if _, err := ann.rpc(id, `{"withdraw":true,"on":true,"min_client_version":"9.9"}`); reasonOf(err) != "OPERATOR_ONLY" || !strings.Contains(fmt.Sprint(err), "OPERATOR_ONLY") {
			t.Errorf("%s: %v", id, err)
		}
		if _, err := n.admin(id, `{"nonsense":1}`); reasonOf(err) != "UNKNOWN_FIELD" {
			t.Errorf("%s: %v", id, err)
		}
	}
	if count != 9 || n.hello("").Draining || n.hello("").MinClientVersion != "" {
		t.Errorf("%d RPCs", count)
	}
}

func TestAdminList(t *testing.T) {
	n := newFake(t)
	n.session("eve").create(`{"private":true}`)
	g := startGame(n, deckRequest(""), "ann", "bob")
	for range 3 {
		n.session("cid").create(`{"preset":"timed"}`)
	}
	var all, page adminListResponse
	n.mustAdmin("admin_list", `{}`, &all)
	if len(all.Tables) != 5 || !all.Tables[4].Private || all.Tables[4].Creator != "user-eve" || all.Cursor != "" {
		t.Fatalf("%+v", all)
	}
	mine := all.Tables[3]
	if mine.MatchID != g.m.id || mine.Code == "" || mine.Creator != "user-ann" || len(mine.Players) != 2 || mine.Players[1].UserID != "user-bob" || !mine.Players[1].Connected {
		t.Errorf("%+v", mine)
	}
	n.mustAdmin("admin_list", `{"preset":"timed","phase":"lobby","limit":2}`, &page)
	if len(page.Tables) != 2 || page.Cursor == "" || page.Tables[0].MatchID != all.Tables[0].MatchID {
		t.Fatalf("%+v", page)
	}
	n.mustAdmin("admin_list", `{"preset":"timed","limit":2,"cursor":"`+page.Cursor+`"}`, &page)
	if len(page.Tables) != 1 || page.Cursor != "" || page.Tables[0].MatchID != all.Tables[2].MatchID {
		t.Fatalf("%+v", page)
	}
	n.mustAdmin("admin_list", `{"user_id":"user-bob"}`, &page)
	if len(page.Tables) != 1 || page.Tables[0].MatchID != g.m.id {
		t.Fatalf("%+v", page)
	}
}

// A table is shown by each of its names, and what nobody may know is not shown.
func TestAdminInspect(t *testing.T) {
	g := newGame(t, `{}`, "ann", "bob")
	box := g.m.table().box
	for _, name := range []string{`{"match_id":"` + g.m.id + `"}`, `{"table_id":"` + box.tableID + `"}`, `{"code":"` + strings.ToLower(box.code) + `"}`} {
		answer, err := g.n.admin("admin_inspect", name)
		var view consoleView
		if err != nil || json.Unmarshal([]byte(answer), &view) != nil {
			t.Fatalf("%s: %v %s", name, err, answer)
		}
		key := g.m.table().deck.Key()
		if view.Table != box.tableID || len(view.Board) < 12 || len(view.Seats) != 2 || view.RecordBytes == 0 ||
			strings.Contains(answer, fmt.Sprintf("%x", key)) || strings.Contains(strings.ToLower(answer), "key") {
			t.Errorf("%s", answer)
		}
	}
	for _, name := range []string{`{"match_id":"x"}`, `{"table_id":"x"}`, `{"code":"AAAAAA"}`} {
		if _, err := g.n.admin("admin_inspect", name); reasonOf(err) != "UNKNOWN_MATCH" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := g.n.admin("admin_inspect", `{}`); reasonOf(err) != "MISSING_FIELD" {
		t.Error(err)
	}
}

// The console says what of a match is not stored, and why.
func TestConsoleShowsTheArchive(t *testing.T) {
	n := newFake(t)
	n.storage.setFault(func(string) error { return errors.New("down") })
	g := startGame(n, deckRequest(""), "ann", "bob")
	eventually(t, func() bool { return n.module.archive.Counters().Failures > 0 })
	var view consoleView
	if err := json.Unmarshal([]byte(g.m.table().String()), &view); err != nil || view.Unstored == nil || view.Unstored.State != archive.Running || view.Unstored.LastError == "" {
		t.Fatalf("%v %+v", err, view.Unstored)
	}
	n.storage.setFault(nil)
	eventually(t, func() bool { return n.module.archive.Counters().Waiting == 0 })
	if text := g.m.table().String(); strings.Contains(text, "unstored") {
		t.Fatal(text)
	}
}

// A match that is stuck does not make the operator wait for ever, and is not made to wait for the operator.
func TestAskGivesUp(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.m.callback.Lock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := g.m.table().box.ask(ctx, func(*table) any { return 1 })
	g.m.callback.Unlock()
	if reasonOf(err) != "BUSY" {
		t.Fatal(err)
	}
	g.m.settle()
	g.players[0].claim(g.m, 1, setSA)
	if g.score(0) != 1 {
		t.Fatal("the match does not go on")
	}
}

// While the server drains nothing new begins, by whichever way, and what runs goes on.
func TestAdminDrain(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	n, cid := g.n, g.n.session("cid")
	lobby := cid.create(`{}`)
	g.read()
	var answer adminDrainResponse
	n.mustAdmin("admin_drain", `{"on":true}`, &answer)
	n.mustAdmin("admin_drain", `{"on":true}`, &answer) // said once
	if !answer.Draining || answer.Tables != 2 || answer.Playing != 1 || !n.hello("").Draining {
		t.Fatalf("%+v", answer)
	}
	g.m.settle()
	if got := notices(g.players[1].news(), wire.NoticeKind_NOTICE_KIND_DRAINING); len(got) != 1 {
		t.Errorf("%v", got)
	}
	for id, payload := range map[string]string{"create_match": `{}`, "quick_match": `{"preset":"timed"}`} {
		if _, err := cid.rpc(id, payload); reasonOf(err) != "SHUTTING_DOWN" {
			t.Errorf("%s: %v", id, err)
		}
	}
	ticket := &rtapi.Envelope{Message: &rtapi.Envelope_MatchmakerAdd{MatchmakerAdd: &rtapi.MatchmakerAdd{MinCount: 2, MaxCount: 2}}}
	if _, err := n.hooks["MatchmakerAdd"](cid.ctx, ticket); reasonOf(err) != "SHUTTING_DOWN" {
		t.Errorf("a ticket: %v", err)
	}
	if reason := n.session("dan").join(lobby); reason != "" {
		t.Errorf("an open table: %s", reason)
	}
	g.players[0].claim(g.m, 1, setSA)
	if g.score(0) != 1 {
		t.Error("the match does not go on")
	}
	n.module.measure()
	wantGauge(t, n, "set3d_draining", 1)
	n.mustAdmin("admin_drain", `{"on":false}`, &answer)
	if answer.Draining {
		t.Error("it drains still")
	}
	cid.create(`{}`)
}

func TestAdminQueueAndRepair(t *testing.T) {
	n := newFake(t)
	n.storage.setFault(func(op string) error {
		if op == "multi" || op == "write" {
			return errors.New("down")
		}
		return nil
	})
	startGame(n, deckRequest(""), "ann", "bob")
	eventually(t, func() bool { return n.module.archive.Counters().Failures > 0 })
	n.storage.setFault(func(string) error { return errors.New("down") })
	var queue adminQueueResponse
	n.mustAdmin("admin_queue", `{}`, &queue)
	if queue.SetAside != nil || queue.Waiting != 1 || len(queue.Queue) != 1 || queue.Queue[0].LastError == "" || queue.Failures == 0 {
		t.Fatalf("%+v", queue)
	}
	n.mustAdmin("admin_queue", `{"limit":0}`, &queue)
	if len(queue.Queue) != 0 {
		t.Fatalf("%+v", queue)
	}
	release := make(chan bool)
	n.storage.setFault(func(op string) error {
		if op == "list" {
			<-release
		}
		return nil
	})
	var repair repairView
	n.mustAdmin("admin_repair_leaderboards", `{}`, &repair)
	n.mustAdmin("admin_repair_leaderboards", `{}`, &repair)
	if !repair.Running || repair.Runs != 0 {
		t.Fatalf("%+v", repair)
	}
	close(release)
	eventually(t, func() bool {
		n.mustAdmin("admin_repair_leaderboards", `{"start":false}`, &repair)
		return !repair.Running
	})
	if repair.Runs != 1 || repair.Error != "" {
		t.Fatalf("two at once, or none: %+v", repair)
	}
}
