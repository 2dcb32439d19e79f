package domain

// Matches whose records are of version 2 go on as they began. What was different, each at its place with a look at the
// version:
//   - deadlines of the same time fired one by one, the board's first, then the players' by seat, then the clock's or
//     the idle limit's, and each could end the match before the next was seen (fireVersion2);
//   - every hold that ended was a forfeit, also while no human was connected, and a hold of 0 ms was one at once;
//   - the idle limit ran from the last Set, also while the board moved;
//   - an own lock could be completed after the match had ended;
//   - ClaimSelected was refused for a lock rather than for the claim mode;
//   - every judged claim was remembered.

// fireVersion2 fires one deadline of those that end something.
func (s *Session) fireVersion2(d deadline) {
	switch d.kind {
	case deadlineBoard:
		s.completeBoardAnimation()
	case deadlineHold:
		s.leave(d.seat, ForfeitHoldExpired)
	case deadlineOwnClock:
		s.players[d.seat].outOfTime, s.ends.players = true, true
	case deadlineIdle:
		s.ends.idle = true
	default: // the match clock: nobody has time left
		s.ends.players = true
	}
}
