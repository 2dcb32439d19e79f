package rating

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// near compares with another implementation, which rounds in another order.
func near(t require.TestingT, want, got Rating, within float64) {
	require.InDelta(t, want.Mu, got.Mu, within)
	require.InDelta(t, want.Sigma, got.Sigma, within)
}

func newcomers(n int) []Rating { return slices.Repeat([]Rating{New()}, n) }

// The published values of openskill.js (MIT), src/models/__tests__/bradley-terry-full.test.ts: newcomers, each against all.
func TestLikePublishedValues(t *testing.T) {
	for _, want := range [][]Rating{
		{{25, 25.0 / 3}},
		{{27.63523138347365, 8.065506316323548}, {22.36476861652635, 8.065506316323548}},
		{{30.2704627669473, 7.788474807872566}, {25, 7.788474807872566}, {19.7295372330527, 7.788474807872566}},
		{{35.5409255338946, 7.202515895247076}, {30.2704627669473, 7.202515895247076}, {25, 7.202515895247076},
			{19.729537233052703, 7.202515895247076}, {14.4590744661054, 7.202515895247076}},
	} {
		got := Update(newcomers(len(want)), []int{0, 1, 2, 3, 4}[:len(want)])
		for i := range want {
			near(t, want[i], got[i], 1e-12)
		}
	}
}

// Three games with ties, computed by the program rank 1.02 and published in openskill.js, bradley-terry-full-series.test.ts.
func TestLikeAPublishedSeries(t *testing.T) {
	players := newcomers(5)
	for _, game := range []struct{ players, ranks []int }{
		{[]int{0, 1, 2, 3, 4}, []int{0, 1, 1, 3, 3}},
		{[]int{4, 2, 1}, []int{0, 1, 1}},
		{[]int{3, 1, 2, 0}, []int{0, 0, 2, 2}},
	} {
		var table []Rating
		for _, player := range game.players {
			table = append(table, players[player])
		}
		for i, updated := range Update(table, game.ranks) {
			players[game.players[i]] = updated
		}
	}
	for i, want := range []Rating{
		{27.643471362, 6.716636758}, {28.84497938, 6.310098392}, {20.705805441, 6.310098392}, {24.387640207, 6.668755907},
		{23.354955778, 6.854096855},
	} {
		near(t, want, players[i], 1e-8)
	}
}

// testdata/openskill.jsonl is what the package openskill 5.0.1 of npm makes of other tables (bradleyTerryFull, tau 0): known and unknown
// players, ties, upsets.
func TestLikeAnotherImplementation(t *testing.T) {
	data, err := os.ReadFile("testdata/openskill.jsonl")
	require.NoError(t, err)
	tables := 0
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); tables++ {
		var table struct {
			Ratings, Want [][2]float64
			Ranks         []int
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &table))
		var ratings []Rating
		for _, r := range table.Ratings {
			ratings = append(ratings, Rating{r[0], r[1]})
		}
		for i, got := range Update(ratings, table.Ranks) {
			near(t, Rating{table.Want[i][0], table.Want[i][1]}, got, 1e-9)
		}
	}
	require.Equal(t, 6, tables)
}

func drawTable(t *rapid.T) ([]Rating, []int) {
	n := rapid.IntRange(2, 8).Draw(t, "players")
	ratings, ranks := make([]Rating, n), make([]int, n)
	for i := range ratings {
		ratings[i] = Rating{rapid.Float64Range(-30, 80).Draw(t, "mu"), rapid.Float64Range(0.1, 9).Draw(t, "sigma")}
		ranks[i] = rapid.IntRange(0, n-1).Draw(t, "rank")
	}
	return ratings, ranks
}

func TestWhatHoldsForEveryTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratings, ranks := drawTable(t)
		before := slices.Clone(ratings)
		updated := Update(ratings, ranks)
		require.Equal(t, before, ratings, "the given ratings were changed")
		best, worst, balance := slices.Min(ranks), slices.Max(ranks), 0.0
		for i, old := range ratings {
			now := updated[i]
			require.True(t, now.IsValid())
			require.LessOrEqual(t, now.Sigma, old.Sigma)
			balance += (now.Mu - old.Mu) / (old.Sigma * old.Sigma)
			if ranks[i] == best && count(ranks, best) == 1 {
				require.GreaterOrEqual(t, now.Mu, old.Mu, "the winner falls")
				require.GreaterOrEqual(t, now.Displayed(), old.Displayed(), "the winner is seen to fall")
			}
			if ranks[i] == worst && count(ranks, worst) == 1 {
				require.LessOrEqual(t, now.Mu, old.Mu, "the last one rises")
			}
		}
		require.InDelta(t, 0, balance, 1e-6, "what is won is lost by others, each by its uncertainty")
	})
}

func count(ranks []int, rank int) (n int) {
	for _, r := range ranks {
		if r == rank {
			n++
		}
	}
	return n
}

// Neither the order of the players matters, nor how ranks are numbered.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratings, ranks := drawTable(t)
		order := rapid.Permutation(indexes(len(ratings))).Draw(t, "order")
		otherRatings, otherRanks := make([]Rating, len(order)), make([]int, len(order))
		for to, from := range order {
			otherRatings[to], otherRanks[to] = ratings[from], 10*ranks[from]-3
		}
		want := Update(ratings, ranks)
		for to, got := range Update(otherRatings, otherRanks) {
			near(t, want[order[to]], got, 1e-9)
		}
	})
}

func indexes(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// A tie brings two players closer and does not make them change places; among equals it changes no Mu.
func TestTiesPullTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low, high := rapid.Float64Range(0, 50).Draw(t, "mu"), rapid.Float64Range(0, 50).Draw(t, "mu")
		if low > high {
			low, high = high, low
		}
		got := Update([]Rating{{low, rapid.Float64Range(0.1, 9).Draw(t, "sigma")}, {high, rapid.Float64Range(0.1, 9).Draw(t, "sigma")}}, []int{0, 0})
		require.GreaterOrEqual(t, got[0].Mu, low)
		require.LessOrEqual(t, got[1].Mu, high)
		require.LessOrEqual(t, got[0].Mu, got[1].Mu)
		if high-low > 0.01 {
			require.Less(t, got[1].Mu-got[0].Mu, high-low)
		}
	})
}

// Players whose strength is known play against each other at tables of four, as the model says: in the end the ratings tell who is
// better, and how far from the truth they are is what Sigma says.
func TestRatingsConverge(t *testing.T) {
	const players, seats, matches = 40, 4, 4000
	r := rand.New(rand.NewPCG(1, 2))
	strength := make([]float64, players)
	ratings := newcomers(players)
	for i := range strength {
		strength[i] = 25 + 25.0/3*r.NormFloat64()
	}
	for range matches {
		table := r.Perm(players)[:seats]
		var before []Rating
		var scores []int
		for _, player := range table {
			before = append(before, ratings[player])
			form := -math.Sqrt2 * beta * math.Log(r.ExpFloat64()) // so that the chances of each pair are the model's
			scores = append(scores, int(1000*(strength[player]+form)))
		}
		for i, updated := range Update(before, Ranks(scores, make([]bool, seats))) {
			ratings[table[i]] = updated
		}
	}
	wrongPairs, pairs, shift := 0, 0, 0.0
	for i := range players {
		shift += (ratings[i].Mu - strength[i]) / players
		for q := range players {
			if strength[i] > strength[q]+2 {
				pairs++
				if ratings[i].Mu < ratings[q].Mu {
					wrongPairs++
				}
			}
		}
	}
	squares := 0.0
	for i := range players {
		off := ratings[i].Mu - shift - strength[i]
		squares += off * off / players
		require.Less(t, ratings[i].Sigma, 2.5)
	}
	t.Logf("%d of %d pairs are in the wrong order, off by %.2f, Sigma of the first %.2f", wrongPairs, pairs, math.Sqrt(squares), ratings[0].Sigma)
	require.Less(t, wrongPairs, pairs/50)
	require.Less(t, math.Sqrt(squares), 2.0)
}

func TestDisplayed(t *testing.T) {
	assert.Equal(t, 1000, New().Displayed())
	assert.Equal(t, 2000, Rating{25, 1e-9}.Displayed())
	assert.Equal(t, 1138, Update(newcomers(2), []int{0, 1})[0].Displayed())
	assert.Equal(t, 927, Update(newcomers(2), []int{0, 1})[1].Displayed())
	assert.Equal(t, 0, Rating{-40, 8}.Displayed())
}

func TestIsValid(t *testing.T) {
	assert.True(t, New().IsValid())
	for _, bad := range []Rating{{}, {25, 0}, {25, -1}, {math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 1}, {1, math.Inf(1)}} {
		assert.False(t, bad.IsValid(), "%v", bad)
	}
}

func TestRanks(t *testing.T) {
	assert.Equal(t, []int{2, 0, 0, 3}, Ranks([]int{4, 9, 9, 1}, make([]bool, 4)))
	assert.Equal(t, []int{0, 2, 1, 2}, Ranks([]int{3, 9, 0, 1}, []bool{false, true, false, true}), "forfeiters come last, and level")
	assert.Empty(t, Ranks(nil, nil))
}

// Against seven players who are well known, somebody of whom nothing at all is known would have no variance left, or less.
func TestSomethingIsLeftOfTheVariance(t *testing.T) {
	ratings := slices.Repeat([]Rating{{25, 0.01}}, 8)
	ratings[3].Sigma = 1000
	got := Update(ratings, []int{0, 1, 2, 3, 4, 5, 6, 7})[3]
	require.True(t, got.IsValid(), "%v", got)
	require.InDelta(t, 10, got.Sigma, 1e-9)
}

func TestListsAreOfOneLength(t *testing.T) {
	assert.Panics(t, func() { Update(newcomers(2), []int{1}) })
	assert.Panics(t, func() { Ranks([]int{1}, nil) })
}
