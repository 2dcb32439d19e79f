package match

import (
	"context"
	"math"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// rematchHoldMs is how long the seats of a rematch are kept for those who wanted it.
const rematchHoldMs = 30_000

// rematch is the match after this one.
type rematch struct {
	isMaking bool
	made     *wire.Rematch // without its stamp
}

// voteRematch says whether the sender wants another match. Who asks when it is there is told where.
func (t *table) voteRematch(m mail, wants bool) {
	i := t.seatOf(m.from.userID)
	_, ended := t.session.Ended()
	switch {
	case !ended:
		t.replyError(m, wire.Reason_REASON_NOT_ENDED, "")
	case i == spectatorSeat:
		t.replyError(m, wire.Reason_REASON_NOT_A_PLAYER, "")
	case t.rematch.made != nil:
		t.tellRematch(m.from)
	case t.seats.seat[i].wants != wants:
		t.seats.seat[i].wants, t.rosterChanged = wants, true
	}
}

// agreeOnRematch makes a match when all players who are still here want one; bots do not mind. Making it takes a while, so it
// is done beside the match's goroutine; its result comes back through the mailbox. There is never a second one.
func (t *table) agreeOnRematch() {
	if !t.ended || t.outbox.isHolding() || t.draining || t.rematch.isMaking || t.rematch.made != nil || !t.allWant() {
		return
	}
	t.rematch.isMaking = true
	go t.box.openRematch(t.rematchSetup())
}

func (t *table) allWant() bool {
	votes := 0
	for i := range t.seats.count {
		s := &t.seats.seat[i]
		if s.visitor == nil || t.forfeited(i) {
			continue
		}
		if !s.wants {
			return false
		}
		votes++
	}
	return votes > 0
}

// rematchSetup is this table once more, with a fresh deck and with seats reserved for those who want it. A table that starts
// when it is full gets no more seats than they need, or it would wait for those who have left.
func (t *table) rematchSetup() tableSetup {
	s := t.setup.again()
	n := 0
	for i := range t.seats.count {
		p := &t.seats.seat[i]
		switch {
		case p.bot != 0:
			s.Bots[n] = p.bot
		case p.visitor != nil && p.wants:
			s.Reserved[n] = p.userID
		default:
			continue
		}
		n++
	}
	if host, ok := t.seats.host(); ok {
		s.Creator = t.seats.seat[host].userID
	}
	s.ReservedMs = rematchHoldMs
	if !s.StartWhenReady {
		s.Seats = max(n, min(2, s.Seats))
	}
	return s
}

// openRematch runs on a goroutine of its own.
func (b *mailbox) openRematch(s tableSetup) {
	defer b.guard(atRematch)
	b.trip(atRematch)
	o := b.module.newOpening(s)
	b.module.tables.begin(o, math.MaxInt) // it takes the place of this table
	err := b.module.make(context.Background(), o)
	b.tell(func(t *table) { t.rematchMade(o.matchID, o.setup.TableID, err) })
}

// rematchMade tells everybody. After a failure the votes are void, and may be cast again.
func (t *table) rematchMade(matchID, tableID string, err error) {
	t.rematch.isMaking = false
	if err != nil {
		t.logger.Error("table %s: cannot make a rematch: %v", t.setup.TableID, err)
		for i := range t.seats.count {
			t.seats.seat[i].wants = false
		}
		t.rosterChanged = true
		return
	}
	t.rematch.made = &wire.Rematch{MatchId: matchID, TableId: tableID, ReservedMs: rematchHoldMs}
	t.tellRematch(nil)
}

// tellRematch says where the rematch is, to one or to all.
func (t *table) tellRematch(to *visitor) {
	made := t.rematch.made
	t.replyStamped(to, wire.OpCode_OP_CODE_REMATCH, func(stamp *wire.Stamp) stampedMessage {
		return &wire.Rematch{Stamp: stamp, MatchId: made.MatchId, TableId: made.TableId, ReservedMs: made.ReservedMs}
	})
}

// again is the setup of another match like this one, with everything fresh that belongs to one match. A match of the
// matchmaker's stays one: only those whose seats are reserved sit down.
func (s tableSetup) again() tableSetup {
	s.Seed, s.Deck, s.PanicAt = 0, "", ""
	s.TableID, s.Code = "", ""
	s.Reserved, s.Bots = [domain.MaxPlayers]string{}, [domain.MaxPlayers]domain.BotLevel{}
	return s
}
