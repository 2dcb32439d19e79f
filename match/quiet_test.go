package match

import (
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// A tick of a table at which nothing happens does nothing, but it misses nothing either: not a message whose bell was lost, nor a deadline whose alarm was.
func TestQuietTick(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	table := g.m.table()
	g.m.loop()
	looked := table.now
	tick := func(after time.Duration) {
		g.n.clock.mu.Lock()
		g.n.clock.at += after
		g.n.clock.mu.Unlock()
		g.m.loop()
	}
	if tick(time.Second); table.now != looked {
		t.Fatal("a tick of a quiet table looks at everything")
	}
	if tick(lookEvery); table.now == looked {
		t.Fatal("ticks do not look for idle players any more")
	}
	g.read()
	g.n.signalFault = func(int) signalFault { return signalNotRun }
	g.players[0].claim(g.m, 1, setSA)
	tick(time.Millisecond)
	if v := verdict(t, g.players[0].news()); !v.Valid {
		t.Fatal("the tick has not judged the claim")
	}
	tick(time.Second) // past the animations, whose alarms have not gone off
	if u := only[*wire.Update](t, g.players[1].news()); len(u) == 0 || u[len(u)-1].Snapshot.State != wire.BoardState_BOARD_STATE_IDLE {
		t.Fatalf("the tick has not run the deadlines: %v", u)
	}
}
