package domain

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nothing depends on the seat: when the same people sit otherwise and do the same, the same happens to the same people.
// All times are multiples of half a second, so that deadlines fall together.
func TestSeatsMakeNoDifference(t *testing.T) {
	matches := uint64(1000)
	if testing.Short() {
		matches = 200
	}
	var seen seatsSeen
	for seed := range matches {
		r := rand.New(rand.NewPCG(seed, 0x5ea7))
		setup := alignedSetup(r)
		moves, want := playAligned(t, r, setup, &seen)
		for _, order := range permutations(setup.Players) {
			require.Equal(t, want, replayMoves(t, setup, moves, order), "seed %d, seats %v", seed, order)
		}
	}
	t.Logf("%+v", seen)
	for end := EndNoSetsLeft; end <= EndIdle; end++ {
		require.Positive(t, seen.ends[end], end.String())
	}
	require.Greater(t, seen.together, 30, "moments at which several players' deadlines fall together")
}

// seatsSeen counts what the matches came to.
type seatsSeen struct {
	ends     [EndIdle + 1]int
	together int
}

// move is a command and when it is given; without a command time goes on.
type move struct {
	atMs int64
	cmd  Command
}

// alignedSetup is a match of people, all of whose times are multiples of 500 ms.
func alignedSetup(r *rand.Rand) Setup {
	halves := func(from, to int64) int64 { return 500 * (from + r.Int64N(to-from+1)) }
	rules := DefaultRules()
	rules.ValidAnimMs, rules.InvalidAnimMs = halves(0, 2), halves(0, 2)
	rules.RefillAnimMs, rules.ExpandAnimMs = halves(0, 2), halves(0, 1)
	rules.ClaimGraceMs, rules.DropHoldMs, rules.IdleLimitMs = halves(0, 2), halves(0, 6), halves(4, 12)
	rules.PenaltyMode = PenaltyPoint
	if r.IntN(3) > 0 {
		rules.Timed, rules.TimeLimitMs = true, halves(6, 30)
		rules.PenaltyMode, rules.PenaltyTimeMs = PenaltyTime, halves(1, 10)
	}
	return Setup{Rules: rules, Players: 2 + r.IntN(3), Deck: anyDeck(r)}
}

// anyDeck is often so short that it is played out.
func anyDeck(r *rand.Rand) DeckSource {
	cards := make([]Card, 0, DeckSize)
	for _, id := range r.Perm(DeckSize)[:12+r.IntN(DeckSize-12)] {
		cards = append(cards, MustCard(id))
	}
	source, err := OrderSource(cards)
	must(err)
	return source
}

// playAligned makes up a match, and returns what was done and what came of it.
func playAligned(t *testing.T, r *rand.Rand, setup Setup, seen *seatsSeen) ([]move, []string) {
	s, out := NewSession(), Output{}
	require.NoError(t, s.StartMatch(setup, &out))
	var moves []move
	for nowMs := int64(0); s.end == nil; nowMs += 500 {
		seen.together += together(s, nowMs)
		moves = append(moves, move{atMs: nowMs})
		s.Advance(nowMs, &out)
		for range r.IntN(4) {
			cmd := alignedCommand(r, s)
			moves = append(moves, move{nowMs, cmd})
			s.Apply(nowMs, cmd, &out)
		}
	}
	seen.ends[s.end.Reason]++
	return moves, replayMoves(t, setup, moves, permutations(setup.Players)[0])
}

// together is 1 if the deadlines of two players fall at this time.
func together(s *Session, nowMs int64) int {
	seats := map[int]bool{}
	s.playerDeadlines(func(d deadline) {
		if d.atMs == nowMs {
			seats[d.seat] = true
		}
	})
	if s.end == nil && len(seats) > 1 {
		return 1
	}
	return 0
}

func alignedCommand(r *rand.Rand, s *Session) Command {
	seat := r.IntN(s.setup.Players)
	switch r.IntN(12) {
	case 0, 1, 2:
		return Drop{Seat: seat}
	case 3, 4:
		return Return{Seat: seat}
	case 5:
		return AnimationComplete{Seat: seat, Serial: s.hands[seat].lockSerial}
	case 6:
		if r.IntN(6) == 0 {
			return Forfeit{Seat: seat}
		}
	}
	board := s.shared.Board.AppendCards(nil)
	cards := [3]Card(append(board, MustCard(0), MustCard(1), MustCard(2)))
	if sets := FindAllSets(board); len(sets) > 0 && r.IntN(3) > 0 {
		cards = sets[r.IntN(len(sets))]
	}
	return ClaimSet{Seat: seat, ID: r.Uint64() | 1, Cards: []byte{cards[0].id, cards[1].id, cards[2].id}}
}

// replayMoves gives the same commands to a match in which player i sits on seat order[i], and returns what happens to
// whom.
func replayMoves(t *testing.T, setup Setup, moves []move, order []int) []string {
	s, out := NewSession(), Output{}
	require.NoError(t, s.StartMatch(setup, &out))
	person := make([]int, len(order))
	for i, seat := range order {
		person[seat] = i
	}
	var story []string
	for _, m := range moves {
		out.Reset()
		var result Result
		if m.cmd == nil {
			s.Advance(m.atMs, &out)
		} else {
			result = s.Apply(m.atMs, seatedCommand(m.cmd, order), &out)
		}
		wakeMs, wakes := s.NextWakeMs()
		result.Verdict.Seat = 0
		story = append(story, personal(out, person)...)
		state := fmt.Sprintf("revision %d, wake %d %t, %s", s.Revision(), wakeMs, wakes, people(s, order))
		story = append(story, fmt.Sprintf("%d %+v, %s", m.atMs, result, state))
	}
	return story
}

// seatedCommand is the command of the person who sits elsewhere.
func seatedCommand(cmd Command, order []int) Command {
	switch c := cmd.(type) {
	case ClaimSet:
		c.Seat = order[c.Seat]
		return c
	case AnimationComplete:
		c.Seat = order[c.Seat]
		return c
	case Drop:
		return Drop{Seat: order[c.Seat]}
	case Return:
		return Return{Seat: order[c.Seat]}
	case Forfeit:
		return Forfeit{Seat: order[c.Seat]}
	}
	panic(fmt.Sprintf("%T", cmd))
}

// personal is what came out, with people for seats. Of what happens at one time only the end has a place: it is last.
func personal(out Output, person []int) []string {
	for i := range out.Events {
		e := &out.Events[i]
		switch event := e.Event.(type) {
		case SetClaimed:
			event.Seat = person[event.Seat]
			e.Event = event
		case ScoreChanged:
			event.Seat = person[event.Seat]
			e.Event = event
		case PenaltyApplied:
			event.Seat = person[event.Seat]
			e.Event = event
		case PlayerForfeited:
			event.Seat = person[event.Seat]
			e.Event = event
		case MatchEnded:
			e.Event = personalEnd(event, person)
		}
	}
	for i := range out.Answers {
		out.Answers[i].Seat = person[out.Answers[i].Seat]
	}
	lines := describe(out)
	slices.Sort(lines)
	if last := len(out.Events) - 1; last >= 0 {
		lines = append(lines, fmt.Sprintf("last %T", out.Events[last].Event))
	}
	return lines
}

func personalEnd(e MatchEnded, person []int) MatchEnded {
	end := MatchEnded{Reason: e.Reason, Table: make([]FinalScore, len(e.Table))}
	for _, seat := range e.Winners {
		end.Winners = append(end.Winners, person[seat])
	}
	slices.Sort(end.Winners)
	for seat, line := range e.Table {
		line.Seat = person[seat]
		end.Table[line.Seat] = line
	}
	return end
}

// people is what the state says of everybody.
func people(s *Session, order []int) string {
	text := fmt.Sprintf("%v %d cards", s.shared.State, s.shared.Board.CardCount())
	for _, seat := range order {
		heldUntilMs, held := s.HeldUntilMs(seat)
		text += fmt.Sprintf(", %+v %d %t", s.shared.ByPlayer[seat], heldUntilMs, held)
	}
	return text
}

// permutations are all orders of n seats, the first as they are.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var all [][]int
	for _, shorter := range permutations(n - 1) {
		for at := n - 1; at >= 0; at-- {
			all = append(all, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return all
}
