package match

import (
	"slices"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// close ends the table's life: what still waits is answered, everybody is told, and the next MatchLoop stops the match.
// MatchSignal and MatchJoinAttempt never stop it themselves: the callers of signals that are queued behind would hang.
// A match whose end could not be stored, and so was not told, goes on from what is stored: it is suspended.
func (t *table) close() {
	if t.closing {
		return
	}
	t.flush()
	t.closeWith(t.closingKind())
}

// closingKind is how a table closes. A match whose end is not stored goes on from what is stored.
func (t *table) closingKind() wire.NoticeKind {
	if t.ended && t.outbox.isHolding() {
		return wire.NoticeKind_NOTICE_KIND_SUSPENDED
	}
	return wire.NoticeKind_NOTICE_KIND_CLOSED
}

// closeWith closes the table and says why. What is held back is not told any more.
func (t *table) closeWith(why wire.NoticeKind) {
	t.closing = true
	left := append(slices.Clone(t.pending), t.box.close()...)
	t.pending = nil
	t.box.refuseAll(left, wire.Reason_REASON_TABLE_CLOSED)
	t.sendNow(nil, wire.OpCode_OP_CODE_NOTICE, &wire.Notice{Stamp: t.stampTold(), Kind: why, Text: t.farewell})
	t.outbox.drop()
	t.refreshLabel()
}

func (t *table) closedNotice() *wire.Notice {
	return &wire.Notice{Stamp: t.stamp(), Kind: wire.NoticeKind_NOTICE_KIND_CLOSED}
}

// die ends the table after a panic. The session may be half changed: it is not touched again. Each part is on its own,
// so that one that panics too does not keep the others from running.
func (t *table) die() {
	if t.closing {
		return
	}
	t.closing = true
	alone(t.box.poison)
	alone(func() {
		left := append(append([]mail(nil), t.pending...), t.box.close()...)
		t.pending = nil
		t.box.refuseAll(left, wire.Reason_REASON_TABLE_CLOSED)
	})
	alone(t.dropHeld)
	alone(t.sendAbort)
	alone(t.sendClosed)
	alone(t.abandon)
	alone(t.refreshLabel)
	alone(t.answerLost)
}

func (t *table) sendClosed() {
	if t.dispatcher != nil {
		t.sendAll(wire.OpCode_OP_CODE_NOTICE, t.closedNotice())
	}
}

// dropHeld forgets what is held back when the table breaks: it is not stored, and will never be told. The last state
// that was told is older than the one that was encoded.
func (t *table) dropHeld() {
	if t.outbox.isHolding() {
		t.outbox.drop()
		t.standing = t.told
		t.sentRevision = 0
	}
}

// sendAbort tells everybody that the match is over: an UPDATE that beats every earlier one, with the last state that
// was shown to anybody, standing still. A Set whose cards are still there goes to its claimer, as at every end.
func (t *table) sendAbort() {
	if t.dispatcher == nil {
		return
	}
	stamp := t.stamp()
	t.abort.GetMatchEnded().ResultId = t.kept.ID
	stamp.Revision = max(t.standing.revision, t.sentRevision) + 1
	t.standing.revision = stamp.Revision
	t.abort.AtMs = stamp.ServerTimeMs
	update := &wire.Update{Stamp: stamp, FromRevision: t.sentRevision, Events: []*wire.Event{t.abort}}
	if t.sentRevision > 0 {
		t.encoder.takeClaimed()
		snapshot := t.encoder.frame.fill(&t.encoder.snapshot)
		snapshot.State, snapshot.Animation, snapshot.ClockRunning = wire.BoardState_BOARD_STATE_MATCH_END, nil, false
		update.Snapshot = snapshot
	}
	t.sendAll(wire.OpCode_OP_CODE_UPDATE, update)
}

// answerLost answers the claims that were judged, or held, and whose answer will not come.
func (t *table) answerLost() {
	for _, r := range t.replies {
		if r.claimID != 0 {
			t.box.refuseClaim(r.to, r.claimID, wire.Reason_REASON_TABLE_CLOSED)
		}
	}
	for _, e := range t.out.Events {
		if verdict, ok := e.Event.(domain.SetClaimed); ok {
			t.refuseSeat(verdict.Seat, verdict.ClaimID)
		}
	}
	for seat, claimID := range t.held {
		t.refuseSeat(seat, claimID)
	}
}

func (t *table) refuseSeat(seat int, claimID uint64) {
	if v := t.seats.seat[seat].visitor; v != nil && claimID != 0 {
		t.settle(seat, claimID)
		t.box.refuseClaim(v, claimID, wire.Reason_REASON_TABLE_CLOSED)
	}
}

// newAbort is made with the table, so that nothing of a broken match is needed for it.
func newAbort() *wire.Event {
	return &wire.Event{Kind: &wire.Event_MatchEnded{
		MatchEnded: &wire.MatchEnded{Reason: wire.EndReason_END_REASON_INTERNAL_ERROR},
	}}
}
