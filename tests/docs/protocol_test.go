// Package docs_test holds the RPC examples of docs/protocol.md against a server. The examples of messages are checked in
// proto/.
package docs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"set3d/client"
)

const docPath = "../../docs/protocol.md"

// TestRPCExamples sends the requests of the document to a server and compares the answers.
func TestRPCExamples(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := client.New(client.Config{URL: serve(t), ServerKey: "defaultkey"})
	require.NoError(t, err)
	user, err := c.AuthenticateDevice(ctx, client.RandomID(), "")
	require.NoError(t, err)

	t.Run("hello", func(t *testing.T) {
		answer, err := c.RPC(ctx, user, "hello", example(t, "hello.request"))
		require.NoError(t, err)
		want, got := parse(t, example(t, "hello.answer")), parse(t, answer)
		assert.Equal(t, want["server_version"], got["server_version"])
		assert.Equal(t, want["protocol_versions"], got["protocol_versions"])
		assert.Equal(t, want["limits"], got["limits"])
		assert.Subset(t, got["presets"], want["presets"])
		assert.Subset(t, got["op_codes"], want["op_codes"])
		assert.Len(t, got, len(want), "the fields of the answer: %v", got)
	})
	t.Run("create_match", func(t *testing.T) {
		answer, err := c.RPC(ctx, user, "create_match", example(t, "create_match.request"))
		require.NoError(t, err)
		want, got := parse(t, example(t, "create_match.answer")), parse(t, answer)
		assert.NotEmpty(t, got["match_id"])
		assert.NotEmpty(t, got["table_id"])
		assert.Len(t, got["code"], len(want["code"].(string)))
		assert.Equal(t, drawn(want), drawn(got))
		again, err := c.RPC(ctx, user, "create_match", example(t, "create_match.request"))
		require.NoError(t, err)
		assert.Equal(t, parse(t, answer), parse(t, again), "the same request_id")
	})
	t.Run("quick_match", func(t *testing.T) {
		answer, err := c.RPC(ctx, user, "quick_match", example(t, "quick_match.request"))
		require.NoError(t, err)
		want, got := parse(t, example(t, "quick_match.answer")), parse(t, answer)
		assert.InDelta(t, want["reserved_ms"], got["reserved_ms"], 5_000, "what is left of the promise")
		got["reserved_ms"] = want["reserved_ms"]
		assert.Equal(t, drawn(want), drawn(got))
	})
	t.Run("resolve_code", func(t *testing.T) {
		made, err := c.CreateMatch(ctx, user, client.CreateMatch{Private: true})
		require.NoError(t, err)
		code := strings.ToLower(made.Code[:3] + "-" + made.Code[3:]) // as in the document
		answer, err := c.RPC(ctx, user, "resolve_code", strings.Replace(example(t, "resolve_code.request"), "k7t-m4x", code, 1))
		require.NoError(t, err)
		assert.Equal(t, made.Code, parse(t, answer)["code"])
		assert.Equal(t, drawn(parse(t, example(t, "resolve_code.answer"))), drawn(parse(t, answer)))
	})
	t.Run("list_matches", func(t *testing.T) {
		answer, err := c.RPC(ctx, user, "list_matches", example(t, "list_matches.request"))
		require.NoError(t, err)
		got := parse(t, answer)
		require.NotEmpty(t, got["matches"])
		got["matches"] = []any{}
		assert.Equal(t, parse(t, example(t, "list_matches.answer")), got)
	})
	t.Run("error", func(t *testing.T) {
		_, err := c.RPC(ctx, user, "create_match", `{"seats": 9}`)
		var refused *client.Error
		require.True(t, errors.As(err, &refused), "%v", err)
		assert.JSONEq(t, example(t, "error"), refused.Message)
	})
	t.Run("label", func(t *testing.T) {
		socket, err := c.OpenSocket(ctx, user, client.FormatProtobuf)
		require.NoError(t, err)
		defer func() { _ = socket.Close() }()
		made, err := c.CreateMatch(ctx, user, client.CreateMatch{})
		require.NoError(t, err)
		_, err = socket.Join(ctx, made.MatchID, client.JoinOptions{})
		require.NoError(t, err)
		assert.Eventually(t, func() bool {
			label, ok := openLabel(ctx, t, c, user, made.MatchID)
			return ok && assert.ObjectsAreEqual(parse(t, example(t, "label")), parse(t, label))
		}, 10*time.Second, 100*time.Millisecond, "no listed table has the label of the document")
	})
}

// openLabel lists open tables with the document's query and returns the label of one of them.
func openLabel(ctx context.Context, t *testing.T, c *client.Client, user *client.User, matchID string) (string, bool) {
	t.Helper()
	address := c.URL() + "/v2/match?authoritative=true&limit=100&query=" + url.QueryEscape("+label.open:T")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+user.Token())
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var listing struct {
		Matches []struct {
			MatchID string `json:"match_id"`
			Label   string `json:"label"`
		} `json:"matches"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&listing))
	for _, match := range listing.Matches {
		if match.MatchID == matchID {
			return match.Label, true
		}
	}
	return "", false
}

// example returns the fenced block "json NAME" of the document.
func example(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(docPath)
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```json " + regexp.QuoteMeta(name) + "\n(.*?)\n```").FindSubmatch(raw)
	require.NotNil(t, block, "%s has no block %q", docPath, name)
	return string(block[1])
}

// drawn is an answer without what is drawn by chance.
func drawn(answer map[string]any) map[string]any {
	for _, field := range []string{"match_id", "table_id", "code"} {
		answer[field] = answer[field] != ""
	}
	return answer
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &object), text)
	return object
}

// serve starts the development host on a free port and returns its URL.
func serve(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "set3d")
	out, err := exec.Command("go", "build", "-o", program, "set3d/cmd/set3d").CombinedOutput()
	require.NoError(t, err, string(out))
	host := exec.Command(program, "serve", "--addr", "127.0.0.1:0", "--grace", "0")
	stdout, err := host.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	t.Cleanup(func() {
		_ = host.Process.Kill()
		_ = host.Wait()
	})
	lines := bufio.NewReader(stdout)
	for listening := regexp.MustCompile(`http://127\.0\.0\.1:\d+`); ; {
		line, err := lines.ReadString('\n')
		require.NoError(t, err, "the host says nothing of where it listens")
		if address := listening.FindString(line); address != "" {
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return address
		}
	}
}
