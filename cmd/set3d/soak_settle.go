package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"set3d/client"
)

// wait waits until none of the tables is listed any more, and returns how many still are, or why that is not known.
func (s *soaker) wait(ctx context.Context, progress io.Writer) (left int, err error) {
	var told time.Time
	for end := time.Now().Add(s.flags.settle); ; {
		left, err = s.left(ctx)
		s.reached(err)
		if err == nil && left == 0 || s.givesUp() || time.Now().After(end) {
			return left, err
		}
		if time.Since(told) >= progressEvery {
			told = time.Now()
			_, _ = fmt.Fprintln(progress, waitingFor(left, err))
		}
		if !sleep(ctx, min(settleEvery, s.patience)) {
			return left, err
		}
	}
}

func waitingFor(left int, err error) string {
	if err != nil {
		return "the server does not answer, trying again"
	}
	return fmt.Sprintf("waiting for %s to close; a table whose match is over stays open for after_end_ms", count(left, "table"))
}

// left counts the tables of ours that are listed.
func (s *soaker) left(ctx context.Context) (int, error) {
	n, filter := 0, client.ListMatches{Limit: 100}
	for {
		page, err := s.client.ListMatches(ctx, s.watcher, filter)
		if err != nil {
			return n, err
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
