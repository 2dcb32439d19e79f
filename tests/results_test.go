package tests

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/client"
	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// result waits until a match's result is final, as one of its players. It asks less and less often: a user may call only so many RPCs.
func result(t *testing.T, on *server, user *client.User, resultID string) *client.Result {
	t.Helper()
	var got client.GotResult
	var err error
	for wait, end := 10*time.Millisecond, time.Now().Add(2*patience); time.Now().Before(end); wait = min(2*wait, time.Second) {
		got, err = on.client().GetResult(t.Context(), user, resultID)
		if err == nil && got.Status == "final" {
			break
		}
		time.Sleep(wait)
	}
	if err != nil || got.Result == nil || got.Result.ResultID != resultID {
		t.Fatalf("the result of %s is %+v, %v", resultID, got, err)
	}
	return got.Result
}

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

// end waits for the end as one player sees it, and returns the result's id.
func (x *table) end(p *peer) string {
	x.t.Helper()
	id := p.ended().GetResultId()
	if id == "" || x.made.TableID != "" && id != x.made.TableID {
		x.t.Fatalf("the end of table %s names the result %q", x.made.TableID, id)
	}
	return id
}

// TestResultWithoutAnybody: scenario 16. Every socket closes right behind the last claim; the match ends all the same, and its result is stored.
func TestResultWithoutAnybody(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := open(t, on, client.CreateMatch{
		TestDeck: boardEND, Rules: animated(map[string]any{"valid_anim_ms": 1_000, "drop_hold_ms": 60_000}),
	}, asJSON, asProtobuf)
	a, b := x.players[0], x.players[1]
	a.wins(endS1)
	b.until("the idle board", func(s *wire.Snapshot) bool {
		return s.GetScores()[0] == 1 && s.GetState() == wire.BoardState_BOARD_STATE_IDLE
	})
	b.wins(endS2)
	for _, p := range x.players {
		p.hangUp()
		if len(endsIn(p.frames, p.match)) > 0 {
			t.Fatal("the match ended while somebody was there")
		}
	}
	r := result(t, on, a.user, x.made.TableID)
	if r.Reason != "NO_SETS_LEFT" || !slices.Equal(r.Winners, []int{0, 1}) || r.Players[0].Score != 1 || r.Players[1].Score != 1 || r.Counted {
		t.Errorf("result %+v", r)
	}
	if r.Players[0].UserID != a.user.ID || r.Players[1].UserID != b.user.ID || r.Players[1].DisplayName != b.user.Username {
		t.Errorf("players %+v", r.Players)
	}
}

// TestOneResult: scenario 31. A claim, the time limit and a leave at one instant make one end and one result, whichever was first.
func TestOneResult(t *testing.T) {
	t.Parallel()
	on := shared(t)
	for i := range 6 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			const limit = 1_500
			x := open(t, on, client.CreateMatch{Preset: "timed", Rules: quick(map[string]any{
				"time_limit_ms": limit, "penalty_mode": "none", "penalty_time_ms": 0,
			})}, asProtobuf, asJSON)
			a, b := x.players[0], x.players[1]
			a.takesASet()
			claim := dataOf(a.match, int64(wire.OpCode_OP_CODE_CLAIM_SET), marshal(t, claimOf(newClaimID(), setsOn(a.idle().GetBoard())[0])))
			bell := time.Now().Add(time.Duration(limit-int64(a.sync().GetStamp().GetServerTimeMs())) * time.Millisecond)
			time.Sleep(time.Until(bell.Add(time.Duration(i-3) * 2 * time.Millisecond)))
			var all sync.WaitGroup
			all.Go(func() { a.put(claim) })
			all.Go(func() { b.put(dataOf(b.match, int64(wire.OpCode_OP_CODE_FORFEIT), nil)) })
			all.Wait()
			a.rude, b.rude = true, true // the verifier has not seen them sent
			end := a.ended()
			a.sync()
			if ends := endsIn(a.frames, a.match); len(ends) != 1 {
				t.Fatalf("%d ends", len(ends))
			}
			r := result(t, on, a.user, end.GetResultId())
			if "END_REASON_"+r.Reason != end.GetReason().String() || len(r.Winners) != len(end.GetWinners()) {
				t.Errorf("the end is {%v}, the result %+v", end, r)
			}
			for seat, p := range x.players {
				if got := int(end.GetTable()[seat].GetScore()); r.Players[seat].Score != got {
					t.Errorf("seat %d has %d in the result, %d at the end", seat, r.Players[seat].Score, got)
				}
				page, err := on.client().MatchHistory(t.Context(), p.user, 0, "")
				if err != nil || len(page.Results) != 1 || page.Cursor != "" {
					t.Errorf("the history of seat %d: %+v, %v", seat, page, err)
				}
				if s := statsOf(t, on, p.user, ""); s.Matches != 1 || s.Sets != r.Players[seat].Score {
					t.Errorf("the statistics of seat %d are %+v", seat, s)
				}
			}
			t.Logf("%s, %d points", r.Reason, r.Players[0].Score)
		})
	}
}

// TestMatchesThatEndTogether: scenario 32. Several matches of the same two end at one moment; all of them count.
func TestMatchesThatEndTogether(t *testing.T) {
	t.Parallel()
	on := shared(t)
	const each = 10 // lost and won: a session's burst of messages
	peers := []*peer{connect(t, on, asProtobuf), connect(t, on, asJSON)}
	var lost [2][]*table
	for loser, p := range peers {
		winner := peers[1-loser]
		for range each {
			lost[loser] = append(lost[loser], openFor(t, on, client.CreateMatch{Rules: quick(nil)}, p, winner))
			winner.takesASet()
		}
	}
	for _, p := range peers {
		p.sync()
		p.attend(p.match, nil) // the verifier does not see the leaves
	}
	time.Sleep(time.Second) // until the server takes a burst again
	var all sync.WaitGroup
	for loser, p := range peers {
		all.Go(func() {
			for _, x := range lost[loser] {
				p.put(dataOf(x.made.MatchID, int64(wire.OpCode_OP_CODE_FORFEIT), nil))
			}
		})
	}
	all.Wait()
	for loser, p := range peers {
		for _, x := range lost[loser] {
			result(t, on, p.user, x.made.TableID)
		}
	}
	for _, p := range peers {
		if s := statsOf(t, on, p.user, ""); s.Matches != 2*each || s.Wins != each || s.Sets != each || s.Misses != 0 {
			t.Errorf("the statistics are %+v", s)
		}
		wantScore(t, on, p.user, "set3d_wins", each)
		wantScore(t, on, p.user, "set3d_sets", each)
		page, err := on.client().MatchHistory(t.Context(), p.user, 100, "")
		if err != nil || len(page.Results) != 2*each {
			t.Errorf("%d matches in the history, %v", len(page.Results), err)
		}
	}
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

// TestGetResult: a result is pending or final for its players, and nothing for all others.
func TestGetResult(t *testing.T) {
	t.Parallel()
	on := shared(t)
	a, b, watcher := connect(t, on, asProtobuf), connect(t, on, asJSON), connect(t, on, asJSON)
	x := openFor(t, on, client.CreateMatch{Rules: quick(nil)}, a, b)
	watcher.join(x.made.MatchID, x.verify(watcher))
	c := on.client()
	if _, err := c.GetResult(t.Context(), a.user, x.made.TableID); client.ReasonOf(err) != "UNKNOWN_RESULT" {
		t.Errorf("while the match runs: %v", err)
	}
	time.Sleep(20 * time.Millisecond) // a claim in the board's first millisecond is no reaction to it
	a.takesASet()
	b.errs()
	b.forfeit()
	id := x.end(b)
	final := false
	for wait := 10 * time.Millisecond; !final; wait = min(2*wait, time.Second) { // a user may ask so often
		got, err := c.GetResult(t.Context(), b.user, id)
		if err != nil || got.Status != "final" && got.Status != "pending" || (got.Status == "pending") != (got.Result == nil) {
			t.Fatalf("after the end: %+v, %v", got, err)
		}
		final = got.Status == "final"
		time.Sleep(wait)
	}
	r := result(t, on, a.user, id)
	if p := r.Players[0]; p.Claims != 1 || p.Wrong != 0 || p.Score != 1 || p.ReactionMs.Count != 1 || p.ReactionMs.Fastest < 1 || p.ReactionMs.Median != p.ReactionMs.Fastest {
		t.Errorf("the winner: %+v", p)
	}
	if p := r.Players[1]; p.Claims != 1 || p.Wrong != 1 || p.Score != 0 || p.ReactionMs.Count != 0 {
		t.Errorf("the other: %+v", p)
	}
	if r.Preset != "custom" || r.MatchID != x.made.MatchID || r.EndedUnixMs < r.StartedUnixMs || r.DurationMs < 1 || r.Incarnation != 0 {
		t.Errorf("result %+v", r)
	}
	for who, p := range map[string]*peer{"a spectator": watcher, "a stranger": connect(t, on, asJSON)} {
		for _, rpc := range []string{"get_result", "get_record"} {
			if _, refused := p.rpc(rpc, `{"result_id":"`+id+`"}`); !strings.Contains(refused.GetMessage(), "UNKNOWN_RESULT") {
				t.Errorf("%s of %s is answered {%v}", rpc, who, refused)
			}
		}
	}
	wantRefused(t, a, []refusedCall{
		{"get_result", `{"result_id":"NOSUCHTABLE"}`, "UNKNOWN_RESULT"}, {"get_record", `{"result_id":"NOSUCHTABLE"}`, "UNKNOWN_RESULT"},
		{"get_result", `{"result_id":"../set3d_stats"}`, "UNKNOWN_RESULT"},
		{"get_result", `{}`, "MISSING_FIELD"}, {"get_record", `{"result_id":""}`, "MISSING_FIELD"},
		{"get_result", `{"result_id":7}`, "WRONG_TYPE"}, {"get_record", `{"result_id":["x"]}`, "WRONG_TYPE"},
		{"get_result", `{"result_id":"` + strings.Repeat("x", 65) + `"}`, "OUT_OF_RANGE"},
		{"get_result", `{"match_id":"x"}`, "UNKNOWN_FIELD"},
	})
	status, body := ask(t, on, http.MethodPost, "/v2/rpc/get_result?unwrap&http_key="+on.httpKey, `{"result_id":"`+id+`"}`, nil)
	if status != http.StatusOK || !strings.Contains(body, `"final"`) {
		t.Errorf("the operator is answered %d %s", status, body)
	}
}

type refusedCall struct{ rpc, payload, reason string }

func wantRefused(t *testing.T, p *peer, calls []refusedCall) {
	t.Helper()
	for _, c := range calls {
		if answer, refused := p.rpc(c.rpc, c.payload); !strings.Contains(refused.GetMessage(), `"`+c.reason+`"`) {
			t.Errorf("%s %.80s is answered %s {%v}, want %s", c.rpc, c.payload, answer, refused, c.reason)
		}
	}
}

// alone plays a match of one that is over at once, and returns the result's id. Somebody else has opened the table: a user may open
// only so many.
func alone(t *testing.T, on *server, p *peer) string {
	t.Helper()
	x := create(t, on, client.CreateMatch{Seats: 1, Rules: quick(nil)}, &peer{user: signIn(t, on)})
	x.seat(p)
	p.start()
	p.forfeit()
	return x.end(p)
}

// TestMatchHistory: all results, the newest first, a page at a time, and nobody else's.
func TestMatchHistory(t *testing.T) {
	t.Parallel()
	on := shared(t)
	p, other := connect(t, on, asProtobuf), connect(t, on, asJSON)
	var want []string
	for range 5 {
		id := alone(t, on, p)
		result(t, on, p.user, id)
		want = append([]string{id}, want...)
	}
	result(t, on, other.user, alone(t, on, other))
	c := on.client()
	var got, cursors []string
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		page, err := c.MatchHistory(t.Context(), p.user, 2, cursor)
		if err != nil || len(page.Results) > 2 || pages > 3 {
			t.Fatalf("page %d: %+v, %v", pages, page, err)
		}
		for i := range page.Results {
			got = append(got, page.Results[i].ResultID)
		}
		if cursor = page.Cursor; cursor != "" {
			cursors = append(cursors, cursor)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the history is %v, want %v", got, want)
	}
	if len(cursors) < 2 {
		t.Fatalf("the cursors are %q", cursors)
	}
	if page, err := c.MatchHistory(t.Context(), other.user, 2, cursors[0]); err == nil {
		for i := range page.Results {
			if slices.Contains(want, page.Results[i].ResultID) {
				t.Errorf("somebody else's cursor shows %s", page.Results[i].ResultID)
			}
		}
	}
	if answer, err := c.RPC(t.Context(), signIn(t, on), "match_history", "{}"); err != nil || answer != `{"results":[],"cursor":""}` {
		t.Errorf("a newcomer's history: %s, %v", answer, err)
	}
	wantRefused(t, p, []refusedCall{
		{"match_history", `{"limit":0}`, "OUT_OF_RANGE"}, {"match_history", `{"limit":101}`, "OUT_OF_RANGE"}, {"match_history", `{"limit":"2"}`, "WRONG_TYPE"},
		{"match_history", `{"cursor":"%%%"}`, "OUT_OF_RANGE"}, {"match_history", `{"cursor":"zz"}`, "OUT_OF_RANGE"}, {"match_history", `{"cursor":7}`, "WRONG_TYPE"},
		{"match_history", `{"cursor":"` + strings.Repeat("x", 1_025) + `"}`, "OUT_OF_RANGE"}, {"match_history", `{"user_id":"` + other.user.ID + `"}`, "UNKNOWN_FIELD"},
		{"export_my_data", `{"cursor":"%%%"}`, "OUT_OF_RANGE"}, {"export_my_data", `{"cursor":"zz"}`, "OUT_OF_RANGE"},
	})
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

// TestRecord: the record replays, to what was seen, and by the key to which the server had committed itself; a changed byte is found.
func TestRecord(t *testing.T) {
	t.Parallel()
	on := shared(t)
	a, b := connect(t, on, asProtobuf), connect(t, on, asJSON)
	x := create(t, on, client.CreateMatch{Rules: quick(map[string]any{"penalty_mode": "point"})}, a, b)
	x.seat(a)
	x.seat(b)
	commitment := hex.EncodeToString(a.start().GetCommitment())
	b.start()
	a.takesASet()
	b.errs()
	b.takesASet()
	a.takesASet()
	b, w := b.again()
	if hex.EncodeToString(w.GetCommitment()) != commitment {
		t.Fatalf("a WELCOME with the commitment %x, the match began with %s", w.GetCommitment(), commitment)
	}
	b.forfeit()
	id := x.end(a)
	want := result(t, on, a.user, id)
	got, err := on.client().GetRecord(t.Context(), a.user, id)
	if err != nil || got.ResultID != id || fmt.Sprint(got.Result.RecordSHA256) != want.RecordSHA256 {
		t.Fatalf("get_record: %+v, %v", got, err)
	}
	if sum := sha256.Sum256(got.Record); hex.EncodeToString(sum[:]) != want.RecordSHA256 || len(got.Record) != want.RecordBytes {
		t.Errorf("%d bytes with the hash %x, the result says %d with %s", len(got.Record), sum, want.RecordBytes, want.RecordSHA256)
	}
	sum, err := domain.Summarize(got.Record)
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	key, _ := hex.DecodeString(want.Key)
	bound := sha256.Sum256(key)
	if hex.EncodeToString(bound[:]) != commitment || hex.EncodeToString(sum.Commitment[:]) != commitment || want.Commitment != commitment ||
		!slices.Equal(key, a.ended().GetKey()) {
		t.Errorf("committed to %s; the key %s binds to %x, the record to %x, the result says %s", commitment, want.Key, bound, sum.Commitment, want.Commitment)
	}
	for seat, s := range sum.Seats {
		if p := want.Players[seat]; p.Score != s.Score || p.Claims != s.Claims || p.Wrong != s.Wrong || p.Forfeited != s.Forfeited ||
			uint32(s.Score) != a.ended().GetTable()[seat].GetScore() {
			t.Errorf("seat %d: the record gives %+v, the result has %+v, the end {%v}", seat, s, p, a.ended().GetTable()[seat])
		}
	}
	for _, at := range []int{4, len(got.Record) / 2, len(got.Record) - 1} {
		forged := slices.Clone(got.Record)
		forged[at] ^= 1
		if _, err := domain.Replay(forged, &domain.Output{}); err == nil {
			t.Errorf("byte %d is changed, and nobody notices", at)
		}
	}
	if _, err := on.client().GetRecord(t.Context(), signIn(t, on), id); client.ReasonOf(err) != "UNKNOWN_RESULT" {
		t.Errorf("a stranger is answered %v", err)
	}
}

// TestResultsAreTheServersOwn: nobody reads or writes what is stored but by the RPCs.
func TestResultsAreTheServersOwn(t *testing.T) {
	t.Parallel()
	on := shared(t)
	p := connect(t, on, asProtobuf)
	id := alone(t, on, p)
	result(t, on, p.user, id)
	wantScore(t, on, p.user, "set3d_wins", 0)
	for _, write := range [][2]string{
		{"/v2/leaderboard/set3d_wins", `{"score":"99"}`},
	} {
		if status, body := ask(t, on, http.MethodPost, write[0], write[1], bearer(p.user)); status < 400 {
			t.Errorf("%s is answered %d %s", write[0], status, body)
		}
	}
	for _, read := range []string{"set3d_stats/" + p.user.ID, "set3d_history/" + p.user.ID, "set3d_results", "set3d_records", "set3d_tables"} {
		if status, body := ask(t, on, http.MethodGet, "/v2/storage/"+read+"?limit=10", "", bearer(p.user)); status == http.StatusOK && strings.Contains(body, "collection") {
			t.Errorf("%s is shown: %s", read, body)
		}
	}
	status, body := ask(t, on, http.MethodPut, "/v2/storage",
		`{"objects":[{"collection":"set3d_stats","key":"stats","value":"{\"matches\":9,\"wins\":9}"}]}`, bearer(p.user))
	if s := statsOf(t, on, p.user, ""); status < 400 || s.Matches != 1 || s.Wins != 0 {
		t.Errorf("writing one's statistics is answered %d %s; they are %+v", status, body, s)
	}
	if e := p.call(&rtapi.Envelope{Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}}); e.GetPong() == nil {
		t.Errorf("the socket answers {%v}", e)
	}
}
