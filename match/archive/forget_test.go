package archive_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"set3d/match/archive"
)

func (c *cluster) settled(p *process, ids ...string) {
	c.t.Helper()
	for _, id := range ids {
		p.Put(c.newGame(id).claim(0).end().state(archive.Ended), nil)
	}
	p.waitStored()
}

// Forget takes a user out of everything, and leaves the others as they were.
func TestForget(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	c.settled(p, "T", "U")
	r, err := p.Result("T")
	if err != nil {
		t.Fatal(err)
	}
	for seat, userID := range c.users {
		report := archive.Report{UserID: userID, From: seat, Seat: 1 - seat, Reason: "abuse", Text: "says player" + fmt.Sprint(seat), UnixMs: 1}
		if err := errors.Join(p.Report(r, report), p.Report(r, report)); err != nil {
			t.Fatal(err)
		}
	}
	leaver, other := c.users[1], c.users[0]
	if err := p.Forget(leaver); err != nil {
		t.Fatal(err)
	}
	c.wantNothingOf(leaver, "player1", "forgotten")
	if s, err := p.Stats(leaver); err != nil || s.Matches != 0 || s.Rating() != 1000 {
		t.Errorf("statistics %+v, %v", s, err)
	}
	if s, err := p.Stats(other); err != nil || s.Matches != 2 || c.score("set3d_wins", other) != 2 {
		t.Errorf("the other has %+v, %v", s, err)
	}
	r, err = p.Result("T")
	if err != nil || r.PlayerOf(other) == nil || r.PlayerOf(leaver) != nil || !r.Players[1].Deleted {
		t.Fatalf("result %+v, %v", r, err)
	}
	reports, err := p.Reports(r)
	if err != nil || len(reports) != 2 || reports[0].UserID != other || reports[0].Text == "" || reports[1].UserID != "" || reports[1].Reason != "abuse" {
		t.Fatalf("reports %+v, %v", reports, err)
	}
	if err := p.Forget(leaver); err != nil {
		t.Fatalf("twice: %v", err)
	}
	c.settled(p, "V") // who stays plays on
	if s, err := p.Stats(leaver); err != nil || s.Matches != 1 {
		t.Fatalf("after a new match: %+v, %v", s, err)
	}
}

func TestForgetWaitsForResults(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	held := newGate()
	p.link.set(held.hold(func(call call) bool { return call.op == "multi" }), nil)
	p.Put(c.newGame("T").claim(0).end().state(archive.Ended), nil)
	if err := p.Forget(c.users[0]); !errors.Is(err, archive.ErrBusy) {
		t.Fatalf("forgotten while a result is written: %v", err)
	}
	if err := p.Forget(c.user("eve")); err != nil {
		t.Fatalf("eve has nothing to do with it: %v", err)
	}
	close(held.open)
	p.waitStored()
	if err := p.Forget(c.users[0]); err != nil {
		t.Fatal(err)
	}
	c.wantNothingOf(c.users[0], "player0", "forgotten")
}

// The process dies at whatever call of a deletion: what was begun is finished by the sweep, and an account that stayed
// keeps its data.
func TestCrashWhileAnAccountIsDeleted(t *testing.T) {
	for n := 1; ; n++ {
		c := newCluster(t, 2)
		p := c.process("n")
		c.settled(p, "T", "U")
		leaver := c.users[1]
		p.link.dieAt(n, n%2 == 0)
		if p.PrepareForget(leaver) == nil {
			c.deleteAccount(leaver)
			_ = p.FinishForget(leaver) // it dies in it
		}
		died := p.link.count() >= n
		after := c.process("n")
		c.age("set3d_forget", leaver)
		if err := after.Sweep(); err != nil {
			t.Fatal(err)
		}
		users, err := c.nk.UsersGetId(context.Background(), []string{leaver}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(users) == 0 {
			c.wantNothingOf(leaver, "player1", fmt.Sprintf("died at call %d", n))
		} else {
			c.wantSettled("T", "U")
			if tasks := c.stored("set3d_forget", ""); len(tasks) != 0 {
				t.Fatalf("tasks are left: %v", tasks)
			}
		}
		if !died {
			return
		}
	}
}

// age makes a task old enough for the sweep.
func (c *cluster) age(collection, key string) {
	c.t.Helper()
	var task map[string]any
	if c.read(collection, key, &task) {
		c.write(collection, key, fmt.Sprintf(`{"user_id":%q,"unix_ms":1}`, key))
	}
}

// A deletion that has just begun is not swept away, and one that cannot be read stops nothing.
func TestSweepOfDeletions(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	c.settled(p, "T")
	c.write("set3d_forget", "0", `{"user_id":7}`)
	if err := p.PrepareForget(c.users[0]); err != nil {
		t.Fatal(err)
	}
	c.deleteAccount(c.users[0])
	if err := p.Sweep(); err != nil {
		t.Fatal(err)
	}
	if got := len(c.stored("set3d_forget", "")); got != 2 {
		t.Fatalf("%d tasks", got)
	}
	c.age("set3d_forget", c.users[0])
	if err := p.Sweep(); err != nil {
		t.Fatal(err)
	}
	c.wantNothingOf(c.users[0], "player0", "swept")
}

// Records and the reports about them go after their time, results stay.
func TestRetention(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n", func(config *archive.Config) { config.KeepRecords = 10 * 24 * time.Hour })
	for i := range 120 {
		state := c.newGame(fmt.Sprintf("T%03d", i)).claim(0).end().state(archive.Ended)
		state.SavedUnixMs -= int64(i) * 24 * 60 * 60 * 1000
		p.Put(state, nil)
	}
	p.waitStored()
	for _, id := range []string{"T003", "T040"} {
		r, err := p.Result(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Report(r, archive.Report{UserID: c.users[0], Seat: 1, Reason: "name"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Sweep(); err != nil {
		t.Fatal(err)
	}
	if n := len(c.stored("set3d_records", "")); n != 11 && n != 10 {
		t.Errorf("%d records are left", n)
	}
	if got := c.stored("set3d_reports", ""); len(got) != 1 || !strings.HasSuffix(got[0], "T003") {
		t.Errorf("reports %v", got)
	}
	if n := len(c.stored("set3d_results", "")); n != 120 {
		t.Errorf("%d results", n)
	}
	old, err := p.Result("T040")
	if err != nil {
		t.Fatal(err)
	}
	if record, err := p.Record(old); err != nil || record != nil {
		t.Errorf("an old record is there: %v", err)
	}
	if e, err := p.Export(old, c.users[0]); err != nil || e.Record != nil || e.Result.Players[0].UserID != c.users[0] || e.Result.Players[1].UserID != "" {
		t.Errorf("export %+v, %v", e, err)
	}
}

// A history is paged, the newest first.
func TestHistory(t *testing.T) {
	c := newCluster(t, 1)
	p := c.process("n")
	for i := range 25 {
		state := c.newGame(fmt.Sprintf("T%02d", i)).claim(0).end().state(archive.Ended)
		state.SavedUnixMs = int64(1_700_000_000_000 + i)
		p.Put(state, nil)
	}
	p.waitStored()
	want, cursor := 24, ""
	for page := 0; page == 0 || cursor != ""; page++ {
		results, next, err := p.History(c.users[0], 10, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.ResultID != fmt.Sprintf("T%02d", want) {
				t.Fatalf("%s, want T%02d", r.ResultID, want)
			}
			want--
		}
		cursor = next
	}
	if want != -1 {
		t.Fatalf("%d are missing", want+1)
	}
	if _, _, err := p.History(c.users[0], 10, "no cursor"); !archive.IsBadCursor(err) {
		t.Errorf("a bad cursor: %v", err)
	}
}

// An export has what is stored about a player, and of the others only what they did.
func TestExport(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	c.settled(p, "T")
	r, err := p.Result("T")
	if err != nil {
		t.Fatal(err)
	}
	for seat, userID := range c.users {
		if err := p.Report(r, archive.Report{UserID: userID, From: seat, Seat: 1 - seat, Reason: "idle"}); err != nil {
			t.Fatal(err)
		}
	}
	e, err := p.Export(r, c.users[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Reports) != 1 || e.Reports[0].From != 0 || claimsOf(t, e.Record) < 2 {
		t.Errorf("export %+v", e)
	}
	if me, other := e.Result.Players[0], e.Result.Players[1]; me.UserID != c.users[0] || other.UserID != "" || other.Name == "player1" || other.Score != r.Players[1].Score {
		t.Errorf("players %+v", e.Result.Players)
	}
	if r.Players[1].UserID == "" {
		t.Error("the result itself was changed")
	}
}

// A deletion that was begun and not finished, because whoever asked for it hung up, holds up nobody's result.
func TestDeletionThatWasBegunHoldsNothingUp(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	if err := p.PrepareForget(c.users[1]); err != nil {
		t.Fatal(err)
	}
	c.settled(p, "T")
	if k := p.Counters(); k.Failures != 0 {
		t.Fatalf("counters %+v", k)
	}
	c.age("set3d_forget", c.users[1])
	if err := p.Sweep(); err != nil || len(c.stored("set3d_forget", "")) != 0 {
		t.Fatalf("%v, %v", err, c.stored("set3d_forget", ""))
	}
	c.wantSettled("T")
}

// A match that is settled while a user is being forgotten is forgotten too, at whatever call it is settled.
func TestSettledWhileForgetting(t *testing.T) {
	for n := 1; ; n++ {
		c := newCluster(t, 2)
		p, other := c.process("n"), c.process("m")
		c.settled(p, "S")
		reached := false
		p.link.set(func(call call) error {
			if call.n == n {
				reached = true
				c.settled(other, "T")
			}
			return nil
		}, nil)
		if err := p.Forget(c.users[1]); err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
		if !reached {
			return
		}
		own := c.player(c.users[1])
		if r, err := p.Result("T"); err != nil || (r.PlayerOf(c.users[1]) == nil) != (len(own.Recent) == 0) {
			t.Fatalf("call %d: the result names %+v, the history has %d, %v", n, r.Players[1], len(own.Recent), err)
		}
		if r, err := p.Result("S"); err != nil || !r.Players[1].Deleted {
			t.Fatalf("call %d: %+v, %v", n, r, err)
		}
	}
}

// Deletions whose sweep fails keep no other from being done.
func TestOneDeletionThatFails(t *testing.T) {
	c := newCluster(t, 3)
	p := c.process("n")
	c.settled(p, "T")
	for _, userID := range c.users[:2] {
		if err := p.PrepareForget(userID); err != nil {
			t.Fatal(err)
		}
		c.deleteAccount(userID)
		c.age("set3d_forget", userID)
	}
	first := sorted(c.users[:2])[0]
	p.link.set(func(call call) error {
		if call.op == "read" && strings.HasSuffix(call.keys, "set3d_players/"+first+" ") {
			return errDead
		}
		return nil
	}, nil)
	if err := p.Sweep(); err == nil {
		t.Error("no error")
	}
	if left := c.stored("set3d_forget", ""); len(left) != 1 || left[0] != first {
		t.Errorf("tasks %v", left)
	}
}

// A process that dies after the player's object was removed, or before, leaves no page of the history to nobody.
func TestCrashWhileALongHistoryIsForgotten(t *testing.T) {
	for n := range 6 { // the calls around the one that removes the player's object
		c := newCluster(t, 1)
		p := c.process("n")
		for i := range 30 {
			c.settled(p, fmt.Sprintf("T%02d", i))
		}
		gone := c.users[0]
		if err := p.PrepareForget(gone); err != nil {
			t.Fatal(err)
		}
		c.deleteAccount(gone)
		left := n
		deleting := false
		p.link.set(func(call call) error {
			if deleting = deleting || call.op == "delete"; deleting {
				left--
			}
			return unless(left >= 0)
		}, nil)
		_ = p.FinishForget(gone) // it dies in it
		c.age("set3d_forget", gone)
		if err := c.process("n").Sweep(); err != nil {
			t.Fatal(err)
		}
		c.wantNothingOf(gone, "player0", fmt.Sprintf("died after %d calls", n))
	}
}
