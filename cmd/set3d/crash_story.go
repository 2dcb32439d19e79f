package main

import (
	"slices"

	"set3d/domain"
)

// story is what a record tells: every verdict in order, and the scores after each.
type story struct {
	sum      domain.Summary
	verdicts []storyVerdict
	scores   [][]uint32
	index    map[storyKey]int
}

type storyKey struct {
	seat uint32
	id   uint64
}

type storyVerdict struct {
	cards string
	valid bool
}

func claimOf(key toldKey) storyKey { return storyKey{key.seat, key.id} }

func readStory(record []byte) (*story, error) {
	sum, err := domain.Summarize(record)
	if err != nil {
		return nil, err
	}
	var out domain.Output
	if _, err := domain.Replay(record, &out); err != nil {
		return nil, err
	}
	s := &story{sum: sum, index: map[storyKey]int{}}
	scores := make([]uint32, sum.Setup.Players)
	for _, e := range out.Events {
		switch event := e.Event.(type) {
		case domain.SetClaimed:
			cards := []byte{byte(event.Cards[0].ID()), byte(event.Cards[1].ID()), byte(event.Cards[2].ID())}
			s.index[storyKey{uint32(event.Seat), event.ClaimID}] = len(s.verdicts)
			s.verdicts = append(s.verdicts, storyVerdict{string(cards), event.Valid()})
			s.scores = append(s.scores, slices.Clone(scores))
			continue
		case domain.ScoreChanged:
			scores[event.Seat] = uint32(event.Score)
		case domain.PenaltyApplied:
			if event.Mode == domain.PenaltyPoint {
				scores[event.Seat] = uint32(event.Remaining)
			}
		default:
			continue
		}
		s.scores[len(s.scores)-1] = slices.Clone(scores)
	}
	return s, nil
}
