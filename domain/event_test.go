package domain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An event shares no memory with another event, nor with the session: its receiver may change it.
func TestEventsShareNothing(t *testing.T) {
	play := func(scribble bool) (out Output, s *Session) {
		s = NewSession()
		note := func(step func(*Output)) {
			var now Output
			step(&now)
			kept := describe(now)
			for i := range now.Events {
				if scribble {
					scribbleOn(now.Events[i].Event)
				}
				for j, later := range now.Events[i+1:] {
					text := describe(Output{Events: []TimedEvent{later}})[0]
					require.Equal(t, kept[i+1+j], text, "event %d shares with %d", i, i+1+j)
				}
			}
			out.Events = append(out.Events, now.Events...)
		}
		setup := Setup{Rules: DefaultRules(), Players: 2, Deck: orderOf(t, namedBoards["GROW"], true)}
		note(func(out *Output) { require.NoError(t, s.StartMatch(setup, out)) })
		for id := uint64(1); s.end == nil; id++ {
			note(func(out *Output) { s.Advance(s.NowMs()+2000, out) })
			if sets := FindAllSets(s.shared.Board.AppendCards(nil)); len(sets) > 0 && s.shared.State == BoardIdle {
				cards := []byte{sets[0][0].id, sets[0][1].id, sets[0][2].id}
				note(func(out *Output) { s.Apply(s.NowMs(), ClaimSet{Seat: int(id % 2), ID: id, Cards: cards}, out) })
			}
		}
		return out, s
	}
	_, want := play(false)
	_, got := play(true)
	require.Equal(t, want.Record(), got.Record())
	wantEnd, _ := want.Ended()
	gotEnd, _ := got.Ended()
	require.Equal(t, wantEnd, gotEnd)
	scribbleOn(gotEnd)
	again, _ := got.Ended()
	require.Equal(t, wantEnd, again, "who asks for the end shares it with who asks next")
}

// scribbleOn changes all that an event refers to.
func scribbleOn(e Event) {
	placement := func(p Placement) {
		clear(p.Slots)
		clear(p.Cards)
	}
	switch e := e.(type) {
	case CardsDealt:
		placement(e.Placement)
	case BoardRefilled:
		placement(e.Placement)
	case BoardExpanded:
		placement(e.Placement)
	case MatchEnded:
		clear(e.Winners)
		clear(e.Table)
	}
}
