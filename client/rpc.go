package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Hello is what the server says about itself.
type Hello struct {
	ServerVersion    string                     `json:"server_version"`
	ProtocolVersions []int                      `json:"protocol_versions"`
	Presets          map[string]json.RawMessage `json:"presets"`
	Limits           map[string]json.RawMessage `json:"limits"`
	// ServerTimeMs is Unix time in ms.
	ServerTimeMs int64 `json:"server_time_ms"`
}

// Speaks reports whether the server speaks the protocol version.
func (h Hello) Speaks(version int) bool {
	for _, v := range h.ProtocolVersions {
		if v == version {
			return true
		}
	}
	return false
}

// ProtocolVersion is the version of the protocol that this client speaks.
const ProtocolVersion = 1

// CreateMatch is a request for a match. Fields that are left out are the server's defaults.
type CreateMatch struct {
	// Preset names a set of rules; Rules replaces fields of it, by the names of wire.Rules.
	Preset string         `json:"preset,omitempty"`
	Rules  map[string]any `json:"rules,omitempty"`
	// Seats is how many play, 1-8.
	Seats int `json:"seats,omitempty"`
	// Start is "full" or "ready": when all seats are taken, or when all who sit are ready, at least MinPlayers.
	Start      string `json:"start,omitempty"`
	MinPlayers int    `json:"min_players,omitempty"`
	// Bots are the levels of bots who sit there from the beginning: "easy", "medium" or "hard". After FillWithBotsAfterMs bots of
	// FillLevel take the free seats.
	Bots                []string `json:"bots,omitempty"`
	FillWithBotsAfterMs int      `json:"fill_with_bots_after_ms,omitempty"`
	FillLevel           string   `json:"fill_level,omitempty"`
	// Seed deals the deck of .NET's Random, for practice; 0 draws a secret key.
	Seed int32 `json:"seed,omitempty"`
	// Private tables are listed nowhere and joined by their code.
	Private bool `json:"private,omitempty"`
	// RequestID makes the request repeatable for a minute; a random one when empty.
	RequestID string `json:"request_id,omitempty"`
	// TestDeck is card codes in the order in which they are dealt, with blanks between; TestPanicAt names an entry point that is to
	// panic. Only servers that are configured for tests take them.
	TestDeck    string `json:"test_deck,omitempty"`
	TestPanicAt string `json:"test_panic_at,omitempty"`
}

// CreatedMatch is the server's answer to CreateMatch.
type CreatedMatch struct {
	MatchID string          `json:"match_id"`
	TableID string          `json:"table_id"`
	Code    string          `json:"code"`
	Private bool            `json:"private"`
	Preset  string          `json:"preset"`
	Rules   json.RawMessage `json:"rules"`
	Seats   int             `json:"seats"`
}

// rpcCaller is an RPC over HTTP or over a socket.
type rpcCaller func(ctx context.Context, id, payload string) (string, error)

// Hello asks the server about itself.
func (c *Client) Hello(ctx context.Context, user *User) (Hello, error) {
	return call[Hello](ctx, c.caller(user), "hello", struct{}{})
}

// CreateMatch makes a match. It does not join it.
func (c *Client) CreateMatch(ctx context.Context, user *User, request CreateMatch) (CreatedMatch, error) {
	return createMatch(ctx, c.caller(user), request)
}

// Hello asks the server about itself.
func (s *Socket) Hello(ctx context.Context) (Hello, error) {
	return call[Hello](ctx, s.RPC, "hello", struct{}{})
}

// CreateMatch makes a match. It does not join it.
func (s *Socket) CreateMatch(ctx context.Context, request CreateMatch) (CreatedMatch, error) {
	return createMatch(ctx, s.RPC, request)
}

// MatchReview is what a match that is over could have been, board by board.
type MatchReview struct {
	MatchID string `json:"match_id"`
	TableID string `json:"table_id"`
	Boards  []struct {
		// FromMs and ToMs are when the board could be claimed from, and when a Set was taken or the match ended.
		FromMs int64 `json:"from_ms"`
		ToMs   int64 `json:"to_ms"`
		// Cards are ids by slot, 255 for an empty one; Sets is how many Sets they held.
		Cards []int `json:"cards"`
		Sets  int   `json:"sets"`
		// Taken is the Set that was taken; nil for the board on which the match ended.
		Taken *struct {
			Seat        int    `json:"seat"`
			DisplayName string `json:"display_name"`
			AfterMs     int64  `json:"after_ms"`
			Cards       []int  `json:"cards"`
		} `json:"taken"`
		// Missed are the Sets that nobody took, if they were asked for.
		Missed [][]int `json:"missed"`
	} `json:"boards"`
}

// MatchReview looks back on a match that is over and whose table is still open; missed asks for the Sets that nobody took.
func (s *Socket) MatchReview(ctx context.Context, matchID string, missed bool) (MatchReview, error) {
	return call[MatchReview](ctx, s.RPC, "match_review", map[string]any{"match_id": matchID, "missed": missed})
}

func (c *Client) caller(user *User) rpcCaller {
	return func(ctx context.Context, id, payload string) (string, error) { return c.RPC(ctx, user, id, payload) }
}

func createMatch(ctx context.Context, rpc rpcCaller, request CreateMatch) (CreatedMatch, error) {
	if request.RequestID == "" {
		request.RequestID = RandomID()
	}
	return call[CreatedMatch](ctx, rpc, "create_match", request)
}

func call[Answer any](ctx context.Context, rpc rpcCaller, id string, request any) (Answer, error) {
	var answer Answer
	payload, err := json.Marshal(request)
	if err != nil {
		return answer, fmt.Errorf("%s: %w", id, err)
	}
	text, err := rpc(ctx, id, string(payload))
	if err != nil {
		return answer, fmt.Errorf("%s: %w", id, err)
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return answer, fmt.Errorf("%w: %s: %w", ErrUnreadable, id, err)
	}
	return answer, nil
}

// RandomID is 32 random hexadecimal digits, good as a device id and as a request id.
func RandomID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(id[:])
}
