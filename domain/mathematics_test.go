package domain

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is known about the game by counting. Each number is an exact result about the 81 cards, so that a finder, a validator
// or a card model that is wrong anywhere misses it.

func TestThereAre1080Sets(t *testing.T) {
	triples, sets := 0, 0
	var through [DeckSize]int // Sets through a card
	var differing [5]int      // Sets by how many attributes differ
	forEveryTriple(func(triple Triple) {
		triples++
		if !ValidateTriple(triple).IsValid() {
			return
		}
		sets++
		for _, c := range triple {
			through[c.ID()]++
		}
		a, b := triple[0].Attributes(), triple[1].Attributes()
		n := 0
		for _, differs := range []bool{a.Number != b.Number, a.Shape != b.Shape, a.Color != b.Color, a.Shading != b.Shading} {
			if differs {
				n++
			}
		}
		differing[n]++
	})
	assert.Equal(t, 85_320, triples)
	assert.Equal(t, 1080, sets)
	assert.Equal(t, 79*sets, triples, "a random triple is a Set with 1/79")
	for id, n := range through {
		assert.Equal(t, 40, n, "Sets through card %d", id)
	}
	assert.Equal(t, [5]int{0, 108, 324, 432, 216}, differing)
}

func TestThirdIsTheOnePrimitive(t *testing.T) {
	for a := range DeckSize {
		for b := range DeckSize {
			third := Third(MustCard(a), MustCard(b))
			require.Equal(t, third, Third(MustCard(b), MustCard(a)))
			require.Equal(t, MustCard(b), Third(MustCard(a), third))
			require.Equal(t, a == b, third == MustCard(a))
			require.Equal(t, a == b, third == MustCard(b))
		}
	}
}

// The cards that would complete a Set with two of the board's are forbidden; a Set-free board grows by any other card.
func TestSetFreeBoardsOfUpToSixCards(t *testing.T) {
	largest := 6
	if testing.Short() {
		largest = 5
	}
	exact := []uint64{3: 84_240, 4: 1_579_500, 5: 22_441_536, 6: 247_615_056}
	for size := 3; size <= largest; size++ {
		assert.Equal(t, exact[size], countSetFree(make([]uint8, 0, size), cardBits{}, size), "%d cards", size)
	}
}

// cardBits is a set of cards, a bit for each.
type cardBits struct{ low, high uint64 }

func (s cardBits) with(id uint8) cardBits {
	return cardBits{s.low | 1<<id, s.high | 1<<(id-64)}
}

func (s cardBits) has(id uint8) bool { return s.low>>id&1|s.high>>(id-64)&1 != 0 }

// countSetFree counts the Set-free boards of so many cards that consist of the given ones and cards that are not forbidden.
func countSetFree(board []uint8, forbidden cardBits, size int) (count uint64) {
	if len(board) == size-1 {
		return uint64(DeckSize - bits.OnesCount64(forbidden.low) - bits.OnesCount64(forbidden.high))
	}
	for id := range uint8(DeckSize) {
		if forbidden.has(id) {
			continue
		}
		forbidden = forbidden.with(id) // to those that come next too, lest a board be counted twice
		next := forbidden
		for _, other := range board {
			next = next.with(thirds[other][id])
		}
		count += countSetFree(append(board, id), next, size)
	}
	return count
}

// 20 cards can hold no Set, and then any other card makes one.
func TestCap20IsComplete(t *testing.T) {
	cap20 := parseCards(boardCap20)
	require.Len(t, cap20, 20)
	others := 0
	for _, c := range allCards() {
		if !contains(cap20, c) {
			others++
			assert.True(t, AnySetExists(append(cap20[:20:20], c)), "with %v", c)
		}
	}
	assert.Equal(t, 61, others)
}

func contains(cards []Card, c Card) bool {
	for _, other := range cards {
		if other == c {
			return true
		}
	}
	return false
}

// The means are exact, n choose 3 in 79; the sample is fixed, so the test cannot fail by chance.
func TestMeanNumberOfSets(t *testing.T) {
	for _, mean := range []struct {
		cards int
		sets  float64
	}{{12, 220.0 / 79}, {15, 455.0 / 79}} {
		const boards = 50_000
		random := rand.New(rand.NewPCG(79, uint64(mean.cards)))
		deck, total := allCards(), 0
		for range boards {
			random.Shuffle(DeckSize, func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
			total += len(FindAllSets(deck[:mean.cards]))
		}
		assert.InDelta(t, mean.sets, float64(total)/boards, 0.03, "%d cards", mean.cards)
	}
}

// Whole matches in which a random Set is taken each time: how many cards are left at the end, and how often a fifteenth card is
// needed, under both refill policies. The percentages are known from many millions of games; the sample is fixed.
func TestCardsLeftAtTheEnd(t *testing.T) {
	for _, policy := range []struct {
		policy   RefillPolicy
		left     map[int]float64 // percent of the games
		stayed12 float64
	}{
		{RefillToInitialSize, map[int]float64{0: 1.23, 3: 0, 6: 46.8, 9: 44.5, 12: 7.4, 15: 0.08}, 31.4},
		{RefillAlways, map[int]float64{0: 1.1, 3: 0, 6: 45.3, 9: 45.4, 12: 8.1}, -1},
	} {
		t.Run(policy.policy.String(), func(t *testing.T) {
			games := 15_000
			if testing.Short() {
				games = 3_000
			}
			random := rand.New(rand.NewPCG(81, uint64(policy.policy)))
			left, stayed12 := map[int]int{}, 0
			for range games {
				atEnd, most := playRandomGame(t, random, policy.policy)
				left[atEnd]++
				if most == MinSlots {
					stayed12++
				}
			}
			percent := func(n int) float64 { return 100 * float64(n) / float64(games) }
			tolerance := 1.2
			if testing.Short() {
				tolerance = 3
			}
			for cards, want := range policy.left {
				assert.InDelta(t, want, percent(left[cards]), tolerance, "%d cards left", cards)
			}
			assert.Zero(t, left[3], "three cards that are left would be a Set")
			if policy.stayed12 >= 0 {
				assert.InDelta(t, policy.stayed12, percent(stayed12), tolerance, "never more than 12 cards")
			}
		})
	}
}

// playRandomGame plays a match to its end, and returns how many cards are left and how many there were at most.
func playRandomGame(t *testing.T, random *rand.Rand, policy RefillPolicy) (left, most int) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], random.Uint64())
	rules := DefaultRules()
	rules.RefillPolicy = policy
	rules.ValidAnimMs, rules.RefillAnimMs, rules.ExpandAnimMs = 0, 0, 0
	s := NewSession()
	var out Output
	require.NoError(t, s.StartMatch(Setup{Rules: rules, Players: 1, Deck: KeySource(key)}, &out))
	var cards [MaxSlots]Card
	var buffer [64]Triple
	for id := uint64(1); s.end == nil; id++ {
		most = max(most, s.shared.Board.CardCount())
		sets := appendAllSets(buffer[:0], s.shared.Board.AppendCards(cards[:0]))
		set := sets[random.IntN(len(sets))]
		out.Reset()
		result := s.Apply(0, ClaimSet{ID: id, Cards: []byte{set[0].id, set[1].id, set[2].id}}, &out)
		if result.Outcome != Applied {
			t.Fatalf("%v is refused: %v", set, result.Refusal.Reason)
		}
	}
	return s.shared.Board.CardCount(), most
}
