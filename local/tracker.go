package local

import (
	"context"
	"sync"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/runtime"
)

// presenceEvent is what happened to presences at once, in one or several streams.
type presenceEvent struct{ joins, leaves []tracked }

// tracked is a presence with the stream that it is in.
type tracked struct {
	stream   stream
	presence *Presence
}

// place is a presence's identity: a session of a user in a stream.
type place struct {
	stream  stream
	user    uuid.UUID
	session uuid.UUID
}

// tracker knows who is in which stream. Changes are told to matches and clients later, by one goroutine.
type tracker struct {
	node     string
	sessions *sessions
	faults   *Faults
	logger   runtime.Logger
	events   chan presenceEvent

	mu        sync.RWMutex
	byStream  map[stream]map[place]*Presence
	bySession map[uuid.UUID]map[place]*Presence
}

func newTracker(cfg Config, sessions *sessions) *tracker {
	return &tracker{
		node: cfg.Name, sessions: sessions, faults: cfg.Faults, logger: cfg.Logger,
		events:    make(chan presenceEvent, cfg.Queues.PresenceEvents),
		byStream:  map[stream]map[place]*Presence{},
		bySession: map[uuid.UUID]map[place]*Presence{},
	}
}

// track adds a session's presence to a stream. ok is false if the session is closing or gone; isNew is false if the
// presence was there already.
func (t *tracker) track(ctx context.Context, s *session, in stream, p Presence) (ok, isNew bool) {
	if t.sessions.get(s.id) == nil || t.faults.trackLost(s.id.String()) {
		return false, false
	}
	// A closing session takes this lock to cancel its context, so a presence is added either before its clean-up or never.
	s.closing.Lock()
	defer s.closing.Unlock()
	p.Node, p.UserID, p.SessionID, p.Reason = t.node, s.userID, s.id, runtime.PresenceReasonJoin
	at := place{stream: in, user: s.userID, session: s.id}
	t.mu.Lock()
	if ctx.Err() != nil || s.ctx.Err() != nil {
		t.mu.Unlock()
		return false, false
	}
	if _, there := t.bySession[s.id][at]; there {
		t.mu.Unlock()
		return true, false
	}
	t.addLocked(at, &p)
	t.mu.Unlock()
	if !p.Hidden {
		t.queue(presenceEvent{joins: []tracked{{in, &p}}})
	}
	return true, true
}

func (t *tracker) addLocked(at place, p *Presence) {
	if t.bySession[at.session] == nil {
		t.bySession[at.session] = map[place]*Presence{}
	}
	if t.byStream[at.stream] == nil {
		t.byStream[at.stream] = map[place]*Presence{}
	}
	t.bySession[at.session][at] = p
	t.byStream[at.stream][at] = p
}

func (t *tracker) removeLocked(at place) {
	delete(t.bySession[at.session], at)
	if len(t.bySession[at.session]) == 0 {
		delete(t.bySession, at.session)
	}
	delete(t.byStream[at.stream], at)
	if len(t.byStream[at.stream]) == 0 {
		delete(t.byStream, at.stream)
	}
}

// update replaces a presence, telling its stream that the old one left and the new one joined.
func (t *tracker) update(ctx context.Context, s *session, in stream, p Presence) bool {
	s.closing.Lock()
	defer s.closing.Unlock()
	p.Node, p.UserID, p.SessionID, p.Reason = t.node, s.userID, s.id, runtime.PresenceReasonUpdate
	at := place{stream: in, user: s.userID, session: s.id}
	t.mu.Lock()
	if ctx.Err() != nil {
		t.mu.Unlock()
		return false
	}
	old := t.bySession[s.id][at]
	t.addLocked(at, &p)
	t.mu.Unlock()
	e := presenceEvent{joins: []tracked{{in, &p}}}
	if old != nil {
		e.leaves = []tracked{{in, withReason(old, runtime.PresenceReasonUpdate)}}
	}
	t.queue(e)
	return true
}

// untrack removes a session's presence from a stream, if it is there.
func (t *tracker) untrack(sessionID uuid.UUID, in stream, userID uuid.UUID) {
	at := place{stream: in, user: userID, session: sessionID}
	t.mu.Lock()
	p := t.bySession[sessionID][at]
	if p == nil {
		t.mu.Unlock()
		return
	}
	t.removeLocked(at)
	t.mu.Unlock()
	if !p.Hidden {
		t.queue(presenceEvent{leaves: []tracked{{in, withReason(p, runtime.PresenceReasonLeave)}}})
	}
}

// untrackAll removes all presences of a session.
func (t *tracker) untrackAll(sessionID uuid.UUID, reason runtime.PresenceReason) {
	var leaves []tracked
	t.mu.Lock()
	for at, p := range t.bySession[sessionID] {
		t.removeLocked(at)
		if !p.Hidden {
			leaves = append(leaves, tracked{at.stream, withReason(p, reason)})
		}
	}
	t.mu.Unlock()
	if len(leaves) != 0 {
		t.queue(presenceEvent{leaves: leaves})
	}
}

// untrackStream empties a stream. Nobody is told: everybody who could be is gone at once.
func (t *tracker) untrackStream(in stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at := range t.byStream[in] {
		t.removeLocked(at)
	}
}

func withReason(p *Presence, reason runtime.PresenceReason) *Presence {
	c := *p
	c.Reason = reason
	return &c
}

func (t *tracker) has(sessionID uuid.UUID, in stream, userID uuid.UUID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.bySession[sessionID][place{stream: in, user: userID, session: sessionID}] != nil
}

func (t *tracker) count(in stream) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byStream[in])
}

// counts returns the number of presences of every stream of a mode.
func (t *tracker) counts(mode uint8) map[stream]int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := map[stream]int{}
	for s, ps := range t.byStream {
		if s.Mode == mode {
			out[s] = len(ps)
		}
	}
	return out
}

// list returns a stream's presences in no order.
func (t *tracker) list(in stream, hidden, visible bool) []*Presence {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make([]*Presence, 0, len(t.byStream[in]))
	for _, p := range t.byStream[in] {
		if (p.Hidden && hidden) || (!p.Hidden && visible) {
			out = append(out, p)
		}
	}
	return out
}

// sessionIDs returns the sessions of a stream, hidden ones too.
func (t *tracker) sessionIDs(in stream) []uuid.UUID {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make([]uuid.UUID, 0, len(t.byStream[in]))
	for at := range t.byStream[in] {
		out = append(out, at.session)
	}
	return out
}

func (t *tracker) queue(e presenceEvent) {
	if !t.faults.presenceEventsFull() {
		select {
		case t.events <- e:
			return
		default:
		}
	}
	// As in Nakama: this event is lost, and all the queued ones with it.
	t.logger.Error("Presence event dispatch queue is full, presence events may be lost")
	for {
		select {
		case <-t.events:
		default:
			return
		}
	}
}
