package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"set3d/client"
)

// asOperator calls an RPC with the http key, and returns what it answers.
func asOperator(t *testing.T, on *server, rpc, payload string) string {
	t.Helper()
	status, body := ask(t, on, http.MethodPost, "/v2/rpc/"+rpc+"?unwrap&http_key="+on.httpKey, payload, nil)
	if status != http.StatusOK {
		t.Fatalf("%s is answered %d %s", rpc, status, body)
	}
	return body
}

type storedReport struct {
	UserID string `json:"user_id"`
	From   int    `json:"from"`
	Seat   int    `json:"seat"`
	Reason string `json:"reason"`
	Text   string `json:"text"`
	UnixMs int64  `json:"unix_ms"`
}

// reportsOf are the reports about a match, as the operator sees them.
func reportsOf(t *testing.T, on *server, resultID string) []storedReport {
	t.Helper()
	var record struct {
		Reports []storedReport `json:"reports"`
	}
	if err := json.Unmarshal([]byte(asOperator(t, on, "get_record", `{"result_id":"`+resultID+`"}`)), &record); err != nil {
		t.Fatal(err)
	}
	return record.Reports
}

func report(t *testing.T, on *server, user *client.User, r client.PlayerReport) {
	t.Helper()
	if err := on.client().ReportPlayer(t.Context(), user, r); err != nil {
		t.Fatalf("report: %v", err)
	}
}

// TestReportPlayer: what a player has to say about another is kept with the record, for the operator alone.
func TestReportPlayer(t *testing.T) {
	t.Parallel()
	on := shared(t)
	a, b := connect(t, on, asProtobuf), connect(t, on, asJSON)
	x := openFor(t, on, client.CreateMatch{Seats: 3, Bots: []string{"easy"}, Rules: quick(nil)}, a, b)
	if _, refused := a.rpc("report_player", `{"result_id":"`+x.made.TableID+`","seat":1,"reason":"abuse"}`); !strings.Contains(refused.GetMessage(), "UNKNOWN_RESULT") {
		t.Errorf("while the match runs: {%v}", refused)
	}
	a.forfeit()
	b.forfeit()
	id := x.end(a)
	r := result(t, on, a.user, id)
	seat := map[string]int{}
	for _, p := range r.Players {
		seat[p.UserID] = p.Seat
	}
	mine, other, bot := seat[a.user.ID], seat[b.user.ID], seat[""]
	call := func(format string, args ...any) string {
		return `{"result_id":"` + id + `",` + fmt.Sprintf(format, args...) + `}`
	}
	wantRefused(t, a, []refusedCall{
		{"report_player", call(`"seat":%d,"reason":"abuse"`, mine), "NO_SUCH_SEAT"}, {"report_player", call(`"seat":%d,"reason":"abuse"`, bot), "NO_SUCH_SEAT"},
		{"report_player", call(`"seat":5,"reason":"abuse"`), "NO_SUCH_SEAT"}, {"report_player", call(`"seat":8,"reason":"abuse"`), "OUT_OF_RANGE"},
		{"report_player", call(`"seat":-1,"reason":"abuse"`), "OUT_OF_RANGE"}, {"report_player", call(`"seat":"0","reason":"abuse"`), "WRONG_TYPE"},
		{"report_player", call(`"seat":%d`, other), "MISSING_FIELD"}, {"report_player", call(`"reason":"abuse"`), "MISSING_FIELD"},
		{"report_player", `{"seat":1,"reason":"abuse"}`, "MISSING_FIELD"}, {"report_player", call(`"seat":%d,"reason":"boring"`, other), "OUT_OF_RANGE"},
		{"report_player", call(`"seat":%d,"reason":"abuse","text":%q`, other, strings.Repeat("x", 501)), "OUT_OF_RANGE"},
		{"report_player", `{"result_id":"NOSUCHTABLE","seat":1,"reason":"abuse"}`, "UNKNOWN_RESULT"},
	})
	stranger := connect(t, on, asJSON)
	wantRefused(t, stranger, []refusedCall{{"report_player", call(`"seat":%d,"reason":"abuse"`, mine), "UNKNOWN_RESULT"}})
	if got := reportsOf(t, on, id); len(got) != 0 {
		t.Errorf("after refusals: %+v", got)
	}
	report(t, on, a.user, client.PlayerReport{ResultID: id, Seat: other, Reason: "idle"})
	report(t, on, b.user, client.PlayerReport{ResultID: id, Seat: mine, Reason: "other", Text: "ünfair\u202e\n" + strings.Repeat("ü", 400)})
	report(t, on, a.user, client.PlayerReport{ResultID: id, Seat: other, Reason: "cheating", Text: "too fast"})
	got := reportsOf(t, on, id)
	if len(got) != 2 || got[0].UserID != a.user.ID || got[0].From != mine || got[0].Seat != other || got[0].Reason != "cheating" || got[0].Text != "too fast" ||
		got[1].UserID != b.user.ID || got[1].Text != "ünfair"+strings.Repeat("ü", 400) || got[1].UnixMs < r.EndedUnixMs-60_000 {
		t.Errorf("the reports are %+v", got)
	}
	for _, rpc := range []string{"get_result", "get_record"} {
		if answer, _ := b.rpc(rpc, `{"result_id":"`+id+`"}`); strings.Contains(answer, "too fast") || strings.Contains(answer, "reports") {
			t.Errorf("%s shows reports to a player: %s", rpc, answer)
		}
	}
	if status, body := ask(t, on, http.MethodPost, "/v2/rpc/report_player?unwrap&http_key="+on.httpKey, call(`"seat":0,"reason":"abuse"`), nil); status != http.StatusForbidden {
		t.Errorf("a report by nobody is answered %d %s", status, body)
	}
}

// TestForgotten: who deletes their data, or their account, is nobody to all others, whose own part stays.
func TestForgotten(t *testing.T) {
	t.Parallel()
	on := shared(t)
	for name, way := range map[string]func(t *testing.T, p *peer){
		"the data": func(t *testing.T, p *peer) {
			wantRefused(t, p, []refusedCall{
				{"delete_my_data", `{}`, "MISSING_FIELD"}, {"delete_my_data", `{"confirm":false}`, "MISSING_FIELD"}, {"delete_my_data", `{"confirm":"yes"}`, "WRONG_TYPE"},
			})
			if s := statsOf(t, on, p.user, ""); s.Matches != 2 {
				t.Errorf("without a confirmation: %+v", s)
			}
			var err error
			eventually(func() bool { // a result that can be read may still be on its way into the leaderboards
				err = on.client().DeleteMyData(t.Context(), p.user)
				return client.ReasonOf(err) != "RESULT_PENDING"
			})
			if err != nil {
				t.Fatal(err)
			}
		},
		"the account": func(t *testing.T, p *peer) {
			if status, body := ask(t, on, http.MethodDelete, "/v2/account", "", bearer(p.user)); status != http.StatusOK {
				t.Fatalf("deleting the account is answered %d %s", status, body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := connect(t, on, asProtobuf), connect(t, on, asJSON)
			ids := []string{counted(t, on, 1, a, b), counted(t, on, 2, b, a)}
			for _, id := range ids {
				result(t, on, a.user, id)
			}
			report(t, on, b.user, client.PlayerReport{ResultID: ids[0], Seat: 0, Reason: "name", Text: "call me " + b.user.Username})
			wantScore(t, on, b.user, "set3d_sets", 2)
			wantScore(t, on, a.user, "set3d_sets", 1)
			before := statsOf(t, on, a.user, "")
			way(t, b)
			wantForgotten(t, on, a, b.user, ids)
			if now := statsOf(t, on, a.user, ""); now != before {
				t.Errorf("the other's statistics were %+v and are %+v", before, now)
			}
			for board, want := range map[string]int{"set3d_wins": 1, "set3d_sets": 1} {
				wantScore(t, on, a.user, board, want)
			}
			if name == "the data" {
				wantRefused(t, b, []refusedCall{{"get_result", `{"result_id":"` + ids[0] + `"}`, "UNKNOWN_RESULT"}})
				result(t, on, b.user, counted(t, on, 1, b, a)) // who plays on begins anew
				wantScore(t, on, b.user, "set3d_sets", 1)
				if s := statsOf(t, on, b.user, ""); s.Matches != 1 || s.Wins != 1 || s.BestStreak != 1 {
					t.Errorf("after a new match: %+v", s)
				}
			}
		})
	}
}

// wantForgotten looks for a user in everything that can be asked for.
func wantForgotten(t *testing.T, on *server, other *peer, gone *client.User, resultIDs []string) {
	t.Helper()
	if s := statsOf(t, on, other.user, gone.ID); s.Matches != 0 || s.Rating != 1_000 {
		t.Errorf("statistics are left: %+v", s)
	}
	for _, board := range []string{"set3d_wins", "set3d_sets", "set3d_rating", "set3d_fastest"} {
		status, body := ask(t, on, http.MethodGet, "/v2/leaderboard/"+board+"?limit=1000&owner_ids="+gone.ID, "", bearer(other.user))
		if status != http.StatusOK || strings.Contains(body, gone.Username) || strings.Contains(body, gone.ID) {
			t.Errorf("%s still shows %s", board, gone.Username)
		}
	}
	var answers []string
	ask := func(rpc, payload string) {
		answer, refused := other.rpc(rpc, payload)
		if refused != nil {
			t.Errorf("%s %s: {%v}", rpc, payload, refused)
		}
		answers = append(answers, answer)
	}
	ask("match_history", `{}`)
	ask("export_my_data", `{}`)
	for _, id := range resultIDs {
		ask("get_result", `{"result_id":"`+id+`"}`)
		ask("get_record", `{"result_id":"`+id+`"}`)
		answers = append(answers, asOperator(t, on, "get_record", `{"result_id":"`+id+`"}`))
		seat := slices.IndexFunc(result(t, on, other.user, id).Players, func(p client.PlayerResult) bool { return p.Deleted && p.DisplayName == "deleted player" })
		if seat < 0 {
			t.Errorf("nobody is deleted in %s", id)
		}
	}
	for _, answer := range answers {
		if strings.Contains(answer, gone.ID) || strings.Contains(answer, gone.Username) {
			t.Errorf("a trace of %s, %s: %s", gone.ID, gone.Username, answer)
		}
		if !strings.Contains(answer, other.user.ID) {
			t.Errorf("the other is gone too: %s", answer)
		}
	}
}

// TestExportMyData: an export has everything about its user, page by page, and nobody else.
func TestExportMyData(t *testing.T) {
	t.Parallel()
	on := shared(t)
	a, b := connect(t, on, asProtobuf), connect(t, on, asJSON)
	shared := counted(t, on, 2, a, b)
	result(t, on, a.user, shared)
	report(t, on, a.user, client.PlayerReport{ResultID: shared, Seat: 1, Reason: "idle", Text: "said by a"})
	report(t, on, b.user, client.PlayerReport{ResultID: shared, Seat: 0, Reason: "abuse", Text: "said by b"})
	const more = 20 // one page, so that there is a second one
	want := map[string]bool{shared: true}
	var last string
	for range more {
		last = alone(t, on, a)
		result(t, on, a.user, last)
		want[last] = true
	}
	seen := map[string]bool{}
	var pages []client.ExportedData
	for cursor := ""; len(pages) == 0 || cursor != ""; {
		raw, err := on.client().RPC(t.Context(), a.user, "export_my_data", string(marshalJSON(t, map[string]string{"cursor": cursor})))
		if err != nil || len(pages) > 2 {
			t.Fatalf("page %d: %v", len(pages), err)
		}
		for _, trace := range []string{b.user.ID, b.user.Username, "said by b"} {
			if strings.Contains(raw, trace) {
				t.Errorf("the export has %q: %s", trace, raw)
			}
		}
		var page client.ExportedData
		if err := json.Unmarshal([]byte(raw), &page); err != nil {
			t.Fatal(err)
		}
		pages, cursor = append(pages, page), page.Cursor
		for i := range page.Matches {
			checkExport(t, a.user, &page.Matches[i], page.Matches[i].Result.ResultID == shared)
			seen[page.Matches[i].Result.ResultID] = true
		}
	}
	if len(pages) != 2 || len(pages[0].Matches) != 20 || fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("%d pages with %d matches, want 2 with %d", len(pages), len(seen), len(want))
	}
	if p := pages[0]; p.UserID != a.user.ID || p.Stats.Matches != more+1 || p.Stats.Sets != 2 || p.Rating != 1_000 {
		t.Errorf("export %+v", p.Stats)
	}
}

func checkExport(t *testing.T, user *client.User, m *client.ExportedMatch, withReport bool) {
	t.Helper()
	var reports []storedReport
	if len(m.Reports) > 0 {
		if err := json.Unmarshal(m.Reports, &reports); err != nil {
			t.Fatal(err)
		}
	}
	if p := m.Result.Players[0]; p.UserID != user.ID || p.DisplayName != user.Username || len(m.Record) != m.Result.RecordBytes {
		t.Errorf("the export of %s: %+v, a record of %d bytes", m.Result.ResultID, p, len(m.Record))
	}
	if (len(reports) == 1 && reports[0].Text == "said by a") != withReport || len(reports) > 1 {
		t.Errorf("the export of %s has the reports %+v", m.Result.ResultID, reports)
	}
}

func marshalJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
