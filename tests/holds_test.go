package tests

import (
	"testing"

	wire "set3d/proto/set3d/v1"
)

// heldUntil waits until a watcher is told that a player is lost, and returns until when the seat is held.
func (p *peer) heldUntil(seat int) uint64 {
	p.t.Helper()
	roster := first(p, "the drop", func(r *wire.Roster) bool { return r.GetSeats()[seat].HeldUntilMs != nil })
	return roster.GetSeats()[seat].GetHeldUntilMs()
}

// waitUntil waits until the match clock is past a time.
func (p *peer) waitUntil(ms uint64) {
	p.t.Helper()
	for p.sync().GetStamp().GetServerTimeMs() <= ms {
		continue // PINGs have a pace
	}
}

// TestNobodyLosesToNobody: when all players have lost their connections, it makes no difference whose loss was noticed
// last: the match is abandoned with the last hold, and nobody wins or has forfeited.
func TestNobodyLosesToNobody(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	for name, order := range map[string][]int{"the leader first": {0, 1}, "the leader last": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := maxTable(t, on, quick(map[string]any{"drop_hold_ms": 800}))
			s := connect(t, on, asJSON)
			s.join(x.made.MatchID, x.verify(s))
			x.players[0].wins(setSA)
			var last uint64
			for _, seat := range order {
				x.players[seat].hangUp()
				last = s.heldUntil(seat)
			}
			end := s.ended()
			abandoned := end.GetReason() == wire.EndReason_END_REASON_ABANDONED
			if !abandoned || end.Winner != nil || len(end.GetWinners()) != 0 {
				t.Errorf("end {%v}", end)
			}
			for _, line := range end.GetTable() {
				if line.GetForfeited() {
					t.Errorf("somebody has forfeited: {%v}", end)
				}
			}
			if at := s.sync().GetStamp().GetServerTimeMs(); at < last {
				t.Errorf("it ended at %d, and the last hold at %d", at, last)
			}
		})
	}
}

// TestTheFirstReturnIsInTime: a hold that ends while nobody is connected waits. Its player may still come back, and
// then the other one's hold decides.
func TestTheFirstReturnIsInTime(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := maxTable(t, on, quick(map[string]any{"drop_hold_ms": 4_000}))
	a, b := x.players[0], x.players[1]
	s := connect(t, on, asProtobuf)
	s.join(x.made.MatchID, x.verify(s))
	back := connectAs(t, on, a.user, a.format)
	b.wins(setSA)
	a.hangUp()
	own := s.heldUntil(0)
	s.waitUntil(own - 1_000)
	b.hangUp()
	other := s.heldUntil(1)
	s.waitUntil(own)
	if forfeited := s.state().GetForfeitedSeats(); forfeited != 0 {
		t.Fatalf("seats %b have forfeited", forfeited)
	}
	w := back.join(x.made.MatchID, nil)
	if w.GetRole() != wire.Role_ROLE_PLAYER || w.GetStamp().GetServerTimeMs() >= other {
		t.Fatalf("back with {%v}", w)
	}
	end := back.ended()
	last := end.GetReason() == wire.EndReason_END_REASON_LAST_PLAYER
	if !last || end.GetWinner() != 0 || !end.GetTable()[1].GetForfeited() {
		t.Errorf("end {%v}", end)
	}
}
