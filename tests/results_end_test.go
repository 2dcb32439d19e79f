package tests

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

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
