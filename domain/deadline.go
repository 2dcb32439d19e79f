package domain

import "fmt"

// deadlineKind is what happens at a deadline, in the order in which deadlines of the same time fire.
type deadlineKind uint8

const (
	deadlineBoard     deadlineKind = iota + 1 // the board's animation ends
	deadlineOwnClock                          // a player's own clock stands at zero before the match's does
	deadlineHold                              // a dropped player's seat is held no longer
	deadlineClock                             // the match clock stands at zero
	deadlineIdle                              // nobody has found a Set for too long
	deadlineHeldClaim                         // the board is idle: the first held claim is judged
	deadlineBot                               // a bot has seen a Set, or missed them all
)

type deadline struct {
	atMs int64
	kind deadlineKind
	seat int
}

// nextDeadline is the earliest one; of those at the same time the board's is first, then the players' by seat, then the
// clock's, then held claims, then the bots' by seat.
func (s *Session) nextDeadline() (deadline, bool) {
	var next deadline
	if !s.started || s.replica || s.end != nil {
		return next, false
	}
	consider := func(d deadline) {
		if next.kind == 0 || d.atMs < next.atMs {
			next = d
		}
	}
	if s.shared.Animation.Serial != 0 {
		consider(deadline{atMs: s.shared.Animation.EndMs, kind: deadlineBoard})
	}
	for seat := range s.shared.Players {
		s.playerDeadlines(seat, consider)
	}
	if s.shared.Timed {
		consider(deadline{atMs: s.shared.ClockEndMs, kind: deadlineClock})
	} else {
		consider(deadline{atMs: s.lastValidMs + s.setup.Rules.IdleLimitMs, kind: deadlineIdle})
	}
	if s.shared.State == BoardIdle && len(s.held) > 0 {
		consider(deadline{atMs: s.idleSinceMs, kind: deadlineHeldClaim})
	}
	for seat := range s.shared.Players {
		if b := &s.players[seat].bot; b.thinks {
			consider(deadline{atMs: b.atMs, kind: deadlineBot, seat: seat})
		}
	}
	return next, true
}

func (s *Session) playerDeadlines(seat int, consider func(deadline)) {
	p, public := &s.players[seat], &s.shared.ByPlayer[seat]
	if public.Forfeited {
		return
	}
	// Without a penalty the player's clock is the match's, and that has its own deadline.
	if s.shared.Timed && public.TimePenaltyMs > 0 && !p.outOfTime {
		consider(deadline{atMs: s.shared.ClockEndMs - public.TimePenaltyMs, kind: deadlineOwnClock, seat: seat})
	}
	if p.dropped {
		consider(deadline{atMs: p.heldUntilMs, kind: deadlineHold, seat: seat})
	}
}

func (s *Session) fire(d deadline) {
	switch d.kind {
	case deadlineBoard:
		s.completeBoardAnimation()
	case deadlineOwnClock:
		s.players[d.seat].outOfTime = true
		s.checkEnds()
	case deadlineHold:
		s.leave(d.seat, ForfeitHoldExpired)
	case deadlineClock:
		s.endMatch(EndTimeUp)
	case deadlineIdle:
		s.endMatch(EndIdle)
	case deadlineHeldClaim:
		s.judgeHeld()
	case deadlineBot:
		s.botActs(d.seat)
	default:
		panic(fmt.Sprintf("domain: no deadline of kind %d", d.kind))
	}
}
