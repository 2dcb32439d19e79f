package client

import wire "set3d/proto/set3d/v1"

// Position is a place in the history of a table: revisions rise within one incarnation, and a higher incarnation beats
// every revision.
type Position struct {
	Incarnation uint32
	Revision    uint64
}

// PositionOf is where a message belongs.
func PositionOf(stamp *wire.Stamp) Position {
	return Position{Incarnation: stamp.GetIncarnation(), Revision: stamp.GetRevision()}
}

// Before reports whether p is earlier than q.
func (p Position) Before(q Position) bool {
	return p.Incarnation < q.Incarnation || p.Incarnation == q.Incarnation && p.Revision < q.Revision
}

// Inbox puts the frames of a match into a form that is safe to use: nothing before the Welcome, no state twice, no state
// older than the one before. It knows nothing of sockets; Match feeds it. Not safe for concurrent use.
type Inbox struct {
	welcomed       bool // since the last Connected
	here           Position
	rosterRevision uint32
	waiting        []Message // came before the Welcome
	unreadable     int
}

// maxWaiting is how many messages wait for a Welcome; the oldest go first. The Welcome holds the state that they led to.
const maxWaiting = 256

// Connected says that a new connection has joined: its first message of interest is a Welcome again.
func (b *Inbox) Connected() {
	b.welcomed = false
	b.waiting = nil
}

// Position is that of the newest state that was let through.
func (b *Inbox) Position() Position { return b.here }

// Unreadable is how many frames could not be unmarshalled. They are dropped: a snapshot follows sooner or later.
func (b *Inbox) Unreadable() int { return b.unreadable }

// Push takes a frame and returns the messages that may be used now, in order: none, or one, or after a Welcome all that
// waited for it. Notices and errors wait for nothing.
func (b *Inbox) Push(frame Frame) []Message {
	message, known, err := ReadFrame(frame)
	if err != nil {
		b.unreadable++
	}
	if !known {
		return nil
	}
	switch message.Body.(type) {
	case *wire.Notice, *wire.Error:
		return []Message{message}
	case *wire.Welcome:
		return b.welcome(message)
	}
	if !b.welcomed {
		if len(b.waiting) == maxWaiting {
			b.waiting = append(b.waiting[:0], b.waiting[1:]...)
		}
		b.waiting = append(b.waiting, message)
		return nil
	}
	if b.stale(message) {
		return nil
	}
	return []Message{message}
}

// welcome lets a Welcome through unless it is older than the state that is known; one for the same state may carry the
// answer that somebody waits for.
func (b *Inbox) welcome(message Message) []Message {
	stamp := message.Body.GetStamp()
	if PositionOf(stamp).Before(b.here) {
		return nil
	}
	b.welcomed = true
	b.here = PositionOf(stamp)
	b.rosterRevision = stamp.GetRosterRevision()
	released := []Message{message}
	for _, waiting := range b.waiting {
		if !b.stale(waiting) {
			released = append(released, waiting)
		}
	}
	b.waiting = nil
	return released
}

// stale reports whether a message holds a state that is known already, and takes note of the state if not.
func (b *Inbox) stale(message Message) bool {
	stamp := message.Body.GetStamp()
	switch message.Body.(type) {
	case *wire.Update:
		if !b.here.Before(PositionOf(stamp)) {
			return true
		}
		b.here = PositionOf(stamp)
	case *wire.Roster:
		if stamp.GetIncarnation() < b.here.Incarnation ||
			stamp.GetIncarnation() == b.here.Incarnation && stamp.GetRosterRevision() <= b.rosterRevision {
			return true
		}
		b.rosterRevision = stamp.GetRosterRevision()
	}
	return false
}
