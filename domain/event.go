package domain

import (
	"fmt"
	"slices"
)

// Event is something that happened in a match, in the order in which it happened (spec: session-lifecycle, Events
// Emitted). A wrong claim is an event; a command that could not apply is a Refusal instead.
type Event interface{ event() }

// MatchStarted is the first event. The deck's commitment is DeckSource.Commitment.
type MatchStarted struct {
	Rules      Rules
	Players    int
	Commitment [32]byte // SHA-256 of the deck's key
	Committed  bool     // false for a deck without a key
}

// DealCause is why cards were dealt.
type DealCause uint8

// The causes of a deal.
const (
	DealInitial DealCause = iota + 1
	DealRefill
	DealExpansion
)

// String names the cause.
func (c DealCause) String() string {
	switch c {
	case DealInitial:
		return "initial"
	case DealRefill:
		return "refill"
	case DealExpansion:
		return "expansion"
	}
	return fmt.Sprintf("DealCause(%d)", uint8(c))
}

// Placement is cards in slots, index by index: Cards[i] lies in Slots[i].
type Placement struct {
	Slots []int
	Cards []Card
}

func (p Placement) clone() Placement {
	return Placement{Slots: slices.Clone(p.Slots), Cards: slices.Clone(p.Cards)}
}

// CardsDealt says that cards left the deck for the board (design ruling 2).
type CardsDealt struct {
	Cause DealCause
	Placement
}

// BoardRefilled says that a refill, or the opening deal, is complete.
type BoardRefilled struct{ Placement }

// BoardExpanded says that three cards were added because the board held no Set.
type BoardExpanded struct{ Placement }

// SetClaimed is the verdict of a judged claim, valid or not.
type SetClaimed struct {
	Seat    int
	ClaimID uint64 // 0 for a claim by selection
	Cards   Triple // in the claimant's order
	Slots   [3]int // where the cards lay, in the same order
	Mixed   AttributeSet
}

// Valid reports whether the three cards are a Set.
func (e SetClaimed) Valid() bool { return e.Mixed == 0 }

// ScoreChanged says that a player gained a point. Losses are PenaltyApplied.
type ScoreChanged struct {
	Seat  int
	Score int
}

// PenaltyApplied says what a wrong claim really cost: 0 is possible. There is none under PenaltyNone.
type PenaltyApplied struct {
	Seat      int
	Mode      PenaltyMode
	Amount    int64 // points, or ms
	Remaining int64 // the score, or the player's time left in ms
}

// ForfeitCause is why a player is out for good.
type ForfeitCause uint8

// The causes of a forfeit.
const (
	ForfeitRequested ForfeitCause = iota + 1
	ForfeitHoldExpired
	ForfeitIdle
)

// String names the cause.
func (c ForfeitCause) String() string {
	switch c {
	case ForfeitRequested:
		return "requested"
	case ForfeitHoldExpired:
		return "hold expired"
	case ForfeitIdle:
		return "idle"
	}
	return fmt.Sprintf("ForfeitCause(%d)", uint8(c))
}

// PlayerForfeited says that a player is out for good (design ruling 9).
type PlayerForfeited struct {
	Seat  int
	Cause ForfeitCause
}

// EndReason is why a match ended.
type EndReason uint8

// The reasons to end a match.
const (
	EndNoSetsLeft EndReason = iota + 1
	EndTimeUp
	EndLastPlayer
	EndAbandoned // no human is left, or nobody
	EndIdle
)

// String names the reason.
func (r EndReason) String() string {
	switch r {
	case EndNoSetsLeft:
		return "no Sets left"
	case EndTimeUp:
		return "time up"
	case EndLastPlayer:
		return "last player"
	case EndAbandoned:
		return "abandoned"
	case EndIdle:
		return "idle"
	}
	return fmt.Sprintf("EndReason(%d)", uint8(r))
}

// FinalScore is one player's line of the final table.
type FinalScore struct {
	Seat      int
	Score     int
	Forfeited bool
}

// MatchEnded is the last event of a match, and comes once.
type MatchEnded struct {
	Reason EndReason
	// Winners are the seats with the highest score among those that did not forfeit, ascending; several on a tie.
	Winners []int
	Table   []FinalScore // by seat
}

func (e MatchEnded) clone() MatchEnded {
	return MatchEnded{Reason: e.Reason, Winners: slices.Clone(e.Winners), Table: slices.Clone(e.Table)}
}

// Winner is the only winner's seat, or false on a tie and when there is none (design ruling 9).
func (e MatchEnded) Winner() (int, bool) {
	if len(e.Winners) != 1 {
		return 0, false
	}
	return e.Winners[0], true
}

func (MatchStarted) event()    {}
func (CardsDealt) event()      {}
func (BoardRefilled) event()   {}
func (BoardExpanded) event()   {}
func (SetClaimed) event()      {}
func (ScoreChanged) event()    {}
func (PenaltyApplied) event()  {}
func (PlayerForfeited) event() {}
func (MatchEnded) event()      {}
