package simulation

import (
	"fmt"
	"slices"

	"set3d/domain"
)

// view is the match rebuilt from its events alone, by somebody who also knows the deck.
type view struct {
	setup   domain.Setup
	all     []domain.Card // the whole deck
	deck    domain.Deck
	board   domain.Board
	scores  [domain.MaxPlayers]int
	losses  [domain.MaxPlayers]int64 // time penalties
	forfeit [domain.MaxPlayers]bool
	taken   []domain.Card
	refill  bool // cards were dealt that no BoardRefilled has confirmed
	atMs    int64
	started bool
	ended   bool
}

func newView(setup domain.Setup) *view {
	v := &view{setup: setup}
	deck, err := domain.NewDeck(setup.Deck)
	if err != nil {
		panic(err) // the session has started with it
	}
	v.deck = deck
	if v.all, err = deck.Draw(deck.Remaining()); err != nil {
		panic(err) // it has as many as it says
	}
	for v.board.SlotCount() < setup.Rules.InitialBoardSize {
		if err := v.board.Expand(domain.ExpansionSize); err != nil {
			panic(err)
		}
	}
	return v
}

func (v *view) apply(e domain.TimedEvent) error {
	if v.ended || e.AtMs < v.atMs || v.started == (e.AtMs == 0 && isStart(e.Event)) {
		return fmt.Errorf("%T at %d ms is out of place", e.Event, e.AtMs)
	}
	v.atMs, v.started = e.AtMs, true
	switch e := e.Event.(type) {
	case domain.CardsDealt:
		return v.deal(e)
	case domain.BoardRefilled:
		if !v.refill {
			return fmt.Errorf("a refill is complete that never was")
		}
		v.refill = false
		return v.shows(e.Placement)
	case domain.BoardExpanded:
		return v.shows(e.Placement)
	case domain.SetClaimed:
		return v.claim(e)
	case domain.ScoreChanged:
		v.scores[e.Seat]++
		if e.Score != v.scores[e.Seat] {
			return fmt.Errorf("score %d of seat %d should be %d", e.Score, e.Seat, v.scores[e.Seat])
		}
	case domain.PenaltyApplied:
		return v.penalty(e)
	case domain.PlayerForfeited:
		v.forfeit[e.Seat] = true
	case domain.MatchEnded:
		v.ended = true
		if v.refill {
			return fmt.Errorf("the match ended before a refill was complete")
		}
	}
	return nil
}

func isStart(e domain.Event) bool {
	_, ok := e.(domain.MatchStarted)
	return ok
}

// deal checks that the next cards of the deck were dealt, and an expansion's to the right slots.
func (v *view) deal(e domain.CardsDealt) error {
	v.refill = e.Cause != domain.DealExpansion
	if empty := v.board.EmptySlots(); e.Cause == domain.DealExpansion && len(empty) >= domain.ExpansionSize {
		if !slices.Equal(e.Slots, empty[:domain.ExpansionSize]) {
			return fmt.Errorf("an expansion filled %v, and %v were empty", e.Slots, empty)
		}
	}
	want, err := v.deck.Draw(len(e.Cards))
	if err != nil {
		return err
	}
	for i, slot := range e.Slots {
		if e.Cards[i] != want[i] {
			return fmt.Errorf("card %d was dealt, card %d was next", e.Cards[i].ID(), want[i].ID())
		}
		if slot >= v.board.SlotCount() && e.Cause == domain.DealExpansion {
			if err := v.board.Expand(domain.ExpansionSize); err != nil {
				return err
			}
		}
		if err := v.board.PlaceCard(slot, e.Cards[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) shows(p domain.Placement) error {
	for i, slot := range p.Slots {
		if card, ok := v.board.CardAt(slot); !ok || card != p.Cards[i] {
			return fmt.Errorf("slot %d does not hold card %d", slot, p.Cards[i].ID())
		}
	}
	return nil
}

// claim judges again, by the definition: in every attribute the values add up to 0 mod 3.
func (v *view) claim(e domain.SetClaimed) error {
	isSet := true
	for _, weight := range []int{1, 3, 9, 27} {
		sum := 0
		for _, card := range e.Cards {
			sum += card.ID() / weight % 3
		}
		isSet = isSet && sum%3 == 0
	}
	if e.Cards[0] == e.Cards[1] || e.Cards[0] == e.Cards[2] || e.Cards[1] == e.Cards[2] {
		return fmt.Errorf("a claim of %v was judged", e.Cards)
	}
	if isSet != e.Valid() {
		return fmt.Errorf("the verdict on %v is wrong", e.Cards)
	}
	if err := v.shows(domain.Placement{Slots: e.Slots[:], Cards: e.Cards[:]}); err != nil {
		return err
	}
	if !isSet {
		return nil
	}
	for i, slot := range e.Slots {
		if err := v.board.RemoveCard(slot); err != nil {
			return err
		}
		v.taken = append(v.taken, e.Cards[i])
	}
	return nil
}

func (v *view) penalty(e domain.PenaltyApplied) error {
	switch {
	case e.Mode != v.setup.Rules.PenaltyMode || e.Amount < 0 || e.Remaining < 0:
		return fmt.Errorf("penalty %+v", e)
	case e.Mode == domain.PenaltyTime:
		v.losses[e.Seat] += e.Amount
	case e.Mode == domain.PenaltyPoint:
		v.scores[e.Seat] -= int(e.Amount)
		if v.scores[e.Seat] != int(e.Remaining) {
			return fmt.Errorf("penalty %+v leaves %d", e, v.scores[e.Seat])
		}
	}
	return nil
}
