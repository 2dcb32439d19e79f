package client

import (
	"slices"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// view is the state as the events tell it.
type view struct {
	board     []byte // by slot; emptySlot for none
	leaving   []byte // slots of a valid Set's cards, which leave when its animation is over
	deck      int
	scores    []uint32
	penalties []uint32
	forfeited uint32
	clockEnd  uint64
	owed      *wire.SetClaimed // the verdict whose consequence must be the next event
	atMs      uint64
	dealt     [domain.DeckSize]int // by place in the deck: the card id seen there + 1
	known     [domain.DeckSize]bool
}

// resync takes a snapshot where the events are not complete. Before the first Set the cards lie in the order in which they were dealt.
func (v *Verifier) resync(s *wire.Snapshot) {
	fresh := &view{
		board: slices.Clone(s.GetBoard()), deck: int(s.GetDeckCount()), scores: slices.Clone(s.GetScores()),
		penalties: slices.Clone(s.GetTimePenaltiesMs()), forfeited: s.GetForfeitedSeats(), clockEnd: s.GetClockEndMs(),
	}
	if s.GetState() == wire.BoardState_BOARD_STATE_VALID_SET_ANIM {
		fresh.leaving = s.GetAnimation().GetClaimedSlots()
	}
	if v.view != nil {
		fresh.dealt, fresh.known = v.view.dealt, v.view.known
	}
	if v.stale {
		v.stale = false
		fresh.forget(v.deckSize - fresh.deck)
	}
	v.view = fresh
	var lying []byte
	for _, id := range s.GetBoard() {
		if id < domain.DeckSize {
			fresh.known[id] = true
			lying = append(lying, id)
		}
	}
	if len(lying)+fresh.deck == v.deckSize {
		for place, id := range lying {
			fresh.dealt[place] = int(id) + 1
		}
	}
}

// forget forgets the cards that are not dealt any more.
func (w *view) forget(dealt int) {
	w.known = [domain.DeckSize]bool{}
	for _, seen := range w.dealt[:max(0, min(dealt, len(w.dealt)))] {
		if seen != 0 {
			w.known[seen-1] = true
		}
	}
}

// events runs the events of an update over the view and checks each.
func (v *Verifier) events(u *wire.Update) {
	if v.view == nil {
		v.view = &view{}
	}
	for _, event := range u.GetEvents() {
		if v.ended != nil {
			v.violate("an event after the end: %v", event)
			return
		}
		if event.GetAtMs() < v.view.atMs || event.GetAtMs() > u.GetStamp().GetServerTimeMs() {
			v.violate("an event at %d ms, between %d and %d", event.GetAtMs(), v.view.atMs, u.GetStamp().GetServerTimeMs())
		}
		v.view.atMs = event.GetAtMs()
		if owed := v.view.owed; owed != nil && event.GetScoreChanged() == nil && event.GetPenaltyApplied() == nil {
			v.violate("a claim of seat %d without its consequence", owed.GetSeat())
			v.view.owed = nil
		}
		v.event(event)
	}
	if v.view.owed != nil {
		v.violate("a claim of seat %d without its consequence", v.view.owed.GetSeat())
		v.view.owed = nil
	}
}

func (v *Verifier) event(event *wire.Event) {
	switch e := event.GetKind().(type) {
	case *wire.Event_MatchStarted:
		v.matchStarted(e.MatchStarted)
	case *wire.Event_CardsDealt:
		v.cardsDealt(e.CardsDealt)
	case *wire.Event_BoardRefilled:
		v.lie("refilled", e.BoardRefilled.GetSlots(), e.BoardRefilled.GetCards())
	case *wire.Event_BoardExpanded:
		v.lie("expanded", e.BoardExpanded.GetSlots(), e.BoardExpanded.GetCards())
	case *wire.Event_SetClaimed:
		v.setClaimed(e.SetClaimed)
	case *wire.Event_ScoreChanged:
		v.scoreChanged(e.ScoreChanged)
	case *wire.Event_PenaltyApplied:
		v.penaltyApplied(e.PenaltyApplied)
	case *wire.Event_PlayerForfeited:
		v.view.forfeited |= 1 << e.PlayerForfeited.GetSeat()
	case *wire.Event_MatchEnded:
		v.leave()
		v.matchEnded(e.MatchEnded)
	default:
		v.violate("an event of a kind that is not in protocol version %d", ProtocolVersion)
	}
}

func (v *Verifier) matchStarted(e *wire.MatchStarted) {
	v.terms(e.GetRules(), e.GetCommitment())
	slots := max(domain.MinSlots, int(e.GetRules().GetInitialBoardSize()))
	v.view = &view{
		board: slices.Repeat([]byte{emptySlot}, slots), deck: v.deckSize, clockEnd: uint64(e.GetRules().GetTimeLimitMs()),
		scores: make([]uint32, e.GetSeatCount()), penalties: make([]uint32, e.GetSeatCount()),
	}
}

// leave takes the cards of the last valid Set off the board.
func (v *Verifier) leave() {
	for _, slot := range v.view.leaving {
		if int(slot) < len(v.view.board) {
			v.view.board[slot] = emptySlot
		}
	}
	v.view.leaving = nil
}

func (v *Verifier) cardsDealt(e *wire.CardsDealt) {
	v.leave()
	if len(e.GetSlots()) != len(e.GetCards()) {
		v.violate("%d cards dealt to %d slots", len(e.GetCards()), len(e.GetSlots()))
		return
	}
	for i, slot := range e.GetSlots() {
		for int(slot) >= len(v.view.board) && len(v.view.board) < domain.MaxSlots {
			v.view.board = append(v.view.board, emptySlot)
		}
		v.deal(slot, e.GetCards()[i])
	}
}

func (v *Verifier) deal(slot, id byte) {
	if int(slot) >= len(v.view.board) || int(id) >= domain.DeckSize {
		v.violate("card %d dealt to slot %d", id, slot)
		return
	}
	if v.view.board[slot] != emptySlot {
		v.violate("card %d dealt to slot %d, which holds card %d", id, slot, v.view.board[slot])
	}
	if v.view.known[id] {
		v.violate("card %d is dealt a second time", id)
	}
	v.view.board[slot], v.view.known[id] = id, true
	if place := v.deckSize - v.view.deck; place >= 0 && place < len(v.view.dealt) {
		v.view.dealt[place] = int(id) + 1
	}
	v.view.deck--
	v.report.Dealt++
}

// lie checks that cards lie where an event says.
func (v *Verifier) lie(what string, slots, cards []byte) {
	if len(slots) != len(cards) {
		v.violate("%s: %d cards in %d slots", what, len(cards), len(slots))
		return
	}
	for i, slot := range slots {
		if int(slot) >= len(v.view.board) || v.view.board[slot] != cards[i] {
			v.violate("%s: card %d is not in slot %d", what, cards[i], slot)
		}
	}
}

func (v *Verifier) setClaimed(e *wire.SetClaimed) {
	v.leave()
	verdict, err := DomainVerdict(e)
	if err != nil {
		v.violate("%v", err)
		return
	}
	if verdict.Seat >= len(v.view.scores) || v.view.forfeited>>verdict.Seat&1 == 1 {
		v.violate("seat %d claims, which does not play", verdict.Seat)
		return
	}
	v.lie("claimed", e.GetSlots(), e.GetCards())
	truth := domain.ValidateTriple(verdict.Cards)
	if truth.IsValid() != e.GetValid() || truth.Mixed != verdict.Mixed {
		v.violate("%v is a Set: %v, mixed %v; the server says %v, mixed %v", verdict.Cards, truth.IsValid(), truth.Mixed, e.GetValid(), verdict.Mixed)
	}
	if e.GetValid() {
		v.view.leaving = e.GetSlots()
		v.view.owed = e
	} else if v.domain.PenaltyMode != domain.PenaltyNone {
		v.view.owed = e
	}
}

func (v *Verifier) scoreChanged(e *wire.ScoreChanged) {
	owed := v.view.owed
	v.view.owed = nil
	if owed == nil || !owed.GetValid() || owed.GetSeat() != e.GetSeat() {
		v.violate("the score of seat %d changes without a Set", e.GetSeat())
	}
	if int(e.GetSeat()) >= len(v.view.scores) {
		return
	}
	v.view.scores[e.GetSeat()]++
	if e.GetScore() != v.view.scores[e.GetSeat()] {
		v.violate("seat %d has %d points, the server says %d", e.GetSeat(), v.view.scores[e.GetSeat()], e.GetScore())
	}
}

func (v *Verifier) penaltyApplied(e *wire.PenaltyApplied) {
	owed, seat := v.view.owed, e.GetSeat()
	v.view.owed = nil
	if owed == nil || owed.GetValid() || owed.GetSeat() != seat || int(seat) >= len(v.view.scores) {
		v.violate("seat %d is punished without a wrong claim", seat)
		return
	}
	var amount, left uint32
	switch v.domain.PenaltyMode {
	case domain.PenaltyPoint:
		amount = min(1, v.view.scores[seat])
		v.view.scores[seat] -= amount
		left = v.view.scores[seat]
	case domain.PenaltyTime:
		before := uint32(max(0, int64(v.view.clockEnd)-int64(v.view.penalties[seat])-int64(v.view.atMs)))
		amount = min(uint32(v.domain.PenaltyTimeMs), before)
		v.view.penalties[seat] += amount
		left = before - amount
	}
	if e.GetMode() != v.rules.GetPenaltyMode() || e.GetAmount() != amount || e.GetRemaining() != left {
		v.violate("seat %d pays %d and has %d left (%v); the server says %d and %d (%v)", seat, amount, left, v.rules.GetPenaltyMode(),
			e.GetAmount(), e.GetRemaining(), e.GetMode())
	}
}

// compare checks that the snapshot is what the events led to.
func (v *Verifier) compare(s *wire.Snapshot) {
	if s.GetState() != wire.BoardState_BOARD_STATE_VALID_SET_ANIM {
		v.leave()
	}
	if !slices.Equal(v.view.board, s.GetBoard()) {
		v.violate("the events make the board %v, the snapshot says %v", v.view.board, s.GetBoard())
	}
	if v.view.deck != int(s.GetDeckCount()) {
		v.violate("the events leave %d cards in the deck, the snapshot says %d", v.view.deck, s.GetDeckCount())
	}
	if !slices.Equal(v.view.scores, s.GetScores()) {
		v.violate("the events make the scores %v, the snapshot says %v", v.view.scores, s.GetScores())
	}
	if !slices.Equal(v.view.penalties, s.GetTimePenaltiesMs()) {
		v.violate("the events make the time penalties %v, the snapshot says %v", v.view.penalties, s.GetTimePenaltiesMs())
	}
	if v.view.forfeited != s.GetForfeitedSeats() {
		v.violate("the events make the forfeits %b, the snapshot says %b", v.view.forfeited, s.GetForfeitedSeats())
	}
	if v.view.clockEnd != s.GetClockEndMs() {
		v.violate("the clock ends at %d ms, the snapshot says %d", v.view.clockEnd, s.GetClockEndMs())
	}
	if isEnd := s.GetState() == wire.BoardState_BOARD_STATE_MATCH_END; isEnd != (v.ended != nil) {
		v.violate("the snapshot says that the match is over: %v; MatchEnded has come: %v", isEnd, v.ended != nil)
	}
	v.view = &view{ // keep nothing of the message
		board: slices.Clone(s.GetBoard()), leaving: v.view.leaving, deck: int(s.GetDeckCount()), scores: slices.Clone(s.GetScores()),
		penalties: slices.Clone(s.GetTimePenaltiesMs()), forfeited: s.GetForfeitedSeats(), clockEnd: s.GetClockEndMs(),
		atMs: v.view.atMs, dealt: v.view.dealt, known: v.view.known,
	}
}
