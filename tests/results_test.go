package tests

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/client"
)

// result waits until a match's result is final, as one of its players. It asks less and less often: a user may call only so many RPCs.
func result(t *testing.T, on *server, user *client.User, resultID string) *client.Result {
	t.Helper()
	var got client.GotResult
	var err error
	for wait, end := 10*time.Millisecond, time.Now().Add(2*patience); time.Now().Before(end); wait = min(2*wait, time.Second) {
		got, err = on.client().GetResult(t.Context(), user, resultID)
		if err == nil && got.Status == "final" {
			break
		}
		time.Sleep(wait)
	}
	if err != nil || got.Result == nil || got.Result.ResultID != resultID {
		t.Fatalf("the result of %s is %+v, %v", resultID, got, err)
	}
	return got.Result
}

// TestGetResult: a result is pending or final for its players, and nothing for all others.
func TestGetResult(t *testing.T) {
	t.Parallel()
	on := shared(t)
	a, b, watcher := connect(t, on, asProtobuf), connect(t, on, asJSON), connect(t, on, asJSON)
	x := openFor(t, on, client.CreateMatch{Rules: quick(nil)}, a, b)
	watcher.join(x.made.MatchID, x.verify(watcher))
	c := on.client()
	if _, err := c.GetResult(t.Context(), a.user, x.made.TableID); client.ReasonOf(err) != "UNKNOWN_RESULT" {
		t.Errorf("while the match runs: %v", err)
	}
	time.Sleep(20 * time.Millisecond) // a claim in the board's first millisecond is no reaction to it
	a.takesASet()
	b.errs()
	b.forfeit()
	id := x.end(b)
	final := false
	for wait := 10 * time.Millisecond; !final; wait = min(2*wait, time.Second) { // a user may ask so often
		got, err := c.GetResult(t.Context(), b.user, id)
		if err != nil || got.Status != "final" && got.Status != "pending" || (got.Status == "pending") != (got.Result == nil) {
			t.Fatalf("after the end: %+v, %v", got, err)
		}
		final = got.Status == "final"
		time.Sleep(wait)
	}
	r := result(t, on, a.user, id)
	if p := r.Players[0]; p.Claims != 1 || p.Wrong != 0 || p.Score != 1 || p.ReactionMs.Count != 1 || p.ReactionMs.Fastest < 1 || p.ReactionMs.Median != p.ReactionMs.Fastest {
		t.Errorf("the winner: %+v", p)
	}
	if p := r.Players[1]; p.Claims != 1 || p.Wrong != 1 || p.Score != 0 || p.ReactionMs.Count != 0 {
		t.Errorf("the other: %+v", p)
	}
	if r.Preset != "custom" || r.MatchID != x.made.MatchID || r.EndedUnixMs < r.StartedUnixMs || r.DurationMs < 1 || r.Incarnation != 0 {
		t.Errorf("result %+v", r)
	}
	for who, p := range map[string]*peer{"a spectator": watcher, "a stranger": connect(t, on, asJSON)} {
		for _, rpc := range []string{"get_result", "get_record"} {
			if _, refused := p.rpc(rpc, `{"result_id":"`+id+`"}`); !strings.Contains(refused.GetMessage(), "UNKNOWN_RESULT") {
				t.Errorf("%s of %s is answered {%v}", rpc, who, refused)
			}
		}
	}
	wantRefused(t, a, []refusedCall{
		{"get_result", `{"result_id":"NOSUCHTABLE"}`, "UNKNOWN_RESULT"}, {"get_record", `{"result_id":"NOSUCHTABLE"}`, "UNKNOWN_RESULT"},
		{"get_result", `{"result_id":"../set3d_stats"}`, "UNKNOWN_RESULT"},
		{"get_result", `{}`, "MISSING_FIELD"}, {"get_record", `{"result_id":""}`, "MISSING_FIELD"},
		{"get_result", `{"result_id":7}`, "WRONG_TYPE"}, {"get_record", `{"result_id":["x"]}`, "WRONG_TYPE"},
		{"get_result", `{"result_id":"` + strings.Repeat("x", 65) + `"}`, "OUT_OF_RANGE"},
		{"get_result", `{"match_id":"x"}`, "UNKNOWN_FIELD"},
	})
	status, body := ask(t, on, http.MethodPost, "/v2/rpc/get_result?unwrap&http_key="+on.httpKey, `{"result_id":"`+id+`"}`, nil)
	if status != http.StatusOK || !strings.Contains(body, `"final"`) {
		t.Errorf("the operator is answered %d %s", status, body)
	}
}

type refusedCall struct{ rpc, payload, reason string }

func wantRefused(t *testing.T, p *peer, calls []refusedCall) {
	t.Helper()
	for _, c := range calls {
		if answer, refused := p.rpc(c.rpc, c.payload); !strings.Contains(refused.GetMessage(), `"`+c.reason+`"`) {
			t.Errorf("%s %.80s is answered %s {%v}, want %s", c.rpc, c.payload, answer, refused, c.reason)
		}
	}
}

// alone plays a match of one that is over at once, and returns the result's id. Somebody else has opened the table: a user may open
// only so many.
func alone(t *testing.T, on *server, p *peer) string {
	t.Helper()
	x := create(t, on, client.CreateMatch{Seats: 1, Rules: quick(nil)}, &peer{user: signIn(t, on)})
	x.seat(p)
	p.start()
	p.forfeit()
	return x.end(p)
}

// TestMatchHistory: all results, the newest first, a page at a time, and nobody else's.
func TestMatchHistory(t *testing.T) {
	t.Parallel()
	on := shared(t)
	p, other := connect(t, on, asProtobuf), connect(t, on, asJSON)
	var want []string
	for range 5 {
		id := alone(t, on, p)
		result(t, on, p.user, id)
		want = append([]string{id}, want...)
	}
	result(t, on, other.user, alone(t, on, other))
	c := on.client()
	var got, cursors []string
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		page, err := c.MatchHistory(t.Context(), p.user, 2, cursor)
		if err != nil || len(page.Results) > 2 || pages > 3 {
			t.Fatalf("page %d: %+v, %v", pages, page, err)
		}
		for i := range page.Results {
			got = append(got, page.Results[i].ResultID)
		}
		if cursor = page.Cursor; cursor != "" {
			cursors = append(cursors, cursor)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the history is %v, want %v", got, want)
	}
	if len(cursors) < 2 {
		t.Fatalf("the cursors are %q", cursors)
	}
	if page, err := c.MatchHistory(t.Context(), other.user, 2, cursors[0]); err == nil {
		for i := range page.Results {
			if slices.Contains(want, page.Results[i].ResultID) {
				t.Errorf("somebody else's cursor shows %s", page.Results[i].ResultID)
			}
		}
	}
	if answer, err := c.RPC(t.Context(), signIn(t, on), "match_history", "{}"); err != nil || answer != `{"results":[],"cursor":""}` {
		t.Errorf("a newcomer's history: %s, %v", answer, err)
	}
	wantRefused(t, p, []refusedCall{
		{"match_history", `{"limit":0}`, "OUT_OF_RANGE"}, {"match_history", `{"limit":101}`, "OUT_OF_RANGE"}, {"match_history", `{"limit":"2"}`, "WRONG_TYPE"},
		{"match_history", `{"cursor":"%%%"}`, "OUT_OF_RANGE"}, {"match_history", `{"cursor":"zz"}`, "OUT_OF_RANGE"}, {"match_history", `{"cursor":7}`, "WRONG_TYPE"},
		{"match_history", `{"cursor":"` + strings.Repeat("x", 1_025) + `"}`, "OUT_OF_RANGE"}, {"match_history", `{"user_id":"` + other.user.ID + `"}`, "UNKNOWN_FIELD"},
		{"export_my_data", `{"cursor":"%%%"}`, "OUT_OF_RANGE"}, {"export_my_data", `{"cursor":"zz"}`, "OUT_OF_RANGE"},
	})
}

// TestResultsAreTheServersOwn: nobody reads or writes what is stored but by the RPCs.
func TestResultsAreTheServersOwn(t *testing.T) {
	t.Parallel()
	on := shared(t)
	p := connect(t, on, asProtobuf)
	id := alone(t, on, p)
	result(t, on, p.user, id)
	wantScore(t, on, p.user, "set3d_wins", 0)
	for _, write := range [][2]string{
		{"/v2/leaderboard/set3d_wins", `{"score":"99"}`},
	} {
		if status, body := ask(t, on, http.MethodPost, write[0], write[1], bearer(p.user)); status < 400 {
			t.Errorf("%s is answered %d %s", write[0], status, body)
		}
	}
	for _, read := range []string{"set3d_stats/" + p.user.ID, "set3d_history/" + p.user.ID, "set3d_results", "set3d_records", "set3d_tables", "set3d_terms"} {
		if status, body := ask(t, on, http.MethodGet, "/v2/storage/"+read+"?limit=10", "", bearer(p.user)); status == http.StatusOK && strings.Contains(body, "collection") {
			t.Errorf("%s is shown: %s", read, body)
		}
	}
	status, body := ask(t, on, http.MethodPut, "/v2/storage",
		`{"objects":[{"collection":"set3d_stats","key":"stats","value":"{\"matches\":9,\"wins\":9}"}]}`, bearer(p.user))
	if s := statsOf(t, on, p.user, ""); status < 400 || s.Matches != 1 || s.Wins != 0 {
		t.Errorf("writing one's statistics is answered %d %s; they are %+v", status, body, s)
	}
	if e := p.call(&rtapi.Envelope{Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}}); e.GetPong() == nil {
		t.Errorf("the socket answers {%v}", e)
	}
}
