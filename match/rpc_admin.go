package match

import (
	"context"
	"strconv"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

const (
	// askFor is how long an operator waits for a match to answer. The match does not wait for anybody.
	askFor           = 2 * time.Second
	announcementMax  = 280 // characters
	adminQueueMax    = 1_000
	adminQueueNormal = 100
	userIDMax        = 64
)

// operatorsOnly lets an RPC be called with the server's http key, and by no user.
func operatorsOnly(f rpcFunc) rpcFunc {
	return func(ctx context.Context, r *request) (any, error) {
		if userID, _ := ctx.Value(runtime.RUNTIME_CTX_USER_ID).(string); userID != "" {
			return nil, reject(wire.Reason_REASON_OPERATOR_ONLY, nil)
		}
		return f(ctx, r)
	}
}

type adminListResponse struct {
	Tables []adminTable `json:"tables"`
	Cursor string       `json:"cursor"` // of the next page; empty: that was all
}

// adminTable is a table as an operator lists it, private ones too.
type adminTable struct {
	tableView
	Code    string      `json:"code"`
	Creator string      `json:"creator"` // user id; empty: the server
	Players []adminSeat `json:"players"`
}

type adminSeat struct {
	Seat      int    `json:"seat"`
	UserID    string `json:"user_id"`
	Score     int    `json:"score"`
	Connected bool   `json:"connected"`
	Forfeited bool   `json:"forfeited"`
}

// adminList lists all tables of this process, the newest first.
func (m *module) adminList(_ context.Context, r *request) (any, error) {
	f := listFilter{limit: listDefault}
	f.read(r, m.listedPresets())
	userID, byUser := r.text("user_id", userIDMax)
	if err := r.done(); err != nil {
		return nil, err
	}
	answer, last := adminListResponse{Tables: []adminTable{}}, int64(0)
	for _, b := range m.tables.listed() {
		view := viewAdmin(b)
		if !f.wants(&view.tableView) || f.before != 0 && b.serial >= f.before || byUser && !view.has(userID) {
			continue
		}
		if len(answer.Tables) == f.limit {
			answer.Cursor = strconv.FormatInt(last, 10)
			break
		}
		answer.Tables, last = append(answer.Tables, view), b.serial
	}
	return answer, nil
}

func viewAdmin(b *mailbox) adminTable {
	view := adminTable{tableView: viewTable(b), Code: b.code, Creator: b.creator, Players: []adminSeat{}}
	for i, s := range b.known().seats {
		if s.userID != "" {
			view.Players = append(view.Players, adminSeat{i, s.userID, s.score, s.connected, s.forfeited})
		}
	}
	return view
}

func (a *adminTable) has(userID string) bool {
	for _, p := range a.Players {
		if p.UserID == userID {
			return true
		}
	}
	return false
}

// adminInspect shows what Nakama's console shows of a match: no deck, no seed, no key.
func (m *module) adminInspect(ctx context.Context, r *request) (any, error) {
	b, err := m.readTableName(r)
	if err != nil {
		return nil, err
	}
	return b.ask(ctx, func(t *table) any { return t.view() })
}

type adminEndResponse struct {
	TableID  string `json:"table_id"`
	ResultID string `json:"result_id"` // empty: the match had not begun, or was over
}

// adminEnd ends a match and closes its table. The match counts for nothing.
func (m *module) adminEnd(ctx context.Context, r *request) (any, error) {
	text, _ := r.text("text", announcementMax)
	b, err := m.readTableName(r)
	if err != nil {
		return nil, err
	}
	m.logger.Warn("table %s: an operator ends it", b.tableID)
	return b.ask(ctx, func(t *table) any {
		return adminEndResponse{TableID: b.tableID, ResultID: t.stop(cleanText(text, announcementMax))}
	})
}

// readTableName finds the table that a request names in one of three ways.
func (m *module) readTableName(r *request) (*mailbox, error) {
	matchID, byMatch := r.text("match_id", codeInputMax*4)
	tableID, byTable := r.text("table_id", tableIDMax)
	code, byCode := r.text("code", codeInputMax)
	if err := r.done(); err != nil {
		return nil, err
	}
	var found *mailbox
	switch {
	case byMatch:
		if key, ok := parseMatchID(matchID); ok {
			found = m.tables.find(key)
		}
	case byTable:
		found = m.tables.ofTable(tableID)
	case byCode:
		found = m.tables.byCode(cleanCode(code))
	default:
		return nil, reject(wire.Reason_REASON_MISSING_FIELD, args{"field": "match_id, table_id or code"})
	}
	if found == nil {
		return nil, reject(wire.Reason_REASON_UNKNOWN_MATCH, nil)
	}
	return found, nil
}

// ask runs f on the match's goroutine and waits a while for what it returns. A match that is busy may run it later.
func (b *mailbox) ask(ctx context.Context, f func(*table) any) (any, error) {
	answer := make(chan any, 1)
	if !b.isClosed() {
		b.tell(func(t *table) { answer <- f(t) })
		timer := time.NewTimer(askFor)
		defer timer.Stop()
		select {
		case a := <-answer:
			return a, nil
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if b.isClosed() {
		return nil, reject(wire.Reason_REASON_UNKNOWN_MATCH, nil)
	}
	return nil, reject(wire.Reason_REASON_BUSY, waitArgs(askFor))
}
