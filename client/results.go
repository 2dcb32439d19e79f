package client

import (
	"context"
	"encoding/json"
)

// ResumedMatch is where a table goes on that a restart of the server has interrupted.
type ResumedMatch struct {
	MatchID string `json:"match_id"`
	TableID string `json:"table_id"`
}

// Result is what remains of a finished match.
type Result struct {
	ResultID string `json:"result_id"`
	TableID  string `json:"table_id"`
	// MatchID is that of the last incarnation.
	MatchID string          `json:"match_id"`
	Preset  string          `json:"preset"`
	Rules   json.RawMessage `json:"rules"`
	Ranked  bool            `json:"ranked"`
	// Counted says that it went into the players' statistics.
	Counted bool `json:"counted"`
	// Incarnation is how often the match was resumed.
	Incarnation   uint32 `json:"incarnation"`
	StartedUnixMs int64  `json:"started_unix_ms"`
	EndedUnixMs   int64  `json:"ended_unix_ms"`
	// DurationMs is match time.
	DurationMs int64 `json:"duration_ms"`
	// Reason is the name of a wire.EndReason without its prefix, "NO_SETS_LEFT".
	Reason string `json:"reason"`
	// Winners are seats.
	Winners []int `json:"winners"`
	// Commitment and Key are hexadecimal; a practice deck has a Seed instead.
	Commitment   string         `json:"commitment"`
	Key          string         `json:"key"`
	Seed         int32          `json:"seed"`
	RecordSHA256 string         `json:"record_sha256"`
	RecordBytes  int            `json:"record_bytes"`
	Players      []PlayerResult `json:"players"`
}

// PlayerResult is one player's part of a result.
type PlayerResult struct {
	Seat int `json:"seat"`
	// UserID is empty for a bot, and for somebody whose data was deleted.
	UserID      string `json:"user_id"`
	DisplayName string `json:"display_name"`
	// Bot is a bot's level, empty for a person.
	Bot       string `json:"bot"`
	Deleted   bool   `json:"deleted"`
	Score     int    `json:"score"`
	Forfeited bool   `json:"forfeited"`
	// Claims were judged, Wrong of them were no Sets.
	Claims int `json:"claims"`
	Wrong  int `json:"wrong"`
	// ReactionMs is how long the player took from when a board could be claimed to a Set.
	ReactionMs struct {
		Count   int   `json:"count"`
		Fastest int64 `json:"fastest"`
		Median  int64 `json:"median"`
	} `json:"reaction_ms"`
	// Rating is what a ranked match changed, nil otherwise.
	Rating *RatingChange `json:"rating"`
}

// RatingChange is what a ranked match did to a rating, as it is shown.
type RatingChange struct {
	Before int `json:"before"`
	After  int `json:"after"`
	Change int `json:"change"`
}

// GotResult is the answer to GetResult: Result is nil while it is on its way to the database.
type GotResult struct {
	// Status is "pending" or "final".
	Status string  `json:"status"`
	Result *Result `json:"result"`
}

// GotRecord is the record of a match that is over, with its result.
type GotRecord struct {
	ResultID string `json:"result_id"`
	// Record can be replayed by domain.Replay.
	Record []byte  `json:"record"`
	Result *Result `json:"result"`
}

// ResultPage is a page of results, the newest first.
type ResultPage struct {
	Results []Result `json:"results"`
	// Cursor asks for the next page; empty when there is none.
	Cursor string `json:"cursor"`
}

// PlayerStats are somebody's statistics: of all matches that counted.
type PlayerStats struct {
	UserID  string `json:"user_id"`
	Matches int    `json:"matches"`
	// Wins are matches won against at least one other person.
	Wins       int `json:"wins"`
	Sets       int `json:"sets"`
	Misses     int `json:"misses"`
	Streak     int `json:"streak"`
	BestStreak int `json:"best_streak"`
	// FastestTimedMs is the shortest timed match that was won by the last Set of the deck; 0: none.
	FastestTimedMs int64   `json:"fastest_timed_ms"`
	RankedMatches  int     `json:"ranked_matches"`
	Mu             float64 `json:"mu"`
	Sigma          float64 `json:"sigma"`
	// Rating is as it is shown.
	Rating int `json:"rating"`
}

// PlayerReport says what was wrong with another player of a match.
type PlayerReport struct {
	ResultID string `json:"result_id"`
	Seat     int    `json:"seat"`
	// Reason is "cheating", "abuse", "idle", "name" or "other".
	Reason string `json:"reason"`
	// Text says more, in at most 500 characters.
	Text string `json:"text,omitempty"`
}

// ExportedData is a page of all that is stored about the user.
type ExportedData struct {
	UserID  string          `json:"user_id"`
	Stats   PlayerStats     `json:"stats"`
	Rating  int             `json:"rating"`
	Matches []ExportedMatch `json:"matches"`
	// Cursor asks for the next page; empty when there is none.
	Cursor string `json:"cursor"`
}

// ExportedMatch is what is stored of a match about one of its players: the others are not named.
type ExportedMatch struct {
	Result Result `json:"result"`
	// Record is nil when it is not kept any more.
	Record []byte `json:"record"`
	// Reports are those that the user has made.
	Reports json.RawMessage `json:"reports"`
}

// ResumeMatch goes on with a match that a restart of the server has interrupted, and says where. It does not join. All of its players may
// ask at once. A refusal is an *Error: MATCH_OVER when the match has ended meanwhile, UNKNOWN_MATCH when nothing is known of it.
func (c *Client) ResumeMatch(ctx context.Context, user *User, tableID string) (ResumedMatch, error) {
	return resumeMatch(ctx, c.caller(user), tableID)
}

// ResumeMatch goes on with a match that a restart of the server has interrupted, and says where. It does not join.
func (s *Socket) ResumeMatch(ctx context.Context, tableID string) (ResumedMatch, error) {
	return resumeMatch(ctx, s.RPC, tableID)
}

func resumeMatch(ctx context.Context, rpc rpcCaller, tableID string) (ResumedMatch, error) {
	return call[ResumedMatch](ctx, rpc, "resume_match", map[string]string{"table_id": tableID})
}

// GetResult tells a player how a match ended. The result's id is the table's.
func (c *Client) GetResult(ctx context.Context, user *User, resultID string) (GotResult, error) {
	return call[GotResult](ctx, c.caller(user), "get_result", map[string]string{"result_id": resultID})
}

// GetRecord gives a player the record of a match that is over.
func (c *Client) GetRecord(ctx context.Context, user *User, resultID string) (GotRecord, error) {
	return call[GotRecord](ctx, c.caller(user), "get_record", map[string]string{"result_id": resultID})
}

// MatchHistory lists the user's results. Limit is 1-100, the server's default when 0; cursor is ResultPage.Cursor of the page before, or "".
func (c *Client) MatchHistory(ctx context.Context, user *User, limit int, cursor string) (ResultPage, error) {
	request := struct {
		Limit  int    `json:"limit,omitempty"`
		Cursor string `json:"cursor,omitempty"`
	}{limit, cursor}
	return call[ResultPage](ctx, c.caller(user), "match_history", request)
}

// PlayerStats are somebody's statistics, the user's own when userID is empty.
func (c *Client) PlayerStats(ctx context.Context, user *User, userID string) (PlayerStats, error) {
	request := struct {
		UserID string `json:"user_id,omitempty"`
	}{userID}
	return call[PlayerStats](ctx, c.caller(user), "player_stats", request)
}

// ReportPlayer stores what the user has to say about another player, with the record of their match.
func (c *Client) ReportPlayer(ctx context.Context, user *User, report PlayerReport) error {
	_, err := call[struct{}](ctx, c.caller(user), "report_player", report)
	return err
}

// DeleteMyData takes the user out of all results and leaderboards, and deletes statistics and history. It cannot be undone. The account stays.
func (c *Client) DeleteMyData(ctx context.Context, user *User) error {
	_, err := call[struct{}](ctx, c.caller(user), "delete_my_data", map[string]bool{"confirm": true})
	return err
}

// ExportMyData gives all that is stored about the user, a page at a time; cursor is ExportedData.Cursor of the page before, or "".
func (c *Client) ExportMyData(ctx context.Context, user *User, cursor string) (ExportedData, error) {
	request := struct {
		Cursor string `json:"cursor,omitempty"`
	}{cursor}
	return call[ExportedData](ctx, c.caller(user), "export_my_data", request)
}
