package domain

// scene is what a session and a replica have in common: the shared state, the time, and what each player has selected
// of it.
type scene struct {
	setup  Setup
	nowMs  int64
	shared Snapshot // the whole shared state; Snapshot returns a copy
	hands  [MaxPlayers]hand
	common selection // the one selection of ClaimOnCommand
}

// hand is a player's own part of a scene.
type hand struct {
	selection  selection
	lockSerial uint32 // of the InvalidSetAnim that began last; 0 in a replica
}

// NowMs is the match time of the last call.
func (s *scene) NowMs() int64 { return s.nowMs }

// Snapshot is a copy of the shared state.
//
// spec: session-lifecycle, GameStateSnapshot
func (s *scene) Snapshot() Snapshot { return s.shared }

// Input is a player's own part of the state. A seat that does not play has the zero Input.
func (s *scene) Input(seat int) Input {
	if !s.seated(seat) {
		return Input{}
	}
	l := s.selectionOf(seat)
	in := Input{State: s.shared.State, Selected: append([]int(nil), l.slots[:l.count]...)}
	if s.locked(seat) {
		in.Serial = s.hands[seat].lockSerial
	}
	if in.State != BoardIdle {
		return in
	}
	in.State = [...]MatchState{BoardIdle, CardSelected1, CardSelected2, Validating}[l.count]
	if s.locked(seat) {
		in.State = InvalidSetAnim
	}
	return in
}

func (s *scene) seated(seat int) bool { return seat >= 0 && seat < s.shared.Players }

// selectionOf is the player's own selection, or the one that all share in ClaimOnCommand (design ruling 12).
func (s *scene) selectionOf(seat int) *selection {
	if s.setup.Rules.ClaimMode == ClaimOnCommand {
		return &s.common
	}
	return &s.hands[seat].selection
}

// selectSlot adds a slot to the player's selection, or says why not.
func (s *scene) selectSlot(seat, slot int) Reason {
	l := s.selectionOf(seat)
	_, occupied := s.shared.Board.CardAt(slot)
	switch {
	case slot < 0 || slot >= s.shared.Board.SlotCount():
		return RefusedNoSuchSlot
	case l.has(slot):
		return RefusedSlotSelected
	case !occupied:
		return RefusedSlotEmpty
	case l.count == len(l.slots):
		return RefusedSelectionFull
	}
	l.add(slot)
	return 0
}

// deselectSlot takes a slot out of the player's selection, or says why not.
func (s *scene) deselectSlot(seat, slot int) Reason {
	l := s.selectionOf(seat)
	switch {
	case slot < 0 || slot >= s.shared.Board.SlotCount():
		return RefusedNoSuchSlot
	case !l.has(slot):
		return RefusedSlotNotSelected
	}
	l.drop(slot)
	return 0
}

func (s *scene) selectedCards(l *selection) Triple {
	return Triple(s.placement(l.slots[:]).Cards)
}

// locked reports whether the player is in InvalidSetAnim.
func (s *scene) locked(seat int) bool { return s.nowMs < s.shared.ByPlayer[seat].LockedUntilMs }

// isOutOfTime reports whether the player's own clock stands at zero (design ruling 8).
func (s *scene) isOutOfTime(seat int) bool {
	return s.shared.Timed && s.shared.TimeLeftMs(seat, s.nowMs) == 0
}

// lockReason is why the player can do nothing now, or 0.
//
// spec: session-lifecycle, Input Locking During Animations
func (s *scene) lockReason(seat int) Reason {
	switch {
	case s.shared.State == MatchEnd:
		return RefusedEnded
	case s.isOutOfTime(seat):
		return RefusedOutOfTime
	case s.locked(seat):
		return RefusedOwnLock
	case s.shared.State != BoardIdle:
		return RefusedBoardLock
	}
	return 0
}

// refusal says, for a lock, when it is known to end: the player's own, and the chain of the board's animations without an
// expansion to come, which would tell that there is no Set (design ruling 11).
func (s *scene) refusal(seat int, reason Reason) Result {
	result := refused(reason)
	if reason != RefusedOwnLock && reason != RefusedBoardLock {
		return result
	}
	retryAtMs := s.shared.Animation.EndMs
	if s.shared.State == ValidSetAnim {
		retryAtMs += s.setup.Rules.RefillAnimMs
	}
	result.Refusal.RetryAtMs = max(retryAtMs, s.shared.ByPlayer[seat].LockedUntilMs)
	return result
}
