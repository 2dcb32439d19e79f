package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	"set3d/client"
	"set3d/domain"
)

var (
	recordScript = flag.Bool("record", false, "play a match and write its messages to testdata/match.jsonl")
	updateGolden = flag.Bool("update", false, "write the golden files")
)

const scriptFile = "testdata/match.jsonl"

// scriptLine is one message of a recorded match.
type scriptLine struct {
	Op   int64           `json:"op"`
	Body json.RawMessage `json:"body"`
}

// readScript is the recorded match's messages, in order.
func readScript(t *testing.T) []client.Message {
	file, err := os.Open(scriptFile)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	var messages []client.Message
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line scriptLine
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		message, known, err := client.ReadFrame(client.Frame{Op: line.Op})
		require.NoError(t, err)
		require.True(t, known)
		require.NoError(t, protojson.Unmarshal(line.Body, message.Body))
		messages = append(messages, message)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, messages)
	return messages
}

// recorder is an audience that keeps what it hears.
type recorder struct{ lines []string }

func (r *recorder) Resolved(client.Resolution) {}
func (r *recorder) Message(m client.Message) {
	body, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m.Body)
	if err != nil {
		panic(err)
	}
	line, err := json.Marshal(scriptLine{Op: m.Op, Body: body})
	if err != nil {
		panic(err)
	}
	r.lines = append(r.lines, string(line))
}

// TestRecord plays a short match with a deck of 30 cards: three expansions at once, wrong claims that cost points, an end.
func TestRecord(t *testing.T) {
	if !*recordScript {
		t.Skip("only with -record: testdata/match.jsonl is written once and kept")
	}
	url := startServer(t, "SET3D_TEST_HOOKS=on")
	c, err := client.New(client.Config{URL: url, ServerKey: "defaultkey"})
	require.NoError(t, err)
	deck := "1000 2022 1220 2212 2220 2011 1221 0210 0100 0122 0212 0010 2221 2111 2210 0012 1121 1011 1120 2122 0000"
	used := map[string]bool{}
	for _, code := range strings.Fields(deck) {
		used[code] = true
	}
	for id := domain.DeckSize - 1; len(used) < 30; id-- {
		if code := domain.MustCard(id).Code(); !used[code] {
			used[code] = true
			deck += " " + code
		}
	}
	var users []*client.User
	for _, name := range playerNames[:2] {
		user, err := c.AuthenticateDevice(t.Context(), client.RandomID(), name)
		require.NoError(t, err)
		users = append(users, user)
	}
	made, err := c.CreateMatch(t.Context(), users[0], client.CreateMatch{
		Seats: 2, TestDeck: deck, Rules: map[string]any{"penalty_mode": "point", "valid_anim_ms": 300, "refill_anim_ms": 200, "invalid_anim_ms": 500},
	})
	require.NoError(t, err)
	kept := &recorder{}
	var drivers []*client.Driver
	for i, user := range users {
		link, err := c.OpenLink(t.Context(), user, client.FormatProtobuf, made.MatchID, client.JoinOptions{})
		require.NoError(t, err)
		t.Cleanup(link.Close)
		driver := client.NewDriver(link, client.PlayerConfig{Seed: uint64(i), Reaction: 600 * time.Millisecond, ErrorRate: 0.5}, nil)
		if i == 0 {
			driver.Audience = kept
		}
		drivers = append(drivers, driver)
	}
	go func() { _ = drivers[1].Run(t.Context()) }()
	require.NoError(t, drivers[0].Run(t.Context()))
	require.NoError(t, os.WriteFile(scriptFile, []byte(strings.Join(kept.lines, "\n")+"\n"), 0o644))
}
