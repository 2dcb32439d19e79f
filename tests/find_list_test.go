package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"set3d/client"
)

// TestFindListed: list_matches shows a table at once, with what it is now.
func TestFindListed(t *testing.T) {
	on := shared(t)
	p := connect(t, on, asJSON)
	x := create(t, on, client.CreateMatch{Preset: "fast", Seats: 2}, p)
	look := func(filter client.ListMatches) *client.Table {
		t.Helper()
		filter.Limit = 100
		list, err := on.client().ListMatches(t.Context(), p.user, filter)
		if err != nil {
			t.Fatalf("%+v: %v", filter, err)
		}
		for i := range list.Matches {
			if list.Matches[i].MatchID == x.made.MatchID {
				return &list.Matches[i]
			}
		}
		return nil
	}
	yes, no := true, false
	if m := look(client.ListMatches{Preset: "fast", Phase: "lobby", Open: &yes}); m == nil || m.Taken != 0 || m.Seats != 2 || m.TableID != x.made.TableID {
		t.Fatalf("before anybody joins: %+v", m)
	}
	if look(client.ListMatches{Preset: "classic"}) != nil || look(client.ListMatches{Open: &no}) != nil || look(client.ListMatches{Phase: "playing"}) != nil {
		t.Error("the table is listed by filters that exclude it")
	}
	x.seat(p)
	x.seat(connect(t, on, asProtobuf))
	p.sync()
	if m := look(client.ListMatches{Phase: "playing"}); m == nil || m.Taken != 2 || m.Open {
		t.Errorf("while it plays: %+v", m)
	}
}

// TestFindPages: pages do not overlap.
func TestFindPages(t *testing.T) {
	on := shared(t)
	user := signIn(t, on)
	mine := map[string]int{}
	for range 5 {
		made, err := on.client().CreateMatch(t.Context(), user, client.CreateMatch{Preset: "fast", Seats: 8})
		if err != nil {
			t.Fatal(err)
		}
		mine[made.MatchID] = 0
	}
	cursor := ""
	for range 100 {
		list, err := on.client().ListMatches(t.Context(), user, client.ListMatches{Limit: 2, Preset: "fast", Cursor: cursor})
		if err != nil || len(list.Matches) > 2 {
			t.Fatalf("%d matches, %v", len(list.Matches), err)
		}
		for _, m := range list.Matches {
			if _, ok := mine[m.MatchID]; ok {
				mine[m.MatchID]++
			}
		}
		if cursor = list.Cursor; cursor == "" {
			break
		}
	}
	for id, times := range mine {
		if times != 1 {
			t.Errorf("%s is listed %d times", id, times)
		}
	}
}

var condition = regexp.MustCompile(`([+-])label\.(\w+):(\S+)`)

// TestFindDocumentedQueries runs each label query of docs/protocol.md: it finds the table that it should, and none that it should not.
func TestFindDocumentedQueries(t *testing.T) {
	on := shared(t)
	text, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```text queries\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("docs/protocol.md has no block of queries")
	}
	p := connect(t, on, asJSON)
	for _, request := range []client.CreateMatch{{Seats: 2}, {Preset: "fast", Seats: 4}, {Private: true, Seats: 2}} {
		host := connect(t, on, asJSON) // a table with nobody at it may close before it is listed
		create(t, on, request, host).seat(host)
	}
	solo := create(t, on, client.CreateMatch{Preset: "practice", Seats: 1}, p)
	solo.seat(p)
	queries := 0
	for line := range strings.Lines(string(block[1])) {
		query, _, _ := strings.Cut(line, "#")
		if query = strings.TrimSpace(query); query == "" {
			continue
		}
		queries++
		if !eventuallyListed(func() bool { return len(labelsFor(t, on, p.user, query)) > 0 }) {
			t.Errorf("%s finds nothing", query)
		}
		for _, label := range labelsFor(t, on, p.user, query) {
			if !satisfies(label, query) {
				t.Errorf("%s finds %v", query, label)
			}
		}
	}
	if queries < 4 {
		t.Errorf("only %d queries are documented", queries)
	}
}

// labelsFor are the labels that Nakama's own listing finds by a query.
func labelsFor(t *testing.T, on *server, user *client.User, query string) []map[string]any {
	t.Helper()
	path := "/v2/match?authoritative=true&limit=100&query=" + url.QueryEscape(query)
	status, body := ask(t, on, http.MethodGet, path, "", bearer(user))
	var found struct{ Matches []struct{ Label string } }
	if err := json.Unmarshal([]byte(body), &found); err != nil || status != http.StatusOK {
		t.Fatalf("%s is answered %d %s", query, status, body)
	}
	var labels []map[string]any
	for _, m := range found.Matches {
		var label map[string]any
		if err := json.Unmarshal([]byte(m.Label), &label); err != nil {
			t.Fatalf("label %q: %v", m.Label, err)
		}
		labels = append(labels, label)
	}
	return labels
}

func satisfies(label map[string]any, query string) bool {
	for _, c := range condition.FindAllStringSubmatch(query, -1) {
		want := map[string]string{"T": "true", "F": "false"}[c[3]]
		if want == "" {
			want = c[3]
		}
		if (fmt.Sprint(label[c[2]]) == want) != (c[1] == "+") {
			return false
		}
	}
	return true
}

// TestFindListingsHaveARate: Nakama writes a line for each query that it cannot read, so its listings have a rate for
// each user.
func TestFindListingsHaveARate(t *testing.T) {
	on := shared(t)
	for _, path := range []string{
		"/v2/match?authoritative=true&query=" + url.QueryEscape("+label.x:/[/"), "/v2/storage/any?limit=1&cursor=%24",
	} {
		user, other := signIn(t, on), signIn(t, on)
		limited := false
		for i := range 1_000 {
			status, answer := ask(t, on, http.MethodGet, path, "", bearer(user))
			if limited = status == http.StatusTooManyRequests; limited {
				named := strings.Contains(answer, "TOO_MANY_REQUESTS") && strings.Contains(answer, "retry_after_ms")
				if !named || i < min(50, on.limits.RPCsPerMinute) {
					t.Errorf("call %d of %s is answered %s", i+1, path, answer)
				}
				break
			}
		}
		if !limited {
			t.Errorf("a thousand calls of %s were answered", path)
		}
		if status, _ := ask(t, on, http.MethodGet, path, "", bearer(other)); status == http.StatusTooManyRequests {
			t.Errorf("another user may not call %s", path)
		}
	}
}
