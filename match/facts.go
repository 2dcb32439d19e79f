package match

import (
	"slices"
	"time"

	"set3d/domain"
)

// facts are what others than the match's goroutine may know of its table. The label index of Nakama's is a second old,
// these are as new as the last callback.
type facts struct {
	label label
	seats [domain.MaxPlayers]seatFact
}

// seatFact is a seat that somebody sits on.
type seatFact struct {
	userID    string
	score     int
	connected bool
	forfeited bool
	heldUntil time.Duration // on the module's clock; 0: not held
}

// sits reports whether a user has a seat, forfeited or not.
func (f *facts) sits(userID string) bool {
	return slices.ContainsFunc(f.seats[:], func(s seatFact) bool { return userID != "" && s.userID == userID })
}

// factsAt is what facts depend on: without a change of it they are the same.
type factsAt struct {
	label          label
	revision       uint64
	rosterRevision uint32
}

// announce publishes the facts.
func (b *mailbox) announce(f facts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.facts = f
}

// known are the facts of the last callback.
func (b *mailbox) known() facts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.facts
}

// publishFacts tells what has changed for those outside.
func (t *table) publishFacts() {
	at := factsAt{t.label, t.standing.revision, t.standing.rosterRevision}
	if at == t.factsAt {
		return
	}
	t.factsAt = at
	f := facts{label: t.label}
	var byPlayer [domain.MaxPlayers]domain.PlayerSnapshot
	if t.standing.started {
		byPlayer = t.session.Snapshot().ByPlayer
	}
	for i := range t.seats.count {
		s, p := &t.seats.seat[i], &byPlayer[i]
		f.seats[i] = seatFact{userID: s.userID, score: p.Score, connected: s.visitor != nil, forfeited: p.Forfeited}
		if untilMs, held := t.session.HeldUntilMs(i); held {
			f.seats[i].heldUntil = t.standing.startedAt + ms(untilMs)
		}
	}
	t.box.announce(f)
}
