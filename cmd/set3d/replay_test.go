package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/stretchr/testify/require"

	"set3d/client"
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
	records, err := filepath.Glob("../../domain/testdata/records/*.v2")
	require.NoError(t, err)
	require.Greater(t, len(records), 5)
	for _, record := range records {
		got := execute(t, "replay", record)
		require.Equal(t, exitOK, got.code, "%s: %s", record, got.stderr)
		require.Contains(t, got.stdout, "It verifies itself.", record)
	}
}

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

// A match that was played on a server is what the server says of it, to its player and to the operator; others get nothing.
func TestReplayOfAPlayedMatch(t *testing.T) {
	url := startServer(t)
	c, err := client.New(client.Config{URL: url, ServerKey: "defaultkey"})
	require.NoError(t, err)
	var users []*client.User
	for _, device := range []string{"a-device-of-ada", "a-device-of-ben"} {
		user, err := c.AuthenticateDevice(t.Context(), device, "")
		require.NoError(t, err)
		users = append(users, user)
	}
	made, err := c.CreateMatch(t.Context(), users[0], client.CreateMatch{Seats: 3, Bots: []string{"hard"}, Rules: map[string]any{
		"valid_anim_ms": 1, "refill_anim_ms": 1, "expand_anim_ms": 1, "invalid_anim_ms": 20, "penalty_mode": "point",
	}})
	require.NoError(t, err)
	played := make(chan error, len(users))
	for i, user := range users {
		link, err := c.OpenLink(t.Context(), user, client.FormatProtobuf, made.MatchID, client.JoinOptions{})
		require.NoError(t, err)
		t.Cleanup(link.Close)
		driver := client.NewDriver(link, client.PlayerConfig{Seed: uint64(i), Reaction: 10 * time.Millisecond, ErrorRate: 0.3}, nil)
		go func() { played <- driver.Run(t.Context()) }()
	}
	for range users {
		require.NoError(t, <-played)
	}
	id := storedResult(t, c, users[0])
	got := execute(t, "replay", id, "--url", url, "--device", "a-device-of-ada")
	require.Equal(t, exitOK, got.code, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "The deal: the deck of a key with the commitment")
	require.Contains(t, got.stdout, "All well.")
	asOperator := execute(t, "replay", id, "--url", url, "--http-key", "defaulthttpkey")
	require.Equal(t, got, asOperator)
	require.Contains(t, got.stdout, " hard bot ")
	require.NotContains(t, got.stdout, "hard bot (hard bot)")
	for range 2 { // asking makes no account
		got = execute(t, "replay", id, "--url", url, "--device", "a-device-of-eve")
		require.Equal(t, exitRefused, got.code)
		require.Contains(t, got.stderr, "no such device")
	}
	_, err = c.AuthenticateDevice(t.Context(), "a-device-of-eve", "")
	require.NoError(t, err)
	got = execute(t, "replay", id, "--url", url, "--device", "a-device-of-eve")
	require.Equal(t, exitRefused, got.code)
	require.Contains(t, got.stderr, "UNKNOWN_RESULT")
}

// storedResult waits until the user's only result is stored.
func storedResult(t *testing.T, c *client.Client, user *client.User) string {
	var history struct {
		Results []struct {
			ResultID string `json:"result_id"`
		} `json:"results"`
	}
	require.Eventually(t, func() bool {
		answer, err := c.RPC(t.Context(), user, "match_history", "{}")
		return err == nil && json.Unmarshal([]byte(answer), &history) == nil && len(history.Results) == 1
	}, 30*time.Second, 20*time.Millisecond)
	return history.Results[0].ResultID
}

// recordServer answers get_record to a player and to the operator.
func recordServer(t *testing.T, answer []byte) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/account/authenticate/device", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		require.Contains(t, string(body), "a-device-of-mine")
		token := "h." + base64.RawURLEncoding.EncodeToString([]byte(`{"uid":"u","usn":"ada","exp":99999999999}`)) + ".s"
		_ = json.NewEncoder(w).Encode(map[string]string{"token": token, "refresh_token": token})
	})
	mux.HandleFunc("POST /v2/rpc/get_record", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch request := string(body); {
		case r.URL.Query().Get("http_key") == "k&y" && r.URL.Query().Has("unwrap") && request == `{"result_id":"r1"}`:
			_, _ = w.Write(answer)
		case r.URL.Query().Has("http_key"):
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"code":16,"message":"HTTP key invalid"}`))
		case strings.HasPrefix(r.Header.Get("Authorization"), "Bearer h.") && request == `"{\"result_id\":\"r1\"}"`:
			_ = json.NewEncoder(w).Encode(map[string]string{"payload": string(answer)})
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"code":5,"message":"{\"reason\":\"UNKNOWN_RESULT\"}"}`))
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestReplayAsksTheServer(t *testing.T) {
	answer, err := json.Marshal(answerOf(t, replayedMatch(t, domain.KeySource([32]byte{7}))))
	require.NoError(t, err)
	server := recordServer(t, answer)
	saved := filepath.Join(t.TempDir(), "saved.json")
	got := execute(t, "replay", "r1", "--url", server.URL, "--http-key", "k&y", "--out", saved)
	require.Equal(t, exitOK, got.code, got.stderr)
	data, err := os.ReadFile(saved)
	require.NoError(t, err)
	require.Equal(t, answer, data, "saved as it came")
	again := execute(t, "replay", saved)
	require.Equal(t, got.stdout, again.stdout)
	player := execute(t, "replay", "r1", "--url", server.URL, "--device", "a-device-of-mine")
	require.Equal(t, got, player)

	for _, test := range []struct {
		args, want string
		code       int
	}{
		{"r2 --device a-device-of-mine", "UNKNOWN_RESULT", exitRefused},
		{"r1 --http-key wrong", "is --http-key the server's", exitRefused},
		{"r1", "say who asks", exitUsage},
		{"r1 --http-key k --device d", "not both", exitUsage},
		{"./r1 --http-key k", "no such file", exitUsage},
		{"r1.json", "no such file", exitUsage},
		{saved + " --http-key k", "is a file", exitUsage},
		{"", "accepts 1 arg", exitUsage},
		{"r1 --http-key k --url http://127.0.0.1:1", "no server answers", exitNoRoute},
	} {
		args := append([]string{"replay", "--url", server.URL}, strings.Fields(test.args)...)
		got := execute(t, args...)
		require.Equal(t, test.code, got.code, "%s: %s", test.args, got.stderr)
		require.Contains(t, got.stderr, test.want, test.args)
		require.NotContains(t, got.stderr, "http_key=", test.args)
	}
}

// The operator's key is in the URL, and must not be in what one pastes into a bug report.
func TestOperatorsKeyIsNotShown(t *testing.T) {
	_, err := askAsOperator(t.Context(), "http://127.0.0.1:1", "geheim", nil)
	require.ErrorIs(t, err, client.ErrNoRoute)
	require.NotContains(t, err.Error(), "geheim")
}
