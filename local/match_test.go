package local

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"github.com/stretchr/testify/require"
)

func TestMatchCreateErrors(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.register)
	create := func(module string, params map[string]any) error {
		_, err := h.srv.nk.MatchCreate(context.Background(), module, params)
		return err
	}
	require.EqualError(t, create("", nil), "expects module name")
	require.EqualError(t, create("Echo", nil), "error creating match: not found")
	require.ErrorIs(t, create("echo", map[string]any{"own": struct{ A int }{1}}), runtime.ErrCannotEncodeParams)

	for want, init := range map[string]func(context.Context, map[string]any) (any, int, string){
		"error creating match: MatchInit returned invalid tick rate, must be between 1 and 60": func(context.Context, map[string]any) (any, int, string) { return 1, 61, "" },
		"error creating match: MatchInit returned invalid label, must be 2048 bytes or less": func(context.Context, map[string]any) (any, int, string) {
			return 1, 10, strings.Repeat("x", 2049)
		},
		"error creating match: Match initial state must not be nil": func(context.Context, map[string]any) (any, int, string) { return nil, 10, "" },
	} {
		s.init = init
		require.EqualError(t, create("echo", nil), want)
	}
}

func TestMatchParametersKeepTheirTypes(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.register)
	inner := map[string]any{"k": 1.5}
	h.match(map[string]any{
		"i": 1, "i64": int64(2), "s": "x", "b": true, "list": []any{"a", 3}, "m": inner,
		"entries": []runtime.MatchmakerEntry{&MatchmakerEntry{Ticket: "t", Presence: &Presence{Username: "u"}}},
	})
	p := s.all("init")[0].params
	inner["k"] = "changed by the caller" // the match has a copy
	require.Equal(t, 1, p["i"])
	require.Equal(t, int64(2), p["i64"])
	require.Equal(t, []any{"a", 3}, p["list"])
	require.Equal(t, map[string]any{"k": 1.5}, p["m"])
	require.Equal(t, "u", p["entries"].([]runtime.MatchmakerEntry)[0].GetPresence().GetUsername())
}

func TestMatchContext(t *testing.T) {
	s := &scripted{label: `{"a":1}`, rate: 30}
	h := start(t, Config{Env: map[string]string{"K": "v"}}, s.register)
	id := h.match(nil)
	c := h.login("ann").dial(formatJSON)
	require.NotNil(t, c.request(joinEnvelope(id, map[string]string{"role": "x"})).GetMatch())
	h.await(s, "join", 1)

	init := s.all("init")[0].ctx
	require.Equal(t, id, init.Value(runtime.RUNTIME_CTX_MATCH_ID))
	require.Equal(t, "local", init.Value(runtime.RUNTIME_CTX_MATCH_NODE))
	require.Equal(t, "match", init.Value(runtime.RUNTIME_CTX_MODE))
	require.Equal(t, map[string]string{"K": "v"}, init.Value(runtime.RUNTIME_CTX_ENV))
	require.Nil(t, init.Value(runtime.RUNTIME_CTX_MATCH_LABEL))

	attempt := s.all("attempt")[0]
	require.Equal(t, map[string]string{"role": "x"}, attempt.md)
	require.Equal(t, "ann", attempt.ctx.Value(runtime.RUNTIME_CTX_USERNAME))
	require.Equal(t, attempt.ps[0].GetSessionId(), attempt.ctx.Value(runtime.RUNTIME_CTX_SESSION_ID))
	require.Equal(t, "127.0.0.1", attempt.ctx.Value(runtime.RUNTIME_CTX_CLIENT_IP))
	require.NotZero(t, attempt.ctx.Value(runtime.RUNTIME_CTX_USER_SESSION_EXP))
	require.Nil(t, attempt.ctx.Value(runtime.RUNTIME_CTX_LANG))
	require.Equal(t, 30, attempt.ctx.Value(runtime.RUNTIME_CTX_MATCH_TICK_RATE))
	require.Equal(t, `{"a":1}`, attempt.ctx.Value(runtime.RUNTIME_CTX_MATCH_LABEL))

	join := s.all("join")[0]
	require.Nil(t, join.ctx.Value(runtime.RUNTIME_CTX_USER_ID), "only the attempt knows the user")
	require.Equal(t, runtime.PresenceReasonUnknown, join.ps[0].GetReason())
}

func TestSameSessionJoinsTwice(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	c := h.login("ann").dial(formatProtobuf)
	c.join(id)
	h.await(s, "join", 1)
	again := c.join(id)
	require.Len(t, again.Presences, 1, "the second reply lists oneself")
	require.Equal(t, again.Self.SessionId, again.Presences[0].SessionId)
	require.Len(t, s.all("attempt"), 1)
	require.Len(t, s.all("join"), 1)
}

func TestOneUserTwoSessions(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	ann := h.login("ann")
	first, second := ann.dial(formatJSON), ann.dial(formatProtobuf)
	first.join(id)
	h.await(s, "join", 1)
	m := second.join(id)
	require.Len(t, m.Presences, 1)
	h.await(s, "join", 2)
	first.conn.Close()
	left := h.await(s, "leave", 1)
	require.Equal(t, m.Presences[0].SessionId, left.ps[0].GetSessionId())
	require.Equal(t, runtime.PresenceReasonDisconnect, left.ps[0].GetReason())
	second.send(dataEnvelope(id, 1, "still here"))
	second.awaitData(101)
}

func TestJoinRejections(t *testing.T) {
	s := &scripted{attempt: func(c callback, _ runtime.Presence, md map[string]string) (any, bool, string) {
		return c.state, false, md["reason"]
	}}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	c := h.login("ann").dial(formatJSON)
	refused := func(e *rtapi.Envelope, code rtapi.Error_Code, message string) {
		t.Helper()
		r := c.request(e).GetError()
		require.NotNil(t, r)
		require.Equal(t, int32(code), r.Code)
		require.Equal(t, message, r.Message)
	}
	refused(joinEnvelope(id, map[string]string{"reason": `{"reason":"TABLE_FULL"}`}), rtapi.Error_MATCH_JOIN_REJECTED, `{"reason":"TABLE_FULL"}`)
	refused(joinEnvelope(id, nil), rtapi.Error_MATCH_JOIN_REJECTED, "Match join rejected")
	refused(joinEnvelope("not-a-uuid.local", nil), rtapi.Error_BAD_INPUT, "Invalid match ID")
	refused(joinEnvelope("8a6a1cc4-0b1c-4f0f-8b6a-111111111111.local", nil), rtapi.Error_MATCH_NOT_FOUND, "Match not found")
	refused(joinEnvelope(strings.TrimSuffix(id, "local")+"other", nil), rtapi.Error_MATCH_NOT_FOUND, "Match not found")
	refused(&rtapi.Envelope{Message: &rtapi.Envelope_MatchJoin{MatchJoin: &rtapi.MatchJoin{}}}, rtapi.Error_BAD_INPUT, "No match ID or token found")
	require.Empty(t, s.all("join"))
}

func TestEverySpellingOfAMatchID(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	raw := strings.TrimSuffix(id, ".local")
	c := h.login("ann").dial(formatJSON)
	c.join(id)
	for i, spelling := range []string{strings.ToUpper(raw), strings.ReplaceAll(raw, "-", ""), "urn:uuid:" + raw, "{" + raw + "}"} {
		c.send(dataEnvelope(spelling+".local", int64(i+1), "x"))
		require.Equal(t, id, c.awaitData(int64(i+101)).MatchId)
		_, err := h.srv.nk.MatchSignal(context.Background(), spelling+".local", "x")
		require.NoError(t, err)
	}
}

func TestDataOfNonMembersVanishes(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	member, stranger := h.login("ann").dial(formatJSON), h.login("bob").dial(formatJSON)
	member.join(id)
	stranger.send(dataEnvelope(id, 1, "x"))
	stranger.send(dataEnvelope("00000000-0000-0000-0000-000000000000.x", 1, "x"))
	stranger.ping() // no error frame came before, no close
	require.False(t, stranger.has(func(e *rtapi.Envelope) bool { return e.GetError() != nil }))
	member.send(dataEnvelope(id, 2, "y"))
	member.awaitData(102)
	require.Len(t, s.all("data"), 1)

	stranger.send(dataEnvelope("nonsense", 1, "x"))
	e := stranger.await("error", func(e *rtapi.Envelope) bool { return e.GetError() != nil })
	require.Equal(t, int32(rtapi.Error_BAD_INPUT), e.GetError().Code)
}

func TestBroadcastTargets(t *testing.T) {
	var stranger atomic.Pointer[Presence]
	s := &scripted{loop: func(c callback, ms []runtime.MatchData) any {
		for _, m := range ms {
			_ = c.d.BroadcastMessageDeferred(104, nil, nil, nil, true)
			_ = c.d.BroadcastMessage(101, nil, []runtime.Presence{}, nil, true)                   // nobody
			_ = c.d.BroadcastMessage(102, nil, []runtime.Presence{m}, nil, true)                  // the sender alone
			_ = c.d.BroadcastMessage(103, nil, []runtime.Presence{stranger.Load(), m}, nil, true) // strangers are skipped
			if err := c.d.BroadcastMessage(105, nil, []runtime.Presence{nil}, nil, true); err != nil {
				_ = c.d.BroadcastMessage(106, []byte(err.Error()), nil, nil, true)
			}
		}
		return c.state
	}}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	ann, bob, eve := h.login("ann").dial(formatJSON), h.login("bob").dial(formatProtobuf), h.login("eve").dial(formatJSON)
	eve.ping()
	for _, c := range h.srv.sessions.all() {
		if c.username == "eve" {
			stranger.Store(&Presence{Node: "local", UserID: c.userID, SessionID: c.id})
		}
	}
	ann.join(id)
	bob.join(id)
	h.await(s, "join", 2)
	ann.send(dataEnvelope(id, 1, ""))
	ann.awaitData(102)
	require.Equal(t, "Presence was nil", string(ann.awaitData(106).Data))
	first := bob.await("data", func(e *rtapi.Envelope) bool { return e.GetMatchData() != nil })
	require.Equal(t, int64(106), first.GetMatchData().OpCode, "deferred comes after the callback")
	bob.awaitData(104)
	ann.awaitData(104)
	for _, op := range []int64{101, 102, 103, 105} {
		require.False(t, bob.has(isData(op)), "op code %d", op)
	}
	require.False(t, ann.has(isData(101)))
	require.True(t, ann.has(isData(103)))
	eve.ping()
	require.False(t, eve.has(func(e *rtapi.Envelope) bool { return e.GetMatchData() != nil }))
}

func TestKick(t *testing.T) {
	s := &scripted{loop: func(c callback, ms []runtime.MatchData) any {
		for _, m := range ms {
			_ = c.d.BroadcastMessage(200, nil, []runtime.Presence{m}, nil, true)
			_ = c.d.MatchKick([]runtime.Presence{m})
		}
		return c.state
	}}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	ann, bob := h.login("ann").dial(formatJSON), h.login("bob").dial(formatJSON)
	ann.join(id)
	bob.join(id)
	h.await(s, "join", 2)
	ann.send(dataEnvelope(id, 1, ""))
	ann.awaitData(200)
	left := h.await(s, "leave", 1)
	require.Equal(t, runtime.PresenceReasonLeave, left.ps[0].GetReason())
	bob.await("leave event", func(e *rtapi.Envelope) bool { return len(e.GetMatchPresenceEvent().GetLeaves()) == 1 })
	ann.send(dataEnvelope(id, 1, "vanishes"))
	ann.ping()
	require.False(t, ann.has(func(e *rtapi.Envelope) bool { return len(e.GetMatchPresenceEvent().GetLeaves()) > 0 }), "the kicked one is told nothing")
}

func TestVoluntaryLeave(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	c := h.login("ann").dial(formatJSON)
	c.join(id)
	h.await(s, "join", 1)
	r := c.request(&rtapi.Envelope{Message: &rtapi.Envelope_MatchLeave{MatchLeave: &rtapi.MatchLeave{MatchId: id}}})
	require.Nil(t, r.Message)
	require.Equal(t, runtime.PresenceReasonLeave, h.await(s, "leave", 1).ps[0].GetReason())
}

// MatchLeave gets all the leaves, those of strangers too, if one of them was a member; else it is not called.
func TestLeaveGetsWholeSlice(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	h.login("ann").dial(formatJSON).join(id)
	h.await(s, "join", 1)
	m := h.srv.matches.all()[0]
	stranger := &member{Presence{Node: "local", Username: "stranger"}}
	m.left([]*member{stranger})
	m.left([]*member{stranger, m.members.all()[0]})
	left := h.await(s, "leave", 1)
	require.Len(t, left.ps, 2)
	require.Equal(t, "stranger", left.ps[0].GetUsername())
	require.Len(t, s.all("leave"), 1)
}

func TestNilStateEndsTheMatchSilently(t *testing.T) {
	stopped := make(chan struct{})
	var late atomic.Value
	s := &scripted{}
	s.init = func(ctx context.Context, _ map[string]any) (any, int, string) {
		context.AfterFunc(ctx, func() { close(stopped) })
		return s, 20, ""
	}
	s.loop = func(c callback, ms []runtime.MatchData) any {
		if len(ms) == 0 {
			return c.state
		}
		_ = c.d.BroadcastMessageDeferred(150, nil, nil, nil, true)
		go func() {
			<-stopped
			late.Store(errors.Join(c.d.BroadcastMessage(151, nil, nil, nil, true), c.d.MatchLabelUpdate("x"), c.d.MatchKick(nil)))
		}()
		return nil
	}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	c := h.login("ann").dial(formatJSON)
	c.join(id)
	c.send(dataEnvelope(id, 1, ""))
	c.awaitData(150)
	<-stopped
	eventually(t, "late calls", func() bool { return late.Load() != nil })
	require.Equal(t, "match stopped\nmatch stopped\nmatch stopped", late.Load().(error).Error())
	c.send(dataEnvelope(id, 1, "vanishes"))
	c.ping()
	require.False(t, c.has(func(e *rtapi.Envelope) bool {
		return len(e.GetMatchPresenceEvent().GetLeaves()) > 0 || e.GetError() != nil
	}))
	_, err := h.srv.nk.MatchSignal(context.Background(), id, "x")
	require.ErrorIs(t, err, runtime.ErrMatchNotFound)
	require.Empty(t, s.all("leave"))
	require.Zero(t, h.srv.tracker.count(mustID(id).stream()), "nobody is tracked any more, so nobody hears of leaves")
}

func TestSignalDuringMatchInitFindsNothing(t *testing.T) {
	s := &scripted{}
	var h *host
	var during error
	s.init = func(ctx context.Context, _ map[string]any) (any, int, string) {
		_, during = h.srv.nk.MatchSignal(ctx, ctx.Value(runtime.RUNTIME_CTX_MATCH_ID).(string), "x")
		return s, 20, ""
	}
	h = start(t, Config{}, s.register)
	id := h.match(nil)
	require.ErrorIs(t, during, runtime.ErrMatchNotFound)
	_, err := h.srv.nk.MatchSignal(context.Background(), id, "x")
	require.NoError(t, err)
}

func TestMaxEmptyStopsWithoutCallback(t *testing.T) {
	t.Parallel()
	s := &scripted{rate: 60}
	h := start(t, Config{MaxEmptySeconds: 1}, s.register)
	h.match(nil)
	eventually(t, "the empty match to end", func() bool { return len(h.srv.matches.all()) == 0 })
	require.Empty(t, s.all("terminate"))
}

// MatchLoop gets all that has come, in order; what comes while it runs waits for the next tick.
func TestLoopTakesWhatHasCome(t *testing.T) {
	entered, release := make(chan struct{}, 1), make(chan struct{})
	var batches [][]int64
	s := &scripted{}
	s.loop = func(c callback, ms []runtime.MatchData) any {
		if len(ms) == 0 {
			return c.state
		}
		var ops []int64
		for _, m := range ms {
			ops = append(ops, m.GetOpCode())
		}
		batches = append(batches, ops)
		if ops[0] == 1 {
			entered <- struct{}{}
			<-release
		}
		if ops[0] == 2 {
			_ = c.d.BroadcastMessage(150, nil, nil, nil, true)
		}
		return c.state
	}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	c := h.login("ann").dial(formatJSON)
	c.join(id)
	h.await(s, "join", 1)
	c.send(dataEnvelope(id, 1, ""))
	<-entered
	for op := int64(2); op <= 5; op++ {
		c.send(dataEnvelope(id, op, ""))
	}
	c.ping()
	close(release)
	c.awaitData(150)
	h.srv.matches.all()[0].stop() // orders the reading of batches after the loop
	require.Equal(t, [][]int64{{1}, {2, 3, 4, 5}}, batches)
}

// A session that closes between the attempt and its tracking is cleaned up by the join marker's expiry, reason unknown.
func TestJoinMarkerExpires(t *testing.T) {
	t.Parallel()
	s := &scripted{}
	h := start(t, Config{
		Faults: &Faults{TrackLost: func(string) bool { return true }},
		Timing: Timing{JoinMarker: 200 * time.Millisecond, MarkerSweep: 50 * time.Millisecond},
	}, s.register)
	id := h.match(nil)
	h.login("ann").dial(formatJSON).join(id)
	h.await(s, "join", 1)
	require.Equal(t, runtime.PresenceReasonUnknown, h.await(s, "leave", 1).ps[0].GetReason())
}
