package match

import (
	"bytes"
	"slices"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

// outbox holds back what may be said only when something is stored, and everything behind it, so that the order stays.
// Only the match's goroutine touches it.
type outbox struct {
	number    int // of the newest thing that is waited for
	confirmed int
	since     time.Duration // since when something is held
	late      bool          // the database did not answer in time: nothing is held back until it does
	held      []parcel
}

// parcel is one message, or the removal of a session.
type parcel struct {
	number int      // with whose confirmation it leaves
	stands standing // what its receivers know with it
	opCode wire.OpCode
	data   []byte
	to     []runtime.Presence // nil: everybody
	kick   *visitor
	judged []time.Duration // arrivals of the claims that it answers
}

func (o *outbox) isHolding() bool { return o.number > o.confirmed }

// hold begins to hold back, until the number that it returns is confirmed.
func (o *outbox) hold(now time.Duration) int {
	if !o.isHolding() {
		o.since = now
	}
	o.number++
	if o.late {
		o.confirmed = o.number
	}
	return o.number
}

// drop forgets what is held back.
func (o *outbox) drop() { o.confirmed, o.held = o.number, nil }

func (o *outbox) add(stands standing, opCode wire.OpCode, data []byte, to []runtime.Presence) {
	o.held = append(o.held, parcel{number: o.number, stands: stands, opCode: opCode, data: bytes.Clone(data), to: slices.Clone(to)})
}

// holdJudged notes which claims the newest message answers.
func (o *outbox) holdJudged(arrivals []time.Duration) {
	o.held[len(o.held)-1].judged = slices.Clone(arrivals)
}

func (o *outbox) addKick(v *visitor) { o.held = append(o.held, parcel{number: o.number, kick: v}) }

// confirm sends what has waited for something that is stored now.
func (t *table) confirm(number int) {
	t.outbox.late = false
	t.send(number)
}

// send sends what is held back up to a number.
func (t *table) send(number int) {
	o := &t.outbox
	o.confirmed = max(o.confirmed, number)
	for len(o.held) > 0 && o.held[0].number <= o.confirmed {
		t.dispatch(&o.held[0])
		o.held[0] = parcel{}
		o.held = o.held[1:]
	}
	o.since = t.now
	t.refreshLabel()
}

func (t *table) dispatch(p *parcel) {
	if p.kick != nil {
		t.remove(p.kick)
		return
	}
	t.told = p.stands
	t.transmit(p.opCode, p.data, p.to)
	t.answered(p.judged)
}

// release sends all that is held back.
func (t *table) release() { t.send(t.outbox.number) }

// isLate reports whether something has waited too long for the database.
func (t *table) isLate() bool {
	return t.outbox.isHolding() && t.now-t.outbox.since >= t.module.config.archive.safeWait
}

// releaseLate sends what has waited too long for the database: until it answers a match goes on without it, as it does
// under durabilityFast. Not at a shutdown, when it may never be stored: the match is suspended then.
func (t *table) releaseLate() {
	if t.isLate() && !t.draining {
		t.logger.Warn("table %s at revision %d: the database does not answer, verdicts are told unstored", t.setup.TableID, t.standing.revision)
		t.module.count("set3d_verdicts_unsafe_total", nil)
		t.outbox.late = true
		t.release()
	}
}

// mayClose reports whether a table may close: nothing is held back any more, or there is no more time to wait. Then what
// is held back is never told.
func (t *table) mayClose() bool {
	return !t.outbox.isHolding() || t.draining && t.now >= t.lastCall
}
