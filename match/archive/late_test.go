package archive_test

import (
	"testing"

	"set3d/match/archive"
)

// A callback of a stopped match hands over after the same process has resumed the table, or has suspended it again. The
// newer incarnation's record stays as it is.
func TestLateHandOver(t *testing.T) {
	for _, late := range []archive.State{archive.Running, archive.Suspended, archive.Aborted} {
		for _, now := range []archive.State{archive.Running, archive.Suspended} {
			t.Run(string(late)+" while "+string(now), func(t *testing.T) {
				c := newCluster(t, 2)
				p := c.process("n")
				old := c.newGame("T").claim(0)
				p.Put(old.state(archive.Running), nil)
				p.Suspend("T", 0)
				p.waitStored()
				table, err := p.Claim("T", c.users[0])
				if err != nil {
					t.Fatal(err)
				}
				newer := c.goOn(table).claim(1)
				p.Put(newer.state(now), nil)
				p.waitStored()
				p.Put(old.claim(0).claim(0).state(late), func() { t.Error("a late checkpoint is called stored") })
				p.waitStored()
				var stored struct{ Table archive.Table }
				c.read("set3d_tables", "T", &stored)
				if string(stored.Table.Record) != string(newer.session.Record()) || stored.Table.State != now {
					t.Fatalf("incarnation %d is stored, %s", stored.Table.Incarnation, stored.Table.State)
				}
				p.Suspend("T", 0) // the old match has stopped
				if now == archive.Suspended {
					if table, err = p.Claim("T", c.users[1]); err != nil {
						t.Fatal(err)
					}
					newer = c.goOn(table)
				}
				p.Put(newer.end().state(archive.Ended), nil)
				p.waitStored()
				c.wantSettled("T")
			})
		}
	}
}
