package local

import (
	"context"
	"database/sql"
	"sync"

	"github.com/heroiclabs/nakama-common/runtime"
)

// scripted is a match handler whose callbacks a test replaces. Without a script it accepts everybody and, at op code n,
// answers n+100 to all with the same data. The state is the match's own scripted value.
type scripted struct {
	label     string
	rate      int
	init      func(ctx context.Context, params map[string]any) (any, int, string)
	attempt   func(c callback, p runtime.Presence, metadata map[string]string) (any, bool, string)
	join      func(c callback, ps []runtime.Presence) any
	leave     func(c callback, ps []runtime.Presence) any
	loop      func(c callback, ms []runtime.MatchData) any
	terminate func(c callback, grace int) any
	signal    func(c callback, data string) (any, string)

	mu     sync.Mutex
	events []event
	more   *sync.Cond
}

// callback is what all callbacks are given.
type callback struct {
	ctx   context.Context
	nk    runtime.NakamaModule
	d     runtime.MatchDispatcher
	tick  int64
	state any
}

// event is one thing that a handler saw.
type event struct {
	name   string
	ps     []runtime.Presence
	ctx    context.Context
	data   string
	number int
	md     map[string]string
	params map[string]any
}

func (s *scripted) register(i runtime.Initializer) error {
	s.more = sync.NewCond(&s.mu)
	return i.RegisterMatch("echo", func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule) (runtime.Match, error) {
		return s, nil
	})
}

func (s *scripted) saw(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	s.more.Broadcast()
}

func (s *scripted) all(name string) []event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []event
	for _, e := range s.events {
		if e.name == name {
			out = append(out, e)
		}
	}
	return out
}

// await waits for the nth event of a name, from 1.
func (h *host) await(s *scripted, name string, n int) event {
	h.Helper()
	eventually(h.T, "event "+name, func() bool { return len(s.all(name)) >= n })
	return s.all(name)[n-1]
}

func (s *scripted) MatchInit(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, params map[string]any) (any, int, string) {
	s.saw(event{name: "init", ctx: ctx, params: params})
	if s.init != nil {
		return s.init(ctx, params)
	}
	return s, max(s.rate, 20), s.label
}

func (s *scripted) MatchJoinAttempt(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, d runtime.MatchDispatcher, tick int64, state any, p runtime.Presence, md map[string]string) (any, bool, string) {
	s.saw(event{name: "attempt", ctx: ctx, ps: []runtime.Presence{p}, md: md})
	if s.attempt != nil {
		return s.attempt(callback{ctx, nk, d, tick, state}, p, md)
	}
	return state, true, ""
}

func (s *scripted) MatchJoin(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, d runtime.MatchDispatcher, tick int64, state any, ps []runtime.Presence) any {
	s.saw(event{name: "join", ctx: ctx, ps: ps})
	if s.join != nil {
		return s.join(callback{ctx, nk, d, tick, state}, ps)
	}
	return state
}

func (s *scripted) MatchLeave(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, d runtime.MatchDispatcher, tick int64, state any, ps []runtime.Presence) any {
	s.saw(event{name: "leave", ctx: ctx, ps: ps})
	if s.leave != nil {
		return s.leave(callback{ctx, nk, d, tick, state}, ps)
	}
	return state
}

func (s *scripted) MatchLoop(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, d runtime.MatchDispatcher, tick int64, state any, ms []runtime.MatchData) any {
	if s.loop != nil {
		return s.loop(callback{ctx, nk, d, tick, state}, ms)
	}
	for _, m := range ms {
		s.saw(event{name: "data", ctx: ctx, data: string(m.GetData()), number: int(m.GetOpCode())})
		if err := d.BroadcastMessage(m.GetOpCode()+100, m.GetData(), nil, m, true); err != nil {
			s.saw(event{name: "error", data: err.Error()})
		}
	}
	return state
}

func (s *scripted) MatchTerminate(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, d runtime.MatchDispatcher, tick int64, state any, grace int) any {
	s.saw(event{name: "terminate", ctx: ctx, number: grace})
	if s.terminate != nil {
		return s.terminate(callback{ctx, nk, d, tick, state}, grace)
	}
	return state
}

func (s *scripted) MatchSignal(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, d runtime.MatchDispatcher, tick int64, state any, data string) (any, string) {
	s.saw(event{name: "signal", ctx: ctx, data: data})
	if s.signal != nil {
		return s.signal(callback{ctx, nk, d, tick, state}, data)
	}
	return state, "echo:" + data
}

// match makes a match of the handler and returns its id.
func (h *host) match(params map[string]any) string {
	h.Helper()
	id, err := h.srv.nk.MatchCreate(context.Background(), "echo", params)
	if err != nil {
		h.Fatal(err)
	}
	return id
}
