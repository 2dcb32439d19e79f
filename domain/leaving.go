package domain

// drop says that a player's connection is gone: the seat is held, and stays active meanwhile (design ruling 9).
func (s *Session) drop(seat int) Result {
	if reason := s.leavingReason(s.plays(seat)); reason != 0 {
		return refused(reason)
	}
	p := &s.players[seat]
	if p.dropped {
		return refused(RefusedAlreadyDropped)
	}
	holdMs := s.setup.Rules.DropHoldMs
	if holdMs == 0 && s.version == recordVersion2 {
		s.leave(seat, ForfeitHoldExpired)
		return Result{Outcome: Applied}
	}
	// A hold of 0 ends with the millisecond, so that it makes no difference which of two losses in it was noticed last.
	p.dropped, p.heldUntilMs = true, s.nowMs+max(holdMs, 1)
	return Result{Outcome: Applied}
}

// comeBack ends the hold of a dropped player, also one that had ended while no human was connected. The holds of others
// that had ended and waited are due now: Apply fires them at once.
func (s *Session) comeBack(seat int) Result {
	if reason := s.leavingReason(s.plays(seat)); reason != 0 {
		return refused(reason)
	}
	p := &s.players[seat]
	if !p.dropped {
		return refused(RefusedNotDropped)
	}
	p.dropped, p.heldUntilMs = false, 0
	return Result{Outcome: Applied}
}

// endHolds takes out the players whose holds have ended, if a human is connected. Else these holds wait, for the first
// return or for the end of the last hold.
func (s *Session) endHolds() {
	if !s.humanConnected() {
		return
	}
	for seat := range s.shared.Players {
		if p := &s.players[seat]; p.dropped && p.heldUntilMs <= s.nowMs {
			s.leave(seat, ForfeitHoldExpired)
		}
	}
}

// humanConnected reports whether a human who has not forfeited is connected. Bots do not count.
func (s *Session) humanConnected() bool {
	for seat := range s.shared.Players {
		if !s.isBot(seat) && !s.shared.ByPlayer[seat].Forfeited && !s.players[seat].dropped {
			return true
		}
	}
	return false
}

// lastHoldMs is when the last of the holds ends, or 0 if nobody is dropped.
func (s *Session) lastHoldMs() int64 {
	last := int64(0)
	for seat := range s.shared.Players {
		if p := &s.players[seat]; p.dropped {
			last = max(last, p.heldUntilMs)
		}
	}
	return last
}

// forfeit is the one command that a bot's seat takes too: it can be removed.
func (s *Session) forfeit(seat int, cause ForfeitCause) Result {
	plays := s.plays(seat) || s.isBot(seat) && !s.shared.ByPlayer[seat].Forfeited
	if reason := s.leavingReason(plays); reason != 0 {
		return refused(reason)
	}
	s.leave(seat, cause)
	return Result{Outcome: Applied}
}

func (s *Session) leavingReason(plays bool) Reason {
	switch {
	case !plays:
		return RefusedNotAPlayer
	case !s.started:
		return RefusedNotStarted
	case s.end != nil:
		return RefusedEnded
	}
	return 0
}

// leave takes a player out for good: the score stays, a held claim is refused.
func (s *Session) leave(seat int, cause ForfeitCause) {
	p := &s.players[seat]
	p.dropped, p.heldUntilMs, p.bot.thinks = false, 0, false
	s.hands[seat].selection.clear()
	s.shared.ByPlayer[seat].Forfeited = true
	s.emit(PlayerForfeited{Seat: seat, Cause: cause})
	for i, h := range s.held {
		if h.seat == seat {
			s.held = append(s.held[:i:i], s.held[i+1:]...)
			s.answer(h, Refusal{Reason: RefusedNotAPlayer})
			break
		}
	}
	s.ends.players = true
}
