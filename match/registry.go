package match

import (
	"cmp"
	"slices"
	"sync"
)

// registry knows the tables that live in this process and those that are being made, who opened how many, and which code
// leads where. Nakama's listing is a second old and its RPCs run in parallel, so all that must not be decided twice is decided
// here, under one mutex. Whoever holds it waits for nothing but a table's ledger.
type registry struct {
	newCode func() string

	mu       sync.RWMutex
	boxes    map[matchKey]*mailbox
	byTable  map[string]*mailbox // the newest of each table
	openings []*opening
	codes    map[string]*mailbox // nil: of a table that is being made
	open     map[string]int      // by user: tables and openings
	lobbies  map[tableKind][]*mailbox
	serial   int64 // of the last table that was listed
}

// tableKind is what quick_match is asked for.
type tableKind struct {
	preset string
	seats  int
}

func newRegistry() *registry {
	return &registry{
		newCode: newCode, boxes: map[matchKey]*mailbox{}, byTable: map[string]*mailbox{}, codes: map[string]*mailbox{}, open: map[string]int{},
		lobbies: map[tableKind][]*mailbox{},
	}
}

// find returns the mailbox of a table that lives here, or nil.
func (r *registry) find(key matchKey) *mailbox {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.boxes[key]
}

// byCode returns the mailbox of the table with a code, or nil.
func (r *registry) byCode(code string) *mailbox {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.codes[code]
}

// listed returns the tables that can be joined by now, the newest first.
func (r *registry) listed() []*mailbox {
	r.mu.RLock()
	defer r.mu.RUnlock()
	boxes := make([]*mailbox, 0, len(r.boxes))
	for _, b := range r.boxes {
		if b.serial != 0 {
			boxes = append(boxes, b)
		}
	}
	slices.SortFunc(boxes, func(a, b *mailbox) int { return cmp.Compare(b.serial, a.serial) })
	return boxes
}

// ofTable returns the mailbox of a table that is open, or nil.
func (r *registry) ofTable(tableID string) *mailbox {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.ofTableLocked(tableID)
}

// playing counts the tables that have not closed, and those that are being made.
func (r *registry) playing() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	n := len(r.openings)
	for _, b := range r.boxes {
		if !b.isClosed() {
			n++
		}
	}
	return n
}

// add makes a table known whose match is being made. Nobody is sent there before it is listed.
func (r *registry) add(b *mailbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.boxes[b.key], r.byTable[b.tableID] = b, b
	i := slices.IndexFunc(r.openings, func(o *opening) bool { return o.setup.TableID == b.tableID })
	if i < 0 { // not made by us
		r.count(b.creator)
		r.list(b)
		return
	}
	o := r.openings[i]
	o.box = b
	o.keepPromises(b.module.clock.now())
}

// remove forgets a table. Removing it twice is fine.
func (r *registry) remove(b *mailbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeLocked(b)
}

// publish lets quick_match send users to a table.
func (r *registry) publish(b *mailbox, kind tableKind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.boxes[b.key] == b {
		r.publishLocked(b, kind)
	}
}

// What follows needs the lock.

func (r *registry) ofTableLocked(tableID string) *mailbox {
	if b := r.byTable[tableID]; b != nil && !b.isClosed() {
		return b
	}
	return nil
}

func (r *registry) list(b *mailbox) {
	r.serial++
	b.serial = r.serial
}

func (r *registry) publishLocked(b *mailbox, kind tableKind) {
	if b.kind == (tableKind{}) {
		b.kind = kind
		r.lobbies[kind] = append(r.lobbies[kind], b)
	}
}

func (r *registry) removeLocked(b *mailbox) {
	if r.boxes[b.key] != b {
		return
	}
	delete(r.boxes, b.key)
	if r.byTable[b.tableID] == b {
		delete(r.byTable, b.tableID)
	}
	if b.code != "" {
		delete(r.codes, b.code)
	}
	r.unpublish(b)
	r.release(b.creator)
}

// unpublish takes a table off the list of those that may have a free seat.
func (r *registry) unpublish(b *mailbox) {
	rest := slices.DeleteFunc(r.lobbies[b.kind], func(o *mailbox) bool { return o == b })
	if r.lobbies[b.kind] = rest; len(rest) == 0 {
		delete(r.lobbies, b.kind)
	}
}

func (r *registry) count(userID string) {
	if userID != "" {
		r.open[userID]++
	}
}

func (r *registry) release(userID string) {
	if userID == "" {
		return
	}
	if r.open[userID]--; r.open[userID] <= 0 {
		delete(r.open, userID)
	}
}

// population is how many entries there are of everything, so that a test can see that nothing stays.
func (r *registry) population() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.boxes) + len(r.byTable) + len(r.openings) + len(r.codes) + len(r.open) + len(r.lobbies)
}
