package client

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNewChecksTheURL(t *testing.T) {
	for _, bad := range []string{"", "127.0.0.1:7350", "ftp://host", "http://", "http://a b/"} {
		_, err := New(Config{URL: bad})
		require.Error(t, err, bad)
	}
	c, err := New(Config{URL: "https://example.org/api/"})
	require.NoError(t, err)
	require.Equal(t, "https://example.org/api", c.URL())
}

func TestAuthenticateDevice(t *testing.T) {
	server := newFakeServer(t)
	user, err := server.client().AuthenticateDevice(t.Context(), "device id", "Ada L")
	require.NoError(t, err)
	require.Equal(t, "user-1", user.ID)
	require.Equal(t, "Ada", user.Username)
	require.WithinDuration(t, time.Now().Add(time.Hour), user.Expires(), 5*time.Second)
	require.Equal(t, []string{`POST /v2/account/authenticate/device?create=true&username=Ada+L Basic YSBrZXk6 {"id":"device id"}`}, server.requests)
}

func TestRPC(t *testing.T) {
	server := newFakeServer(t)
	server.rpc = func(payload string) (int, string) {
		require.Equal(t, `{"a":1}`, payload)
		return http.StatusOK, `{"id":"some","payload":"{\"b\":2}"}`
	}
	user := server.user()
	answer, err := server.client().RPC(t.Context(), user, "some", `{"a":1}`)
	require.NoError(t, err)
	require.Equal(t, `{"b":2}`, answer)
	require.Contains(t, server.requests[1], "POST /v2/rpc/some Bearer "+user.Token())
}

func TestAnOldTokenIsRefreshed(t *testing.T) {
	server := newFakeServer(t)
	server.life = 10 * time.Second
	server.rpc = func(string) (int, string) { return http.StatusOK, `{"payload":"{}"}` }
	user := server.user()
	old := user.Token()
	server.life = time.Hour
	_, err := server.client().Hello(t.Context(), user)
	require.NoError(t, err)
	require.NotEqual(t, old, user.Token())
	require.Len(t, server.requests, 3)
	require.Contains(t, server.requests[1], `/v2/account/session/refresh Basic YSBrZXk6 {"token":"refresh-1"}`)
	_, err = server.client().Hello(t.Context(), user)
	require.NoError(t, err)
	require.Len(t, server.requests, 4, "a fresh token is used again")
}

func TestCreateMatchOverHTTP(t *testing.T) {
	server := newFakeServer(t)
	server.rpc = func(payload string) (int, string) {
		require.JSONEq(t, `{"seats":2,"seed":-5,"preset":"fast","rules":{"valid_anim_ms":1},"request_id":"mine"}`, payload)
		return http.StatusOK, `{"payload":"{\"match_id\":\"m.node\",\"table_id\":\"T\",\"preset\":\"fast\",\"seats\":2,\"new\":true}"}`
	}
	made, err := server.client().CreateMatch(t.Context(), server.user(), CreateMatch{
		Seats: 2, Seed: -5, Preset: "fast", Rules: map[string]any{"valid_anim_ms": 1}, RequestID: "mine",
	})
	require.NoError(t, err)
	require.Equal(t, "m.node", made.MatchID)
	require.Equal(t, "T", made.TableID)
}

func TestErrorsAreTyped(t *testing.T) {
	server := newFakeServer(t)
	user := server.user()
	for _, test := range []struct {
		status             int
		body, reason, text string
		code               int
	}{
		{400, `{"code":3,"error":{},"message":"{\"reason\":\"OUT_OF_RANGE\",\"args\":{\"field\":\"seats\",\"allowed\":\"1 to 8\"}}"}`,
			"OUT_OF_RANGE", "the server refused: OUT_OF_RANGE allowed=1 to 8 field=seats", 3},
		{404, `{"code":5,"message":"RPC function not found"}`, "", "the server refused: RPC function not found (code 5)", 5},
		{502, `<html>bad gateway</html>`, "", "the server refused: HTTP status 502 (code 502)", 502},
	} {
		server.rpc = func(string) (int, string) { return test.status, test.body }
		_, err := server.client().Hello(t.Context(), user)
		var refused *Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, test.reason, ReasonOf(err))
		require.Equal(t, test.code, refused.Code)
		require.Equal(t, test.status == 502, refused.Foreign)
		require.Equal(t, "hello: "+test.text, err.Error())
	}
	require.Empty(t, ReasonOf(errors.New("something else")))
}

func TestUnreadableAnswers(t *testing.T) {
	server := newFakeServer(t)
	user := server.user()
	for _, body := range []string{`no json`, `{"payload":"no json"}`, ``} {
		server.rpc = func(string) (int, string) { return http.StatusOK, body }
		_, err := server.client().Hello(t.Context(), user)
		require.ErrorIs(t, err, ErrUnreadable, body)
	}
	for _, token := range []string{"", "a.b", "a.!.c", "a.YWJj.c"} {
		_, err := readToken(token)
		require.ErrorIs(t, err, ErrUnreadable, token)
	}
}

func TestNobodyThere(t *testing.T) {
	server := newFakeServer(t)
	user := server.user()
	server.Close()
	_, err := server.client().AuthenticateDevice(t.Context(), "device id", "")
	require.ErrorIs(t, err, ErrNoRoute)
	_, err = server.client().OpenSocket(t.Context(), user, FormatJSON)
	require.ErrorIs(t, err, ErrNoRoute)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = server.client().Hello(ctx, user)
	require.ErrorIs(t, err, context.Canceled)
}

func TestHelloSpeaks(t *testing.T) {
	require.True(t, Hello{ProtocolVersions: []int{1, 2}}.Speaks(2))
	require.False(t, Hello{ProtocolVersions: []int{2}}.Speaks(ProtocolVersion))
	require.Len(t, RandomID(), 32)
	require.NotEqual(t, RandomID(), RandomID())
}

func TestFormats(t *testing.T) {
	for _, f := range []Format{FormatProtobuf, FormatJSON} {
		parsed, err := ParseFormat(f.String())
		require.NoError(t, err)
		require.Equal(t, f, parsed)
	}
	_, err := ParseFormat("xml")
	require.Error(t, err)
	require.Equal(t, "Format(0)", Format(0).String())
}
