package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"set3d/client"
)

// wait waits until none of the tables is listed any more, and returns how many still are.
func (s *soaker) wait(ctx context.Context) int {
	for end := time.Now().Add(s.flags.settle); ; {
		left, err := s.left(ctx)
		if err == nil && left == 0 || time.Now().After(end) || !sleep(ctx, settleEvery) {
			return left
		}
	}
}

// left counts the tables of ours that are listed.
func (s *soaker) left(ctx context.Context) (int, error) {
	n, filter := 0, client.ListMatches{Limit: 100}
	for {
		page, err := s.client.ListMatches(ctx, s.watcher, filter)
		if err != nil {
			return max(n, 1), err
		}
		for _, m := range page.Matches {
			if s.made[m.MatchID] {
				n++
			}
		}
		if filter.Cursor = page.Cursor; filter.Cursor == "" {
			return n, nil
		}
	}
}

func sortedReasons(errors map[string]int) []string { return slices.Sorted(maps.Keys(errors)) }
