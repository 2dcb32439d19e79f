package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"set3d/domain"
	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

// resumeParam is the key of the second parameter of a match that goes on with an interrupted one.
const resumeParam = "resume"

// resume makes the table what it was when it was interrupted. Match time goes on from there: the time in between does not count. The players are
// not here yet, and their seats are held.
func (t *table) resume(interrupted string) error {
	var from archive.Table
	if err := json.Unmarshal([]byte(interrupted), &from); err != nil {
		return fmt.Errorf("unreadable checkpoint: %w", err)
	}
	session, saved, err := readInterrupted(&from)
	if err != nil {
		return err
	}
	t.kept, t.kept.MatchID = from, t.box.id
	t.session, t.deck, t.startedUnixMs = session, session.Setup().Deck, from.StartedUnixMs
	t.standing = standing{
		started: true, startedAt: t.now - ms(session.NowMs()), incarnation: from.Incarnation, revision: session.Revision(),
	}
	t.box.ledger.close()
	t.box.ledger.bar(saved.Barred...)
	t.restoreSeats(from.Seats, &saved.Order)
	t.allActive()
	t.holdSeats()
	t.standing.revision = session.Revision()
	t.sentRevision = t.standing.revision
	t.encoder.fill(session.Snapshot())
	if _, over := session.Ended(); over {
		t.ended, t.endedAt = true, t.now
	}
	t.keepBy(t.now)
	t.box.publish(t.standing)
	return nil
}

func (t *table) restoreSeats(from []archive.Seat, order *[domain.MaxPlayers]int) {
	bots := t.session.Setup().Bots
	t.seats = seats{count: len(from)}
	for i, s := range from {
		t.seats.seat[i] = seat{userID: s.UserID, name: s.Name, avatar: s.Avatar, order: order[i], bot: bots[i].Level}
		t.seats.sat = max(t.seats.sat, order[i])
	}
}

// holdSeats lets everybody drop, so that the seats are held as long as the rules say. Where they say not at all, there is a little time for
// coming back.
func (t *table) holdSeats() {
	if t.setup.Rules.DropHoldMs == 0 {
		t.returnBy = t.now + t.module.config.reservation
		return
	}
	for i := range t.seats.count {
		if t.seats.seat[i].userID != "" {
			t.apply(domain.Drop{Seat: i}) // refused for who has forfeited, or had dropped
		}
	}
}

type resumeResponse struct {
	MatchID string `json:"match_id"`
	TableID string `json:"table_id"`
}

const tableIDMax = 64 // characters

// resumeMatch goes on with a match that a restart of the server has interrupted, and says where. It may be asked for by all of its players at once.
func (m *module) resumeMatch(ctx context.Context, r *request) (any, error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	tableID, named := r.text("table_id", tableIDMax)
	if err := r.done(); err != nil {
		return nil, err
	}
	if !named || tableID == "" {
		return nil, reject(wire.Reason_REASON_MISSING_FIELD, args{"field": "table_id"})
	}
	matchID, err := m.resumeTable(ctx, tableID, userID)
	if err != nil {
		return nil, err
	}
	return resumeResponse{MatchID: matchID, TableID: tableID}, nil
}

const (
	resumeTries = 10
	resumePause = 200 * time.Millisecond
)

// errElsewhere ends an opening because the table is alive in another process.
var errElsewhere = errors.New("the table is alive in another process")

// resumeTable returns the id of the match in which a table lives, which it makes if need be. Of several callers one
// makes it. It registers an opening only for a user who has a seat, by the database: strangers keep no player waiting.
func (m *module) resumeTable(ctx context.Context, tableID, userID string) (string, error) {
	var fresh *opening
	for range resumeTries {
		o, mine, box := m.tables.beginResume(tableID, fresh)
		switch {
		case box != nil:
			return box.id, m.mayResume(box, userID)
		case o == nil:
			if err := m.checkInterrupted(tableID, userID); err != nil {
				return "", err
			}
			fresh = m.newOpening(tableSetup{TableID: tableID})
			continue
		case mine:
			err := m.finishResume(ctx, o, userID)
			if errors.Is(err, errElsewhere) {
				err = nil
			}
			return o.matchID, err
		}
		select {
		case <-o.done:
		case <-ctx.Done():
			return "", reject(wire.Reason_REASON_INTERNAL, nil)
		}
	}
	return "", reject(wire.Reason_REASON_BUSY, waitArgs(resumePause))
}

// mayResume reports whether the user has a seat at a table that is alive.
func (m *module) mayResume(b *mailbox, userID string) error {
	if f := b.known(); f.sits(userID) {
		return nil
	}
	return reject(wire.Reason_REASON_UNKNOWN_MATCH, nil)
}

// checkInterrupted reports why a user cannot go on with a table that is not alive here. It changes nothing. A table
// whose checkpoint cannot be used is logged once, not with each call of a client.
func (m *module) checkInterrupted(tableID, userID string) error {
	t, err := m.archive.Find(tableID)
	if err != nil && !archive.IsUnreadable(err) {
		return m.claimFailed(tableID, err)
	}
	if err == nil {
		if _, sits := t.SeatOf(userID); !sits {
			return reject(wire.Reason_REASON_UNKNOWN_MATCH, nil)
		}
		_, _, err = readInterrupted(t)
	}
	if err != nil {
		m.logger.errorOnce(tableID, "table %s: cannot be resumed: %v", tableID, err)
		return reject(wire.Reason_REASON_INTERNAL, nil)
	}
	return nil
}

// finishResume claims the table and makes its match. What cannot be made goes back to the archive.
func (m *module) finishResume(ctx context.Context, o *opening, userID string) (err error) {
	err = reject(wire.Reason_REASON_INTERNAL, nil) // if something panics
	var claimed *archive.Table
	defer func() {
		if err = m.tables.finish(o, err, m.clock.now()); err != nil && claimed != nil {
			claimed.State = archive.Suspended
			m.archive.Put(*claimed, nil)
		}
	}()
	claimed, err = m.archive.Claim(o.setup.TableID, userID)
	var elsewhere *archive.ElsewhereError
	if errors.As(err, &elsewhere) && elsewhere.MatchID != "" {
		o.matchID = elsewhere.MatchID
		return errElsewhere
	}
	if err != nil {
		return m.claimFailed(o.setup.TableID, err)
	}
	saved, err := readSaved(claimed.Setup)
	if err != nil {
		return m.openFailed(err)
	}
	params, err := m.tables.adopt(o, saved.tableSetup).params()
	if err != nil {
		return m.openFailed(err)
	}
	params[resumeParam] = string(mustJSON(claimed))
	if o.matchID, err = m.nk.MatchCreate(context.WithoutCancel(ctx), Name, params); err != nil {
		return m.openFailed(err)
	}
	m.logger.Info("table %s: resumed, incarnation %d", claimed.ID, claimed.Incarnation)
	m.count("set3d_matches_resumed_total", nil)
	return nil
}

// claimFailed says why a table cannot be resumed here.
func (m *module) claimFailed(tableID string, err error) error {
	var elsewhere *archive.ElsewhereError
	switch {
	case errors.As(err, &elsewhere):
		return reject(wire.Reason_REASON_BUSY, waitArgs(resumePause))
	case errors.Is(err, archive.ErrDraining):
		return reject(wire.Reason_REASON_SHUTTING_DOWN, nil)
	case errors.Is(err, archive.ErrOver):
		return reject(wire.Reason_REASON_MATCH_OVER, args{"result_id": tableID})
	case errors.Is(err, archive.ErrUnknownTable):
		return reject(wire.Reason_REASON_UNKNOWN_MATCH, nil)
	}
	return m.storageFailed(err)
}
