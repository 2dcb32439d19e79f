package local

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/runtime"
)

// match is one running authoritative match. One goroutine runs all its callbacks and picks at random among the queues
// that have something; nothing orders the queues among each other. A panic in a callback ends the process.
type match struct {
	reg     *matches
	id      matchID
	module  string
	core    runtime.Match
	logger  runtime.Logger
	created int64 // ms, for the listing's order
	rate    int64 // ticks a second
	label   atomic.Pointer[string]
	members *memberList

	stopped atomic.Bool
	stopCh  chan struct{}
	ticker  *time.Ticker
	// calls holds joins, leaves, ticks and the termination; its overflow stops the match.
	calls    chan func()
	attempts chan func()
	signals  chan func()
	input    chan *matchData
	deferred chan deferredMessage

	// What follows is the match goroutine's alone.
	ctx        context.Context // the latest label is in it, one layer per update
	cancel     context.CancelFunc
	state      any
	tick       int64
	emptyTicks int64
	markers    joinMarkers
}

// newMatch runs MatchInit in the caller's goroutine and starts the match's own. Nobody can find the match before this
// has returned and the registry has it.
func newMatch(reg *matches, id uuid.UUID, module string, core runtime.Match, params map[string]any) (*match, error) {
	q := reg.srv.cfg.Queues
	m := &match{
		reg: reg, id: matchID{id: id, node: reg.srv.cfg.Name}, module: module, core: core,
		logger: reg.srv.cfg.Logger.WithField("mid", id.String()), created: time.Now().UnixMilli(),
		members: newMemberList(), markers: joinMarkers{},
		stopCh: make(chan struct{}), calls: make(chan func(), q.Call), attempts: make(chan func(), q.JoinAttempt),
		signals: make(chan func(), q.Signal), input: make(chan *matchData, q.Input), deferred: make(chan deferredMessage, q.Deferred),
	}
	m.label.Store(new(string))
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.ctx = reg.srv.hookContext(m.ctx, modeMatch, caller{})
	m.put(runtime.RUNTIME_CTX_MATCH_ID, m.id.String())
	m.put(runtime.RUNTIME_CTX_MATCH_NODE, m.id.node)
	if err := m.init(params); err != nil {
		m.cancel()
		return nil, err
	}
	m.ticker = time.NewTicker(time.Second / time.Duration(m.rate))
	go m.run()
	m.logger.Info("Match started")
	return m, nil
}

//nolint:staticcheck // the keys are strings by nakama-common's contract
func (m *match) put(key string, v any) { m.ctx = context.WithValue(m.ctx, key, v) }

func (m *match) init(params map[string]any) error {
	state, rate, label := m.core.MatchInit(m.ctx, m.logger, nil, m.reg.srv.nk, params)
	if len(label) > labelMax {
		return fmt.Errorf("MatchInit returned invalid label, must be %v bytes or less", labelMax)
	}
	if rate < 1 || rate > 60 {
		return errors.New("MatchInit returned invalid tick rate, must be between 1 and 60")
	}
	if state == nil {
		return errInitStateNil
	}
	m.state, m.rate = state, int64(rate)
	m.reg.index.update(m, label)
	m.label.Store(&label)
	m.put(runtime.RUNTIME_CTX_MATCH_TICK_RATE, rate)
	m.put(runtime.RUNTIME_CTX_MATCH_LABEL, label)
	return nil
}

// run is the match's goroutine. After stop it may still take a queued item or two, since select picks at random; each
// looks at stopped itself. What is left in the queues is orphaned: its callers wait for their timeouts.
func (m *match) run() {
	for {
		select {
		case <-m.stopCh:
			return
		case <-m.ticker.C:
			// The ticker holds one tick at most, so a slow callback loses ticks and never piles them up.
			if !m.call(m.loop) {
				return
			}
		case f := <-m.calls:
			f()
		case f := <-m.attempts:
			f()
		case f := <-m.signals:
			f()
		}
	}
}

// call queues f. When the queue is full the match is stopped and all its sockets are cut.
func (m *match) call(f func()) bool {
	if m.stopped.Load() {
		return false
	}
	if !m.reg.srv.cfg.Faults.callFull(m.id.String()) {
		select {
		case m.calls <- f:
			return true
		default:
		}
	}
	m.stop()
	for _, id := range m.members.sessionIDs() {
		m.reg.srv.sessions.disconnect(id, runtime.PresenceReasonDisconnect)
	}
	m.logger.Warn("Match handler call processing too slow, closing match")
	return false
}

// stop ends the match once, from any goroutine, perhaps in the middle of a callback. Clients are told nothing.
func (m *match) stop() {
	if !m.stopped.CompareAndSwap(false, true) {
		return
	}
	m.reg.stopping.Add(1)
	defer m.reg.stopping.Add(-1)
	m.reg.remove(m)
	m.flushDeferred()
	m.cancel()
	close(m.stopCh)
	m.ticker.Stop()
}

// accept takes the state that a callback returned. A nil state stops the match.
func (m *match) accept(state any, callback string) bool {
	if state == nil {
		m.stop()
		m.logger.Info("%s returned nil or no state, stopping match", callback)
		return false
	}
	m.flushDeferred()
	m.state = state
	return true
}
