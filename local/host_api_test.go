package local

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/gorilla/websocket"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func TestWhatIsNotHosted(t *testing.T) {
	h := start(t, Config{}, nil)
	for _, path := range []string{"/v2/group", "/v2/tournament", "/v2/account/authenticate/steam", "/nothing"} {
		status, body := h.do("GET", path, "", "")
		require.Equal(t, 501, status)
		require.JSONEq(t, `{"code":12,"message":"not in the local host"}`, body)
	}
	c := h.login("ann").dial(formatJSON)
	r := c.request(&rtapi.Envelope{Message: &rtapi.Envelope_PartyCreate{PartyCreate: &rtapi.PartyCreate{MaxSize: 2}}})
	require.Equal(t, "not in the local host", r.GetError().GetMessage())
	c.ping()
}

func TestCrossOrigin(t *testing.T) {
	h := start(t, Config{}, nil)
	req, err := http.NewRequest("OPTIONS", h.url+"/v2/account", nil)
	require.NoError(t, err)
	req.Header.Set("Origin", "http://game.example")
	req.Header.Set("Access-Control-Request-Method", "PUT")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	res.Body.Close()
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, res.Header.Get("Access-Control-Allow-Methods"), "PUT")
	require.Contains(t, res.Header.Get("Access-Control-Allow-Headers"), "Authorization")
}

func TestStateFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state.json")
	h := start(t, Config{StateFile: file}, nil)
	a, b := h.login("ann"), h.login("bob")
	status, _ := a.do("PUT", "/v2/storage", `{"objects":[{"collection":"c","key":"k","value":"{\"n\":1}"}]}`)
	require.Equal(t, 200, status)
	status, _ = a.do("POST", "/v2/friend?ids="+b.id, "")
	require.Equal(t, 200, status)
	ctx := context.Background()
	require.NoError(t, h.srv.nk.LeaderboardCreate(ctx, "b", true, "desc", "best", "", nil, true))
	_, err := h.srv.nk.LeaderboardRecordWrite(ctx, "b", a.id, "ann", 5, 0, nil, nil)
	require.NoError(t, err)
	require.NoError(t, h.srv.Shutdown(ctx))

	h = start(t, Config{StateFile: file}, nil)
	again := h.login("ann")
	require.Equal(t, a.id, again.id)
	_, body := again.do("POST", "/v2/storage", `{"object_ids":[{"collection":"c","key":"k","user_id":"`+a.id+`"}]}`)
	require.Contains(t, body, `{\"n\": 1}`)
	_, body = again.do("GET", "/v2/leaderboard/b", "")
	require.Contains(t, body, `"score":"5"`)
	friends, _, err := h.srv.nk.FriendsList(ctx, a.id, 10, nil, "")
	require.NoError(t, err)
	require.Len(t, friends, 1)

	require.NoError(t, h.srv.Shutdown(ctx))
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o644))
	_, err = New(Config{StateFile: file}, func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, runtime.Initializer) error {
		return nil
	})
	require.ErrorContains(t, err, "is damaged")

	file = filepath.Join(t.TempDir(), "none", "state.json")
	_, err = New(Config{StateFile: file}, nil)
	require.EqualError(t, err, "the state file "+file+" cannot be written: no such file or directory")

	dir := filepath.Join(t.TempDir(), "taken away")
	require.NoError(t, os.Mkdir(dir, 0o755))
	h = start(t, Config{StateFile: filepath.Join(dir, "state.json")}, nil)
	h.login("ann")
	require.NoError(t, os.RemoveAll(dir))
	require.ErrorContains(t, h.srv.Shutdown(ctx), "cannot be written")
}

func TestListingIsLate(t *testing.T) {
	s := &scripted{label: `{"open":1}`, signal: func(c callback, label string) (any, string) {
		return c.state, fmt.Sprint(c.d.MatchLabelUpdate(label))
	}}
	h := start(t, Config{Timing: Timing{LabelInterval: time.Hour}}, s.register)
	id := h.match(nil)
	list := func(query string) []*api.Match {
		found, err := h.srv.nk.MatchList(context.Background(), 10, true, "", nil, nil, query)
		require.NoError(t, err)
		return found
	}
	time.Sleep(20 * time.Millisecond) // an index that was not late would know it by now
	require.Empty(t, list("*"))
	h.srv.matches.index.flush()
	require.Len(t, list("+label.open:1"), 1)
	result, err := h.signal(id, `{"open":0}`)
	require.NoError(t, err)
	require.Equal(t, "<nil>", result)
	m, err := h.srv.nk.MatchGet(context.Background(), id)
	require.NoError(t, err)
	require.Equal(t, `{"open":0}`, m.Label.Value)
	require.Equal(t, `{"open":1}`, list("+label.open:1")[0].Label.Value, "the listing shows the old label")
	h.srv.matches.index.flush()
	require.Empty(t, list("+label.open:1"))
	h.srv.matches.all()[0].stop()
	require.Empty(t, list("*"), "an ended match is never listed")
}

func TestBanAndDelete(t *testing.T) {
	s := &scripted{}
	var deleted []string
	h := start(t, Config{}, func(i runtime.Initializer) error {
		refuse := func(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule) error {
			if ctx.Value(runtime.RUNTIME_CTX_USERNAME) == "eve" {
				return runtime.NewError("not while you play", 9)
			}
			return nil
		}
		after := func(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule) error {
			deleted = append(deleted, ctx.Value(runtime.RUNTIME_CTX_USERNAME).(string))
			return nil
		}
		return errors.Join(s.register(i), i.RegisterBeforeDeleteAccount(refuse), i.RegisterAfterDeleteAccount(after))
	})
	id := h.match(nil)
	ann, bob, eve := h.login("ann"), h.login("bob"), h.login("eve")
	c := ann.dial(formatJSON)
	c.join(id)
	h.await(s, "join", 1)
	require.NoError(t, h.srv.nk.UsersBanId(context.Background(), []string{ann.id}))
	c.awaitClosed()
	h.await(s, "leave", 1)
	status, body := h.do("POST", "/v2/account/authenticate/device", basic("defaultkey"), `{"id":"device-of-ann"}`)
	require.Equal(t, 403, status)
	require.Contains(t, body, "User account banned.")

	cb := bob.dial(formatJSON)
	cb.ping()
	status, _ = bob.do("DELETE", "/v2/account", "")
	require.Equal(t, 200, status)
	cb.awaitClosed()
	status, body = eve.do("DELETE", "/v2/account", "")
	require.Equal(t, 400, status)
	require.JSONEq(t, `{"code":9,"message":"not while you play"}`, body)
	require.Equal(t, []string{"bob"}, deleted)
	_, err := h.srv.nk.StorageWrite(context.Background(), []*runtime.StorageWrite{{Collection: "c", Key: "k", UserID: bob.id, Value: "{}"}})
	require.ErrorContains(t, err, "storage_user_id_fkey")
}

// TestTokensOfADeletedAccount: those of the second of the deletion stay good, as in Nakama, so these are a minute old.
func TestTokensOfADeletedAccount(t *testing.T) {
	t.Parallel()
	h := start(t, Config{}, func(i runtime.Initializer) error {
		return i.RegisterRpc("any", func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, string) (string, error) {
			return "", nil
		})
	})
	ann, tokens := h.login("ann"), h.srv.tokens
	old := func(key string, life time.Duration) string {
		token, _ := tokens.sign(key, "an-id", ann.id, "ann", nil, time.Now().Add(life-time.Minute).Unix())
		return token
	}
	ann.token, ann.refresh = old(tokens.cfg.EncryptionKey, tokens.cfg.Timing.Token), old(tokens.cfg.RefreshKey, tokens.cfg.Timing.RefreshToken)
	try := func() (rpc, account, socket, refresh int) {
		rpc, _ = ann.do("POST", "/v2/rpc/any?unwrap", "")
		account, _ = ann.do("GET", "/v2/account", "")
		refresh, _ = h.do("POST", "/v2/account/session/refresh", basic("defaultkey"), `{"token":"`+ann.refresh+`"}`)
		conn, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.url, "http")+"/ws?token="+ann.token, nil)
		require.NotNil(t, res, err)
		defer func() { _ = res.Body.Close() }()
		if err == nil {
			_ = conn.Close()
		}
		return rpc, account, res.StatusCode, refresh
	}
	rpc, account, socket, refresh := try()
	require.Equal(t, []int{200, 200, 101, 200}, []int{rpc, account, socket, refresh})
	status, body := ann.do("DELETE", "/v2/account", "")
	require.Equal(t, 200, status, body)
	rpc, account, socket, refresh = try()
	require.Equal(t, []int{401, 401, 401, 401}, []int{rpc, account, socket, refresh})
}

func TestSilentClientIsCutOff(t *testing.T) {
	t.Parallel()
	h := start(t, Config{Timing: Timing{Ping: 50 * time.Millisecond, PongWait: 200 * time.Millisecond, CloseWait: time.Millisecond}}, nil)
	answering := h.login("ann").dial(formatJSON) // the reader answers websocket pings
	mute := h.login("bob").dialMute(formatJSON)
	eventually(t, "both sessions", func() bool { return len(h.srv.sessions.all()) == 2 })
	eventually(t, "the silent socket to end", func() bool { return len(h.srv.sessions.all()) == 1 })
	answering.ping()
	_ = mute.conn.SetReadDeadline(time.Now().Add(patience))
	for {
		if _, _, err := mute.conn.ReadMessage(); err != nil {
			break
		}
	}
}

func TestStorageFaults(t *testing.T) {
	broken := errors.New("connection refused")
	fail := ""
	h := start(t, Config{Faults: &Faults{Storage: func(_ context.Context, op string) error {
		if op == fail {
			return broken
		}
		return nil
	}}}, nil)
	ctx := context.Background()
	fail = "write"
	_, err := h.srv.nk.StorageWrite(ctx, []*runtime.StorageWrite{{Collection: "c", Key: "k", Value: "{}"}})
	require.ErrorIs(t, err, broken)
	fail = "read"
	_, err = h.srv.nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: "c", Key: "k"}})
	require.ErrorIs(t, err, broken)
	fail = ""
	found, err := h.srv.nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: "c", Key: "k"}})
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestStorageWriteRetry(t *testing.T) {
	h := start(t, Config{}, nil)
	ctx := context.Background()
	reads := []*runtime.StorageRead{{Collection: "c", Key: "k"}}
	tries := 0
	_, err := h.srv.nk.StorageWriteRetry(ctx, reads, func([]*api.StorageObject) ([]*runtime.StorageWrite, error) {
		if tries++; tries == 1 { // somebody else is quicker
			_, err := h.srv.nk.StorageWrite(ctx, []*runtime.StorageWrite{{Collection: "c", Key: "k", Value: `{"n":1}`}})
			return []*runtime.StorageWrite{{Collection: "c", Key: "k", Value: `{"n":2}`, Version: "*"}}, err
		}
		return []*runtime.StorageWrite{{Collection: "c", Key: "k", Value: `{"n":3}`}}, nil
	}, 3)
	require.NoError(t, err)
	require.Equal(t, 2, tries)
	_, err = h.srv.nk.StorageWriteRetry(ctx, reads, func([]*api.StorageObject) ([]*runtime.StorageWrite, error) {
		return []*runtime.StorageWrite{{Collection: "c", Key: "k", Value: `{}`, Version: "*"}}, nil
	}, 1)
	require.ErrorIs(t, err, runtime.ErrStorageWriteExhaustedRetries)
}

func TestMetricsShowAtOnce(t *testing.T) {
	h := start(t, Config{}, nil)
	h.srv.nk.MetricsCounterAdd("claims", map[string]string{"b": "2", "a": "1"}, 3)
	h.srv.nk.MetricsCounterAdd("claims", map[string]string{"a": "1", "b": "2"}, 2)
	h.srv.nk.MetricsCounterAdd("claims", nil, -1)
	h.srv.nk.MetricsGaugeSet("open", nil, 1.5)
	h.srv.nk.MetricsTimerRecord("loop", map[string]string{"m": "x"}, 250*time.Millisecond)
	_, body := h.do("GET", "/metrics", "", "")
	require.Equal(t, strings.Join([]string{
		`nakama_custom_claims{a="1",b="2"} 5`, `nakama_custom_open 1.5`, `nakama_custom_loop_count{m="x"} 1`, `nakama_custom_loop_sum{m="x"} 0.25`,
	}, "\n"), body)
}

func TestConfigView(t *testing.T) {
	var cfg runtime.Config
	start(t, Config{Name: "n1", GraceSeconds: 7, Env: map[string]string{"A": "1"}}, func(i runtime.Initializer) (err error) {
		cfg, err = i.GetConfig()
		return err
	})
	require.Equal(t, "n1", cfg.GetName())
	require.Equal(t, 7, cfg.GetShutdownGraceSec())
	require.Equal(t, []string{"A=1"}, cfg.GetRuntime().GetEnv())
	require.Equal(t, "defaultkey", cfg.GetSocket().GetServerKey())
	require.Empty(t, cfg.GetSatori().GetUrl())
	require.Empty(t, cfg.GetSocial().GetApple().GetBundleId())
}

// leftover returns the session of a ticket that is still there.
func (m *matchmaker) leftover() uuid.UUID {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.tickets {
		return t.entry.Presence.SessionID
	}
	return uuid.Nil
}

func TestMatchmakerCounts(t *testing.T) {
	t.Parallel()
	sizes := make(chan int, 10)
	h := start(t, Config{Timing: Timing{MatchmakerInterval: time.Hour, MatchmakerPasses: 2}}, func(i runtime.Initializer) error {
		return i.RegisterMatchmakerMatched(func(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, entries []runtime.MatchmakerEntry) (string, error) {
			sizes <- len(entries)
			return "", nil
		})
	})
	add := func(n, least, most, multiple int) {
		for i := range n {
			c := h.login(fmt.Sprintf("p%d-%d-%d-%d", i, least, most, multiple)).dial(formatJSON)
			r := c.request(addEnvelope(&rtapi.MatchmakerAdd{MinCount: int32(least), MaxCount: int32(most), CountMultiple: wrapperspb.Int32(int32(multiple))}))
			require.NotNil(t, r.GetMatchmakerTicket(), "%v", r)
		}
	}
	pass := func() { h.srv.matchmaker.pass(context.Background()) }
	add(3, 2, 4, 1)
	pass()
	require.Empty(t, sizes, "the first pass wants the maximum")
	pass()
	require.Equal(t, 3, <-sizes, "the last takes what there is")
	add(4, 2, 4, 1)
	pass()
	require.Equal(t, 4, <-sizes)
	add(5, 2, 8, 2)
	pass()
	pass()
	require.Equal(t, 4, <-sizes, "the multiple rules")
	require.Empty(t, sizes)
	h.srv.matchmaker.removeSession(h.srv.matchmaker.leftover())
	add(2, 2, 4, 1)
	add(1, 2, 4, 2)
	pass()
	pass()
	require.Equal(t, 2, <-sizes, "and everybody's does")
	eventually(t, "tickets of closed sockets to go", func() bool {
		for _, s := range h.srv.sessions.all() {
			s.close("", runtime.PresenceReasonDisconnect)
		}
		h.srv.matchmaker.mu.Lock()
		defer h.srv.matchmaker.mu.Unlock()
		return len(h.srv.matchmaker.tickets) == 0
	})
}

func TestNotificationAndStreams(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	ann := h.login("ann")
	c := ann.dial(formatProtobuf)
	c.join(id)
	ctx := context.Background()
	require.NoError(t, h.srv.nk.NotificationSend(ctx, ann.id, "hello", map[string]any{"k": 1}, 5, "", true))
	n := c.await("notification", func(e *rtapi.Envelope) bool { return e.GetNotifications() != nil }).GetNotifications().Notifications[0]
	require.Equal(t, `{"k":1}`, n.Content)
	require.Equal(t, int32(5), n.Code)

	subject := strings.TrimSuffix(id, ".local")
	present, err := h.srv.nk.StreamUserList(modeMatchAuthoritative, subject, "", "local", true, true)
	require.NoError(t, err)
	require.Len(t, present, 1)
	require.Equal(t, "ann", present[0].GetUsername())
	count, err := h.srv.nk.StreamCount(modeMatchAuthoritative, subject, "", "local")
	require.NoError(t, err)
	require.Equal(t, 1, count)
	require.NoError(t, h.srv.nk.StreamSend(modeMatchAuthoritative, subject, "", "local", "to all", nil, true))
	d := c.await("stream data", func(e *rtapi.Envelope) bool { return e.GetStreamData() != nil }).GetStreamData()
	require.Equal(t, "to all", d.Data)
	require.Equal(t, subject, d.Stream.Subject)
}

func TestTokenClaims(t *testing.T) {
	h := start(t, Config{}, nil)
	_, body := h.do("POST", "/v2/account/authenticate/custom?username=cus", basic("defaultkey"), `{"id":"custom-1","vars":{"k":"v"}}`)
	var s struct{ Token string }
	require.NoError(t, json.Unmarshal([]byte(body), &s))
	payload := strings.Split(s.Token, ".")[1]
	decoded, err := base64.RawURLEncoding.DecodeString(payload)
	require.NoError(t, err)
	var raw map[string]any
	require.NoError(t, json.Unmarshal(decoded, &raw))
	for _, claim := range []string{"tid", "uid", "usn", "vrs", "exp", "iat"} {
		require.Contains(t, raw, claim)
	}
	require.Equal(t, map[string]any{"k": "v"}, raw["vrs"])
	minted, exp, err := h.srv.nk.AuthenticateTokenGenerate(raw["uid"].(string), "cus", time.Now().Add(time.Hour*3).Unix(), nil)
	require.NoError(t, err)
	require.Greater(t, exp, time.Now().Unix())
	_, res, err := websocket.DefaultDialer.Dial("ws://"+h.srv.Addr()+"/ws", http.Header{"Authorization": {"Bearer " + minted}})
	require.NoError(t, err)
	require.Equal(t, 101, res.StatusCode)
}
