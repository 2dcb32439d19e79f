package client

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/heroiclabs/nakama-common/rtapi"
)

// Table is a table as it can be seen before one joins it.
type Table struct {
	// MatchID is empty while the phase is "interrupted": ResumeMatch gives one.
	MatchID string `json:"match_id"`
	// TableID survives a restart of the server, MatchID does not.
	TableID string `json:"table_id"`
	// Phase is "lobby", "playing" or "ended", and of a match that a restart of the server has interrupted "interrupted".
	Phase string `json:"phase"`
	// Open says whether anybody can sit down now.
	Open    bool `json:"open"`
	Private bool `json:"private"`
	Ranked  bool `json:"ranked"`
	// StartMode is "full" or "ready".
	StartMode string          `json:"start_mode"`
	Preset    string          `json:"preset"`
	Rules     json.RawMessage `json:"rules"`
	Seats     int             `json:"seats"`
	Taken     int             `json:"taken"`
}

// QuickMatch is a request for a seat with strangers. Fields that are left out are the server's defaults.
type QuickMatch struct {
	Preset string `json:"preset,omitempty"`
	// Seats is how many play, 2-8.
	Seats int `json:"seats,omitempty"`
	// RequestID makes the request repeatable for a minute; a random one when empty.
	RequestID string `json:"request_id,omitempty"`
}

// QuickMatched is where a seat is kept for the user.
type QuickMatched struct {
	MatchID string `json:"match_id"`
	TableID string `json:"table_id"`
	Code    string `json:"code"`
	// Created says that the table was made for this request.
	Created bool `json:"created"`
	// ReservedMs is for how long the seat is kept. 0: no seat is promised, a free one is first come, first served, or
	// the user sits there.
	ReservedMs int64           `json:"reserved_ms"`
	Preset     string          `json:"preset"`
	Rules      json.RawMessage `json:"rules"`
	Seats      int             `json:"seats"`
}

// ResolvedCode is the table behind an invitation code.
type ResolvedCode struct {
	Code string `json:"code"`
	Table
}

// ListMatches filters the public tables. Zero fields do not filter.
type ListMatches struct {
	Preset string `json:"preset,omitempty"`
	Phase  string `json:"phase,omitempty"`
	Open   *bool  `json:"open,omitempty"`
	// Limit is 1-100; 20 when zero.
	Limit int `json:"limit,omitempty"`
	// Cursor is MatchList.Cursor of the page before.
	Cursor string `json:"cursor,omitempty"`
}

// MatchList is a page of tables, the newest first.
type MatchList struct {
	Matches []Table `json:"matches"`
	// Cursor asks for the next page; empty when there is none.
	Cursor string `json:"cursor"`
}

// MyMatch is a table where the user has a seat, or is promised one.
type MyMatch struct {
	Table
	Code string `json:"code"`
	// Seat is absent while the seat is only promised.
	Seat      *int `json:"seat"`
	Score     int  `json:"score"`
	Connected bool `json:"connected"`
	// HeldUntilUnixMs is until when the seat of a lost player is held; 0: it is not.
	HeldUntilUnixMs int64 `json:"held_until_unix_ms"`
	// ReservedUntilUnixMs is until when a promised seat is kept; 0: it is taken.
	ReservedUntilUnixMs int64 `json:"reserved_until_unix_ms"`
}

// QuickMatch finds a seat with strangers and reserves it. It does not join.
func (c *Client) QuickMatch(ctx context.Context, user *User, request QuickMatch) (QuickMatched, error) {
	return quickMatch(ctx, c.caller(user), request)
}

// ResolveCode shows the table behind an invitation code. Case, blanks and hyphens do not matter.
func (c *Client) ResolveCode(ctx context.Context, user *User, code string) (ResolvedCode, error) {
	return call[ResolvedCode](ctx, c.caller(user), "resolve_code", map[string]string{"code": code})
}

// ListMatches lists public tables.
func (c *Client) ListMatches(ctx context.Context, user *User, filter ListMatches) (MatchList, error) {
	return call[MatchList](ctx, c.caller(user), "list_matches", filter)
}

// MyMatchList are the tables where a user has a seat.
type MyMatchList struct {
	Matches []MyMatch `json:"matches"`
	// Complete is false when the database did not answer: tables that a restart of the server has interrupted are missing then.
	Complete bool `json:"complete"`
}

// MyMatches lists the tables where the user has a seat, after the program was killed for one, or the server.
func (c *Client) MyMatches(ctx context.Context, user *User) (MyMatchList, error) {
	return myMatches(ctx, c.caller(user))
}

// QuickMatch finds a seat with strangers and reserves it. It does not join.
func (s *Socket) QuickMatch(ctx context.Context, request QuickMatch) (QuickMatched, error) {
	return quickMatch(ctx, s.RPC, request)
}

// ResolveCode shows the table behind an invitation code. Case, blanks and hyphens do not matter.
func (s *Socket) ResolveCode(ctx context.Context, code string) (ResolvedCode, error) {
	return call[ResolvedCode](ctx, s.RPC, "resolve_code", map[string]string{"code": code})
}

// ListMatches lists public tables.
func (s *Socket) ListMatches(ctx context.Context, filter ListMatches) (MatchList, error) {
	return call[MatchList](ctx, s.RPC, "list_matches", filter)
}

// MyMatches lists the tables where the user has a seat, after the program was killed for one, or the server.
func (s *Socket) MyMatches(ctx context.Context) (MyMatchList, error) {
	return myMatches(ctx, s.RPC)
}

func quickMatch(ctx context.Context, rpc rpcCaller, request QuickMatch) (QuickMatched, error) {
	if request.RequestID == "" {
		request.RequestID = RandomID()
	}
	return call[QuickMatched](ctx, rpc, "quick_match", request)
}

func myMatches(ctx context.Context, rpc rpcCaller) (MyMatchList, error) {
	return call[MyMatchList](ctx, rpc, "my_matches", struct{}{})
}

// Ticket is a request to Nakama's matchmaker.
type Ticket struct {
	// Preset is a public one; the server's default when empty.
	Preset string
	// Min and Max are how many play, 2-8.
	Min, Max int
}

// AddTicket puts the user into Nakama's matchmaker and returns the ticket's id. The match comes as a MatchmakerMatched, with a seat reserved.
// The server writes the query.
func (s *Socket) AddTicket(ctx context.Context, t Ticket) (string, error) {
	add := &rtapi.MatchmakerAdd{MinCount: int32(t.Min), MaxCount: int32(t.Max), Query: "*"}
	if t.Preset != "" {
		add.StringProperties = map[string]string{"preset": t.Preset}
	}
	reply, err := s.Request(ctx, &rtapi.Envelope{Message: &rtapi.Envelope_MatchmakerAdd{MatchmakerAdd: add}})
	if err != nil {
		return "", err
	}
	return reply.GetMatchmakerTicket().GetTicket(), nil
}

// ErrRelayed is a match of the matchmaker's that the server's module did not make: it has no rules. Look again.
var ErrRelayed = errors.New("the matchmaker offers a relayed match")

// AwaitMatch waits until the matchmaker has found the others, and returns the id of the match to join.
func (s *Socket) AwaitMatch(ctx context.Context) (string, error) {
	select {
	case matched := <-s.matched:
		if matched.GetMatchId() == "" {
			return "", ErrRelayed
		}
		return matched.GetMatchId(), nil
	case <-s.done:
		return "", s.Err()
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
