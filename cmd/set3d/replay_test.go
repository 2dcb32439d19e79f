package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/stretchr/testify/require"

	"set3d/domain"
)

// replayedMatch is a short match with everything that a transcript has to tell.
func replayedMatch(t *testing.T, source domain.DeckSource) *domain.Session {
	rules := domain.DefaultRules()
	rules.ClaimGraceMs, rules.PenaltyMode, rules.InvalidAnimMs = 250, domain.PenaltyPoint, 2000
	setup := domain.Setup{Rules: rules, Players: 3, Deck: source}
	setup.Bots[2] = domain.Bot{Level: domain.BotHard, Seed: 3}
	s := domain.NewSession()
	var out domain.Output
	require.NoError(t, s.StartMatch(setup, &out))
	id := uint64(0)
	claim := func(afterMs int64, seat int, cards domain.Triple) {
		id++
		s.Apply(s.NowMs()+afterMs, domain.ClaimSet{Seat: seat, ID: id, Cards: []byte{byte(cards[0].ID()), byte(cards[1].ID()), byte(cards[2].ID())}}, &out)
	}
	sets := func() []domain.Triple {
		for {
			snapshot := s.Snapshot()
			if snapshot.State == domain.BoardIdle {
				return domain.FindAllSets(snapshot.Board.AppendCards(nil))
			}
			wake, _ := s.NextWakeMs()
			s.Advance(wake, &out)
		}
	}
	found := sets()
	wrong := found[0]
	board := s.Snapshot().Board
	for _, card := range board.AppendCards(nil) {
		if other := (domain.Triple{wrong[0], wrong[1], card}); card != wrong[0] && card != wrong[1] && !domain.ValidateTriple(other).IsValid() {
			wrong = other
			break
		}
	}
	claim(500, 1, wrong)
	claim(100, 0, found[0])
	claim(100, 1, found[0]) // refused: locked for its wrong claim
	s.Apply(s.NowMs()+50, domain.Drop{Seat: 1}, &out)
	claim(400, 0, sets()[0])
	s.Apply(s.NowMs()+50, domain.Return{Seat: 1}, &out)
	third := sets()[0]
	claim(1500, 1, third)
	claim(100, 0, third) // held, in vain
	claim(10, 0, third)
	claim(100, 0, sets()[0])
	s.Apply(s.NowMs()+1000, domain.ClaimSet{Seat: 1, ID: 9, Cards: []byte{200, 1}}, &out) // malformed
	s.Apply(s.NowMs()+1000, domain.Forfeit{Seat: 1}, &out)
	s.Advance(s.NowMs()+9000, &out)
	s.Apply(s.NowMs()+1000, domain.Forfeit{Seat: 0}, &out)
	return s
}

// answerOf is what get_record answers of a match, worked out from the session and its events rather than from a summary.
func answerOf(t *testing.T, s *domain.Session) map[string]any {
	record := s.Record()
	digest := sha256.Sum256(record)
	var out domain.Output
	_, err := domain.Replay(record, &out)
	require.NoError(t, err)
	end, ended := s.Ended()
	require.True(t, ended)
	require.Equal(t, domain.EndAbandoned, end.Reason)
	claims, wrong := map[int]int{}, map[int]int{}
	for _, e := range out.Events {
		if verdict, ok := e.Event.(domain.SetClaimed); ok {
			claims[verdict.Seat]++
			if !verdict.Valid() {
				wrong[verdict.Seat]++
			}
		}
	}
	sum, err := domain.Summarize(record)
	require.NoError(t, err)
	var players []any
	for seat, line := range end.Table {
		reactions := sum.Seats[seat].Reactions
		players = append(players, map[string]any{
			"seat": seat, "user_id": "u", "display_name": []string{"Ada", "Ben", "Cleo"}[seat], "bot": []string{"", "", "hard"}[seat],
			"score": line.Score, "forfeited": line.Forfeited, "claims": claims[seat], "wrong": wrong[seat],
			"reaction_ms": map[string]any{"count": reactions.Count, "fastest": reactions.FastestMs, "median": reactions.MedianMs},
			"rating":      map[string]any{"before": 1000, "after": 1012, "change": 12},
		})
	}
	key := s.Setup().Deck.Key()
	commitment, committed := s.Setup().Deck.Commitment()
	keyText, commitmentText := "", ""
	if committed {
		keyText, commitmentText = hex.EncodeToString(key[:]), hex.EncodeToString(commitment[:])
	}
	return map[string]any{"result_id": "r1", "record": base64.StdEncoding.EncodeToString(record), "result": map[string]any{
		"result_id": "r1", "table_id": "T", "match_id": "m.set3d-1", "preset": "classic", "ranked": false, "counted": false, "incarnation": 0,
		"rules": map[string]any{
			"initial_board_size": 12, "refill_policy": "always", "penalty_mode": "point", "penalty_time_ms": 0, "time_limit_ms": 0,
			"claim_grace_ms": 250, "valid_anim_ms": 600, "invalid_anim_ms": 2000, "refill_anim_ms": 300, "expand_anim_ms": 150,
			"idle_limit_ms": 600_000, "drop_hold_ms": s.Setup().Rules.DropHoldMs,
		},
		"started_unix_ms": 1_790_000_000_000, "ended_unix_ms": 1_790_000_099_000, "duration_ms": sum.DurationMs, "reason": "ABANDONED",
		"winners": end.Winners, "commitment": commitmentText, "key": keyText, "seed": s.Setup().Deck.Seed(),
		"record_sha256": hex.EncodeToString(digest[:]), "record_bytes": len(record), "players": players,
	}}
}

func writeAnswer(t *testing.T, answer any) string {
	data, err := json.Marshal(answer)
	require.NoError(t, err)
	return writeFile(t, data)
}

func writeFile(t *testing.T, data []byte) string {
	path := filepath.Join(t.TempDir(), "match.json")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestReplayTellsAMatch(t *testing.T) {
	got := execute(t, "replay", writeAnswer(t, answerOf(t, replayedMatch(t, domain.KeySource([32]byte{7})))))
	require.Equal(t, exitOK, got.code, got.stderr)
	golden(t, "replay", []byte(got.stdout))
	for _, line := range strings.Split(got.stdout, "\n") {
		require.LessOrEqual(t, lipgloss.Width(line), plainWidth, line)
	}
}

// A file may be the answer as it is, or as Nakama wraps it, or the record alone.
func TestReplayReadsWhatThereIs(t *testing.T) {
	seed, err := domain.SeedSource(42)
	require.NoError(t, err)
	s := replayedMatch(t, seed)
	answer, err := json.Marshal(answerOf(t, s))
	require.NoError(t, err)
	got := execute(t, "replay", writeAnswer(t, map[string]string{"payload": string(answer)}))
	require.Equal(t, exitOK, got.code, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "the deck of the seed 42, for practice")
	require.Contains(t, got.stdout, "All well.")

	s = replayedMatch(t, domain.KeySource([32]byte{7}))
	got = execute(t, "replay", writeFile(t, s.Record()))
	require.Equal(t, exitOK, got.code, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "there is no result to compare it with")
	commitment, _ := s.Setup().Deck.Commitment()
	require.Contains(t, got.stdout, hex.EncodeToString(commitment[:]), "to compare with what the players saw")
	require.Contains(t, got.stdout, "seat 2 (hard bot)")

	text, path := hex.EncodeToString(commitment[:]), writeFile(t, s.Record())
	got = execute(t, "replay", path, "--commitment", strings.ToUpper(text))
	require.Equal(t, exitOK, got.code)
	require.Contains(t, got.stdout, "the one to which the server had committed itself.")
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		got = execute(t, "replay", path, "--commitment", encoding.EncodeToString(commitment[:]))
		require.Equal(t, exitOK, got.code, got.stderr)
		require.Contains(t, got.stdout, "the one to which the server had committed itself.")
	}
	got = execute(t, "replay", path, "--commitment", strings.Repeat("0", 64))
	require.Equal(t, exitWrong, got.code)
	require.Contains(t, got.stdout, "WRONG  commitment: 0000")
	require.Contains(t, got.stdout, "the record gives "+text)
	for _, wrong := range []string{"00", "=", text + "0", base64.StdEncoding.EncodeToString(commitment[1:])} {
		got = execute(t, "replay", path, "--commitment", wrong)
		require.Equal(t, exitUsage, got.code, wrong)
	}

	for _, other := range []string{"", "[]", "{}", `{"record":7}`, `{"payload":"?"}`, "SET"} {
		got = execute(t, "replay", writeFile(t, []byte(other)))
		require.Equal(t, exitWrong, got.code, other)
		require.Contains(t, got.stderr, "record", other)
	}
}

// The records that are kept as examples, of every kind of deck and with every kind of command.
func TestReplayTellsEveryRecord(t *testing.T) {
	records, err := filepath.Glob("../../domain/testdata/records/*.v[23]")
	require.NoError(t, err)
	require.Greater(t, len(records), 10)
	for _, record := range records {
		got := execute(t, "replay", record)
		require.Equal(t, exitOK, got.code, "%s: %s", record, got.stderr)
		require.Contains(t, got.stdout, "It verifies itself.", record)
	}
}
