package domain

// ends is what a step has seen that may end the match.
type ends struct {
	noSets  bool // the board holds no Set, and cannot grow
	players bool // somebody left, a hold ended, or a clock stands at zero
	idle    bool // the idle limit was reached
}

// decide ends the match if it must end. It runs once a step, after all that the step brings.
func (s *Session) decide() {
	seen := s.ends
	s.ends = ends{}
	reason := EndReason(0)
	if seen.noSets {
		reason = EndNoSetsLeft
	} else if seen.players {
		reason = s.playersEnd()
	}
	if reason == 0 && seen.idle {
		reason = EndIdle
	}
	if reason != 0 {
		s.endMatch(reason)
	}
}

// playersEnd is why the players who are left cannot go on, or 0: no human, or only one of several players, is left, all
// are out of time (design rulings 8 and 9), or the last hold has ended and no human is connected. A match that began
// with bots alone needs no human.
//
// spec: session-lifecycle, Implementation Checklist
func (s *Session) playersEnd() EndReason {
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
		return EndAbandoned
	case inTime == 0:
		return EndTimeUp
	case active == 1 && s.shared.Players > 1:
		return EndLastPlayer
	case hasHumans && s.isDeserted():
		return EndAbandoned
	}
	return 0
}

// isDeserted reports whether no human is connected any more and all holds have ended: nobody has lost to anybody.
func (s *Session) isDeserted() bool {
	return s.version != recordVersion2 && !s.humanConnected() && s.lastHoldMs() != 0 && s.lastHoldMs() <= s.nowMs
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
	s.emit(end.clone())
}

// finalTable names the winners: those with the highest score who did not forfeit. A deserted match has none.
func (s *Session) finalTable(reason EndReason) MatchEnded {
	end := MatchEnded{Reason: reason}
	noWinner := reason == EndAbandoned && s.isDeserted()
	best := -1
	for seat := range s.shared.Players {
		public := s.shared.ByPlayer[seat]
		end.Table = append(end.Table, FinalScore{Seat: seat, Score: public.Score, Forfeited: public.Forfeited})
		switch {
		case noWinner || public.Forfeited || public.Score < best:
		case public.Score > best:
			best, end.Winners = public.Score, []int{seat}
		default:
			end.Winners = append(end.Winners, seat)
		}
	}
	return end
}
