package client

import (
	"fmt"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// emptySlot is how the wire writes a slot without a card.
const emptySlot = 255

// DomainRules reads the rules of a match.
func DomainRules(r *wire.Rules) domain.Rules {
	return domain.Rules{
		InitialBoardSize: int(r.GetInitialBoardSize()),
		RefillPolicy:     domain.RefillPolicy(r.GetRefillPolicy()),
		PenaltyMode:      domain.PenaltyMode(r.GetPenaltyMode()),
		PenaltyTimeMs:    int64(r.GetPenaltyTimeMs()),
		Timed:            r.GetTimeLimitMs() > 0,
		TimeLimitMs:      int64(r.GetTimeLimitMs()),
		ClaimMode:        domain.ClaimAutomatic,
		ClaimGraceMs:     int64(r.GetClaimGraceMs()),
		ValidAnimMs:      int64(r.GetValidAnimMs()),
		InvalidAnimMs:    int64(r.GetInvalidAnimMs()),
		RefillAnimMs:     int64(r.GetRefillAnimMs()),
		ExpandAnimMs:     int64(r.GetExpandAnimMs()),
		IdleLimitMs:      int64(r.GetIdleLimitMs()),
		DropHoldMs:       int64(r.GetDropHoldMs()),
	}
}

// DomainSnapshot reads a snapshot. It fails on one that no table can be in: a card twice, a slot too many, a seat that is
// not there.
func DomainSnapshot(w *wire.Snapshot) (domain.Snapshot, error) {
	s := domain.Snapshot{
		DeckCount: int(w.GetDeckCount()),
		Players:   len(w.GetScores()),
		Timed:     w.ClockEndMs != nil,
		ClockRuns: w.GetClockRunning(),
	}
	s.ClockEndMs = int64(w.GetClockEndMs())
	if err := readPlayers(&s, w); err != nil {
		return s, err
	}
	var err error
	if s.Board, err = readBoard(w.GetBoard()); err != nil {
		return s, err
	}
	if s.State, err = readBoardState(w.GetState()); err != nil {
		return s, err
	}
	if w.GetAnimation() != nil {
		s.Animation, err = readAnimation(w.GetAnimation(), s.Players)
	}
	return s, err
}

func readPlayers(s *domain.Snapshot, w *wire.Snapshot) error {
	n := len(w.GetScores())
	if n < 1 || n > domain.MaxPlayers {
		return fmt.Errorf("%w: %d scores, want 1 to %d", ErrUnreadable, n, domain.MaxPlayers)
	}
	if len(w.GetLockedUntilMs()) != n || len(w.GetTimePenaltiesMs()) != n {
		return fmt.Errorf("%w: %d scores, %d locks and %d time penalties", ErrUnreadable, n, len(w.GetLockedUntilMs()),
			len(w.GetTimePenaltiesMs()))
	}
	if w.GetForfeitedSeats()>>n != 0 {
		return fmt.Errorf("%w: forfeited seats %b of %d", ErrUnreadable, w.GetForfeitedSeats(), n)
	}
	for seat := range n {
		s.ByPlayer[seat] = domain.PlayerSnapshot{
			Score:         int(w.GetScores()[seat]),
			LockedUntilMs: int64(w.GetLockedUntilMs()[seat]),
			TimePenaltyMs: int64(w.GetTimePenaltiesMs()[seat]),
			Forfeited:     w.GetForfeitedSeats()>>seat&1 == 1,
		}
	}
	return nil
}

func readBoard(slots []byte) (domain.Board, error) {
	board := domain.NewBoard()
	if len(slots) < domain.MinSlots || len(slots) > domain.MaxSlots || len(slots)%domain.ExpansionSize != 0 {
		return board, fmt.Errorf("%w: a board of %d slots", ErrUnreadable, len(slots))
	}
	for board.SlotCount() < len(slots) {
		if err := board.Expand(domain.ExpansionSize); err != nil {
			return board, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
	}
	for slot, id := range slots {
		if id == emptySlot {
			continue
		}
		card, err := domain.CardFromID(int(id))
		if err == nil {
			err = board.PlaceCard(slot, card)
		}
		if err != nil {
			return board, fmt.Errorf("%w: slot %d: %w", ErrUnreadable, slot, err)
		}
	}
	return board, nil
}

func readBoardState(s wire.BoardState) (domain.MatchState, error) {
	switch s {
	case wire.BoardState_BOARD_STATE_IDLE:
		return domain.BoardIdle, nil
	case wire.BoardState_BOARD_STATE_VALID_SET_ANIM:
		return domain.ValidSetAnim, nil
	case wire.BoardState_BOARD_STATE_REFILL_ANIM:
		return domain.RefillAnim, nil
	case wire.BoardState_BOARD_STATE_EXPAND_BOARD_ANIM:
		return domain.ExpandBoardAnim, nil
	case wire.BoardState_BOARD_STATE_MATCH_END:
		return domain.MatchEnd, nil
	}
	return 0, fmt.Errorf("%w: board state %d", ErrUnreadable, s)
}

func readAnimation(w *wire.Animation, players int) (domain.Animation, error) {
	a := domain.Animation{Serial: w.GetSerial(), StartMs: int64(w.GetStartMs()), EndMs: int64(w.GetEndMs())}
	var err error
	if w.Seat != nil {
		a.Claimed, a.Seat = true, int(w.GetSeat())
		if a.Seat >= players {
			return a, fmt.Errorf("%w: an animation about seat %d of %d", ErrUnreadable, a.Seat, players)
		}
		if a.ClaimedCards, err = readTriple(w.GetClaimedCards()); err != nil {
			return a, err
		}
		if a.ClaimedSlots, err = readSlots(w.GetClaimedSlots()); err != nil {
			return a, err
		}
	}
	if len(w.GetDealtSlots()) > 0 {
		a.Dealt = true
		a.DealtSlots, err = readSlots(w.GetDealtSlots())
	}
	return a, err
}

func readTriple(ids []byte) (domain.Triple, error) {
	var triple domain.Triple
	if len(ids) != len(triple) {
		return triple, fmt.Errorf("%w: %d cards, want 3", ErrUnreadable, len(ids))
	}
	for i, id := range ids {
		card, err := domain.CardFromID(int(id))
		if err != nil {
			return triple, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		triple[i] = card
	}
	return triple, nil
}

func readSlots(raw []byte) ([3]int, error) {
	var slots [3]int
	if len(raw) != len(slots) {
		return slots, fmt.Errorf("%w: %d slots, want 3", ErrUnreadable, len(raw))
	}
	for i, slot := range raw {
		if int(slot) >= domain.MaxSlots {
			return slots, fmt.Errorf("%w: slot %d", ErrUnreadable, slot)
		}
		slots[i] = int(slot)
	}
	return slots, nil
}

// DomainVerdict reads a verdict. It fails on cards or slots that do not exist.
func DomainVerdict(w *wire.SetClaimed) (domain.SetClaimed, error) {
	v := domain.SetClaimed{Seat: int(w.GetSeat()), ClaimID: w.GetClaimId(), Mixed: domain.AttributeSet(w.GetMixedAttributes())}
	var err error
	if v.Cards, err = readTriple(w.GetCards()); err != nil {
		return v, err
	}
	v.Slots, err = readSlots(w.GetSlots())
	return v, err
}

// readCards reads any number of card ids, and leaves out those that do not exist.
func readCards(ids []byte) []domain.Card {
	cards := make([]domain.Card, 0, len(ids))
	for _, id := range ids {
		if card, err := domain.CardFromID(int(id)); err == nil {
			cards = append(cards, card)
		}
	}
	return cards
}
