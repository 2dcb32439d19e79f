package local

import (
	"context"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
)

// presenceListener hears of joins to and leaves from a match of this node.
type presenceListener interface {
	joined(matchID uuid.UUID, members []*member)
	left(matchID uuid.UUID, members []*member)
}

// run dispatches presence events, first to matches, then to clients, until ctx is done.
func (t *tracker) run(ctx context.Context, matches presenceListener, status *statusFollowers, router *router) {
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-t.events:
			t.dispatch(e, matches, status, router)
		}
	}
}

func (t *tracker) dispatch(e presenceEvent, matches presenceListener, status *statusFollowers, router *router) {
	for id, ms := range t.members(e.joins) {
		matches.joined(id, ms)
	}
	for id, ms := range t.members(e.leaves) {
		matches.left(id, ms)
	}
	type change struct{ joins, leaves []*rtapi.UserPresence }
	changes := map[stream]*change{}
	at := func(s stream) *change {
		if changes[s] == nil {
			changes[s] = &change{}
		}
		return changes[s]
	}
	for _, j := range e.joins {
		c := at(j.stream)
		c.joins = append(c.joins, j.presence.wireIn(j.stream))
	}
	for _, l := range e.leaves {
		c := at(l.stream)
		c.leaves = append(c.leaves, l.presence.wireIn(l.stream))
	}
	for s, c := range changes {
		if s.Mode == modeStatus {
			router.send(status.followersOf(s.Subject), statusEvent(c.joins, c.leaves))
			continue
		}
		router.send(t.sessionIDs(s), streamEvent(s, c.joins, c.leaves))
	}
}

// members groups the presences that are in authoritative matches of this node by match.
func (t *tracker) members(in []tracked) map[uuid.UUID][]*member {
	out := map[uuid.UUID][]*member{}
	for _, p := range in {
		if p.stream.Mode == modeMatchAuthoritative && p.stream.Label == t.node {
			out[p.stream.Subject] = append(out[p.stream.Subject], &member{*p.presence})
		}
	}
	return out
}

func statusEvent(joins, leaves []*rtapi.UserPresence) *rtapi.Envelope {
	return &rtapi.Envelope{Message: &rtapi.Envelope_StatusPresenceEvent{
		StatusPresenceEvent: &rtapi.StatusPresenceEvent{Joins: joins, Leaves: leaves},
	}}
}

func streamEvent(s stream, joins, leaves []*rtapi.UserPresence) *rtapi.Envelope {
	if s.Mode == modeMatchRelayed || s.Mode == modeMatchAuthoritative {
		return &rtapi.Envelope{Message: &rtapi.Envelope_MatchPresenceEvent{MatchPresenceEvent: &rtapi.MatchPresenceEvent{
			MatchId: s.Subject.String() + "." + s.Label, Joins: joins, Leaves: leaves,
		}}}
	}
	return &rtapi.Envelope{Message: &rtapi.Envelope_StreamPresenceEvent{StreamPresenceEvent: &rtapi.StreamPresenceEvent{
		Stream: s.wire(), Joins: joins, Leaves: leaves,
	}}}
}
