package match

import (
	"context"

	wire "set3d/proto/set3d/v1"
)

// codeKey is the metadata of a join with the code of a private table.
const codeKey = "code"

type tableView struct {
	MatchID   string    `json:"match_id"`
	TableID   string    `json:"table_id"`
	Phase     string    `json:"phase"`
	Open      bool      `json:"open"`
	Private   bool      `json:"private"`
	Ranked    bool      `json:"ranked"`
	StartMode string    `json:"start_mode"`
	Preset    string    `json:"preset"`
	Rules     rulesView `json:"rules"`
	Seats     int       `json:"seats"`
	Taken     int       `json:"taken"`
}

type resolveResponse struct {
	Code string `json:"code"`
	tableView
}

// resolveCode shows the table behind a code before anybody joins it. Wrong codes are counted, and who has tried too many is
// told nothing of right ones either.
func (m *module) resolveCode(ctx context.Context, r *request) (any, error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	typed, ok := r.text("code", codeInputMax)
	if err := r.done(); err != nil {
		return nil, err
	}
	if !ok {
		return nil, reject(wire.Reason_REASON_MISSING_FIELD, args{"field": "code"})
	}
	code, found := cleanCode(typed), (*mailbox)(nil)
	wait, ok := m.guesses.try(userID, m.clock.now(), func() bool {
		found = m.tables.byCode(code)
		return found != nil
	})
	switch {
	case !ok:
		m.count("set3d_codes_limited_total", nil)
		return nil, tooMany(wait)
	case found == nil:
		m.count("set3d_codes_wrong_total", nil)
		return nil, reject(wire.Reason_REASON_UNKNOWN_CODE, nil)
	}
	return resolveResponse{Code: code, tableView: viewTable(found)}, nil
}

func viewTable(b *mailbox) tableView {
	f := b.known()
	return tableView{
		MatchID: b.id, TableID: b.tableID, Phase: f.label.Phase, Open: f.label.Open, Private: f.label.Private,
		Ranked: f.label.Ranked, StartMode: f.label.Start, Preset: f.label.Preset, Rules: viewRules(b.rules),
		Seats: f.label.Seats, Taken: f.label.Taken,
	}
}

// mayEnter says whether a user may come to a private table: with its code, or with a seat or the promise of one. Codes tried
// here count like those of resolve_code.
func (t *table) mayEnter(userID string, metadata map[string]string) (wire.Reason, args, bool) {
	if !t.setup.Private || userID == t.setup.Creator || t.seatFor(&visitor{userID: userID}) != spectatorSeat || t.box.ledger.promised(userID, t.now) {
		return 0, nil, true
	}
	typed, given := metadata[codeKey]
	if !given {
		return wire.Reason_REASON_PRIVATE_TABLE, nil, false
	}
	right := false
	wait, ok := t.module.guesses.try(userID, t.module.clock.now(), func() bool {
		right = cleanCode(typed) == t.setup.Code
		return right
	})
	switch {
	case !ok:
		return wire.Reason_REASON_TOO_MANY_REQUESTS, waitArgs(wait), false
	case !right:
		return wire.Reason_REASON_PRIVATE_TABLE, nil, false
	}
	return 0, nil, true
}
