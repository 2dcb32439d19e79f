package match

import (
	"errors"
	"regexp"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// Metrics have names that Prometheus likes, and labels that Nakama leaves as they are. Together they are few.
func TestMetricsAreWellFormed(t *testing.T) {
	name, value := regexp.MustCompile(`^set3d_[a-z0-9_]+$`), regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	counts := regexp.MustCompile(`(_total|_bucket)$`)
	seen, series := map[string]bool{}, 0
	for _, m := range Metrics() {
		if !name.MatchString(m.Name) || seen[m.Name] || m.Help == "" || counts.MatchString(m.Name) != (m.Kind == Counter) {
			t.Errorf("%+v is not a good metric", m)
		}
		seen[m.Name] = true
		m.each(map[string]string{}, func(labels map[string]string) {
			series++
			for _, v := range labels {
				if !value.MatchString(v) {
					t.Errorf("%s: Nakama would change the label's value %q", m.Name, v)
				}
			}
		})
	}
	if series > 500 {
		t.Errorf("%d series", series)
	}
}

// What happens at a table is counted, and what is the case is measured.
func TestMeasure(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	n, ann, bob := g.n, g.players[0], g.players[1]
	bob.claim(g.m, 2, notSet)
	ann.claim(g.m, 1, setSA)
	bob.claim(g.m, 3, setSA) // his own lock
	ann.claim(g.m, 1, setSA) // a repeat
	ann.sendRaw(g.m, 77, nil)
	n.session("cid").create(`{"preset":"timed"}`)
	g.m.leave(bob)
	n.module.measure()
	for name, want := range map[string]int64{
		"set3d_claims_total valid": 1, "set3d_claims_total wrong": 1, "set3d_claims_refused_total OWN_LOCK": 1,
		"set3d_messages_refused_total UNKNOWN_OP_CODE": 1, "set3d_matches_started_total classic": 1,
		"set3d_verdict_microseconds_bucket 250": 2, "set3d_verdict_microseconds_bucket Inf": 2, "set3d_rpcs_total create_match": 2,
	} {
		if got := n.counter(name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	wantGauge(t, n, "set3d_tables playing classic", 1)
	wantGauge(t, n, "set3d_tables lobby timed", 1)
	wantGauge(t, n, "set3d_tables ended classic", 0)
	wantGauge(t, n, "set3d_players connected", 1)
	wantGauge(t, n, "set3d_players away", 1)
	wantGauge(t, n, "set3d_mailbox_depth", 1)
	n.module.measure()
	wantGauge(t, n, "set3d_mailbox_depth", 0)
	bob.join(g.m)
	if n.counter("set3d_reconnects_total") != 1 {
		t.Error("a reconnection was not counted")
	}
	g.n.session("bob").join(g.m)
	if n.counter("set3d_takeovers_total") != 1 || n.counter("set3d_reconnects_total") != 1 {
		t.Error("a takeover was not counted, or as a reconnection")
	}
	ann.send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	n.module.measure()
	wantGauge(t, n, "set3d_tables ended classic", 1)
	wantGauge(t, n, "set3d_players connected", 0)
}

func wantGauge(t *testing.T, n *fakeNakama, name string, want float64) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if got, ok := n.gauges[name]; !ok || got != want {
		t.Errorf("%s is %v (%t), want %v; gauges %v", name, got, ok, want, n.gauges)
	}
}

// A database that is down can be seen.
func TestMeasureTheArchive(t *testing.T) {
	n := newFake(t)
	n.storage.setFault(func(string) error { return errors.New("down") })
	g := startGame(n, deckRequest(""), "ann", "bob")
	for n.module.archive.Counters().Failures < 3 {
		time.Sleep(10 * time.Millisecond)
	}
	n.module.measure()
	wantGauge(t, n, "set3d_archive_queue", 1)
	wantGauge(t, n, "set3d_archive_finished", 0)
	if n.counter("set3d_archive_failures_total") < 3 {
		t.Error("failures were not counted")
	}
	n.storage.setFault(nil)
	g.players[0].claim(g.m, 1, setSA)
	for n.module.archive.Counters().Waiting > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	n.module.measure()
	n.module.measure() // nothing is counted twice
	wantGauge(t, n, "set3d_archive_queue", 0)
	if failed := n.counter("set3d_archive_failures_total"); failed != n.module.archive.Counters().Failures {
		t.Errorf("%d failures", failed)
	}
	if stored := n.counter("set3d_archive_checkpoints_total"); stored != n.module.archive.Counters().Checkpoints || stored == 0 {
		t.Errorf("%d checkpoints", stored)
	}
}

// With SET3D_DURABILITY=safe a verdict's time ends when it is told, which is when it is stored.
func TestVerdictTimeEndsWhenItIsTold(t *testing.T) {
	n := newFake(t, "SET3D_DURABILITY=safe")
	g := startGame(n, deckRequest(""), "ann", "bob")
	g.m.settleOutbox()
	n.storage.setFault(func(string) error { return errors.New("down") })
	g.players[0].claim(g.m, 1, setSA)
	if n.counter("set3d_verdict_microseconds_bucket Inf") != 0 {
		t.Fatal("a verdict that was not told is counted")
	}
	g.pass(10 * time.Second) // told unstored after SET3D_SAFE_WAIT_MS
	if n.counter("set3d_verdict_microseconds_bucket Inf") != 1 || n.counter("set3d_verdict_microseconds_bucket 1000000") != 0 ||
		n.counter("set3d_verdicts_unsafe_total") == 0 {
		t.Fatal("the verdict's time is not that of being told")
	}
}

// settleOutbox waits until nothing is held back.
func (m *fakeMatch) settleOutbox() {
	for {
		m.callback.Lock()
		holds := m.table().outbox.isHolding()
		m.callback.Unlock()
		if !holds {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Counting a claim allocates nothing.
func TestTalliesDoNotAllocate(t *testing.T) {
	var n tallies
	if allocated := testing.AllocsPerRun(100, func() {
		n.verdict(true)
		n.claimRefused(wire.Reason_REASON_OWN_LOCK)
		n.messageRefused(wire.Reason_REASON_BUSY)
		n.answered(3 * time.Millisecond)
	}); allocated != 0 {
		t.Errorf("%v allocations", allocated)
	}
}

// BenchmarkMeasure is what measuring costs, once in five seconds, with 1,000 tables.
func BenchmarkMeasure(b *testing.B) {
	n := newFake(b, "SET3D_MAX_TABLES_PER_USER=10000")
	ann := n.session("ann")
	for range 1_000 {
		n.clock.mu.Lock()
		n.clock.at += time.Second // for the limit of RPCs
		n.clock.mu.Unlock()
		ann.create(`{}`)
	}
	for b.Loop() {
		n.module.measure()
	}
}
