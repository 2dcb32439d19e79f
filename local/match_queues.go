package local

import (
	"context"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// loop runs MatchLoop with what has come so far; what comes while it runs waits for the next tick.
func (m *match) loop() {
	if m.stopped.Load() {
		return
	}
	messages := make([]runtime.MatchData, len(m.input))
	for i := range messages {
		messages[i] = <-m.input
	}
	if !m.accept(m.core.MatchLoop(m.ctx, m.logger, nil, m.reg.srv.nk, m, m.tick, m.state, messages), "Match loop") {
		return
	}
	timing := m.reg.srv.cfg.Timing
	if m.tick%max(1, m.ticks(timing.MarkerSweep)) == 0 {
		if gone := m.markers.expired(m.tick); len(gone) != 0 {
			m.left(gone)
		}
	}
	if limit := m.rate * int64(m.reg.srv.cfg.MaxEmptySeconds); limit > 0 {
		m.emptyTicks++
		if m.members.size() != 0 {
			m.emptyTicks = 0
		}
		if m.emptyTicks >= limit {
			m.stop()
			m.logger.Warn("Stopping idle empty match")
			return
		}
	}
	m.tick++
}

func (m *match) ticks(d time.Duration) int64 { return int64(d) * m.rate / int64(time.Second) }

// attemptResult is a match's answer to a join attempt.
type attemptResult struct {
	allow         bool
	reason, label string
}

// attempt queues a join attempt; false means that the queue is full or the match has stopped.
func (m *match) attempt(ctx context.Context, s *session, metadata map[string]string, answer chan<- attemptResult) bool {
	if m.stopped.Load() {
		return false
	}
	run := func() {
		if ctx.Err() != nil || m.stopped.Load() {
			answer <- attemptResult{}
			return
		}
		mb := &member{Presence{Node: m.id.node, UserID: s.userID, SessionID: s.id, Username: s.username}}
		c := m.joinContext(s)
		state, allow, reason := m.core.MatchJoinAttempt(c, m.logger, nil, m.reg.srv.nk, m, m.tick, m.state, mb, metadata)
		if !m.accept(state, "Match join attempt") {
			answer <- attemptResult{}
			return
		}
		if allow {
			// MatchJoin is queued at once, even if the caller has long stopped waiting.
			m.markers[mb.SessionID] = joinMarker{mb, m.tick + m.ticks(m.reg.srv.cfg.Timing.JoinMarker)}
			m.call(func() { m.join([]*member{mb}) })
		}
		answer <- attemptResult{allow: allow, reason: reason, label: *m.label.Load()}
	}
	if !m.reg.srv.cfg.Faults.joinAttemptFull(m.id.String()) {
		select {
		case m.attempts <- run:
			return true
		default:
		}
	}
	m.logger.Warn("Match handler join attempt queue full")
	return false
}

// joinContext adds who is joining; no other callback knows that.
//
//nolint:staticcheck // the keys are strings by nakama-common's contract
func (m *match) joinContext(s *session) context.Context {
	ctx := context.WithValue(m.ctx, runtime.RUNTIME_CTX_USER_ID, s.userID.String())
	ctx = context.WithValue(ctx, runtime.RUNTIME_CTX_USERNAME, s.username)
	if s.vars != nil {
		ctx = context.WithValue(ctx, runtime.RUNTIME_CTX_VARS, s.vars)
	}
	ctx = context.WithValue(ctx, runtime.RUNTIME_CTX_USER_SESSION_EXP, s.expiry)
	ctx = context.WithValue(ctx, runtime.RUNTIME_CTX_SESSION_ID, s.id.String())
	if s.clientIP != "" {
		ctx = context.WithValue(ctx, runtime.RUNTIME_CTX_CLIENT_IP, s.clientIP)
	}
	if s.clientPort != "" {
		ctx = context.WithValue(ctx, runtime.RUNTIME_CTX_CLIENT_PORT, s.clientPort)
	}
	return ctx
}

func (m *match) join(joins []*member) {
	if m.stopped.Load() {
		return
	}
	if added := m.members.join(joins); len(added) != 0 {
		m.accept(m.core.MatchJoin(m.ctx, m.logger, nil, m.reg.srv.nk, m, m.tick, m.state, presences(added)), "Match join")
	}
}

// joined queues that the tracker has the members now.
func (m *match) joined(joins []*member) {
	m.call(func() {
		if m.stopped.Load() {
			return
		}
		for _, j := range joins {
			delete(m.markers, j.SessionID)
		}
	})
}

// left queues a leave. MatchLeave gets all the leaves, if at least one of them was a member.
func (m *match) left(leaves []*member) {
	m.call(func() {
		if m.stopped.Load() {
			return
		}
		removed := m.members.leave(leaves)
		if len(removed) == 0 {
			return
		}
		for _, r := range removed {
			delete(m.markers, r.SessionID)
		}
		m.accept(m.core.MatchLeave(m.ctx, m.logger, nil, m.reg.srv.nk, m, m.tick, m.state, presences(leaves)), "Match leave")
	})
}

func presences(ms []*member) []runtime.Presence {
	out := make([]runtime.Presence, len(ms))
	for i, mb := range ms {
		out[i] = mb
	}
	return out
}

// signalResult is a match's answer to a signal; not ok is told to the caller as busy.
type signalResult struct {
	ok     bool
	result string
}

// signal queues a signal; false means that the queue is full or the match has stopped.
func (m *match) signal(ctx context.Context, data string, answer chan<- signalResult) bool {
	if m.stopped.Load() {
		return false
	}
	run := func() {
		if ctx.Err() != nil || m.stopped.Load() {
			answer <- signalResult{}
			return
		}
		state, result := m.core.MatchSignal(m.ctx, m.logger, nil, m.reg.srv.nk, m, m.tick, m.state, data)
		ok := m.accept(state, "Match signal")
		answer <- signalResult{ok: ok, result: result}
	}
	select {
	case m.signals <- run:
		return true
	default:
		m.logger.Warn("Match handler signal queue full")
		return false
	}
}

// terminate queues MatchTerminate.
func (m *match) terminate(graceSeconds int) {
	m.call(func() {
		if m.stopped.Load() {
			return
		}
		m.accept(m.core.MatchTerminate(m.ctx, m.logger, nil, m.reg.srv.nk, m, m.tick, m.state, graceSeconds), "Match terminate")
	})
}

// sendData queues a message for MatchLoop. When the queue is full the message is lost and the sender is not told.
func (m *match) sendData(msg *matchData) {
	if m.stopped.Load() {
		return
	}
	if !m.reg.srv.cfg.Faults.inputFull(m.id.String(), msg.opCode) {
		select {
		case m.input <- msg:
			return
		default:
		}
	}
	m.logger.Warn("Match handler data processing too slow, dropping data message: %+v", msg)
}
