package match

import (
	"maps"
	"slices"
	"sync"
	"time"

	"set3d/domain"
)

// ledger says which seats are free, which are taken and which are promised to a user who is on the way. It is the one truth
// about that: the match's goroutine seats people and bots by it, and the registry promises seats by it from other
// goroutines. When the lobby is over it is shut, and nobody is seated or promised anything any more.
type ledger struct {
	mu      sync.Mutex
	count   int
	sealed  bool // a countdown runs: no new promises, or they would be broken
	shut    bool
	changed bool // from outside, since the match's goroutine looked
	places  [domain.MaxPlayers]place
	barred  map[string]bool // users whom the host has removed
	given   map[string]bool // users who have been promised a seat here, at most promisesMax
}

// promisesMax bounds how many users a lobby promises a seat, and remembers. Those who come after them are sent there
// without a promise.
const promisesMax = 1_000

// place is what the ledger knows of a seat.
type place struct {
	taken  bool          // somebody sits there, a user or a bot
	userID string        // who sits there, or has the promise; empty for a bot
	until  time.Duration // how long the promise stands, unless taken
}

// newLedger has the seats of a table; promised are users by seat whose promises stand until then.
func newLedger(count int, promised [domain.MaxPlayers]string, until time.Duration) *ledger {
	l := &ledger{count: count, barred: map[string]bool{}, given: map[string]bool{}}
	for i, userID := range promised[:count] {
		if userID != "" {
			l.places[i] = place{userID: userID, until: until}
			l.given[userID] = true
		}
	}
	return l
}

// reserveSeat is reserve, and shows the others the promise. Any goroutine may call it.
func (b *mailbox) reserveSeat(userID string, until time.Duration) bool {
	if !b.ledger.reserve(userID, until, b.module.clock.now()) {
		return false
	}
	b.ring() // the roster shows promises
	return true
}

// freeSeats counts the seats that can be promised now; 0 when the lobby is over. Any goroutine may call it.
func (b *mailbox) freeSeats() int { return b.ledger.free(b.module.clock.now()) }

// reserve promises a seat to a user until a moment of the module's clock. A user is promised a seat at a table once:
// a user who sits, or whose promise stands, keeps that seat, and the promise ends when it would have ended. false if
// no seat is free, the lobby is over or about to be, or the user was removed from this table or has been promised a
// seat here before.
func (l *ledger) reserve(userID string, until, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.shut || l.barred[userID] || userID == "":
		return false
	case l.of(userID, now) >= 0:
		return true
	case l.sealed || l.given[userID] || len(l.given) >= promisesMax:
		return false
	}
	seat := l.lowestFree(now)
	if seat < 0 {
		return false
	}
	l.places[seat] = place{userID: userID, until: until}
	l.given[userID], l.changed = true, true
	return true
}

// restart lets the promise of a user begin anew, if it stands. The server does that when a table took long to make,
// and never at a client's wish.
func (l *ledger) restart(userID string, until, now time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.of(userID, now); i >= 0 && !l.places[i].taken {
		l.places[i].until, l.changed = max(l.places[i].until, until), true
	}
}

// hasRoom reports whether a user without a promise would get a seat now.
func (l *ledger) hasRoom(userID string, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.shut && !l.sealed && !l.barred[userID] && userID != "" && l.lowestFree(now) >= 0
}

func (l *ledger) free(now time.Duration) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for i := range l.count {
		if !l.shut && !l.sealed && l.isFree(i, now) {
			n++
		}
	}
	return n
}

// sit gives a user the wanted seat, or with anySeat the one that is the user's already, else the lowest free one. The seat
// that the user had is free then.
func (l *ledger) sit(userID string, wanted int, now time.Duration) (int, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut || l.barred[userID] {
		return spectatorSeat, false
	}
	own := l.of(userID, now)
	switch {
	case wanted == anySeat && own >= 0:
		wanted = own
	case wanted == anySeat:
		wanted = l.lowestFree(now)
	}
	if wanted < 0 || wanted != own && !l.isFree(wanted, now) {
		return spectatorSeat, false
	}
	if own >= 0 {
		l.places[own] = place{}
	}
	l.places[wanted] = place{taken: true, userID: userID}
	return wanted, true
}

// seatBot gives a bot the wanted seat, or with anySeat the lowest free one.
func (l *ledger) seatBot(wanted int, now time.Duration) (int, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wanted == anySeat {
		wanted = l.lowestFree(now)
	}
	if l.shut || wanted < 0 || !l.isFree(wanted, now) {
		return spectatorSeat, false
	}
	l.places[wanted] = place{taken: true}
	return wanted, true
}

// vacate frees a seat.
func (l *ledger) vacate(seat int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.places[seat] = place{}
}

// bar keeps users from this table for good.
func (l *ledger) bar(users ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, userID := range users {
		l.barred[userID] = true
	}
}

// barredUsers are the users who may not come back, in order.
func (l *ledger) barredUsers() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.barred))
}

// barredCount is how many they are.
func (l *ledger) barredCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.barred)
}

func (l *ledger) bars(userID string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.barred[userID]
}

// promised reports whether a seat waits for the user.
func (l *ledger) promised(userID string, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.of(userID, now)
	return !l.shut && i >= 0 && !l.places[i].taken
}

// promise is until when a seat is promised, if it is.
func (l *ledger) promise(seat int, now time.Duration) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.places[seat]
	return p.until, !l.shut && l.isPromised(seat, now)
}

// promises counts the seats that are promised.
func (l *ledger) promises(now time.Duration) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for i := range l.count {
		if l.isPromised(i, now) {
			n++
		}
	}
	return n
}

// lapse forgets the promises that are over, and reports whether any seat has changed from outside, or by that.
func (l *ledger) lapse(now time.Duration) (changed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.count {
		if p := &l.places[i]; !p.taken && p.userID != "" && now >= p.until {
			*p, l.changed = place{}, true
		}
	}
	changed, l.changed = l.changed, false
	return changed
}

// seal says whether promises can be made. Those that stand are kept.
func (l *ledger) seal(sealed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sealed = sealed
}

// close ends the lobby.
func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut = true
}

// What follows needs the lock.

// of is the seat where the user sits or may sit, or spectatorSeat.
func (l *ledger) of(userID string, now time.Duration) int {
	for i := range l.count {
		if p := &l.places[i]; userID != "" && p.userID == userID && (p.taken || now < p.until) {
			return i
		}
	}
	return spectatorSeat
}

func (l *ledger) lowestFree(now time.Duration) int {
	for i := range l.count {
		if l.isFree(i, now) {
			return i
		}
	}
	return spectatorSeat
}

func (l *ledger) isFree(seat int, now time.Duration) bool {
	return seat < l.count && !l.places[seat].taken && !l.isPromised(seat, now)
}

func (l *ledger) isPromised(seat int, now time.Duration) bool {
	p := &l.places[seat]
	return !p.taken && p.userID != "" && now < p.until
}
