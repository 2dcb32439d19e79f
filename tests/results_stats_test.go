package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

func statsOf(t *testing.T, on *server, asker *client.User, userID string) client.PlayerStats {
	t.Helper()
	stats, err := on.client().PlayerStats(t.Context(), asker, userID)
	if err != nil {
		t.Fatalf("statistics: %v", err)
	}
	return stats
}

// score is a user's place on a leaderboard, by Nakama's own API; false if there is none.
func score(t *testing.T, on *server, user *client.User, board string) (string, bool) {
	t.Helper()
	status, body := ask(t, on, http.MethodGet, "/v2/leaderboard/"+board+"?owner_ids="+user.ID, "", bearer(user))
	var list struct {
		Records []struct {
			OwnerID  string `json:"owner_id"`
			Username string `json:"username"`
			Score    string `json:"score"`
		} `json:"owner_records"`
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
		t.Fatalf("leaderboard %s is answered %d %s", board, status, body)
	}
	for _, r := range list.Records {
		if r.OwnerID == user.ID && r.Username == user.Username {
			return orDefault(r.Score, "0"), true
		}
	}
	return "", false
}

// wantScore waits until a leaderboard shows it: leaderboards follow the result.
func wantScore(t *testing.T, on *server, user *client.User, board string, want int) {
	t.Helper()
	var got string
	if !eventually(func() bool { got, _ = score(t, on, user, board); return got == fmt.Sprint(want) }) {
		t.Errorf("%s shows %q for %s, want %d", board, got, user.Username, want)
	}
}

// takesASet claims any Set on the board, and waits until it is judged as one.
func (p *peer) takesASet() {
	p.t.Helper()
	p.sync()
	board := p.until("a Set on the board", func(s *wire.Snapshot) bool {
		return s.GetState() == wire.BoardState_BOARD_STATE_IDLE && len(setsOn(s.GetBoard())) > 0
	}).GetBoard()
	id := newClaimID()
	p.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, setsOn(board)[0]))
	if verdict := p.verdictOf(id); !verdict.GetValid() {
		p.t.Fatalf("a Set is judged %v", verdict)
	}
}

// errs claims three cards that are no Set, and waits for the verdict.
func (p *peer) errs() {
	p.t.Helper()
	p.sync()
	board := p.idle().GetBoard()
	cards := slices.Clone(board[:3])
	if third(cards[0], cards[1]) == cards[2] {
		cards[2] = board[3]
	}
	id := newClaimID()
	p.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, cards))
	if verdict := p.verdictOf(id); verdict.GetValid() {
		p.t.Fatalf("no Set is judged %v", verdict)
	}
}

// counted plays a match of two that counts: a takes Sets, then b forfeits. It returns the result's id.
func counted(t *testing.T, on *server, sets int, a, b *peer) string {
	t.Helper()
	x := openFor(t, on, client.CreateMatch{Rules: quick(nil)}, a, b)
	for range sets {
		a.takesASet()
	}
	b.forfeit()
	return x.end(a)
}

// TestScoreOfZero: scenario 33. A zero is stored and shown, and can be raised.
func TestScoreOfZero(t *testing.T) {
	t.Parallel()
	on := shared(t)
	a, b := connect(t, on, asProtobuf), connect(t, on, asJSON)
	r := result(t, on, b.user, counted(t, on, 0, a, b))
	if r.Reason != "LAST_PLAYER" || !r.Counted || r.Ranked || !r.Players[1].Forfeited || r.Players[0].Forfeited || r.Players[0].Rating != nil {
		t.Errorf("result %+v", r)
	}
	for _, board := range []string{"set3d_wins", "set3d_sets"} {
		wantScore(t, on, b.user, board, 0)
	}
	wantScore(t, on, a.user, "set3d_wins", 1)
	wantScore(t, on, a.user, "set3d_sets", 0)
	result(t, on, b.user, counted(t, on, 2, b, a))
	wantScore(t, on, b.user, "set3d_wins", 1)
	wantScore(t, on, b.user, "set3d_sets", 2)
	wantScore(t, on, a.user, "set3d_wins", 1)
	if s := statsOf(t, on, b.user, a.user.ID); s.Matches != 2 || s.Wins != 1 || s.Streak != 0 || s.BestStreak != 1 {
		t.Errorf("the row of wins has not ended: %+v", s)
	}
	for _, board := range []string{"set3d_rating", "set3d_fastest"} {
		if got, shown := score(t, on, b.user, board); shown {
			t.Errorf("%s shows %s for somebody who has none", board, got)
		}
	}
}

// TestPlayerStats: everybody may see them; who has played nothing is a newcomer.
func TestPlayerStats(t *testing.T) {
	t.Parallel()
	on := shared(t)
	a, b, stranger := connect(t, on, asProtobuf), connect(t, on, asJSON), signIn(t, on)
	result(t, on, a.user, counted(t, on, 3, a, b))
	own := statsOf(t, on, a.user, "")
	if own.UserID != a.user.ID || own.Matches != 1 || own.Wins != 1 || own.Sets != 3 || own.RankedMatches != 0 || own.Rating != 1_000 || own.FastestTimedMs != 0 {
		t.Errorf("statistics %+v", own)
	}
	if seen := statsOf(t, on, stranger, a.user.ID); seen != own {
		t.Errorf("a stranger sees %+v, the player %+v", seen, own)
	}
	for _, id := range []string{stranger.ID, "5f0a2a3c-0000-4000-8000-000000000000"} {
		if s := statsOf(t, on, a.user, id); s.UserID != id || s.Matches != 0 || s.Rating != 1_000 {
			t.Errorf("the statistics of a newcomer are %+v", s)
		}
	}
	wantRefused(t, a, []refusedCall{
		{"player_stats", `{"user_id":"nobody"}`, "OUT_OF_RANGE"}, {"player_stats", `{"user_id":""}`, "OUT_OF_RANGE"},
		{"player_stats", `{"user_id":7}`, "WRONG_TYPE"}, {"player_stats", `{"seat":0}`, "UNKNOWN_FIELD"},
	})
}

// TestRankedMatches: what the matchmaker makes changes ratings, those of two and those of four.
func TestRankedMatches(t *testing.T) {
	on := shared(t)
	for preset, players := range map[string]int{"tournament": 2, "classic": 4} {
		t.Run(fmt.Sprint(players), func(t *testing.T) {
			var peers []*peer
			for i := range players {
				peers = append(peers, connect(t, on, []client.Format{asJSON, asProtobuf}[i%2]))
				peers[i].ticket(preset, int32(players))
			}
			x := &table{t: t, on: on, shared: client.NewBroadcasts()}
			seats := make([]*peer, players)
			for _, p := range peers {
				x.made.MatchID = p.matched()
				seats[x.seat(p).GetSeat()] = p
			}
			peers = seats
			for _, p := range peers {
				p.start()
			}
			winner := peers[players-1] // not the first seat, which would win a tie that goes by the seat
			winner.takesASet()
			for _, p := range peers[:players-1] {
				p.forfeit()
			}
			id := x.end(winner)
			r := result(t, on, winner.user, id)
			if !r.Ranked || !r.Counted || !slices.Equal(r.Winners, []int{players - 1}) || r.Reason != "LAST_PLAYER" {
				t.Fatalf("result %+v", r)
			}
			for seat, p := range peers {
				change, won := r.Players[seat].Rating, seat == players-1
				if change == nil || change.Before != 1_000 || change.After-change.Before != change.Change || won != (change.Change > 100) {
					t.Errorf("the rating of seat %d: %+v", seat, change)
					continue
				}
				if s := statsOf(t, on, winner.user, p.user.ID); s.Rating != change.After || s.RankedMatches != 1 || s.Sigma >= 25.0/3 || (s.Mu > 25) != won {
					t.Errorf("the statistics of seat %d are %+v, its rating %+v", seat, s, change)
				}
				wantScore(t, on, p.user, "set3d_rating", change.After)
			}
		})
	}
}

// TestWhatDoesNotCount: practice, seeded decks and matches with bots have results and leave the statistics alone.
func TestWhatDoesNotCount(t *testing.T) {
	t.Parallel()
	on := shared(t)
	for name, request := range map[string]client.CreateMatch{
		"practice": {Preset: "practice", Seats: 1}, "a seed": {Seed: 42, Seats: 2, Rules: quick(nil)},
		"a bot": {Seats: 2, Bots: []string{"easy"}, Rules: quick(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, players := connect(t, on, asProtobuf), 1
			peers := []*peer{a}
			if request.Seed != 0 {
				players, peers = 2, append(peers, connect(t, on, asJSON))
			}
			x := openFor(t, on, request, peers...)
			a.takesASet()
			for _, p := range peers[:players] {
				p.forfeit()
			}
			r := result(t, on, a.user, x.end(a))
			if r.Counted || r.Ranked || r.Players[0].Score != 1 || r.Players[0].Rating != nil {
				t.Errorf("result %+v", r)
			}
			if request.Seed != 0 && (r.Seed != 42 || r.Key != "") || len(request.Bots) > 0 && (r.Players[1].Bot != "easy" || r.Players[1].UserID != "") {
				t.Errorf("result %+v", r)
			}
			page, err := on.client().MatchHistory(t.Context(), a.user, 0, "")
			if err != nil || len(page.Results) != 1 {
				t.Errorf("history %+v, %v", page, err)
			}
			// One that counts, so that the leaderboards have surely followed.
			result(t, on, a.user, alone(t, on, a))
			wantScore(t, on, a.user, "set3d_sets", 0)
			if s := statsOf(t, on, a.user, ""); s.Matches != 1 || s.Sets != 0 || s.Wins != 0 || s.RankedMatches != 0 {
				t.Errorf("statistics %+v", s)
			}
		})
	}
}
