package archive_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"set3d/domain"
	"set3d/match/archive"
)

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// putAndWait waits until a state is stored, which it notes, or the process has died.
func (p *process) putAndWait(t archive.Table) {
	p.t.Helper()
	told := make(chan struct{})
	p.Put(t, func() { close(told) })
	eventually(p.t, func() bool {
		c := p.Counters()
		return c.Waiting == 0 || c.Failures > 0
	})
	if p.Counters().Waiting == 0 {
		<-told
	}
	select {
	case <-told:
		p.told = claimsOf(p.t, t.Record)
	default:
	}
}

// claimsOf is how many claims a record holds.
func claimsOf(t testing.TB, record []byte) int {
	t.Helper()
	sum, err := domain.Summarize(record)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range sum.Seats {
		n += sum.Seats[i].Claims
	}
	return n
}

// life is all that happens to a table: it is played, checkpointed, suspended, resumed, and ends. Each step is a
// process's, which may die in it.
type life struct {
	name string
	run  func(c *cluster, p *process)
	// prepare is done before, by a process that does not die.
	prepare func(c *cluster)
}

func lives() []life {
	begun := func(state archive.State) func(c *cluster) {
		return func(c *cluster) {
			p := c.process("n")
			p.Put(c.newGame("T").claim(0).state(archive.Running), nil)
			p.waitStored()
			if state != archive.Running {
				p.Put(c.newGame("T").claim(0).claim(1).state(state), nil)
				p.waitStored()
			}
		}
	}
	return []life{
		{name: "played and ended", run: func(c *cluster, p *process) {
			g := c.newGame("T").claim(0)
			p.putAndWait(g.state(archive.Running))
			p.putAndWait(g.claim(1).state(archive.Running))
			p.putAndWait(g.end().state(archive.Ended))
		}},
		{name: "ended without a checkpoint", run: func(c *cluster, p *process) {
			p.putAndWait(c.newGame("T").claim(0).claim(1).end().state(archive.Ended))
		}},
		{name: "resumed after a crash", prepare: begun(archive.Running), run: resumeAndEnd},
		{name: "resumed after a suspension", prepare: begun(archive.Suspended), run: resumeAndEnd},
		{name: "suspended", prepare: begun(archive.Running), run: func(c *cluster, p *process) {
			if t, err := p.Claim("T", ""); err == nil {
				p.putAndWait(c.goOn(t).claim(1).state(archive.Suspended))
			}
		}},
		{name: "broken", run: func(c *cluster, p *process) {
			g := c.newGame("T").claim(0)
			p.putAndWait(g.state(archive.Running))
			p.putAndWait(g.state(archive.Aborted))
		}},
	}
}

func resumeAndEnd(c *cluster, p *process) {
	t, err := p.Claim("T", c.users[1])
	if err != nil {
		return
	}
	g := c.goOn(t)
	p.putAndWait(g.state(archive.Running))
	p.putAndWait(g.claim(1).end().state(archive.Ended))
}

// Whatever call of the database is a process's last, taken or not: the next process, of the same node or of another,
// finds what is left and brings it to one end.
func TestCrashAtEveryCall(t *testing.T) {
	for _, l := range lives() {
		for _, taken := range []bool{false, true} {
			for _, node := range []string{"n", "other"} {
				t.Run(fmt.Sprintf("%s, taken %t, then %s", l.name, taken, node), func(t *testing.T) { l.crash(t, taken, node) })
			}
		}
	}
}

func (l *life) crash(t *testing.T, taken bool, node string) {
	for n := 1; ; n++ {
		c := newCluster(t, 2)
		if l.prepare != nil {
			l.prepare(c)
		}
		first := c.process("n")
		first.link.dieAt(n, taken)
		l.run(c, first)
		died := first.link.count() >= n
		c.bringToAnEnd(node, first.told)
		if !died {
			if n < 2 {
				t.Fatal("nothing was called")
			}
			return // all calls were the last once
		}
		if t.Failed() {
			t.Fatalf("the process died at call %d", n)
		}
	}
}

// bringToAnEnd does what the processes after a crash do, and looks at what comes of it. So many claims were stored, as
// the dead process was told.
func (c *cluster) bringToAnEnd(node string, told int) {
	c.t.Helper()
	p := c.process(node)
	if err := p.Sweep(); err != nil {
		c.t.Fatal(err)
	}
	p.waitStored()
	found, err := p.Interrupted(c.users[0])
	if err != nil {
		c.t.Fatal(err)
	}
	table, err := p.Claim("T", c.users[0])
	if (err == nil) != (len(found) == 1) {
		c.t.Fatalf("%d interrupted tables are found, and the claim says %v", len(found), err)
	}
	switch {
	case err == nil:
		p.Put(c.goOn(table).claim(0).end().state(archive.Ended), nil)
		p.waitStored()
	case errors.Is(err, archive.ErrUnknownTable): // nothing was stored
	case !errors.Is(err, archive.ErrOver):
		c.t.Fatalf("the table is neither over nor can it be claimed: %v", err)
	}
	if err := p.Sweep(); err != nil {
		c.t.Fatal(err)
	}
	p.waitStored()
	if len(c.stored("set3d_results", "")) == 0 {
		if !errors.Is(err, archive.ErrUnknownTable) || told > 0 {
			c.t.Fatalf("there is no result: %v, after %d claims that were stored", err, told)
		}
		for _, collection := range []string{"set3d_tables", "set3d_terms", "set3d_players", "set3d_records"} {
			if left := c.stored(collection, ""); len(left) != 0 {
				c.t.Fatalf("without a result, %s has %v", collection, left)
			}
		}
		return
	}
	c.wantResult(told)
}

// wantResult wants the one result of the one table, which may have counted or not.
func (c *cluster) wantResult(told int) {
	c.t.Helper()
	p := c.process("reader")
	r, err := p.Result("T")
	if err != nil {
		c.t.Fatal(err)
	}
	record, err := p.Record(r)
	if err != nil || claimsOf(c.t, record) < told {
		c.t.Fatalf("%d of %d stored claims are there, %v", claimsOf(c.t, record), told, err)
	}
	if r.Counted {
		c.wantSettled("T")
		return
	}
	if r.Reason != "INTERNAL_ERROR" {
		c.t.Fatalf("%s does not count", r.Reason)
	}
	for _, userID := range c.users {
		if own := c.player(userID); own.Stats.Matches != 0 || len(own.Recent) != 1 {
			c.t.Fatalf("what is kept of a player is %+v", own)
		}
	}
	if left := fmt.Sprint(c.stored("set3d_tables", ""), c.stored("set3d_terms", ""), c.seats()); left != "[] [] []" {
		c.t.Fatalf("left behind: %s", left)
	}
}

// The same for a match that nobody comes back to: processes die while they settle it, one after the other, each at a
// later call.
func TestCrashesOfTheSweeper(t *testing.T) {
	for _, taken := range []bool{false, true} {
		c := newCluster(t, 2)
		p := c.process("n")
		p.Put(c.newGame("T").claim(0).state(archive.Running), nil)
		p.waitStored()
		forgetful := func(config *archive.Config) { config.ResumeWithin = -time.Hour }
		for n := 1; n < 60; n++ {
			sweeper := c.process("n", forgetful)
			sweeper.link.dieAt(n, taken)
			_ = sweeper.Sweep() // it dies in it
			eventually(t, func() bool { k := sweeper.Counters(); return k.Waiting == 0 || k.Failures > 0 })
		}
		last := c.process("n", forgetful)
		if err := last.Sweep(); err != nil {
			t.Fatal(err)
		}
		last.waitStored()
		r, err := last.Result("T")
		if err != nil || r == nil || r.Reason != "ABANDONED" || r.Players[0].Score != 1 {
			t.Fatalf("result %+v, %v", r, err)
		}
		c.wantSettled("T")
	}
}
