package archive_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/archive"
)

// What stays the same is stored once, and again when a player has another name.
func TestTermsAreStoredWhenTheyChange(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	var mu sync.Mutex
	written := 0
	p.link.set(func(c call) error {
		mu.Lock()
		defer mu.Unlock()
		written += strings.Count(c.keys, "set3d_terms/T ")
		return nil
	}, nil)
	g := c.newGame("T")
	put := func(want int) {
		t.Helper()
		p.Put(g.claim(0).state(archive.Running), nil)
		p.waitStored()
		mu.Lock()
		defer mu.Unlock()
		if written != want {
			t.Fatalf("written %d times, want %d", written, want)
		}
	}
	put(1)
	put(1)
	g.table.Seats = []archive.Seat{g.table.Seats[0], {UserID: c.users[1], Name: "renamed"}}
	put(2)
	put(2)
	if stored, err := p.Find("T"); err != nil || stored.Seats[1].Name != "renamed" || string(stored.Record) != string(g.session.Record()) {
		t.Fatalf("stored %+v, %v", stored, err)
	}
}

// A checkpoint that an earlier version has left, in one object, can be claimed, and settled.
func TestCheckpointOfOneObject(t *testing.T) {
	c := newCluster(t, 2)
	leave := func(id string, savedAt time.Time) *game {
		g := c.newGame(id).claim(0)
		table := g.state(archive.Running)
		table.SavedUnixMs = savedAt.UnixMilli()
		value, err := json.Marshal(map[string]any{
			"format": 1, "owner": map[string]string{"node": "dead", "boot": "before"}, "serial": 3, "table": table,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.nk.StorageWrite(context.Background(), []*runtime.StorageWrite{{Collection: "set3d_tables", Key: id, Value: string(value)}}); err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := leave("T", time.Now())
	leave("U", time.Now().Add(-2*time.Hour))
	p := c.process("n")
	table, err := p.Claim("T", c.users[1])
	if err != nil || len(table.Seats) != 2 || !strings.HasPrefix(string(table.Setup), `{"a":`) || string(table.Record) != string(g.session.Record()) {
		t.Fatalf("claimed %+v, %v", table, err)
	}
	if found, err := c.process("other").Find("T"); err != nil || len(found.Seats) != 2 || !found.Ranked || found.Incarnation != 1 {
		t.Fatalf("the claim has left %+v, %v", found, err)
	}
	p.Put(c.goOn(table).end().state(archive.Ended), nil)
	if err := p.Sweep(); err != nil { // nobody has come back to U
		t.Fatal(err)
	}
	p.waitStored()
	c.wantSettled("T", "U")
}

// The terms are written anew when an operator has deleted a table from the database, while it is played and when it
// has ended.
func TestDeletedTermsAreWrittenAnew(t *testing.T) {
	for _, state := range []archive.State{archive.Running, archive.Ended} {
		c := newCluster(t, 2)
		p := c.process("n")
		g := c.newGame("T").claim(0)
		p.Put(g.state(archive.Running), nil)
		p.waitStored()
		if err := c.nk.StorageDelete(context.Background(), []*runtime.StorageDelete{
			{Collection: "set3d_tables", Key: "T"}, {Collection: "set3d_terms", Key: "T"},
		}); err != nil {
			t.Fatal(err)
		}
		p.link.set(func(c call) error { return unless(c.op != "board") }, nil) // a settled table stays until its leaderboards are set
		if state == archive.Ended {
			g.end()
		} else {
			g.claim(0)
		}
		p.Put(g.state(state), nil)
		eventually(t, func() bool {
			var terms archive.Terms
			return c.read("set3d_terms", "T", &terms) && len(terms.Seats) == 2
		})
	}
}

// What is stored is the module's alone: clients, which can ask Nakama for objects, neither read nor write it.
func TestStoredForTheModuleOnly(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	p.Put(c.newGame("T").claim(0).state(archive.Running), nil)
	p.Put(c.newGame("E").claim(0).end().state(archive.Ended), nil)
	p.waitStored()
	for collection, want := range map[string]int{
		"set3d_tables": 1, "set3d_terms": 1, "set3d_results": 1, "set3d_records": 1, "set3d_players": 2, "set3d_meta": 1,
	} {
		objects, _, err := c.nk.StorageList(context.Background(), "", "", collection, 10, "")
		if err != nil || len(objects) != want {
			t.Errorf("%s: %d objects, %v", collection, len(objects), err)
		}
		for _, o := range objects {
			if o.PermissionRead != 0 || o.PermissionWrite != 0 || o.UserId != "00000000-0000-0000-0000-000000000000" {
				t.Errorf("%s: permissions %d, %d, owner %s", collection, o.PermissionRead, o.PermissionWrite, o.UserId)
			}
		}
	}
}
