package client

import (
	"crypto/sha256"
	"slices"

	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// matchEnded checks the final table, and the deal against what is revealed now.
func (v *Verifier) matchEnded(e *wire.MatchEnded) {
	if v.ended != nil {
		if !proto.Equal(v.ended, e) {
			v.violate("the final table was {%v}, now {%v}", v.ended, e)
		}
		return
	}
	v.ended = e
	if e.GetReason() == wire.EndReason_END_REASON_INTERNAL_ERROR {
		v.violate("the match ended because something failed in the server")
		return
	}
	if v.view == nil {
		return
	}
	v.finalTable(e)
	if e.GetReason() == wire.EndReason_END_REASON_NO_SETS_LEFT {
		v.noSetsLeft()
	}
	v.deck(e)
}

func (v *Verifier) finalTable(e *wire.MatchEnded) {
	if len(e.GetTable()) != len(v.view.scores) {
		v.violate("a final table of %d lines for %d seats", len(e.GetTable()), len(v.view.scores))
		return
	}
	best, winners := -1, []uint32(nil)
	for seat, line := range e.GetTable() {
		out := v.view.forfeited>>seat&1 == 1
		if int(line.GetSeat()) != seat || line.GetScore() != v.view.scores[seat] || line.GetForfeited() != out {
			v.violate("the final table says {%v} of seat %d, which has %d points, forfeited %v", line, seat, v.view.scores[seat], out)
		}
		score := int(v.view.scores[seat])
		switch {
		case out || score < best:
		case score > best:
			best, winners = score, []uint32{uint32(seat)}
		default:
			winners = append(winners, uint32(seat))
		}
	}
	switch reason := e.GetReason(); {
	case reason == wire.EndReason_END_REASON_OPERATOR:
		winners = nil // it counts for nothing
	case reason == wire.EndReason_END_REASON_ABANDONED && len(e.GetWinners()) == 0:
		winners = nil // nobody was connected any more
	}
	if !slices.Equal(winners, e.GetWinners()) {
		v.violate("the winners are %v, the server says %v", winners, e.GetWinners())
	}
	if only := len(winners) == 1; only != (e.Winner != nil) || only && e.GetWinner() != winners[0] {
		v.violate("the winner is one of %v, the server says %v", winners, e.Winner)
	}
}

func (v *Verifier) noSetsLeft() {
	cards := readCards(slices.DeleteFunc(slices.Clone(v.view.board), func(id byte) bool { return id == emptySlot }))
	if domain.AnySetExists(cards) {
		v.violate("the match ended without Sets, and there is one on the board %v", v.view.board)
	}
	if v.view.deck >= domain.ExpansionSize && len(cards) <= domain.MaxSlots-domain.ExpansionSize {
		v.violate("the match ended with %d cards in the deck and room on the board", v.view.deck)
	}
}

// deck deals again from the revealed source and compares every card that was seen.
func (v *Verifier) deck(e *wire.MatchEnded) {
	var source domain.DeckSource
	switch revealed := e.GetDeck().(type) {
	case *wire.MatchEnded_Key:
		if len(revealed.Key) != 32 {
			v.violate("the revealed key has %d bytes", len(revealed.Key))
			return
		}
		if hash := sha256.Sum256(revealed.Key); !slices.Equal(hash[:], v.commitment) {
			v.violate("the revealed key is not the one that was committed to")
			return
		}
		v.report.Committed = true
		source = domain.KeySource([32]byte(revealed.Key))
	case *wire.MatchEnded_Seed:
		var err error
		if source, err = domain.SeedSource(revealed.Seed); err != nil {
			v.violate("the revealed seed: %v", err)
			return
		}
	default:
		if len(v.commitment) != 0 {
			v.violate("a deck was committed to, and no key is revealed")
		}
		return
	}
	v.report.DealProven = v.redeal(source)
}

func (v *Verifier) redeal(source domain.DeckSource) bool {
	deck, err := domain.NewDeck(source)
	if err != nil {
		v.violate("%v", err)
		return false
	}
	drawn, err := deck.Draw(v.deckSize - v.view.deck)
	if err != nil {
		v.violate("%v", err)
		return false
	}
	proven := true
	for place, card := range drawn {
		if seen := v.view.dealt[place]; seen != 0 && seen != card.ID()+1 {
			v.violate("the deck's card %d is %d, and card %d was dealt", place+1, card.ID(), seen-1)
			proven = false
		}
		v.view.known[card.ID()] = false
	}
	if stranger := slices.Index(v.view.known[:], true); stranger >= 0 {
		v.violate("card %d was seen and is not among the first %d of the deck", stranger, len(drawn))
		return false
	}
	return proven
}
