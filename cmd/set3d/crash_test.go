package main

import (
	"context"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"set3d/client"
	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// TestMain lets this program be the server that crash starts: its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		main()
	}
	os.Exit(m.Run())
}

// TestCrash is a short run of the real thing, at both durabilities.
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for _, durability := range []string{"safe", "fast"} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			p := execute(t, "crash", "--rounds", "3", "--matches", "6", "--resume-within", "4s", "--seed", "7", "--durability", durability)
			require.Equal(t, exitOK, p.code, p.stdout+p.stderr)
			require.Contains(t, p.stdout, "Seed 7: 3 rounds, 6 matches at once, durability "+durability)
			require.Contains(t, p.stdout, "Killed 3 times, and once more after the last matches.")
			require.Contains(t, p.stdout, "All well.")
		})
	}
}

// What was seen until an interrupt is printed.
func TestCrashIsInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var stdout, stderr lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"crash", "--rounds", "1000", "--matches", "2", "--seed", "7"}, &stdout, &stderr)
	}()
	require.Eventually(t, func() bool { return strings.Contains(stderr.String(), "round 1 of 1000") }, time.Minute, 5*time.Millisecond)
	interrupt()
	require.Equal(t, exitStopped, <-ended)
	require.Regexp(t, `\nKilled [1-9]\d* times?\. [1-9]\d* match(es)? so far, \d+ of them over\.\nInterrupted: .*--seed 7 `, stdout.String())
	for want, c := range map[string]*crasher{
		"Killed 1 time.": {struck: [crashWays]int{killServer: 1}},
		"Killed 1 time, and once more after the last matches.": {struck: [crashWays]int{killServer: 1}, lastKill: true},
		"5 rounds: server 2, host 3.":                          {struck: [crashWays]int{killServer: 2, stopHost: 3}},
		"2 rounds: database 1, outage 1; the server was killed once more after the last matches.": {
			struck: [crashWays]int{killDatabase: 1, loseDatabase: 1}, lastKill: true,
		},
	} {
		require.Equal(t, want, c.killCount())
	}
}

func TestCrashUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--rounds", "0"}, {"--matches", "0"}, {"--durability", "slow"}, {"--checkpoint", "1ms"}, {"--resume-within", "1ms"}, {"--pace", "1ms"}, {"more"},
		{"--grace", "1ms"}, {"--database", "true"},
		{"--ways", "fire"}, {"--ways", "server,database"}, {"--ways", "both"}, {"--ways", "outage"},
	} {
		require.Equal(t, exitUsage, execute(t, append([]string{"crash"}, args...)...).code, args)
	}
	p := execute(t, "crash", "--server", "echo no such database; exit 3", "--url", "http://127.0.0.1:1")
	require.Equal(t, exitNoRoute, p.code)
	require.Contains(t, p.stderr, "ended by itself before it answered")
	require.Contains(t, p.stderr, "no such database")
}

// crashedMatch is a match of one player with two verdicts that were told, one second and ten milliseconds before the
// kill, and its record.
func crashedMatch(t *testing.T) (*crasher, *crashMatch, *domain.Session) {
	s := domain.NewSession()
	var out domain.Output
	rules := domain.DefaultRules()
	require.NoError(t, s.StartMatch(domain.Setup{Rules: rules, Players: 1, Deck: domain.KeySource([32]byte{9})}, &out))
	killed := time.Now()
	c := &crasher{
		flags: crashFlags{durability: "safe", checkpoint: 100 * time.Millisecond},
		lives: []lifeEnd{{at: killed, stored: killed}},
	}
	m := &crashMatch{crash: c, ledger: newLedger()}
	commitment, _ := s.Setup().Deck.Commitment()
	m.begin(commitment[:], killed.Add(-10*time.Second), 0)
	now := int64(0)
	for id := uint64(1); id <= 2; id++ {
		now += 5_000
		s.Advance(now, &out)
		state := s.Snapshot()
		set := domain.FindAllSets(state.Board.AppendCards(nil))[0]
		cards := []byte{byte(set[0].ID()), byte(set[1].ID()), byte(set[2].ID())}
		require.True(t, s.Apply(now, domain.ClaimSet{Seat: 0, ID: id, Cards: cards}, &out).Verdict.Valid())
		at := killed.Add(-10 * time.Second)
		if id == 2 {
			at = killed.Add(-10 * time.Millisecond)
		}
		m.updated(&wire.Update{Stamp: &wire.Stamp{}, Snapshot: &wire.Snapshot{Scores: []uint32{uint32(id)}}, Events: []*wire.Event{
			{Kind: &wire.Event_SetClaimed{SetClaimed: &wire.SetClaimed{ClaimId: id, Cards: cards, Valid: true}}},
		}}, at, 0)
	}
	return c, m, s
}

// What a server can lose is found, and what it may lose is counted.
func TestCrashFindsWhatIsLost(t *testing.T) {
	whole := func(t *testing.T) (*crasher, *crashMatch, *story) {
		c, m, s := crashedMatch(t)
		story, err := readStory(s.Record())
		require.NoError(t, err)
		return c, m, story
	}
	check := func(c *crasher, m *crashMatch, story *story) []string {
		c.checkVerdicts(m, story)
		c.checkStandings(m, story)
		return c.wrong
	}
	drop := func(story *story, n int) {
		for key, i := range story.index {
			if i >= n {
				delete(story.index, key)
			}
		}
		story.verdicts, story.scores = story.verdicts[:n], story.scores[:n]
	}
	t.Run("nothing", func(t *testing.T) {
		require.Empty(t, check(whole(t)))
	})
	t.Run("a verdict", func(t *testing.T) {
		c, m, story := whole(t)
		drop(story, 1)
		require.Len(t, check(c, m, story), 2)
		require.Contains(t, c.wrong[0], "the verdict of claim 2 of seat 0, valid true, was told 10ms before a kill and is not in the record")
	})
	t.Run("a young verdict of a fast server", func(t *testing.T) {
		c, m, story := whole(t)
		c.flags.durability = "fast"
		drop(story, 1)
		require.Empty(t, check(c, m, story))
		require.Equal(t, 1, c.finished.takenBack)
		require.Equal(t, 10*time.Millisecond, c.finished.oldest)
	})
	t.Run("a wrong claim of a fast server", func(t *testing.T) {
		for _, one := range []struct {
			mode   domain.PenaltyMode
			before time.Duration
			fine   bool
		}{{domain.PenaltyNone, 5 * time.Second, true}, {domain.PenaltyNone, 10 * time.Second, false}, {domain.PenaltyPoint, 5 * time.Second, false}} {
			c, m, story := whole(t)
			c.flags.durability = "fast"
			story.sum.Setup.Rules.PenaltyMode = one.mode
			key := m.order[1]
			m.verdicts[key] = toldVerdict{at: c.lives[0].at.Add(-one.before), cards: m.verdicts[key].cards}
			drop(story, 1)
			c.checkVerdicts(m, story)
			require.Equal(t, one.fine, len(c.wrong) == 0, "%v: %v", one, c.wrong)
		}
	})
	t.Run("an old verdict of a fast server", func(t *testing.T) {
		c, m, story := whole(t)
		c.flags.durability = "fast"
		drop(story, 0)
		require.NotEmpty(t, check(c, m, story))
		require.Contains(t, c.wrong[0], "claim 1 of seat 0")
	})
	t.Run("a verdict that changes", func(t *testing.T) {
		c, m, story := whole(t)
		story.verdicts[0].valid = false
		require.Len(t, check(c, m, story), 1)
	})
	t.Run("a score", func(t *testing.T) {
		c, m, story := whole(t)
		story.scores[1][0] = 1
		require.Len(t, check(c, m, story), 1)
		require.Contains(t, c.wrong[0], "the scores [2] were told")
	})
	t.Run("a result", func(t *testing.T) {
		c, m, _ := whole(t)
		c.noResult(m)
		require.Len(t, c.wrong, 1)
		require.Contains(t, c.wrong[0], "its start was told 10s before a kill and it has no result; verdicts told: 2")
	})
	t.Run("an end", func(t *testing.T) {
		c, m, _ := whole(t)
		m.end(&wire.MatchEnded{Reason: wire.EndReason_END_REASON_TIME_UP, Table: []*wire.FinalScore{{Score: 2}}, Winners: []uint32{0}}, c.lives[0].at, 0)
		right := client.Result{Reason: "TIME_UP", Winners: []int{0}, Players: []client.PlayerResult{{Score: 2}}}
		c.checkEnds(m, &right)
		require.Empty(t, c.wrong)
		right.Players[0].Score = 1
		c.checkEnds(m, &right)
		require.Len(t, c.wrong, 1)
	})
	t.Run("the deck", func(t *testing.T) {
		_, m, story := whole(t)
		require.Equal(t, hex.EncodeToString(m.commitment), hex.EncodeToString(story.sum.Commitment[:]))
	})
}

// Incarnations rise by one with a kill, and by no more between two.
func TestCrashChecksIncarnations(t *testing.T) {
	for _, test := range []struct {
		name string
		told [][2]int // incarnation, life
		fine bool
	}{
		{"one each", [][2]int{{0, 0}, {1, 1}, {2, 2}}, true},
		{"one not told", [][2]int{{0, 0}, {2, 2}}, true},
		{"a kill before anybody came back", [][2]int{{0, 0}, {1, 2}}, true},
		{"the same again", [][2]int{{0, 0}, {0, 1}}, false},
		{"two at once", [][2]int{{0, 0}, {2, 1}}, false},
		{"two matches in one life", [][2]int{{0, 0}, {1, 1}, {2, 1}}, false},
	} {
		c := &crasher{}
		m := &crashMatch{crash: c, ledger: newLedger()}
		for _, told := range test.told {
			m.incarnation(uint32(told[0]), told[1])
		}
		require.Equal(t, test.fine, len(c.wrong) == 0, "%s: %v", test.name, c.wrong)
	}
}

// A frame that is read after a kill was sent before it.
func TestCrashKnowsLateFrames(t *testing.T) {
	killed := time.Now()
	m := &crashMatch{ledger: newLedger()}
	m.incarnations[0] = 3
	require.Equal(t, 0, m.lifeOf(4, 0, killed.Add(time.Second), []time.Time{killed}), "on an old connection")
	require.Equal(t, 0, m.lifeOf(3, 1, killed.Add(time.Second), []time.Time{killed}), "the answer to the join was late too")
	require.Equal(t, 1, m.lifeOf(3, 1, killed.Add(time.Minute), []time.Time{killed}))
	require.Equal(t, 1, m.lifeOf(4, 1, killed.Add(time.Second), []time.Time{killed}))
	m = &crashMatch{ledger: newLedger()}
	require.Equal(t, 0, m.lifeOf(0, 1, killed.Add(time.Second), []time.Time{killed}), "and nobody had been told anything before")
	require.Equal(t, 1, m.lifeOf(1, 1, killed.Add(time.Second), []time.Time{killed}))
	m.madeIn = 1
	require.Equal(t, 1, m.lifeOf(0, 1, killed.Add(time.Second), []time.Time{killed}))
}

// The statistics that a history makes: bots' matches do not count, and who plays alone wins nothing.
func TestCrashAddsStatistics(t *testing.T) {
	sum := client.PlayerStats{}
	for _, r := range []client.Result{
		{Counted: true, Winners: []int{1}, Players: []client.PlayerResult{{Claims: 5}, {Seat: 1, UserID: "u", Claims: 7, Wrong: 2}}},
		{Counted: true, Winners: []int{0}, Players: []client.PlayerResult{{UserID: "u", Claims: 3}}},
		{Counted: false, Winners: []int{0}, Players: []client.PlayerResult{{UserID: "u", Claims: 30}, {Bot: "easy"}}},
	} {
		addStats(&sum, &r, "u")
	}
	require.Equal(t, client.PlayerStats{Matches: 2, Wins: 1, Sets: 8, Misses: 2}, sum)
}
