package match

import (
	"context"
	"database/sql"
	"slices"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// The properties of a matchmaker ticket. All users of a match see them.
const (
	propertyPreset = "preset" // a string
	propertySeats  = "seats"  // a number: exactly so many, instead of the ticket's counts
)

// beforeMatchmakerAdd makes a ticket say what this server makes matches by, and nothing else: a public preset, and counts that
// are a table's. It writes the query itself, since Nakama asks only one side's.
func (m *module) beforeMatchmakerAdd(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, in *rtapi.Envelope) (out *rtapi.Envelope, err error) {
	defer m.guardHook(&err)
	ticket := in.GetMatchmakerAdd()
	if ticket == nil {
		return in, nil
	}
	if err := checkTicket(ticket); err != nil {
		m.count("set3d_tickets_refused", nil)
		return nil, err
	}
	return in, nil
}

// beforePartyTicket does the same for a party's ticket.
func (m *module) beforePartyTicket(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, in *rtapi.Envelope) (out *rtapi.Envelope, err error) {
	defer m.guardHook(&err)
	party := in.GetPartyMatchmakerAdd()
	if party == nil {
		return in, nil
	}
	ticket := &rtapi.MatchmakerAdd{
		MinCount: party.MinCount, MaxCount: party.MaxCount, StringProperties: party.StringProperties, NumericProperties: party.NumericProperties,
	}
	whole := &rtapi.Envelope{Message: &rtapi.Envelope_MatchmakerAdd{MatchmakerAdd: ticket}}
	if _, err := m.beforeMatchmakerAdd(ctx, logger, db, nk, whole); err != nil {
		return nil, err
	}
	party.MinCount, party.MaxCount, party.Query = ticket.MinCount, ticket.MaxCount, ticket.Query
	party.StringProperties, party.NumericProperties = ticket.StringProperties, ticket.NumericProperties
	return in, nil
}

func checkTicket(ticket *rtapi.MatchmakerAdd) error {
	name, given := ticket.StringProperties[propertyPreset]
	if !given {
		name = defaultPreset
	}
	if chosen, _ := findPreset(name); !chosen.public {
		return reject(wire.Reason_REASON_UNKNOWN_PRESET, args{"preset": shorten(name), "allowed": publicPresetNames()})
	}
	for _, key := range sortedKeys(ticket.StringProperties) {
		if key != propertyPreset {
			return reject(wire.Reason_REASON_UNKNOWN_FIELD, args{"field": "string_properties." + shorten(key)})
		}
	}
	for _, key := range sortedKeys(ticket.NumericProperties) {
		if key != propertySeats {
			return reject(wire.Reason_REASON_UNKNOWN_FIELD, args{"field": "numeric_properties." + shorten(key)})
		}
	}
	if seats, given := ticket.NumericProperties[propertySeats]; given {
		if !(seats >= quickMin && seats <= domain.MaxPlayers) || seats != float64(int32(seats)) {
			return reject(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "numeric_properties.seats", "allowed": "2 to 8"})
		}
		ticket.MinCount, ticket.MaxCount = int32(seats), int32(seats)
	}
	if ticket.MinCount < quickMin || ticket.MaxCount > domain.MaxPlayers || ticket.MaxCount < ticket.MinCount {
		return reject(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "min_count, max_count", "allowed": "2 to 8"})
	}
	ticket.StringProperties = map[string]string{propertyPreset: name}
	ticket.NumericProperties = nil
	ticket.Query = "+properties.preset:" + name
	return nil
}

// matched makes the match of users whom the matchmaker has brought together. Whatever goes wrong, it answers with a match id: with
// an error or none they would get a token for a relayed match.
func (m *module) matched(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, entries []runtime.MatchmakerEntry) (matchID string, err error) {
	matchID = nowhere // joining it fails with "match not found", and players look again
	defer func() {
		if cause := recover(); cause != nil {
			m.report(atMatchmaker, cause, "", 0)
		}
		if matchID == nowhere {
			m.count("set3d_matchmaker_failed", nil)
		}
	}()
	setup := m.matchedSetup(entries)
	for range 2 { // a second time, should it have been bad luck
		o := m.newOpening(setup)
		m.tables.begin(o, 0)
		if err := m.make(ctx, o); err != nil {
			m.logger.Error("cannot make the matchmaker's match: %v", err)
			continue
		}
		m.count("set3d_matchmaker_matches", map[string]string{"preset": setup.Preset})
		return o.matchID, nil
	}
	return matchID, nil
}

// matchedSetup is the table for the users of tickets. What they claim has been checked when they came, and is checked again:
// tickets can be made past that hook, by another module.
func (m *module) matchedSetup(entries []runtime.MatchmakerEntry) tableSetup {
	var users []string
	chosen, _ := findPreset(defaultPreset)
	for i, entry := range entries {
		name, _ := entry.GetProperties()[propertyPreset].(string)
		if p, _ := findPreset(name); p.public && i == 0 {
			chosen = p
		}
		if userID := entry.GetPresence().GetUserId(); !slices.Contains(users, userID) && len(users) < domain.MaxPlayers {
			users = append(users, userID)
		}
	}
	s := tableSetup{
		Preset: chosen.name, Rules: chosen.rules, Seats: max(quickMin, len(users)), ReservedMs: m.config.reservation.Milliseconds(),
		Matched: true, Ranked: chosen.ranked && len(users) >= quickMin,
	}
	if s.Ranked {
		s.Rules.DropHoldMs = rankedHoldMs
	}
	copy(s.Reserved[:], users)
	return s
}

// settleMatched decides about a match of the matchmaker's when the time for coming is over and somebody has not come: two or more
// play, and one alone waits at what is now an open table.
func (t *table) settleMatched() {
	if !t.setup.Matched || t.standing.started || t.closing || t.box.ledger.promises(t.now) > 0 {
		return
	}
	if t.seats.humans() >= quickMin {
		t.start()
		return
	}
	t.setup.Matched, t.setup.Ranked = false, false
	if kind, ok := t.setup.kind(); ok && t.seats.humans() > 0 {
		t.module.tables.publish(t.box, kind)
	}
}
