package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// Whatever state a match is in, what the wire says of it reads back as the same value.
func TestSnapshotsReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rules := testRules()
		rules.Timed = rapid.Bool().Draw(rt, "timed")
		if rules.Timed {
			rules.TimeLimitMs, rules.PenaltyMode, rules.PenaltyTimeMs = 120_000, domain.PenaltyTime, 700
		}
		players := rapid.IntRange(1, domain.MaxPlayers).Draw(rt, "players")
		s := domain.NewSession()
		var out domain.Output
		require.NoError(rt, s.StartMatch(domain.Setup{Rules: rules, Players: players, Deck: keyDeck(byte(players))}, &out))
		now := int64(0)
		for id := range uint64(rapid.IntRange(0, 40).Draw(rt, "claims")) {
			state := s.Snapshot()
			cards := state.Board.AppendCards(nil)
			triple := domain.Triple(cards[:3])
			if sets := domain.FindAllSets(cards); len(sets) > 0 && id%4 != 3 {
				triple = sets[0]
			}
			s.Apply(now, domain.ClaimSet{Seat: int(id) % players, ID: id + 1, Cards: tripleToWire(triple)}, &out)
			got, err := DomainSnapshot(snapshotToWire(s.Snapshot()))
			require.NoError(rt, err)
			require.Equal(rt, s.Snapshot(), got)
			now += rapid.Int64Range(0, 1200).Draw(rt, "ms")
			s.Advance(now, &out)
		}
		require.Equal(rt, rules, DomainRules(rulesToWire(rules)))
	})
}

func TestImpossibleSnapshots(t *testing.T) {
	table := newFakeTable(t, 2, testRules(), seedDeck(t, 42))
	table.start()
	set := domain.FindAllSets(func() []domain.Card { b := table.session.Snapshot().Board; return b.AppendCards(nil) }())[0]
	table.claim(0, &wire.ClaimSet{ClaimId: 1, Cards: tripleToWire(set)})
	for name, spoil := range map[string]func(*wire.Snapshot){
		"no scores":          func(s *wire.Snapshot) { s.Scores = nil },
		"nine players":       func(s *wire.Snapshot) { s.Scores = make([]uint32, 9) },
		"a lock too few":     func(s *wire.Snapshot) { s.LockedUntilMs = s.LockedUntilMs[:1] },
		"a penalty too few":  func(s *wire.Snapshot) { s.TimePenaltiesMs = s.TimePenaltiesMs[:1] },
		"a stranger forfeit": func(s *wire.Snapshot) { s.ForfeitedSeats = 4 },
		"eleven slots":       func(s *wire.Snapshot) { s.Board = s.Board[:11] },
		"thirteen slots":     func(s *wire.Snapshot) { s.Board = append(s.Board, emptySlot) },
		"a card twice":       func(s *wire.Snapshot) { s.Board[1] = s.Board[0] },
		"a card 81":          func(s *wire.Snapshot) { s.Board[1] = 81 },
		"an unknown state":   func(s *wire.Snapshot) { s.State = 17 },
		"an animation of 9":  func(s *wire.Snapshot) { *s.Animation.Seat = 9 },
		"two claimed cards":  func(s *wire.Snapshot) { s.Animation.ClaimedCards = s.Animation.ClaimedCards[:2] },
		"a claimed card 200": func(s *wire.Snapshot) { s.Animation.ClaimedCards[0] = 200 },
		"a claimed slot 21":  func(s *wire.Snapshot) { s.Animation.ClaimedSlots[0] = 21 },
		"a dealt slot 21":    func(s *wire.Snapshot) { s.Animation.DealtSlots = []byte{1, 2, 21} },
	} {
		w := snapshotToWire(table.session.Snapshot())
		_, err := DomainSnapshot(w)
		require.NoError(t, err)
		spoil(w)
		_, err = DomainSnapshot(w)
		require.ErrorIs(t, err, ErrUnreadable, name)
	}
}

func TestVerdictsReadBack(t *testing.T) {
	v := domain.SetClaimed{Seat: 1, ClaimID: 77, Cards: domain.Triple{domain.MustCard(80), domain.MustCard(3), domain.MustCard(9)}, Slots: [3]int{20, 0, 4}, Mixed: 5}
	got, err := DomainVerdict(verdictToWire(v))
	require.NoError(t, err)
	require.Equal(t, v, got)
	_, err = DomainVerdict(&wire.SetClaimed{Cards: []byte{1, 2}})
	require.ErrorIs(t, err, ErrUnreadable)
}
