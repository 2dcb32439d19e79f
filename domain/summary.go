package domain

import "slices"

// Summary is what a match came to, from its record.
type Summary struct {
	Setup      Setup
	Commitment [32]byte // SHA-256 of the deck's key
	Committed  bool     // false for a deck without a key
	DurationMs int64    // until the end, or so far
	End        MatchEnded
	HasEnded   bool // false: the record is of a match that went on, and End is zero
	Seats      []SeatSummary
}

// SeatSummary is one player's part of a match.
type SeatSummary struct {
	Score     int // with what penalties took
	Forfeited bool
	Claims    int // that were judged: Sets and Wrong
	Sets      int
	Wrong     int
	Reactions Reactions
}

// Reactions are the times that a player needed for a Set, in ms, each from the moment when the board could be claimed from. A claim
// that had waited for that moment is none: it was for a board before.
type Reactions struct {
	Count     int
	FastestMs int64 // 0 if there is none, as is MedianMs
	MedianMs  int64 // of an even number the mean of the two in the middle, rounded down
}

// Summarize sums up the match of a record, finished or not. It fails as Replay does.
func Summarize(record []byte) (Summary, error) {
	var out Output
	s, err := Replay(record, &out)
	if err != nil {
		return Summary{}, err
	}
	sum := Summary{Setup: s.setup, DurationMs: s.nowMs, Seats: make([]SeatSummary, s.setup.Players)}
	sum.Commitment, sum.Committed = s.setup.Deck.Commitment()
	sets := 0
	var reactions [MaxPlayers][]int64
	for _, e := range out.Events {
		switch event := e.Event.(type) {
		case SetClaimed:
			if seat := &sum.Seats[event.Seat]; event.Valid() {
				seat.Sets++
				if fromMs := s.idleMs[sets]; e.AtMs > fromMs {
					reactions[event.Seat] = append(reactions[event.Seat], e.AtMs-fromMs)
				}
				sets++
			} else {
				seat.Wrong++
			}
		case MatchEnded:
			sum.End, sum.HasEnded, sum.DurationMs = event, true, e.AtMs
		}
	}
	for i := range sum.Seats {
		seat, public := &sum.Seats[i], s.shared.ByPlayer[i]
		seat.Score, seat.Forfeited, seat.Claims = public.Score, public.Forfeited, seat.Sets+seat.Wrong
		seat.Reactions = reactionsOf(reactions[i])
	}
	return sum, nil
}

func reactionsOf(timesMs []int64) Reactions {
	n := len(timesMs)
	if n == 0 {
		return Reactions{}
	}
	slices.Sort(timesMs)
	return Reactions{Count: n, FastestMs: timesMs[0], MedianMs: (timesMs[(n-1)/2] + timesMs[n/2]) / 2}
}
