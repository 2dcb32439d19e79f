package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/stretchr/testify/require"
)

// fakeServer is the part of Nakama's API that the client uses, with the answers that a test wants.
type fakeServer struct {
	*httptest.Server
	t        testing.TB
	upgrader websocket.Upgrader

	mu       sync.Mutex
	requests []string      // "METHOD PATH AUTHORIZATION BODY"
	life     time.Duration // of a session token
	rpc      func(payload string) (int, string)
	// envelope answers what comes over a socket.
	envelope func(s *fakeSocket, e *rtapi.Envelope)
	sockets  []*fakeSocket
}

// fakeSocket is the server's end of a socket.
type fakeSocket struct {
	conn    *websocket.Conn
	writing sync.Mutex // tests write from their own goroutine too
	format  Format
	query   map[string][]string
}

func newFakeServer(t testing.TB) *fakeServer {
	f := &fakeServer{t: t, life: time.Hour, envelope: func(*fakeSocket, *rtapi.Envelope) {}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeServer) client() *Client {
	c, err := New(Config{URL: f.URL, ServerKey: "a key"})
	require.NoError(f.t, err)
	return c
}

func (f *fakeServer) user() *User {
	user, err := f.client().AuthenticateDevice(f.t.Context(), "a device of mine", "")
	require.NoError(f.t, err)
	return user
}

func (f *fakeServer) socket(format Format) *Socket {
	s, err := f.client().OpenSocket(f.t.Context(), f.user(), format)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (f *fakeServer) token(n int) string {
	claims := fmt.Sprintf(`{"uid":"user-1","usn":"Ada","exp":%d,"n":%d}`, time.Now().Add(f.life).Unix(), n)
	return "head." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".signature"
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/ws" {
		f.serveSocket(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), body))
	status, answer := http.StatusOK, ""
	switch {
	case strings.HasPrefix(r.URL.Path, "/v2/account/"):
		answer = fmt.Sprintf(`{"token":%q,"refresh_token":"refresh-%d"}`, f.token(len(f.requests)), len(f.requests))
	case strings.HasPrefix(r.URL.Path, "/v2/rpc/"):
		var payload string
		if err := json.Unmarshal(body, &payload); err != nil {
			f.t.Errorf("an RPC's body is a JSON string, not %s", body)
		}
		status, answer = f.rpc(payload)
	default:
		status, answer = http.StatusNotFound, "no such page"
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

func (f *fakeServer) serveSocket(w http.ResponseWriter, r *http.Request) {
	format, err := ParseFormat(r.URL.Query().Get("format"))
	if err != nil || r.URL.Query().Get("token") == "" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	conn, err := f.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	s := &fakeSocket{conn: conn, format: format, query: r.URL.Query()}
	f.mu.Lock()
	f.sockets = append(f.sockets, s)
	f.mu.Unlock()
	defer func() { _ = conn.Close() }()
	for {
		kind, raw, err := conn.ReadMessage()
		if err != nil {
			return
		}
		if kind != format.frameType() {
			f.t.Errorf("frame type %d in format %v", kind, format)
		}
		envelope := &rtapi.Envelope{}
		if err := format.unmarshal(raw, envelope); err != nil {
			f.t.Errorf("unreadable envelope: %v", err)
			return
		}
		f.envelope(s, envelope)
	}
}

func (s *fakeSocket) send(envelope *rtapi.Envelope) {
	raw, err := s.format.marshal(envelope)
	if err != nil {
		panic(err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.WriteMessage(s.format.frameType(), raw)
}

func (s *fakeSocket) data(matchID string, frame Frame) {
	s.send(&rtapi.Envelope{Message: &rtapi.Envelope_MatchData{MatchData: &rtapi.MatchData{MatchId: matchID, OpCode: frame.Op, Data: frame.Data}}})
}

func (s *fakeSocket) joined(cid, matchID string) {
	s.send(&rtapi.Envelope{Cid: cid, Message: &rtapi.Envelope_Match{Match: &rtapi.Match{MatchId: matchID}}})
}

func (s *fakeSocket) refuse(cid string, code int32, message string) {
	s.send(&rtapi.Envelope{Cid: cid, Message: &rtapi.Envelope_Error{Error: &rtapi.Error{Code: code, Message: message}}})
}

func (s *fakeSocket) answerRPC(cid, payload string) {
	s.send(&rtapi.Envelope{Cid: cid, Message: &rtapi.Envelope_Rpc{Rpc: &api.Rpc{Payload: payload}}})
}
