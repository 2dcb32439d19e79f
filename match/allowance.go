package match

import (
	"sync"
	"time"
)

// allowance gives each user so many calls a minute, as many of them at once. Unlike the limiter, which is asked for every
// message, it goes by user: another session is no way around it.
type allowance struct {
	token time.Duration // until one more call is allowed
	size  time.Duration // a full bucket

	mu      sync.Mutex
	users   map[string]time.Duration // when a user's bucket will be full again
	sweptAt time.Duration
}

func newAllowance(perMinute int) *allowance {
	token := time.Minute / time.Duration(perMinute)
	return &allowance{token: token, size: token * time.Duration(perMinute), users: map[string]time.Duration{}}
}

// take spends one of the user's calls. With none left it returns how long until there is one.
func (a *allowance) take(userID string, now time.Duration) (wait time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep(now)
	return a.spend(userID, now)
}

// try runs an attempt, which must not block, and spends one of the user's calls only if it fails. With none left it is not
// run: whoever guesses learns nothing more.
func (a *allowance) try(userID string, now time.Duration, attempt func() bool) (wait time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep(now)
	before, known := a.users[userID]
	if wait, ok = a.spend(userID, now); !ok || !attempt() {
		return wait, ok
	}
	if a.users[userID] = before; !known {
		delete(a.users, userID)
	}
	return 0, true
}

func (a *allowance) spend(userID string, now time.Duration) (wait time.Duration, ok bool) {
	fullAt := a.users[userID]
	if !spend(&fullAt, now, a.token, a.size) {
		return fullAt + a.token - now - a.size, false
	}
	a.users[userID] = fullAt
	return 0, true
}

// sweep forgets the users whose buckets are full.
func (a *allowance) sweep(now time.Duration) {
	if now-a.sweptAt < sweepEvery {
		return
	}
	a.sweptAt = now
	for userID, fullAt := range a.users {
		if fullAt <= now {
			delete(a.users, userID)
		}
	}
}
