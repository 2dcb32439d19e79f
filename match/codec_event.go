package match

import (
	"fmt"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// ending is what the domain does not know of a match's end.
type ending struct {
	names    [domain.MaxPlayers]string
	deck     domain.DeckSource
	resultID string
}

func eventToWire(e domain.TimedEvent, end *ending) *wire.Event {
	out := &wire.Event{AtMs: uint64(e.AtMs)}
	switch e := e.Event.(type) {
	case domain.MatchStarted:
		out.Kind = &wire.Event_MatchStarted{MatchStarted: matchStartedToWire(e)}
	case domain.CardsDealt:
		out.Kind = &wire.Event_CardsDealt{CardsDealt: &wire.CardsDealt{
			Cause: dealCauseToWire(e.Cause), Slots: placedSlots(e.Placement), Cards: placedCards(e.Placement),
		}}
	case domain.BoardRefilled:
		out.Kind = &wire.Event_BoardRefilled{BoardRefilled: &wire.BoardRefilled{
			Slots: placedSlots(e.Placement), Cards: placedCards(e.Placement),
		}}
	case domain.BoardExpanded:
		out.Kind = &wire.Event_BoardExpanded{BoardExpanded: &wire.BoardExpanded{
			Slots: placedSlots(e.Placement), Cards: placedCards(e.Placement),
		}}
	case domain.SetClaimed:
		out.Kind = &wire.Event_SetClaimed{SetClaimed: setClaimedToWire(e)}
	case domain.ScoreChanged:
		out.Kind = &wire.Event_ScoreChanged{ScoreChanged: &wire.ScoreChanged{Seat: uint32(e.Seat), Score: uint32(e.Score)}}
	case domain.PenaltyApplied:
		out.Kind = &wire.Event_PenaltyApplied{PenaltyApplied: &wire.PenaltyApplied{
			Seat: uint32(e.Seat), Mode: penaltyModeToWire(e.Mode), Amount: uint32(e.Amount), Remaining: uint32(e.Remaining),
		}}
	case domain.PlayerForfeited:
		out.Kind = &wire.Event_PlayerForfeited{PlayerForfeited: &wire.PlayerForfeited{
			Seat: uint32(e.Seat), Cause: forfeitCauseToWire(e.Cause),
		}}
	case domain.MatchEnded:
		out.Kind = &wire.Event_MatchEnded{MatchEnded: matchEndedToWire(e, end)}
	default:
		panic(fmt.Sprintf("event %T is not on the wire", e))
	}
	return out
}

func matchStartedToWire(e domain.MatchStarted) *wire.MatchStarted {
	out := &wire.MatchStarted{Rules: rulesToWire(e.Rules), SeatCount: uint32(e.Players)}
	if e.Committed {
		out.Commitment = e.Commitment[:]
	}
	return out
}

func setClaimedToWire(e domain.SetClaimed) *wire.SetClaimed {
	cards, slots := cardBytes(e.Cards), slotBytes(e.Slots)
	return &wire.SetClaimed{
		Seat: uint32(e.Seat), ClaimId: e.ClaimID, Cards: cards[:], Slots: slots[:],
		Valid: e.Valid(), MixedAttributes: uint32(e.Mixed),
	}
}

func matchEndedToWire(e domain.MatchEnded, end *ending) *wire.MatchEnded {
	out := &wire.MatchEnded{Reason: endReasonToWire(e.Reason), ResultId: end.resultID}
	for _, seat := range e.Winners {
		out.Winners = append(out.Winners, uint32(seat))
	}
	if winner, ok := e.Winner(); ok {
		seat := uint32(winner)
		out.Winner = &seat
	}
	for _, line := range e.Table {
		out.Table = append(out.Table, &wire.FinalScore{
			Seat: uint32(line.Seat), DisplayName: end.names[line.Seat], Score: uint32(line.Score), Forfeited: line.Forfeited,
		})
	}
	switch end.deck.Kind() {
	case domain.SourceKey:
		key := end.deck.Key()
		out.Deck = &wire.MatchEnded_Key{Key: key[:]}
	case domain.SourceSeed:
		out.Deck = &wire.MatchEnded_Seed{Seed: end.deck.Seed()}
	case domain.SourceOrder: // a test's deck has neither
	}
	return out
}

// matchStopped is the end of a match that an operator has ended: the rules know no such reason.
func matchStopped(e domain.MatchEnded, end *ending) *wire.Event {
	out := matchEndedToWire(e, end)
	out.Reason = wire.EndReason_END_REASON_OPERATOR
	return &wire.Event{Kind: &wire.Event_MatchEnded{MatchEnded: out}}
}

func placedSlots(p domain.Placement) []byte {
	out := make([]byte, len(p.Slots))
	for i, slot := range p.Slots {
		out[i] = byte(slot)
	}
	return out
}

func placedCards(p domain.Placement) []byte {
	out := make([]byte, len(p.Cards))
	for i, card := range p.Cards {
		out[i] = byte(card.ID())
	}
	return out
}

func dealCauseToWire(c domain.DealCause) wire.DealCause {
	switch c {
	case domain.DealInitial:
		return wire.DealCause_DEAL_CAUSE_INITIAL
	case domain.DealRefill:
		return wire.DealCause_DEAL_CAUSE_REFILL
	case domain.DealExpansion:
		return wire.DealCause_DEAL_CAUSE_EXPANSION
	}
	return wire.DealCause_DEAL_CAUSE_UNSPECIFIED
}

func forfeitCauseToWire(c domain.ForfeitCause) wire.ForfeitCause {
	switch c {
	case domain.ForfeitRequested:
		return wire.ForfeitCause_FORFEIT_CAUSE_REQUESTED
	case domain.ForfeitHoldExpired:
		return wire.ForfeitCause_FORFEIT_CAUSE_HOLD_EXPIRED
	case domain.ForfeitIdle:
		return wire.ForfeitCause_FORFEIT_CAUSE_IDLE
	}
	return wire.ForfeitCause_FORFEIT_CAUSE_UNSPECIFIED
}

func endReasonToWire(r domain.EndReason) wire.EndReason {
	switch r {
	case domain.EndNoSetsLeft:
		return wire.EndReason_END_REASON_NO_SETS_LEFT
	case domain.EndTimeUp:
		return wire.EndReason_END_REASON_TIME_UP
	case domain.EndLastPlayer:
		return wire.EndReason_END_REASON_LAST_PLAYER
	case domain.EndAbandoned:
		return wire.EndReason_END_REASON_ABANDONED
	case domain.EndIdle:
		return wire.EndReason_END_REASON_IDLE
	}
	return wire.EndReason_END_REASON_UNSPECIFIED
}
