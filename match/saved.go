package match

import (
	"encoding/json"
	"fmt"

	"set3d/domain"
	"set3d/match/archive"
)

// savedTable is what a resumed table is made from, beside the match's record and the rest of archive.Table. It is made
// from the living table with each checkpoint, stored as archive.Terms.Setup, and read by readSaved alone. Checkpoints of
// earlier versions have only the setup in it, as it was when the table was opened.
//
// The fate of each part of a table at a restart (setup is tableSetup):
//
// Survives in the record, which is replayed: table.session, table.deck, table.ended, standing.started, standing.startedAt
// (match time goes on where it was), standing.revision.
//
// Survives in archive.Table: table.startedUnixMs, standing.incarnation (one more), seats.count, seats.seat with
// seat.userID, seat.name, seat.avatar and seat.bot (its level and seed are in the record, too). For the archive itself
// there is also whether the match is ranked and counts, its preset and its rules.
//
// Survives here:
//   - table.setup as it is now: a table of the matchmaker's to which a player did not come is neither matched nor ranked
//     any more. Of it setup.TableID, setup.Creator (may enter a private table without its code), setup.Preset and
//     setup.Custom (hints, statistics, what clients are told), setup.Rules, setup.Private, setup.Code (unless another
//     table has it by then), setup.Ranked, setup.StartWhenReady and setup.MinPlayers (WELCOME has them), setup.PanicAt
//     (a test hook that has not gone off), and for the table of a rematch setup.Matched, setup.Public, setup.Seats,
//     setup.FillAfterMs, setup.FillLevel.
//   - seat.order: the host is the connected player who has sat longest, on whichever seat.
//   - ledger.barred: a kicked user cannot come back.
//
// Recomputed:
//   - from what survives: seats.sat, table.box, table.standing, table.told, table.seats, table.label, table.factsAt,
//     table.alarmAt, table.described, table.kept, table.sentRevision, table.encoder, mailbox.id, mailbox.key,
//     mailbox.tableID, mailbox.creator, mailbox.code, mailbox.rules, mailbox.panicAt, mailbox.ledger, mailbox.standing,
//     mailbox.facts, mailbox.serial (listings have the newest match first), ledger.count, ledger.shut;
//   - standing.rosterRevision: it counts anew in each incarnation;
//   - table.held: when a player sends a claim again that the session holds;
//   - table.returnBy and table.endedAt: from the moment of resuming;
//   - table.unkept and table.keepAt: the first callback stores the resumed table.
//
// Forgotten, because only a lobby has it, and a lobby does not survive: setup.Seed, setup.Deck and setup.Bots (the record
// has the deck and the bots), setup.Reserved and setup.ReservedMs, table.lobby, table.emptySince, seat.ready,
// ledger.sealed, ledger.changed, ledger.places and ledger.given (promises), mailbox.kind (quick_match sends nobody to a
// match that has begun).
//
// Forgotten, because only a match that is over has it, and that is not resumed: table.rematch, seat.wants,
// mailbox.review, table.abort, table.farewell, table.closing, table.reviewed, table.stopping.
//
// Forgotten with the connections, the messages and the process: table.visitors, seat.visitor, table.pending,
// table.replies, table.judged, table.out, table.weighed, table.outbox (what was held back was never told; WELCOME tells
// what is stored), table.rosterChanged, table.rosterUnsent, mailbox.queue, mailbox.depth, mailbox.spare,
// mailbox.admitted, mailbox.ringing, mailbox.closed, mailbox.poisoned, mailbox.alarm, mailbox.mu, mailbox.tripped,
// ledger.mu, table.module, mailbox.module, table.logger, table.dispatcher, table.now, table.quietUntil, table.receiver,
// table.addressee, table.draining, table.suspendAt, table.lastCall.
//
// Forgotten on purpose: seat.presence, since nobody is idle while there is no match; table.takeovers, since the sessions
// that fought for a seat are gone; mailbox.met, since spectators who come back may review the match, and players always.
type savedTable struct {
	tableSetup
	Order  [domain.MaxPlayers]int // by seat, from 1; 0: a bot's, or unknown to an earlier version
	Barred []string               `json:",omitempty"` // user ids
}

// readSaved reads what a checkpoint says of its table.
func readSaved(raw json.RawMessage) (savedTable, error) {
	var s savedTable
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("unreadable setup: %w", err)
	}
	if s.Order == [domain.MaxPlayers]int{} {
		for i := range s.Order {
			s.Order[i] = i + 1
		}
	}
	return s, s.validate()
}

// readInterrupted reads a checkpoint and replays its record, which may even panic. The error says why the table cannot
// be resumed.
func readInterrupted(from *archive.Table) (session *domain.Session, saved savedTable, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	if saved, err = readSaved(from.Setup); err != nil {
		return nil, saved, err
	}
	if session, err = domain.Replay(from.Record, &domain.Output{}); err != nil {
		return nil, saved, err
	}
	if players := session.Setup().Players; len(from.Seats) != players {
		return nil, saved, fmt.Errorf("%d seats for a match of %d", len(from.Seats), players)
	}
	return session, saved, nil
}

// description is a table's terms as they were handed over last, and what they were made from.
type description struct {
	terms  archive.Terms
	setup  tableSetup
	order  [domain.MaxPlayers]int
	barred int
}

// terms describes the living table to the archive. The description is made anew only if the table has changed, since
// every checkpoint needs it.
func (t *table) terms() archive.Terms {
	if d := &t.described; !d.isOf(t) {
		*d = t.describe()
	}
	return t.described.terms
}

func (d *description) isOf(t *table) bool {
	if len(d.terms.Seats) != t.seats.count || d.barred != t.box.ledger.barredCount() || d.setup != t.setup {
		return false
	}
	for i := range t.seats.count {
		if s := &t.seats.seat[i]; d.order[i] != s.order || d.terms.Seats[i] != s.saved() {
			return false
		}
	}
	return true
}

func (t *table) describe() description {
	d := description{setup: t.setup, terms: archive.Terms{
		Preset: t.setup.rulesName(), Rules: mustJSON(viewRules(t.setup.Rules)), Ranked: t.setup.Ranked, Counts: t.counts(),
		StartedUnixMs: t.startedUnixMs, Seats: make([]archive.Seat, t.seats.count),
	}}
	for i := range t.seats.count {
		d.order[i], d.terms.Seats[i] = t.seats.seat[i].order, t.seats.seat[i].saved()
	}
	saved := savedTable{tableSetup: t.setup, Order: d.order, Barred: t.box.ledger.barredUsers()}
	saved.Seed, saved.Deck, saved.Bots = 0, "", [domain.MaxPlayers]domain.BotLevel{}
	saved.Reserved, saved.ReservedMs = [domain.MaxPlayers]string{}, 0
	d.barred, d.terms.Setup = len(saved.Barred), mustJSON(saved)
	return d
}

// saved is who sits on the seat, for the archive.
func (s *seat) saved() archive.Seat {
	saved := archive.Seat{UserID: s.userID, Name: s.name, Avatar: s.avatar}
	if s.bot != 0 {
		saved.Bot = s.bot.String()
	}
	return saved
}
