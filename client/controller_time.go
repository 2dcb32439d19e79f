package client

import (
	"time"

	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

// timing is how long the controller waits for what.
type timing struct{ resend, giveUp, reconnect, ping time.Duration }

// readTiming takes the server's advice; what it leaves out is as on a server that was not configured.
func readTiming(w *wire.Timing) timing {
	advice := func(ms uint32, otherwise time.Duration) time.Duration {
		if ms == 0 {
			return otherwise
		}
		return time.Duration(ms) * time.Millisecond
	}
	return timing{
		resend:    advice(w.GetResendAfterMs(), 2*time.Second),
		giveUp:    advice(w.GetGiveUpAfterMs(), 6*time.Second),
		reconnect: advice(w.GetReconnectAfterMs(), 4*time.Second),
		ping:      advice(w.GetPingEveryMs(), 10*time.Second),
	}
}

// matchTime estimates the match clock from the stamps: the message that was fastest on its way tells it best.
type matchTime struct {
	known       bool
	incarnation uint32
	offset      time.Duration // local time at match time 0, as late as it could be
}

// observe takes a stamp. A match that has not begun has no time, and a resumed one has another.
func (t *matchTime) observe(now time.Duration, stamp *wire.Stamp) {
	if stamp.GetServerTimeMs() == 0 || t.known && stamp.GetIncarnation() < t.incarnation {
		return
	}
	offset := now - time.Duration(stamp.GetServerTimeMs())*time.Millisecond
	if !t.known || stamp.GetIncarnation() > t.incarnation || offset < t.offset {
		t.known, t.incarnation, t.offset = true, stamp.GetIncarnation(), offset
	}
}

func (t *matchTime) at(now time.Duration) int64 {
	if !t.known {
		return 0
	}
	return (now - t.offset).Milliseconds()
}

// linkPhase is how far a connection is. The zero value is not connected.
type linkPhase uint8

const (
	linkDown   linkPhase = iota // a new socket is on its way
	linkJoined                  // joined, the Welcome has not come
	linkUp
)

// linkState is what the controller knows of its connection.
type linkState struct {
	phase     linkPhase
	since     time.Duration // of the phase
	lastSent  time.Duration
	lastHeard time.Duration
	pinged    bool // a Ping waits for any message
	pingedAt  time.Duration
	caughtUp  bool // a snapshot was asked for because the state was behind
	caughtAt  time.Duration
}

func (l *linkState) up() bool { return l.phase == linkUp }

func (l *linkState) enter(phase linkPhase, now time.Duration) {
	*l = linkState{phase: phase, since: now, lastSent: now, lastHeard: now}
}

// welcomed reports whether this is the first Welcome of a connection.
func (l *linkState) welcomed() bool {
	if l.phase == linkUp {
		return false
	}
	l.phase = linkUp
	return true
}

func (l *linkState) heard(now time.Duration) { l.lastHeard, l.pinged = now, false }

// Joined says that a connection has joined the match, the first one or one that Reconnect asked for.
func (c *Controller) Joined() { c.link.enter(linkJoined, c.clock()) }

// ConnectionLost says that the socket is gone. The controller asks for another, unless the server said that this client is
// out.
func (c *Controller) ConnectionLost() { c.reconnect() }

// Reconnecting reports whether there is no connection and another one is wanted.
func (c *Controller) Reconnecting() bool { return !c.closed && c.link.phase == linkDown }

func (c *Controller) reconnect() {
	if c.closed || c.link.phase == linkDown {
		return
	}
	c.link.enter(linkDown, c.clock())
	c.transport.Reconnect()
}

func (c *Controller) send(op wire.OpCode, body proto.Message) {
	c.link.lastSent = c.clock()
	c.transport.Send(op, body)
}

// NextWake is when Advance has something to do, on the controller's clock; false if never.
func (c *Controller) NextWake() (time.Duration, bool) {
	if c.closed || c.link.phase == linkDown {
		return 0, false
	}
	if c.link.phase == linkJoined {
		return c.link.since + c.timing.reconnect, true
	}
	wake := c.link.lastSent + c.timing.ping
	if c.link.pinged {
		wake = c.link.pingedAt + c.timing.reconnect
	}
	switch claim := c.claim; {
	case claim == nil:
	case claim.asked:
		wake = min(wake, claim.askedAt+c.timing.reconnect)
	default:
		wake = min(wake, claim.sent+c.timing.resend, claim.started+c.timing.giveUp)
	}
	return wake, true
}

// Advance does what is due: sends again, gives up, reconnects, pings.
func (c *Controller) Advance() {
	wake, ok := c.NextWake()
	now := c.clock()
	if !ok || now < wake {
		return
	}
	switch {
	case c.link.phase == linkJoined, c.link.pinged && now >= c.link.pingedAt+c.timing.reconnect:
		c.reconnect()
	case c.claim != nil && c.claim.asked && now >= c.claim.askedAt+c.timing.reconnect:
		c.askAgain(now)
	case c.claim != nil && !c.claim.asked && now >= c.claim.started+c.timing.giveUp:
		c.askSnapshot(now)
	case c.claim != nil && !c.claim.asked && now >= c.claim.sent+c.timing.resend:
		c.sendClaim()
	default:
		c.link.pinged, c.link.pingedAt = true, now
		c.send(wire.OpCode_OP_CODE_PING, &wire.Ping{ClientTimeMs: uint64(max(0, now.Milliseconds()))})
	}
}

// askAgain is for a connection that lives but did not answer: the question may have been dropped. A dead one is replaced.
func (c *Controller) askAgain(now time.Duration) {
	if c.link.lastHeard <= c.claim.askedAt {
		c.reconnect()
		return
	}
	c.askSnapshot(now)
}

// catchUp asks for the state that was lost. Not for every message that shows it: the Welcome may be on its way.
func (c *Controller) catchUp(now time.Duration) {
	if !c.link.up() || c.link.caughtUp && now < c.link.caughtAt+c.timing.resend {
		return
	}
	c.link.caughtUp, c.link.caughtAt = true, now
	c.send(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
}

func (c *Controller) askSnapshot(now time.Duration) {
	c.claim.asked, c.claim.askedAt = true, now
	c.send(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
}
