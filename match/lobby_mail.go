package match

import (
	wire "set3d/proto/set3d/v1"
)

// handleLobby judges a message that belongs to the lobby. They all need one.
func (t *table) handleLobby(m mail) {
	if t.standing.started {
		t.replyError(m, wire.Reason_REASON_NOT_IN_LOBBY, "")
		return
	}
	if t.visitor(m.from.sessionID) == nil { // it has left, or was removed, since it sent this
		t.replyError(m, wire.Reason_REASON_NOT_IN_MATCH, "")
		return
	}
	r := &t.receiver
	switch m.opCode {
	case opSetReady:
		if t.decode(m, &r.ready) {
			t.setReady(m, r.ready.Ready)
		}
	case opTakeSeat:
		if t.decode(m, &r.takeSeat) {
			t.takeSeat(m, r.takeSeat.Seat)
		}
	case opAddBot:
		if t.decode(m, &r.addBot) && t.fromHost(m) {
			t.addBot(m, &r.addBot)
		}
	case opKick:
		if t.decode(m, &r.kick) && t.fromHost(m) {
			t.kickSeat(m, r.kick.Seat)
		}
	}
}

// fromHost reports whether the host has sent it. Who sits at a table of the matchmaker's is not the host's business.
func (t *table) fromHost(m mail) bool {
	host, ok := t.seats.host()
	if !ok || t.setup.Matched || t.seats.seat[host].userID != m.from.userID {
		t.replyError(m, wire.Reason_REASON_NOT_HOST, "")
		return false
	}
	return true
}

// setReady matters where the match starts when all are ready, and nothing elsewhere. A player who is no longer ready stops the countdown, unless that
// was done too often.
func (t *table) setReady(m mail, ready bool) {
	i, sits := t.seats.of(m.from.userID)
	if !sits {
		t.replyError(m, wire.Reason_REASON_NOT_A_PLAYER, "")
		return
	}
	s := &t.seats.seat[i]
	if s.ready == ready || !t.setup.StartWhenReady {
		return
	}
	s.ready, t.rosterChanged = ready, true
	if !ready && t.lobby.endsAt != 0 && !t.lobby.isUrged(t.now) {
		t.stopCountdown()
	}
}

// takeSeat lets a spectator sit down, or a player move. The answer is a WELCOME, which says the seat.
func (t *table) takeSeat(m mail, seat *uint32) {
	wanted, ok := t.wantedSeat(m, seat)
	if !ok {
		return
	}
	old, sat := t.seats.of(m.from.userID)
	i, ok := t.claimSeat(m.from.userID, wanted)
	switch {
	case !ok && wanted == anySeat:
		t.replyError(m, wire.Reason_REASON_TABLE_FULL, "")
		return
	case !ok:
		t.replyError(m, wire.Reason_REASON_SEAT_TAKEN, "")
		return
	case !sat:
		t.sitDown(i, t.visitor(m.from.sessionID))
	case i != old:
		t.seats.move(old, i)
	}
	t.rosterChanged = true
	t.reply(reply{kind: replyWelcome, to: m.from})
}

// wantedSeat reads the seat of a message: absent is any.
func (t *table) wantedSeat(m mail, seat *uint32) (int, bool) {
	switch {
	case seat == nil:
		return anySeat, true
	case *seat >= uint32(t.seats.count):
		t.replyError(m, wire.Reason_REASON_NO_SUCH_SEAT, "")
		return 0, false
	}
	return int(*seat), true
}

func (t *table) addBot(m mail, message *wire.AddBot) {
	level, known := botLevelFromWire(message.Level)
	wanted, ok := t.wantedSeat(m, message.Seat)
	switch {
	case !ok:
	case !known:
		t.replyError(m, wire.Reason_REASON_MALFORMED_MESSAGE, "there is no such level")
	case t.setup.Ranked:
		t.replyError(m, wire.Reason_REASON_RANKED_TABLE, "")
	default:
		if _, ok = t.seatBot(level, wanted); ok {
			return
		}
		reason := wire.Reason_REASON_SEAT_TAKEN
		if wanted == anySeat {
			reason = wire.Reason_REASON_TABLE_FULL
		}
		t.replyError(m, reason, "")
	}
}

// kickSeat empties a seat. A user who sat there cannot come back to this table.
func (t *table) kickSeat(m mail, seat uint32) {
	i, ok := t.wantedSeat(m, &seat)
	if !ok {
		return
	}
	s := &t.seats.seat[i]
	switch {
	case !s.isTaken():
		t.replyError(m, wire.Reason_REASON_SEAT_EMPTY, "")
		return
	case s.userID == m.from.userID:
		t.replyError(m, wire.Reason_REASON_MALFORMED_MESSAGE, "the host cannot remove himself")
		return
	}
	v := s.visitor
	if v != nil {
		t.box.ledger.bar(v.userID)
	}
	t.vacate(i)
	t.rosterChanged = true
	if v != nil {
		t.turnAway(v)
	}
}

// turnAway removes a visitor who was kicked.
func (t *table) turnAway(v *visitor) {
	t.box.refuseAll(t.box.dismiss(v.sessionID), wire.Reason_REASON_NOT_IN_MATCH)
	t.forget(v)
	t.sendTo(v, wire.OpCode_OP_CODE_NOTICE, &wire.Notice{Stamp: t.stamp(), Kind: wire.NoticeKind_NOTICE_KIND_KICKED})
	t.kick(v)
}
