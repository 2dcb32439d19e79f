package domain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A story by hand: on MAX with six more cards everything is known.
func TestSummary(t *testing.T) {
	var order []Card
	for _, code := range []string{
		"0000", "0001", "0002", "0010", "0011", "0012", "0020", "0021", "0022", "0100", "0101", "0200", // MAX, 14 Sets
		"1000", "1001", "1002", "2222", "2221", "1112", // refills
	} {
		card, err := ParseCard(code)
		require.NoError(t, err)
		order = append(order, card)
	}
	source, err := OrderSource(order)
	require.NoError(t, err)
	rules := DefaultRules()
	rules.PenaltyMode, rules.ClaimGraceMs = PenaltyPoint, 250
	s := NewSession()
	var out Output
	require.NoError(t, s.StartMatch(Setup{Rules: rules, Players: 3, Deck: source}, &out))
	id := uint64(0)
	claim := func(atMs int64, seat int, codes ...string) Result {
		var cards []byte
		for _, code := range codes {
			card, err := ParseCard(code)
			require.NoError(t, err)
			cards = append(cards, byte(card.ID()))
		}
		id++
		return s.Apply(atMs, ClaimSet{Seat: seat, ID: id, Cards: cards}, &out)
	}
	require.Equal(t, Applied, claim(4000, 0, "0000", "0001", "0002").Outcome) // after 4,000 ms; the next board is from 4,900
	require.Equal(t, Held, claim(4100, 1, "0010", "0011", "0012").Outcome)    // a Set at 4,900, and no reaction; then from 5,800
	require.Equal(t, Refused, claim(4300, 2, "0020", "0021", "0022").Outcome) // too late to be held, and never judged
	require.Equal(t, Applied, claim(6000, 0, "0020", "0021", "0100").Outcome) // wrong, and takes the point
	require.Equal(t, Applied, claim(6000, 2, "0020", "0021", "0100").Outcome) // wrong, without a point to take

	sum, err := Summarize(s.Record())
	require.NoError(t, err)
	require.False(t, sum.HasEnded)
	require.Equal(t, int64(6000), sum.DurationMs)
	require.Equal(t, []SeatSummary{
		{Score: 0, Claims: 2, Sets: 1, Wrong: 1, Reactions: Reactions{Count: 1, FastestMs: 4000, MedianMs: 4000}},
		{Score: 1, Claims: 1, Sets: 1},
		{Claims: 1, Wrong: 1},
	}, sum.Seats)

	require.Equal(t, Applied, claim(7001, 0, "0020", "0021", "0022").Outcome) // after 1,201; no card is left in the deck
	s.Apply(9000, Forfeit{Seat: 2}, &out)
	require.Equal(t, Applied, claim(9900, 0, "1000", "1001", "1002").Outcome) // after 9,900 − 7,901 = 1,999
	s.Apply(10_000, Forfeit{Seat: 1}, &out)
	s.Advance(60_000, &out)
	sum, err = Summarize(s.Record())
	require.NoError(t, err)
	require.True(t, sum.HasEnded)
	require.Equal(t, EndLastPlayer, sum.End.Reason)
	require.Equal(t, []int{0}, sum.End.Winners)
	require.Equal(t, int64(10_000), sum.DurationMs, "until the end, not until the record")
	require.Equal(t, []SeatSummary{
		{Score: 2, Claims: 4, Sets: 3, Wrong: 1, Reactions: Reactions{Count: 3, FastestMs: 1201, MedianMs: 1999}},
		{Score: 1, Forfeited: true, Claims: 1, Sets: 1},
		{Forfeited: true, Claims: 1, Wrong: 1},
	}, sum.Seats)
	require.False(t, sum.Committed)
	require.Equal(t, source, sum.Setup.Deck)

	_, err = Summarize([]byte("?"))
	require.ErrorIs(t, err, ErrRecordVersion)
}

// An even number of times has its median between two.
func TestReactions(t *testing.T) {
	require.Equal(t, Reactions{Count: 4, FastestMs: 1, MedianMs: 5}, reactionsOf([]int64{9, 1, 7, 4}))
	require.Equal(t, Reactions{}, reactionsOf(nil))
}

// A board counts from when it could be claimed from: after an expansion from its end, and after an animation that was
// completed early from then on.
func TestBoardsCountFromWhenTheyAreIdle(t *testing.T) {
	s := NewSession()
	var out Output
	deck := orderOf(t, namedBoards["GROW"], true)
	require.NoError(t, s.StartMatch(Setup{Rules: DefaultRules(), Players: 1, Deck: deck}, &out))
	claim := func(atMs int64) {
		s.Advance(atMs, &out)
		set := FindAllSets(s.shared.Board.AppendCards(nil))[0]
		ids := []byte{set[0].id, set[1].id, set[2].id}
		require.Equal(t, Applied, applyAt(t, s, atMs, ClaimSet{ID: uint64(atMs), Cards: ids}).Outcome)
	}
	complete := func(atMs int64) {
		cmd := AnimationComplete{Seat: BoardLayer, Serial: s.shared.Animation.Serial}
		require.Equal(t, Applied, applyAt(t, s, atMs, cmd).Outcome)
	}
	require.Equal(t, ExpandBoardAnim, s.shared.State) // until 450
	claim(1000)
	complete(1100)
	complete(1200)
	require.Equal(t, BoardIdle, s.shared.State)
	claim(1300)
	s.Advance(5000, &out)
	record := s.Record()
	boards, err := Review(record)
	require.NoError(t, err)
	require.Len(t, boards, 2)
	require.Equal(t, []int64{450, 1000}, []int64{boards[0].FromMs, boards[0].ToMs})
	require.Equal(t, []int64{1200, 1300}, []int64{boards[1].FromMs, boards[1].ToMs})
	sum, err := Summarize(record)
	require.NoError(t, err)
	require.Equal(t, Reactions{Count: 2, FastestMs: 100, MedianMs: 325}, sum.Seats[0].Reactions)
}

// Whole matches with bots: what is summed up is what the session says, and the commitment is the key's.
func TestSummaryOfAWholeMatch(t *testing.T) {
	s := playedWithBots(t)
	sum, err := Summarize(s.Record())
	require.NoError(t, err)
	end, _ := s.Ended()
	require.Equal(t, end, sum.End)
	require.Equal(t, s.Setup(), sum.Setup)
	commitment, committed := s.Setup().Deck.Commitment()
	require.True(t, committed && sum.Committed)
	require.Equal(t, commitment, sum.Commitment)
	total := 0
	for i, seat := range sum.Seats {
		require.Equal(t, end.Table[i].Score, seat.Score)
		require.LessOrEqual(t, seat.Reactions.Count, seat.Sets)
		require.LessOrEqual(t, seat.Reactions.FastestMs, seat.Reactions.MedianMs)
		total += seat.Sets
	}
	require.Greater(t, total, 15)
}
