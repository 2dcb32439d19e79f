package match

import (
	"set3d/domain"
	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

// stop ends the match and closes the table because an operator wants it, and says so. It returns the id of the result,
// if there was a match to end.
func (t *table) stop(farewell string) (resultID string) {
	if t.closing {
		return ""
	}
	if t.standing.started {
		t.session.Advance(t.matchMs(t.now), &t.out) // so that the record lasts as long as the match is said to
	}
	t.flush()
	t.farewell = farewell
	if !t.standing.started || t.ended {
		t.closeWith(wire.NoticeKind_NOTICE_KIND_CLOSED)
		return ""
	}
	t.storeStop()
	t.abort = t.stopEvent()
	t.sendAbort()
	t.answerLost()
	t.module.count("set3d_matches_ended_total", map[string]string{"reason": stoppedLabel})
	t.logger.Info("table %s: stopped by an operator at revision %d", t.setup.TableID, t.standing.revision)
	t.ended, t.endedAt, t.stopping = true, t.now, true
	t.closeWhenDone()
	return t.setup.TableID
}

// storeStop hands the end over. Under durabilitySafe it is told when it is stored, after the verdicts before it, and
// only then the table closes.
func (t *table) storeStop() {
	if t.module.config.archive.durability != durabilitySafe {
		t.handOver(archive.Stopped, nil)
		return
	}
	number := t.outbox.hold(t.now)
	t.handOver(archive.Stopped, func() {
		t.box.tell(func(t *table) {
			t.confirm(number)
			t.closeWhenDone()
		})
	})
}

// refuseStopped answers what comes to a match that an operator has ended, until that is stored.
func (t *table) refuseStopped() {
	rest := t.pending[:0]
	for _, m := range t.pending {
		if m.run == nil {
			rest = append(rest, m)
			continue
		}
		m.run(t)
	}
	t.box.refuseAll(rest, wire.Reason_REASON_TABLE_CLOSED)
	t.pending = nil
}

// stopEvent is the final table as it stands. Nobody has won.
func (t *table) stopEvent() *wire.Event {
	var end domain.MatchEnded
	snapshot := t.session.Snapshot()
	for i := range t.seats.count {
		p := &snapshot.ByPlayer[i]
		end.Table = append(end.Table, domain.FinalScore{Seat: i, Score: p.Score, Forfeited: p.Forfeited})
	}
	return matchStopped(end, t.ending())
}
