package match

import (
	"context"
	"errors"

	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

// reportReasons are what a player can be reported for.
var reportReasons = [...]string{"cheating", "abuse", "idle", "name", "other"}

const reportTextMax = 500 // characters

type doneResponse struct {
	Done bool `json:"done"`
}

// reportPlayer stores what a player has to say about another one with the record of their match.
func (m *module) reportPlayer(ctx context.Context, r *request) (any, error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	seat, named := r.number("seat", 0, 7)
	reason, reasoned := r.choice("reason", reportReasons[:])
	text, _ := r.text("text", reportTextMax)
	resultID, err := readResultID(r)
	switch {
	case err != nil:
		return nil, err
	case !named:
		return nil, reject(wire.Reason_REASON_MISSING_FIELD, args{"field": "seat"})
	case !reasoned:
		return nil, reject(wire.Reason_REASON_MISSING_FIELD, args{"field": "reason"})
	}
	result, pending, err := m.findResult(ctx, resultID)
	switch {
	case err != nil:
		return nil, err
	case pending:
		return nil, reject(wire.Reason_REASON_RESULT_PENDING, nil)
	}
	from := result.PlayerOf(userID).Seat
	if int(seat) >= len(result.Players) || int(seat) == from || result.Players[seat].Bot != "" {
		return nil, reject(wire.Reason_REASON_NO_SUCH_SEAT, args{"seat": seat})
	}
	report := archive.Report{
		UserID: userID, From: from, Seat: int(seat), Reason: reportReasons[reason], Text: cleanText(text, reportTextMax),
		UnixMs: m.clock.wall().UnixMilli(),
	}
	if err := m.archive.Report(result, report); err != nil {
		return nil, m.storageFailed(err)
	}
	m.count("set3d_reports_total", map[string]string{"reason": report.Reason})
	m.logger.Info("result %s: seat %d reports seat %d: %s", resultID, from, seat, report.Reason)
	return doneResponse{true}, nil
}

// deleteMyData takes the caller out of all results and leaderboards and deletes the statistics and the history. The account stays.
func (m *module) deleteMyData(ctx context.Context, r *request) (any, error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	sure, _ := r.flag("confirm")
	if err := r.done(); err != nil {
		return nil, err
	}
	if !sure {
		return nil, reject(wire.Reason_REASON_MISSING_FIELD, args{"field": "confirm"})
	}
	err = m.archive.Forget(userID)
	switch {
	case errors.Is(err, archive.ErrBusy):
		return nil, reject(wire.Reason_REASON_RESULT_PENDING, nil)
	case err != nil:
		return nil, m.storageFailed(err)
	}
	return doneResponse{true}, nil
}

type exportResponse struct {
	UserID  string           `json:"user_id"`
	Stats   archive.Stats    `json:"stats"`
	Rating  int              `json:"rating"`
	Matches []archive.Export `json:"matches"`
	Cursor  string           `json:"cursor"` // of the next page; empty: that was all
}

const exportPage = 20

// exportMyData gives the caller all that is stored about the caller, a page at a time.
func (m *module) exportMyData(ctx context.Context, r *request) (any, error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	cursor, err := readCursor(r)
	if err != nil {
		return nil, err
	}
	page, err := m.historyPage(userID, exportPage, cursor)
	if err != nil {
		return nil, err
	}
	stats, err := m.archive.Stats(userID)
	if err != nil {
		return nil, m.storageFailed(err)
	}
	answer := exportResponse{UserID: userID, Stats: stats, Rating: stats.Rating(), Matches: []archive.Export{}, Cursor: page.Cursor}
	for _, result := range page.Results {
		match, err := m.archive.Export(result, userID)
		if err != nil {
			return nil, m.storageFailed(err)
		}
		answer.Matches = append(answer.Matches, match)
	}
	return answer, nil
}
