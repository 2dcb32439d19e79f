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
	if s.setup.Rules.DropHoldMs == 0 {
		s.leave(seat, ForfeitHoldExpired)
		return Result{Outcome: Applied}
	}
	p.dropped, p.heldUntilMs = true, s.nowMs+s.setup.Rules.DropHoldMs
	return Result{Outcome: Applied}
}

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
	p.selection.clear()
	s.shared.ByPlayer[seat].Forfeited = true
	s.emit(PlayerForfeited{Seat: seat, Cause: cause})
	for i, h := range s.held {
		if h.seat == seat {
			s.held = append(s.held[:i:i], s.held[i+1:]...)
			s.answer(h, Refusal{Reason: RefusedNotAPlayer})
			break
		}
	}
	s.checkEnds()
}

// checkEnds ends the match when no human, or only one of several players, is left to play, or all are out of time
// (design rulings 8 and 9). A match that began with bots alone needs no human.
//
// spec: session-lifecycle, Implementation Checklist
func (s *Session) checkEnds() {
	active, inTime := 0, 0
	var hadHumans, hasHumans bool
	for seat := range s.shared.Players {
		isHuman := !s.isBot(seat)
		hadHumans = hadHumans || isHuman
		if s.shared.ByPlayer[seat].Forfeited {
			continue
		}
		active++
		hasHumans = hasHumans || isHuman
		if !s.isOutOfTime(seat) {
			inTime++
		}
	}
	switch {
	case active == 0 || hadHumans && !hasHumans:
		s.endMatch(EndAbandoned)
	case inTime == 0:
		s.endMatch(EndTimeUp)
	case active == 1 && s.shared.Players > 1:
		s.endMatch(EndLastPlayer)
	}
}

// endMatch ends the match at once, in whatever state it is: claimed cards go to the claimer and nothing is dealt, a
// pending BoardRefilled comes first, held claims are refused, MatchEnded is the last event (design ruling 4).
func (s *Session) endMatch(reason EndReason) {
	switch s.shared.State {
	case ValidSetAnim:
		s.takeClaimedCards()
	case RefillAnim:
		s.emitRefilled()
	case MatchEnd:
		panic("domain: the match ends twice")
	}
	s.shared.State, s.shared.Animation, s.shared.ClockRuns, s.lock = MatchEnd, Animation{}, false, boardLock{}
	for _, h := range s.held {
		s.answer(h, Refusal{Reason: RefusedEnded})
	}
	s.held = nil
	end := s.finalTable(reason)
	s.end = &end
	s.emit(end)
}

func (s *Session) finalTable(reason EndReason) MatchEnded {
	end := MatchEnded{Reason: reason}
	best := -1
	for seat := range s.shared.Players {
		public := s.shared.ByPlayer[seat]
		end.Table = append(end.Table, FinalScore{Seat: seat, Score: public.Score, Forfeited: public.Forfeited})
		switch {
		case public.Forfeited || public.Score < best:
		case public.Score > best:
			best, end.Winners = public.Score, []int{seat}
		default:
			end.Winners = append(end.Winners, seat)
		}
	}
	return end
}
