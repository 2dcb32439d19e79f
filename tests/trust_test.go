package tests

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestClientsCannotWriteWhatTheServerOwns: Nakama's storage API lets users write and delete what is theirs. In the
// server's collections they are told that they may not, and nothing that they try changes statistics, histories or
// seats.
func TestClientsCannotWriteWhatTheServerOwns(t *testing.T) {
	t.Parallel()
	on := shared(t)
	a, b, eve := connect(t, on, asProtobuf), connect(t, on, asJSON), connect(t, on, asJSON)
	r := result(t, on, a.user, counted(t, on, 1, a, b))
	stats := `{\"matches\":10000,\"wins\":9999,\"mu\":90,\"sigma\":0.5,\"ranked_matches\":500}`
	for collection, value := range map[string]string{
		"set3d_stats": stats, "set3d_players": `{\"stats\":` + stats + `,\"recent\":[{\"result_id\":\"` + r.ResultID + `\"}]}`,
		"set3d_history": `{\"result_id\":\"` + r.ResultID + `\"}`, "set3d_results": `{}`, "set3d_seats": `{}`, "set3d_new": `{}`,
	} {
		for _, key := range []string{"stats", eve.user.ID, r.ResultID} {
			body := fmt.Sprintf(`{"objects":[{"collection":"notes","key":"x","value":"{}"},{"collection":%q,"key":%q,"value":"%s","permission_read":2,"permission_write":1}]}`,
				collection, key, value)
			status, answer := ask(t, on, http.MethodPut, "/v2/storage", body, bearer(eve.user))
			if status != http.StatusForbidden || !strings.Contains(answer, "SERVER_OWNED") || !strings.Contains(answer, collection) {
				t.Errorf("a write to %s is answered %d %s", collection, status, answer)
			}
			body = fmt.Sprintf(`{"object_ids":[{"collection":%q,"key":%q}]}`, collection, key)
			status, answer = ask(t, on, http.MethodPut, "/v2/storage/delete", body, bearer(eve.user))
			if status != http.StatusForbidden || !strings.Contains(answer, "SERVER_OWNED") {
				t.Errorf("a deletion in %s is answered %d %s", collection, status, answer)
			}
		}
	}
	if s := statsOf(t, on, a.user, eve.user.ID); s.Matches != 0 || s.Wins != 0 || s.Rating != 1000 {
		t.Errorf("statistics %+v", s)
	}
	if history, err := on.client().MatchHistory(t.Context(), eve.user, 10, ""); err != nil || len(history.Results) != 0 {
		t.Errorf("history %+v, %v", history, err)
	}
	if s := statsOf(t, on, eve.user, a.user.ID); s.Matches != 1 || s.Wins != 1 {
		t.Errorf("the winner's statistics %+v", s)
	}
	for collection, key := range map[string]string{"set3d_players": a.user.ID, "set3d_results": r.ResultID} {
		body := fmt.Sprintf(`{"object_ids":[{"collection":%q,"key":%q,"user_id":"00000000-0000-0000-0000-000000000000"},{"collection":%q,"key":%q}]}`,
			collection, key, collection, key)
		status, answer := ask(t, on, http.MethodPost, "/v2/storage", body, bearer(a.user))
		if status != http.StatusBadRequest || strings.Contains(answer, "value") {
			t.Errorf("a read of %s as the system's is answered %d %s", collection, status, answer)
		}
		status, answer = ask(t, on, http.MethodPost, "/v2/storage", fmt.Sprintf(`{"object_ids":[{"collection":%q,"key":%q}]}`, collection, key), bearer(a.user))
		if status != http.StatusOK || strings.Contains(answer, "value") {
			t.Errorf("a read of %s is answered %d %s", collection, status, answer)
		}
	}
}

// TestOtherCollections: what is not the server's is the users', if the operator has left that API on, and refused by
// name otherwise.
func TestOtherCollections(t *testing.T) {
	t.Parallel()
	write := `{"objects":[{"collection":"notes","key":"x","value":"{\"a\":1}"}]}`
	remove := `{"object_ids":[{"collection":"notes","key":"x"}]}`
	for setting, want := range map[string]int{"none": http.StatusForbidden, "storage": http.StatusOK} {
		on := ownServer(t, "SET3D_NAKAMA_APIS="+setting)
		a := connect(t, on, asJSON)
		for _, call := range [][2]string{{"/v2/storage", write}, {"/v2/storage/delete", remove}} {
			path, body := call[0], call[1]
			status, answer := ask(t, on, http.MethodPut, path, body, bearer(a.user))
			if status != want || strings.Contains(answer, "API_DISABLED") != (want == http.StatusForbidden) {
				t.Errorf("%s: %s is answered %d %s", setting, path, status, answer)
			}
		}
	}
}
