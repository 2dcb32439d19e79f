package local

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/blugelabs/bluge"
	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
)

// pass lets every active ticket look for others once, and announces the matches that were formed. It returns when all
// of the module's hooks have, as Nakama's does: a slow hook delays the next pass.
func (m *matchmaker) pass(ctx context.Context) {
	all, active := m.snapshot()
	taken := map[string]bool{}
	var formed [][]*ticket
	for _, t := range active {
		if taken[t.entry.Ticket] {
			continue
		}
		t.passes++
		last := t.passes >= m.srv.cfg.Timing.MatchmakerPasses || t.min == t.max
		if last {
			m.deactivate(t)
		}
		hits, err := m.search(ctx, t, all, taken)
		if err != nil {
			m.srv.cfg.Logger.Error("error searching the matchmaker's index: %v", err)
			continue
		}
		if group := t.group(hits, last); group != nil {
			formed = append(formed, group)
			for _, g := range group {
				taken[g.entry.Ticket] = true
			}
		}
	}
	var wg sync.WaitGroup
	for _, group := range formed {
		if m.claim(group) {
			wg.Go(func() { m.announce(group) })
		}
	}
	wg.Wait()
}

func (m *matchmaker) deactivate(t *ticket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.active, t.entry.Ticket)
}

// claim removes a group's tickets; it is false if one of them has gone meanwhile.
func (m *matchmaker) claim(group []*ticket) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range group {
		if m.tickets[t.entry.Ticket] == nil {
			return false
		}
	}
	for _, t := range group {
		m.dropLocked(t.entry.Ticket)
	}
	return true
}

// search finds free tickets that fit the query of t and whose counts lie within its own, the best first, then the
// oldest. Whether t fits their queries is not asked: Nakama's rev_precision is off by default.
func (m *matchmaker) search(ctx context.Context, t *ticket, all map[string]*ticket, taken map[string]bool) ([]*ticket, error) {
	q := bluge.NewBooleanQuery().AddMust(
		t.query,
		bluge.NewNumericRangeInclusiveQuery(float64(t.min), math.Inf(1), true, true).SetField("min_count"),
		bluge.NewNumericRangeInclusiveQuery(math.Inf(-1), float64(t.max), true, true).SetField("max_count"),
	)
	reader, err := m.writer.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }()
	req := bluge.NewTopNSearch(len(all), q)
	req.SortBy([]string{"-_score", "created_at"})
	it, err := reader.Search(ctx, req)
	if err != nil {
		return nil, err
	}
	var out []*ticket
	for {
		doc, err := it.Next()
		if err != nil || doc == nil {
			return out, err
		}
		var id string
		err = doc.VisitStoredFields(func(field string, value []byte) bool {
			if field == "_id" {
				id = string(value)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		if hit := all[id]; hit != nil && hit != t && !taken[id] {
			out = append(out, hit)
		}
	}
}

// group combines t with hits: to its maximum, or on its last pass to as many as there are.
func (t *ticket) group(hits []*ticket, last bool) []*ticket {
	var combos [][]*ticket
	for i, hit := range hits {
		if hit.entry.Presence.SessionID == t.entry.Presence.SessionID {
			continue // one session's tickets never meet
		}
		at := slices.IndexFunc(combos, func(c []*ticket) bool { return len(c)+2 <= t.max && !holdsSession(c, hit) })
		if at < 0 {
			combos, at = append(combos, nil), len(combos)
		}
		combos[at] = append(combos[at], hit)
		size := len(combos[at]) + 1
		if size != t.max && (!last || size < t.min || i < len(hits)-1) {
			continue
		}
		if group := t.trim(combos[at]); group != nil {
			return group
		}
	}
	return nil
}

func holdsSession(c []*ticket, hit *ticket) bool {
	return slices.ContainsFunc(c, func(o *ticket) bool { return o.entry.Presence.SessionID == hit.entry.Presence.SessionID })
}

// trim fits a combination to the count multiple and checks that every member is content with the size.
func (t *ticket) trim(combo []*ticket) []*ticket {
	combo = slices.Clone(combo)
	if rem := (len(combo) + 1) % t.multiple; rem != 0 {
		if rem > len(combo) {
			return nil
		}
		slices.SortFunc(combo, func(a, b *ticket) int { return cmp.Compare(a.entry.CreateTime, b.entry.CreateTime) })
		combo = combo[rem:]
	}
	size := len(combo) + 1
	for _, c := range combo {
		if c.min > size || c.max < size || size%c.multiple != 0 {
			return nil
		}
	}
	return append(combo, t)
}

// announce asks the module for a match and tells the players. Without a match id they get a token for a relayed match;
// an error of the hook is only logged. A panic in the hook ends the process.
func (m *matchmaker) announce(group []*ticket) {
	id := m.matched(group)
	out := &rtapi.MatchmakerMatched{}
	if id != "" {
		out.Id = &rtapi.MatchmakerMatched_MatchId{MatchId: id}
	} else {
		out.Id = &rtapi.MatchmakerMatched_Token{Token: m.srv.tokens.match()}
	}
	for _, t := range group {
		out.Users = append(out.Users, &rtapi.MatchmakerMatched_MatchmakerUser{
			Presence: t.entry.Presence.wire(), StringProperties: t.stringProps, NumericProperties: t.numericProps,
		})
	}
	for i, t := range group {
		out.Self, out.Ticket = out.Users[i], t.entry.Ticket
		m.srv.router.send([]uuid.UUID{t.entry.Presence.SessionID}, &rtapi.Envelope{
			Message: &rtapi.Envelope_MatchmakerMatched{MatchmakerMatched: out},
		})
	}
}

func (m *matchmaker) matched(group []*ticket) string {
	hook := m.srv.module.matched
	if hook == nil {
		return ""
	}
	entries := make([]runtime.MatchmakerEntry, len(group))
	for i, t := range group {
		entries[i] = t.entry
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ctx = m.srv.hookContext(ctx, modeMatchmaker, caller{})
	id, err := hook(ctx, m.srv.cfg.Logger.WithField("mode", modeMatchmaker), nil, m.srv.nk, entries)
	if err != nil {
		m.srv.cfg.Logger.Error("Error running Matchmaker Matched hook: %v", err)
		return ""
	}
	return id
}
