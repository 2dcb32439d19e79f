package local

import (
	"sync"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/runtime"
)

// sessions are the connected sockets by session id.
type sessions struct {
	mu       sync.RWMutex
	byID     map[uuid.UUID]*session
	admitted uint64 // how many there ever were
}

func newSessions() *sessions { return &sessions{byID: map[uuid.UUID]*session{}} }

func (r *sessions) get(id uuid.UUID) *session {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byID[id]
}

func (r *sessions) add(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.admitted++
	s.nth = r.admitted
	r.byID[s.id] = s
}

func (r *sessions) remove(id uuid.UUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
}

func (r *sessions) all() []*session {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]*session, 0, len(r.byID))
	for _, s := range r.byID {
		out = append(out, s)
	}
	return out
}

// disconnect closes a session from the server's side; an unknown one is ignored.
func (r *sessions) disconnect(id uuid.UUID, reason runtime.PresenceReason) {
	if s := r.get(id); s != nil {
		s.close("server-side session disconnect", reason)
	}
}

// disconnectUser closes a user's sessions, or only those older than one, telling them why with a notification.
func (r *sessions) disconnectUser(user uuid.UUID, than *session, subject string, code int32) {
	for _, s := range r.all() {
		if s.userID == user && (than == nil || s.nth < than.nth) {
			s.close("server-side session disconnect", runtime.PresenceReasonDisconnect, notificationEnvelope(subject, code))
		}
	}
}
