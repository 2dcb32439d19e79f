package match

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
	nakama "github.com/heroiclabs/nakama-common/runtime"
)

type (
	nakamaMatchMaker = func(context.Context, nakama.Logger, *sql.DB, nakama.NakamaModule) (nakama.Match, error)
	nakamaMatched    = func(context.Context, nakama.Logger, *sql.DB, nakama.NakamaModule, []nakama.MatchmakerEntry) (string, error)
	nakamaBeforeRt   = func(context.Context, nakama.Logger, *sql.DB, nakama.NakamaModule, *rtapi.Envelope) (*rtapi.Envelope, error)
)

// fakeMatch is one running match. Holding callback stands for running on the match's goroutine.
type fakeMatch struct {
	n      *fakeNakama
	id     string
	core   nakama.Match
	ctx    context.Context
	cancel context.CancelFunc
	rate   int

	callback sync.Mutex
	state    any
	tick     int64
	queued   []nakama.MatchData

	mu      sync.Mutex
	members []*fakeUser
	stopped bool
	label   string
	labels  int
	kicked  []string
	frames  int // broadcasts
}

func newFakeMatch(n *fakeNakama, id string, params map[string]any) (*fakeMatch, error) {
	core, err := n.make(context.Background(), n.logger)
	if err != nil {
		return nil, err
	}
	m := &fakeMatch{n: n, id: id, core: core}
	m.ctx, m.cancel = context.WithCancel(context.WithValue(context.Background(), nakama.RUNTIME_CTX_MATCH_ID, id)) //nolint:staticcheck // Nakama's keys are strings
	m.state, m.rate, m.label = core.MatchInit(m.ctx, n.logger, nil, n, params)
	if m.state == nil {
		m.cancel()
		return nil, errors.New("error creating match: MatchInit returned no state")
	}
	return m, nil
}

// run runs one callback; false if the match has stopped.
func (m *fakeMatch) run(name string, f func() any) bool {
	m.callback.Lock()
	defer m.callback.Unlock()
	if m.isStopped() {
		return false
	}
	over := m.n.storage.inCallback()
	defer over()
	state := f()
	if state == nil {
		if name != "loop" {
			m.n.t.Errorf("%s returned nil: only MatchLoop may stop a match", name)
		}
		m.stop()
		return false
	}
	if state != m.state {
		m.n.t.Errorf("%s returned another state", name)
	}
	return true
}

// stop is every way in which Nakama stops a match.
func (m *fakeMatch) stop() {
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()
	m.n.mu.Lock()
	delete(m.n.matches, m.id)
	m.n.mu.Unlock()
	m.cancel()
}

func (m *fakeMatch) isStopped() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stopped
}

func (m *fakeMatch) attempt(u *fakeUser) (allow bool, reason string) { return m.attemptWith(u, nil) }

func (m *fakeMatch) attemptWith(u *fakeUser, metadata map[string]string) (allow bool, reason string) {
	m.run("attempt", func() any {
		var state any
		state, allow, reason = m.core.MatchJoinAttempt(m.ctx, m.n.logger, nil, m.n, m, m.tick, m.state, u, metadata)
		return state
	})
	return allow, reason
}

func (m *fakeMatch) join(us ...*fakeUser) {
	m.mu.Lock()
	m.members = append(m.members, us...)
	m.mu.Unlock()
	m.run("join", func() any {
		return m.core.MatchJoin(m.ctx, m.n.logger, nil, m.n, m, m.tick, m.state, presencesOf(us))
	})
}

func (m *fakeMatch) leave(us ...*fakeUser) {
	m.mu.Lock()
	for _, u := range us {
		for i, member := range m.members {
			if member == u {
				m.members = append(m.members[:i:i], m.members[i+1:]...)
				break
			}
		}
	}
	m.mu.Unlock()
	m.run("leave", func() any {
		return m.core.MatchLeave(m.ctx, m.n.logger, nil, m.n, m, m.tick, m.state, presencesOf(us))
	})
}

// loop is one tick.
func (m *fakeMatch) loop() bool {
	return m.run("loop", func() any {
		m.tick++
		messages := m.queued
		m.queued = nil
		return m.core.MatchLoop(m.ctx, m.n.logger, nil, m.n, m, m.tick, m.state, messages)
	})
}

func (m *fakeMatch) signal(data string) (result string) {
	m.run("signal", func() any {
		var state any
		state, result = m.core.MatchSignal(m.ctx, m.n.logger, nil, m.n, m, m.tick, m.state, data)
		return state
	})
	return result
}

func (m *fakeMatch) terminate(graceSeconds int) {
	m.run("terminate", func() any {
		return m.core.MatchTerminate(m.ctx, m.n.logger, nil, m.n, m, m.tick, m.state, graceSeconds)
	})
}

// table is the state, to be looked at while nothing runs.
func (m *fakeMatch) table() *table { return m.state.(*table) }

// settle waits until the bell is silent and no callback runs.
func (m *fakeMatch) settle() {
	box := m.table().box
	for {
		box.mu.Lock()
		ringing := box.ringing && !box.closed
		box.mu.Unlock()
		if !ringing {
			break
		}
		runtime.Gosched()
	}
	m.callback.Lock()
	defer m.callback.Unlock()
}

// pass lets time pass: alarms go off at their times, and the match ticks.
func (m *fakeMatch) pass(d time.Duration) {
	until := m.n.clock.now() + d
	for {
		f := m.n.clock.next(until)
		if f == nil {
			break
		}
		f()
		m.settle()
	}
	m.loop()
}

func (m *fakeMatch) BroadcastMessage(op int64, data []byte, to []nakama.Presence, _ nakama.Presence, _ bool) error {
	m.mu.Lock()
	if m.stopped {
		m.mu.Unlock()
		return errors.New("match stopped")
	}
	m.frames++
	var receivers []*fakeUser
	for _, member := range m.members {
		if to == nil {
			receivers = append(receivers, member)
		}
		for _, p := range to {
			if p.GetSessionId() == member.sessionID {
				receivers = append(receivers, member)
			}
		}
	}
	m.mu.Unlock()
	f := frame{matchID: m.id, op: op, data: append([]byte(nil), data...), all: to == nil}
	for _, u := range receivers {
		u.receive(f)
	}
	return nil
}

func (m *fakeMatch) BroadcastMessageDeferred(int64, []byte, []nakama.Presence, nakama.Presence, bool) error {
	return errors.New("immediate and deferred broadcasts are not mixed")
}

func (m *fakeMatch) MatchKick(presences []nakama.Presence) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range presences {
		m.kicked = append(m.kicked, p.GetSessionId())
	}
	return nil
}

func (m *fakeMatch) MatchLabelUpdate(label string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return errors.New("match stopped")
	}
	m.label = label
	m.labels++
	return nil
}

func presencesOf(us []*fakeUser) []nakama.Presence {
	out := make([]nakama.Presence, len(us))
	for i, u := range us {
		out[i] = u
	}
	return out
}

// fakeLogger keeps the lines.
type fakeLogger struct {
	mu    sync.Mutex
	lines []string
}

func (l *fakeLogger) log(level, format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, level+" "+fmt.Sprintf(format, v...))
}

func (l *fakeLogger) Debug(format string, v ...any)           { l.log("DEBUG", format, v...) }
func (l *fakeLogger) Info(format string, v ...any)            { l.log("INFO", format, v...) }
func (l *fakeLogger) Warn(format string, v ...any)            { l.log("WARN", format, v...) }
func (l *fakeLogger) Error(format string, v ...any)           { l.log("ERROR", format, v...) }
func (l *fakeLogger) WithField(string, any) nakama.Logger     { return l }
func (l *fakeLogger) WithFields(map[string]any) nakama.Logger { return l }
func (l *fakeLogger) Fields() map[string]any                  { return nil }
