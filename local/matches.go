package local

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// labelMax is the longest label in bytes.
const labelMax = 2048

var errInitStateNil = errors.New("Match initial state must not be nil")

// init names the types that match parameters may hold besides the builtin ones, the same as Nakama's.
func init() {
	gob.Register(map[string]any(nil))
	gob.Register([]any(nil))
	gob.Register([]runtime.Presence(nil))
	gob.Register(&Presence{})
	gob.Register([]runtime.MatchmakerEntry(nil))
	gob.Register(&MatchmakerEntry{})
	gob.Register([]*api.User(nil))
	gob.Register([]*api.Account(nil))
	gob.Register([]*api.Friend(nil))
}

// matches are the running authoritative matches.
type matches struct {
	srv      *Server
	index    *labelIndex
	stopped  atomic.Bool  // no new matches
	stopping atomic.Int32 // matches that are out of the registry and not yet through with stopping

	mu   sync.RWMutex
	byID map[uuid.UUID]*match
	idle chan struct{} // closed when stopped and empty
}

func newMatches(srv *Server) (*matches, error) {
	index, err := newLabelIndex(srv.cfg)
	if err != nil {
		return nil, err
	}
	return &matches{srv: srv, index: index, byID: map[uuid.UUID]*match{}, idle: make(chan struct{})}, nil
}

// create makes a match of a registered module and returns its id. The parameters must survive gob.
func (r *matches) create(ctx context.Context, module string, params map[string]any) (string, error) {
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(params); err != nil {
		return "", runtime.ErrCannotEncodeParams
	}
	if err := gob.NewDecoder(&buf).Decode(&params); err != nil {
		return "", runtime.ErrCannotDecodeParams
	}
	register := r.srv.module.match(module)
	if register == nil {
		return "", errors.New("error creating match: not found")
	}
	core, err := register(r.srv.hookContext(ctx, modeMatchCreate, caller{}), r.srv.cfg.Logger, nil, r.srv.nk)
	if err != nil {
		return "", err
	}
	if r.stopped.Load() {
		return "", errors.New("error creating match: shutdown in progress")
	}
	m, err := newMatch(r, uuid.Must(uuid.NewV4()), module, core, params)
	if err != nil {
		return "", fmt.Errorf("error creating match: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byID[m.id.id] = m
	return m.id.String(), nil
}

// find returns a match of this node, or nil.
func (r *matches) find(id matchID) *match {
	if id.node != r.srv.cfg.Name {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byID[id.id]
}

func (r *matches) all() []*match {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]*match, 0, len(r.byID))
	for _, m := range r.byID {
		out = append(out, m)
	}
	return out
}

func (r *matches) remove(m *match) {
	r.mu.Lock()
	_, there := r.byID[m.id.id]
	delete(r.byID, m.id.id)
	last := there && len(r.byID) == 0
	r.mu.Unlock()
	if !there {
		return
	}
	r.srv.tracker.untrackStream(m.id.stream())
	r.index.remove(m.id.String())
	if last && r.stopped.Load() {
		r.signalIdle()
	}
}

func (r *matches) signalIdle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.idle:
	default:
		close(r.idle)
	}
}

// terminateAll refuses new matches and asks all running ones to end in the grace period. The channel is closed when
// none is left.
func (r *matches) terminateAll(graceSeconds int) <-chan struct{} {
	r.stopped.Store(true)
	running := r.all()
	for _, m := range running {
		m.terminate(graceSeconds)
	}
	if len(running) == 0 {
		r.signalIdle()
	}
	return r.idle
}

// stopAll refuses new matches and stops all running ones without a callback.
func (r *matches) stopAll() {
	r.stopped.Store(true)
	r.index.stop()
	for _, m := range r.all() {
		m.stop()
	}
}

// attemptOutcome is what became of a join attempt.
type attemptOutcome struct {
	found, allow, isNew bool
	reason, label       string
	members             []*member
}

// joinAttempt asks a match to let a session in. A session that is in already is not asked about again.
func (r *matches) joinAttempt(ctx context.Context, s *session, id matchID, metadata map[string]string) attemptOutcome {
	m := r.find(id)
	if m == nil {
		return attemptOutcome{}
	}
	if m.members.has(r.srv.cfg.Name, s.id) {
		return attemptOutcome{found: true, allow: true, label: *m.label.Load(), members: m.members.all()}
	}
	answer := make(chan attemptResult, 1)
	if !m.attempt(ctx, s, metadata, answer) {
		return attemptOutcome{found: true, reason: "Match is not currently accepting join requests"}
	}
	timer := time.NewTimer(r.srv.cfg.Timing.JoinTimeout)
	defer timer.Stop()
	select {
	case <-timer.C:
		// Only this caller gives up: should the match say yes later, MatchJoin runs all the same.
		return attemptOutcome{found: true}
	case a := <-answer:
		return attemptOutcome{
			found: true, allow: a.allow, isNew: true, reason: a.reason, label: a.label, members: m.members.all(),
		}
	}
}

// sendData hands a member's message to its match.
func (r *matches) sendData(id matchID, msg *matchData) {
	if m := r.find(id); m != nil {
		m.sendData(msg)
	}
}

// signal runs MatchSignal on the match's goroutine and waits for the answer. ErrMatchBusy does not say whether it ran.
func (r *matches) signal(ctx context.Context, rawID, data string) (string, error) {
	id, ok := parseMatchID(rawID)
	if !ok {
		return "", runtime.ErrMatchIdInvalid
	}
	m := r.find(id)
	if m == nil {
		return "", runtime.ErrMatchNotFound
	}
	fault := r.srv.cfg.Faults.signal(m.id.String(), data)
	if fault == SignalQueueFull {
		return "", runtime.ErrMatchBusy
	}
	runCtx := ctx
	if fault == SignalSkipped {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		runCtx = gone
	}
	answer := make(chan signalResult, 1)
	if !m.signal(runCtx, data, answer) || fault == SignalTimedOut {
		return "", runtime.ErrMatchBusy
	}
	return r.await(ctx, answer, fault)
}

func (r *matches) await(ctx context.Context, answer <-chan signalResult, fault SignalFault) (string, error) {
	timer := time.NewTimer(r.srv.cfg.Timing.SignalTimeout)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return "", runtime.ErrMatchBusy
	case <-timer.C:
		return "", runtime.ErrMatchBusy
	case a := <-answer:
		if !a.ok || fault == SignalAnswerLost {
			return "", runtime.ErrMatchBusy
		}
		return a.result, nil
	}
}

// joined and left pass on what the tracker heard.
func (r *matches) joined(id uuid.UUID, joins []*member) {
	if m := r.find(matchID{id, r.srv.cfg.Name}); m != nil {
		m.joined(joins)
	}
}

func (r *matches) left(id uuid.UUID, leaves []*member) {
	if m := r.find(matchID{id, r.srv.cfg.Name}); m != nil {
		m.left(leaves)
	}
}
