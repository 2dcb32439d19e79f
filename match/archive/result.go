package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
)

// Result is what remains of a finished match.
type Result struct {
	ResultID string          `json:"result_id"` // the table's id: a table plays one match
	TableID  string          `json:"table_id"`
	MatchID  string          `json:"match_id"`
	Preset   string          `json:"preset"`
	Rules    json.RawMessage `json:"rules"`
	Ranked   bool            `json:"ranked"`
	Counted  bool            `json:"counted"` // it went into the players' statistics
	// RatingFormula is the version of the formula by which the match has changed ratings; 0: it has not, or before
	// versions were noted.
	RatingFormula int            `json:"rating_formula,omitempty"`
	Incarnation   uint32         `json:"incarnation"`
	StartedUnixMs int64          `json:"started_unix_ms"`
	EndedUnixMs   int64          `json:"ended_unix_ms"`
	DurationMs    int64          `json:"duration_ms"` // match time
	Reason        string         `json:"reason"`
	Winners       []int          `json:"winners"` // seats
	Commitment    string         `json:"commitment,omitempty"`
	Key           string         `json:"key,omitempty"`
	Seed          int32          `json:"seed,omitempty"`
	RecordSHA256  string         `json:"record_sha256"`
	RecordBytes   int            `json:"record_bytes"`
	RecordKey     string         `json:"record_key"`
	Players       []PlayerResult `json:"players"`
}

// PlayerResult is one player's part of a result.
type PlayerResult struct {
	Seat      int           `json:"seat"`
	UserID    string        `json:"user_id,omitempty"` // empty: a bot, or somebody whose data was deleted
	Name      string        `json:"display_name"`
	Bot       string        `json:"bot,omitempty"`
	Deleted   bool          `json:"deleted,omitempty"`
	Score     int           `json:"score"`
	Forfeited bool          `json:"forfeited,omitempty"`
	Claims    int           `json:"claims"` // judged
	Wrong     int           `json:"wrong"`
	Reaction  Reaction      `json:"reaction_ms"`
	Rating    *RatingChange `json:"rating,omitempty"`
}

// Reaction is how long a player took from when a board could be claimed to a Set, in ms.
type Reaction struct {
	Count   int   `json:"count"`
	Fastest int64 `json:"fastest"`
	Median  int64 `json:"median"`
}

// RatingChange is what a ranked match did to a rating, as it is shown.
type RatingChange struct {
	Before int `json:"before"`
	After  int `json:"after"`
	Change int `json:"change"`
}

// deletedName stands for a player whose data was deleted.
const deletedName = "deleted player"

// anotherName stands for the others in what a player exports.
const anotherName = "another player"

// resultWrite stores a result in place of that version.
func resultWrite(r *Result, version string) *runtime.StorageWrite {
	return &runtime.StorageWrite{Collection: resultsCollection, Key: r.ResultID, Value: encode(r), Version: version}
}

// PlayerOf is a user's part of the result, or nil.
func (r *Result) PlayerOf(userID string) *PlayerResult {
	for i := range r.Players {
		if userID != "" && r.Players[i].UserID == userID {
			return &r.Players[i]
		}
	}
	return nil
}

func (r *Result) won(seat int) bool {
	for _, winner := range r.Winners {
		if winner == seat {
			return true
		}
	}
	return false
}

// forget takes a player's name out of the result, and the rating, which is of nobody any more.
func (p *PlayerResult) forget() {
	p.UserID, p.Name, p.Deleted, p.Rating = "", deletedName, true, nil
}

// newResult is the result of a table whose match is over. All of it follows from the record, but for who sat there. Of
// a record that cannot be read there is an error, and a result all the same: who sat there, and that it counts for
// nothing.
func newResult(t *Table) (*Result, error) {
	sum, err := summarize(t)
	r := &Result{
		ResultID: t.ID, TableID: t.ID, MatchID: t.MatchID, Preset: t.Preset, Rules: t.Rules, Ranked: t.Ranked,
		Counted: t.Counts && t.State != Aborted && t.State != Stopped && err == nil, Incarnation: t.Incarnation,
		StartedUnixMs: t.StartedUnixMs, EndedUnixMs: t.SavedUnixMs, DurationMs: sum.DurationMs, Winners: []int{},
		RecordSHA256: digest(t.Record), RecordBytes: len(t.Record), RecordKey: recordKey(t.SavedUnixMs, t.ID),
	}
	switch {
	case err != nil:
		r.Reason = internalError
	case t.State == Stopped:
		r.Reason = stoppedByOperator
	case sum.HasEnded && t.State != Aborted:
		r.Reason, r.Winners = reasonName(sum.End.Reason), append(r.Winners, sum.End.Winners...)
	case t.State == Abandoned:
		r.Reason = reasonName(domain.EndAbandoned)
	default:
		r.Reason = internalError
	}
	r.readDeck(&sum)
	r.readPlayers(t.Seats, &sum)
	return r, err
}

func digest(record []byte) string {
	sum := sha256.Sum256(record)
	return hex.EncodeToString(sum[:])
}

// summarize is what a record says of its match. Of one that cannot be read, which may even panic, it is nothing about
// each seat.
func summarize(t *Table) (sum domain.Summary, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
		if err != nil {
			sum, err = domain.Summary{Seats: make([]domain.SeatSummary, len(t.Seats))}, fmt.Errorf("the record of table %s: %w", t.ID, err)
		}
	}()
	return domain.Summarize(t.Record)
}

func (r *Result) readDeck(sum *domain.Summary) {
	deck := sum.Setup.Deck
	if sum.Committed {
		key := deck.Key()
		r.Commitment, r.Key = hex.EncodeToString(sum.Commitment[:]), hex.EncodeToString(key[:])
	}
	if deck.Kind() == domain.SourceSeed {
		r.Seed = deck.Seed()
	}
}

func (r *Result) readPlayers(seats []Seat, sum *domain.Summary) {
	for seat := range min(len(sum.Seats), len(seats)) {
		who, played := &seats[seat], &sum.Seats[seat]
		r.Players = append(r.Players, PlayerResult{
			Seat: seat, UserID: who.UserID, Name: who.Name, Bot: who.Bot, Score: played.Score, Forfeited: played.Forfeited,
			Claims: played.Claims, Wrong: played.Wrong,
			Reaction: Reaction{Count: played.Reactions.Count, Fastest: played.Reactions.FastestMs, Median: played.Reactions.MedianMs},
		})
	}
}

// recordKey sorts by day.
func recordKey(unixMs int64, tableID string) string {
	return time.UnixMilli(unixMs).UTC().Format(dayLayout) + "." + tableID
}

const dayLayout = "20060102"

// internalError is the reason of a match that broke.
const internalError = "INTERNAL_ERROR"

// stoppedByOperator is the reason of a match that an operator has ended.
const stoppedByOperator = "OPERATOR"

// reasonName is why a match ended, as the wire names it.
func reasonName(r domain.EndReason) string {
	switch r {
	case domain.EndNoSetsLeft:
		return "NO_SETS_LEFT"
	case domain.EndTimeUp:
		return "TIME_UP"
	case domain.EndLastPlayer:
		return "LAST_PLAYER"
	case domain.EndAbandoned:
		return "ABANDONED"
	case domain.EndIdle:
		return "IDLE"
	}
	return internalError
}
