package simulation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"set3d/domain"
)

// Hard beats medium beats easy: more than 19 games in 20, and more than two Sets in three, over many games. The games
// follow from the seed, so that the test cannot fail by chance; it would be as sure with any other seed.
func TestHardBeatsMediumBeatsEasy(t *testing.T) {
	for _, levels := range [][]domain.BotLevel{
		{domain.BotHard, domain.BotMedium}, {domain.BotMedium, domain.BotEasy}, {domain.BotHard, domain.BotEasy},
		{domain.BotHard, domain.BotMedium, domain.BotEasy},
	} {
		const games = 200
		table, err := League(levels, games, 81)
		require.NoError(t, err)
		t.Logf("%d games of %d s on average", table.Games, table.PlayedMs/games/1000)
		require.Equal(t, games, table.Games)
		ties, winner := 0, table.Standings[0]
		for i, s := range table.Standings {
			t.Logf("%8v: %3d won, %2d tied, %4d Sets, %d ms each, %3d wrong, %4d missed", s.Level, s.Wins, s.Ties, s.Sets, s.MeanSeenMs(),
				s.Wrong, s.Misses)
			require.Equal(t, levels[i], s.Level)
			assert.Positive(t, s.Sets)
			assert.Positive(t, s.Misses)
			assert.Positive(t, s.Wrong)
			ties += s.Ties
			if i > 0 {
				better := table.Standings[i-1]
				assert.Greater(t, better.Sets, 2*s.Sets, "%v against %v", better.Level, s.Level)
				assert.Less(t, better.MeanSeenMs(), s.MeanSeenMs())
			}
		}
		assert.Greater(t, winner.Wins, games*19/20)
		assert.LessOrEqual(t, winner.Wins+ties, games)
	}
}

// The seats go round, so that equal levels are equals.
func TestEqualLevelsAreEquals(t *testing.T) {
	table, err := League([]domain.BotLevel{domain.BotMedium, domain.BotMedium}, 600, 4)
	require.NoError(t, err)
	first, second := table.Standings[0], table.Standings[1]
	assert.InEpsilon(t, first.Wins, second.Wins, 0.2)
	assert.InEpsilon(t, first.Sets, second.Sets, 0.05)
	assert.Equal(t, first.Ties, second.Ties)
	assert.Equal(t, 600, first.Wins+second.Wins+first.Ties)
}

func TestLeagueFollowsFromItsSeed(t *testing.T) {
	levels := []domain.BotLevel{domain.BotEasy, domain.BotHard}
	first, err := League(levels, 5, 1)
	require.NoError(t, err)
	again, err := League(levels, 5, 1)
	require.NoError(t, err)
	other, err := League(levels, 5, 2)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	assert.NotEqual(t, first, other)
}

func TestLeagueOfNobody(t *testing.T) {
	_, err := League(nil, 1, 1)
	require.ErrorIs(t, err, domain.ErrPlayerCount)
	_, err = League(make([]domain.BotLevel, domain.MaxPlayers+1), 1, 1)
	require.ErrorIs(t, err, domain.ErrPlayerCount)
	_, err = League([]domain.BotLevel{0}, 1, 1)
	require.ErrorIs(t, err, domain.ErrBots, "a human does not play by itself")
	table := LeagueTable{Standings: []Standing{{}}}
	assert.Zero(t, table.Standings[0].MeanSeenMs())
}
