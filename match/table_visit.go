package match

import (
	"slices"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// mayJoin says whether a user is let in, or why not.
func (t *table) mayJoin(userID string) (wire.Reason, bool) {
	if t.closing {
		return wire.Reason_REASON_TABLE_CLOSED, false
	}
	if _, wait := t.contested(userID); wait {
		return wire.Reason_REASON_CONTESTED, false
	}
	if t.seatOf(userID) != spectatorSeat {
		return 0, true
	}
	if t.draining {
		return wire.Reason_REASON_SHUTTING_DOWN, false
	}
	if t.box.ledger.bars(userID) {
		return wire.Reason_REASON_KICKED, false
	}
	if t.box.ledger.promised(userID, t.now) {
		return 0, true
	}
	room := t.module.config.maxSpectators + t.box.freeSeats()
	watches := func(v *visitor) bool {
		return v.userID != userID && t.seatOf(v.userID) == spectatorSeat && !t.box.ledger.promised(v.userID, t.now)
	}
	if t.count(watches)+t.box.expected(watches) >= room {
		return wire.Reason_REASON_TABLE_CROWDED, false
	}
	return 0, true
}

func (t *table) countRefusedJoin(why wire.Reason) {
	t.module.count("set3d_joins_refused_total", map[string]string{"reason": reasonName(why)})
}

// join seats new visitors. Their WELCOME is the first that they get from here; then the others are told, and last
// what the newcomers had sent ahead is judged.
func (t *table) join(presences []runtime.Presence) {
	var arrived, replaced []*visitor
	var parked []mail
	for _, p := range presences {
		v, mail := t.box.arrive(newVisitor(p))
		if t.box.ledger.bars(v.userID) { // removed since the attempt
			t.box.refuseAll(mail, wire.Reason_REASON_NOT_IN_MATCH)
			t.turnAway(v)
			continue
		}
		if older := t.arrive(v); older != nil {
			replaced = append(replaced, older)
		}
		arrived, parked = append(arrived, v), append(parked, mail...)
	}
	t.raiseRoster()
	for _, v := range arrived {
		t.greet(v)
	}
	t.flush()
	for _, v := range replaced {
		t.module.count("set3d_takeovers_total", nil)
		t.sendTo(v, wire.OpCode_OP_CODE_NOTICE, &wire.Notice{Stamp: t.stamp(), Kind: t.noteTakeover(v.userID)})
		t.kick(v)
	}
	t.advanceLobby()
	t.pending = parked
	t.judgePending()
}

// greet tells a newcomer all that there is to know.
func (t *table) greet(v *visitor) {
	t.welcome(v)
	if seat, sits := t.seats.of(v.userID); sits && t.forfeited(seat) {
		t.sendTo(v, wire.OpCode_OP_CODE_NOTICE, seatForfeited(t.stamp(), seat))
	}
	if t.rematch.made != nil {
		t.tellRematch(v)
	}
	t.tellAnnouncement(v)
}

// arrive takes a visitor in and returns the user's older session, if there is one here: the newer has replaced it.
func (t *table) arrive(v *visitor) (older *visitor) {
	for _, other := range t.visitors {
		if other.userID == v.userID && other.sessionID != v.sessionID {
			older = other
		}
	}
	if older != nil {
		t.box.refuseAll(t.box.dismiss(older.sessionID), wire.Reason_REASON_NOT_IN_MATCH)
		t.forget(older)
	}
	if !slices.ContainsFunc(t.visitors, func(o *visitor) bool { return o.sessionID == v.sessionID }) {
		t.visitors = append(t.visitors, v)
	}
	seat, sits := t.seats.of(v.userID)
	if !sits && !t.standing.started {
		seat, sits = t.sit(v, anySeat)
	}
	if sits {
		t.seats.seat[seat].visitor = v
		if t.standing.started {
			t.noteActive(v.userID)
			if _, dropped := t.session.HeldUntilMs(seat); dropped {
				t.module.count("set3d_reconnects_total", nil)
			}
			t.apply(domain.Return{Seat: seat}) // refused, without effect, unless the player had dropped
		}
	}
	t.rosterChanged = true
	return older
}

// sit gives a visitor a seat, if the ledger does.
func (t *table) sit(v *visitor, wanted int) (int, bool) {
	seat, ok := t.claimSeat(v.userID, wanted)
	if ok {
		t.sitDown(seat, v)
	}
	return seat, ok
}

// claimSeat asks the ledger for a seat. Where the matchmaker has said who plays, nobody else sits.
func (t *table) claimSeat(userID string, wanted int) (int, bool) {
	if t.setup.Matched && !slices.Contains(t.setup.Reserved[:], userID) {
		return spectatorSeat, false
	}
	return t.box.ledger.sit(userID, wanted, t.now)
}

func (t *table) sitDown(seat int, v *visitor) {
	t.seats.put(seat, v)
	go t.box.lookUp(v.userID, t.seats.seat[seat].name)
}

// vacate frees a seat in the lobby.
func (t *table) vacate(seat int) {
	t.box.ledger.vacate(seat)
	t.seats.free(seat)
}

// depart is a session's end at this table. Of a user who has a newer session here only the older one goes.
func (t *table) depart(sessionID string) {
	t.box.refuseAll(t.box.dismiss(sessionID), wire.Reason_REASON_NOT_IN_MATCH)
	i := slices.IndexFunc(t.visitors, func(v *visitor) bool { return v.sessionID == sessionID })
	if i < 0 {
		return
	}
	v := t.visitors[i]
	t.forget(v)
	t.rosterChanged = true
	if seat, sits := t.seats.of(v.userID); sits {
		t.seats.seat[seat].visitor = nil
		if t.standing.started {
			t.apply(domain.Drop{Seat: seat})
		} else {
			t.vacate(seat)
		}
	}
}

func (t *table) forget(v *visitor) {
	t.visitors = slices.DeleteFunc(t.visitors, func(o *visitor) bool { return o == v })
	if len(t.visitors) == 0 {
		t.emptySince = t.now
	}
}

// kick removes a session, after all that it has to be told before.
func (t *table) kick(v *visitor) {
	if t.outbox.isHolding() {
		t.outbox.addKick(v)
		return
	}
	t.remove(v)
}

func (t *table) remove(v *visitor) {
	if err := t.dispatcher.MatchKick([]runtime.Presence{v}); err != nil {
		t.logger.Warn("table %s: cannot remove session %s: %v", t.setup.TableID, v.sessionID, err)
	}
}
