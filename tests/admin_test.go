package tests

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// Tests of what an operator can do. They are not parallel: what they change is everybody's.

var adminRPCs = []string{
	"admin_list", "admin_inspect", "admin_end", "admin_drain", "admin_queue", "admin_repair_leaderboards", "admin_announce", "admin_settings",
}

// operate calls an operator's RPC with the server's key.
func operate(t *testing.T, on *server, id, payload string) map[string]any {
	t.Helper()
	status, body := withKey(t, on, id, payload)
	var outer struct {
		Payload string `json:"payload"`
	}
	var answer map[string]any
	if status != http.StatusOK || json.Unmarshal([]byte(body), &outer) != nil || json.Unmarshal([]byte(outer.Payload), &answer) != nil {
		t.Fatalf("%s %s is answered %d %s", id, payload, status, body)
	}
	return answer
}

func withKey(t *testing.T, on *server, id, payload string) (status int, body string) {
	t.Helper()
	return ask(t, on, http.MethodPost, "/v2/rpc/"+id+"?http_key="+on.httpKey, quoted(payload), nil)
}

// TestOperatorsOnly: the RPCs of an operator are nobody else's, by whichever way.
func TestOperatorsOnly(t *testing.T) {
	on := shared(t)
	p := connect(t, on, asJSON)
	for _, id := range adminRPCs {
		status, body := ask(t, on, http.MethodPost, "/v2/rpc/"+id, quoted(`{"on":true}`), bearer(p.user))
		if status != http.StatusForbidden || !strings.Contains(body, "OPERATOR_ONLY") {
			t.Errorf("%s over HTTP is answered %d %s", id, status, body)
		}
		if _, refused := p.rpc(id, `{"on":true}`); !strings.Contains(refused.GetMessage(), "OPERATOR_ONLY") {
			t.Errorf("%s over a socket is answered {%v}", id, refused)
		}
		if status, body := ask(t, on, http.MethodPost, "/v2/rpc/"+id+"?http_key=false", quoted(`{}`), nil); status != http.StatusUnauthorized {
			t.Errorf("%s with a false key is answered %d %s", id, status, body)
		}
	}
	if status, body := withKey(t, on, "admin_end", `{"match_id":"00000000-0000-4000-8000-000000000000.nowhere"}`); status != http.StatusNotFound || !strings.Contains(body, "UNKNOWN_MATCH") {
		t.Errorf("a match that is not there: %d %s", status, body)
	}
}

// TestOperatorEndsAMatch: found, looked at and ended, with the operator's words for its players, and a result that counts for nothing.
func TestOperatorEndsAMatch(t *testing.T) {
	on := hooked(t)
	x := maxTable(t, on, quick(map[string]any{"valid_anim_ms": 3_000})) // long enough to be ended in
	a, b := x.players[0], x.players[1]
	a.wins(setSA)
	list := operate(t, on, "admin_list", `{"user_id":"`+userIDOf(a)+`"}`)["tables"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["match_id"] != x.made.MatchID {
		t.Fatalf("listed %v", list)
	}
	view := operate(t, on, "admin_inspect", `{"code":"`+x.made.Code+`"}`)
	if board := view["board"].([]any); view["table"] != x.made.TableID || len(board) < 12 || view["deck_count"].(float64) <= 0 || view["incarnation"].(float64) != 0 {
		t.Errorf("inspected %v", view)
	}
	ended := operate(t, on, "admin_end", `{"table_id":"`+x.made.TableID+`","text":"the lights go out"}`)
	if ended["result_id"] != x.made.TableID {
		t.Errorf("ended %v", ended)
	}
	for _, p := range []*peer{a, b} {
		if end := p.ended(); end.GetReason() != wire.EndReason_END_REASON_OPERATOR || end.GetTable()[0].GetScore() != 1 || len(end.GetWinners()) != 0 {
			t.Errorf("the end {%v}", end)
		}
		if notice := p.notice(wire.NoticeKind_NOTICE_KIND_CLOSED); notice.GetText() != "the lights go out" {
			t.Errorf("the notice {%v}", notice)
		}
	}
	stop := time.Now().Add(patience)
	for {
		answer, refused := a.rpc("get_result", `{"result_id":"`+x.made.TableID+`"}`)
		if refused == nil && strings.Contains(answer, `"reason":"OPERATOR"`) && strings.Contains(answer, `"counted":false`) {
			break
		}
		if time.Now().After(stop) {
			t.Fatalf("the result: %s {%v}", answer, refused)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func userIDOf(p *peer) string {
	for _, seat := range every[*wire.Welcome](p)[0].GetRoster().GetSeats() {
		if seat.GetUserId() != "" {
			return seat.GetUserId()
		}
	}
	return ""
}

// TestOperatorDrains: no new tables, those that are there go on, and all is well again afterwards.
func TestOperatorDrains(t *testing.T) {
	on := hooked(t)
	x := maxTable(t, on, quick(nil))
	defer operate(t, on, "admin_drain", `{"on":false}`)
	if answer := operate(t, on, "admin_drain", `{"on":true}`); !isTrue(answer["draining"]) || answer["playing"].(float64) < 1 {
		t.Errorf("answered %v", answer)
	}
	x.players[1].notice(wire.NoticeKind_NOTICE_KIND_DRAINING)
	p := connect(t, on, asProtobuf)
	for id, payload := range map[string]string{"create_match": `{}`, "quick_match": `{"preset":"tournament","seats":7}`} {
		if _, refused := p.rpc(id, payload); !strings.Contains(refused.GetMessage(), "SHUTTING_DOWN") {
			t.Errorf("%s is answered {%v}", id, refused)
		}
	}
	if hello := operate(t, on, "hello", `{}`); !isTrue(hello["draining"]) {
		t.Errorf("hello says %v", hello)
	}
	x.players[0].wins(setSA)
	operate(t, on, "admin_drain", `{"on":false}`)
	create(t, on, client.CreateMatch{Seats: 2}, p)
}

// TestOperatorAnnounces: whoever plays hears it, and whoever comes.
func TestOperatorAnnounces(t *testing.T) {
	on := hooked(t)
	x := maxTable(t, on, quick(nil))
	defer operate(t, on, "admin_announce", `{"withdraw":true}`)
	operate(t, on, "admin_announce", `{"text":"Maintenance at noon","at_unix_ms":1796000000000}`)
	if notice := x.players[0].notice(wire.NoticeKind_NOTICE_KIND_MAINTENANCE); notice.GetText() != "Maintenance at noon" || notice.GetAtUnixMs() != 1796000000000 {
		t.Errorf("told {%v}", notice)
	}
	p := connect(t, on, asJSON)
	p.join(x.made.MatchID, nil)
	p.notice(wire.NoticeKind_NOTICE_KIND_MAINTENANCE)
	if said, _ := operate(t, on, "hello", `{}`)["announcement"].(map[string]any); said["text"] != "Maintenance at noon" {
		t.Errorf("hello says %v", said)
	}
	p.mark()
	operate(t, on, "admin_announce", `{"withdraw":true}`)
	if notice := p.notice(wire.NoticeKind_NOTICE_KIND_MAINTENANCE); notice.GetText() != "" {
		t.Errorf("withdrawn by {%v}", notice)
	}
	if operate(t, on, "hello", `{}`)["announcement"] != nil {
		t.Error("hello still says it")
	}
}

// TestOperatorChangesTheSettings: presets and the least version of clients.
func TestOperatorChangesTheSettings(t *testing.T) {
	on := shared(t)
	p := connect(t, on, asProtobuf)
	defer withKey(t, on, "admin_settings", `{"preset":{"name":"blitz","remove":true}}`) // unless it is removed by then
	defer operate(t, on, "admin_settings", `{"min_client_version":"","refuse_old_clients":false}`)
	operate(t, on, "admin_settings", `{"min_client_version":"1.4","refuse_old_clients":true,
		"preset":{"name":"blitz","description":"in a hurry","public":true,"rules":{"time_limit_ms":30000}}}`)
	if _, refused := p.rpc("hello", `{"client":"game 1.3.7"}`); !strings.Contains(refused.GetMessage(), "CLIENT_TOO_OLD") {
		t.Errorf("an old client is answered {%v}", refused)
	}
	hello := operate(t, on, "hello", `{"client":"game 1.4.0"}`)
	if blitz, _ := hello["presets"].(map[string]any)["blitz"].(map[string]any); blitz["description"] != "in a hurry" {
		t.Errorf("hello says %v", hello["presets"])
	}
	answer, refused := p.rpc("create_match", `{"preset":"blitz"}`)
	if refused != nil || !strings.Contains(answer, `"time_limit_ms":30000`) {
		t.Errorf("create_match: %s {%v}", answer, refused)
	}
	if status, body := withKey(t, on, "admin_settings", `{"preset":{"name":"blitz","rules":{"invalid_anim_ms":400}}}`); status != http.StatusBadRequest || !strings.Contains(body, "invalid_anim_ms") {
		t.Errorf("a public preset by which guessing pays: %d %s", status, body)
	}
	operate(t, on, "admin_settings", `{"preset":{"name":"blitz","remove":true}}`)
	if _, refused := p.rpc("create_match", `{"preset":"blitz"}`); !strings.Contains(refused.GetMessage(), "UNKNOWN_PRESET") {
		t.Errorf("a removed preset: {%v}", refused)
	}
}

// TestOperatorLooksAfterTheArchive: what waits can be seen, and leaderboards set anew.
func TestOperatorLooksAfterTheArchive(t *testing.T) {
	on := shared(t)
	queue := operate(t, on, "admin_queue", `{"limit":1}`)
	if queue["checkpoints"] == nil || queue["stuck"].(float64) != 0 {
		t.Errorf("the queue %v", queue)
	}
	if waiting := operate(t, on, "admin_interrupted", `{}`); waiting["tables"] == nil || waiting["cursor"] == nil {
		t.Errorf("interrupted matches: %v", waiting)
	}
	runs := operate(t, on, "admin_repair_leaderboards", `{"start":false}`)["runs"].(float64)
	operate(t, on, "admin_repair_leaderboards", `{}`)
	stop := time.Now().Add(patience)
	for {
		repair := operate(t, on, "admin_repair_leaderboards", `{"start":false}`)
		if !isTrue(repair["running"]) && repair["runs"].(float64) > runs {
			if repair["error"] != nil {
				t.Errorf("the repair %v", repair)
			}
			return
		}
		if time.Now().After(stop) {
			t.Fatalf("the repair %v", repair)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func isTrue(v any) bool {
	is, _ := v.(bool)
	return is
}
