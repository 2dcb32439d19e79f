package match

import (
	"encoding/json"
	"time"

	"set3d/domain"
	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

// KeepWrongWithin is how long a wrong claim that costs nothing may wait for a checkpoint, and then for a tick, unless its verdict waits for that
// too (SET3D_DURABILITY=safe). Nobody misses it, and most claims are such.
const KeepWrongWithin = 5 * time.Second

// keep hands the table's newest state to the archive, if something has happened that must not get lost. Under durabilitySafe what is said from
// now on waits until it is stored.
func (t *table) keep() {
	t.weigh()
	safe := t.module.config.archive.durability == durabilitySafe
	if !t.unkept || t.now < t.keepAt && !safe {
		return
	}
	t.unkept = false
	state := archive.Running
	if _, over := t.session.Ended(); over {
		state = archive.Ended
	}
	if !safe {
		t.handOver(state, nil)
		return
	}
	number := t.outbox.hold(t.now)
	t.handOver(state, func() { t.box.tell(func(t *table) { t.confirm(number) }) })
}

// weigh looks whether something has happened that must not get lost, and how soon it has to be stored.
func (t *table) weigh() {
	for _, e := range t.out.Events[t.weighed:] {
		switch e := e.Event.(type) {
		case domain.SetClaimed:
			if e.Valid() {
				t.keepBy(t.now)
			} else {
				t.keepBy(t.now + KeepWrongWithin)
			}
		case domain.MatchStarted, domain.PenaltyApplied, domain.PlayerForfeited, domain.MatchEnded:
			t.keepBy(t.now)
		}
	}
	t.weighed = len(t.out.Events)
}

// keepBy wants a checkpoint at that time, or before.
func (t *table) keepBy(at time.Duration) {
	if !t.unkept || at < t.keepAt {
		t.unkept, t.keepAt = true, at
	}
}

// handOver gives the archive the table as it stands.
func (t *table) handOver(state archive.State, stored func()) {
	t.kept = archive.Table{
		Progress: archive.Progress{
			ID: t.setup.TableID, MatchID: t.box.id, Incarnation: t.standing.incarnation, State: state,
			SavedUnixMs: t.module.clock.wall().UnixMilli(), Record: t.session.Record(),
		},
		Terms: t.terms(),
	}
	t.module.archive.Put(t.kept, stored)
	if t.box.isClosed() { // Nakama has stopped the match in the middle of this callback
		t.module.archive.Suspend(t.kept.ID, t.kept.Incarnation)
	}
}

func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("cannot encode a setup: " + err.Error()) // cannot be: numbers, strings and lists of them
	}
	return raw
}

// counts reports whether the match goes into the statistics: it was dealt by a secret key, by the server's own rules or others that anybody
// may choose, without bots.
func (t *table) counts() bool {
	if t.deck.Kind() != domain.SourceKey || t.setup.Preset == practicePreset {
		return false
	}
	for i := range t.seats.count {
		if t.seats.seat[i].bot != 0 {
			return false
		}
	}
	return true
}

// abandon lets the archive settle a match that broke as it stood before.
func (t *table) abandon() {
	if t.kept.ID != "" && !t.ended {
		t.kept.State = archive.Aborted
		t.module.archive.Put(t.kept, nil)
	}
}

// suspend interrupts a match that will go on in another process.
func (t *table) suspend() {
	t.flush()
	if t.ended {
		return
	}
	t.logger.Info("table %s: suspended at revision %d", t.setup.TableID, t.standing.revision)
	t.module.count("set3d_matches_suspended_total", nil)
	t.handOver(archive.Suspended, nil)
	t.closeWith(wire.NoticeKind_NOTICE_KIND_SUSPENDED)
}

// superseded ends the table because another process goes on with it. What is held back is not true any more.
func (t *table) superseded() {
	if !t.closing && (!t.ended || t.outbox.isHolding()) {
		t.closeWith(wire.NoticeKind_NOTICE_KIND_SUSPENDED)
	}
}
