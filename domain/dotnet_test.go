package domain

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dotnetVectors were printed by a C# program on a real C# runtime.
type dotnetVectors struct {
	Vectors []struct {
		Seed          int32
		Next          []int32
		Next81        []int
		Next3000Last  int32
		Next3000Sum   int64
		ShuffleDown81 []int
	}
}

func readTestdata(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, into))
}

func TestDotnetRandomLikeCSharp(t *testing.T) {
	var file dotnetVectors
	readTestdata(t, "dotnet-random.json", &file)
	require.Len(t, file.Vectors, 6)
	for _, v := range file.Vectors {
		random := newDotnetRandom(v.Seed)
		require.Len(t, v.Next, 20)
		for i, want := range v.Next {
			require.Equal(t, want, random.sample(), "seed %d, sample %d", v.Seed, i)
		}

		random = newDotnetRandom(v.Seed)
		require.Len(t, v.Next81, 20)
		for i, want := range v.Next81 {
			require.Equal(t, want, random.below(81), "seed %d, sample %d", v.Seed, i)
		}

		random = newDotnetRandom(v.Seed)
		var last int32
		var sum int64
		for range 3000 {
			last = random.sample()
			sum += int64(last)
		}
		assert.Equal(t, v.Next3000Last, last, "seed %d", v.Seed)
		assert.Equal(t, v.Next3000Sum, sum, "seed %d", v.Seed)

		src, err := SeedSource(v.Seed)
		require.NoError(t, err)
		assert.Equal(t, v.ShuffleDown81, drawIDs(t, src), "seed %d", v.Seed)
	}
}

// drawIDs draws all cards from a new deck.
func drawIDs(t require.TestingT, src DeckSource) []int {
	deck, err := NewDeck(src)
	require.NoError(t, err)
	cards, err := deck.Draw(deck.Remaining())
	require.NoError(t, err)
	ids := make([]int, len(cards))
	for i, c := range cards {
		ids[i] = c.ID()
	}
	return ids
}

// C# takes the magnitude of a seed, and the largest one for the smallest seed.
func TestDotnetRandomIgnoresTheSign(t *testing.T) {
	for _, pair := range [][2]int32{{1, -1}, {42, -42}, {1<<31 - 1, -(1<<31 - 1)}, {1<<31 - 1, -1 << 31}} {
		assert.Equal(t, newDotnetRandom(pair[0]), newDotnetRandom(pair[1]), pair)
	}
}

// The largest difference is one too many for a sample; C# takes one off. It is too rare for the vectors.
func TestDotnetSampleStaysBelowItsMaximum(t *testing.T) {
	random := dotnetRandom{nextp: dotnetGap}
	random.state[1], random.state[1+dotnetGap] = dotnetMax, 0
	assert.Equal(t, int32(dotnetMax-1), random.sample())
	random = dotnetRandom{nextp: dotnetGap}
	random.state[1], random.state[1+dotnetGap] = 0, 1
	assert.Equal(t, int32(dotnetMax-1), random.sample())
}

// dotnetNext is C#'s Next(n), in floats as C# has it. The conversions keep Go from fusing the two products.
func dotnetNext(sample int32, n int) int {
	return int(float64(float64(sample)*(1.0/float64(dotnetMax))) * float64(n))
}

func belowOfSample(sample int32, n int) int { return int(int64(sample) * int64(n) / dotnetMax) }

// Both formulas rise with the sample, so they are equal everywhere if they are equal on both sides of every step. That is
// every sample there is, for every n that a deck needs.
func TestDotnetBelowEqualsTheFloatFormula(t *testing.T) {
	for n := 1; n <= DeckSize; n++ {
		for step := range n + 1 {
			edge := int64(step) * dotnetMax / int64(n)
			for sample := max(edge-3, 0); sample <= min(edge+3, dotnetMax-1); sample++ {
				require.Equal(t, dotnetNext(int32(sample), n), belowOfSample(int32(sample), n), "sample %d, n %d", sample, n)
			}
		}
	}
	random := rand.New(rand.NewPCG(5, 5))
	for range 1_000_000 {
		sample, n := random.Int32N(dotnetMax), 1+random.IntN(DeckSize)
		if dotnetNext(sample, n) != belowOfSample(sample, n) {
			t.Fatalf("sample %d, n %d", sample, n)
		}
	}
}

func TestDotnetBelowUsesThatFormula(t *testing.T) {
	samples, bounded := newDotnetRandom(7), newDotnetRandom(7)
	for i := range 10_000 {
		n := 1 + i%DeckSize
		got := bounded.below(n)
		require.Equal(t, dotnetNext(samples.sample(), n), got)
		require.Less(t, got, n)
	}
}
