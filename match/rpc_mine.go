package match

import (
	"context"
	"time"

	"set3d/domain"
	"set3d/match/archive"
)

type mineResponse struct {
	Matches []mineView `json:"matches"`
	// Complete is false if the database did not answer: tables that a restart has interrupted are missing.
	Complete bool `json:"complete"`
}

// mineView is a table where the user has a seat.
type mineView struct {
	tableView
	Code                string `json:"code"`
	Seat                *int   `json:"seat,omitempty"` // absent: promised, not taken
	Score               int    `json:"score"`
	Connected           bool   `json:"connected"`
	HeldUntilUnixMs     int64  `json:"held_until_unix_ms,omitempty"`
	ReservedUntilUnixMs int64  `json:"reserved_until_unix_ms,omitempty"`
}

// myMatches lists the tables where the user has a seat or is promised one, the newest first. After the app was killed it finds
// the way back.
func (m *module) myMatches(ctx context.Context, r *request) (any, error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	answer := mineResponse{Matches: []mineView{}, Complete: true}
	for _, b := range m.tables.listed() {
		if view, ok := m.viewMine(b, userID); ok {
			answer.Matches = append(answer.Matches, view)
		}
	}
	interrupted, err := m.archive.Interrupted(userID)
	if err != nil {
		m.logger.Warn("cannot look for interrupted tables: %v", err)
		answer.Complete = false
	}
	for _, t := range interrupted {
		if view, ok := viewInterrupted(t, userID); ok && m.tables.ofTable(t.ID) == nil {
			answer.Matches = append(answer.Matches, view)
		}
	}
	return answer, nil
}

// viewInterrupted is a user's table that a restart has interrupted: there is no match to join until somebody resumes it.
func viewInterrupted(t *archive.Table, userID string) (mineView, bool) {
	seat, sits := t.SeatOf(userID)
	w, err := readWaiting(t)
	if err != nil || !sits {
		return mineView{}, false
	}
	me := w.players[seat]
	return mineView{tableView: w.view, Code: w.setup.Code, Seat: &seat, Score: me.Score}, !me.Forfeited
}

// waiting is what a checkpoint says of a match that nobody plays.
type waiting struct {
	setup   tableSetup
	view    tableView
	players [domain.MaxPlayers]domain.PlayerSnapshot
}

// readWaiting reads a checkpoint.
func readWaiting(t *archive.Table) (w waiting, err error) {
	session, saved, err := readInterrupted(t)
	if err != nil {
		return w, err
	}
	w.setup, w.players = saved.tableSetup, session.Snapshot().ByPlayer
	w.view = tableView{
		TableID: t.ID, Phase: phaseInterrupted, Private: w.setup.Private, Ranked: w.setup.Ranked, StartMode: w.setup.startName(),
		Preset: w.setup.rulesName(), Rules: viewRules(w.setup.Rules), Seats: len(t.Seats), Taken: len(t.Seats),
	}
	return w, nil
}

func (m *module) viewMine(b *mailbox, userID string) (mineView, bool) {
	f := b.known()
	for i := range f.seats {
		s := &f.seats[i]
		if s.userID != userID || s.forfeited {
			continue
		}
		seat := i
		view := mineView{tableView: viewTable(b), Code: b.code, Seat: &seat, Score: s.score, Connected: s.connected}
		if s.heldUntil != 0 {
			view.HeldUntilUnixMs = m.unixMs(s.heldUntil)
		}
		return view, true
	}
	if until, ok := b.ledger.promisedUntil(userID, m.clock.now()); ok {
		return mineView{tableView: viewTable(b), Code: b.code, ReservedUntilUnixMs: m.unixMs(until)}, true
	}
	return mineView{}, false
}

// unixMs is a moment of the module's clock as Unix time.
func (m *module) unixMs(at time.Duration) int64 {
	return m.clock.wall().Add(at - m.clock.now()).UnixMilli()
}

// promisedUntil is until when a seat waits for the user, if one does.
func (l *ledger) promisedUntil(userID string, now time.Duration) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.of(userID, now)
	if l.shut || i < 0 || l.places[i].taken {
		return 0, false
	}
	return l.places[i].until, true
}
