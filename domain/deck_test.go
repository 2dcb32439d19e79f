package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// keyVectors were printed by an implementation of the generator that is not Go's.
type keyVectors struct {
	Vectors []struct {
		Key         string
		Commitment  string
		Uint64      []string
		Uint64At299 string
		Deck        []int
	}
}

func TestKeyDecksLikeAnotherImplementation(t *testing.T) {
	var file keyVectors
	readTestdata(t, "chacha8-deck.json", &file)
	require.Len(t, file.Vectors, 4)
	for _, v := range file.Vectors {
		var key [32]byte
		n, err := hex.Decode(key[:], []byte(v.Key))
		require.NoError(t, err)
		require.Equal(t, 32, n)

		source := rand.NewChaCha8(key)
		var outputs []string
		for range 300 {
			outputs = append(outputs, fmt.Sprintf("%016x", source.Uint64()))
		}
		assert.Equal(t, v.Uint64, outputs[:8])
		assert.Equal(t, v.Uint64At299, outputs[299])

		assert.Equal(t, v.Deck, drawIDs(t, KeySource(key)), "key %s", v.Key)
		commitment, ok := KeySource(key).Commitment()
		assert.True(t, ok)
		assert.Equal(t, v.Commitment, hex.EncodeToString(commitment[:]))
	}
}

// The boundary between outputs that are taken and outputs that are not, in numbers too large for 64 bits.
func TestBoundedRejectsTheIncompleteLastRound(t *testing.T) {
	outputs := new(big.Int).Lsh(big.NewInt(1), 64)
	for n := uint64(1); n <= 100; n++ {
		limit := new(big.Int).Div(outputs, new(big.Int).SetUint64(n))
		limit.Mul(limit, new(big.Int).SetUint64(n))
		for distance := int64(-3); distance <= 3; distance++ {
			v := new(big.Int).Add(limit, big.NewInt(distance))
			if !v.IsUint64() {
				continue
			}
			number, ok := bounded(v.Uint64(), n)
			assert.Equal(t, distance < 0, ok, "v %v, n %d", v, n)
			assert.Equal(t, v.Uint64()%n, number)
		}
		for _, v := range []uint64{0, 1, n - 1, n, 1 << 63} {
			number, ok := bounded(v, n)
			assert.True(t, ok, "v %d, n %d", v, n)
			assert.Equal(t, v%n, number)
		}
	}
}

func TestSeedZeroIsRefused(t *testing.T) {
	src, err := SeedSource(0)
	require.ErrorIs(t, err, ErrSeedZero)
	assert.Zero(t, src)
	_, err = NewDeck(src)
	require.ErrorIs(t, err, ErrDeckSource)
}

func TestDeckSourceKnowsWhatItWasMadeOf(t *testing.T) {
	seed, err := SeedSource(-42)
	require.NoError(t, err)
	key := KeySource([32]byte{1, 2, 3})
	cards := parseCards(boardGrow)
	order, err := OrderSource(cards)
	require.NoError(t, err)

	for _, source := range []struct {
		src   DeckSource
		kind  SourceKind
		seed  int32
		key   [32]byte
		order []Card
	}{
		{DeckSource{}, 0, 0, [32]byte{}, nil},
		{seed, SourceSeed, -42, [32]byte{}, nil},
		{key, SourceKey, 0, [32]byte{1, 2, 3}, nil},
		{order, SourceOrder, 0, [32]byte{}, cards},
	} {
		assert.Equal(t, source.kind, source.src.Kind())
		assert.Equal(t, source.seed, source.src.Seed())
		assert.Equal(t, source.key, source.src.Key())
		assert.Equal(t, source.order, source.src.Order())
		commitment, ok := source.src.Commitment()
		assert.Equal(t, source.kind == SourceKey, ok)
		if ok {
			assert.Equal(t, sha256.Sum256(source.key[:]), commitment)
		} else {
			assert.Zero(t, commitment)
		}
	}

	order.Order()[0] = MustCard(80)
	assert.Equal(t, cards, order.Order(), "the slice that Order returns is the caller's")
	again, err := OrderSource(parseCards(boardGrow))
	require.NoError(t, err)
	assert.True(t, order == again, "sources are comparable")
	cards[0] = MustCard(80)
	assert.True(t, order == again, "the slice given to OrderSource stays the caller's")
}

func TestOrderSourceRefuses(t *testing.T) {
	for _, n := range []int{0, 82, 100} {
		_, err := OrderSource(make([]Card, n))
		require.ErrorIs(t, err, ErrDeckSize)
		assert.ErrorContains(t, err, fmt.Sprintf("got %d", n))
	}
	_, err := OrderSource(parseCards("0000 1111 0001 1111"))
	require.ErrorIs(t, err, ErrDuplicateCard)
	assert.ErrorContains(t, err, "card 40, again at place 3")
}

// Every seed and key deals each of the 81 cards once; the same one the same again.
func TestShuffledDecksHoldEveryCardOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := KeySource([32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key")))
		if rapid.Bool().Draw(t, "seeded") {
			var err error
			src, err = SeedSource(rapid.Int32().Filter(func(seed int32) bool { return seed != 0 }).Draw(t, "seed"))
			require.NoError(t, err)
		}
		ids := drawIDs(t, src)
		assert.Equal(t, ids, drawIDs(t, src))
		slices.Sort(ids)
		require.Len(t, ids, DeckSize)
		for i, id := range ids {
			require.Equal(t, i, id)
		}
	})
}

func TestDifferentKeysDealDifferently(t *testing.T) {
	seen := map[[DeckSize]Card]bool{}
	for i := range 256 {
		deck, err := NewDeck(KeySource([32]byte{31: byte(i)}))
		require.NoError(t, err)
		seen[deck.cards] = true
	}
	assert.Len(t, seen, 256)
}

// Each card comes first about equally often: 81,000 decks, 1000 expected, a standard deviation of 31.
func TestKeyDecksAreFair(t *testing.T) {
	decks := 81_000
	if testing.Short() {
		decks /= 10
	}
	random := rand.New(rand.NewPCG(9, 9))
	var first, last [DeckSize]int
	for range decks {
		var key [32]byte
		for i := range key {
			key[i] = byte(random.Uint32())
		}
		deck, err := NewDeck(KeySource(key))
		require.NoError(t, err)
		first[deck.cards[0].ID()]++
		last[deck.cards[DeckSize-1].ID()]++
	}
	expected := decks / DeckSize
	for id := range DeckSize {
		assert.InDelta(t, expected, first[id], float64(expected)/6+40, "card %d comes first", id)
		assert.InDelta(t, expected, last[id], float64(expected)/6+40, "card %d comes last", id)
	}
}

// Public reports: drawing from a deck of 0 or 3 cards is no error, and the last three cards are dealt.
func TestDrawTheLastCards(t *testing.T) {
	src, err := OrderSource(parseCards("0001 0002 0010 0011"))
	require.NoError(t, err)
	deck, err := NewDeck(src)
	require.NoError(t, err)

	cards, err := deck.Draw(0)
	require.NoError(t, err)
	assert.Empty(t, cards)

	before := deck
	cards, err = deck.Draw(5)
	require.ErrorIs(t, err, ErrDeckShort)
	assert.ErrorContains(t, err, "5 wanted, 4 left")
	assert.Nil(t, cards)
	cards, err = deck.Draw(-1)
	require.ErrorIs(t, err, ErrDrawCount)
	assert.ErrorContains(t, err, "-1")
	assert.Nil(t, cards)
	assert.True(t, before == deck, "all or nothing")

	cards, err = deck.Draw(1)
	require.NoError(t, err)
	assert.Equal(t, parseCards("0001"), cards)
	assert.Equal(t, 3, deck.Remaining())
	cards, err = deck.Draw(3)
	require.NoError(t, err)
	assert.Equal(t, parseCards("0002 0010 0011"), cards)
	assert.Equal(t, 0, deck.Remaining())

	cards, err = deck.Draw(0)
	require.NoError(t, err)
	assert.Empty(t, cards)
	_, err = deck.Draw(1)
	require.ErrorIs(t, err, ErrDeckShort)
	assert.ErrorContains(t, err, "1 wanted, 0 left")
}

func TestZeroDeckIsEmpty(t *testing.T) {
	var deck Deck
	assert.Equal(t, 0, deck.Remaining())
	_, err := deck.Draw(1)
	require.ErrorIs(t, err, ErrDeckShort)
}

// However a deck is drawn, its cards come in the order of the source, and a draw that fails takes none.
func TestDeckInAnyPortions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cards := rapid.Permutation(allCards()).Draw(t, "cards")[:rapid.IntRange(1, DeckSize).Draw(t, "size")]
		src, err := OrderSource(cards)
		require.NoError(t, err)
		deck, err := NewDeck(src)
		require.NoError(t, err)
		drawn := []Card{}
		t.Repeat(map[string]func(*rapid.T){
			"draw": func(t *rapid.T) {
				n := rapid.IntRange(-2, 20).Draw(t, "n")
				got, err := deck.Draw(n)
				switch {
				case n < 0:
					assert.ErrorIs(t, err, ErrDrawCount)
				case n > len(cards)-len(drawn):
					assert.ErrorIs(t, err, ErrDeckShort)
				default:
					assert.NoError(t, err)
				}
				drawn = append(drawn, got...)
			},
			"": func(t *rapid.T) {
				assert.Equal(t, cards[:len(drawn)], drawn)
				assert.Equal(t, len(cards)-len(drawn), deck.Remaining())
			},
		})
	})
}
