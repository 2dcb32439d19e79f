package local

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"github.com/stretchr/testify/require"
)

// patience bounds every wait of these tests. It only runs out when something is broken.
const patience = 20 * time.Second

// host is a started server with the module of one test.
type host struct {
	*testing.T
	srv *Server // nil if the host is another process
	url string
}

// start runs a server whose module is register, if it is not nil, and other modules.
func start(t *testing.T, cfg Config, register func(runtime.Initializer) error, module ...InitModule) *host {
	t.Helper()
	h := &host{T: t}
	cfg.Addr = "127.0.0.1:0"
	if cfg.Logger == nil {
		cfg.Logger = NewLogger(io.Discard, slog.LevelError)
		if testing.Verbose() {
			cfg.Logger = NewLogger(os.Stderr, slog.LevelWarn)
		}
	}
	srv, err := New(cfg, func(ctx context.Context, l runtime.Logger, db *sql.DB, nk runtime.NakamaModule, i runtime.Initializer) error {
		for _, init := range module {
			if err := init(ctx, l, db, nk, i); err != nil {
				return err
			}
		}
		if register == nil {
			return nil
		}
		return register(i)
	})
	require.NoError(t, err)
	h.srv = srv
	require.NoError(t, srv.Start())
	h.url = srv.URL()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // tests that want the grace period call Shutdown themselves
		require.NoError(t, srv.Shutdown(ctx))
	})
	return h
}

// account is a logged in user.
type account struct {
	h       *host
	token   string
	refresh string
	id      string
}

// login authenticates a device made of the name.
func (h *host) login(name string) account {
	h.Helper()
	status, body := h.do("POST", "/v2/account/authenticate/device?username="+name, "Basic ZGVmYXVsdGtleTo=", `{"id":"device-of-`+name+`"}`)
	require.Equal(h, 200, status, body)
	var s struct {
		Token   string `json:"token"`
		Refresh string `json:"refresh_token"`
	}
	require.NoError(h, json.Unmarshal([]byte(body), &s))
	c := &claims{}
	_, _, err := jwt.NewParser().ParseUnverified(s.Token, c)
	require.NoError(h, err)
	return account{h: h, token: s.Token, refresh: s.Refresh, id: c.UserID}
}

// do makes one HTTP request.
func (h *host) do(method, path, auth, body string) (int, string) {
	h.Helper()
	req, err := http.NewRequest(method, h.url+path, strings.NewReader(body))
	require.NoError(h, err)
	if auth != "" {
		req.Header.Set("Authorization", auth)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(h, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(h, err)
	return res.StatusCode, string(bytes.TrimSpace(b))
}

func (a account) do(method, path, body string) (int, string) {
	a.h.Helper()
	return a.h.do(method, path, "Bearer "+a.token, body)
}

// client is one raw socket. Frames are collected as they come; waiting for one removes it and leaves the others.
type client struct {
	t      *testing.T
	conn   *websocket.Conn
	format format

	mu     sync.Mutex
	cond   *sync.Cond
	frames []*rtapi.Envelope
	err    error
	write  sync.Mutex
}

var bothFormats = map[string]format{"json": formatJSON, "protobuf": formatProtobuf}

func (a account) dial(f format) *client {
	a.h.Helper()
	c := a.dialMute(f)
	go c.read()
	return c
}

// dialMute opens a socket that nobody reads.
func (a account) dialMute(f format) *client {
	a.h.Helper()
	name := "json"
	if f == formatProtobuf {
		name = "protobuf"
	}
	url := "ws" + strings.TrimPrefix(a.h.url, "http") + "/ws?token=" + a.token + "&format=" + name + "&status=true"
	conn, _, err := websocket.DefaultDialer.Dial(url, nil)
	require.NoError(a.h, err)
	c := &client{t: a.h.T, conn: conn, format: f}
	c.cond = sync.NewCond(&c.mu)
	a.h.Cleanup(func() { conn.Close() })
	return c
}

func (c *client) read() {
	for {
		_, b, err := c.conn.ReadMessage()
		e := &rtapi.Envelope{}
		if err == nil {
			err = c.format.unmarshal(b, e)
		}
		c.mu.Lock()
		if err != nil {
			c.err = err
		} else {
			c.frames = append(c.frames, e)
		}
		c.cond.Broadcast()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *client) send(e *rtapi.Envelope) {
	c.t.Helper()
	b, err := c.format.marshal(e)
	require.NoError(c.t, err)
	c.sendRaw(b)
}

func (c *client) sendRaw(b []byte) {
	c.write.Lock()
	defer c.write.Unlock()
	kind := websocket.TextMessage
	if c.format == formatProtobuf {
		kind = websocket.BinaryMessage
	}
	_ = c.conn.WriteMessage(kind, b) // a dead socket shows when it is read
}

// await waits for the first frame that matches, and takes it.
func (c *client) await(what string, match func(*rtapi.Envelope) bool) *rtapi.Envelope {
	c.t.Helper()
	e, err := c.find(match)
	require.NoError(c.t, err, "waiting for %s", what)
	require.NotNil(c.t, e, "waiting for %s", what)
	return e
}

func (c *client) find(match func(*rtapi.Envelope) bool) (*rtapi.Envelope, error) {
	deadline := time.Now().Add(patience)
	timer := time.AfterFunc(patience, func() { c.mu.Lock(); c.cond.Broadcast(); c.mu.Unlock() })
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for i, e := range c.frames {
			if match(e) {
				c.frames = append(c.frames[:i:i], c.frames[i+1:]...)
				return e, nil
			}
		}
		if c.err != nil || time.Now().After(deadline) {
			return nil, c.err
		}
		c.cond.Wait()
	}
}

// awaitClosed waits until the server has closed the socket.
func (c *client) awaitClosed() {
	c.t.Helper()
	_, err := c.find(func(*rtapi.Envelope) bool { return false })
	require.Error(c.t, err, "the socket should have been closed")
}

func (c *client) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil
}

// ping proves that the session still processes messages, in order.
func (c *client) ping() {
	c.t.Helper()
	c.send(&rtapi.Envelope{Cid: "ping", Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}})
	c.await("pong", func(e *rtapi.Envelope) bool { return e.GetPong() != nil && e.Cid == "ping" })
}

// has reports whether a frame is there already.
func (c *client) has(match func(*rtapi.Envelope) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.frames {
		if match(e) {
			return true
		}
	}
	return false
}

func (c *client) request(e *rtapi.Envelope) *rtapi.Envelope {
	c.t.Helper()
	e.Cid = "c-" + time.Now().Format("150405.000000000")
	c.send(e)
	return c.await("reply", func(r *rtapi.Envelope) bool { return r.Cid == e.Cid })
}

func joinEnvelope(id string, metadata map[string]string) *rtapi.Envelope {
	return &rtapi.Envelope{Message: &rtapi.Envelope_MatchJoin{MatchJoin: &rtapi.MatchJoin{
		Id: &rtapi.MatchJoin_MatchId{MatchId: id}, Metadata: metadata,
	}}}
}

func (c *client) join(id string) *rtapi.Match {
	c.t.Helper()
	r := c.request(joinEnvelope(id, nil))
	require.NotNil(c.t, r.GetMatch(), "%v", r)
	return r.GetMatch()
}

func dataEnvelope(id string, op int64, data string) *rtapi.Envelope {
	return &rtapi.Envelope{Message: &rtapi.Envelope_MatchDataSend{MatchDataSend: &rtapi.MatchDataSend{
		MatchId: id, OpCode: op, Data: []byte(data),
	}}}
}

func (c *client) awaitData(op int64) *rtapi.MatchData {
	c.t.Helper()
	return c.await("match data", isData(op)).GetMatchData()
}

func isData(op int64) func(*rtapi.Envelope) bool {
	return func(e *rtapi.Envelope) bool { return e.GetMatchData() != nil && e.GetMatchData().OpCode == op }
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	require.Eventually(t, cond, patience, 2*time.Millisecond, what)
}
