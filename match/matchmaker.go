package match

import (
	"context"
	"database/sql"
	"slices"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
)

// matched makes the match of users whom the matchmaker has brought together. Whatever goes wrong, it answers with a match id: with
// an error or none they would get a token for a relayed match.
func (m *module) matched(
	ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, entries []runtime.MatchmakerEntry,
) (matchID string, err error) {
	matchID = nowhere // joining it fails with "match not found", and players look again
	defer func() {
		if cause := recover(); cause != nil {
			m.report(atMatchmaker, cause, "", 0)
		}
		if matchID == nowhere {
			m.count("set3d_matchmaker_failed_total", nil)
		}
	}()
	m.matchedTickets(entries)
	if m.operator.isDraining() { // the tickets are from before
		return matchID, nil
	}
	setup := m.matchedSetup(entries)
	for range 2 { // a second time, should it have been bad luck
		o := m.newOpening(setup)
		m.tables.begin(o, 0)
		if err := m.make(ctx, o); err != nil {
			m.logger.Error("cannot make the matchmaker's match: %v", err)
			continue
		}
		m.count("set3d_matchmaker_matches_total", map[string]string{"preset": presetLabel(setup.Preset)})
		return o.matchID, nil
	}
	return matchID, nil
}

// matchedSetup is the table for the users of tickets. What they claim has been checked when they came, and is checked again:
// tickets can be made past that hook, by another module.
func (m *module) matchedSetup(entries []runtime.MatchmakerEntry) tableSetup {
	var users []string
	presets := m.presets()
	chosen, _ := presets.find(defaultPreset)
	for i, entry := range entries {
		name, _ := entry.GetProperties()[propertyPreset].(string)
		if p, _ := presets.find(name); p.public && i == 0 {
			chosen = p
		}
		if userID := entry.GetPresence().GetUserId(); !slices.Contains(users, userID) && len(users) < domain.MaxPlayers {
			users = append(users, userID)
		}
	}
	s := tableSetup{
		Preset: chosen.name, Rules: chosen.rules, Public: true, Seats: max(quickMin, len(users)), ReservedMs: m.config.reservation.Milliseconds(),
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
