package tests

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"set3d/client"
)

// ask makes an HTTP request as it is told to, and returns status and body.
func ask(t *testing.T, on *server, method, path, body string, authorize func(*http.Request)) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, on.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if authorize != nil {
		authorize(request)
	}
	caller := http.Client{Timeout: patience}
	response, err := caller.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func bearer(user *client.User) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+user.Token()) }
}

// quoted is a payload as RPCs over HTTP want it: a JSON text in a JSON string.
func quoted(payload string) string {
	text, _ := json.Marshal(payload)
	return string(text)
}

// listing is what the server lists of a query, as text.
func listing(t *testing.T, on *server, user *client.User, query string) string {
	t.Helper()
	values := url.Values{"authoritative": {"true"}, "limit": {"100"}}
	if query != "" {
		values.Set("query", query)
	}
	status, body := ask(t, on, http.MethodGet, "/v2/match?"+values.Encode(), "", bearer(user))
	if status != http.StatusOK {
		t.Fatalf("the listing is answered %d %s", status, body)
	}
	return body
}

func wantListed(t *testing.T, on *server, user *client.User, matchID, query string) {
	t.Helper()
	if !eventuallyListed(func() bool { return strings.Contains(listing(t, on, user, query), matchID) }) {
		t.Fatalf("match %s is not listed", matchID)
	}
}

func wantUnlisted(t *testing.T, on *server, user *client.User, matchID, query string) {
	t.Helper()
	if !eventuallyListed(func() bool { return !strings.Contains(listing(t, on, user, query), matchID) }) {
		t.Fatalf("match %s is still listed", matchID)
	}
}

// eventually is for what nobody tells a client, so that it has to be asked for again and again.
func eventually(isSo func() bool) bool { return askingEvery(50*time.Millisecond, isSo) }

// eventuallyListed is eventually for Nakama's match listing, which is up to two seconds old, and may be asked for twice a second.
func eventuallyListed(isSo func() bool) bool { return askingEvery(500*time.Millisecond, isSo) }

func askingEvery(interval time.Duration, isSo func() bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(interval) {
		if isSo() {
			return true
		}
	}
	return false
}
