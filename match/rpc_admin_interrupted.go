package match

import (
	"context"

	"set3d/match/archive"
)

type adminInterruptedResponse struct {
	Tables []adminInterruptedTable `json:"tables"`
	Cursor string                  `json:"cursor"` // of the next page; empty: that was all
}

// adminInterruptedTable is a match that waits for its players after a restart or a crash.
type adminInterruptedTable struct {
	adminTable
	Node            string `json:"node"` // that had it
	Incarnation     uint32 `json:"incarnation"`
	SavedUnixMs     int64  `json:"saved_unix_ms"` // the last checkpoint
	AbandonedUnixMs int64  `json:"abandoned_unix_ms"`
	Error           string `json:"error,omitempty"` // why nobody can come back: the checkpoint cannot be read
}

// adminInterrupted lists the matches that no process plays.
func (m *module) adminInterrupted(_ context.Context, r *request) (any, error) {
	cursor, err := readCursor(r)
	if err != nil {
		return nil, err
	}
	interrupted, next, err := m.archive.AllInterrupted(cursor)
	if err != nil {
		return nil, m.pageFailed(err, cursor)
	}
	answer := adminInterruptedResponse{Tables: []adminInterruptedTable{}, Cursor: next}
	for _, i := range interrupted {
		answer.Tables = append(answer.Tables, viewInterruption(i))
	}
	return answer, nil
}

func viewInterruption(i archive.Interruption) adminInterruptedTable {
	view := adminInterruptedTable{Node: i.Node, Incarnation: i.Incarnation, SavedUnixMs: i.SavedUnixMs, AbandonedUnixMs: i.Until.UnixMilli()}
	w, err := readWaiting(i.Table)
	if err != nil {
		view.Error = err.Error()
		w.view = tableView{TableID: i.ID, Phase: phaseInterrupted, Preset: i.Preset}
	}
	view.adminTable = adminTable{tableView: w.view, Code: w.setup.Code, Creator: w.setup.Creator, Players: []adminSeat{}}
	for seat, s := range i.Seats {
		if s.UserID != "" {
			view.Players = append(view.Players, adminSeat{Seat: seat, UserID: s.UserID, Score: w.players[seat].Score, Forfeited: w.players[seat].Forfeited})
		}
	}
	return view
}
