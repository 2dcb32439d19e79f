package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/domain"
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

// An ended match tells its players why, answers what is held, counts for nothing, and keeps its result.
func TestAdminEnd(t *testing.T) {
	g := newGame(t, deckRequest(`,"rules":{"claim_grace_ms":250}`), "ann", "bob")
	n, ann, bob := g.n, g.players[0], g.players[1]
	ann.claim(g.m, 1, setSA)
	bob.claim(g.m, 2, setSB) // held
	bob.news()
	var answer adminEndResponse
	n.mustAdmin("admin_end", `{"match_id":"`+g.m.id+`","text":"Sorry:\u0007 we restart"}`, &answer)
	if answer.ResultID == "" || answer.ResultID != answer.TableID {
		t.Fatalf("%+v", answer)
	}
	frames := bob.news()
	end := ended(t, frames)
	if end == nil || end.Reason != wire.EndReason_END_REASON_OPERATOR || len(end.Winners) != 0 || end.Table[0].Score != 1 || end.ResultId != answer.ResultID {
		t.Fatalf("%v", end)
	}
	if refused := refusal(t, frames); refused.Reason != wire.Reason_REASON_TABLE_CLOSED {
		t.Errorf("the held claim: %v", refused)
	}
	if closed := notices(frames, wire.NoticeKind_NOTICE_KIND_CLOSED); len(closed) != 1 || closed[0].Text != "Sorry: we restart" {
		t.Errorf("%v", closed)
	}
	eventually(t, func() bool { return n.module.archive.Counters().Results == 1 })
	result, err := n.module.archive.Result(answer.ResultID)
	if err != nil || result.Reason != "OPERATOR" || result.Counted || len(result.Winners) != 0 || result.Players[0].Score != 1 {
		t.Fatalf("%+v %v", result, err)
	}
	if g.m.loop() || n.module.tables.playing() != 0 {
		t.Error("the match goes on")
	}
	if _, err := n.admin("admin_end", `{"match_id":"`+g.m.id+`"}`); reasonOf(err) != "UNKNOWN_MATCH" {
		t.Error(err)
	}
	lobby := n.session("cid").create(`{}`)
	n.mustAdmin("admin_end", `{"match_id":"`+lobby.id+`"}`, &answer)
	if answer.ResultID != "" || lobby.loop() {
		t.Errorf("a lobby: %+v", answer)
	}
}

// At a table that shows a Set the final snapshot is what the events led to: the Set is the claimer's. End, result and record are of one time.
func TestAdminEndWhileASetIsShown(t *testing.T) {
	g := newGame(t, deckRequest(`,"rules":{"valid_anim_ms":3000}`), "ann", "bob")
	n, bob := g.n, g.players[1]
	g.players[0].claim(g.m, 1, setSA)
	claimed := only[*wire.Update](t, bob.news())
	slots := claimed[len(claimed)-1].Snapshot.Animation.ClaimedSlots
	n.clock.mu.Lock()
	n.clock.at += 700 * time.Millisecond // no callback in between
	n.clock.mu.Unlock()
	var answer adminEndResponse
	n.mustAdmin("admin_end", `{"match_id":"`+g.m.id+`"}`, &answer)
	g.m.settle()
	last := only[*wire.Update](t, bob.news())
	final := last[len(last)-1]
	for slot, card := range final.Snapshot.Board {
		if gone := slices.Contains(slots, byte(slot)); gone != (card == emptySlot) {
			t.Errorf("slot %d holds %d, the Set was in %v", slot, card, slots)
		}
	}
	if final.Snapshot.State != wire.BoardState_BOARD_STATE_MATCH_END || final.Snapshot.Animation != nil || len(slots) != 3 {
		t.Errorf("%v", final.Snapshot)
	}
	eventually(t, func() bool { return n.module.archive.Counters().Results == 1 })
	result, err := n.module.archive.Result(answer.ResultID)
	if err != nil || result.DurationMs < 700 || result.DurationMs != int64(final.Events[0].AtMs) {
		t.Errorf("%v: the result lasts %d ms, the match ended at %d", err, result.DurationMs, final.Events[0].AtMs)
	}
	g.m.callback.Lock()
	record := g.m.table().session.Record()
	g.m.callback.Unlock()
	sum, err := domain.Summarize(record)
	if err != nil || sum.DurationMs != result.DurationMs {
		t.Errorf("%v: the record lasts %d ms, the result %d", err, sum.DurationMs, result.DurationMs)
	}
}

// What is behind the operator's wish in the mailbox is answered, too.
func TestStopAnswersWhatComesBehindIt(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.read()
	g.m.callback.Lock() // nothing is judged until all have come
	g.m.table().box.tell(func(t *table) { t.stop("") })
	g.players[0].put(g.m, opClaimSet, marshal(t, claimOf(5, setSA)))
	g.players[1].put(g.m, opClaimSet, marshal(t, claimOf(6, setSB)))
	g.m.callback.Unlock()
	g.m.settle()
	for _, p := range g.players {
		wantRefused(t, p.news(), wire.Reason_REASON_TABLE_CLOSED)
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
	var queue adminQueueResponse
	n.mustAdmin("admin_queue", `{}`, &queue)
	if queue.Waiting != 1 || len(queue.Queue) != 1 || queue.Queue[0].LastError == "" || queue.Failures == 0 {
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

// An announcement reaches who is at a table, who comes later, who asks hello, and another process; and it ends.
func TestAnnouncements(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	n, ann := g.n, g.players[0]
	wall := n.module.clock.wall().UnixMilli()
	n.mustAdmin("admin_announce", fmt.Sprintf(`{"text":"Maintenance","at_unix_ms":%d,"until_unix_ms":%d}`, wall+5000, wall+9000), nil)
	g.m.settle()
	if got := notices(ann.news(), wire.NoticeKind_NOTICE_KIND_MAINTENANCE); len(got) != 1 || got[0].Text != "Maintenance" || *got[0].AtUnixMs != uint64(wall+5000) {
		t.Fatalf("%v", got)
	}
	cid := n.session("cid")
	cid.join(g.m)
	frames := cid.news()
	if frames[0].op != int64(wire.OpCode_OP_CODE_WELCOME) || len(notices(frames, wire.NoticeKind_NOTICE_KIND_MAINTENANCE)) != 1 {
		t.Fatal("a newcomer is told nothing, or before WELCOME")
	}
	if a := n.hello("").Announcement; a == nil || a.Text != "Maintenance" || a.AtUnixMs != wall+5000 {
		t.Fatalf("%+v", a)
	}
	ann.news()
	other := otherProcess(t, n)
	if a := other.hello("").Announcement; a == nil || a.Text != "Maintenance" {
		t.Fatal("a restarted server has forgotten it")
	}
	other.mustAdmin("admin_announce", `{"withdraw":true}`, nil)
	n.module.operator.refresh()
	g.m.settle()
	if got := notices(ann.news(), wire.NoticeKind_NOTICE_KIND_MAINTENANCE); len(got) != 1 || got[0].Text != "" || n.hello("").Announcement != nil {
		t.Fatalf("what another process has withdrawn: %v", got)
	}
	n.module.operator.refresh()
	g.m.settle()
	if got := notices(ann.news(), wire.NoticeKind_NOTICE_KIND_MAINTENANCE); len(got) != 0 {
		t.Fatalf("said again: %v", got)
	}
	if err := n.module.operator.change(func(s *operatorSettings) error {
		s.Announcement = &announcement{Text: "over", UntilUnixMs: wall}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	eve := n.session("eve")
	eve.join(g.m)
	if n.hello("").Announcement != nil || len(notices(eve.news(), wire.NoticeKind_NOTICE_KIND_MAINTENANCE)) != 0 {
		t.Fatal("what is over is still told")
	}
	if _, err := n.admin("admin_announce", `{}`); reasonOf(err) != "MISSING_FIELD" {
		t.Fatal(err)
	}
}

func TestAnnouncementsThatMakeNoSense(t *testing.T) {
	n := newFake(t)
	wall := n.module.clock.wall().UnixMilli()
	n.mustAdmin("admin_announce", fmt.Sprintf(`{"text":"stays","at_unix_ms":%d,"until_unix_ms":%d}`, wall+1, wall+1), nil)
	for payload, field := range map[string]string{
		fmt.Sprintf(`{"text":"x","until_unix_ms":%d}`, wall):                           "until_unix_ms",
		fmt.Sprintf(`{"text":"x","at_unix_ms":%d,"until_unix_ms":%d}`, wall+9, wall+8): "until_unix_ms",
		`{"text":"x","withdraw":true}`:                                                 "withdraw",
		fmt.Sprintf(`{"until_unix_ms":%d,"withdraw":true}`, wall+9):                    "withdraw",
	} {
		if _, err := n.admin("admin_announce", payload); reasonOf(err) != "OUT_OF_RANGE" || !strings.Contains(err.Error(), `"field":"`+field+`"`) {
			t.Errorf("%s: %v", payload, err)
		}
	}
	if a := n.hello("").Announcement; a == nil || a.Text != "stays" {
		t.Errorf("%+v", a)
	}
}

// otherProcess is another server with the same database.
func otherProcess(t *testing.T, n *fakeNakama) *fakeNakama {
	t.Helper()
	other := newFake(t)
	other.storage = n.storage
	other.module.operator.refresh()
	return other
}

func TestMinimumClientVersion(t *testing.T) {
	n := newFake(t)
	n.mustAdmin("admin_settings", `{"min_client_version":"1.4"}`, nil)
	for client, outdated := range map[string]bool{
		"": false, "set3d-unity": false, "set3d-unity 1.3.9": true, "set3d-unity 1.4.0": false, "game/1.3-beta (iOS 18.1)": true,
		"unity/2.0": false, "1.10": false, "0.9.9": true, "v1.4.": false, "1.3.9.9": false, "x 99999999999.1": false,
	} {
		request := string(mustJSON(map[string]string{"client": client}))
		if got := n.hello(request); got.ClientOutdated != outdated || got.MinClientVersion != "1.4" {
			t.Errorf("%q: %t", client, got.ClientOutdated)
		}
	}
	n.mustAdmin("admin_settings", `{"refuse_old_clients":true}`, nil)
	if _, err := n.session("ann").rpc("hello", `{"client":"x 1.3"}`); reasonOf(err) != "CLIENT_TOO_OLD" || !strings.Contains(err.Error(), `"minimum":"1.4"`) {
		t.Error(err)
	}
	n.hello(`{"client":"x 1.4"}`)
	for _, bad := range []string{"1", "1.x", "1.2.3.4", "-1.2"} {
		if _, err := n.admin("admin_settings", `{"min_client_version":"`+bad+`"}`); reasonOf(err) != "OUT_OF_RANGE" {
			t.Errorf("%s: %v", bad, err)
		}
	}
	n.mustAdmin("admin_settings", `{"min_client_version":""}`, nil)
	n.hello(`{"client":"x 0.1"}`)
}

// Presets are an operator's to change, within what is fair; open tables keep their rules.
func TestOperatorsPresets(t *testing.T) {
	n := newFake(t)
	old := n.session("ann").create(`{"preset":"timed"}`)
	n.mustAdmin("admin_settings", `{"preset":{"name":"timed","rules":{"time_limit_ms":60000}}}`, nil)
	n.mustAdmin("admin_settings", `{"preset":{"name":"fast","disabled":true}}`, nil)
	n.mustAdmin("admin_settings", `{"preset":{"name":"blitz","description":"quick","public":true,"rules":{"time_limit_ms":30000}}}`, nil)
	offered := n.hello("").Presets
	if offered["timed"].Rules.TimeLimitMs != 60_000 || offered["blitz"].Rules.TimeLimitMs != 30_000 || !offered["blitz"].Public || offered["blitz"].Ranked || len(offered) != 5 {
		t.Fatalf("%+v", offered)
	}
	if old.table().setup.Rules.TimeLimitMs != 180_000 {
		t.Error("an open table has other rules now")
	}
	if m := n.session("bob").create(`{"preset":"blitz"}`); m.table().setup.Rules.TimeLimitMs != 30_000 || m.table().setup.Custom {
		t.Error("the new preset is not played")
	}
	if _, err := n.session("bob").rpc("quick_match", `{"preset":"blitz"}`); err != nil {
		t.Error(err)
	}
	if _, err := n.session("bob").rpc("create_match", `{"preset":"fast"}`); reasonOf(err) != "UNKNOWN_PRESET" || strings.Contains(err.Error(), `"fast",`) {
		t.Error(err)
	}
	n.module.measure()
	wantGauge(t, n, "set3d_tables lobby operator", 1) // he was sent to his own
	if got := otherProcess(t, n).hello("").Presets; got["blitz"].Rules.TimeLimitMs != 30_000 {
		t.Errorf("another process: %+v", got)
	}
	var settings adminSettingsResponse
	n.mustAdmin("admin_settings", `{"preset":{"name":"fast","remove":true}}`, &settings)
	if len(settings.Presets) != 2 || !slices.Contains(settings.Offered, "fast") {
		t.Errorf("%+v", settings)
	}
}

// Tables of presets that are not offered any more are found all the same.
func TestTablesOfFormerPresets(t *testing.T) {
	n := newFake(t)
	n.mustAdmin("admin_settings", `{"preset":{"name":"blitz","public":true}}`, nil)
	for user, preset := range map[string]string{"ann": "blitz", "bob": "fast"} {
		n.session(user).create(`{"preset":"` + preset + `"}`)
	}
	n.mustAdmin("admin_settings", `{"preset":{"name":"fast","disabled":true}}`, nil)
	n.mustAdmin("admin_settings", `{"preset":{"name":"blitz","remove":true}}`, nil)
	for _, preset := range []string{"blitz", "fast"} {
		var page adminListResponse
		n.mustAdmin("admin_list", `{"preset":"`+preset+`"}`, &page)
		if list := n.session("cid").list(t, `{"preset":"`+preset+`"}`); len(page.Tables) != 1 || len(list.Matches) != 1 {
			t.Errorf("%s: %+v %+v", preset, page, list)
		}
	}
	n.mustAdmin("admin_settings", `{"preset":{"name":"slow"}}`, nil)
	n.mustAdmin("admin_settings", `{"preset":{"name":"slow","disabled":true}}`, nil)
	n.mustAdmin("admin_list", `{"preset":"slow"}`, nil) // no tables, but a preset
}

func TestPresetsThatAreNotThere(t *testing.T) {
	n := newFake(t)
	for _, change := range []string{`"remove":true`, `"disabled":true`} {
		_, err := n.admin("admin_settings", `{"preset":{"name":"blizt",`+change+`}}`)
		if reasonOf(err) != "UNKNOWN_PRESET" || !strings.Contains(err.Error(), `"preset":"blizt"`) {
			t.Errorf("%s: %v", change, err)
		}
	}
	n.mustAdmin("admin_settings", `{"preset":{"name":"fast","remove":true}}`, nil) // there, and not changed
}

func TestPresetsThatAreNotAllowed(t *testing.T) {
	n := newFake(t)
	for preset, field := range map[string]string{
		`{"disabled":true}`:                                        "preset.name",
		`{"name":"classic","disabled":true}`:                       "preset.disabled, public",
		`{"name":"classic","public":false}`:                        "preset.disabled, public",
		`{"name":"practice","public":true}`:                        "preset.public",
		`{"name":"custom"}`:                                        "preset.name",
		`{"name":"Blitz!"}`:                                        "preset.name",
		`{"name":"b","ranked":true}`:                               "preset.ranked",
		`{"name":"b","public":true,"rules":{"invalid_anim_ms":1}}`: "preset.rules.invalid_anim_ms",
		`{"name":"b","public":true,"rules":{"claim_grace_ms":0}}`:  "preset.rules.claim_grace_ms",
		`{"name":"b","rules":{"initial_board_size":13}}`:           "preset.rules.initial_board_size",
		`{"name":"b","rules":{"time_limit_ms":1}}`:                 "preset.rules.time_limit_ms",
		`{"name":"b","rules":{"colour":1}}`:                        "preset.rules.colour",
		`{"name":"b","colour":1}`:                                  "preset.colour",
	} {
		_, err := n.admin("admin_settings", `{"preset":`+preset+`}`)
		if err == nil || !strings.Contains(err.Error(), `"field":"`+field+`"`) {
			t.Errorf("%s: %v, want %s", preset, err, field)
		}
	}
	if len(n.hello("").Presets) != len(builtInPresets()) {
		t.Error("something was taken")
	}
}

// A stored preset that the limits forbid by now is left out, and the rest is offered.
func TestForbiddenStoredPresetIsLeftOut(t *testing.T) {
	n := newFake(t)
	n.mustAdmin("admin_settings", `{"preset":{"name":"blitz"}}`, nil)
	n.storage.mu.Lock()
	o := n.storage.objects[keyOf(operatorCollection, operatorKey, "")]
	n.storage.objects[keyOf(operatorCollection, operatorKey, "")] = &api.StorageObject{
		Version: "next", Value: strings.Replace(o.Value, `"InitialBoardSize":12`, `"InitialBoardSize":13`, 1),
	}
	n.storage.mu.Unlock()
	n.module.operator.refresh()
	if got := n.hello("").Presets; len(got) != len(builtInPresets()) {
		t.Errorf("%+v", got)
	}
	n.mustAdmin("admin_settings", `{}`, nil)
}

// Two operators at once lose nothing, and a database that is down is said to be.
func TestSettingsAreWrittenInTurn(t *testing.T) {
	n := newFake(t)
	other := otherProcess(t, n)
	n.mustAdmin("admin_settings", `{"preset":{"name":"a1"}}`, nil)
	other.mustAdmin("admin_settings", `{"preset":{"name":"b1"}}`, nil)
	raced := false
	n.storage.setFault(func(op string) error {
		if op == "write" && !raced {
			raced = true
			other.mustAdmin("admin_settings", `{"min_client_version":"1.2"}`, nil)
		}
		return nil
	})
	n.mustAdmin("admin_settings", `{"refuse_old_clients":true}`, nil)
	var settings adminSettingsResponse
	n.mustAdmin("admin_settings", `{}`, &settings)
	if len(settings.Presets) != 2 || settings.MinClientVersion != "1.2" || !settings.RefuseOldClients {
		t.Errorf("%+v", settings)
	}
	n.storage.setFault(func(string) error { return errors.New("down") })
	if _, err := n.admin("admin_settings", `{"min_client_version":"1.3"}`); reasonOf(err) != "STORAGE_UNAVAILABLE" {
		t.Error(err)
	}
	n.module.operator.refresh()
	if n.hello("").MinClientVersion != "1.2" {
		t.Error("what could not be stored is in use, or what was is not")
	}
}
