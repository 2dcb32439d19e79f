package match

import "sync"

// registry knows the tables that live in this process, and who opened how many.
type registry struct {
	mu       sync.RWMutex
	boxes    map[matchKey]*mailbox
	reserved map[string]string // by table id: who is about to open it
	open     map[string]int    // by user: tables and reservations
}

func newRegistry() *registry {
	return &registry{boxes: map[matchKey]*mailbox{}, reserved: map[string]string{}, open: map[string]int{}}
}

// find returns the mailbox of a table that lives here, or nil.
func (r *registry) find(key matchKey) *mailbox {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.boxes[key]
}

// reserve counts a table that the user is about to open; false beyond the limit.
func (r *registry) reserve(tableID, userID string, limit int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[userID] >= limit {
		return false
	}
	r.open[userID]++
	r.reserved[tableID] = userID
	return true
}

// cancel gives a reservation back that add has not taken up.
func (r *registry) cancel(tableID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if userID, pending := r.reserved[tableID]; pending {
		delete(r.reserved, tableID)
		r.release(userID)
	}
}

// add makes the table known, and its reservation, if it has one, a table that counts.
func (r *registry) add(b *mailbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.boxes[b.key] = b
	if _, pending := r.reserved[b.tableID]; pending {
		delete(r.reserved, b.tableID)
	} else {
		r.open[b.creator]++
	}
}

// remove forgets a table. Removing it twice is fine.
func (r *registry) remove(b *mailbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.boxes[b.key] != b {
		return
	}
	delete(r.boxes, b.key)
	r.release(b.creator)
}

// release needs the lock.
func (r *registry) release(userID string) {
	if r.open[userID]--; r.open[userID] <= 0 {
		delete(r.open, userID)
	}
}
