package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/blugelabs/bluge"
	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
)

// MatchmakerEntry is one player of a formed match, as the module's hook sees it. Its fields are exported because
// entries travel through gob when a module passes them as match parameters.
type MatchmakerEntry struct {
	Ticket     string
	Presence   *Presence
	Properties map[string]any
	PartyID    string
	CreateTime int64
}

// GetPresence returns the player's presence.
func (e *MatchmakerEntry) GetPresence() runtime.Presence { return e.Presence }

// GetTicket returns the player's ticket.
func (e *MatchmakerEntry) GetTicket() string { return e.Ticket }

// GetProperties returns the string and numeric properties that the client sent, in one map.
func (e *MatchmakerEntry) GetProperties() map[string]any { return e.Properties }

// GetPartyId returns "": there are no parties in the local host.
func (e *MatchmakerEntry) GetPartyId() string { return e.PartyID }

// GetCreateTime returns when the ticket was made, in Unix nanoseconds.
func (e *MatchmakerEntry) GetCreateTime() int64 { return e.CreateTime }

// ticket is one session's wish for a match.
type ticket struct {
	entry        *MatchmakerEntry
	query        bluge.Query
	min, max     int
	multiple     int
	passes       int
	stringProps  map[string]string
	numericProps map[string]float64
}

// matchmaker forms matches of tickets. For its first passes a ticket waits for its maximum count, after that it only
// waits to be found by others.
type matchmaker struct {
	srv    *Server
	writer *bluge.Writer

	mu      sync.Mutex
	tickets map[string]*ticket
	active  map[string]*ticket // those that still look themselves
}

func newMatchmaker(srv *Server) (*matchmaker, error) {
	w, err := bluge.OpenWriter(indexConfig())
	if err != nil {
		return nil, fmt.Errorf("creating the matchmaker's index: %w", err)
	}
	return &matchmaker{srv: srv, writer: w, tickets: map[string]*ticket{}, active: map[string]*ticket{}}, nil
}

func (m *matchmaker) run(ctx context.Context) {
	ticker := time.NewTicker(m.srv.cfg.Timing.MatchmakerInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.pass(ctx)
		}
	}
}

// add takes a ticket of a session.
func (m *matchmaker) add(ctx context.Context, s *session, t *ticket, query string) (string, error) {
	if query == "" {
		query = "*"
	}
	var err error
	if t.query, err = parseQuery(query); err != nil {
		return "", runtime.ErrMatchmakerQueryInvalid
	}
	if v, ok := t.query.(interface{ Validate() error }); ok && v.Validate() != nil {
		return "", runtime.ErrMatchmakerQueryInvalid
	}
	t.entry = &MatchmakerEntry{
		Ticket: uuid.Must(uuid.NewV4()).String(), Properties: map[string]any{}, CreateTime: time.Now().UnixNano(),
		Presence: &Presence{Node: m.srv.cfg.Name, UserID: s.userID, SessionID: s.id, Username: s.username},
	}
	for k, v := range t.stringProps {
		t.entry.Properties[k] = v
	}
	for k, v := range t.numericProps {
		t.entry.Properties[k] = v
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return "", nil
	}
	if m.countLocked(s.id) >= m.srv.cfg.Limits.Tickets {
		return "", runtime.ErrMatchmakerTooManyTickets
	}
	if err := m.writer.Update(bluge.Identifier(t.entry.Ticket), t.document()); err != nil {
		return "", runtime.ErrMatchmakerIndex
	}
	m.tickets[t.entry.Ticket], m.active[t.entry.Ticket] = t, t
	return t.entry.Ticket, nil
}

func (t *ticket) document() *bluge.Document {
	doc := bluge.NewDocument(t.entry.Ticket)
	indexValue(doc, "properties", t.entry.Properties)
	doc.AddField(bluge.NewKeywordField("ticket", t.entry.Ticket))
	doc.AddField(bluge.NewNumericField("min_count", float64(t.min)))
	doc.AddField(bluge.NewNumericField("max_count", float64(t.max)))
	doc.AddField(bluge.NewNumericField("created_at", float64(t.entry.CreateTime)).Sortable())
	return doc
}

func (m *matchmaker) countLocked(session uuid.UUID) int {
	n := 0
	for _, t := range m.tickets {
		if t.entry.Presence.SessionID == session {
			n++
		}
	}
	return n
}

// remove drops a session's ticket.
func (m *matchmaker) remove(session uuid.UUID, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tickets[id]
	if t == nil || t.entry.Presence.SessionID != session {
		return runtime.ErrMatchmakerTicketNotFound
	}
	m.dropLocked(id)
	return nil
}

// removeSession drops all tickets of a session that ends.
func (m *matchmaker) removeSession(session uuid.UUID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, t := range m.tickets {
		if t.entry.Presence.SessionID == session {
			m.dropLocked(id)
		}
	}
}

func (m *matchmaker) dropLocked(id string) {
	delete(m.tickets, id)
	delete(m.active, id)
	if err := m.writer.Delete(bluge.Identifier(id)); err != nil {
		m.srv.cfg.Logger.Error("error deleting matchmaker entries: %v", err)
	}
}

func (p *pipeline) matchmakerAdd(ctx context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	req := in.GetMatchmakerAdd()
	t := &ticket{
		min: int(req.MinCount), max: int(req.MaxCount), multiple: 1, stringProps: req.StringProperties, numericProps: req.NumericProperties,
	}
	if req.CountMultiple != nil {
		t.multiple = int(req.CountMultiple.Value)
	}
	if reason := t.invalid(); reason != "" {
		return refuse(s, in.Cid, rtapi.Error_BAD_INPUT, reason)
	}
	id, err := p.srv.matchmaker.add(ctx, s, t, req.Query)
	if err != nil {
		s.logger.Error("Error adding to matchmaker: %v", err)
		return refuse(s, in.Cid, rtapi.Error_RUNTIME_EXCEPTION, "Error adding to matchmaker")
	}
	return reply(s, &rtapi.Envelope{Cid: in.Cid, Message: &rtapi.Envelope_MatchmakerTicket{
		MatchmakerTicket: &rtapi.MatchmakerTicket{Ticket: id},
	}})
}

func (t *ticket) invalid() string {
	switch {
	case t.min < 2:
		return "Invalid minimum count, must be >= 2"
	case t.max < t.min:
		return "Invalid maximum count, must be >= minimum count"
	case t.multiple < 1:
		return "Invalid count multiple, must be >= 1"
	case t.min%t.multiple != 0:
		return "Invalid count multiple for minimum count, must divide"
	case t.max%t.multiple != 0:
		return "Invalid count multiple for maximum count, must divide"
	}
	return ""
}

func (p *pipeline) matchmakerRemove(_ context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	id := in.GetMatchmakerRemove().Ticket
	if id == "" {
		return refuse(s, in.Cid, rtapi.Error_BAD_INPUT, "Invalid matchmaker ticket")
	}
	if err := p.srv.matchmaker.remove(s.id, id); errors.Is(err, runtime.ErrMatchmakerTicketNotFound) {
		return refuse(s, in.Cid, rtapi.Error_BAD_INPUT, "Matchmaker ticket not found")
	}
	return reply(s, &rtapi.Envelope{Cid: in.Cid})
}

// snapshot copies the tickets for one pass.
func (m *matchmaker) snapshot() (all map[string]*ticket, active []*ticket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all = map[string]*ticket{}
	for id, t := range m.tickets {
		all[id] = t
	}
	for _, t := range m.active {
		active = append(active, t)
	}
	slices.SortFunc(active, func(a, b *ticket) int { return cmp.Compare(a.entry.CreateTime, b.entry.CreateTime) })
	return all, active
}
