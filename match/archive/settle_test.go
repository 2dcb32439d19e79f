package archive_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"set3d/match/archive"
)

// Matches of the same players end at once, in two processes: none is lost, in statistics, ratings and leaderboards.
func TestNoUpdateIsLost(t *testing.T) {
	c := newCluster(t, 3)
	processes := []*process{c.process("a"), c.process("b")}
	var ids []string
	var start sync.WaitGroup
	start.Add(1)
	for i := range 40 {
		id := fmt.Sprintf("T%02d", i)
		ids = append(ids, id)
		g := c.newGame(id).claim(i % 3).end()
		go func() {
			start.Wait()
			processes[i%2].Put(g.state(archive.Ended), nil)
		}()
	}
	start.Done()
	for _, p := range processes {
		eventually(t, func() bool { return p.Counters().Results == 20 }, func() any { return p.Counters() })
		p.waitStored()
		if p.Entries() != 0 {
			t.Errorf("%d entries stay in memory", p.Entries())
		}
	}
	c.wantSettled(ids...)
}

// Two processes settle the same table: there is one result, and it counts once.
func TestTwoSettleTheSameTable(t *testing.T) {
	for i := range 20 {
		c := newCluster(t, 2)
		a := c.process("a")
		g := c.newGame("T").claim(0)
		a.Put(g.state(archive.Running), nil)
		a.waitStored()
		b := c.process("b", func(config *archive.Config) { config.ResumeWithin = -time.Hour })
		ended := g.claim(1).end().state(archive.Ended)
		swept := make(chan error)
		go func() { swept <- b.Sweep() }()
		time.Sleep(time.Duration(i*20) * time.Microsecond)
		a.Put(ended, nil)
		if err := <-swept; err != nil {
			t.Fatal(err)
		}
		a.waitStored()
		b.waitStored()
		c.wantSettled("T")
		r, err := a.Result("T")
		if err != nil {
			t.Fatal(err)
		}
		if abandoned := r.Reason == "ABANDONED"; abandoned != (len(a.losses()) == 1) {
			t.Fatalf("the result is %s, and a has lost %v", r.Reason, a.losses())
		}
	}
}

// A process that comes too late does not take its own end for the stored one.
func TestAnotherResultIsNotOurs(t *testing.T) {
	c := newCluster(t, 2)
	a := c.process("a")
	g := c.newGame("T").claim(0)
	a.Put(g.state(archive.Running), nil)
	a.waitStored()
	b := c.process("b", func(config *archive.Config) { config.ResumeWithin = -time.Hour })
	if err := b.Sweep(); err != nil {
		t.Fatal(err)
	}
	b.waitStored()
	told := false
	a.Put(g.claim(1).end().state(archive.Ended), func() { told = true })
	a.waitStored()
	eventually(t, func() bool { return len(a.losses()) == 1 })
	if told {
		t.Fatal("a is told that its end is stored")
	}
	if r, err := a.Result("T"); err != nil || r.Reason != "ABANDONED" {
		t.Fatalf("result %+v, %v", r, err)
	}
	c.wantSettled("T")
}

func (c *cluster) deleteAccount(userID string) {
	c.t.Helper()
	if err := c.nk.AccountDeleteId(context.Background(), userID, false); err != nil {
		c.t.Fatal(err)
	}
}

// A player whose account is gone breaks neither checkpoints nor the result of the others.
func TestDeletedPlayer(t *testing.T) {
	for _, when := range []string{"before the checkpoint", "before the end"} {
		t.Run(when, func(t *testing.T) {
			c := newCluster(t, 3)
			p := c.process("n")
			g := c.newGame("T").claim(0).claim(2)
			if when == "before the checkpoint" {
				c.deleteAccount(c.users[2])
			}
			p.Put(g.state(archive.Running), nil)
			p.waitStored()
			if when == "before the end" {
				c.deleteAccount(c.users[2])
			}
			p.Put(g.end().state(archive.Ended), nil)
			p.waitStored()
			r, err := p.Result("T")
			if err != nil {
				t.Fatal(err)
			}
			gone := r.Players[2]
			if gone.UserID != "" || !gone.Deleted || gone.Name != "deleted player" || gone.Score == 0 {
				t.Errorf("who is gone is %+v", gone)
			}
			if r.Players[0].Rating == nil || r.Players[1].Rating == nil || gone.Rating != nil {
				t.Errorf("ratings of %+v", r.Players)
			}
			deleted := c.users[2]
			c.users = c.users[:2]
			c.wantSettled("T")
			if c.score("set3d_wins", deleted) != -1 {
				t.Error("who is gone is on a leaderboard")
			}
		})
	}
}

// Nothing of what was stored lasts longer than an account that is deleted while it is stored, at whatever call the
// deletion begins, and whether it ends at once or later.
func TestAccountIsDeletedWhileItsResultIsWritten(t *testing.T) {
	for _, late := range []bool{false, true} {
		n := 1
		for deleteAtCall(t, n, late) {
			n++
		}
	}
}

// deleteAtCall deletes an account at a call of a settlement; false if there are not so many.
func deleteAtCall(t *testing.T, n int, late bool) bool {
	c := newCluster(t, 2)
	p := c.process("n")
	leaver := c.users[1]
	g := c.newGame("T").claim(1)
	p.Put(g.state(archive.Running), nil)
	p.waitStored()
	gone := make(chan error, 1)
	leave := func() error {
		c.deleteAccount(leaver)
		return p.FinishForget(leaver)
	}
	p.link.set(func(call call) error {
		if call.n != n {
			return nil
		}
		if err := p.PrepareForget(leaver); err != nil || !late {
			gone <- errors.Join(err, leave())
			return nil
		}
		go func() {
			eventually(t, func() bool { k := p.Counters(); return k.Failures > 0 || k.Waiting == 0 })
			gone <- leave()
		}()
		return nil
	}, nil)
	p.Put(g.end().state(archive.Ended), nil)
	p.waitStored()
	if p.link.count() < n {
		return false
	}
	if err := <-gone; err != nil {
		t.Fatal(err)
	}
	p.waitStored()
	c.wantNothingOf(leaver, "player1", fmt.Sprintf("deleted at call %d, late %t", n, late))
	if r, err := p.Result("T"); err != nil || r.Players[1].Score < 1 {
		t.Fatalf("call %d: result %+v, %v", n, r, err)
	}
	return true
}

// wantNothingOf fails if anything that is stored names a user.
func (c *cluster) wantNothingOf(userID, name, when string) {
	c.t.Helper()
	for _, collection := range []string{
		"set3d_results", "set3d_tables", "set3d_terms", "set3d_players", "set3d_pages", "set3d_forget", "set3d_records", "set3d_reports", "set3d_set_aside",
	} {
		objects, _, err := c.nk.StorageList(context.Background(), "", "", collection, 100, "")
		if err != nil {
			c.t.Fatal(err)
		}
		for _, o := range objects {
			if o.UserId == userID || strings.Contains(o.Key, userID) || strings.Contains(o.Value, userID) || strings.Contains(o.Value, name) {
				c.t.Fatalf("%s: %s/%s still has %s", when, collection, o.Key, o.Value)
			}
		}
	}
	for _, board := range []string{"set3d_wins", "set3d_sets", "set3d_rating", "set3d_fastest"} {
		if c.score(board, userID) != -1 {
			c.t.Fatalf("%s: still on %s", when, board)
		}
	}
}

// A match whose record cannot be read, or whose bytes were changed, ends all the same, counts for nothing and stays
// nowhere.
func TestUnreadableRecord(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	state := c.newGame("T").claim(0).end().state(archive.Ended)
	state.Record[len(state.Record)/2] ^= 1
	p.Put(state, nil)
	none := c.newGame("U").state(archive.Ended)
	none.Record = nil
	p.Put(none, nil)
	p.waitStored()
	for _, id := range []string{"T", "U"} {
		r, err := p.Result(id)
		if err != nil || r.Reason != "INTERNAL_ERROR" || r.Counted || len(r.Players) != 2 || r.Players[1].UserID != c.users[1] || r.Winners == nil {
			t.Fatalf("result %+v, %v", r, err)
		}
	}
	if left := fmt.Sprint(c.stored("set3d_tables", ""), c.player(c.users[0]).Stats.Matches, p.Entries()); left != "[] 0 0" {
		t.Fatalf("left: %s", left)
	}
	if log := strings.Join(p.log.all(), "\n"); !strings.Contains(log, "ERROR the record of table T") || !strings.Contains(log, "ERROR the record of table U") {
		t.Fatalf("log %s", log)
	}
	for _, userID := range c.users {
		if results, _, err := p.History(userID, 10, ""); err != nil || len(results) != 2 {
			t.Fatalf("history of %d, %v", len(results), err)
		}
	}
}

// What counts for the statistics, and what for the rating.
func TestWhatCounts(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	put := func(id string, change func(*archive.Table)) {
		g := c.newGame(id).claim(0)
		state := g.end().state(archive.Ended)
		change(&state)
		p.Put(state, nil)
	}
	put("broken", func(t *archive.Table) { t.State = archive.Aborted })
	put("practice", func(t *archive.Table) { t.Counts = false })
	put("friends", func(t *archive.Table) { t.Ranked = false })
	put("ranked", func(*archive.Table) {})
	put("bots", func(t *archive.Table) { t.Seats[1].UserID, t.Seats[1].Bot = "", "easy" })
	p.waitStored()
	for id, want := range map[string]string{
		"broken": "false false", "practice": "false false", "friends": "true false", "ranked": "true true", "bots": "true false",
	} {
		r, err := p.Result(id)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Counted, r.Players[0].Rating != nil); got != want {
			t.Errorf("%s: counted and rated %s, want %s", id, got, want)
		}
	}
	s, err := p.Stats(c.users[0])
	if err != nil || s.Matches != 3 || s.Ranked != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
}

// Leaderboards follow from the statistics, and can be made right again whatever they show.
func TestRepairLeaderboards(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	p.Put(c.newGame("T").claim(0).end().state(archive.Ended), nil)
	p.waitStored()
	stranger, ctx := c.user("stranger"), context.Background()
	for _, board := range []string{"set3d_wins", "set3d_sets", "set3d_rating", "set3d_fastest"} {
		for _, userID := range append([]string{stranger}, c.users...) {
			if _, err := c.nk.LeaderboardRecordWrite(ctx, board, userID, "", 987, 0, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, err := p.RepairLeaderboards(); err != nil || n != 2 {
		t.Fatalf("%d, %v", n, err)
	}
	c.wantSettled("T")
	for _, userID := range append([]string{stranger}, c.users...) {
		if c.score("set3d_fastest", userID) != -1 {
			t.Error("there was no timed match")
		}
	}
	if c.score("set3d_sets", stranger) != -1 {
		t.Error("who never played stays on a leaderboard")
	}
}

// A leaderboard never ends up with older statistics than another process has shown.
func TestOldStatisticsAreNotShownLast(t *testing.T) {
	c := newCluster(t, 2)
	slow, fast := c.process("slow"), c.process("fast")
	reached, held := make(chan struct{}, 100), newGate()
	slow.link.set(func(call call) error {
		if call.op == "board" {
			reached <- struct{}{}
			<-held.open
		}
		return nil
	}, nil)
	slow.Put(c.newGame("T1").claim(0).end().state(archive.Ended), nil)
	<-reached // it has read the statistics of one match
	fast.Put(c.newGame("T2").claim(0).end().state(archive.Ended), nil)
	fast.waitStored()
	close(held.open)
	slow.waitStored()
	c.wantSettled("T1", "T2")
}

// The transaction is one: a result without statistics cannot be.
func TestSettlementIsOneTransaction(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	var keys string
	p.link.set(func(call call) error {
		if call.op == "multi" {
			keys = call.keys
		}
		return nil
	}, nil)
	p.Put(c.newGame("T").claim(0).end().state(archive.Ended), nil)
	p.waitStored()
	for _, collection := range []string{"set3d_results/T ", "set3d_records/", "set3d_players/" + c.users[1], "set3d_tables/T "} {
		if !strings.Contains(keys, collection) {
			t.Errorf("%s is not in the transaction: %s", collection, keys)
		}
	}
}
