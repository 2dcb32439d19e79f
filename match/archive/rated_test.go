package archive_test

import (
	"fmt"
	"testing"

	"set3d/domain"
	"set3d/match/archive"
)

// apply gives the match a command, and lets it run for ten minutes after the last one.
func (g *game) apply(commands ...domain.Command) *game {
	g.t.Helper()
	for _, cmd := range commands {
		if result := g.session.Apply(g.session.NowMs()+10, cmd, &domain.Output{}); result.Outcome != domain.Applied {
			g.t.Fatalf("%T was %v", cmd, result)
		}
	}
	g.session.Advance(g.session.NowMs()+600_000, &domain.Output{})
	return g
}

// A ranked match from which both players were cut off changes nobody's rating, whoever was cut off last. One that
// somebody leaves deliberately, or does not come back to while the other is there, changes both; after a crash only the
// former would be known.
func TestAbandonedIsRatedForNobody(t *testing.T) {
	drop0, drop1 := domain.Drop{Seat: 0}, domain.Drop{Seat: 1}
	for name, c := range map[string]struct {
		commands    []domain.Command
		incarnation uint32
		reason      string
		rated       bool
	}{
		"both cut off":          {[]domain.Command{drop0, drop1}, 0, "ABANDONED", false},
		"both, the other way":   {[]domain.Command{drop1, drop0}, 0, "ABANDONED", false},
		"both after a crash":    {[]domain.Command{drop1, drop0}, 1, "ABANDONED", false},
		"one cut off":           {[]domain.Command{drop1}, 0, "LAST_PLAYER", true},
		"one back in time":      {[]domain.Command{drop1, drop0, domain.Return{Seat: 0}}, 0, "LAST_PLAYER", true},
		"one after a crash":     {[]domain.Command{drop1}, 1, "LAST_PLAYER", false},
		"left while none is in": {[]domain.Command{drop0, drop1, domain.Forfeit{Seat: 1}}, 0, "LAST_PLAYER", true},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newCluster(t, 2)
			p := cl.process("n")
			g := cl.newGame("T").claim(0).apply(c.commands...)
			g.table.Incarnation = c.incarnation
			p.Put(g.state(archive.Ended), nil)
			p.waitStored()
			r, err := p.Result("T")
			if err != nil {
				t.Fatal(err)
			}
			if r.Reason != c.reason || !r.Counted || (len(r.Winners) == 1) != (c.reason == "LAST_PLAYER") {
				t.Errorf("%s, counted %t, winners %v", r.Reason, r.Counted, r.Winners)
			}
			if (r.Players[0].Rating != nil) != c.rated {
				t.Errorf("rating %v", r.Players[0].Rating)
			}
			for seat, userID := range cl.users {
				s, err := p.Stats(userID)
				if err != nil || s.Matches != 1 || (s.Ranked == 1) != c.rated || (s.Rating() != 1000) != c.rated {
					t.Errorf("seat %d: %s, %v", seat, fmt.Sprintf("%+v", s), err)
				}
			}
		})
	}
}
