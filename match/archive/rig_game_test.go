package archive_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"set3d/domain"
	"set3d/match/archive"
)

// game is a match as a table plays it.
type game struct {
	t       testing.TB
	session *domain.Session
	table   archive.Table
	claims  uint64
}

// newGame begins a ranked match of all players of the cluster.
func (c *cluster) newGame(id string) *game {
	c.t.Helper()
	g := &game{t: c.t, session: domain.NewSession()}
	rules := domain.DefaultRules()
	rules.ValidAnimMs, rules.InvalidAnimMs, rules.RefillAnimMs, rules.ExpandAnimMs = 0, 0, 0, 0
	var key [32]byte
	copy(key[:], id)
	if err := g.session.StartMatch(domain.Setup{Rules: rules, Players: len(c.users), Deck: domain.KeySource(key)}, &domain.Output{}); err != nil {
		c.t.Fatal(err)
	}
	now := time.Now().UnixMilli()
	g.table = archive.Table{
		Progress: archive.Progress{ID: id, MatchID: "match-of-" + id, State: archive.Running},
		Terms: archive.Terms{
			Setup: json.RawMessage(`{"a":1}`), Preset: "standard", Rules: json.RawMessage(`{"timed":false}`), Ranked: true, Counts: true, StartedUnixMs: now,
		},
	}
	for i, userID := range c.users {
		g.table.Seats = append(g.table.Seats, archive.Seat{UserID: userID, Name: c.names[i]})
	}
	return g
}

// goOn is the match of a table that was claimed.
func (c *cluster) goOn(t *archive.Table) *game {
	c.t.Helper()
	session, err := domain.Replay(t.Record, &domain.Output{})
	if err != nil {
		c.t.Fatal(err)
	}
	g := &game{t: c.t, session: session, table: *t, claims: 1_000 * uint64(t.Incarnation)}
	g.table.MatchID = fmt.Sprintf("match-%d-of-%s", t.Incarnation, t.ID)
	return g
}

// claim lets a player take a Set.
func (g *game) claim(seat int) *game {
	g.t.Helper()
	snapshot := g.session.Snapshot()
	set := domain.FindAllSets(snapshot.Board.AppendCards(nil))[0]
	g.claims++
	result := g.session.Apply(g.session.NowMs()+1_000, domain.ClaimSet{
		Seat: seat, ID: g.claims, Cards: []byte{byte(set[0].ID()), byte(set[1].ID()), byte(set[2].ID())},
	}, &domain.Output{})
	if result.Outcome != domain.Applied {
		g.t.Fatalf("a claim was %v", result)
	}
	return g
}

// end plays to the end, the first players ahead.
func (g *game) end() *game {
	g.t.Helper()
	for i := 0; ; i++ {
		if _, over := g.session.Ended(); over {
			return g
		}
		g.claim(i % 3 % len(g.table.Seats))
	}
}

// state is the table as it is handed over.
func (g *game) state(s archive.State) archive.Table {
	t := g.table
	t.State, t.Record, t.SavedUnixMs = s, g.session.Record(), time.Now().UnixMilli()
	return t
}
