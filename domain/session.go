package domain

import (
	"errors"
	"fmt"
)

// Why a match cannot start.
var (
	ErrStarted     = errors.New("the match has started already")
	ErrPlayerCount = errors.New("a match has 1–8 players")
)

// Setup is what a match starts with.
type Setup struct {
	Rules   Rules
	Players int // 1–8; they are called by their seats, 0 to Players−1
	Deck    DeckSource
	Bots    [MaxPlayers]Bot // by seat; a human's is the zero value
}

// Session is one match of SET: the rules, the board, the deck, the players and the clock. It is not safe for concurrent
// use, reads no clock and draws no random number: everything comes in by StartMatch, Apply and Advance, and the same
// calls give the same output.
//
// The spec's nine states are two layers here, because many players share one board: the board is in BoardIdle or in one
// of the last four states, and below it each player's input is in one of the others. With one player that is the spec's
// machine.
//
// spec: session-lifecycle
type Session struct {
	scene
	version byte // of its record, and so of the rules' finer points: see version2.go
	deck    Deck
	started bool

	revision uint64
	players  [MaxPlayers]player

	serial      uint32 // of the animation that began last, the board's or a player's
	lock        boardLock
	held        []heldClaim
	idleMs      [DeckSize/3 + 1]int64 // when the board became idle, by how many Sets had been taken
	idles       int                   // how often it has
	lastValidMs int64                 // when the last Set was claimed, or the match began; for version 2

	ends   ends // what the running step has seen that may end the match
	end    *MatchEnded
	out    *Output // of the running call
	judged bool    // a claim was judged in the running step
	record recorder
}

// player is what a session knows of a player beyond the shared snapshot.
type player struct {
	dropped     bool
	heldUntilMs int64
	outOfTime   bool
	verdicts    map[uint64]SetClaimed // judged claims by id: Sets, and those in wrong; looked up, never ranged over
	wrong       []uint64              // ids of the last wrong claims, maxWrong at most, as a ring
	oldest      int                   // where in the full ring the oldest one is
	last        uint64                // id of the last judged claim
	bot         botPlayer
}

// NewSession returns a session that waits for StartMatch.
func NewSession() *Session { return &Session{version: recordVersion} }

// StartMatch deals the opening board at match time 0 and, if it holds no Set, begins to expand it. It changes nothing
// when it fails: with ErrStarted, ErrPlayerCount, a *RulesError, ErrBots, or an error of NewDeck.
//
// spec: board-and-dealing, Initial Deal
func (s *Session) StartMatch(setup Setup, out *Output) error {
	if s.started {
		return ErrStarted
	}
	if setup.Players < 1 || setup.Players > MaxPlayers {
		return fmt.Errorf("%w, not %d", ErrPlayerCount, setup.Players)
	}
	if err := setup.Rules.Validate(); err != nil {
		return err
	}
	if err := checkBots(&setup); err != nil {
		return err
	}
	deck, err := NewDeck(setup.Deck)
	if err != nil {
		return err
	}
	s.setup, s.deck, s.started = setup, deck, true
	s.seatBots()
	s.record.start(s.version, &setup)
	s.step(out, func() {
		s.shared.Players = setup.Players
		if setup.Rules.Timed {
			s.shared.Timed, s.shared.ClockRuns, s.shared.ClockEndMs = true, true, setup.Rules.TimeLimitMs
		}
		s.dealOpening()
	})
	return nil
}

// Apply runs every deadline that is due at nowMs, in ms since the match began, each at its own due time, then the
// command, then what the command has made due. A time before the last call's counts as that one. Before the start every
// command is refused, and the clock stands still.
//
// spec: session-lifecycle, Commands
func (s *Session) Apply(nowMs int64, cmd Command, out *Output) Result {
	s.Advance(nowMs, out)
	var result Result
	s.step(out, func() { result = s.handle(cmd) })
	s.record.command(s.nowMs, cmd, result)
	s.Advance(s.nowMs, out) // an AnimationComplete can unlock the board for held claims
	return result
}

// Advance runs every deadline that is due at nowMs, each at its own due time. Before the start it does nothing.
func (s *Session) Advance(nowMs int64, out *Output) {
	if !s.started {
		return
	}
	for {
		due, ok := s.nextDeadline()
		if !ok || due.atMs > nowMs {
			break
		}
		s.nowMs = max(s.nowMs, due.atMs)
		s.step(out, func() { s.fire(due) })
	}
	s.nowMs = max(s.nowMs, nowMs)
}

// step runs one transition, ends the match if it must end, and counts the step if there is something to tell: another
// shared state, or a verdict.
func (s *Session) step(out *Output, transition func()) {
	before := s.shared
	events, answers := len(out.Events), len(out.Answers)
	s.out, s.judged = out, false
	transition()
	s.decide()
	s.out = nil
	s.record.put(out.Events[events:], out.Answers[answers:])
	if s.judged || s.shared != before {
		s.revision++
	}
}

func (s *Session) handle(cmd Command) Result {
	switch c := cmd.(type) {
	case SelectCard:
		return s.selectCard(c)
	case DeselectCard:
		return s.deselectCard(c)
	case ClaimSelected:
		return s.claimSelected(c)
	case ClaimSet:
		return s.claimSet(c)
	case AnimationComplete:
		return s.animationComplete(c)
	case Drop:
		return s.drop(c.Seat)
	case Return:
		return s.comeBack(c.Seat)
	case Forfeit:
		if c.Idle {
			return s.forfeit(c.Seat, ForfeitIdle)
		}
		return s.forfeit(c.Seat, ForfeitRequested)
	}
	panic(fmt.Sprintf("domain: command %T is not handled", cmd))
}

// NextWakeMs is the match time of the next deadline, or false when there is none. Advance it then; the end of a
// player's lock is no deadline, because nothing happens at it.
func (s *Session) NextWakeMs() (int64, bool) {
	due, ok := s.nextDeadline()
	return due.atMs, ok
}

// Revision rises by one for every step that changes the Snapshot or judges a claim: a command, or a deadline with what
// follows from it at the same instant. A wrong claim under rules with neither lock nor penalty changes no snapshot, and
// everybody is to hear of it all the same.
func (s *Session) Revision() uint64 { return s.revision }

// Setup is what the match started with.
func (s *Session) Setup() Setup { return s.setup }

// Started reports whether the match has begun.
func (s *Session) Started() bool { return s.started }

// Ended is how the match ended, or false.
func (s *Session) Ended() (MatchEnded, bool) {
	if s.end == nil {
		return MatchEnded{}, false
	}
	return s.end.clone(), true
}

// HeldUntilMs is the match time at which a dropped player's hold ends, or false for a player that is not dropped. The
// player forfeits then if a human is connected. If none is, the hold waits, and the time may lie in the past.
func (s *Session) HeldUntilMs(seat int) (int64, bool) {
	if !s.seated(seat) || !s.players[seat].dropped {
		return 0, false
	}
	return s.players[seat].heldUntilMs, true
}

// LastVerdict is the verdict of the player's last judged claim that had an id.
func (s *Session) LastVerdict(seat int) (SetClaimed, bool) {
	if !s.seated(seat) {
		return SetClaimed{}, false
	}
	verdict, ok := s.players[seat].verdicts[s.players[seat].last]
	return verdict, ok
}

func (s *Session) emit(e Event) {
	s.out.Events = append(s.out.Events, TimedEvent{s.nowMs, e})
}

func refused(reason Reason) Result {
	return Result{Outcome: Refused, Refusal: Refusal{Reason: reason}}
}

// must panics on an error that only a broken invariant can cause.
func must(err error) {
	if err != nil {
		panic("domain: broken invariant: " + err.Error())
	}
}
