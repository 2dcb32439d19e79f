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

// Input is a player's own part of the state. A seat that does not play has the zero Input.
func (s *Session) Input(seat int) Input {
	if !s.seated(seat) {
		return Input{}
	}
	l := s.selectionOf(seat)
	in := Input{State: s.shared.State, Selected: append([]int(nil), l.slots[:l.count]...)}
	if s.locked(seat) {
		in.Serial = s.players[seat].lockSerial
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

// selectionOf is the player's own selection, or the one that all share in ClaimOnCommand (design ruling 12).
func (s *Session) selectionOf(seat int) *selection {
	if s.setup.Rules.ClaimMode == ClaimOnCommand {
		return &s.common
	}
	return &s.players[seat].selection
}

// inputReason is why the player can neither select nor deselect a slot now, or 0.
func (s *Session) inputReason(seat, slot int) Reason {
	switch {
	case !s.plays(seat):
		return RefusedNotAPlayer
	case !s.started:
		return RefusedNotStarted
	}
	if reason := s.lockReason(seat); reason != 0 {
		return reason
	}
	switch {
	case s.players[seat].waiting:
		return RefusedWaiting
	case slot < 0 || slot >= s.shared.Board.SlotCount():
		return RefusedNoSuchSlot
	}
	return 0
}

// selectCard selects a card; in ClaimAutomatic the third one claims, or waits for the server's verdict in a replica.
//
// spec: session-lifecycle, State Machine Transitions
func (s *Session) selectCard(c SelectCard) Result {
	if reason := s.inputReason(c.Seat, c.Slot); reason != 0 {
		return s.refusedInput(c.Seat, reason)
	}
	l := s.selectionOf(c.Seat)
	if l.has(c.Slot) {
		return refused(RefusedSlotSelected)
	}
	if _, occupied := s.shared.Board.CardAt(c.Slot); !occupied {
		return refused(RefusedSlotEmpty)
	}
	if l.count == len(l.slots) {
		return refused(RefusedSelectionFull)
	}
	l.add(c.Slot)
	if l.count < len(l.slots) || s.setup.Rules.ClaimMode == ClaimOnCommand {
		return Result{Outcome: Applied}
	}
	cards := s.selectedCards(l)
	if s.replica {
		s.players[c.Seat].waiting = true
		return Result{Outcome: Waiting, Verdict: SetClaimed{Seat: c.Seat, Cards: cards, Slots: l.slots}}
	}
	return s.judge(c.Seat, 0, cards)
}

func (s *Session) deselectCard(c DeselectCard) Result {
	if reason := s.inputReason(c.Seat, c.Slot); reason != 0 {
		return s.refusedInput(c.Seat, reason)
	}
	l := s.selectionOf(c.Seat)
	if !l.has(c.Slot) {
		return refused(RefusedSlotNotSelected)
	}
	l.drop(c.Slot)
	return Result{Outcome: Applied}
}

// claimSelected claims the shared selection for a player: pass and play (design ruling 12).
func (s *Session) claimSelected(c ClaimSelected) Result {
	reason := s.inputReason(c.Seat, 0)
	if s.setup.Rules.ClaimMode != ClaimOnCommand && s.modeComesBefore(reason) {
		reason = RefusedWrongClaimMode
	}
	if reason != 0 {
		return s.refusedInput(c.Seat, reason)
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

func (s *Session) refusedInput(seat int, reason Reason) Result {
	if !s.seated(seat) {
		return refused(reason)
	}
	return s.refusedWithRetry(seat, reason)
}

func (s *Session) selectedCards(l *selection) Triple {
	return Triple(s.placement(l.slots[:]).Cards)
}
