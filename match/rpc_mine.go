package match

import (
	"context"
	"time"
)

type mineResponse struct {
	Matches []mineView `json:"matches"`
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
	answer := mineResponse{Matches: []mineView{}}
	for _, b := range m.tables.listed() {
		if view, ok := m.viewMine(b, userID); ok {
			answer.Matches = append(answer.Matches, view)
		}
	}
	return answer, nil
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
