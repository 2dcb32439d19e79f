package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/archive"
)

// everything is all that the system owns about users, to compare.
func (c *cluster) everything() string {
	c.t.Helper()
	var all strings.Builder
	for _, collection := range []string{"set3d_players", "set3d_pages", "set3d_results", "set3d_set_aside"} {
		objects, _, err := c.nk.StorageList(context.Background(), "", "00000000-0000-0000-0000-000000000000", collection, 1_000, "")
		if err != nil {
			c.t.Fatal(err)
		}
		for _, o := range objects {
			_, _ = fmt.Fprintf(&all, "%s/%s = %s\n", collection, o.Key, o.Value)
		}
	}
	return all.String()
}

func (c *cluster) remove(collection string, keys ...string) {
	c.t.Helper()
	for _, key := range keys {
		if err := c.nk.StorageDelete(context.Background(), []*runtime.StorageDelete{{Collection: collection, Key: key}}); err != nil {
			c.t.Fatal(err)
		}
	}
}

// old makes of what is stored what an earlier version would have left: no format, no objects of the server's about
// players.
func (c *cluster) old() {
	c.t.Helper()
	c.remove("set3d_meta", "format")
	c.remove("set3d_players", c.stored("set3d_players", "")...)
	c.remove("set3d_pages", c.stored("set3d_pages", "")...)
}

// difference is the first line in which two texts differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		x, y := "nothing", "nothing"
		if i < len(g) {
			x = g[i]
		}
		if i < len(w) {
			y = w[i]
		}
		if x != y {
			return fmt.Sprintf("got  %.1000s\nwant %.1000s", x, y)
		}
	}
	return ""
}

// played leaves matches of two and three players, with histories of more than a page, and an interrupted table.
func played(t *testing.T) *cluster {
	c := newCluster(t, 3)
	p := c.process("n")
	at := int64(1_700_000_000_000)
	end := func(id string, winner int) {
		state := c.newGame(id).claim(winner).claim(winner).end().state(archive.Ended)
		at += 1_000
		state.SavedUnixMs = at
		p.Put(state, nil)
		p.waitStored()
	}
	for i := range 27 {
		end(fmt.Sprintf("Z%02d", 30-i), i%3) // the order of the ids is not the order of the ends
	}
	c.users, c.names = c.users[:2], c.names[:2]
	end("A", 0)
	end("B", 1)
	p.Put(c.newGame("I").claim(0).state(archive.Suspended), nil)
	p.waitStored()
	return c
}

// From the results alone an upgrade makes what the matches have left when they ended, whatever users have forged
// meanwhile, and the same again however often it is repeated.
func TestUpgrade(t *testing.T) {
	c := played(t)
	want := c.everything()
	c.old()
	for _, userID := range c.users {
		c.forgeEverything(userID, "A", "I")
		c.remove("set3d_meta", "format")
	}
	if _, err := c.nk.LeaderboardRecordWrite(context.Background(), "set3d_rating", c.users[0], "", 4540, 0, nil, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p := c.process("n")
		if err := errors.Join(p.Upgrade(context.Background()), p.FinishUpgrade()); err != nil {
			t.Fatal(err)
		}
		if got := c.everything(); got != want {
			t.Fatalf("after the upgrade:\n%s", difference(got, want))
		}
		if s, err := p.Stats(c.users[0]); err != nil || c.score("set3d_rating", c.users[0]) != int64(s.Rating()) {
			t.Fatalf("the leaderboard shows %d, %v", c.score("set3d_rating", c.users[0]), err)
		}
		c.remove("set3d_meta", "format")
	}
	if tables, err := c.process("n").Interrupted(c.users[0]); err != nil || len(tables) != 1 {
		t.Fatalf("%v, %v", tables, err)
	}
}

// A rating that a result shows because of forged statistics is computed anew too.
func TestUpgradeCorrectsShownRatings(t *testing.T) {
	c := played(t)
	want := c.everything()
	var r archive.Result
	c.read("set3d_results", "Z30", &r)
	honest := *r.Players[0].Rating
	r.Players[0].Rating = &archive.RatingChange{Before: 4540, After: 4541, Change: 1}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	c.write("set3d_results", "Z30", string(raw))
	c.old()
	if err := c.process("n").Upgrade(context.Background()); err != nil {
		t.Fatal(err)
	}
	if c.read("set3d_results", "Z30", &r); *r.Players[0].Rating != honest {
		t.Errorf("shown %+v, want %+v", r.Players[0].Rating, honest)
	}
	if got := c.everything(); got != want {
		t.Errorf("after the upgrade:\n%s", difference(got, want))
	}
}

// Those whose data was deleted stay deleted, and count as newcomers for the ratings of the others.
func TestUpgradeWithDeletedPlayers(t *testing.T) {
	c := newCluster(t, 3)
	p := c.process("n")
	c.settled(p, "S", "T")
	gone := c.users[2]
	c.deleteAccount(gone)
	if err := errors.Join(p.PrepareForget(gone), p.FinishForget(gone)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c.old()
		if err := c.process("n").Upgrade(context.Background()); err != nil {
			t.Fatal(err)
		}
		c.wantNothingOf(gone, "player2", "upgraded")
		for _, userID := range c.users[:2] {
			if s, err := p.Stats(userID); err != nil || s.Matches != 2 || s.Ranked != 2 {
				t.Fatalf("%+v, %v", s, err)
			}
		}
	}
}

// A process dies at whatever call of an upgrade: the next one brings it to the same end.
func TestCrashOfAnUpgrade(t *testing.T) {
	for _, taken := range []bool{false, true} {
		c := played(t)
		want := c.everything()
		for n := 1; ; n++ {
			c.old()
			p := c.process("n")
			p.link.dieAt(n, taken)
			_ = p.Upgrade(context.Background()) // it dies in it
			died := p.link.count() >= n
			if err := c.process("n").Upgrade(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := c.everything(); got != want {
				t.Fatalf("died at call %d, taken %t:\n%s", n, taken, difference(got, want))
			}
			if !died {
				break
			}
		}
	}
}

// Data of a newer version is left alone, and so is data that another process is just upgrading; a process that died at
// it is not waited for for ever.
func TestWhoMayUpgrade(t *testing.T) {
	soon, past := time.Now().Add(time.Minute).UnixMilli(), time.Now().Add(-time.Second).UnixMilli()
	for name, row := range map[string]struct {
		meta string
		want error
	}{
		"newer format":        {`{"format":3,"rating_formula":1}`, archive.ErrNewerData},
		"newer formula":       {`{"format":2,"rating_formula":2}`, archive.ErrNewerData},
		"another process":     {fmt.Sprintf(`{"upgraded_by":"other","until_unix_ms":%d}`, soon), archive.ErrUpgrading},
		"a dead process":      {fmt.Sprintf(`{"upgraded_by":"other","until_unix_ms":%d}`, past), nil},
		"the same node":       {fmt.Sprintf(`{"upgraded_by":"n","until_unix_ms":%d}`, soon), nil},
		"this version":        {`{"format":2,"rating_formula":1,"boards":true}`, nil},
		"an earlier formula":  {`{"format":2,"rating_formula":0}`, nil},
		"one with no history": {`{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := played(t)
			want := c.everything()
			c.write("set3d_meta", "format", row.meta)
			err := c.process("n").Upgrade(context.Background())
			if !errors.Is(err, row.want) {
				t.Fatalf("%v, want %v", err, row.want)
			}
			var meta struct{ Format int }
			if c.read("set3d_meta", "format", &meta); err == nil && meta.Format != 2 {
				t.Errorf("format %d", meta.Format)
			}
			if got := c.everything(); got != want {
				t.Errorf("now:\n%s", difference(got, want))
			}
		})
	}
	c := played(t)
	c.write("set3d_meta", "format", `{"format":"two"}`)
	if err := c.process("n").Upgrade(context.Background()); err == nil {
		t.Error("a mark that cannot be read is overwritten")
	}
	c.old()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.process("n").Upgrade(over); !errors.Is(err, context.Canceled) {
		t.Errorf("when the time is over: %v", err)
	}
	var r archive.Result
	c.read("set3d_results", "A", &r)
	r.RatingFormula = 9
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	c.write("set3d_results", "A", string(raw))
	if err := c.process("n").Upgrade(context.Background()); !errors.Is(err, archive.ErrNewerData) {
		t.Errorf("a result of a newer formula: %v", err)
	}
}

// Of two processes that begin an upgrade at the same moment one does it; the other one gives up, and nothing it writes
// comes later.
func TestTwoUpgradeAtOnce(t *testing.T) {
	c := played(t)
	want := c.everything()
	c.old()
	first, second := c.process("first"), c.process("second")
	reached, held := make(chan struct{}), newGate()
	first.link.set(func(call call) error {
		if call.n == 2 { // it has read that nothing is upgraded, and is about to say that it is at it
			close(reached)
			<-held.open
		}
		return nil
	}, nil)
	done := make(chan error)
	go func() { done <- first.Upgrade(context.Background()) }()
	<-reached
	if err := second.Upgrade(context.Background()); err != nil {
		t.Fatal(err)
	}
	close(held.open)
	if err := <-done; !errors.Is(err, archive.ErrUpgrading) {
		t.Fatalf("the first: %v", err)
	}
	if got := c.everything(); got != want {
		t.Errorf("now:\n%s", difference(got, want))
	}
}

// A damaged result costs an upgrade no more than itself, and a player's part that was set aside is counted by it.
func TestUpgradePastBadObjects(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	c.write("set3d_players", c.users[0], `{"stats":7}`)
	c.settled(p, "T")
	c.write("set3d_results", "U", `{"players":7}`)
	c.remove("set3d_meta", "format")
	if err := p.Upgrade(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := p.FinishUpgrade(); err != nil {
		t.Fatal(err)
	}
	c.remove("set3d_results", "U")
	c.wantSettled("T")
}
