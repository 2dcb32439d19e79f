package domain

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// BoardView is all that a bot sees of a match: the cards on the table. It is not the session, so that no bot can ever
// know more than a player.
type BoardView struct{ Board Board }

// Scanner looks for Sets as a person does, by chance and within limits. All chance comes from its seed: the same
// boards give the same sightings.
//
// The method. Every Set on the board catches the eye after a time of its own, and the first one that does is taken; so
// the fewer Sets there are, the longer it takes. The time is drawn from one distribution, whose shape is that of people's
// reaction times, many short ones and a long tail. It is stretched by the level, by the number of cards to look through,
// and by the number of attributes in which the Set's cards differ, as such Sets are harder to see.
type Scanner struct {
	skill  skill
	random rand.PCG
}

// NewScanner returns the eyes of a bot in a seat: bots with the same seed do not look alike. A level that is none of the
// three is ErrBots.
func NewScanner(bot Bot, seat int) (Scanner, error) {
	if bot.Level == 0 || bot.Level > BotHard {
		return Scanner{}, fmt.Errorf("%w: the level is %d, allowed is 1 to %d", ErrBots, bot.Level, BotHard)
	}
	s := Scanner{skill: skills[bot.Level]}
	s.random.Seed(bot.Seed, uint64(seat))
	return s, nil
}

// Sighting is what a look at the board came to.
type Sighting struct {
	AfterMs int64  // how long the look took, at least a second
	Claims  bool   // false: every Set was missed
	Cards   Triple // the cards to claim; not a Set, if the scanner errs
}

// skill is what a level means.
type skill struct {
	leastMs       int64 // to see anything at all, and to reach for it
	medianMs      int64 // on top of that, to see a Set whose cards differ in two or three attributes among 12 cards
	missPerMille  uint64
	wrongPerMille uint64
}

var skills = [...]skill{
	BotEasy:   {leastMs: 2000, medianMs: 14_000, missPerMille: 250, wrongPerMille: 60},
	BotMedium: {leastMs: 1400, medianMs: 8_500, missPerMille: 120, wrongPerMille: 30},
	BotHard:   {leastMs: 1000, medianMs: 6_000, missPerMille: 40, wrongPerMille: 10},
}

// reactions are the deciles of the distribution, in thousandths of its median: a log-normal's with σ = 0.8, its tail cut
// off at 5. Between the deciles it is a straight line.
var reactions = [...]uint64{160, 360, 510, 660, 820, 1000, 1220, 1520, 1960, 2780, 5000}

// efforts says by the number of differing attributes how much longer a Set takes to see, in percent.
var efforts = [...]int64{1: 75, 2: 95, 3: 105, 4: 125}

// Scan looks at a board that holds a Set until a Set is seen or missed. On a board without a Set everything is missed.
func (s *Scanner) Scan(view BoardView) Sighting {
	var cardBuffer [MaxSlots]Card
	var setBuffer [64]Triple
	cards := view.Board.AppendCards(cardBuffer[:0])
	misses, errs := s.happens(s.skill.missPerMille), s.happens(s.skill.wrongPerMille)
	sighting := Sighting{AfterMs: s.stretch(len(cards), 4)}
	for i, set := range appendAllSets(setBuffer[:0], cards) {
		afterMs := s.stretch(len(cards), differing(set[0], set[1]))
		if i == 0 || afterMs < sighting.AfterMs {
			sighting = Sighting{AfterMs: afterMs, Claims: !misses, Cards: set}
		}
	}
	if sighting.Claims && errs {
		sighting.Cards = s.nearSet(sighting.Cards, cards)
	}
	sighting.AfterMs += s.skill.leastMs
	return sighting
}

// stretch draws how long a Set takes to be seen, beyond the least time.
func (s *Scanner) stretch(cards, attributes int) int64 {
	return s.skill.medianMs * s.reaction() / 1000 * efforts[attributes] / 100 * int64(cards) / MinSlots
}

// reaction draws from the distribution, in thousandths of the median.
func (s *Scanner) reaction() int64 {
	const steps = 1 << 10
	at := s.below(steps * uint64(len(reactions)-1))
	from, to := reactions[at/steps], reactions[at/steps+1]
	return int64(from + (to-from)*(at%steps)/steps)
}

// nearSet replaces a card of the Set by the card of the board that looks most like it: what a person claims in error.
// A board of nothing but the Set leaves no room for error.
func (s *Scanner) nearSet(set Triple, cards []Card) Triple {
	near, out := set, s.below(uint64(len(set)))
	least, start := len(efforts), int(s.below(uint64(len(cards))))
	for i := range cards {
		card := cards[(start+i)%len(cards)]
		if d := differing(card, set[out]); d < least && card != set[0] && card != set[1] && card != set[2] {
			least, near[out] = d, card
		}
	}
	return near
}

func (s *Scanner) happens(perMille uint64) bool { return s.below(1000) < perMille }

// below draws a number from 0 to n−1. The numbers are equally likely but for one part in 2^64 / n.
func (s *Scanner) below(n uint64) uint64 {
	number, _ := bits.Mul64(s.random.Uint64(), n)
	return number
}

// differing is in how many attributes two cards differ.
func differing(a, b Card) int {
	d := digits[a.id] ^ digits[b.id]
	n := 0
	for ; d != 0; d >>= 3 {
		if d&7 != 0 {
			n++
		}
	}
	return n
}
