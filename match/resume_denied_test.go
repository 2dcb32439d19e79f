package match

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"set3d/match/archive"
)

// stored is the checkpoint of a table, without its terms.
func (s *fakeStorage) stored(t *testing.T, tableID string) archive.Progress {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var stored struct{ Table archive.Progress }
	if err := json.Unmarshal([]byte(s.objects[keyOf("set3d_tables", tableID, "")].Value), &stored); err != nil {
		t.Fatal(err)
	}
	return stored.Table
}

// While the database takes its time with a stranger's resume_match, a player resumes the table.
func TestStrangerDoesNotDelayResuming(t *testing.T) {
	n, id := quickGame(t, deckRequest(""), "ann", "bob").crash()
	n.storage.setFault(func(string) error {
		if n.module.tables.population() != 0 {
			t.Error("eve is taken for the one who resumes it")
		}
		return nil
	})
	if _, err := n.session("eve").resume(id); reasonOf(err) != "UNKNOWN_MATCH" {
		t.Errorf("eve: %v", err)
	}
	asked, release := make(chan bool), make(chan bool)
	var first atomic.Bool
	n.storage.setFault(func(string) error {
		if first.CompareAndSwap(false, true) {
			close(asked)
			<-release
		}
		return nil
	})
	stranger, player := make(chan error, 1), make(chan error, 1)
	go func() { _, err := n.session("eve").resume(id); stranger <- err }()
	<-asked
	go func() { _, err := n.session("ann").resume(id); player <- err }()
	select {
	case err := <-player:
		if err != nil {
			t.Errorf("ann: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("ann waits for eve")
	}
	close(release)
	if err := <-stranger; reasonOf(err) != "UNKNOWN_MATCH" {
		t.Errorf("eve: %v", err)
	}
}

// A table whose checkpoint cannot be used is logged once, however often its player calls, and stays as it is.
func TestUnreadableRecordIsLoggedOnce(t *testing.T) {
	for name, damage := range map[string]func(*archive.Table){
		"record": func(c *archive.Table) { c.Record = []byte("?") },
		"setup":  func(c *archive.Table) { c.Setup = json.RawMessage(`{"Seats":9}`) },
		"seats":  func(c *archive.Table) { c.Seats = c.Seats[:1] },
		"table":  func(c *archive.Table) { c.ID = "another" },
		"newer":  func(*archive.Table) {},
	} {
		t.Run(name, func(t *testing.T) {
			n, id := quickGame(t, deckRequest(""), "ann", "bob").crash()
			n.damage(t, id, damage)
			if name == "newer" {
				stored := n.storage.objects[keyOf("set3d_tables", id, "")]
				stored.Value = strings.Replace(stored.Value, `"format":2`, `"format":9`, 1)
			}
			ann := n.session("ann")
			for range 10 {
				if _, err := ann.resume(id); reasonOf(err) != "INTERNAL" {
					t.Fatalf("answered %v", err)
				}
			}
			errors := 0
			for _, line := range n.logger.lines {
				if strings.HasPrefix(line, "ERROR") {
					errors++
				}
			}
			if errors != 1 || !n.logger.has("ERROR table "+id+": cannot be resumed") {
				t.Errorf("%d errors: %q", errors, n.logger.lines)
			}
			c := n.storage.stored(t, id)
			if c.Incarnation != 0 || c.State != archive.Running || n.made != 100 || n.module.tables.population() != 0 {
				t.Errorf("incarnation %d, %s, %d matches were made", c.Incarnation, c.State, n.made-100)
			}
		})
	}
}

// A callback of a match that Nakama has stopped runs to its end after the same process has resumed the table. The newer
// match stays stored.
func TestStoppedMatchHandsOverLate(t *testing.T) {
	g := quickGame(t, deckRequest(`,"seats":3,"rules":{"drop_hold_ms":0}`), "ann", "bob", "cid")
	g.n.waitStored()
	id := g.m.table().setup.TableID
	g.m.stop()
	eventually(t, func() bool { return g.n.module.tables.ofTable(id) == nil })
	g.n.waitStored()
	next := g.n.comeBack(id, "bob", "cid")
	next.players[0].claim(next.m, 1, setSA)
	g.m.core.MatchLeave(g.m.ctx, g.n.logger, nil, g.n, g.m, 1, g.m.state, presencesOf(g.players[:1]))
	g.n.clock.next(g.n.clock.now() + 2*time.Millisecond)
	g.m.core.MatchSignal(g.m.ctx, g.n.logger, nil, g.n, g.m, 1, g.m.state, "") // ann has forfeited there
	g.n.waitStored()
	old, newer, c := g.m.table(), next.m.table(), g.n.storage.stored(t, id)
	if !old.forfeited(0) || newer.forfeited(0) || c.Incarnation != 1 || string(c.Record) != string(newer.kept.Record) {
		t.Fatalf("incarnation %d is stored; ann has forfeited %t, %t", c.Incarnation, old.forfeited(0), newer.forfeited(0))
	}
}
