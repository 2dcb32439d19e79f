package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// rankedResult is a result of a ranked match of u and another user, which ended at that time and changed u's rating
// from before to after.
func rankedResult(ended int64, before, after int) client.Result {
	change := &client.RatingChange{Before: before, After: after, Change: after - before}
	return client.Result{
		ResultID: fmt.Sprint("r", ended), Ranked: true, Counted: true, Reason: "NO_SETS_LEFT", EndedUnixMs: ended,
		Players: []client.PlayerResult{{UserID: "v"}, {Seat: 1, UserID: "u", Rating: change}},
	}
}

func TestCrashFollowsRatings(t *testing.T) {
	chain := func() []client.Result { // the newest first, as a history has it
		return []client.Result{
			rankedResult(30, 1_138, 1_200),
			{EndedUnixMs: 25, Counted: true, Reason: "TIME_UP", Players: []client.PlayerResult{{UserID: "u"}, {UserID: "v"}}},
			rankedResult(20, 927, 1_138), rankedResult(10, 1_000, 927),
		}
	}
	unrated := func(r *client.Result) { r.Players[1].Rating = nil }
	byAbsence := func(r *client.Result) { r.Reason, r.Incarnation = "LAST_PLAYER", 1 }
	for _, test := range []struct {
		name   string
		change func([]client.Result)
		shown  int
		rated  int
		wrong  string
	}{
		{"whole", func([]client.Result) {}, 1_200, 3, ""},
		{"abandoned", func(h []client.Result) { h[0].Reason = "ABANDONED"; unrated(&h[0]) }, 1_138, 2, ""},
		{"abandoned and rated", func(h []client.Result) { h[0].Reason = "ABANDONED" }, 1_200, 3,
			"ABANDONED, incarnation 0, changes the rating: true, want false"},
		{"by absence", func(h []client.Result) { byAbsence(&h[0]); unrated(&h[0]) }, 1_138, 2, ""},
		{"by absence and rated", func(h []client.Result) { byAbsence(&h[0]) }, 1_200, 3,
			"changes the rating: true, want false"},
		{"by forfeit", func(h []client.Result) { h[0].Reason = "LAST_PLAYER" }, 1_200, 3, ""},
		{"resumed", func(h []client.Result) { h[0].Incarnation = 2 }, 1_200, 3, ""},
		{"not rated", func(h []client.Result) { unrated(&h[0]) }, 1_138, 2, "changes the rating: false, want true"},
		{"not ranked and rated", func(h []client.Result) { h[0].Ranked = false }, 1_200, 3,
			"ranked false, counted true, NO_SETS_LEFT, incarnation 0, changes the rating: true"},
		{"a gap", func(h []client.Result) { h[2] = rankedResult(20, 930, 1_138) }, 1_200, 3,
			"result r20 changes the rating from 930 to 1138 by 208, and it was 927; ranked before: 1"},
		{"no newcomer", func(h []client.Result) { h[3] = rankedResult(10, 1_001, 927) }, 1_200, 3,
			"it was 1000; ranked before: 0"},
		{"a false difference", func(h []client.Result) { h[3].Players[1].Rating.Change++ }, 1_200, 3,
			"by -72, and it was 1000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, history := &crasher{}, chain()
			test.change(history)
			shown, rated := c.ratingChain("u", history)
			require.Equal(t, []int{test.shown, test.rated}, []int{shown, rated})
			if test.wrong == "" {
				require.Empty(t, c.wrong)
				return
			}
			require.Len(t, c.wrong, 1)
			require.Contains(t, c.wrong[0], test.wrong)
		})
	}
}

// The statistics and the leaderboard show what the results lead to.
func TestCrashComparesRatings(t *testing.T) {
	board := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/leaderboard/set3d_rating" && r.URL.Query().Get("owner_ids") == "u" {
			_, _ = fmt.Fprintf(w, `{"owner_records":[%s]}`, board)
		} else {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	connected, err := client.New(client.Config{URL: server.URL})
	require.NoError(t, err)
	statsOf := func(ranked, rating int) client.PlayerStats {
		return client.PlayerStats{RankedMatches: ranked, Rating: rating}
	}
	played := []client.Result{rankedResult(10, 1_000, 1_138)}
	for _, test := range []struct {
		board   string
		history []client.Result
		stats   client.PlayerStats
		wrong   string
	}{
		{`{"owner_id":"u","score":"1138"}`, played, statsOf(1, 1_138), ""},
		{``, nil, statsOf(0, 1_000), ""},
		{`{"owner_id":"u","score":"1138"}`, played, statsOf(1, 1_139), "say rating 1139 and 1 ranked"},
		{`{"owner_id":"u","score":"1138"}`, played, statsOf(2, 1_138), "and 2 ranked matches, the history makes 1138 and 1"},
		{`{"owner_id":"u","score":"1137"}`, played, statsOf(1, 1_138), `shows rating "1137", the history makes "1138"`},
		{`{"owner_id":"v","score":"1138"}`, played, statsOf(1, 1_138), `shows rating "", the history makes "1138"`},
		{`{"owner_id":"u"}`, nil, statsOf(0, 1_000), `shows rating "0", the history makes ""`},
	} {
		c := &crasher{client: connected}
		board = test.board
		require.NoError(t, c.checkRating(t.Context(), &client.User{ID: "u"}, test.history, test.stats, time.Time{}))
		if test.wrong == "" {
			require.Empty(t, c.wrong)
			continue
		}
		require.Len(t, c.wrong, 1)
		require.Contains(t, c.wrong[0], test.wrong)
	}
}

// A result told as final, and a forfeit that was told, are not taken back.
func TestCrashHoldsToWhatWasFinal(t *testing.T) {
	c, m, _ := crashedMatch(t)
	r := rankedResult(10, 1_000, 927)
	m.kind.ranked, m.final = true, &r
	same := rankedResult(10, 1_000, 927)
	c.checkFinal(m, &same)
	require.Empty(t, c.wrong)
	other := rankedResult(10, 1_000, 928)
	c.checkFinal(m, &other)
	require.Contains(t, c.wrong[0], "was told as final")
	m.kind.ranked = false
	c.checkFinal(m, &same)
	require.Contains(t, c.wrong[1], "ranked: true, want false")
	c.flags.durability = "fast"
	m.began = c.lives[0].at
	c.noResult(m)
	require.Contains(t, c.wrong[2], "was told as final and is not there")

	m.updated(&wire.Update{Stamp: &wire.Stamp{}, Events: []*wire.Event{
		{Kind: &wire.Event_PlayerForfeited{PlayerForfeited: &wire.PlayerForfeited{Seat: 1}}},
	}}, c.lives[0].at.Add(-time.Minute), 0)
	require.Len(t, m.forfeits, 1)
	c.wrong = nil
	c.checkForfeits(m, &same)
	require.Contains(t, c.wrong[0], "the forfeit of seat 1 was told 1m0s before a kill")
	same.Players[1].Forfeited = true
	c.checkForfeits(m, &same)
	require.Len(t, c.wrong, 1)
}

// A player of ranked matches is in one at a time.
func TestCrashLendsPlayersOnce(t *testing.T) {
	var p people
	p.all = []*client.User{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	p.giveBack(p.all)
	random := rand.New(rand.NewPCG(1, 2))
	first, err := p.borrow(t.Context(), nil, 2, random)
	require.NoError(t, err)
	second, err := p.borrow(t.Context(), nil, 1, random)
	require.NoError(t, err)
	require.ElementsMatch(t, p.everybody(), append(second, first...))
	p.giveBack(first)
	p.giveBack(second)

	gone, err := client.New(client.Config{URL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = p.borrow(ctx, gone, 4, random)
	require.ErrorIs(t, err, client.ErrNoRoute)
	require.Len(t, p.free, 3, "those who were there are free again")
}
