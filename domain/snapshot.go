package domain

import "fmt"

// MatchState is the state of the match as one player sees it, with the spec's numbers (spec: session-lifecycle, The
// MatchState Enum).
type MatchState uint8

// The spec's nine states. The board uses the first and the last four but InvalidSetAnim, a player's input the first
// four and InvalidSetAnim.
const (
	BoardIdle MatchState = iota
	CardSelected1
	CardSelected2
	Validating
	ValidSetAnim
	InvalidSetAnim
	RefillAnim
	ExpandBoardAnim
	MatchEnd
)

var matchStateNames = [...]string{
	"BoardIdle", "CardSelected1", "CardSelected2", "Validating", "ValidSetAnim", "InvalidSetAnim", "RefillAnim",
	"ExpandBoardAnim", "MatchEnd",
}

// String is the spec's name of the state.
func (s MatchState) String() string {
	if int(s) < len(matchStateNames) {
		return matchStateNames[s]
	}
	return fmt.Sprintf("MatchState(%d)", uint8(s))
}

// Snapshot is the whole shared state of a match (spec: session-lifecycle, GameStateSnapshot). It is a plain value: a
// copy shares nothing with the session, and two of them compare with ==. What only its owner may know, a player's
// selection, is Session.Input instead.
type Snapshot struct {
	Board     Board
	DeckCount int // cards left in the deck
	Players   int // how many of ByPlayer are in use
	ByPlayer  [MaxPlayers]PlayerSnapshot
	State     MatchState // the board's: BoardIdle, ValidSetAnim, RefillAnim, ExpandBoardAnim or MatchEnd
	Animation Animation  // zero unless one of the board's runs
	// Timed says whether the match has a clock, ClockEndMs when it stands at zero, ClockRuns whether it runs.
	Timed      bool
	ClockEndMs int64
	ClockRuns  bool
}

// PlayerSnapshot is what everybody may know of a player.
type PlayerSnapshot struct {
	Score         int
	LockedUntilMs int64 // match time until which the player is locked after a wrong claim; past or 0: not locked
	TimePenaltyMs int64 // taken off the player's clock so far
	Forfeited     bool
}

// Animation is a running animation of the board: what it is about, and when it ends.
type Animation struct {
	Serial  uint32 // unique in the match, rising; 0: no animation
	StartMs int64
	EndMs   int64
	// The Set that it is about, if Claimed: an expansion of the opening board is about none.
	Claimed      bool
	Seat         int
	ClaimedCards Triple
	ClaimedSlots [3]int
	// The slots that were just dealt to, if Dealt.
	Dealt      bool
	DealtSlots [3]int
}

// TimeLeftMs is what player seat has left on the clock at nowMs, never below 0 (design ruling 8). It means nothing in
// an untimed match.
func (s *Snapshot) TimeLeftMs(seat int, nowMs int64) int64 {
	return max(0, s.ClockEndMs-s.ByPlayer[seat].TimePenaltyMs-nowMs)
}

// Input is a player's own part of the state: what it has selected, and its MatchState.
type Input struct {
	State    MatchState // the player's MatchState: the board's unless that is BoardIdle
	Selected []int      // selected slots in the order of selection, at most three
	Serial   uint32     // of a running InvalidSetAnim, else 0
}
