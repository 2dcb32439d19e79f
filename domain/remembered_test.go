package domain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every Set is remembered for the whole match, and of each player the last thousand wrong claims.
func TestRememberedClaimsAreBounded(t *testing.T) {
	for _, version := range []byte{recordVersion2, recordVersion} {
		s := &Session{version: version}
		rules := DefaultRules()
		rules.InvalidAnimMs = 0
		setup := Setup{Rules: rules, Players: 2, Deck: orderOf(t, namedBoards["SETS"], true)}
		require.NoError(t, s.StartMatch(setup, &Output{}))
		set := ClaimSet{ID: 1, Cards: []byte{0, 1, 2}}
		require.Equal(t, Applied, applyAt(t, s, 10, set).Outcome)
		wrong := func(id int) ClaimSet { return ClaimSet{ID: uint64(id), Cards: []byte{3, 4, 6}} }
		for id := 2; id < 2+3*maxWrong; id++ {
			require.Equal(t, Applied, applyAt(t, s, 5000, wrong(id)).Outcome)
		}
		require.Equal(t, Applied, applyAt(t, s, 5000, ClaimSet{Seat: 1, ID: 2, Cards: []byte{3, 4, 6}}).Outcome)
		require.Equal(t, Repeated, applyAt(t, s, 5000, set).Outcome)
		require.Equal(t, Repeated, applyAt(t, s, 5000, wrong(2+2*maxWrong)).Outcome)
		last, _ := s.LastVerdict(0)
		require.EqualValues(t, 1+3*maxWrong, last.ClaimID)
		if version == recordVersion2 {
			require.Equal(t, Repeated, applyAt(t, s, 5000, wrong(2)).Outcome)
			continue
		}
		require.Len(t, s.players[0].verdicts, 1+maxWrong)
		require.Equal(t, Applied, applyAt(t, s, 5000, wrong(1+2*maxWrong)).Outcome, "it is judged anew")
		require.Len(t, s.players[0].verdicts, 1+maxWrong)
		require.Equal(t, Applied, applyAt(t, s, 5000, wrong(2+2*maxWrong)).Outcome, "and took the oldest one's place")
	}
}
