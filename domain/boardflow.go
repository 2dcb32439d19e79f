package domain

import "fmt"

// boardLock is the unbroken time from a Set to the next BoardIdle, expansions included (design ruling 11). An expansion
// of the opening board has the zero lock, whose board is empty: no claim is for cards that lay there.
type boardLock struct {
	seat    int // whose Set began it
	startMs int64
	board   Board // when it began, the claimed cards included
}

// dealOpening deals the opening board: a deck that a caller made short gives what it has.
//
// spec: board-and-dealing, Initial Deal
func (s *Session) dealOpening() {
	commitment, committed := s.setup.Deck.Commitment()
	s.emit(MatchStarted{Rules: s.setup.Rules, Players: s.setup.Players, Commitment: commitment, Committed: committed})
	board := &s.shared.Board
	for board.SlotCount() < s.setup.Rules.InitialBoardSize {
		must(board.Expand(ExpansionSize))
	}
	slots := board.EmptySlots()
	placed := s.place(slots[:min(len(slots), s.deck.Remaining())])
	s.emit(CardsDealt{Cause: DealInitial, Placement: placed})
	s.emit(BoardRefilled{placed.clone()})
	s.settle()
}

// enterValidSetAnim shows a valid Set; its cards belong to the board until RefillAnim.
func (s *Session) enterValidSetAnim(claim SetClaimed) {
	s.assertState(BoardIdle)
	s.lock = boardLock{seat: claim.Seat, startMs: s.nowMs, board: s.shared.Board}
	s.shared.Animation = Animation{Claimed: true, Seat: claim.Seat, ClaimedCards: claim.Cards, ClaimedSlots: claim.Slots}
	s.animate(ValidSetAnim, s.setup.Rules.ValidAnimMs)
}

// enterRefillAnim takes the claimed cards off the board and puts their replacements there.
//
// spec: board-and-dealing, Refill After a Valid Set
func (s *Session) enterRefillAnim() {
	s.assertState(ValidSetAnim)
	s.takeClaimedCards()
	if claimed := s.shared.Animation.ClaimedSlots; s.refills() {
		s.emit(CardsDealt{Cause: DealRefill, Placement: s.place(claimed[:])})
		s.shared.Animation.Dealt, s.shared.Animation.DealtSlots = true, claimed
	}
	s.animate(RefillAnim, s.setup.Rules.RefillAnimMs)
}

// refills is the refill policy (design ruling 6).
func (s *Session) refills() bool {
	if s.deck.Remaining() < ExpansionSize {
		return false
	}
	return s.setup.Rules.RefillPolicy == RefillAlways || s.shared.Board.CardCount() < s.setup.Rules.InitialBoardSize
}

func (s *Session) leaveRefillAnim() {
	s.assertState(RefillAnim)
	s.emitRefilled()
	s.settle()
}

// emitRefilled says once that a refill is complete, if there was one.
func (s *Session) emitRefilled() {
	anim := &s.shared.Animation
	if anim.Dealt {
		s.emit(BoardRefilled{s.placement(anim.DealtSlots[:])})
	}
	anim.Dealt, anim.DealtSlots = false, [3]int{}
}

// settle decides what follows a change of the board: a board with a Set is idle, else it grows, else the match ends.
//
// spec: board-and-dealing, Expansion: No Set on the Board
func (s *Session) settle() {
	var buffer [MaxSlots]Card
	if AnySetExists(s.shared.Board.AppendCards(buffer[:0])) {
		s.enterBoardIdle()
		return
	}
	if slots, ok := s.expansionSlots(); ok {
		s.enterExpandBoardAnim(slots)
		return
	}
	s.ends.noSets = true
}

// expansionSlots are the three lowest empty slots, or the three that expanding the board adds; false when there is no
// slot to fill or no card to fill it with (design ruling 6).
func (s *Session) expansionSlots() ([3]int, bool) {
	if s.deck.Remaining() < ExpansionSize {
		return [3]int{}, false
	}
	board := &s.shared.Board
	if empty := board.EmptySlots(); len(empty) >= ExpansionSize {
		return [3]int(empty), true
	}
	first := board.SlotCount()
	if first == MaxSlots {
		return [3]int{}, false
	}
	must(board.Expand(ExpansionSize))
	return [3]int{first, first + 1, first + 2}, true
}

func (s *Session) enterExpandBoardAnim(slots [3]int) {
	placed := s.place(slots[:])
	s.emit(CardsDealt{Cause: DealExpansion, Placement: placed})
	s.emit(BoardExpanded{placed.clone()})
	s.shared.Animation.Dealt, s.shared.Animation.DealtSlots = true, slots
	s.animate(ExpandBoardAnim, s.setup.Rules.ExpandAnimMs)
}

func (s *Session) enterBoardIdle() {
	s.shared.State, s.shared.Animation, s.lock = BoardIdle, Animation{}, boardLock{}
	s.idleMs[s.idles] = s.nowMs
	s.idles++
	for seat := range s.setup.Players {
		if s.isBot(seat) {
			s.look(seat)
		}
	}
}

// animate begins a phase of the board; one without length is over at once, in the same step (design ruling 3).
func (s *Session) animate(state MatchState, lengthMs int64) {
	anim := &s.shared.Animation
	s.serial++
	s.shared.State, anim.Serial, anim.StartMs, anim.EndMs = state, s.serial, s.nowMs, s.nowMs+lengthMs
	if lengthMs == 0 {
		s.completeBoardAnimation()
	}
}

func (s *Session) completeBoardAnimation() {
	switch s.shared.State {
	case ValidSetAnim:
		s.enterRefillAnim()
	case RefillAnim:
		s.leaveRefillAnim()
	case ExpandBoardAnim:
		s.settle()
	default:
		panic(fmt.Sprintf("domain: %v is no animation of the board", s.shared.State))
	}
}

// animationComplete passes in locked states, else nothing would ever unlock (design rulings 1 and 3).
//
// spec: session-lifecycle, Commands
func (s *Session) animationComplete(c AnimationComplete) Result {
	if s.end != nil && s.version != recordVersion2 {
		return refused(RefusedEnded)
	}
	if c.Seat == BoardLayer {
		if c.Serial == 0 || c.Serial != s.shared.Animation.Serial {
			return refused(RefusedStaleAnimation)
		}
		s.shared.Animation.EndMs = s.nowMs
		s.completeBoardAnimation()
		return Result{Outcome: Applied}
	}
	if !s.seated(c.Seat) || !s.locked(c.Seat) || c.Serial != s.hands[c.Seat].lockSerial {
		return refused(RefusedStaleAnimation)
	}
	s.shared.ByPlayer[c.Seat].LockedUntilMs = s.nowMs
	return Result{Outcome: Applied}
}

// place draws a card for each slot.
func (s *Session) place(slots []int) Placement {
	cards, err := s.deck.Draw(len(slots))
	must(err)
	for i, slot := range slots {
		must(s.shared.Board.PlaceCard(slot, cards[i]))
	}
	s.shared.DeckCount = s.deck.Remaining()
	return Placement{Slots: append([]int(nil), slots...), Cards: cards}
}

func (s *scene) placement(slots []int) Placement {
	placed := Placement{Slots: append([]int(nil), slots...)}
	for _, slot := range slots {
		card, ok := s.shared.Board.CardAt(slot)
		if !ok {
			panic(fmt.Sprintf("domain: slot %d was dealt to and is empty", slot))
		}
		placed.Cards = append(placed.Cards, card)
	}
	return placed
}

// takeClaimedCards gives the claimed cards to the claimer: they leave the board, and the selections of others.
func (s *Session) takeClaimedCards() {
	slots := s.shared.Animation.ClaimedSlots
	for _, slot := range slots {
		must(s.shared.Board.RemoveCard(slot))
		for seat := range s.shared.Players {
			s.hands[seat].selection.drop(slot)
		}
	}
}

func (s *Session) assertState(want MatchState) {
	if s.shared.State != want {
		panic(fmt.Sprintf("domain: in %v, not in %v, at %d ms, revision %d", s.shared.State, want, s.nowMs, s.revision))
	}
}
