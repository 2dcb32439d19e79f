package match

import (
	"slices"
	"time"
)

// wish is a user who wants a seat at any table of a kind.
type wish struct {
	userID string
	kind   tableKind
	now    time.Duration
	until  time.Duration
	apart  func(otherID string) bool // whether the user is not to sit with another
}

// finding is what came of a wish: one of the two is set.
type finding struct {
	box     *mailbox // a seat is reserved there, or is free if the user's promise there is over
	opening *opening // a seat is promised there, once it is made
	mine    bool     // and the caller has to make it
}

// seek finds a user a seat: where the user has one already, at an open table, at one that is being made, at an open
// table where the user's promise is over (first come, first served), or at fresh, which the caller makes. ok is false
// if nothing was found and the caller may open no more tables. Of parallel callers only as many make tables as are
// needed.
func (r *registry) seek(w wish, fresh *opening, limit int) (found finding, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.seekTable(w); b != nil {
		return finding{box: b}, true
	}
	for _, o := range r.openings {
		if o.promise(w) {
			return finding{opening: o}, true
		}
	}
	if b := r.seekRoom(w); b != nil {
		return finding{box: b}, true
	}
	if !r.beginLocked(fresh, limit) {
		return finding{}, false
	}
	return finding{opening: fresh, mine: true}, true
}

// neighbours are the users whom a wish may lead to, so that their block lists can be read before the lock is taken.
func (r *registry) neighbours(kind tableKind, now time.Duration) []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var users []string
	for _, b := range r.lobbies[kind] {
		if b.ledger.free(now) > 0 {
			users = append(users, b.ledger.users(now)...)
		}
	}
	for _, o := range r.openings {
		if k, ok := o.setup.kind(); ok && k == kind && !o.resumed {
			users = append(users, o.promised...)
		}
	}
	return users
}

func (r *registry) seekTable(w wish) *mailbox {
	var over []*mailbox
	defer func() {
		for _, b := range over {
			r.unpublish(b)
		}
	}()
	open := r.lobbies[w.kind]
	for _, b := range open {
		if b.ledger.holds(w.userID, w.now) && b.ledger.reserve(w.userID, w.until, w.now) {
			return b
		}
	}
	for _, b := range open {
		switch {
		case b.ledger.over():
			over = append(over, b)
		case slices.ContainsFunc(b.ledger.users(w.now), w.apart):
		case b.ledger.reserve(w.userID, w.until, w.now):
			return b
		}
	}
	return nil
}

// seekRoom finds a table with a free seat that the user cannot be promised any more. Somebody may be waiting there,
// so it is better than a new table for both.
func (r *registry) seekRoom(w wish) *mailbox {
	for _, b := range r.lobbies[w.kind] {
		if b.ledger.hasRoom(w.userID, w.now) && !slices.ContainsFunc(b.ledger.users(w.now), w.apart) {
			return b
		}
	}
	return nil
}

// promise keeps a seat for a user at a table that is being made.
func (o *opening) promise(w wish) bool {
	kind, ok := o.setup.kind()
	if !ok || kind != w.kind || o.resumed {
		return false
	}
	if slices.Contains(o.promised, w.userID) {
		return true
	}
	if len(o.promised) >= kind.seats || slices.ContainsFunc(o.promised, w.apart) {
		return false
	}
	if o.box != nil && !o.box.ledger.reserve(w.userID, w.until, w.now) {
		return false
	}
	o.promised = append(o.promised, w.userID)
	return true
}

// users are those who sit at the table or are promised a seat.
func (l *ledger) users(now time.Duration) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var users []string
	for i := range l.count {
		if p := &l.places[i]; p.userID != "" && (p.taken || now < p.until) {
			users = append(users, p.userID)
		}
	}
	return users
}

// holds reports whether a user sits at the table or is promised a seat, while it is a lobby.
func (l *ledger) holds(userID string, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.shut && l.of(userID, now) >= 0
}

// over reports whether the lobby is.
func (l *ledger) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shut
}
