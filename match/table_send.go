package match

import (
	"google.golang.org/protobuf/proto"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// flush tells everybody what has happened since the last flush: the roster if it is another one, then one UPDATE, the
// same bytes for all, then the answers that are for one session.
func (t *table) flush() {
	t.observe()
	t.keep()
	t.raiseRoster()
	if t.rosterUnsent {
		t.sendRoster()
	}
	if t.standing.revision != t.sentRevision {
		t.sendUpdate()
	}
	t.out.Reset()
	t.weighed = 0
	for i := range t.replies {
		t.answer(&t.replies[i])
	}
	clear(t.replies)
	t.replies = t.replies[:0]
	t.refreshLabel()
	if !t.outbox.isHolding() {
		t.told = t.standing
	}
	t.box.publish(t.told)
}

// observe draws this side's conclusions from the session's output.
func (t *table) observe() {
	for _, e := range t.out.Events {
		switch e := e.Event.(type) {
		case domain.SetClaimed:
			t.settle(e.Seat, e.ClaimID)
		case domain.PlayerForfeited:
			t.rosterChanged = true
		case domain.MatchEnded:
			t.noteEnd(e)
		}
	}
	for _, a := range t.out.Answers {
		t.settle(a.Seat, a.ClaimID)
		if v := t.seats.seat[a.Seat].visitor; v != nil {
			t.reply(reply{kind: replyRefused, to: v, claimID: a.ClaimID, refusal: a.Refusal})
		}
	}
	t.tally()
	t.standing.revision = t.session.Revision()
}

func (t *table) settle(seat int, claimID uint64) {
	if t.held[seat] == claimID {
		t.held[seat] = 0
	}
}

func (t *table) noteEnd(e domain.MatchEnded) {
	t.ended, t.endedAt = true, t.now
	t.logger.Info("table %s: the match has ended at revision %d: %v", t.setup.TableID, t.session.Revision(), e.Reason)
	t.module.count("set3d_matches_ended_total", map[string]string{"reason": endLabel(e.Reason)})
}

// raiseRoster gives a changed roster its number.
func (t *table) raiseRoster() {
	if !t.rosterChanged {
		return
	}
	t.rosterChanged, t.rosterUnsent = false, true
	t.standing.rosterRevision++
}

func (t *table) sendRoster() {
	t.rosterUnsent = false
	roster := t.roster()
	roster.Stamp = t.stamp()
	t.sendAll(wire.OpCode_OP_CODE_ROSTER, roster)
}

func (t *table) sendUpdate() {
	update := &wire.Update{
		Stamp: t.stamp(), FromRevision: t.sentRevision,
		Events: make([]*wire.Event, 0, len(t.out.Events)), Snapshot: t.encoder.fill(t.session.Snapshot()),
	}
	end := t.ending()
	for _, e := range t.out.Events {
		update.Events = append(update.Events, eventToWire(e, end))
	}
	t.sendAll(wire.OpCode_OP_CODE_UPDATE, update)
	t.sentRevision = t.standing.revision
	if t.outbox.isHolding() {
		t.outbox.holdJudged(t.judged)
	} else {
		t.answered(t.judged)
	}
	t.judged = t.judged[:0]
}

func (t *table) ending() *ending {
	return &ending{names: t.seats.names(), deck: t.deck, resultID: t.setup.TableID}
}

func (t *table) stamp() *wire.Stamp { return stampOf(t.standing, t.now) }

// sendAll broadcasts at once. The bytes may be overwritten when it returns.
func (t *table) sendAll(opCode wire.OpCode, m proto.Message) { t.broadcast(opCode, m, nil) }

// sendTo sends to one session, if it is still here.
func (t *table) sendTo(v *visitor, opCode wire.OpCode, m proto.Message) {
	t.addressee[0] = v
	t.broadcast(opCode, m, t.addressee[:])
}

func (t *table) broadcast(opCode wire.OpCode, m proto.Message, to []runtime.Presence) {
	data := t.encoder.encode(m)
	if t.outbox.isHolding() {
		t.outbox.add(t.standing, opCode, data, to)
		return
	}
	t.told = t.standing
	t.transmit(opCode, data, to)
}

// stampTold is the stamp of a message that says nothing of the state, and waits for nothing: it has the revisions that
// were told last.
func (t *table) stampTold() *wire.Stamp {
	if t.outbox.isHolding() {
		return stampOf(t.told, t.now)
	}
	return t.stamp()
}

// sendNow sends what says nothing of the state, past what is held back. Its stamp is stampTold.
func (t *table) sendNow(v *visitor, opCode wire.OpCode, m proto.Message) {
	var to []runtime.Presence
	if v != nil {
		t.addressee[0] = v
		to = t.addressee[:]
	}
	t.transmit(opCode, t.encoder.encode(m), to)
}

func (t *table) transmit(opCode wire.OpCode, data []byte, to []runtime.Presence) {
	if err := t.dispatcher.BroadcastMessage(int64(opCode), data, to, nil, true); err != nil {
		t.logger.Debug("table %s: cannot send %v: %v", t.setup.TableID, opCode, err)
	}
}
