package domain

// selection is the slots that a player has selected, in order; its zero value is empty.
type selection struct {
	slots [3]int
	count int
}

func (l *selection) has(slot int) bool {
	for _, selected := range l.slots[:l.count] {
		if selected == slot {
			return true
		}
	}
	return false
}

func (l *selection) add(slot int) {
	l.slots[l.count] = slot
	l.count++
}

// drop takes a slot out, if it is in, and keeps the order of the others.
func (l *selection) drop(slot int) {
	kept := selection{}
	for _, selected := range l.slots[:l.count] {
		if selected != slot {
			kept.add(selected)
		}
	}
	*l = kept
}

func (l *selection) clear() { *l = selection{} }

// inputReason is why the player can neither select nor deselect a slot now, or 0.
func (s *Session) inputReason(seat int) Reason {
	switch {
	case !s.plays(seat):
		return RefusedNotAPlayer
	case !s.started:
		return RefusedNotStarted
	}
	return s.lockReason(seat)
}

// selectCard selects a card; in ClaimAutomatic the third one claims.
//
// spec: session-lifecycle, State Machine Transitions
func (s *Session) selectCard(c SelectCard) Result {
	if reason := s.inputReason(c.Seat); reason != 0 {
		return s.refusal(c.Seat, reason)
	}
	if reason := s.selectSlot(c.Seat, c.Slot); reason != 0 {
		return refused(reason)
	}
	l := s.selectionOf(c.Seat)
	if l.count < len(l.slots) || s.setup.Rules.ClaimMode == ClaimOnCommand {
		return Result{Outcome: Applied}
	}
	return s.judge(c.Seat, 0, s.selectedCards(l))
}

func (s *Session) deselectCard(c DeselectCard) Result {
	if reason := s.inputReason(c.Seat); reason != 0 {
		return s.refusal(c.Seat, reason)
	}
	if reason := s.deselectSlot(c.Seat, c.Slot); reason != 0 {
		return refused(reason)
	}
	return Result{Outcome: Applied}
}

// claimSelected claims the shared selection for a player: pass and play (design ruling 12).
func (s *Session) claimSelected(c ClaimSelected) Result {
	reason := s.inputReason(c.Seat)
	if s.setup.Rules.ClaimMode != ClaimOnCommand && s.modeComesBefore(reason) {
		reason = RefusedWrongClaimMode
	}
	if reason != 0 {
		return s.refusal(c.Seat, reason)
	}
	if s.common.count < len(s.common.slots) {
		return refused(RefusedSelectionIncomplete)
	}
	return s.judge(c.Seat, 0, s.selectedCards(&s.common))
}

// modeComesBefore reports whether a wrong claim mode is the reason to refuse ClaimSelected rather than another one. As
// with ClaimSet, it is unless the claimant does not play.
func (s *Session) modeComesBefore(reason Reason) bool {
	if s.version == recordVersion2 {
		return reason == 0
	}
	return reason != RefusedNotAPlayer && reason != RefusedNotStarted
}
