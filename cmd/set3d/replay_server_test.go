package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"set3d/client"
	"set3d/domain"
)

// A match that was played on a server is what the server says of it, to its player and to the operator; others get nothing.
func TestReplayOfAPlayedMatch(t *testing.T) {
	url := startServer(t)
	c, err := client.New(client.Config{URL: url, ServerKey: "defaultkey"})
	require.NoError(t, err)
	var users []*client.User
	for _, device := range []string{"a-device-of-ada", "a-device-of-ben"} {
		user, err := c.AuthenticateDevice(t.Context(), device, "")
		require.NoError(t, err)
		users = append(users, user)
	}
	made, err := c.CreateMatch(t.Context(), users[0], client.CreateMatch{Seats: 3, Bots: []string{"hard"}, Rules: map[string]any{
		"valid_anim_ms": 1, "refill_anim_ms": 1, "expand_anim_ms": 1, "invalid_anim_ms": 20, "penalty_mode": "point",
	}})
	require.NoError(t, err)
	played := make(chan error, len(users))
	for i, user := range users {
		link, err := c.OpenLink(t.Context(), user, client.FormatProtobuf, made.MatchID, client.JoinOptions{})
		require.NoError(t, err)
		t.Cleanup(link.Close)
		driver := client.NewDriver(link, client.PlayerConfig{Seed: uint64(i), Reaction: 10 * time.Millisecond, ErrorRate: 0.3}, nil)
		go func() { played <- driver.Run(t.Context()) }()
	}
	for range users {
		require.NoError(t, <-played)
	}
	id := storedResult(t, c, users[0])
	got := execute(t, "replay", id, "--url", url, "--device", "a-device-of-ada")
	require.Equal(t, exitOK, got.code, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "The deal: the deck of a key with the commitment")
	require.Contains(t, got.stdout, "All well.")
	asOperator := execute(t, "replay", id, "--url", url, "--http-key", "defaulthttpkey")
	require.Equal(t, got, asOperator)
	require.Contains(t, got.stdout, " hard bot ")
	require.NotContains(t, got.stdout, "hard bot (hard bot)")
	for range 2 { // asking makes no account
		got = execute(t, "replay", id, "--url", url, "--device", "a-device-of-eve")
		require.Equal(t, exitRefused, got.code)
		require.Contains(t, got.stderr, "no such device")
	}
	_, err = c.AuthenticateDevice(t.Context(), "a-device-of-eve", "")
	require.NoError(t, err)
	got = execute(t, "replay", id, "--url", url, "--device", "a-device-of-eve")
	require.Equal(t, exitRefused, got.code)
	require.Contains(t, got.stderr, "UNKNOWN_RESULT")
}

// storedResult waits until the user's only result is stored.
func storedResult(t *testing.T, c *client.Client, user *client.User) string {
	var history struct {
		Results []struct {
			ResultID string `json:"result_id"`
		} `json:"results"`
	}
	require.Eventually(t, func() bool {
		answer, err := c.RPC(t.Context(), user, "match_history", "{}")
		return err == nil && json.Unmarshal([]byte(answer), &history) == nil && len(history.Results) == 1
	}, 30*time.Second, 20*time.Millisecond)
	return history.Results[0].ResultID
}

// recordServer answers get_record to a player and to the operator.
func recordServer(t *testing.T, answer []byte) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/account/authenticate/device", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		require.Contains(t, string(body), "a-device-of-mine")
		token := "h." + base64.RawURLEncoding.EncodeToString([]byte(`{"uid":"u","usn":"ada","exp":99999999999}`)) + ".s"
		_ = json.NewEncoder(w).Encode(map[string]string{"token": token, "refresh_token": token})
	})
	mux.HandleFunc("POST /v2/rpc/get_record", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch request := string(body); {
		case r.URL.Query().Get("http_key") == "k&y" && r.URL.Query().Has("unwrap") && request == `{"result_id":"r1"}`:
			_, _ = w.Write(answer)
		case r.URL.Query().Has("http_key"):
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"code":16,"message":"HTTP key invalid"}`))
		case strings.HasPrefix(r.Header.Get("Authorization"), "Bearer h.") && request == `"{\"result_id\":\"r1\"}"`:
			_ = json.NewEncoder(w).Encode(map[string]string{"payload": string(answer)})
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"code":5,"message":"{\"reason\":\"UNKNOWN_RESULT\"}"}`))
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestReplayAsksTheServer(t *testing.T) {
	answer, err := json.Marshal(answerOf(t, replayedMatch(t, domain.KeySource([32]byte{7}))))
	require.NoError(t, err)
	server := recordServer(t, answer)
	saved := filepath.Join(t.TempDir(), "saved.json")
	got := execute(t, "replay", "r1", "--url", server.URL, "--http-key", "k&y", "--out", saved)
	require.Equal(t, exitOK, got.code, got.stderr)
	data, err := os.ReadFile(saved)
	require.NoError(t, err)
	require.Equal(t, answer, data, "saved as it came")
	again := execute(t, "replay", saved)
	require.Equal(t, got.stdout, again.stdout)
	player := execute(t, "replay", "r1", "--url", server.URL, "--device", "a-device-of-mine")
	require.Equal(t, got, player)

	for _, test := range []struct {
		args, want string
		code       int
	}{
		{"r2 --device a-device-of-mine", "UNKNOWN_RESULT", exitRefused},
		{"r1 --http-key wrong", "is --http-key the server's", exitRefused},
		{"r1", "say who asks", exitUsage},
		{"r1 --http-key k --device d", "not both", exitUsage},
		{"./r1 --http-key k", "no such file", exitUsage},
		{"r1.json", "no such file", exitUsage},
		{saved + " --http-key k", "is a file", exitUsage},
		{"", "accepts 1 arg", exitUsage},
		{"r1 --http-key k --url http://127.0.0.1:1", "no server answers", exitNoRoute},
	} {
		args := append([]string{"replay", "--url", server.URL}, strings.Fields(test.args)...)
		got := execute(t, args...)
		require.Equal(t, test.code, got.code, "%s: %s", test.args, got.stderr)
		require.Contains(t, got.stderr, test.want, test.args)
		require.NotContains(t, got.stderr, "http_key=", test.args)
	}
}

// The operator's key is in the URL, and must not be in what one pastes into a bug report.
func TestOperatorsKeyIsNotShown(t *testing.T) {
	_, err := askAsOperator(t.Context(), "http://127.0.0.1:1", "geheim", nil)
	require.ErrorIs(t, err, client.ErrNoRoute)
	require.NotContains(t, err.Error(), "geheim")
}
