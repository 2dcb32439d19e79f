package local

import (
	"sync"

	"github.com/gofrs/uuid/v5"
)

// statusFollowers knows which sessions want to hear of which users' status.
type statusFollowers struct {
	mu     sync.RWMutex
	byUser map[uuid.UUID]map[uuid.UUID]struct{} // user → sessions
	byWho  map[uuid.UUID]map[uuid.UUID]struct{} // session → users
}

func newStatusFollowers() *statusFollowers {
	return &statusFollowers{byUser: map[uuid.UUID]map[uuid.UUID]struct{}{}, byWho: map[uuid.UUID]map[uuid.UUID]struct{}{}}
}

func (f *statusFollowers) follow(sessionID uuid.UUID, users ...uuid.UUID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byWho[sessionID] == nil {
		f.byWho[sessionID] = map[uuid.UUID]struct{}{}
	}
	for _, u := range users {
		if f.byUser[u] == nil {
			f.byUser[u] = map[uuid.UUID]struct{}{}
		}
		f.byUser[u][sessionID] = struct{}{}
		f.byWho[sessionID][u] = struct{}{}
	}
}

func (f *statusFollowers) unfollow(sessionID uuid.UUID, users ...uuid.UUID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unfollowLocked(sessionID, users)
}

func (f *statusFollowers) unfollowLocked(sessionID uuid.UUID, users []uuid.UUID) {
	for _, u := range users {
		delete(f.byUser[u], sessionID)
		if len(f.byUser[u]) == 0 {
			delete(f.byUser, u)
		}
		delete(f.byWho[sessionID], u)
	}
}

func (f *statusFollowers) forget(sessionID uuid.UUID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	users := make([]uuid.UUID, 0, len(f.byWho[sessionID]))
	for u := range f.byWho[sessionID] {
		users = append(users, u)
	}
	f.unfollowLocked(sessionID, users)
	delete(f.byWho, sessionID)
}

func (f *statusFollowers) followersOf(user uuid.UUID) []uuid.UUID {
	f.mu.RLock()
	defer f.mu.RUnlock()
	out := make([]uuid.UUID, 0, len(f.byUser[user]))
	for s := range f.byUser[user] {
		out = append(out, s)
	}
	return out
}
