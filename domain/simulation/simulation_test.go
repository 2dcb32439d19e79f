package simulation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"set3d/domain"
)

// TestRandomMatches plays many matches; a failure names the seed that replays it: Run(seed).
func TestRandomMatches(t *testing.T) {
	matches := uint64(1500)
	if testing.Short() {
		matches = 200
	}
	var total Stats
	for seed := range matches {
		stats, err := Run(seed)
		require.NoError(t, err)
		total.Add(stats)
	}
	t.Logf("%+v", total)
	require.Equal(t, int(matches), total.Ended)
	// The simulation is worth nothing if it never gets to what it is for.
	for name, n := range map[string]int{
		"valid claims": total.Valid, "invalid claims": total.Invalid, "repeats": total.Repeated, "held claims": total.Held,
		"late answers": total.LateAnswers,
	} {
		require.Greater(t, n, 50, name)
	}
	for reason := domain.RefusedMalformed; reason <= domain.RefusedNoReplica; reason++ {
		if reason != domain.RefusedNotStarted {
			require.Positive(t, total.Reasons[reason], reason.String())
		}
	}
	for end := domain.EndNoSetsLeft; end <= domain.EndIdle; end++ {
		require.Positive(t, total.Ends[end], end.String())
	}
}
