// Package rating says how good players are, from how their matches ended.
//
// It is the Bayesian approximation of Weng and Lin (Journal of Machine Learning Research 12, 2011), Algorithm 1: the Bradley-Terry
// model with full pairs. A match of many is taken as one between each two of its players, all at once; a tie is half a win.
package rating

import (
	"cmp"
	"fmt"
	"math"
)

// Formula is the version of what Update computes. A change of it has a new one, so that ratings can be computed again from stored results.
const Formula = 1

// The model's numbers, as in the paper: only their ratios matter.
const (
	newMu    = 25.0
	newSigma = newMu / 3
	beta     = newSigma / 2 // how much a player's form varies from match to match
	kappa    = 1e-4         // the least that is left of a variance after a match
)

// What is displayed: newcomers have 1000, and an equal player whose skill is surely known has 2000.
const (
	displayedNew   = 1000
	displayedPerMu = 40
)

// Rating is what is known of a player's skill: it is believed to be about Mu, and between Mu − 3 Sigma and Mu + 3 Sigma. The zero
// value is nobody's; New is a newcomer's.
type Rating struct {
	Mu    float64 `json:"mu"`
	Sigma float64 `json:"sigma"` // more than 0; every match makes it smaller
}

// New is a newcomer's rating.
func New() Rating { return Rating{Mu: newMu, Sigma: newSigma} }

// IsValid reports whether this can be a rating: finite numbers, and Sigma more than 0. Whoever reads one from a store asks.
func (r Rating) IsValid() bool {
	return !math.IsNaN(r.Mu) && !math.IsInf(r.Mu, 0) && r.Sigma > 0 && !math.IsInf(r.Sigma, 0)
}

// Displayed is the rating as one number to show and to sort by, at least 0: what the player's skill almost surely is at least
// (Mu − 3 Sigma). So it rises with every win, and for a while with every match, as one gets known better.
func (r Rating) Displayed() int {
	return max(0, int(math.Round(displayedNew+displayedPerMu*(r.Mu-3*r.Sigma))))
}

// Update returns the ratings after a match, in the order of the players. ranks say how they came off: 0 is the best, equal ranks are a
// tie, and only the order of ranks matters. A match of one changes nothing. It panics if there are not as many ranks as ratings.
func Update(ratings []Rating, ranks []int) []Rating {
	if len(ratings) != len(ranks) {
		panic(fmt.Sprintf("rating: %d ratings and %d ranks", len(ratings), len(ranks)))
	}
	updated := make([]Rating, len(ratings))
	for i, player := range ratings {
		variance := player.Sigma * player.Sigma
		gain, loss := 0.0, 0.0 // of Mu, and of the share of the variance
		for q, other := range ratings {
			if q == i {
				continue
			}
			c := math.Sqrt(variance + other.Sigma*other.Sigma + 2*beta*beta)
			wins := 1 / (1 + math.Exp((other.Mu-player.Mu)/c)) // how likely this one beats the other
			gain += variance / c * (score(ranks[i], ranks[q]) - wins)
			loss += player.Sigma / c * variance / (c * c) * wins * (1 - wins)
		}
		updated[i] = Rating{Mu: player.Mu + gain, Sigma: player.Sigma * math.Sqrt(max(1-loss, kappa))}
	}
	return updated
}

// score is a win's 1, a tie's ½, a defeat's 0.
func score(rank, other int) float64 { return float64(1+cmp.Compare(other, rank)) / 2 }

// Ranks are the ranks of a final table: how many did better. The higher score is better, and whoever forfeited comes after all that did
// not, level with each other. It panics if the lists are not of one length.
func Ranks(scores []int, forfeited []bool) []int {
	if len(scores) != len(forfeited) {
		panic(fmt.Sprintf("rating: %d scores and %d forfeits", len(scores), len(forfeited)))
	}
	better := func(a, b int) bool {
		if forfeited[a] || forfeited[b] {
			return !forfeited[a] && forfeited[b]
		}
		return scores[a] > scores[b]
	}
	ranks := make([]int, len(scores))
	for i := range scores {
		for q := range scores {
			if better(q, i) {
				ranks[i]++
			}
		}
	}
	return ranks
}
