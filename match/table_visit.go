package match

import (
	"crypto/rand"
	"fmt"
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

// join seats new visitors. Their WELCOME is the first that they get from here; then the others are told, and last
// what the newcomers had sent ahead is judged.
func (t *table) join(presences []runtime.Presence) {
	var arrived, replaced []*visitor
	var parked []mail
	for _, p := range presences {
		v, mail := t.box.arrive(newVisitor(p))
		if older := t.arrive(v); older != nil {
			replaced = append(replaced, older)
		}
		arrived, parked = append(arrived, v), append(parked, mail...)
	}
	t.raiseRoster()
	for _, v := range arrived {
		t.welcome(v)
		if seat, sits := t.seats.of(v.userID); sits && t.forfeited(seat) {
			t.sendTo(v, wire.OpCode_OP_CODE_NOTICE, seatForfeited(t.stamp(), seat))
		}
	}
	t.flush()
	for _, v := range replaced {
		t.sendTo(v, wire.OpCode_OP_CODE_NOTICE, &wire.Notice{Stamp: t.stamp(), Kind: wire.NoticeKind_NOTICE_KIND_REPLACED})
		t.kick(v)
	}
	if !t.standing.started && t.seats.full() {
		t.start()
	}
	t.pending = parked
	t.judgePending()
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
			t.apply(domain.Return{Seat: seat}) // refused, without effect, unless the player had dropped
		}
	}
	t.rosterChanged = true
	return older
}

// sit gives a visitor a seat, if the ledger does.
func (t *table) sit(v *visitor, wanted int) (int, bool) {
	seat, ok := t.box.ledger.sit(v.userID, wanted, t.now)
	if ok {
		t.seats.put(seat, v)
	}
	return seat, ok
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

// start deals. Match time begins now.
func (t *table) start() {
	t.box.ledger.close()
	t.deck = t.setup.deck(newKey)
	t.standing.started, t.standing.startedAt = true, t.now
	setup := domain.Setup{Rules: t.setup.Rules, Players: t.seats.count, Deck: t.deck}
	if err := t.session.StartMatch(setup, &t.out); err != nil {
		panic(fmt.Sprintf("a validated setup does not start: %v", err))
	}
	t.logger.Info("table %s: a match of %d by %s begins", t.setup.TableID, t.seats.count, t.setup.Preset)
	t.module.count("set3d_matches_started", map[string]string{"preset": t.setup.Preset})
}

// newKey draws a deck's key, which nobody can guess.
func newKey() (key [32]byte) {
	_, _ = rand.Read(key[:]) // never fails: the process ends first
	return key
}

func (t *table) kick(v *visitor) {
	if err := t.dispatcher.MatchKick([]runtime.Presence{v}); err != nil {
		t.logger.Warn("table %s: cannot remove session %s: %v", t.setup.TableID, v.sessionID, err)
	}
}
