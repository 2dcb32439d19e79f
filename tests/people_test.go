package tests

import (
	"slices"
	"testing"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// TestNewerSessionReplaces: scenario 21. A user has one seat, and the newest session has it. The older is told and put out; its end changes nothing.
func TestNewerSessionReplaces(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := maxTable(t, on, quick(nil))
	a, b := x.players[0], x.players[1]
	a.wins(setSA)
	b.sync()
	b.mark()
	newer, welcome := a.again()
	if welcome.GetSeat() != 0 || welcome.GetSnapshot().GetScores()[0] != 1 {
		t.Errorf("WELCOME {%v}", welcome)
	}
	a.notice(wire.NoticeKind_NOTICE_KIND_REPLACED)
	a.attend(x.made.MatchID, nil)
	a.mark()
	a.refusal(a.claim(setRow), wire.Reason_REASON_NOT_IN_MATCH)
	newer.wins(setRow)
	a.hangUp()
	b.await("the leave of the older session", func() bool {
		return slices.ContainsFunc(b.envelopes, func(e *rtapi.Envelope) bool { return len(e.GetMatchPresenceEvent().GetLeaves()) > 0 })
	})
	b.send(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
	if seat := b.welcome().GetRoster().GetSeats()[0]; !seat.GetConnected() || seat.HeldUntilMs != nil {
		t.Errorf("the seat is {%v}", seat)
	}
	newer.sync()
	b.sync()
	for _, roster := range every[*wire.Roster](b) {
		if !roster.GetSeats()[0].GetConnected() {
			t.Errorf("the others are told of a drop: {%v}", roster)
		}
	}
	x.players = []*peer{newer, b}
	x.sameScores(2, 0)
}

// TestScoreSurvivesDrops: scenarios 22 and 23. Who comes back in time has what they had, however often.
func TestScoreSurvivesDrops(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := maxTable(t, on, quick(map[string]any{"drop_hold_ms": 60_000}), asProtobuf, asProtobuf)
	a, b := x.players[0], x.players[1]
	a.wins(setSA)
	for range 5 {
		b.mark()
		a.hangUp()
		roster := first(b, "the drop", func(r *wire.Roster) bool { return !r.GetSeats()[0].GetConnected() })
		if seat := roster.GetSeats()[0]; seat.HeldUntilMs == nil || seat.GetUserId() != a.user.ID || seat.GetForfeited() {
			t.Errorf("the dropped seat is {%v}", seat)
		}
		var welcome *wire.Welcome
		a, welcome = a.again()
		if welcome.GetSeat() != 0 || welcome.GetSnapshot().GetScores()[0] != 1 || welcome.GetRole() != wire.Role_ROLE_PLAYER {
			t.Fatalf("back again: {%v}", welcome)
		}
		first(b, "the return", func(r *wire.Roster) bool { return r.GetSeats()[0].GetConnected() && r.GetSeats()[0].HeldUntilMs == nil })
	}
	a.wins(setRow)
	x.players = []*peer{a, b}
	x.sameScores(2, 0)
}

// TestHoldExpires: who does not come back has forfeited, at once when seats are not held.
func TestHoldExpires(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	for name, holdMs := range map[string]int{"held 300 ms": 300, "not held": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := maxTable(t, on, quick(map[string]any{"drop_hold_ms": holdMs}))
			a, b := x.players[0], x.players[1]
			a.wins(setSA)
			a.hangUp()
			end := b.ended()
			if end.GetReason() != wire.EndReason_END_REASON_LAST_PLAYER || end.GetWinner() != 1 || end.GetTable()[0].GetScore() != 1 || !end.GetTable()[0].GetForfeited() {
				t.Errorf("end {%v}", end)
			}
			first(b, "the forfeit", func(u *wire.Update) bool {
				for _, event := range u.GetEvents() {
					if event.GetPlayerForfeited().GetCause() == wire.ForfeitCause_FORFEIT_CAUSE_HOLD_EXPIRED {
						return true
					}
				}
				return false
			})
		})
	}
}

// TestForfeit: a forfeiter is out, keeps the score, and may watch. The others play on.
func TestForfeit(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := open(t, on, client.CreateMatch{TestDeck: deckOf(boardMAX), Rules: quick(nil)}, asJSON, asProtobuf, asJSON)
	a, b, c := x.players[0], x.players[1], x.players[2]
	a.wins(setSA)
	a.forfeit()
	first(c, "the forfeit", func(u *wire.Update) bool { return u.GetSnapshot().GetForfeitedSeats() == 1 })
	a.refusal(a.claim(setRow), wire.Reason_REASON_NOT_A_PLAYER)
	b.wins(setRow)
	again, welcome := a.again()
	if welcome.GetRole() != wire.Role_ROLE_SPECTATOR || !welcome.GetRoster().GetSeats()[0].GetForfeited() {
		t.Errorf("WELCOME {%v}", welcome)
	}
	if notice := again.notice(wire.NoticeKind_NOTICE_KIND_SEAT_FORFEITED); notice.GetSeat() != 0 {
		t.Errorf("NOTICE {%v}", notice)
	}
	again.refusal(again.claim("0020 0021 0022"), wire.Reason_REASON_NOT_A_PLAYER)
	b.forfeit()
	end := c.ended()
	if end.GetReason() != wire.EndReason_END_REASON_LAST_PLAYER || end.GetWinner() != 2 || end.GetTable()[0].GetScore() != 1 {
		t.Errorf("end {%v}", end)
	}
}

// TestEveryoneIsGone: scenario 28. A match without players ends as abandoned, and who watches is told.
func TestEveryoneIsGone(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	for name, leave := range map[string]func(p *peer){
		"cut off": func(p *peer) { p.hangUp() },
		"left":    func(p *peer) { p.call(leaveOf(p.match)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := maxTable(t, on, animated(map[string]any{"drop_hold_ms": 200, "valid_anim_ms": 2_000}))
			s := connect(t, on, asJSON)
			s.join(x.made.MatchID, x.verify(s))
			x.players[0].wins(setSA) // they leave between the claim and the refill
			for _, p := range x.players {
				leave(p)
			}
			if end := s.ended(); end.GetReason() != wire.EndReason_END_REASON_ABANDONED && end.GetReason() != wire.EndReason_END_REASON_LAST_PLAYER {
				t.Errorf("end {%v}", end)
			}
			s.sync()
		})
	}
}

// TestLobby: before the start a seat is free again when its player leaves, and the roster tells who sits where.
func TestLobby(t *testing.T) {
	t.Parallel()
	on := shared(t)
	a, b, c := connect(t, on, asJSON), connect(t, on, asProtobuf), connect(t, on, asJSON)
	x := create(t, on, client.CreateMatch{Seats: 2, Rules: quick(nil)}, a)
	if w := x.seat(a); w.GetSeat() != 0 || w.GetSnapshot() != nil || w.GetRoster().GetHostSeat() != 0 || len(w.GetCommitment()) != 0 {
		t.Errorf("WELCOME {%v}", w)
	}
	a.refusal(a.claim(setSA), wire.Reason_REASON_NOT_STARTED)
	a.leave()
	if w := x.seat(b); w.GetSeat() != 0 || w.GetRoster().GetSeats()[0].GetUserId() != b.user.ID {
		t.Errorf("the next one gets {%v}", w)
	}
	if w := x.seat(c); w.GetSeat() != 1 {
		t.Errorf("the third one gets {%v}", w)
	}
	for _, p := range []*peer{b, c} {
		if commitment := p.start().GetCommitment(); len(commitment) != 32 {
			t.Errorf("the commitment is %x", commitment)
		}
	}
	if w := a.join(x.made.MatchID, nil); w.GetRole() != wire.Role_ROLE_SPECTATOR {
		t.Errorf("who left the lobby gets {%v}", w)
	}
}

// TestEndedTableCloses: a match that has ended tells its players, stays open for a while, and then stops by itself.
func TestEndedTableCloses(t *testing.T) {
	t.Parallel()
	on := serverWith(t, closesSoon, "SET3D_AFTER_END_MS=1000")
	x := endTable(t, on)
	a, b := x.players[0], x.players[1]
	a.wins(endS1)
	b.wins(endS2)
	a.ended()
	b.ended()
	a.refusal(a.claim(endS1), wire.Reason_REASON_ENDED)
	a.notice(wire.NoticeKind_NOTICE_KIND_CLOSED)
	b.notice(wire.NoticeKind_NOTICE_KIND_CLOSED)
	wantClosed(t, on, x.made.MatchID)
	wantUnlisted(t, on, a.user, x.made.MatchID, "")
	a.alive()
	a.ping()
	if refused := a.refusedJoin(x.made.MatchID); refused.GetMessage() != "Match not found" {
		t.Errorf("joining is answered {%v}", refused)
	}
}

// TestEmptyTableCloses: a table that nobody comes to is closed, and so is one that all have left before the start.
func TestEmptyTableCloses(t *testing.T) {
	t.Parallel()
	on := serverWith(t, func(l limits) bool { return l.EmptyTableMs <= 3_000 }, "SET3D_EMPTY_TABLE_MS=1000")
	a := connect(t, on, asJSON)
	never := create(t, on, client.CreateMatch{Seats: 7}, a)
	left := create(t, on, client.CreateMatch{Seats: 7}, a)
	left.seat(a)
	wantListed(t, on, a.user, left.made.MatchID, "+label.seats:7")
	wantUnlisted(t, on, a.user, never.made.MatchID, "+label.seats:7")
	a.sync() // a table with somebody at it stays
	a.call(leaveOf(a.match))
	wantUnlisted(t, on, a.user, left.made.MatchID, "+label.seats:7")
	for _, x := range []*table{never, left} {
		if refused := a.refusedJoin(x.made.MatchID); refused.GetMessage() != "Match not found" {
			t.Errorf("joining is answered {%v}", refused)
		}
	}
}
