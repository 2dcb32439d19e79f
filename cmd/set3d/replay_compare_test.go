package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"set3d/client"
	"set3d/domain"
)

// A changed byte is found, wherever it is.
func TestReplayFindsAChangedByte(t *testing.T) {
	answer := answerOf(t, replayedMatch(t, domain.KeySource([32]byte{7})))
	record, err := base64.StdEncoding.DecodeString(answer["record"].(string))
	require.NoError(t, err)
	for i := range record {
		changed := append([]byte(nil), record...)
		changed[i] ^= 1 << (i % 8)
		answer["record"] = base64.StdEncoding.EncodeToString(changed)
		got := execute(t, "replay", writeAnswer(t, answer))
		require.Equal(t, exitWrong, got.code, "byte %d", i)
		require.Contains(t, got.stdout, "WRONG  the record does not verify", "byte %d", i)
		require.NotContains(t, got.stdout, "All well", "byte %d", i)
	}
}

// Everything in a result that follows from the record is compared, and what is not as it should be is named.
func TestReplayFindsAChangedResult(t *testing.T) {
	s := replayedMatch(t, domain.KeySource([32]byte{7}))
	for _, test := range []struct {
		path  string
		value any
	}{
		{"result_id", "r2"}, {"rules.initial_board_size", 15}, {"rules.refill_policy", "to_initial_size"}, {"rules.penalty_mode", "none"},
		{"rules.penalty_time_ms", 1}, {"rules.time_limit_ms", 1}, {"rules.claim_grace_ms", 251}, {"rules.valid_anim_ms", 601},
		{"rules.invalid_anim_ms", 1}, {"rules.refill_anim_ms", 1}, {"rules.expand_anim_ms", 1}, {"rules.idle_limit_ms", "long"},
		{"rules.drop_hold_ms", nil}, {"duration_ms", 1}, {"reason", "IDLE"}, {"reason", ""}, {"winners", []int{1}}, {"winners", []int{}},
		{"commitment", strings.Repeat("0", 64)}, {"key", ""}, {"seed", 1}, {"record_sha256", "00"}, {"record_bytes", 1}, {"players", []any{}},
		{"players.0.seat", 1}, {"players.2.bot", "easy"}, {"players.0.bot", "hard"}, {"players.0.score", 30}, {"players.1.forfeited", false},
		{"players.0.claims", 9}, {"players.1.wrong", 0}, {"players.0.reaction_ms.count", 9}, {"players.0.reaction_ms.fastest", 1},
		{"players.0.reaction_ms.median", 1}, {"players.0.rating.change", 13},
	} {
		answer := answerOf(t, s)
		change(answer["result"], strings.Split(test.path, "."), test.value)
		got := execute(t, "replay", writeAnswer(t, answer))
		require.Equal(t, exitWrong, got.code, test.path)
		require.Equal(t, 1, strings.Count(got.stdout, "WRONG"), "%s: %s", test.path, got.stdout)
		field := strings.NewReplacer(".0.", "[0].", ".1.", "[1].", ".2.", "[2].", ".change", "").Replace(test.path)
		require.Contains(t, got.stdout, "WRONG  "+field+":", test.path)
		require.Contains(t, got.stderr, "1 difference", test.path)
		require.NotContains(t, got.stdout, "All well")
	}
}

// Rules that are no rules agree with none of the record's.
func TestReplayOfAResultWithoutRules(t *testing.T) {
	for _, rules := range []any{nil, "classic", []int{12}, map[string]any{}} {
		answer := answerOf(t, replayedMatch(t, domain.KeySource([32]byte{7})))
		answer["result"].(map[string]any)["rules"] = rules
		got := execute(t, "replay", writeAnswer(t, answer))
		require.Equal(t, exitWrong, got.code, "%v: %s", rules, got.stderr)
		require.Contains(t, got.stdout, "WRONG  rules.initial_board_size: the result says <nil>, the record gives 12", rules)
		require.Contains(t, got.stderr, "12 differences", rules)
	}
}

// change sets what is at the path.
func change(in any, path []string, value any) {
	for ; len(path) > 1; path = path[1:] {
		if list, ok := in.([]any); ok {
			in = list[path[0][0]-'0']
		} else {
			in = in.(map[string]any)[path[0]]
		}
	}
	in.(map[string]any)[path[0]] = value
}

// The record of a match that failed, or was interrupted and never gone on with, has no end; its result cannot claim another, nor winners.
func TestReplayOfAMatchWithoutAnEnd(t *testing.T) {
	s := domain.NewSession()
	require.NoError(t, s.StartMatch(domain.Setup{Rules: domain.DefaultRules(), Players: 1, Deck: domain.KeySource([32]byte{1})}, &domain.Output{}))
	sum, err := domain.Summarize(s.Record())
	require.NoError(t, err)
	for _, test := range []struct {
		reason  string
		winners []int
		want    string
	}{
		{"INTERNAL_ERROR", nil, ""}, {"ABANDONED", []int{}, ""}, {"TIME_UP", nil, "reason: the result says TIME_UP, the record gives no end"},
		{"", nil, "reason: the result says nothing"}, {"ABANDONED", []int{0}, "winners: the result says [0], the record gives []"},
		{"OPERATOR", nil, ""}, {"OPERATOR", []int{0}, "winners: the result says [0], the record gives []"},
	} {
		var c comparison
		c.end(&client.Result{Reason: test.reason, Winners: test.winners}, sum)
		require.Equal(t, 2, c.compared)
		if test.want == "" {
			require.Empty(t, c.differences)
		} else {
			require.Contains(t, strings.Join(c.differences, "\n"), test.want)
		}
	}
	got := execute(t, "replay", writeFile(t, s.Record()))
	require.Equal(t, exitOK, got.code)
	require.Contains(t, got.stdout, "Here the record ends")
}

// A match that the operator ended is as good as another: its record has no end, and the result says why.
func TestReplayOfAMatchThatTheOperatorEnded(t *testing.T) {
	var out domain.Output
	s := domain.NewSession()
	rules := domain.DefaultRules()
	rules.ClaimGraceMs, rules.InvalidAnimMs, rules.PenaltyMode = 250, 2000, domain.PenaltyPoint
	require.NoError(t, s.StartMatch(domain.Setup{Rules: rules, Players: 1, Deck: domain.KeySource([32]byte{1})}, &out))
	s.Advance(1234, &out)
	record := s.Record()
	digest := sha256.Sum256(record)
	answer := answerOf(t, replayedMatch(t, domain.KeySource([32]byte{1})))
	answer["record"] = base64.StdEncoding.EncodeToString(record)
	result := answer["result"].(map[string]any)
	result["reason"], result["winners"], result["duration_ms"] = "OPERATOR", []int{}, 1234
	result["record_sha256"], result["record_bytes"] = hex.EncodeToString(digest[:]), len(record)
	result["players"] = []any{map[string]any{"seat": 0, "display_name": "Ada"}}
	got := execute(t, "replay", writeAnswer(t, answer))
	require.Equal(t, exitOK, got.code, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "ended by the operator")
	require.Contains(t, got.stdout, "All well.")
	result["duration_ms"] = 1000
	require.Equal(t, exitWrong, execute(t, "replay", writeAnswer(t, answer)).code)
}
