package domain

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
)

// What a deck, or the source of one, can be refused for.
var (
	ErrSeedZero      = errors.New("seed 0 stands for no seed and deals no deck")
	ErrDeckSource    = errors.New("deck source is empty")
	ErrDeckSize      = errors.New("a deck holds 1–81 cards")
	ErrDuplicateCard = errors.New("card is twice in the deck")
	ErrDeckShort     = errors.New("deck is short of cards")
	ErrDrawCount     = errors.New("cannot draw a negative number of cards")
)

// SourceKind says where a deck comes from. The zero value is invalid.
type SourceKind uint8

// The kinds of source.
const (
	SourceSeed  SourceKind = 1 + iota // a seed that a C# client can deal from as well
	SourceKey                         // a secret key, which can be committed to
	SourceOrder                       // an order written down: puzzles and tests
)

func (k SourceKind) String() string {
	switch k {
	case SourceSeed:
		return "Seed"
	case SourceKey:
		return "Key"
	case SourceOrder:
		return "Order"
	}
	return fmt.Sprintf("SourceKind(%d)", uint8(k))
}

// DeckSource is all that a deck follows from: the same source deals the same cards, on every machine. It is a comparable
// value, made by SeedSource, KeySource or OrderSource; the zero value is invalid. It is a secret as long as the match lasts.
type DeckSource struct {
	kind  SourceKind
	seed  int32
	key   [32]byte
	order [DeckSize]Card
	size  uint8 // cards in order
}

// SeedSource deals from the generator of .NET's `new System.Random(seed)`, so that a C# client with the same seed deals the
// same deck. Zero, which in the spec means "not deterministic", is ErrSeedZero. There are so few seeds that the first twelve cards
// give the seed away: not for matches that count.
//
// spec: card-model, Deck
func SeedSource(seed int32) (DeckSource, error) {
	if seed == 0 {
		return DeckSource{}, ErrSeedZero
	}
	return DeckSource{kind: SourceSeed, seed: seed}, nil
}

// KeySource deals from a key of 32 random bytes, which cannot be found from the cards.
func KeySource(key [32]byte) DeckSource { return DeckSource{kind: SourceKey, key: key} }

// OrderSource deals the given cards in the given order, the first one first: 1–81 cards (else ErrDeckSize), none of them
// twice (ErrDuplicateCard).
func OrderSource(cards []Card) (DeckSource, error) {
	if len(cards) < 1 || len(cards) > DeckSize {
		return DeckSource{}, fmt.Errorf("%w: got %d", ErrDeckSize, len(cards))
	}
	src := DeckSource{kind: SourceOrder, size: uint8(len(cards))}
	var seen [DeckSize]bool
	for i, c := range cards {
		if seen[c.id] {
			return DeckSource{}, fmt.Errorf("%w: card %d, again at place %d", ErrDuplicateCard, c.ID(), i)
		}
		seen[c.id] = true
		src.order[i] = c
	}
	return src, nil
}

// Kind returns which of the three sources this is; 0 for the zero value.
func (s DeckSource) Kind() SourceKind { return s.kind }

// Seed returns the seed of a seed source, 0 of any other.
func (s DeckSource) Seed() int32 { return s.seed }

// Key returns the key of a key source, zeros of any other.
func (s DeckSource) Key() [32]byte { return s.key }

// Order returns the cards of an order source, in a new slice; nil of any other.
func (s DeckSource) Order() []Card {
	if s.kind != SourceOrder {
		return nil
	}
	return append([]Card(nil), s.order[:s.size]...)
}

// Commitment returns the SHA-256 of a key source's key, which may be published before the match and binds the server to the
// deal; false for any other source.
func (s DeckSource) Commitment() ([32]byte, bool) {
	if s.kind != SourceKey {
		return [32]byte{}, false
	}
	return sha256.Sum256(s.key[:]), true
}

// Deck is the cards yet to be dealt, in the order in which they will be. It is a comparable value: assigning it copies it. The zero
// value is an empty deck.
//
// spec: card-model, Deck
type Deck struct {
	cards [DeckSize]Card
	size  uint8 // cards at the start
	drawn uint8 // cards gone
}

// NewDeck makes the deck that follows from the source. Seeds and keys give all 81 cards, shuffled by Fisher and Yates's method from the
// id order, downwards: for i = 80 to 1, swap card i with card next(i + 1); card 0 is drawn first. The zero source is ErrDeckSource.
func NewDeck(src DeckSource) (Deck, error) {
	switch src.kind {
	case SourceSeed:
		random := newDotnetRandom(src.seed)
		return shuffledDeck(random.below), nil
	case SourceKey:
		random := keyRandom{rand.NewChaCha8(src.key)}
		return shuffledDeck(random.below), nil
	case SourceOrder:
		return Deck{cards: src.order, size: src.size}, nil
	}
	return Deck{}, fmt.Errorf("%w: kind %d", ErrDeckSource, src.kind)
}

// Remaining returns how many cards can still be drawn, 0–81.
func (d *Deck) Remaining() int { return int(d.size - d.drawn) }

// Draw removes the next n cards and returns them in a new slice, the next card first. It draws all or nothing: with fewer than n
// cards left it is ErrDeckShort, and the deck is unchanged. A negative n is ErrDrawCount.
//
// spec: card-model, Deck
func (d *Deck) Draw(n int) ([]Card, error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: %d", ErrDrawCount, n)
	}
	if n > d.Remaining() {
		return nil, fmt.Errorf("%w: %d wanted, %d left", ErrDeckShort, n, d.Remaining())
	}
	cards := make([]Card, n)
	d.drawn += uint8(copy(cards, d.cards[d.drawn:d.size]))
	return cards, nil
}

func shuffledDeck(below func(n int) int) Deck {
	d := Deck{size: DeckSize}
	for id := range d.cards {
		d.cards[id] = Card{uint8(id)}
	}
	for i := DeckSize - 1; i >= 1; i-- {
		j := below(i + 1)
		d.cards[i], d.cards[j] = d.cards[j], d.cards[i]
	}
	return d
}

// keyRandom draws bounded numbers from ChaCha8, the generator of math/rand/v2 (C2SP's chacha8rand), keyed with 32 bytes.
type keyRandom struct{ source *rand.ChaCha8 }

// below returns a number from 0 to n−1, n at least 1: the first of the generator's 64-bit outputs that bounded takes.
func (r keyRandom) below(n int) int {
	for {
		if number, ok := bounded(r.source.Uint64(), uint64(n)); ok {
			return int(number)
		}
	}
}

// bounded makes a number from 0 to n−1 of 64 random bits: the remainder of v by n. So that all are equally likely, it takes no v of
// the highest 2^64 mod n, that is, only those below floor(2^64 / n) · n.
func bounded(v, n uint64) (number uint64, ok bool) {
	const highest = 1<<64 - 1
	excess := (highest%n + 1) % n // 2^64 mod n
	return v % n, v <= highest-excess
}
