package domain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStartMatchRefusesABadSetup(t *testing.T) {
	good := Setup{Rules: DefaultRules(), Players: 2, Deck: orderOf(t, namedBoards["SETS"], true)}
	badRules := good
	badRules.Rules.InitialBoardSize = 13
	badPlayers, noPlayers, noDeck := good, good, good
	badPlayers.Players, noPlayers.Players, noDeck.Deck = MaxPlayers+1, 0, DeckSource{}

	s := NewSession()
	var out Output
	var rulesErr *RulesError
	require.ErrorAs(t, s.StartMatch(badRules, &out), &rulesErr)
	require.ErrorIs(t, s.StartMatch(badPlayers, &out), ErrPlayerCount)
	require.ErrorIs(t, s.StartMatch(noPlayers, &out), ErrPlayerCount)
	require.ErrorIs(t, s.StartMatch(noDeck, &out), ErrDeckSource)
	require.False(t, s.Started())
	require.Empty(t, out.Events)
	require.Zero(t, s.Revision())

	require.NoError(t, s.StartMatch(good, &out))
	require.ErrorIs(t, s.StartMatch(good, &out), ErrStarted)
	require.Equal(t, good, s.Setup())
}

// Before the start nothing can be done, and nothing is remembered.
func TestNothingCanBeDoneBeforeTheStart(t *testing.T) {
	s := NewSession()
	commands := []Command{
		SelectCard{}, DeselectCard{}, ClaimSelected{}, ClaimSet{ID: 1, Cards: []byte{0, 1, 2}}, Drop{}, Return{}, Forfeit{},
	}
	for _, cmd := range commands {
		require.Equal(t, RefusedNotStarted, applyAt(t, s, 50, cmd).Refusal.Reason, "%T", cmd)
	}
	require.Equal(t, RefusedNotAPlayer, applyAt(t, s, 50, ClaimSet{Seat: -1, ID: 1, Cards: []byte{0, 1, 2}}).Refusal.Reason)
	require.Equal(t, RefusedMalformed, applyAt(t, s, 50, ClaimSet{ID: 1, Cards: []byte{0, 0, 2}}).Refusal.Reason)
	s.Advance(5000, &Output{})
	require.Zero(t, s.Revision())
	require.Zero(t, s.NowMs(), "the clock stands still")
	_, wakes := s.NextWakeMs()
	require.False(t, wakes)

	var out Output
	setup := Setup{Rules: DefaultRules(), Players: 2, Deck: orderOf(t, namedBoards["SETS"], true)}
	require.NoError(t, s.StartMatch(setup, &out))
	for _, e := range out.Events {
		require.Zero(t, e.AtMs, "%T", e.Event)
	}
	_, err := Replay(s.Record(), &Output{})
	require.NoError(t, err)
}

// Spec, Common Mistakes: what was taken out of a session is not changed by it later.
func TestNothingMutatesWhatWasHandedOut(t *testing.T) {
	s := startTestMatch(t, "SETS", 2)
	var out Output
	s.Apply(100, SelectCard{Slot: 9}, &out)
	snapshot, input, record := s.Snapshot(), s.Input(0), s.Record()
	kept := append([]byte(nil), record...)

	claim := ClaimSet{Seat: 1, ID: 1, Cards: []byte{0, 1, 2}}
	s.Apply(200, claim, &out)
	dealtBefore := out.Events[len(out.Events)-1]
	clear(claim.Cards)
	s.Advance(5000, &out)
	s.Apply(6000, ClaimSet{Seat: 0, ID: 2, Cards: []byte{3, 4, 5}}, &out)

	require.Equal(t, BoardIdle, snapshot.State)
	require.Equal(t, 12, snapshot.Board.CardCount())
	require.Zero(t, snapshot.ByPlayer[1].Score)
	require.Equal(t, []int{9}, input.Selected)
	require.Equal(t, kept, record)
	require.Equal(t, ScoreChanged{Seat: 1, Score: 1}, dealtBefore.Event)
	repeat := s.Apply(7000, ClaimSet{Seat: 1, ID: 1, Cards: []byte{2, 1, 0}}, &out)
	require.Equal(t, Repeated, repeat.Outcome, "the session kept the caller's slice")
}

// Time never goes back: an earlier command counts as now.
func TestTimeNeverGoesBack(t *testing.T) {
	s := startTestMatch(t, "SETS", 1)
	s.Advance(5000, &Output{})
	var out Output
	s.Apply(10, ClaimSet{ID: 1, Cards: []byte{0, 1, 2}}, &out)
	require.EqualValues(t, 5000, out.Events[0].AtMs)
	require.EqualValues(t, 5000, s.NowMs())
}

func TestLastVerdict(t *testing.T) {
	s := startTestMatch(t, "SETS", 2)
	_, judged := s.LastVerdict(0)
	require.False(t, judged)
	applyAt(t, s, 10, ClaimSet{ID: 7, Cards: []byte{0, 1, 3}})
	applyAt(t, s, 20, ClaimSet{ID: 8, Cards: []byte{0, 1, 2}}) // refused: locked
	verdict, judged := s.LastVerdict(0)
	require.True(t, judged)
	require.EqualValues(t, 7, verdict.ClaimID)
	require.False(t, verdict.Valid())
	_, judged = s.LastVerdict(9)
	require.False(t, judged)
}

// A key deck's commitment is published when the match starts.
func TestMatchStartedCommits(t *testing.T) {
	s := NewSession()
	var out Output
	source := KeySource([32]byte{1, 2, 3})
	require.NoError(t, s.StartMatch(Setup{Rules: DefaultRules(), Players: 1, Deck: source}, &out))
	started, ok := out.Events[0].Event.(MatchStarted)
	require.True(t, ok)
	commitment, _ := source.Commitment()
	require.True(t, started.Committed)
	require.Equal(t, commitment, started.Commitment)
}

// Spec, Expansion: a board of 21 slots does not grow, whatever the deck holds. Play does not get there, because 21 cards
// always hold a Set.
func TestAFullBoardDoesNotExpand(t *testing.T) {
	s := startTestMatch(t, "SETS", 1)
	for s.shared.Board.SlotCount() < MaxSlots {
		must(s.shared.Board.Expand(ExpansionSize))
	}
	for _, slot := range s.shared.Board.EmptySlots()[:MaxSlots-MinSlots-2] {
		s.place([]int{slot})
	}
	_, ok := s.expansionSlots()
	require.False(t, ok)
}

func TestHeldUntil(t *testing.T) {
	s := startTestMatch(t, "SETS", 3)
	applyAt(t, s, 1000, Drop{Seat: 1})
	heldUntilMs, dropped := s.HeldUntilMs(1)
	require.True(t, dropped)
	require.EqualValues(t, 181_000, heldUntilMs)
	applyAt(t, s, 2000, Forfeit{Seat: 1})
	for seat := -1; seat <= 3; seat++ {
		_, dropped = s.HeldUntilMs(seat)
		require.False(t, dropped, "seat %d", seat)
	}
}

// A broken invariant is a panic with the numbers in it.
func TestBrokenInvariantsPanic(t *testing.T) {
	s := startTestMatch(t, "SETS", 1)
	require.PanicsWithValue(t, "domain: in BoardIdle, not in ValidSetAnim, at 0 ms, revision 1", s.enterRefillAnim)
	require.Panics(t, func() { must(ErrDeckShort) })
	require.Panics(t, func() { s.placement([]int{20}) })
	require.Panics(t, s.completeBoardAnimation)
}

// BenchmarkClaim is a claim with all that follows: verdict, removal, refill, the search for a Set, and the snapshot. What it
// allocates is what it hands out and must not touch again, each once: the command, the four events, the slots and cards of
// the two that carry them, and now and then room for the verdicts that it remembers.
func BenchmarkClaim(b *testing.B) {
	source := KeySource([32]byte{7})
	var out Output
	var s *Session
	var id uint64
	var snapshot Snapshot
	sets := make([]Triple, 0, 64)
	cards := make([]Card, 0, MaxSlots)
	claim := make([]byte, 3)
	b.ReportAllocs()
	for b.Loop() {
		if s == nil || s.end != nil {
			b.StopTimer()
			s = NewSession()
			rules := DefaultRules()
			rules.ValidAnimMs, rules.RefillAnimMs, rules.ExpandAnimMs = 0, 0, 0
			require.NoError(b, s.StartMatch(Setup{Rules: rules, Players: 4, Deck: source}, &out))
			b.StartTimer()
		}
		board := s.Snapshot().Board
		sets = appendAllSets(sets[:0], board.AppendCards(cards[:0]))
		for i, card := range sets[0] {
			claim[i] = byte(card.ID())
		}
		id++
		out.Reset()
		s.Apply(int64(id), ClaimSet{Seat: int(id % 4), ID: id, Cards: claim}, &out)
		snapshot = s.Snapshot()
	}
	_ = snapshot
}

// BenchmarkSnapshot is a copy, and costs no allocation.
func BenchmarkSnapshot(b *testing.B) {
	s := startTestMatch(b, "SETS", 4)
	var snapshot Snapshot
	b.ReportAllocs()
	for b.Loop() {
		snapshot = s.Snapshot()
	}
	_ = snapshot
}

func TestSnapshotAndRefusalsDoNotAllocate(t *testing.T) {
	s := startTestMatch(t, "SETS", 4)
	var out Output
	var snapshot Snapshot
	require.Zero(t, testing.AllocsPerRun(100, func() { snapshot = s.Snapshot() }))
	require.Zero(t, testing.AllocsPerRun(100, func() { s.Advance(10, &out) }))
	_ = snapshot
}
