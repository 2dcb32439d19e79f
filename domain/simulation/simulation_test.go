package simulation

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"set3d/domain"
)

// TestRandomMatches plays many matches; a failure names the seed that replays it: Run(seed).
func TestRandomMatches(t *testing.T) {
	matches := uint64(3000)
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
		"late answers": total.LateAnswers, "claims of bots": total.BotClaims, "holds that wait": total.WaitingHolds,
	} {
		require.Greater(t, n, 50, name)
	}
	for reason := domain.RefusedMalformed; reason <= domain.RefusedAlreadyDropped; reason++ {
		if reason != domain.RefusedNotStarted {
			require.Positive(t, total.Reasons[reason], reason.String())
		}
	}
	for end := domain.EndNoSetsLeft; end <= domain.EndIdle; end++ {
		require.Positive(t, total.Ends[end], end.String())
	}
}

// A seed is enough to replay a run.
func TestRunFollowsFromItsSeed(t *testing.T) {
	for seed := range uint64(20) {
		first, err := Run(seed)
		require.NoError(t, err)
		again, err := Run(seed)
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
}

// Whatever fails, a panic too, says how to see it again.
func TestFailuresNameTheirSeedAndStep(t *testing.T) {
	steps := 0
	_, err := run(rand.NewPCG(1, 1), func() bool {
		if steps++; steps > 5 {
			panic("the deck is on fire")
		}
		return false
	})
	require.ErrorContains(t, err, "step 5, at ")
	require.ErrorContains(t, err, "panic: the deck is on fire")
	require.ErrorContains(t, err, "simulation_test.go")
}

// The same matches, chosen by a library that looks for the shortest list of choices that fails.
func TestChosenMatches(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		_, err := RunChoices(rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(rt, "choices"))
		require.NoError(rt, err)
	})
}

// FuzzSession: no choice of setup, commands and times breaks what must hold in every match.
func FuzzSession(f *testing.F) {
	f.Add([]byte(nil))
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 1))
		var choices []byte
		for range 10 * (seed + 1) {
			choices = binary.LittleEndian.AppendUint64(choices, random.Uint64())
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		_, err := RunChoices(choices)
		require.NoError(t, err)
	})
}

// A byte decides a small choice whether it looks at the high end of a number or, as powers of two do, at the low one.
func TestAByteIsAChoice(t *testing.T) {
	for _, n := range []int{2, 3, 4, 7, 8, 40} {
		seen := map[int]bool{}
		for choice := range 256 {
			source := newChoices([]byte{byte(choice)})
			first := rand.New(source).IntN(n)
			require.True(t, source.made())
			require.Equal(t, first, rand.New(newChoices([]byte{byte(choice)})).IntN(n))
			seen[first] = true
		}
		require.Len(t, seen, n)
	}
}
