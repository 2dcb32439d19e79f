package local

import (
	"slices"
	"sync"

	"github.com/gofrs/uuid/v5"
)

// memberList is who is in a match, in order of joining. The match's goroutine changes it, everybody reads it.
type memberList struct {
	mu    sync.RWMutex
	order []*member
	byID  map[uuid.UUID]*member // by session
}

func newMemberList() *memberList { return &memberList{byID: map[uuid.UUID]*member{}} }

// join adds those whose session is not there yet, and returns them.
func (l *memberList) join(joins []*member) []*member {
	l.mu.Lock()
	defer l.mu.Unlock()
	var added []*member
	for _, m := range joins {
		if l.byID[m.SessionID] == nil {
			l.byID[m.SessionID] = m
			l.order = append(l.order, m)
			added = append(added, m)
		}
	}
	return added
}

// leave removes those whose session is there, and returns them.
func (l *memberList) leave(leaves []*member) []*member {
	l.mu.Lock()
	defer l.mu.Unlock()
	var removed []*member
	for _, m := range leaves {
		if l.byID[m.SessionID] != nil {
			delete(l.byID, m.SessionID)
			l.order = slices.DeleteFunc(l.order, func(o *member) bool { return o.SessionID == m.SessionID })
			removed = append(removed, m)
		}
	}
	return removed
}

func (l *memberList) has(node string, sessionID uuid.UUID) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	m := l.byID[sessionID]
	return m != nil && m.Node == node
}

func (l *memberList) all() []*member {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Clone(l.order)
}

func (l *memberList) sessionIDs() []uuid.UUID {
	l.mu.RLock()
	defer l.mu.RUnlock()
	out := make([]uuid.UUID, len(l.order))
	for i, m := range l.order {
		out[i] = m.SessionID
	}
	return out
}

func (l *memberList) size() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.order)
}

// joinMarkers remember who was let in but has not been tracked yet. Only the match's goroutine touches them.
type joinMarkers map[uuid.UUID]joinMarker

type joinMarker struct {
	member  *member
	expires int64 // tick
}

// expired removes and returns those whose time is over.
func (j joinMarkers) expired(tick int64) []*member {
	var out []*member
	for id, m := range j {
		if m.expires <= tick {
			out = append(out, m.member)
			delete(j, id)
		}
	}
	return out
}
