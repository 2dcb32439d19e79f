package local

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"github.com/stretchr/testify/require"
)

type dataHook func(ctx context.Context, nk runtime.NakamaModule, in *rtapi.Envelope) (*rtapi.Envelope, error)

func (s *scripted) withDataHook(hook dataHook) func(runtime.Initializer) error {
	return func(i runtime.Initializer) error {
		if err := i.RegisterBeforeRt("MatchDataSend", func(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, in *rtapi.Envelope) (*rtapi.Envelope, error) {
			return hook(ctx, nk, in)
		}); err != nil {
			return err
		}
		return s.register(i)
	}
}

func TestHookOutcomes(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.withDataHook(func(_ context.Context, _ runtime.NakamaModule, in *rtapi.Envelope) (*rtapi.Envelope, error) {
		switch msg := in.GetMatchDataSend(); msg.OpCode {
		case 1:
			return nil, runtime.NewError("code is discarded", 3)
		case 2:
			return nil, nil
		case 3:
			msg.OpCode, msg.Data = 30, []byte("changed")
		case 4:
			msg.MatchId = "00000000-0000-0000-0000-000000000000.x"
		}
		return in, nil
	}))
	id := h.match(nil)
	for name, f := range bothFormats {
		t.Run(name, func(t *testing.T) {
			c := h.login("ann").dial(f)
			c.join(id)
			e := dataEnvelope(id, 1, "")
			e.Cid = "77"
			c.send(e)
			r := c.await("error", func(e *rtapi.Envelope) bool { return e.GetError() != nil })
			require.Equal(t, int32(rtapi.Error_RUNTIME_FUNCTION_EXCEPTION), r.GetError().Code)
			require.Equal(t, "code is discarded", r.GetError().Message)
			require.Equal(t, "77", r.Cid)

			c.send(dataEnvelope(id, 3, "x"))
			require.Equal(t, "changed", string(c.awaitData(130).Data))

			c.send(dataEnvelope(id, 4, "x"))
			c.ping()
			require.False(t, c.has(func(e *rtapi.Envelope) bool { return e.GetError() != nil || e.GetMatchData() != nil }))

			c.send(dataEnvelope(id, 2, ""))
			c.awaitClosed() // an error frame with code 1 may come before, if the writer is quicker than the closing
		})
	}
}

func TestHookContextAndOrder(t *testing.T) {
	got := make(chan context.Context, 1)
	s := &scripted{}
	h := start(t, Config{}, s.withDataHook(func(ctx context.Context, nk runtime.NakamaModule, in *rtapi.Envelope) (*rtapi.Envelope, error) {
		got <- ctx
		// The fast lane: consume, signal the match, answer one session.
		answer, err := nk.MatchSignal(context.Background(), in.GetMatchDataSend().MatchId, string(in.GetMatchDataSend().Data))
		if err != nil {
			return nil, err
		}
		to := &Presence{Node: "local"}
		to.SessionID, _ = parseID(ctx.Value(runtime.RUNTIME_CTX_SESSION_ID).(string))
		err = nk.StreamSendRaw(modeMatchAuthoritative, "", "", "", &rtapi.Envelope{Message: &rtapi.Envelope_MatchData{
			MatchData: &rtapi.MatchData{MatchId: in.GetMatchDataSend().MatchId, OpCode: 150, Data: []byte(answer)},
		}}, []runtime.Presence{to}, true)
		return in, err
	}))
	id := h.match(nil)
	ann := h.login("ann")
	c, other := ann.dial(formatJSON), h.login("bob").dial(formatJSON)
	c.join(id)
	other.join(id)
	c.send(dataEnvelope(id, 1, "hi"))
	require.Equal(t, "echo:hi", string(c.awaitData(150).Data))
	other.ping()
	require.False(t, other.has(isData(150)))
	ctx := <-got
	require.Equal(t, ann.id, ctx.Value(runtime.RUNTIME_CTX_USER_ID))
	require.Equal(t, "ann", ctx.Value(runtime.RUNTIME_CTX_USERNAME))
	require.Equal(t, "before", ctx.Value(runtime.RUNTIME_CTX_MODE))
	require.Equal(t, "en", ctx.Value(runtime.RUNTIME_CTX_LANG))
	require.NotEmpty(t, ctx.Value(runtime.RUNTIME_CTX_SESSION_ID))
	require.NotEmpty(t, ctx.Value(runtime.RUNTIME_CTX_TRACE_ID))
	require.Nil(t, ctx.Value(runtime.RUNTIME_CTX_VARS))
}

// The step is chosen by the type before the hook: a changed type panics in the reading goroutine, which net/http
// recovers, and the session lives on unread.
func TestChangedTypeOrPanicLeavesZombie(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.withDataHook(func(_ context.Context, _ runtime.NakamaModule, in *rtapi.Envelope) (*rtapi.Envelope, error) {
		if in.GetMatchDataSend().OpCode == 1 {
			return &rtapi.Envelope{Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}}, nil
		}
		panic("in the hook")
	}))
	id := h.match(nil)
	for op := int64(1); op <= 2; op++ {
		c := h.login("ann").dial(formatJSON)
		c.join(id)
		h.await(s, "join", int(op))
		c.send(dataEnvelope(id, op, ""))
		c.send(&rtapi.Envelope{Cid: "x", Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}})
		m := h.srv.matches.all()[0]
		eventually(t, "a broadcast to the zombie", func() bool {
			_ = m.BroadcastMessage(199, nil, nil, nil, true)
			return c.has(isData(199))
		})
		require.False(t, c.has(func(e *rtapi.Envelope) bool { return e.GetPong() != nil }))
		require.Empty(t, s.all("leave"))
	}
}

func TestAfterHookRunsOnSuccessOnly(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	s := &scripted{attempt: func(c callback, _ runtime.Presence, md map[string]string) (any, bool, string) {
		return c.state, md["in"] == "yes", ""
	}}
	h := start(t, Config{}, func(i runtime.Initializer) error {
		return errors.Join(s.register(i), i.RegisterAfterRt("MatchJoin", func(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, out, _ *rtapi.Envelope) error {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, out.GetMatch().GetMatchId())
			return errors.New("ignored")
		}))
	})
	id := h.match(nil)
	c := h.login("ann").dial(formatJSON)
	require.NotNil(t, c.request(joinEnvelope(id, nil)).GetError())
	require.NotNil(t, c.request(joinEnvelope(id, map[string]string{"in": "yes"})).GetMatch())
	c.ping()
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{id}, seen)
}

func TestSessionEvents(t *testing.T) {
	events := make(chan *api.Event, 10)
	ctxs := make(chan context.Context, 10)
	on := func(ctx context.Context, _ runtime.Logger, e *api.Event) {
		if err := ctx.Err(); err != nil && e.Name == "session_end" {
			t.Errorf("the context of the end is over: %v", err)
		}
		ctxs <- ctx
		events <- e
	}
	h := start(t, Config{}, func(i runtime.Initializer) error {
		return errors.Join(i.RegisterEventSessionStart(on), i.RegisterEventSessionEnd(on))
	})
	ann := h.login("ann")
	c := ann.dial(formatJSON)
	require.Equal(t, "session_start", (<-events).Name)
	require.Equal(t, "event", (<-ctxs).Value(runtime.RUNTIME_CTX_MODE))
	c.ping()
	require.NoError(t, h.srv.nk.SessionDisconnect(context.Background(), h.srv.sessions.all()[0].id.String()))
	end := <-events
	require.Equal(t, "session_end", end.Name)
	require.Contains(t, []string{"server-side session disconnect", ""}, end.Properties["reason"]) // who notices first
	require.NotNil(t, (<-ctxs).Value(runtime.RUNTIME_CTX_SESSION_ID))
	c.awaitClosed()
}

func TestUnsupportedIsAnErrorWithAName(t *testing.T) {
	h := start(t, Config{}, func(i runtime.Initializer) error {
		require.EqualError(t, i.RegisterTournamentEnd(nil), "not in the local host: RegisterTournamentEnd")
		return i.RegisterHttp("/own", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("mine")) }, "GET")
	})
	_, err := h.srv.nk.GroupsGetId(context.Background(), nil)
	require.EqualError(t, err, "not in the local host: GroupsGetId")
	require.Nil(t, h.srv.nk.GetSatori())
	status, body := h.do("GET", "/own", "", "")
	require.Equal(t, 200, status)
	require.Equal(t, "mine", body)
}

func TestInitModuleFailure(t *testing.T) {
	_, err := New(Config{}, func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, runtime.Initializer) error {
		return errors.New("SET3D_X must be a number")
	})
	require.EqualError(t, err, "InitModule: SET3D_X must be a number")
}
