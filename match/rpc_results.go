package match

import (
	"context"
	"strings"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

const (
	historyDefault = 20
	historyMax     = 100
	// storageCursorMax is how long a cursor of Nakama's listing may be, in characters.
	storageCursorMax = 1_024
)

// The states of a result.
const (
	resultPending = "pending"
	resultFinal   = "final"
)

type resultResponse struct {
	Status string          `json:"status"`
	Result *archive.Result `json:"result,omitempty"`
}

// getResult tells a player how a match ended, with the change of ratings. It is pending until the database has it.
func (m *module) getResult(ctx context.Context, r *request) (any, error) {
	resultID, err := readResultID(r)
	if err != nil {
		return nil, err
	}
	result, pending, err := m.findResult(ctx, resultID)
	switch {
	case err != nil:
		return nil, err
	case pending:
		return resultResponse{Status: resultPending}, nil
	}
	return resultResponse{Status: resultFinal, Result: result}, nil
}

func readResultID(r *request) (string, error) {
	resultID, named := r.text("result_id", tableIDMax)
	if err := r.done(); err != nil {
		return "", err
	}
	if !named || resultID == "" {
		return "", reject(wire.Reason_REASON_MISSING_FIELD, args{"field": "result_id"})
	}
	return resultID, nil
}

// findResult finds a result that the caller may see: its players may, and the server itself.
func (m *module) findResult(ctx context.Context, resultID string) (result *archive.Result, pending bool, err error) {
	userID, _ := ctx.Value(runtime.RUNTIME_CTX_USER_ID).(string)
	pending = m.archive.Pending(resultID) // asked first: it may be stored in between
	result, err = m.archive.Result(resultID)
	switch {
	case err != nil:
		return nil, false, m.storageFailed(err)
	case result == nil && pending:
		return nil, true, nil
	case result == nil:
		return nil, false, m.noResult(resultID)
	case userID != "" && result.PlayerOf(userID) == nil:
		return nil, false, reject(wire.Reason_REASON_UNKNOWN_RESULT, nil)
	}
	return result, false, nil
}

// noResult is why a result is not there.
func (m *module) noResult(resultID string) error {
	aside, err := m.archive.IsSetAside(resultID)
	switch {
	case err != nil:
		return m.storageFailed(err)
	case aside:
		return reject(wire.Reason_REASON_NOT_SETTLED, nil)
	}
	return reject(wire.Reason_REASON_UNKNOWN_RESULT, nil)
}

type recordResponse struct {
	ResultID string           `json:"result_id"`
	Record   []byte           `json:"record"` // as base64
	Result   *archive.Result  `json:"result"`
	Reports  []archive.Report `json:"reports,omitempty"` // for the server only
}

// getRecord gives a player the record of a match that is over.
func (m *module) getRecord(ctx context.Context, r *request) (any, error) {
	resultID, err := readResultID(r)
	if err != nil {
		return nil, err
	}
	result, pending, err := m.findResult(ctx, resultID)
	switch {
	case err != nil:
		return nil, err
	case pending:
		return nil, reject(wire.Reason_REASON_RESULT_PENDING, nil)
	}
	record, err := m.archive.Record(result)
	switch {
	case err != nil:
		return nil, m.storageFailed(err)
	case record == nil:
		return nil, reject(wire.Reason_REASON_RECORD_GONE, nil)
	}
	answer := recordResponse{ResultID: resultID, Record: record, Result: result}
	if _, err := userOf(ctx); err != nil {
		if answer.Reports, err = m.archive.Reports(result); err != nil {
			return nil, m.storageFailed(err)
		}
	}
	return answer, nil
}

type historyResponse struct {
	Results []*archive.Result `json:"results"`
	Cursor  string            `json:"cursor"` // of the next page; empty: that was all
}

// matchHistory lists the caller's results, the newest first.
func (m *module) matchHistory(ctx context.Context, r *request) (any, error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	limit := int64(historyDefault)
	if n, ok := r.number("limit", 1, historyMax); ok {
		limit = n
	}
	cursor, err := readCursor(r)
	if err != nil {
		return nil, err
	}
	return m.historyPage(userID, int(limit), cursor)
}

// readCursor reads the last field of a request. Whether Nakama can read it is found out when it is used.
func readCursor(r *request) (string, error) {
	cursor, _ := r.text("cursor", storageCursorMax)
	return cursor, r.done()
}

func (m *module) historyPage(userID string, limit int, cursor string) (historyResponse, error) {
	results, next, err := m.archive.History(userID, limit, cursor)
	if err != nil {
		return historyResponse{}, m.pageFailed(err, cursor)
	}
	return historyResponse{Results: append([]*archive.Result{}, results...), Cursor: next}, nil // never null
}

// pageFailed is why there is no page of a list behind a cursor.
func (m *module) pageFailed(err error, cursor string) error {
	if cursor != "" && archive.IsBadCursor(err) {
		return reject(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "cursor", "value": shorten(cursor), "allowed": "the cursor of an earlier answer"})
	}
	return m.storageFailed(err)
}

type statsResponse struct {
	UserID string `json:"user_id"`
	archive.Stats
	Rating int `json:"rating"` // as it is shown
}

// playerStats are anybody's statistics, the caller's own when nobody is named.
func (m *module) playerStats(ctx context.Context, r *request) (any, error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	if named, ok := r.text("user_id", tableIDMax); ok {
		var id [16]byte
		if len(named) != 36 || !parseUUID(named, &id) || id == [16]byte{} {
			r.outOfRange("user_id", shorten(named), "a user's id")
		}
		userID = strings.ToLower(named)
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	stats, err := m.archive.Stats(userID)
	if err != nil {
		return nil, m.storageFailed(err)
	}
	return statsResponse{UserID: userID, Stats: stats, Rating: stats.Rating()}, nil
}
