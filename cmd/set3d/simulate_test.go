package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"set3d/domain/simulation"
)

func TestSimulate(t *testing.T) {
	p := execute(t, "simulate", "--seeds", "40", "--from", "4711")
	require.Equal(t, exitOK, p.code, p.stderr)
	require.Contains(t, p.stdout, "40 matches from seed 4711 in ")
	require.Contains(t, p.stdout, "40 seeds to the end")
	require.Regexp(t, `Claims   [1-9]\d* Sets, [1-9]\d* wrong, [1-9]\d* of these by bots`, p.stdout)
	require.Regexp(t, `Refused  [1-9]\d*:\n {9}malformed \d+, not a player`, p.stdout)
	require.Contains(t, p.stdout, "Nothing was wrong.")
	for _, line := range strings.Split(p.stdout, "\n") {
		require.LessOrEqual(t, len(line), plainWidth)
	}
	require.Contains(t, execute(t, "simulate", "--seeds", "1").stdout, "1 seed to the end")
	require.NotContains(t, p.stderr, "set3d:", "progress may be there, on a slow machine; errors are not")
}

func TestSimulateLeague(t *testing.T) {
	p := execute(t, "simulate", "--league", "--games", "3")
	require.Equal(t, exitOK, p.code, p.stderr)
	require.Contains(t, p.stdout, "3 games each, seed 0, default rules")
	require.Regexp(t, `(?m)^  hard +3 +0 +\d+ +\d\.\d +\d+ +\d+ +\d+\n  medium +0`, p.stdout)
	require.Contains(t, p.stdout, "\nhard against medium against easy\n  hard")
	require.Contains(t, p.stdout, "\neasy alone\n  easy")
	require.Regexp(t, `(?m)^  easy `, p.stdout)
	require.Equal(t, p, execute(t, "simulate", "--league", "--games", "3"), "a league follows from its seed")
	require.NotEqual(t, p.stdout, execute(t, "simulate", "--league", "--games", "3", "--from", "1").stdout)
}

func TestSimulateUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--seeds", "0"}, {"--seeds", "-1"}, {"--seeds", "2", "--from", fmt.Sprint(uint64(math.MaxUint64))}, {"--league", "--games", "0"},
		{"--league", "--games", "1000001"}, {"--league", "--seeds", "2"}, {"--games", "2", "--seeds", "2"}, {"42"},
	} {
		p := execute(t, append([]string{"simulate"}, args...)...)
		require.Equal(t, exitUsage, p.code, args)
		require.Contains(t, p.stderr, "Try 'set3d simulate --help'.", args)
		require.Empty(t, p.stdout, args)
	}
	last := execute(t, "simulate", "--seeds", "1", "--from", fmt.Sprint(uint64(math.MaxUint64)))
	require.Equal(t, exitOK, last.code, last.stderr)
}

// The lowest seed that fails is named, whichever worker comes to it, and how to run it again.
func TestSimulateNamesTheLowestSeedThatFails(t *testing.T) {
	for range 20 {
		s := &simulator{flags: simulateFlags{seeds: 1000, from: 100}, run: func(seed uint64) (simulation.Stats, error) {
			if seed >= 123 {
				return simulation.Stats{Steps: 1}, fmt.Errorf("seed %d, step 1: the deck is on fire", seed)
			}
			return simulation.Stats{Steps: 1, Ended: 1}, nil
		}}
		var stdout lockedBuffer
		err := s.report(s.simulate(t.Context(), io.Discard), newPen(&stdout))
		var known *exitError
		require.True(t, errors.As(err, &known))
		require.Equal(t, exitWrong, known.code)
		require.EqualError(t, err, "seed 123, step 1: the deck is on fire\nReplay it with: set3d simulate --seeds 1 --from 123")
		require.Contains(t, stdout.String(), "23 seeds to the end")
		require.NotContains(t, stdout.String(), "Nothing was wrong")
		require.Less(t, s.done, uint64(1000), "it stops")
	}
}

func TestSimulateIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &simulator{flags: simulateFlags{seeds: math.MaxUint64}, run: func(seed uint64) (simulation.Stats, error) {
		if seed == 50 {
			cancel()
		}
		return simulation.Stats{}, nil
	}}
	var stdout lockedBuffer
	err := s.report(s.simulate(ctx, io.Discard), newPen(&stdout))
	var known *exitError
	require.True(t, errors.As(err, &known))
	require.Equal(t, exitStopped, known.code)
	require.NotContains(t, stdout.String(), "Nothing was wrong")
}
