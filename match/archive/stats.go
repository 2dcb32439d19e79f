package archive

import (
	"encoding/json"
	"fmt"

	"set3d/domain"
	"set3d/match/rating"
)

const (
	statsKey = "stats"
	// timedPreset is the one whose times are compared.
	timedPreset = "timed"
)

// Stats are a player's statistics: of all matches that counted.
type Stats struct {
	Matches int `json:"matches"`
	// Wins are matches that were won against at least one other person; a shared win is one.
	Wins       int `json:"wins"`
	Sets       int `json:"sets"`
	Misses     int `json:"misses"` // wrong claims
	Streak     int `json:"streak"` // wins in a row, up to now
	BestStreak int `json:"best_streak"`
	// FastestTimedMs is the shortest match by the timed preset that the player won by taking the last Set of the deck; 0: none.
	FastestTimedMs int64 `json:"fastest_timed_ms"`
	// Mu and Sigma are the rating from ranked matches, see package rating.
	Mu     float64 `json:"mu"`
	Sigma  float64 `json:"sigma"`
	Ranked int     `json:"ranked_matches"`
}

func newStats() Stats {
	fresh := rating.New()
	return Stats{Mu: fresh.Mu, Sigma: fresh.Sigma}
}

// Rating is the rating as it is shown.
func (s *Stats) Rating() int { return s.rating().Displayed() }

func (s *Stats) rating() rating.Rating { return rating.Rating{Mu: s.Mu, Sigma: s.Sigma} }

func decodeStats(value string) (Stats, error) {
	var s Stats
	if err := json.Unmarshal([]byte(value), &s); err != nil {
		return s, fmt.Errorf("unreadable statistics: %w", err)
	}
	return s, nil
}

// add counts a match.
func (s *Stats) add(r *Result, p *PlayerResult) {
	s.Matches++
	s.Sets += p.Claims - p.Wrong
	s.Misses += p.Wrong
	if r.humans() < 2 {
		s.noteTime(r, p)
		return
	}
	if !r.won(p.Seat) {
		s.Streak = 0
		return
	}
	s.Wins++
	s.Streak++
	s.BestStreak = max(s.BestStreak, s.Streak)
	s.noteTime(r, p)
}

func (s *Stats) noteTime(r *Result, p *PlayerResult) {
	if r.Preset == timedPreset && r.Reason == reasonName(domain.EndNoSetsLeft) && r.won(p.Seat) && (s.FastestTimedMs == 0 || r.DurationMs < s.FastestTimedMs) {
		s.FastestTimedMs = r.DurationMs
	}
}

// humans counts the people who sat there, those who are gone too.
func (r *Result) humans() int {
	n := 0
	for i := range r.Players {
		if r.Players[i].Bot == "" {
			n++
		}
	}
	return n
}

// isRated reports whether the result changes ratings. What a crash of the server has decided does not: who did not come back after it has
// lost nothing by playing.
func (r *Result) isRated() bool {
	byAbsence := r.Reason == reasonName(domain.EndAbandoned) || r.Reason == reasonName(domain.EndLastPlayer)
	return r.Ranked && r.Counted && r.humans() == len(r.Players) && len(r.Players) > 1 && !(byAbsence && r.Incarnation > 0)
}

// rate changes the ratings of all players by the result. stats has those that are known, by seat; nil for who is gone, who counts as
// a newcomer.
func (r *Result) rate(stats []*Stats) {
	before, scores, forfeited := make([]rating.Rating, len(r.Players)), make([]int, len(r.Players)), make([]bool, len(r.Players))
	for i := range r.Players {
		before[i] = rating.New()
		if stats[i] != nil {
			before[i] = stats[i].rating()
		}
		scores[i], forfeited[i] = r.Players[i].Score, r.Players[i].Forfeited
	}
	for i, after := range rating.Update(before, rating.Ranks(scores, forfeited)) {
		if stats[i] == nil {
			continue
		}
		shown := RatingChange{Before: before[i].Displayed(), After: after.Displayed()}
		shown.Change = shown.After - shown.Before
		r.Players[i].Rating = &shown
		stats[i].Mu, stats[i].Sigma = after.Mu, after.Sigma
		stats[i].Ranked++
	}
}
