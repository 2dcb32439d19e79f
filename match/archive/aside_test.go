package archive_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"set3d/match/archive"
)

// damages are values that nothing of ours writes.
func damages() map[string]string {
	return map[string]string{
		"another type":       `{"stats":{"matches":"many"}}`,
		"a huge rating":      `{"stats":{"mu":1e308,"sigma":8}}`,
		"no uncertainty":     `{"stats":{"mu":25,"sigma":0}}`,
		"a negative count":   `{"stats":{"mu":25,"sigma":8,"wins":-1}}`,
		"a huge count":       `{"stats":{"mu":25,"sigma":8,"sets":9000000000000000000}}`,
		"too many pages":     `{"stats":{"mu":25,"sigma":8},"pages":1000000}`,
		"negative pages":     `{"stats":{"mu":25,"sigma":8},"pages":-1}`,
		"too many results":   `{"stats":{"mu":25,"sigma":8},"recent":[` + strings.Repeat(`{"result_id":"T"},`, 25) + `{"result_id":"T"}]}`,
		"an empty result id": `{"stats":{"mu":25,"sigma":8},"recent":[{}]}`,
		"a list":             `{"stats":[]}`,
	}
}

// One player's object cannot be used: the result is stored, the other's part is settled, and that player's is set
// aside, until the object is repaired and an operator has it tried again. It blocks nothing meanwhile.
func TestOneBadPlayerStopsNobodyElse(t *testing.T) {
	for name, value := range damages() {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 2)
			p := c.process("n")
			bad, other := c.users[0], c.users[1]
			c.write("set3d_players", bad, value)
			p.Put(c.newGame("T").claim(0).state(archive.Running), nil)
			p.waitStored()
			p.Put(c.newGame("T").claim(0).end().state(archive.Ended), nil)
			p.waitStored()
			if k := p.Counters(); k.SetAside != 1 || p.Backlog() != 0 || k.Failures != 0 || p.panics() != 0 || p.Entries() != 0 {
				t.Fatalf("counters %+v, %d panics, %d entries", k, p.panics(), p.Entries())
			}
			r, err := p.Result("T")
			if err != nil || r.Players[0].Rating != nil || r.Players[1].Rating == nil || r.PlayerOf(bad) == nil {
				t.Fatalf("result %+v, %v", r, err)
			}
			if s, err := p.Stats(other); err != nil || s.Matches != 1 || s.Ranked != 1 || c.score("set3d_sets", other) < 1 {
				t.Fatalf("the other has %+v, %v", s, err)
			}
			if _, err := p.Stats(bad); err == nil {
				t.Fatal("statistics that cannot be used are shown")
			}
			aside, err := p.SetAside()
			if err != nil || len(aside) != 1 || aside[0].UserID != bad || aside[0].TableID != "T" || aside[0].Reason == "" || aside[0].UnixMs == 0 {
				t.Fatalf("set aside %+v, %v", aside, err)
			}
			if n, err := p.RepairLeaderboards(); err == nil || n != 2 || c.score("set3d_sets", other) < 1 {
				t.Fatalf("repair of %d, %v", n, err)
			}
			if err := p.Retry(aside[0].ID); err == nil {
				t.Fatal("a retry with the same object succeeds")
			}
			c.write("set3d_players", bad, `{"stats":{"mu":25,"sigma":8.333333333333334}}`)
			if err := p.Retry(aside[0].ID); err != nil {
				t.Fatal(err)
			}
			if err := p.Retry(aside[0].ID); !errors.Is(err, archive.ErrNotAside) {
				t.Fatalf("a second retry: %v", err)
			}
			c.wantSettled("T")
			if k := p.Counters(); k.SetAside != 0 {
				t.Fatalf("counters %+v", k)
			}
		})
	}
}

// Two operators let the same part be tried again at once: it counts once.
func TestPartIsRetriedOnce(t *testing.T) {
	c := newCluster(t, 2)
	p, other := c.process("n"), c.process("m")
	c.write("set3d_players", c.users[0], `{"stats":7}`)
	c.settled(p, "T")
	c.write("set3d_players", c.users[0], `{"stats":{"mu":25,"sigma":8.333333333333334}}`)
	id := "T." + c.users[0]
	first := true
	p.link.set(func(call call) error {
		if call.op == "multi" && first {
			first = false
			return other.Retry(id)
		}
		return nil
	}, nil)
	_ = p.Retry(id) // whatever it says
	c.wantSettled("T")
}

// A user whose part is set aside can be forgotten, and the object that cannot be used keeps nobody.
func TestForgetPastBadObjects(t *testing.T) {
	for _, damage := range []string{"player", "result", "reports", "table"} {
		t.Run(damage, func(t *testing.T) {
			c := newCluster(t, 2)
			p := c.process("n")
			c.settled(p, "T", "U")
			leaver := c.users[0]
			switch damage {
			case "player":
				c.write("set3d_players", leaver, `{"stats":7}`)
				c.settled(p, "V")
			case "result":
				c.write("set3d_results", "T", `{"result_id":"T","players":[{"seat":3}]}`)
			case "reports":
				r, err := p.Result("T")
				if err != nil {
					t.Fatal(err)
				}
				c.write("set3d_reports", r.RecordKey, `{"reports":[{"seat":99}]}`)
			case "table":
				state := c.newGame("V").claim(0).state(archive.Ended)
				state.Setup = json.RawMessage(`{"broken`)
				p.Put(state, nil)
				p.waitStored()
			}
			if err := p.Forget(leaver); err != nil {
				t.Fatal(err)
			}
			c.wantNothingOf(leaver, "player0", "forgotten")
		})
	}
}

// Data at which a settlement panics is set aside at once: it is not tried again, does not count for the backlog, blocks
// neither the players' data nor others' settlements, and is stored as it ended.
func TestDataThatPanics(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	g := c.newGame("T").claim(0)
	p.Put(g.state(archive.Running), nil)
	p.waitStored()
	state := g.end().state(archive.Ended)
	state.Rules = json.RawMessage(`{"broken`)
	p.Put(state, nil)
	c.settled(p, "U")
	if k := p.Counters(); k.SetAside != 1 || k.Failures != 0 || p.panics() != 2 || p.Backlog() != 0 || p.Entries() != 0 { // once to settle, once to store the table
		t.Fatalf("counters %+v, %d panics, %d entries", k, p.panics(), p.Entries())
	}
	if set, err := p.IsSetAside("T"); err != nil || !set || p.Pending("T") {
		t.Fatalf("set aside %t, %v", set, err)
	}
	again := c.process("n", func(config *archive.Config) { config.ResumeWithin = -time.Hour })
	if err := again.Sweep(); err != nil || again.panics() != 0 || again.Entries() != 0 || again.Counters().SetAside != 1 {
		t.Fatalf("a sweep touches it: %v, %+v", err, again.Counters())
	}
	if err := again.Retry("T"); err != nil { // with what is stored of it: the last checkpoint
		t.Fatal(err)
	}
	again.waitStored()
	if r, err := again.Result("T"); err != nil || r == nil || r.Reason != "ABANDONED" {
		t.Fatalf("%+v, %v", r, err)
	}
	c.wantSettled("T", "U")
}

// sqlError is an error of the database's with its state.
type sqlError struct{ state string }

func (e *sqlError) Error() string    { return "refused with state " + e.state }
func (e *sqlError) SQLState() string { return e.state }

// Data that the database refuses is set aside; an error of the database itself is tried again.
func TestDatabaseRefusesData(t *testing.T) {
	for state, permanent := range map[string]bool{"22P05": true, "23514": true, "40001": false, "53300": false, "57P03": false, "08006": false, "2": false} {
		t.Run(state, func(t *testing.T) {
			c := newCluster(t, 2)
			p := c.process("n")
			refuse := true
			p.link.set(func(call call) error {
				if call.op == "multi" && refuse {
					return fmt.Errorf("wrapped: %w", &sqlError{state})
				}
				return nil
			}, nil)
			p.Put(c.newGame("T").claim(0).end().state(archive.Ended), nil)
			if !permanent {
				eventually(t, func() bool { return p.Counters().Failures >= 2 })
				p.link.set(nil, nil)
				p.waitStored()
				c.wantSettled("T")
				return
			}
			p.waitStored()
			if k := p.Counters(); k.SetAside != 1 || k.Failures != 0 || p.link.count() > 4 {
				t.Fatalf("counters %+v, %d calls", k, p.link.count())
			}
			p.link.set(nil, nil)
			if err := p.Retry("T"); err != nil {
				t.Fatal(err)
			}
			p.waitStored()
			c.wantSettled("T") // as it ended, not as at its last checkpoint: there was none
		})
	}
}

// A result that cannot be read where a match's is to be stored: the settlement is set aside, and nothing is
// overwritten.
func TestResultThatCannotBeRead(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	c.write("set3d_results", "T", `{"result_id":"T","players":[{"seat":1}]}`)
	p.Put(c.newGame("T").claim(0).end().state(archive.Ended), nil)
	p.waitStored()
	if k := p.Counters(); k.SetAside != 1 || p.Entries() != 0 {
		t.Fatalf("counters %+v", k)
	}
	for _, userID := range c.users {
		if err := p.Forget(userID); err != nil {
			t.Errorf("it blocks a deletion: %v", err)
		}
	}
}

// A stored table that cannot be read is set aside by the sweep, once, and removed from nobody's way.
func TestTableThatCannotBeRead(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	for i, value := range []string{`{"format":"two"}`, `{"format":2,"table":{"table_id":"T1","state":"odd"}}`, `{"format":2,"table":{"table_id":"other","state":"ended"}}`, `{"format":1,"table":{"table_id":"T3","state":"running","seats":[{},{},{},{},{},{},{},{},{}]}}`} {
		c.write("set3d_tables", fmt.Sprint("T", i), value)
	}
	c.write("set3d_players", c.users[0], `{"stats":{"mu":25,"sigma":8},"seats":["T0","T1","T2","T3"]}`)
	for range 2 {
		if err := p.Sweep(); err != nil {
			t.Fatal(err)
		}
	}
	if aside, err := p.SetAside(); err != nil || len(aside) != 4 || aside[3].Reason == "" {
		t.Fatalf("set aside %+v, %v", aside, err)
	}
	if tables, err := p.Interrupted(c.users[0]); err != nil || len(tables) != 0 {
		t.Fatalf("%v, %v", tables, err)
	}
	if tables, next, err := p.AllInterrupted(""); err != nil || len(tables) != 0 || next != "" {
		t.Fatalf("%v, %v", tables, err)
	}
	if n := len(p.log.all()); n > 8 {
		t.Errorf("%d log lines: %v", n, p.log.all())
	}
}

// A running table whose checkpoint somebody has damaged is stored over it, and ends as usual.
func TestDamagedCheckpointOfARunningTable(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	g := c.newGame("T").claim(0)
	p.Put(g.state(archive.Running), nil)
	p.waitStored()
	c.write("set3d_tables", "T", `{"format":true}`)
	p.Put(g.claim(1).state(archive.Running), nil)
	p.waitStored()
	c.write("set3d_tables", "T", `{"format":[]}`)
	p.Put(g.end().state(archive.Ended), nil)
	p.waitStored()
	c.wantSettled("T")
}
