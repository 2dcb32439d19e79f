package client

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// Transport is what a Controller needs of a connection.
type Transport interface {
	// Send hands a message to the connection. It may get lost on the way, and nobody says so.
	Send(op wire.OpCode, body proto.Message)
	// Reconnect closes the socket, opens another and joins again, all in the background: the same match, or the one in which its table
	// goes on after a restart of the server. Controller.Joined is called when that is done.
	Reconnect()
}

// Controller is the OnlineMatchController of the spec: a local replica of the match in which the player selects cards, and the
// one claim that waits for the server. The third selection puts the replica into Validating and sends the claim; whatever
// is lost on the way, the claim is answered in the end, once:
//
//	no answer for Timing.resend_after_ms     the same claim again, with the same id
//	no answer for Timing.give_up_after_ms    REQUEST_SNAPSHOT; its Welcome has the verdict if there is one, else the claim is sent again
//	nothing for Timing.reconnect_after_ms    a new socket, which begins with a Welcome too
//
// A message that speaks of a newer state than the replica's shows that an update was lost, and is answered with REQUEST_SNAPSHOT;
// a ROSTER does not, for it comes before the UPDATE of its moment.
//
// It does no input or output of its own, reads no clock but the given one, and starts no goroutine. Not safe for concurrent
// use.
type Controller struct {
	transport Transport
	clock     func() time.Duration
	claimIDs  func() uint64

	rules   domain.Rules
	timing  timing
	replica *domain.Replica // nil until there is a snapshot
	seat    int             // own seat, or noSeat
	time    matchTime
	link    linkState
	here    Position // of the replica
	claim   *waitingClaim
	retryMs int64 // match time before which a claim will be refused, as the last refusal said
	ended   *wire.MatchEnded
	closed  bool // the server said that nothing more comes, or not for us
	leaving bool // the server shuts down: what closes now may go on elsewhere

	unreadable int
}

const noSeat = -1

// ControllerConfig says what a Controller works with.
type ControllerConfig struct {
	Transport Transport
	// Clock is a monotonic clock, from any moment on.
	Clock func() time.Duration
	// ClaimIDs makes ids for claims: random ones when nil.
	ClaimIDs func() uint64
}

// NewController makes a controller that waits for Joined and the Welcome.
func NewController(config ControllerConfig) *Controller {
	c := &Controller{
		transport: config.Transport, clock: config.Clock, claimIDs: config.ClaimIDs, seat: noSeat, timing: readTiming(nil),
	}
	if c.claimIDs == nil {
		c.claimIDs = randomClaimID
	}
	return c
}

func randomClaimID() uint64 {
	var raw [8]byte
	for {
		_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the program instead
		if id := binary.LittleEndian.Uint64(raw[:]); id != 0 {
			return id
		}
	}
}

// SelectCard selects the card in a slot. The third one claims: the result is then domain.Waiting, and its Verdict names
// the cards and slots. A refusal costs nothing.
func (c *Controller) SelectCard(slot int) domain.Result {
	if c.replica == nil || c.closed {
		return domain.Result{Outcome: domain.Refused, Refusal: domain.Refusal{Reason: domain.RefusedNotStarted}}
	}
	result := c.replica.Select(c.MatchTimeMs(), c.seat, slot)
	if result.Outcome == domain.Waiting {
		c.beginClaim(result.Verdict)
	}
	return result
}

// DeselectCard takes a slot out of the selection.
func (c *Controller) DeselectCard(slot int) domain.Result {
	if c.replica == nil || c.closed {
		return domain.Result{Outcome: domain.Refused, Refusal: domain.Refusal{Reason: domain.RefusedNotStarted}}
	}
	return c.replica.Deselect(c.MatchTimeMs(), c.seat, slot)
}

// Receive takes the next message of the match. It returns the resolution of the waiting claim when the message decides it.
func (c *Controller) Receive(m Message) (Resolution, bool) {
	now := c.clock()
	c.link.heard(now)
	c.time.observe(now, m.Body.GetStamp())
	resolution, resolved := c.receive(m)
	// A roster goes out just before the update of the same moment, with its revision: that update is still on its way.
	if _, roster := m.Body.(*wire.Roster); !roster && c.here.Before(PositionOf(m.Body.GetStamp())) {
		c.catchUp(now)
	}
	return resolution, resolved
}

func (c *Controller) receive(m Message) (Resolution, bool) {
	switch body := m.Body.(type) {
	case *wire.Welcome:
		return c.welcome(body)
	case *wire.Update:
		return c.update(body)
	case *wire.ClaimResult:
		return c.claimResult(body)
	case *wire.Notice:
		return c.notice(body)
	case *wire.Error:
		return c.refusedMessage(body)
	}
	return Resolution{}, false
}

func (c *Controller) welcome(w *wire.Welcome) (Resolution, bool) {
	c.timing = readTiming(w.GetTiming())
	c.rules = DomainRules(w.GetRules())
	c.seat = noSeat
	if w.GetRole() == wire.Role_ROLE_PLAYER && w.Seat != nil {
		c.seat = int(w.GetSeat())
	}
	c.ended = w.GetEnded()
	c.leaving = false
	if w.GetStamp().GetIncarnation() > c.here.Incarnation {
		c.retryMs = 0 // match time may have gone back
	}
	returning := c.link.welcomed()
	verdict := w.GetLastVerdict()
	answered := c.claim != nil && verdict.GetClaimId() == c.claim.id
	c.applyServerState(w.GetStamp(), w.GetSnapshot(), answered)
	switch {
	case answered:
		return c.judged(verdict)
	case c.claim != nil && c.seat == noSeat:
		return c.abandoned()
	case c.claim != nil && (returning || c.claim.asked):
		c.startClaim()
	}
	return Resolution{}, false
}

func (c *Controller) update(u *wire.Update) (Resolution, bool) {
	var verdict *wire.SetClaimed
	for _, event := range u.GetEvents() {
		claimed := event.GetSetClaimed()
		if c.claim != nil && claimed != nil && int(claimed.GetSeat()) == c.seat && claimed.GetClaimId() == c.claim.id {
			verdict = claimed
		}
		if started := event.GetMatchStarted(); started != nil {
			c.rules = DomainRules(started.GetRules())
		}
		if ended := event.GetMatchEnded(); ended != nil {
			c.ended = ended
		}
	}
	c.applyServerState(u.GetStamp(), u.GetSnapshot(), verdict != nil)
	if verdict != nil {
		return c.judged(verdict)
	}
	return Resolution{}, false
}

// applyServerState puts the server's state in the replica's place; the selection stays where its cards do.
func (c *Controller) applyServerState(stamp *wire.Stamp, w *wire.Snapshot, answered bool) {
	c.here = PositionOf(stamp)
	if w == nil {
		return
	}
	who := domain.NobodyAnswered
	if answered {
		who = c.seat
	}
	state, err := DomainSnapshot(w)
	if err == nil && c.replica == nil {
		c.replica, err = domain.NewReplica(c.rules, state.Players)
	}
	if err == nil {
		err = c.replica.Sync(state, int64(stamp.GetServerTimeMs()), who)
	}
	if err != nil {
		c.unreadable++
	}
}

// notice ends the match for us when the server says so: after these nothing comes, and reconnecting would be wrong. A suspended match
// is another thing: it goes on, and a claim that waits is sent again there.
func (c *Controller) notice(n *wire.Notice) (Resolution, bool) {
	switch n.GetKind() {
	case wire.NoticeKind_NOTICE_KIND_REPLACED, wire.NoticeKind_NOTICE_KIND_CONTESTED, wire.NoticeKind_NOTICE_KIND_KICKED, wire.NoticeKind_NOTICE_KIND_CLOSED:
		c.closed = true
		return c.abandoned()
	case wire.NoticeKind_NOTICE_KIND_SHUTDOWN:
		c.leaving = true
	case wire.NoticeKind_NOTICE_KIND_SUSPENDED:
		c.reconnect()
	}
	return Resolution{}, false
}

// refusedMessage is about a message that the server did not take. A claim that met a full table or a limit is sent again in
// its time.
func (c *Controller) refusedMessage(e *wire.Error) (Resolution, bool) {
	switch e.GetReason() {
	case wire.Reason_REASON_TABLE_CLOSED:
		if c.maySuspend() {
			return Resolution{}, false
		}
		c.closed = true
		return c.abandoned()
	case wire.Reason_REASON_NOT_IN_MATCH:
		c.reconnect()
	}
	return Resolution{}, false
}

// maySuspend reports whether a table that closes need not be the end: a notice follows that says whether it is, or has come.
func (c *Controller) maySuspend() bool { return c.leaving || c.link.phase == linkDown }

// State is the spec's MatchState of the own seat. Validating is waiting for the server.
func (c *Controller) State() domain.MatchState {
	if c.replica == nil {
		return domain.BoardIdle
	}
	if c.seat == noSeat {
		return c.replica.Snapshot().State
	}
	c.replica.Advance(c.MatchTimeMs()) // the end of a lock sends nothing
	return c.replica.Input(c.seat).State
}

// Selected is the selected slots in the order of selection.
func (c *Controller) Selected() []int {
	if c.replica == nil || c.seat == noSeat {
		return nil
	}
	return c.replica.Input(c.seat).Selected
}

// Snapshot is the shared state as the server last said it; false before the match has started.
func (c *Controller) Snapshot() (domain.Snapshot, bool) {
	if c.replica == nil {
		return domain.Snapshot{}, false
	}
	return c.replica.Snapshot(), true
}

// Seat is the own seat, or false for a spectator and before the Welcome.
func (c *Controller) Seat() (int, bool) { return c.seat, c.seat != noSeat }

// Rules are the rules of the match, once the Welcome has come.
func (c *Controller) Rules() domain.Rules { return c.rules }

// Ended is the final table, or nil.
func (c *Controller) Ended() *wire.MatchEnded { return c.ended }

// Closed reports whether the server said that this client is out, or the table gone. Never reconnect then.
func (c *Controller) Closed() bool { return c.closed }

// MatchTimeMs is the match time now, as far as it can be told from the stamps so far: never ahead of the server, behind by no
// more than the way of the fastest message.
func (c *Controller) MatchTimeMs() int64 { return c.time.at(c.clock()) }

// RetryAtMs is the match time before which a claim will be refused, or 0: the own lock, or what the last refusal said.
func (c *Controller) RetryAtMs() int64 {
	retry := c.retryMs
	if state, ok := c.Snapshot(); ok && c.seat != noSeat {
		retry = max(retry, state.ByPlayer[c.seat].LockedUntilMs)
	}
	return retry
}
