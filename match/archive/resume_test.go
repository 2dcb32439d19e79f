package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/archive"
)

// interrupted leaves a table behind as a process does that is killed.
func (c *cluster) interrupted(node string) *game {
	c.t.Helper()
	return c.interruptedAs("T", node)
}

func (c *cluster) interruptedAs(id, node string) *game {
	c.t.Helper()
	p := c.process(node)
	g := c.newGame(id).claim(0)
	p.Put(g.state(archive.Running), nil)
	p.waitStored()
	return g
}

// Twenty callers in two processes claim a table at once: one gets it, in the next incarnation; all others hear that it
// is elsewhere.
func TestOneClaims(t *testing.T) {
	for range 20 {
		c := newCluster(t, 2)
		c.interrupted("dead")
		processes := []*process{c.process("a"), c.process("b")}
		for _, p := range processes {
			if err := p.Lease(); err != nil {
				t.Fatal(err)
			}
		}
		var mu sync.Mutex
		var got []*archive.Table
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				table, err := processes[i%2].Claim("T", c.users[i/2%2])
				var elsewhere *archive.ElsewhereError
				if err != nil && !errors.As(err, &elsewhere) {
					t.Errorf("refused: %v", err)
				}
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, table)
				}
			})
		}
		all.Wait()
		if len(got) != 1 || got[0].Incarnation != 1 || got[0].MatchID != "" {
			t.Fatalf("claimed by %d: %+v", len(got), got)
		}
		var stored struct {
			Table archive.Table
			Owner struct{ Node string }
		}
		if !c.read("set3d_tables", "T", &stored) || stored.Table.Incarnation != 1 {
			t.Fatalf("stored %+v", stored)
		}
	}
}

// A table is claimed by who sits there, and only once it is interrupted.
func TestWhoMayClaim(t *testing.T) {
	c := newCluster(t, 2)
	a, b := c.process("a"), c.process("b")
	if err := errors.Join(a.Lease(), b.Lease()); err != nil {
		t.Fatal(err)
	}
	g := c.newGame("T").claim(0)
	a.Put(g.state(archive.Running), nil)
	a.waitStored()
	if _, err := b.Claim("T", c.user("eve")); !errors.Is(err, archive.ErrUnknownTable) {
		t.Errorf("eve: %v", err)
	}
	if _, err := b.Claim("none", c.users[0]); !errors.Is(err, archive.ErrUnknownTable) {
		t.Errorf("no table: %v", err)
	}
	var elsewhere *archive.ElsewhereError
	if _, err := b.Claim("T", c.users[0]); !errors.As(err, &elsewhere) || elsewhere.MatchID != "match-of-T" {
		t.Errorf("while a plays it: %v", err)
	}
	if _, err := a.Claim("T", c.users[0]); !errors.As(err, &elsewhere) {
		t.Errorf("while a itself plays it: %v", err)
	}
	a.Put(g.state(archive.Suspended), nil)
	a.waitStored()
	table, err := b.Claim("T", c.users[0])
	if err != nil || string(table.Record) != string(g.session.Record()) || string(table.Setup) == "" || table.SavedUnixMs == 0 {
		t.Fatalf("%+v, %v", table, err)
	}
	b.Put(c.goOn(table).end().state(archive.Ended), nil)
	b.waitStored()
	if _, err := a.Claim("T", c.users[0]); !errors.Is(err, archive.ErrOver) {
		t.Errorf("after the end: %v", err)
	}
	if tables, err := a.Interrupted(c.users[0]); err != nil || len(tables) != 0 {
		t.Errorf("after the end: %v, %v", tables, err)
	}
}

// A process that comes back from a long pause finds out that its table was taken over, by its next write; what it
// writes is not taken.
func TestPausedProcess(t *testing.T) {
	for _, next := range []archive.State{archive.Running, archive.Ended, archive.Suspended, archive.Aborted} {
		t.Run(string(next), func(t *testing.T) {
			c := newCluster(t, 2)
			paused := c.process("paused")
			g := c.newGame("T").claim(0)
			paused.Put(g.state(archive.Running), nil)
			paused.waitStored()
			b := c.process("b")
			table, err := b.Claim("T", c.users[0])
			if err != nil {
				t.Fatal(err)
			}
			if next == archive.Ended {
				g.end()
			}
			paused.Put(g.state(next), func() { t.Error("the paused process is told that it is stored") })
			eventually(t, func() bool { return len(paused.losses()) == 1 })
			paused.waitStored()
			b.Put(c.goOn(table).claim(1).claim(1).end().state(archive.Ended), nil)
			b.waitStored()
			c.wantSettled("T")
			if next != archive.Ended && next != archive.Aborted {
				paused.Put(g.state(archive.Running), func() { t.Error("told") }) // it has not closed the table yet
			}
			paused.waitStored()
			c.wantSettled("T")
			if n := len(paused.losses()); n != 1 {
				t.Errorf("lost %d times", n)
			}
			if paused.Suspend("T", 0); paused.Entries() != 0 {
				t.Error("the table stays in memory")
			}
		})
	}
}

// After a pause that was longer than its lease a process asks for its tables by itself.
func TestLateLease(t *testing.T) {
	c := newCluster(t, 2)
	paused := c.process("paused")
	if err := paused.Lease(); err != nil {
		t.Fatal(err)
	}
	paused.Put(c.newGame("T").claim(0).state(archive.Running), nil)
	kept := c.newGame("U").claim(0)
	paused.Put(kept.state(archive.Running), nil)
	paused.waitStored()
	c.write("set3d_nodes", "paused", `{"boot":"","until_unix_ms":0}`)
	b := c.process("b")
	if _, err := b.Claim("T", c.users[0]); err != nil {
		t.Fatal(err)
	}
	if err := paused.Lease(); err != nil {
		t.Fatal(err)
	}
	if paused.Counters().Waiting != 0 {
		t.Fatal("a lease in time makes work")
	}
	paused.LoseLease()
	if err := paused.Lease(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return fmt.Sprint(paused.losses()) == "[T]" })
	paused.waitStored()
	paused.Put(kept.claim(1).state(archive.Running), nil)
	paused.waitStored()
	if n := len(paused.losses()); n != 1 {
		t.Fatal("a table that is its own was given up")
	}
}

func (c *cluster) write(collection, key, value string) {
	c.t.Helper()
	if _, err := c.nk.StorageWrite(context.Background(), []*runtime.StorageWrite{{Collection: collection, Key: key, Value: value}}); err != nil {
		c.t.Fatal(err)
	}
}

// A process is believed to be alive until its lease runs out; one that has none, or one that another process of its
// name has, is not.
func TestLease(t *testing.T) {
	c := newCluster(t, 2)
	c.interrupted("a") // never leased
	b := c.process("b")
	claim := func() error {
		_, err := b.Claim("T", c.users[0])
		return err
	}
	a := c.process("a") // the same node after a restart
	if err := a.Lease(); err != nil {
		t.Fatal(err)
	}
	table, err := a.Claim("T", c.users[0])
	if err != nil || table.Incarnation != 1 {
		t.Fatalf("the same node does not get its table back: %v", err)
	}
	var elsewhere *archive.ElsewhereError
	if err := claim(); !errors.As(err, &elsewhere) {
		t.Fatalf("a is alive: %v", err)
	}
	var lease struct {
		Boot        string `json:"boot"`
		UntilUnixMs int64  `json:"until_unix_ms"`
	}
	if !c.read("set3d_nodes", "a", &lease) || time.Until(time.UnixMilli(lease.UntilUnixMs)) < 3*archive.LeaseEvery {
		t.Fatalf("lease %+v", lease)
	}
	boot := lease.Boot
	lease.UntilUnixMs = time.Now().Add(-time.Second).UnixMilli()
	raw, _ := json.Marshal(lease)
	c.write("set3d_nodes", "a", string(raw))
	if err := claim(); err != nil {
		t.Fatalf("a's lease has run out: %v", err)
	}
	if tables, err := b.Interrupted(c.users[0]); err != nil || len(tables) != 0 {
		t.Fatalf("b itself has it, and finds %v, %v", tables, err)
	}
	if tables, err := a.Interrupted(c.users[0]); err != nil || len(tables) != 0 {
		t.Fatalf("a does not know yet, and finds %v, %v", tables, err)
	}
	c.interruptedAs("U", "d")
	newer := c.process("d") // the lease is a newer process's of the same node: it says nothing of what the older one had
	if err := newer.Lease(); err != nil || boot == "" {
		t.Fatal(err)
	}
	if _, err := b.Claim("U", c.users[0]); err != nil {
		t.Fatalf("the older process of d is gone: %v", err)
	}
}

// A claim whose answer is lost leaves a table that its own process can claim again.
func TestAnswerOfAClaimIsLost(t *testing.T) {
	c := newCluster(t, 2)
	c.interrupted("dead")
	p := c.process("p")
	if err := p.Lease(); err != nil {
		t.Fatal(err)
	}
	p.link.set(nil, func(call call) error {
		if call.op == "write" {
			return errDead
		}
		return nil
	})
	if _, err := p.Claim("T", c.users[0]); !errors.Is(err, errDead) {
		t.Fatalf("claim: %v", err)
	}
	if p.Entries() != 0 {
		t.Error("a claim that failed stays in memory")
	}
	p.link.set(nil, nil)
	table, err := p.Claim("T", c.users[0])
	if err != nil || table.Incarnation != 2 {
		t.Fatalf("%+v, %v", table, err)
	}
	if _, err := p.Claim("T", c.users[0]); err == nil {
		t.Fatal("claimed twice")
	}
}

// A table whose match could not be made, or stopped without a word, is suspended, and can be claimed once that is
// stored.
func TestSuspendWhatHasStopped(t *testing.T) {
	c := newCluster(t, 2)
	c.interrupted("dead")
	p := c.process("p")
	for i := range uint32(3) {
		table, err := p.Claim("T", c.users[0])
		if err != nil || table.Incarnation != i+1 {
			t.Fatalf("claim %d: %+v, %v", i, table, err)
		}
		p.Suspend("T", table.Incarnation)
		p.waitStored()
		if p.Entries() != 0 {
			t.Fatal("a suspended table stays in memory")
		}
	}
}

// A sweep ends what nobody came back to, leaves what is alive or fresh, and is not stopped by what it cannot read.
func TestSweep(t *testing.T) {
	c := newCluster(t, 2)
	old := time.Now().Add(-2 * time.Hour).UnixMilli()
	dead, alive := c.process("dead"), c.process("alive")
	if err := alive.Lease(); err != nil {
		t.Fatal(err)
	}
	c.write("set3d_tables", "A", `{"format":99}`)
	c.write("set3d_tables", "B", `{"format":1,"owner":{"node":"strange"},"table":{"table_id":"B","state":"running","saved_unix_ms":9e15}}`)
	c.write("set3d_nodes", "strange", `{"boot":7}`)
	for id, p := range map[string]*process{"alive": alive, "fresh": dead, "gone": dead, "suspended": dead} {
		state := c.newGame(id).claim(0).state(archive.Running)
		if id != "fresh" {
			state.SavedUnixMs = old
		}
		if id == "suspended" {
			state.State = archive.Suspended
		}
		p.Put(state, nil)
		p.waitStored()
	}
	p := c.process("p")
	if err := p.Sweep(); err != nil {
		t.Fatal(err)
	}
	p.waitStored()
	if got := fmt.Sprint(c.stored("set3d_results", ""), c.stored("set3d_tables", "")); got != "[gone suspended] [A B alive fresh]" {
		t.Fatalf("results and tables: %s", got)
	}
	for _, id := range []string{"gone", "suspended"} {
		r, err := p.Result(id)
		if err != nil || r.Reason != "ABANDONED" || !r.Counted || r.EndedUnixMs != old || len(r.Winners) != 0 || r.Players[0].Rating != nil {
			t.Errorf("result %+v, %v", r, err)
		}
	}
	if p.Entries() != 0 {
		t.Errorf("%d entries stay in memory", p.Entries())
	}
}

// A table that cannot be swept does not keep the others from it, a database that is gone ends the sweep.
func TestSweepGoesOn(t *testing.T) {
	c := newCluster(t, 2)
	dead := c.process("dead")
	for i := range 9 {
		dead.Put(c.newGame(fmt.Sprintf("T%d", i)).claim(0).state(archive.Running), nil)
	}
	dead.waitStored()
	p := c.process("p", func(config *archive.Config) { config.ResumeWithin = -time.Hour })
	p.link.set(func(call call) error {
		if call.op == "write" && about("T3")(call) {
			return errors.New("refused")
		}
		return nil
	}, nil)
	if err := p.Sweep(); err == nil {
		t.Fatal("no error")
	}
	p.waitStored()
	if got := fmt.Sprint(c.stored("set3d_tables", "")); got != "[T3]" {
		t.Fatalf("left: %s", got)
	}
	gone := c.process("gone", func(config *archive.Config) { config.ResumeWithin = -time.Hour })
	gone.link.dieAt(2, false)
	if err := gone.Sweep(); err == nil || gone.link.count() > 6 {
		t.Fatalf("%v, after %d calls", err, gone.link.count())
	}
}

// Several processes sweep at once: each table is settled once.
func TestSweepTogether(t *testing.T) {
	c := newCluster(t, 2)
	dead := c.process("dead")
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprintf("T%02d", i))
		dead.Put(c.newGame(ids[i]).claim(0).state(archive.Running), nil)
	}
	dead.waitStored()
	var all sync.WaitGroup
	for i := range 4 {
		p := c.process(fmt.Sprint("p", i), func(config *archive.Config) { config.ResumeWithin = -time.Hour })
		if err := p.Lease(); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if err := p.Sweep(); err != nil {
				t.Error(err)
			}
			p.waitStored()
		})
	}
	all.Wait()
	c.wantSettled(ids...)
}
