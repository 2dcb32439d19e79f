package match

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

const (
	// ticketsMax is how many tickets a session may have in the matchmaker: Nakama's default for
	// matchmaker.max_tickets. Nakama refuses one more, too, but writes an ERROR line each time.
	ticketsMax = 3
	// ticketPause is for how long a session is refused more tickets without asking Nakama, unless one of its tickets
	// is gone before. Then one is let through, whatever the count says: a count that is wrong locks nobody out.
	ticketPause = 30 * time.Second
	// holderLife is after how long a session is forgotten that neither adds nor loses tickets. Nobody tells us
	// reliably that a session has ended.
	holderLife = 2 * time.Minute
)

// tickets counts the tickets that each session has in the matchmaker. A party's tickets count for its members as
// well, which is not seen here: so what counts in the end is whether Nakama has taken the last ticket.
type tickets struct {
	mu      sync.Mutex
	holders map[string]*holder // by session id
	heard   bool               // Nakama's answers come here, and not to another module that has taken the hook over
	sweptAt time.Duration
}

// holder is a session that has asked for tickets.
type holder struct {
	tickets map[string]bool
	asked   bool          // a ticket was let through, and Nakama has not taken it yet
	freed   bool          // since then a ticket has gone
	matched []string      // tickets that were gone before Nakama's answer came, while asked
	until   time.Duration // no more tickets until then
	lastAt  time.Duration // when something happened
}

func newTickets() *tickets { return &tickets{holders: map[string]*holder{}} }

// admit reports whether a session may ask Nakama for a ticket; if not, how long it has to wait if none of its tickets
// goes before.
func (t *tickets) admit(sessionID string, now time.Duration) (wait time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep(now)
	h := t.holder(sessionID)
	if h.asked && t.heard && !h.freed { // Nakama refused the last one: a session's messages come one after the other
		h.until = h.lastAt + ticketPause
	}
	h.asked, h.freed, h.matched = false, false, nil
	if now < h.until {
		return h.until - now, false
	}
	h.asked, h.lastAt = true, now
	return 0, true
}

// took notes that Nakama has taken the ticket that the session asked for.
func (t *tickets) took(sessionID, ticket string, now time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = true
	h := t.holder(sessionID)
	if len(h.tickets) >= ticketsMax { // so the count was wrong
		clear(h.tickets)
	}
	if ticket != "" && !slices.Contains(h.matched, ticket) { // empty: the session is just ending
		h.tickets[ticket] = true
	}
	h.asked, h.matched, h.lastAt = false, nil, now
	if len(h.tickets) >= ticketsMax {
		h.until = now + ticketPause
	}
}

// gone notes that a session's ticket is not in the matchmaker any more: there is room for another one.
func (t *tickets) gone(sessionID, ticket string, now time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.holders[sessionID]
	if h == nil {
		return
	}
	if h.asked && !h.tickets[ticket] && len(h.matched) < ticketsMax {
		h.matched = append(h.matched, ticket)
	}
	delete(h.tickets, ticket)
	h.freed, h.until, h.lastAt = true, 0, now
}

func (t *tickets) holder(sessionID string) *holder {
	h := t.holders[sessionID]
	if h == nil {
		h = &holder{tickets: map[string]bool{}}
		t.holders[sessionID] = h
	}
	return h
}

func (t *tickets) sweep(now time.Duration) {
	if now-t.sweptAt < sweepEvery {
		return
	}
	t.sweptAt = now
	for sessionID, h := range t.holders {
		if now-h.lastAt >= holderLife {
			delete(t.holders, sessionID)
		}
	}
}

// admitTicket refuses a session more tickets than Nakama takes.
func (m *module) admitTicket(ctx context.Context) error {
	wait, ok := m.tickets.admit(senderOf(ctx).sessionID, m.clock.now())
	if ok {
		return nil
	}
	a := waitArgs(wait)
	a["limit"] = ticketsMax
	return reject(wire.Reason_REASON_TOO_MANY_REQUESTS, a)
}

// tookTicket runs when Nakama has taken a ticket.
func (m *module) tookTicket(ctx context.Context, out, _ *rtapi.Envelope) {
	m.tickets.took(senderOf(ctx).sessionID, out.GetMatchmakerTicket().GetTicket(), m.clock.now())
}

// removedTicket runs when a session has taken a ticket of its own back.
func (m *module) removedTicket(ctx context.Context, _, in *rtapi.Envelope) {
	m.tickets.gone(senderOf(ctx).sessionID, in.GetMatchmakerRemove().GetTicket(), m.clock.now())
}

// matchedTickets notes that the tickets of a match that was formed are gone.
func (m *module) matchedTickets(entries []runtime.MatchmakerEntry) {
	for _, entry := range entries {
		m.tickets.gone(entry.GetPresence().GetSessionId(), entry.GetTicket(), m.clock.now())
	}
}
