package archive

import (
	"set3d/domain"
	"set3d/match/rating"
)

// timedPreset is the preset whose times are compared.
const timedPreset = "timed"

// Stats are a player's statistics: of all matches that counted.
type Stats struct {
	Matches int `json:"matches"`
	// Wins are matches that were won against at least one other person; a shared win is one.
	Wins       int `json:"wins"`
	Sets       int `json:"sets"`
	Misses     int `json:"misses"` // wrong claims
	Streak     int `json:"streak"` // wins in a row, up to now
	BestStreak int `json:"best_streak"`
	// FastestTimedMs is the shortest match by the timed preset that the player won by taking the last Set of the deck;
	// 0: none.
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

// isRated reports whether the result changes ratings. An abandoned match does not: nobody was connected any more, and
// nobody lost to anybody. After a crash of the server one that ended by absence does not either: who did not come back
// has lost nothing by playing.
func (r *Result) isRated() bool {
	if r.Reason == reasonName(domain.EndAbandoned) || r.Reason == reasonName(domain.EndLastPlayer) && r.Incarnation > 0 {
		return false
	}
	return r.Ranked && r.Counted && r.humans() == len(r.Players) && len(r.Players) > 1
}
