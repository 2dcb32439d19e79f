package main

import (
	"bytes"
	"time"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// Joined implements client.Tap.
func (p *place) Joined() {
	if p.verifier != nil {
		p.verifier.Joined()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.down {
		return
	}
	p.back()
	if p.drop != nil && p.state == placePlays {
		p.drop.Reset(p.exponential(p.table.loader.flags.dropEvery))
	}
	if p.claim != nil {
		p.claim.interrupted = true
	}
	p.timer.Reset(p.upTo(firstReturn)) // the Welcome may answer the claim before it is sent again
}

// Disconnected implements client.ConnectionTap.
func (p *place) Disconnected(error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
	if p.state == placeIsOver || p.down {
		return
	}
	p.down = true
	p.table.loader.tally.reconnecting.Add(1)
	select {
	case p.table.lost <- p:
	default: // the table is busy with as many losses as it has players
	}
}

// Sent implements client.Tap.
func (p *place) Sent(frame client.Frame) {
	p.table.loader.tally.messagesSent.Add(1)
	if p.verifier != nil {
		p.verifier.Sent(frame)
	}
}

// Received implements client.Tap.
func (p *place) Received(frame client.Frame) {
	p.table.loader.tally.messagesReceived.Add(1)
	if p.verifier != nil {
		frame.Data = bytes.Clone(frame.Data) // the verifier keeps it
		p.verifier.Received(frame)
	}
	p.contest.hear(p, frame)
}

// answerKind is what became of a claim.
type answerKind uint8

const (
	answeredValid answerKind = iota + 1
	answeredInvalid
	answeredRefused
	answeredLater // not taken this time: it is sent again
)

// answer takes an answer to a claim of this player's. Answers that are not owed are a violation: every claim is answered once.
func (p *place) answer(id uint64, kind answerKind, reason string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.table.loader.tally
	if p.owed[id]--; p.owed[id] < 0 {
		t.violation("a claim was answered more often than it was sent", p.match)
		return
	}
	if p.claim == nil || p.claim.id != id {
		return // one of the answers to a claim that was sent again
	}
	if kind == answeredLater {
		t.count(reason)
		return
	}
	p.settle(kind, reason, at)
}

// settle notes what became of the claim, and thinks about the next one.
func (p *place) settle(kind answerKind, reason string, at time.Time) {
	t, done := p.table.loader.tally, p.claim
	p.claim = nil
	if kind == answeredValid && !done.valid || kind == answeredInvalid && done.valid {
		t.violation("a verdict is not what the rules say", p.match)
	}
	took := at.Sub(done.first)
	if done.interrupted {
		took = 0
	}
	t.resolved(kind, reason, took)
	if p.state != placePlays {
		return
	}
	next := p.think()
	if kind == answeredInvalid {
		next = max(next, p.contest.lock())
	}
	p.timer.Reset(next)
}

// welcomed takes what a Welcome says to this player: the seat, and the verdict that a lost connection may have swallowed.
func (p *place) welcomed(number int, verdict *wire.SetClaimed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number = number
	if p.claim == nil || verdict == nil || verdict.GetClaimId() != p.claim.id {
		return
	}
	kind := answeredInvalid
	if verdict.GetValid() {
		kind = answeredValid
	}
	p.claim.interrupted = true
	p.settle(kind, "", time.Now())
}

// sentOut ends the player's part: the table is closed, or the place at it is.
func (p *place) sentOut(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == placeIsOver {
		return
	}
	p.state = placeRests
	if p.contest.end() {
		p.table.loader.tally.count(reason)
	}
	if p.claim != nil {
		p.claim = nil
		p.table.loader.tally.unansweredClaim()
	}
}

// suspended ends the player's part at a match that would go on after a restart of the server. A claim that waits then may have its answer there: that
// it has none here is right.
func (p *place) suspended() {
	p.mu.Lock()
	if p.state != placeIsOver {
		p.claim = nil
		if p.verifier != nil {
			p.verifier.Lost()
		}
	}
	p.mu.Unlock()
	p.sentOut("match interrupted")
}

func (p *place) seatNumber() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.number
}
