package match

import (
	"context"
	"time"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// quickMin is how many strangers are brought together at least.
const quickMin = 2

type quickResponse struct {
	MatchID    string    `json:"match_id"`
	TableID    string    `json:"table_id"`
	Code       string    `json:"code"`
	Created    bool      `json:"created"`
	ReservedMs int64     `json:"reserved_ms"` // what is left of the promise; 0: none, a seat was free or is the user's
	Preset     string    `json:"preset"`
	Rules      rulesView `json:"rules"`
	Seats      int       `json:"seats"`
}

// quickMatch finds the user a seat with strangers, and keeps it for a while. A table is made only when no other has room.
func (m *module) quickMatch(ctx context.Context, r *request) (any, error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	requestID, _ := r.text("request_id", requestIDMax)
	kind := tableKind{defaultPreset, defaultSeats}
	chosen := r.publicPreset(m.presets(), &kind.preset)
	if n, ok := r.number("seats", quickMin, domain.MaxPlayers); ok {
		kind.seats = int(n)
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	found, err := m.once(ctx, userID, requestID, kind, func() (any, error) {
		m.blocks.refresh(userID)
		return m.seatQuickly(ctx, userID, kind, chosen)
	})
	if err != nil {
		return nil, err
	}
	return m.quickAnswer(userID, kind, found.(quickTable)), nil
}

// quickTable is where a user was sent.
type quickTable struct {
	box     *mailbox
	created bool // for this user
}

// publicPreset takes the name of a preset by which strangers play.
func (r *request) publicPreset(presets catalogue, name *string) preset {
	if given, ok := r.text("preset", requestMax); ok {
		*name = given
	}
	chosen, _ := presets.find(*name)
	if !chosen.public {
		r.fail(wire.Reason_REASON_UNKNOWN_PRESET, args{"preset": shorten(*name), "allowed": presets.publicNames()})
	}
	return chosen
}

// seatQuickly tries until there is a seat. Whoever waited for a table that could not be made looks again, and makes the next
// one if it must be.
func (m *module) seatQuickly(ctx context.Context, userID string, kind tableKind, chosen preset) (quickTable, error) {
	for {
		m.blocks.load(m.tables.neighbours(kind, m.clock.now()))
		now := m.clock.now()
		table := tableSetup{Creator: userID, Preset: kind.preset, Rules: chosen.rules, Public: true, Seats: kind.seats}
		found, ok := m.tables.seek(wish{
			userID: userID, kind: kind, now: now, until: now + m.config.reservation,
			apart: func(otherID string) bool { return m.blocks.apart(userID, otherID) },
		}, m.newOpening(table, userID), m.config.maxTablesPerUser)
		switch {
		case !ok:
			return quickTable{}, m.tooManyTables()
		case found.box != nil:
			found.box.ring() // the roster shows promises
			return quickTable{box: found.box}, nil
		case found.mine:
			err := m.make(ctx, found.opening)
			return quickTable{box: found.opening.box, created: true}, err
		}
		select {
		case <-found.opening.done:
		case <-ctx.Done():
			return quickTable{}, reject(wire.Reason_REASON_INTERNAL, nil)
		}
		if found.opening.err == nil {
			return quickTable{box: found.opening.box}, nil
		}
	}
}

// quickAnswer says how things stand now: the same request may be answered again.
func (m *module) quickAnswer(userID string, kind tableKind, at quickTable) quickResponse {
	m.count("set3d_quick_matches_total", map[string]string{"preset": presetLabel(kind.preset)})
	b, now, left := at.box, m.clock.now(), time.Duration(0)
	if until, ok := b.ledger.promisedUntil(userID, now); ok {
		left = until - now
	}
	return quickResponse{
		MatchID: b.id, TableID: b.tableID, Code: b.code, Created: at.created, ReservedMs: left.Milliseconds(),
		Preset: kind.preset, Rules: viewRules(b.rules), Seats: kind.seats,
	}
}
