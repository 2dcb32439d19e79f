package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"set3d/client"
	"set3d/match/rating"
)

const ratingBoard = "set3d_rating"

// checkRating: the rated results of a user, in the order of their ends, lead from a newcomer's rating to the one that
// is shown. It takes those of the history, which has matches besides whose start nobody was told.
func (c *crasher) checkRating(
	ctx context.Context, user *client.User, history []client.Result, stats client.PlayerStats, deadline time.Time,
) error {
	shown, rated := c.ratingChain(user.ID, history)
	if stats.RankedMatches != rated || stats.Rating != shown {
		c.fail("user %s: the statistics say rating %d and %d ranked matches, the history makes %d and %d",
			user.ID, stats.Rating, stats.RankedMatches, shown, rated)
	}
	want := ""
	if rated > 0 {
		want = strconv.Itoa(shown)
	}
	for {
		got, err := c.boardScore(ctx, user)
		if err != nil || got == want {
			return err
		}
		if time.Now().After(deadline) {
			c.fail("user %s: the leaderboard shows rating %q, the history makes %q", user.ID, got, want)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(resultsPoll):
		}
	}
}

// ratingChain returns the rating that a history leads to, and by how many matches.
func (c *crasher) ratingChain(userID string, history []client.Result) (shown, rated int) {
	history = slices.Clone(history)
	slices.SortStableFunc(history, func(a, b client.Result) int { return cmp.Compare(a.EndedUnixMs, b.EndedUnixMs) })
	shown = rating.New().Displayed()
	for _, r := range history {
		seat := slices.IndexFunc(r.Players, func(p client.PlayerResult) bool { return p.UserID == userID })
		if seat < 0 {
			continue // checkUser complains
		}
		change := r.Players[seat].Rating
		switch must := mustRate(&r); {
		case must != (change != nil):
			c.fail("user %s: result %s, ranked %v, counted %v, %s, incarnation %d, changes the rating: %v, want %v",
				userID, r.ResultID, r.Ranked, r.Counted, r.Reason, r.Incarnation, change != nil, must)
		case change == nil:
		case change.Before != shown || change.After-change.Before != change.Change:
			c.fail("user %s: result %s changes the rating from %d to %d by %d, and it was %d; ranked before: %d",
				userID, r.ResultID, change.Before, change.After, change.Change, shown, rated)
		}
		if change != nil {
			shown = change.After
			rated++
		}
	}
	return shown, rated
}

// mustRate reports whether a result changes ratings: that of a ranked match which was not abandoned, and not decided by
// who did not come back after a restart.
func mustRate(r *client.Result) bool {
	byAbsence := r.Reason == "ABANDONED" || r.Reason == "LAST_PLAYER" && r.Incarnation > 0
	return r.Ranked && r.Counted && len(r.Players) > 1 && !byAbsence
}

// boardScore is the rating that the leaderboard shows, "" if none.
func (c *crasher) boardScore(ctx context.Context, user *client.User) (string, error) {
	address := c.client.URL() + "/v2/leaderboard/" + ratingBoard + "?" + url.Values{"owner_ids": {user.ID}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+user.Token())
	answer, err := c.http().Do(request)
	if err != nil {
		return "", fmt.Errorf("%w: %w", client.ErrNoRoute, err)
	}
	defer func() { _ = answer.Body.Close() }()
	var list struct {
		Records []struct {
			OwnerID string `json:"owner_id"`
			Score   string `json:"score"` // missing: 0
		} `json:"owner_records"`
	}
	if answer.StatusCode != http.StatusOK {
		return "", exit(exitWrong, "leaderboard %s: HTTP status %s", ratingBoard, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		return "", fmt.Errorf("%w: leaderboard %s: %w", client.ErrUnreadable, ratingBoard, err)
	}
	for _, r := range list.Records {
		if r.OwnerID == user.ID {
			return cmp.Or(r.Score, "0"), nil
		}
	}
	return "", nil
}

func (c *crasher) http() *http.Client {
	if c.flags.server.http != nil {
		return c.flags.server.http
	}
	return &http.Client{Timeout: startLimit}
}
