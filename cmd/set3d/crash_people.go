package main

import (
	"context"
	"slices"
	"time"

	"set3d/client"
)

// checkUser: the history has every result once, and the statistics and the rating follow from it.
func (c *crasher) checkUser(
	ctx context.Context, user *client.User, stored map[string]*client.Result, deadline time.Time,
) error {
	sum := client.PlayerStats{}
	seen := map[string]bool{}
	var history []client.Result
	for cursor := ""; ; {
		page, err := c.client.MatchHistory(ctx, user, 100, cursor)
		if err != nil {
			return err
		}
		for _, r := range page.Results {
			if seen[r.ResultID] {
				c.fail("user %s: result %s is in the history twice", user.ID, r.ResultID)
			}
			seen[r.ResultID] = true
			addStats(&sum, &r, user.ID)
		}
		history = append(history, page.Results...)
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	for id, r := range stored {
		if sits := slices.ContainsFunc(r.Players, func(p client.PlayerResult) bool { return p.UserID == user.ID }); sits != seen[id] {
			c.fail("user %s: played in the match of result %s: %v, it is in the history: %v", user.ID, id, sits, seen[id])
		}
	}
	stats, err := c.client.PlayerStats(ctx, user, "")
	if err != nil {
		return err
	}
	if stats.Matches != sum.Matches || stats.Wins != sum.Wins || stats.Sets != sum.Sets || stats.Misses != sum.Misses {
		c.fail("user %s: the statistics say %d matches, %d wins, %d Sets, %d misses; the history makes %d, %d, %d, %d", user.ID, stats.Matches, stats.Wins,
			stats.Sets, stats.Misses, sum.Matches, sum.Wins, sum.Sets, sum.Misses)
	}
	c.finished.chain = max(c.finished.chain, stats.RankedMatches)
	return c.checkRating(ctx, user, history, stats, deadline)
}

func addStats(sum *client.PlayerStats, r *client.Result, userID string) {
	people := 0
	for _, p := range r.Players {
		people += oneIf(p.Bot == "")
	}
	for _, p := range r.Players {
		if p.UserID != userID || !r.Counted {
			continue
		}
		sum.Matches++
		sum.Sets += p.Claims - p.Wrong
		sum.Misses += p.Wrong
		sum.Wins += oneIf(people > 1 && slices.Contains(r.Winners, p.Seat))
	}
}
