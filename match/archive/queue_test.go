package archive_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"set3d/match/archive"
)

// gate lets calls wait until it is opened.
type gate struct{ open chan struct{} }

func newGate() *gate { return &gate{make(chan struct{})} }

func (g *gate) hold(which func(call) bool) func(call) error {
	return func(c call) error {
		if which(c) {
			<-g.open
		}
		return nil
	}
}

func about(key string) func(call) bool {
	return func(c call) bool { return strings.Contains(c.keys, "/"+key+" ") }
}

// Many tables are written in few transactions, each with its newest state.
func TestCheckpointsAreWrittenTogether(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n", func(config *archive.Config) { config.Every = 50 * time.Millisecond })
	games := make([]*game, 40)
	for i := range games {
		games[i] = c.newGame(fmt.Sprintf("T%02d", i))
		p.Put(games[i].state(archive.Running), nil)
		p.Put(games[i].claim(0).state(archive.Running), nil)
	}
	p.waitStored()
	if n := p.link.count(); n > 10 {
		t.Errorf("%d calls for 40 tables", n)
	}
	if k := p.Counters(); k.Checkpoints != 40 || k.Failures != 0 {
		t.Errorf("counters %+v", k)
	}
	for i, g := range games {
		var stored struct{ Table archive.Table }
		if !c.read("set3d_tables", fmt.Sprintf("T%02d", i), &stored) || string(stored.Table.Record) != string(g.session.Record()) {
			t.Fatalf("table %d is stored as it was before", i)
		}
	}
}

// The end of a match does not wait for company, nor does a suspension.
func TestEndIsNotDelayed(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n", func(config *archive.Config) { config.Every = time.Hour })
	p.Put(c.newGame("E").claim(0).state(archive.Running), nil)
	p.Put(c.newGame("E").claim(0).end().state(archive.Ended), nil)
	p.Put(c.newGame("S").claim(0).state(archive.Suspended), nil)
	p.waitStored()
	if fmt.Sprint(c.stored("set3d_results", ""), c.stored("set3d_tables", "")) != "[E] [S]" {
		t.Fatal("not stored")
	}
}

// What hangs or is refused blocks nothing else: neither checkpoints nor results.
func TestPoisonBlocksNothing(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	held := newGate()
	defer close(held.open)
	hang := held.hold(func(c call) bool { return about("Hang")(c) || about("HangToo")(c) })
	p.link.set(func(c call) error {
		if about("Bad")(c) || about("BadEnd")(c) {
			return errors.New("refused")
		}
		return hang(c)
	}, nil)
	p.Put(c.newGame("Bad").claim(0).state(archive.Running), nil)
	p.Put(c.newGame("BadEnd").claim(0).end().state(archive.Ended), nil)
	eventually(t, func() bool { return p.Counters().Failures >= 6 })
	p.Put(c.newGame("Hang").claim(0).end().state(archive.Ended), nil)
	for i := range 30 {
		g := c.newGame(fmt.Sprintf("T%02d", i)).claim(0)
		p.Put(g.state(archive.Running), nil)
		p.Put(c.newGame(fmt.Sprintf("R%02d", i)).claim(0).end().state(archive.Ended), nil)
	}
	eventually(t, func() bool { k := p.Counters(); return k.Results == 30 && k.Checkpoints == 30 && k.Waiting == 3 }, func() any { return p.Counters() })
	queue := p.Queue(10)
	if len(queue) != 3 || p.Counters().Stuck != 2 || p.Backlog() != 2 {
		t.Fatalf("an operator sees %+v, %+v", queue, p.Counters())
	}
	if queue[0].TableID != "Bad" || queue[0].LastError != "refused" || queue[0].Failures < 3 || queue[0].State != archive.Running {
		t.Errorf("the first in the queue is %+v", queue[0])
	}
}

// A batch that is refused because of one of its entries is written without it.
func TestBatchWithPoison(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n", func(config *archive.Config) { config.Every = 20 * time.Millisecond })
	var bad atomic.Bool
	bad.Store(true)
	p.link.set(func(c call) error {
		if bad.Load() && about("T07")(c) {
			return errors.New("refused")
		}
		return nil
	}, nil)
	for i := range 20 {
		p.Put(c.newGame(fmt.Sprintf("T%02d", i)).claim(0).state(archive.Running), nil)
	}
	eventually(t, func() bool { return p.Counters().Checkpoints == 19 })
	if got := len(c.stored("set3d_tables", "")); got != 19 {
		t.Fatalf("%d stored", got)
	}
	bad.Store(false)
	p.waitStored()
}

// A worker that panics loses nothing, and goes on.
func TestPanicOfAWorker(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n", func(config *archive.Config) { config.Every = 10 * time.Millisecond })
	p.link.set(func(c call) error {
		if c.n%3 == 1 && c.n < 12 {
			panic("ordered")
		}
		return nil
	}, nil)
	for i := range 4 {
		p.Put(c.newGame(fmt.Sprintf("T%d", i)).claim(0).state(archive.Running), nil)
		p.Put(c.newGame(fmt.Sprintf("R%d", i)).claim(0).end().state(archive.Ended), nil)
	}
	p.waitStored()
	if p.panics() == 0 || len(c.stored("set3d_results", "")) != 4 || len(c.stored("set3d_tables", "")) != 4 {
		t.Fatalf("%d panics, results %v, tables %v", p.panics(), c.stored("set3d_results", ""), c.stored("set3d_tables", ""))
	}
}

// An end that is handed over while a checkpoint is being written becomes a result, at whatever moment it comes.
func TestEndDuringACheckpoint(t *testing.T) {
	c := newCluster(t, 1)
	p := c.process("n")
	const matches = 200
	for i := range matches {
		g := c.newGame(fmt.Sprintf("T%03d", i)).claim(0)
		running, ended := g.state(archive.Running), g.end().state(archive.Ended)
		p.Put(running, nil)
		if i%4 != 0 {
			time.Sleep(time.Duration(i) * time.Microsecond)
		}
		p.Put(ended, nil)
	}
	p.waitStored()
	if results, tables := c.stored("set3d_results", ""), c.stored("set3d_tables", ""); len(results) != matches || len(tables) != 0 {
		t.Fatalf("%d results, %d tables are left", len(results), len(tables))
	}
}

// Nothing follows the end, and nobody waits for what is not going to be.
func TestNothingFollowsTheEnd(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	held := newGate()
	p.link.set(held.hold(about("T")), nil)
	g := c.newGame("T").claim(0)
	running := g.state(archive.Running)
	p.Put(g.end().state(archive.Ended), nil)
	p.Put(running, nil)
	p.Put(g.state(archive.Suspended), nil)
	p.Suspend("T", 0)
	close(held.open)
	p.waitStored()
	c.wantSettled("T")
}

// A suspended table stays so until it is claimed.
func TestNothingFollowsASuspension(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	held := newGate()
	p.link.set(held.hold(about("T")), nil)
	g := c.newGame("T").claim(0)
	p.Put(g.state(archive.Running), nil)
	p.Suspend("T", 1) // another incarnation
	p.Suspend("U", 0)
	if q := p.Queue(9); len(q) != 1 || q[0].State != archive.Running {
		t.Fatalf("queue %+v", q)
	}
	p.Suspend("T", 0)
	p.Put(g.claim(1).state(archive.Running), nil)
	close(held.open)
	p.waitStored()
	table, err := p.Claim("T", "")
	if err != nil || table.Incarnation != 1 || table.State != archive.Running || claimsOf(t, table.Record) != 1 {
		t.Fatalf("claimed %+v, %v", table, err)
	}
}

// done is called once its state is stored, not before, and of many that wait for a database that is gone only the
// newest is kept.
func TestDone(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	held := newGate()
	p.link.set(held.hold(about("T")), nil)
	g := c.newGame("T")
	var told [1000]atomic.Int32
	for i := range told {
		p.Put(g.state(archive.Running), func() { told[i].Add(1) })
		if i == 0 {
			eventually(t, func() bool { return p.link.count() > 0 }) // a worker has the first
		}
	}
	time.Sleep(20 * time.Millisecond)
	for i := range told {
		if told[i].Load() != 0 {
			t.Fatalf("%d is told before it is stored", i)
		}
	}
	close(held.open)
	p.waitStored()
	eventually(t, func() bool { return told[0].Load() == 1 && told[999].Load() == 1 })
	n := int32(0)
	for i := range told {
		n += told[i].Load()
	}
	if n != 2 {
		t.Errorf("%d are told: a worker had the first, the last replaced all others", n)
	}
}

// Drain does not wait for company, nor for the patience of what has failed; it waits for all, and says so when it
// cannot.
func TestDrain(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n", func(config *archive.Config) { config.Every = time.Hour })
	if err := p.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	p = c.process("n", func(config *archive.Config) { config.Every = time.Hour })
	p.link.dieAt(1, false)
	for i := range 5 {
		p.Put(c.newGame(fmt.Sprintf("R%d", i)).claim(0).end().state(archive.Ended), nil)
		p.Put(c.newGame(fmt.Sprintf("T%d", i)).claim(0).state(archive.Running), nil)
	}
	eventually(t, func() bool { return p.Counters().Failures >= 5*5 }) // by now each waits for more than a second
	soon, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := p.Drain(soon); !errors.Is(err, archive.ErrNotDrained) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("drained without a database: %v", err)
	}
	p.link.set(nil, nil)
	done := make(chan error, 3)
	for range 3 {
		go func() { done <- p.Drain(context.Background()) }()
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if len(c.stored("set3d_results", "")) != 5 || len(c.stored("set3d_tables", "")) != 5 {
		t.Fatal("not all is stored")
	}
	p.Put(c.newGame("late").claim(0).state(archive.Running), nil)
	if err := p.Drain(context.Background()); err != nil || len(c.stored("set3d_tables", "")) != 6 {
		t.Fatalf("what comes late is not stored: %v", err)
	}
}

// The first that is stored after an outage shows that it is over: what had failed waits no longer. What fails alone
// goes on waiting.
func TestAfterAnOutage(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	p.link.dieAt(1, false)
	for i := range 5 {
		p.Put(c.newGame(fmt.Sprintf("R%d", i)).claim(0).end().state(archive.Ended), nil)
		p.Put(c.newGame(fmt.Sprintf("T%d", i)).claim(0).state(archive.Running), nil)
	}
	eventually(t, func() bool { return p.Counters().Failures >= 10 })
	p.PutOff()
	p.link.set(nil, nil)
	p.Put(c.newGame("first").claim(0).state(archive.Running), nil)
	p.waitStored()

	p.link.set(func(call call) error { return unless(!about("poison")(call)) }, nil)
	p.Put(c.newGame("poison").claim(0).state(archive.Running), nil)
	eventually(t, func() bool { return p.Queue(1)[0].Failures == 2 })
	p.PutOff()
	p.Put(c.newGame("fine").claim(0).state(archive.Running), nil)
	eventually(t, func() bool { return p.Counters().Waiting == 1 })
	if !p.IsPutOff("poison") {
		t.Fatal("what fails alone is tried with every success of others")
	}
}

// With the database gone, what waits is one entry for each table, whatever happens at it.
func TestQueueIsBounded(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	p.link.dieAt(1, false)
	g, h := c.newGame("T"), c.newGame("U")
	for range 5_000 {
		p.Put(g.state(archive.Running), func() {})
		p.Put(h.state(archive.Running), func() {})
	}
	if q := p.Queue(10); len(q) != 2 {
		t.Fatalf("queue %+v", q)
	}
	p.link.set(nil, nil)
	p.waitStored()
	p.Put(g.end().state(archive.Ended), nil)
	p.Put(h.end().state(archive.Ended), nil)
	p.waitStored()
	c.wantSettled("T", "U")
}
