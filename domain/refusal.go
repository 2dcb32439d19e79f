package domain

import "fmt"

// Reason is why a command was refused. Those of claims are in the order in which they are looked for (design ruling
// 10): the first that matches is the answer.
type Reason uint8

// The reasons. The zero Reason means: not refused.
const (
	RefusedMalformed Reason = iota + 1 // not three distinct cards, or claim id 0
	RefusedNotAPlayer
	RefusedNotStarted
	RefusedClaimIDReused // the id was used with other cards
	RefusedEnded
	RefusedOutOfTime
	RefusedOwnLock   // the player's own InvalidSetAnim
	RefusedBoardLock // an animation of the board
	RefusedNotOnBoard

	RefusedWrongClaimMode // ClaimSelected in ClaimAutomatic, ClaimSet in ClaimOnCommand
	RefusedNoSuchSlot
	RefusedSlotEmpty
	RefusedSlotSelected
	RefusedSlotNotSelected
	RefusedSelectionFull
	RefusedSelectionIncomplete
	RefusedStaleAnimation // no animation with that serial runs
	RefusedNotDropped
	RefusedAlreadyDropped
	RefusedWaiting // a replica's claim waits for the server
)

var reasonNames = [...]string{
	"not refused", "malformed", "not a player", "not started", "claim id reused", "ended", "out of time", "own lock",
	"board lock", "not on board", "wrong claim mode", "no such slot", "slot empty", "slot already selected",
	"slot not selected", "selection full", "selection incomplete", "stale animation", "not dropped", "already dropped",
	"waiting for the server",
}

// String is the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("Reason(%d)", uint8(r))
}

// Refusal says why a command changed nothing.
type Refusal struct {
	Reason Reason
	// Missing are the claimed cards that are not on the board, MissingCount of them: RefusedNotOnBoard only.
	Missing      Triple
	MissingCount int
	// RetryAtMs is the match time from which a claim can be judged again: RefusedOwnLock and RefusedBoardLock only.
	RetryAtMs int64
}

// MissingCards are the claimed cards that are not on the board.
func (r Refusal) MissingCards() []Card { return r.Missing[:r.MissingCount] }

// Outcome is what became of a command.
type Outcome uint8

// The outcomes.
const (
	// Applied: the command did what it asks for; for a claim: it was judged, and its verdict is a SetClaimed event.
	Applied Outcome = iota + 1
	// Refused: Result.Refusal says why.
	Refused
	// Repeated: the claim had been judged before; Result.Verdict is what was found then.
	Repeated
	// Held: the claim waits for the unlock. Its one answer comes later, as a SetClaimed event or as an Answer.
	Held
	// HeldAlready: the same claim is held already; nothing is to be answered now.
	HeldAlready
	// Waiting: a replica's third selection waits in Validating for the server; Result.Verdict holds the claimed cards.
	Waiting
)

// Result is what became of a command.
type Result struct {
	Outcome Outcome
	Refusal Refusal    // for Refused
	Verdict SetClaimed // for Repeated; for Waiting only its Seat, Cards and Slots
}

// changes reports whether the command changed anything: the match would be the same without any other.
func (r Result) changes() bool { return r.Outcome == Applied || r.Outcome == Held }

// Answer is the late answer to a held claim that was not judged in the end.
type Answer struct {
	Seat    int
	ClaimID uint64
	Refusal Refusal
}

// TimedEvent is an Event with the match time at which it happened.
type TimedEvent struct {
	AtMs  int64
	Event Event
}

// Output collects what a session puts out; the caller owns it and may use it again.
type Output struct {
	Events  []TimedEvent
	Answers []Answer
}

// Reset empties the output and keeps its memory.
func (o *Output) Reset() {
	clear(o.Events)
	o.Events = o.Events[:0]
	o.Answers = o.Answers[:0]
}
