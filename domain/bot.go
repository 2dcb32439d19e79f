package domain

import (
	"errors"
	"fmt"
)

// ErrBots says that the bots of a setup cannot play in it.
var ErrBots = errors.New("the bots do not fit the match")

// BotLevel is how well a bot plays: how soon it sees a Set, and how often it misses all of them or claims three cards
// that are none. The zero value is a human.
type BotLevel uint8

// The levels.
const (
	BotEasy BotLevel = iota + 1
	BotMedium
	BotHard
)

func (l BotLevel) String() string {
	switch l {
	case 0:
		return "human"
	case BotEasy:
		return "easy"
	case BotMedium:
		return "medium"
	case BotHard:
		return "hard"
	}
	return fmt.Sprintf("BotLevel(%d)", uint8(l))
}

// Bot says who plays in a seat. The zero value is a human.
type Bot struct {
	Level BotLevel
	// Seed makes all that the bot does by chance; who knows it can foretell the bot. 0 in a human's seat.
	Seed uint64
}

// botPlayer is what a session knows of a bot's mind.
type botPlayer struct {
	scanner Scanner
	thinks  bool // there is something to do, at atMs
	atMs    int64
	next    Sighting
	claims  uint64 // so far; the number of the last one is part of its id
	misses  int
}

// checkBots returns nil or ErrBots with what is wrong. Pass and play is for people around one screen.
func checkBots(setup *Setup) error {
	for seat, bot := range setup.Bots {
		switch {
		case bot == Bot{}:
		case bot.Level == 0 || bot.Level > BotHard:
			return fmt.Errorf("%w: seat %d has a seed and the level %d, allowed is 1 to %d", ErrBots, seat, bot.Level, BotHard)
		case seat >= setup.Players:
			return fmt.Errorf("%w: seat %d is a bot's, and %d play", ErrBots, seat, setup.Players)
		case setup.Rules.ClaimMode != ClaimAutomatic:
			return fmt.Errorf("%w: seat %d is a bot's, and claim mode is %v", ErrBots, seat, setup.Rules.ClaimMode)
		}
	}
	return nil
}

func (s *Session) isBot(seat int) bool {
	return seat >= 0 && seat < MaxPlayers && s.setup.Bots[seat].Level != 0
}

// BotMisses is how often a bot has looked at the board and seen no Set, though there is always one.
func (s *Session) BotMisses(seat int) int {
	if !s.isBot(seat) {
		return 0
	}
	return s.players[seat].bot.misses
}

func (s *Session) seatBots() {
	for seat := range s.setup.Players {
		if s.isBot(seat) {
			scanner, err := NewScanner(s.setup.Bots[seat], seat)
			must(err)
			s.players[seat].bot.scanner = scanner
		}
	}
}

// look lets a bot look at the idle board, from the end of its own lock. What it sees it claims when it has seen it.
//
// A lock of the board in between does not stop the hand: the claim goes out at its time and, like a person's, is held
// within the grace, as all of its cards lay on the board before, or refused after it. At the unlock every bot forgets
// what it has not claimed yet, and looks anew.
func (s *Session) look(seat int) {
	b := &s.players[seat].bot
	b.thinks = false
	if s.shared.ByPlayer[seat].Forfeited || s.isOutOfTime(seat) {
		return
	}
	b.next = b.scanner.Scan(BoardView{s.shared.Board})
	b.thinks, b.atMs = true, max(s.nowMs, s.shared.ByPlayer[seat].LockedUntilMs)+b.next.AfterMs
}

// botActs claims what a bot has seen, by the path of all claims, or lets a bot that has missed everything look again. A
// wrong claim makes it look again too (enterInvalidSetAnim), and a right one leads to the next unlock.
func (s *Session) botActs(seat int) {
	b := &s.players[seat].bot
	b.thinks = false
	if b.next.Claims {
		b.claims++
		s.claim(seat, botClaimID(seat, b.claims), b.next.Cards)
		return
	}
	b.misses++
	if s.shared.State == BoardIdle {
		s.look(seat)
	}
}

// botClaimID is never 0; ids are per seat, so that it meets no other.
func botClaimID(seat int, claims uint64) uint64 { return uint64(seat+1)<<32 | claims }
