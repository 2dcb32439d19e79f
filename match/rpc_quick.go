package match

import (
	"context"

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
	ReservedMs int64     `json:"reserved_ms"`
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
	return m.once(ctx, userID, requestID, kind, func() (any, error) {
		m.blocks.refresh(ctx, userID)
		return m.seatQuickly(ctx, userID, kind, chosen)
	})
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
func (m *module) seatQuickly(ctx context.Context, userID string, kind tableKind, chosen preset) (any, error) {
	for {
		m.blocks.load(ctx, m.tables.neighbours(kind, m.clock.now()))
		now := m.clock.now()
		table := tableSetup{Creator: userID, Preset: kind.preset, Rules: chosen.rules, Public: true, Seats: kind.seats}
		found, ok := m.tables.seek(wish{
			userID: userID, kind: kind, now: now, until: now + m.config.reservation,
			apart: func(otherID string) bool { return m.blocks.apart(userID, otherID) },
		}, m.newOpening(table, userID), m.config.maxTablesPerUser)
		switch {
		case !ok:
			return nil, m.tooManyTables()
		case found.box != nil:
			found.box.ring() // the roster shows promises
			return m.quickAnswer(found.box, kind, false), nil
		case found.mine:
			if err := m.make(ctx, found.opening); err != nil {
				return nil, err
			}
			return m.quickAnswer(found.opening.box, kind, true), nil
		}
		select {
		case <-found.opening.done:
		case <-ctx.Done():
			return nil, reject(wire.Reason_REASON_INTERNAL, nil)
		}
		if found.opening.err == nil {
			return m.quickAnswer(found.opening.box, kind, false), nil
		}
	}
}

func (m *module) quickAnswer(b *mailbox, kind tableKind, created bool) quickResponse {
	m.count("set3d_quick_matches_total", map[string]string{"preset": presetLabel(kind.preset)})
	return quickResponse{
		MatchID: b.id, TableID: b.tableID, Code: b.code, Created: created, ReservedMs: m.config.reservation.Milliseconds(),
		Preset: kind.preset, Rules: viewRules(b.rules), Seats: kind.seats,
	}
}
