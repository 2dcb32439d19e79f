package domain

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// checkFinders compares both finders with the oracle on one list of different cards.
func checkFinders(t require.TestingT, cards []Card) {
	want := oracleFindAllSets(cards)
	got := FindAllSets(cards)
	if !slices.Equal(got, want) {
		require.Failf(t, "FindAllSets", "of %v: %v, the oracle finds %v", cards, got, want)
	}
	if AnySetExists(cards) != (len(want) > 0) {
		require.Failf(t, "AnySetExists", "of %v: %v, the oracle finds %v", cards, !(len(want) > 0), want)
	}
}

// A million boards of 3–21 cards, many of the small ones, where a verdict hangs on a single Set, and fewer of the large ones, which
// the oracle takes long for.
func TestFindersLikeTheOracleOnRandomBoards(t *testing.T) {
	for size := 3; size <= MaxSlots; size++ {
		boards := 6_000
		switch {
		case size <= 8:
			boards = 130_000
		case size <= 14:
			boards = 30_000
		}
		if testing.Short() {
			boards /= 50
		}
		t.Run(fmt.Sprintf("%d cards", size), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(21, uint64(size)))
			deck := allCards()
			for range boards {
				for i := range size {
					j := i + random.IntN(DeckSize-i)
					deck[i], deck[j] = deck[j], deck[i]
				}
				checkFinders(t, deck[:size])
			}
		})
	}
}

func allCards() []Card {
	cards := make([]Card, DeckSize)
	for id := range cards {
		cards[id] = MustCard(id)
	}
	return cards
}

// spec: set-validation, Test Cases and Implementation Checklist
func TestFindersOnThreeCards(t *testing.T) {
	set := parseCards("0000 0001 0002")
	assert.True(t, AnySetExists(set))
	assert.Equal(t, []Triple{Triple(set)}, FindAllSets(set))

	assert.False(t, AnySetExists(parseCards("0000 0001 0010")))
	assert.Nil(t, FindAllSets(parseCards("0000 0001 0010")))
}

func TestFindersOnFewerCardsAndOnAllOfThem(t *testing.T) {
	for _, cards := range [][]Card{nil, {}, parseCards("0000"), parseCards("0000 0001")} {
		assert.False(t, AnySetExists(cards))
		assert.Nil(t, FindAllSets(cards))
	}
	checkFinders(t, allCards())
	assert.Len(t, FindAllSets(allCards()), 1080)
	backwards := allCards()
	slices.Reverse(backwards)
	checkFinders(t, backwards)
}

// Public reports and known extremes: boards with a known number of Sets.
func TestFindersOnKnownBoards(t *testing.T) {
	grow := parseCards(boardGrow)
	for _, board := range []struct {
		name  string
		cards []Card
		sets  int
	}{
		{"NONE", parseCards(boardNone), 0},
		{"CAP20", parseCards(boardCap20), 0},
		{"MAX", parseCards(boardMax), 14},
		{"GROW, 12 cards", grow[:12], 0},
		{"GROW, 15 cards", grow[:15], 0},
		{"GROW, 18 cards", grow[:18], 0},
		{"GROW, 21 cards", grow, 3},
		{"END", parseCards("0021 2201 0020 0221 1011 0222 0110 1101 2122 1110 0112 2111"), 2},
		{"END without S1", parseCards("0021 2201 0020 0221 1011 0222 1110 0112 2111"), 1},
		{"END without both", parseCards("0021 2201 0020 0221 1011 0222"), 0},
	} {
		t.Run(board.name, func(t *testing.T) {
			checkFinders(t, board.cards)
			assert.Len(t, FindAllSets(board.cards), board.sets)
		})
	}
	for _, set := range FindAllSets(grow) {
		assert.Contains(t, set, Card{}, "GROW's three Sets share 0000")
	}
}

// The same cards in another order have the same Sets.
func TestFindersAgreeInEveryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cards := rapid.Permutation(allCards()).Draw(t, "cards")[:rapid.IntRange(0, DeckSize).Draw(t, "size")]
		checkFinders(t, cards)

		inOrder := slices.Clone(cards)
		slices.SortFunc(inOrder, func(a, b Card) int { return a.ID() - b.ID() })
		found, again := FindAllSets(cards), FindAllSets(inOrder)
		for _, sets := range [][]Triple{found, again} {
			for i := range sets {
				slices.SortFunc(sets[i][:], func(a, b Card) int { return a.ID() - b.ID() })
			}
		}
		assert.ElementsMatch(t, found, again)
	})
}

// A repeated card counts once, at its first place, in lists of any length.
func TestFindersIgnoreRepeatedCards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.IntRange(0, DeckSize-1), 0, 200).Draw(t, "ids")
		var cards, distinct []Card
		for _, id := range ids {
			cards = append(cards, MustCard(id))
			if !slices.Contains(distinct, MustCard(id)) {
				distinct = append(distinct, MustCard(id))
			}
		}
		assert.Equal(t, FindAllSets(distinct), FindAllSets(cards))
		assert.Equal(t, AnySetExists(distinct), AnySetExists(cards))
	})
	assert.False(t, AnySetExists(make([]Card, 300)))
	assert.Nil(t, FindAllSets(make([]Card, 300)))
}

func TestAllSetsAreAppended(t *testing.T) {
	set := parseCards("0000 0001 0002")
	before := Triple(parseCards("1111 1112 1110"))
	sets := appendAllSets([]Triple{before}, set)
	assert.Equal(t, []Triple{before, Triple(set)}, sets)

	buffer := make([]Triple, 0, 14)
	filled := appendAllSets(buffer, parseCards(boardMax))
	assert.Same(t, &buffer[:1][0], &filled[0], "the caller's buffer has room for all 14")
}

// Every one of the 85,320 triples is tried: 1080 of them are Sets.
func TestAnySetExistsKnowsEverySetAndNoOtherTriple(t *testing.T) {
	sets := 0
	forEveryTriple(func(triple Triple) {
		isSet := AnySetExists(triple[:])
		if isSet != ValidateTriple(triple).IsValid() {
			t.Fatalf("%v: AnySetExists says %v", triple, isSet)
		}
		if isSet {
			sets++
		}
	})
	assert.Equal(t, 1080, sets)
}
