package domain

// deadlineKind is what happens at a deadline, in the order in which deadlines of the same time fire. Those up to
// deadlineIdle end something: at one instant all of them fire in one step.
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

// nextDeadline is the earliest one; of those at the same time what ends is first, then held claims in the order of
// their arrival, then the bots' by seat.
func (s *Session) nextDeadline() (deadline, bool) {
	var next deadline
	if !s.started || s.end != nil {
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
	s.playerDeadlines(consider)
	if s.shared.Timed {
		consider(deadline{atMs: s.shared.ClockEndMs, kind: deadlineClock})
	} else if idleEndMs, runs := s.idleEndMs(); runs {
		consider(deadline{atMs: idleEndMs, kind: deadlineIdle})
	}
	if s.shared.State == BoardIdle && len(s.held) > 0 {
		consider(deadline{atMs: s.idleSinceMs(), kind: deadlineHeldClaim})
	}
	for seat := range s.shared.Players {
		if b := &s.players[seat].bot; b.thinks {
			consider(deadline{atMs: b.atMs, kind: deadlineBot, seat: seat})
		}
	}
	return next, true
}

// playerDeadlines are the ends of own clocks and holds. While no human is connected only the last hold decides
// anything.
func (s *Session) playerDeadlines(consider func(deadline)) {
	waitUntilMs := int64(0)
	if s.version != recordVersion2 && !s.humanConnected() {
		waitUntilMs = s.lastHoldMs()
	}
	for seat := range s.shared.Players {
		p, public := &s.players[seat], &s.shared.ByPlayer[seat]
		if public.Forfeited {
			continue
		}
		// Without a penalty the player's clock is the match's, and that has its own deadline.
		if s.shared.Timed && public.TimePenaltyMs > 0 && !p.outOfTime {
			consider(deadline{atMs: s.shared.ClockEndMs - public.TimePenaltyMs, kind: deadlineOwnClock, seat: seat})
		}
		if p.dropped {
			consider(deadline{atMs: max(p.heldUntilMs, waitUntilMs), kind: deadlineHold, seat: seat})
		}
	}
}

// idleEndMs is when an untimed match ends because nobody has found a Set on the board that lies there, or false while
// the board moves and nobody can.
func (s *Session) idleEndMs() (int64, bool) {
	if s.version == recordVersion2 {
		return s.lastValidMs + s.setup.Rules.IdleLimitMs, true
	}
	if s.shared.State != BoardIdle {
		return 0, false
	}
	return s.idleSinceMs() + s.setup.Rules.IdleLimitMs, true
}

// idleSinceMs is when the idle board became idle.
func (s *Session) idleSinceMs() int64 { return s.idleMs[s.idles-1] }

func (s *Session) fire(d deadline) {
	switch {
	case d.kind == deadlineHeldClaim:
		s.judgeHeld()
	case d.kind == deadlineBot:
		s.botActs(d.seat)
	case s.version == recordVersion2:
		s.fireVersion2(d)
	default:
		s.fireEnds()
	}
}

// fireEnds applies all that ends now: the board's animation, own clocks, holds, the match clock, the idle limit. Only
// then is it decided whether the match ends, so that neither the order nor the seats matter.
func (s *Session) fireEnds() {
	if anim := &s.shared.Animation; anim.Serial != 0 && anim.EndMs <= s.nowMs {
		s.completeBoardAnimation()
	}
	for seat := range s.shared.Players {
		s.players[seat].outOfTime = s.isOutOfTime(seat)
	}
	s.endHolds()
	s.ends.players = true
	idleEndMs, runs := s.idleEndMs()
	s.ends.idle = !s.shared.Timed && runs && idleEndMs <= s.nowMs
}
