package match

import (
	"sync"
	"sync/atomic"
	"time"

	"set3d/domain"
)

const (
	// mailboxSize bounds what waits for one drain: eight players and their spectators at full rate, for a second.
	mailboxSize = 256
	// parkedMax is how many messages of a session may wait for its MatchJoin.
	parkedMax = 16
	// arrivalLimit is how long an admitted session may take to arrive. Nakama gives up a join between 15 and 45 s.
	arrivalLimit = time.Minute
)

// mail is one message on its way to the match's goroutine.
type mail struct {
	from    *visitor
	opCode  int64
	payload []byte
	at      time.Duration // arrival, on the module's clock
	run     func(*table)  // instead of a message: something of our own, to be done on the match's goroutine
}

// posting is what became of a message at the mailbox.
type posting uint8

const (
	posted posting = iota + 1
	postedSilently
	refusedStranger // the session was not admitted
	refusedFull
	refusedClosed
)

// mailbox is the part of a table that other goroutines share with the match's own: the messages that wait, the sessions
// that may send them, the bell that wakes the match up, and what an answer from outside needs to know. The mutex also
// orders arrivals: a message's time is taken under it.
type mailbox struct {
	module  *module
	id      string // as Nakama spells it
	key     matchKey
	tableID string
	creator string // user id of who opened the table; empty: the server
	code    string // by which others find it
	rules   domain.Rules
	panicAt entryPoint // test hook
	tripped atomic.Bool
	ledger  *ledger   // of the seats; it has a lock of its own
	kind    tableKind // as which quick_match finds it; the registry's
	serial  int64     // of being listed, 0 before; the registry's

	mu       sync.Mutex
	queue    []mail
	depth    int    // the most that was in the queue since measure asked
	spare    []mail // the batch that is being judged; its memory is used for the next queue
	admitted map[string]*admission
	ringing  bool
	closed   bool
	poisoned bool
	alarm    alarm
	standing standing
	met      map[string]bool // users who have been here, at most metMax
	review   *review         // of the match, when it is over
	facts    facts
}

// admission is a session that the match has let in.
type admission struct {
	visitor *visitor
	arrived bool          // MatchJoin has run
	until   time.Duration // when the admission lapses, unless arrived
	parked  []mail        // what came before MatchJoin
}

// standing is what the stamp of an answer needs when it is not made on the match's goroutine.
type standing struct {
	started        bool
	startedAt      time.Duration
	incarnation    uint32
	revision       uint64
	rosterRevision uint32
}

// put takes a message in. A session that has not arrived yet is heard after its MatchJoin.
func (b *mailbox) put(sessionID string, opCode int64, payload []byte) posting {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return refusedClosed
	}
	a := b.admitted[sessionID]
	if a == nil {
		return refusedStranger
	}
	m := mail{from: a.visitor, opCode: opCode, payload: payload, at: b.module.clock.now()}
	if !a.arrived {
		if len(a.parked) == parkedMax {
			return refusedFull
		}
		a.parked = append(a.parked, m)
		return postedSilently
	}
	if len(b.queue) >= mailboxSize {
		return refusedFull
	}
	b.queue = append(b.queue, m)
	b.depth = max(b.depth, len(b.queue))
	if b.ringing {
		return postedSilently
	}
	b.ringing = true
	return posted
}

// tell lets f run on the match's goroutine, unless the table closes before. What tells is bounded by itself: one for each user
// who sits down, one for a rematch.
func (b *mailbox) tell(f func(*table)) {
	b.post(mail{run: f})
	b.ring()
}

func (b *mailbox) post(m mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		m.at = b.module.clock.now()
		b.queue = append(b.queue, m)
		b.depth = max(b.depth, len(b.queue))
	}
}

// take clears the bell's flag and takes what has come, with the time up to which that is all. The batch is valid until
// the next take. alive is false once something beside the match's goroutine has panicked.
func (b *mailbox) take() (batch []mail, now time.Duration, alive bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ringing = false
	b.queue, b.spare = b.spare[:0], b.queue
	return b.spare, b.module.clock.now(), !b.poisoned
}

// admit lets a session in, before its MatchJoin. A session that tries again keeps what it has sent.
func (b *mailbox) admit(v *visitor) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.admitted[v.sessionID] == nil {
		b.admitted[v.sessionID] = &admission{visitor: v, until: b.module.clock.now() + arrivalLimit}
	}
}

// arrive is the session's MatchJoin: from now on its messages are heard at once. It returns what was parked.
func (b *mailbox) arrive(v *visitor) (*visitor, []mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.admitted[v.sessionID]
	if a == nil { // Nakama took longer than we waited; we had said yes
		a = &admission{visitor: v}
		b.admitted[v.sessionID] = a
	}
	if len(b.met) < metMax {
		b.met[a.visitor.userID] = true
	}
	parked := a.parked
	a.arrived, a.parked = true, nil
	return a.visitor, parked
}

// dismiss ends a session's admission and returns what it still had parked.
func (b *mailbox) dismiss(sessionID string) []mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.admitted[sessionID]
	if a == nil {
		return nil
	}
	delete(b.admitted, sessionID)
	return a.parked
}

// expire dismisses the sessions that were admitted and never arrived, and returns what they had parked.
func (b *mailbox) expire() []mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.module.clock.now()
	var left []mail
	for sessionID, a := range b.admitted {
		if !a.arrived && now >= a.until {
			delete(b.admitted, sessionID)
			left = append(left, a.parked...)
		}
	}
	return left
}

// expected counts the admitted sessions that have not arrived and that count says to count.
func (b *mailbox) expected(count func(*visitor) bool) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, a := range b.admitted {
		if !a.arrived && count(a.visitor) {
			n++
		}
	}
	return n
}

// close shuts the mailbox and returns everything in it, parked messages too. Nothing comes in any more.
func (b *mailbox) close() []mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	b.ledger.close()
	left := append([]mail(nil), b.queue...)
	for _, a := range b.admitted {
		left = append(left, a.parked...)
	}
	b.queue, b.spare, b.admitted = nil, nil, nil
	if b.alarm != nil {
		b.alarm.Stop()
	}
	return left
}

// isStirred reports whether something waits for the match's goroutine, or has happened beside it.
func (b *mailbox) isStirred() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) > 0 || b.poisoned || b.closed
}

func (b *mailbox) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

// poison marks the table as broken by something beside the match's goroutine.
func (b *mailbox) poison() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.poisoned = true
}

// publish tells answers from outside where the table stands.
func (b *mailbox) publish(s standing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.standing = s
}

func (b *mailbox) where() standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.standing
}
