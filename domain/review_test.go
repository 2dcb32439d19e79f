package domain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReview(t *testing.T) {
	cards := func(codes ...string) (ids []byte) {
		for _, code := range codes {
			card, err := ParseCard(code)
			require.NoError(t, err)
			ids = append(ids, byte(card.ID()))
		}
		return ids
	}
	var order []Card
	// MAX, which holds 14 Sets, and three more cards.
	for _, id := range cards("0000", "0001", "0002", "0010", "0011", "0012", "0020", "0021", "0022", "0100", "0101", "0200", "1000", "1001", "1002") {
		order = append(order, MustCard(int(id)))
	}
	source, err := OrderSource(order)
	require.NoError(t, err)
	s := NewSession()
	var out Output
	require.NoError(t, s.StartMatch(Setup{Rules: DefaultRules(), Players: 2, Deck: source}, &out))
	s.Apply(1000, ClaimSet{Seat: 1, ID: 1, Cards: cards("0000", "0001", "0010")}, &out) // wrong
	s.Apply(4000, ClaimSet{Seat: 0, ID: 2, Cards: cards("0000", "0001", "0002")}, &out)
	s.Apply(7000, ClaimSet{Seat: 1, ID: 3, Cards: cards("0010", "0011", "0012")}, &out)
	s.Apply(7100, Forfeit{Seat: 0}, &out) // the board is still moving
	boards, err := Review(s.Record())
	require.NoError(t, err)
	require.Len(t, boards, 2)
	first, second := boards[0], boards[1]
	require.Equal(t, []int64{0, 4000, 4900, 7000}, []int64{first.FromMs, first.ToMs, second.FromMs, second.ToMs})
	require.Len(t, first.Sets, 14)
	require.Len(t, first.Missed(), 13)
	require.NotContains(t, first.Missed(), first.Taken.Cards)
	require.True(t, first.IsTaken)
	require.Equal(t, 1, second.Taken.Seat)
	card, _ := second.Board.CardAt(0)
	require.Equal(t, "1000", card.Code(), "the slots are refilled")

	s = NewSession()
	require.NoError(t, s.StartMatch(Setup{Rules: DefaultRules(), Players: 2, Deck: source}, &out))
	s.Apply(2500, Forfeit{Seat: 0}, &out)
	boards, err = Review(s.Record())
	require.NoError(t, err)
	require.Len(t, boards, 1)
	require.False(t, boards[0].IsTaken)
	require.Len(t, boards[0].Missed(), 14)
	require.Equal(t, int64(2500), boards[0].ToMs)

	_, err = Review([]byte("?"))
	require.ErrorIs(t, err, ErrRecordVersion)
}

// In every match that is played to the end each Set that was taken is of its board, and the boards follow each other.
func TestReviewOfWholeMatches(t *testing.T) {
	for seed := range uint64(20) {
		rules := DefaultRules()
		rules.InitialBoardSize = 12 + 3*int(seed%3)
		if seed%2 == 1 {
			rules.RefillPolicy = RefillToInitialSize
		}
		if seed%5 == 0 {
			rules.ValidAnimMs, rules.RefillAnimMs, rules.ExpandAnimMs = 0, 0, 0
		}
		setup := Setup{Rules: rules, Players: 3, Deck: KeySource([32]byte{byte(seed)})}
		setup.Bots[0], setup.Bots[1], setup.Bots[2] = Bot{BotHard, seed}, Bot{BotEasy, seed}, Bot{BotMedium, seed}
		s := NewSession()
		var out Output
		require.NoError(t, s.StartMatch(setup, &out))
		idle := map[int64]bool{0: s.Snapshot().State == BoardIdle}
		for {
			wake, ok := s.NextWakeMs()
			if !ok {
				break
			}
			s.Advance(wake, &out)
			idle[wake] = idle[wake] || s.Snapshot().State == BoardIdle
		}
		boards, err := Review(s.Record())
		require.NoError(t, err)
		end, ended := s.Ended()
		require.True(t, ended)
		scores, at := map[int]int{}, int64(0)
		for _, b := range boards {
			require.GreaterOrEqual(t, b.FromMs, at)
			require.GreaterOrEqual(t, b.ToMs, b.FromMs)
			require.True(t, idle[b.FromMs] || rules.ValidAnimMs == 0, "seed %d: the board is not idle at %d", seed, b.FromMs)
			at = b.ToMs
			require.Len(t, b.Missed(), len(b.Sets)-1, "seed %d", seed)
			scores[b.Taken.Seat]++
		}
		for _, line := range end.Table {
			require.Equal(t, line.Score, scores[line.Seat])
		}
	}
}
