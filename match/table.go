package match

import (
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

// table is a match as Nakama sees it: the seats, the visitors, and the session that plays. Only the match's goroutine
// touches it; what others need is in its mailbox.
type table struct {
	module     *module
	setup      tableSetup
	box        *mailbox
	logger     runtime.Logger
	dispatcher runtime.MatchDispatcher // of the running callback

	seats    seats
	visitors []*visitor // who is here, in order of arrival
	session  *domain.Session
	out      domain.Output // what the session put out since the last UPDATE
	deck     domain.DeckSource
	standing standing
	told     standing // what everybody knows: the standing, but for what is held back

	startedUnixMs int64

	now     time.Duration   // of the running callback
	pending []mail          // taken from the mailbox and not judged yet
	replies []reply         // to be sent behind the next UPDATE
	judged  []time.Duration // arrivals of the claims whose verdicts the next UPDATE tells

	lobby     lobby
	rematch   rematch
	takeovers []takeover // of late

	sentRevision  uint64
	rosterChanged bool
	rosterUnsent  bool
	held          [domain.MaxPlayers]uint64 // by seat: id of the claim that the session holds
	abort         *wire.Event               // what a panic tells the players
	label         label
	factsAt       factsAt       // of the facts that are published
	alarmAt       time.Duration // when the alarm goes off; 0: it is not set
	quietUntil    time.Duration // until then ticks have nothing to do unless something happens
	unkept        bool          // something has happened that a checkpoint must hold
	keepAt        time.Duration // when that is due; meaningless while there is nothing
	weighed       int           // how many of the events in out have been looked at for that
	described     description
	kept          archive.Table // what was handed over last
	outbox        outbox
	encoder       encoder
	receiver      receiver
	addressee     [1]runtime.Presence

	emptySince time.Duration // since when nobody is here; meaningless while somebody is
	endedAt    time.Duration // when the match ended
	ended      bool
	reviewed   bool          // the mailbox has the review
	stopping   bool          // an operator has ended the match, which is being stored: nothing more is judged
	farewell   string        // an operator's, when the table closes
	draining   bool          // the server shuts down
	suspendAt  time.Duration // while draining: when a match that still runs is suspended
	lastCall   time.Duration // while draining: when the table closes although something is held back
	returnBy   time.Duration // of a resumed match whose rules hold no seats: who is not back then has dropped; 0: no such
	closing    bool          // closed: the next MatchLoop stops the match
}

// enter begins a callback: what waits in the mailbox is judged first, each message at its arrival, and then every
// deadline up to now.
func (t *table) enter(dispatcher runtime.MatchDispatcher) {
	t.dispatcher = dispatcher
	if t.closing {
		return
	}
	batch, now, alive := t.box.take()
	t.now = max(t.now, now)
	t.pending = batch
	if !alive {
		t.die()
		return
	}
	if t.stopping {
		t.refuseStopped()
		return
	}
	t.judgePending()
	if t.standing.started {
		t.session.Advance(t.matchMs(t.now), &t.out)
	}
}

// judgePending handles the mail in hand. What it panics at is still in hand then, and gets an answer.
func (t *table) judgePending() {
	for len(t.pending) > 0 {
		t.handle(t.pending[0])
		if t.closing { // the rest is answered
			return
		}
		t.pending[0] = mail{}
		t.pending = t.pending[1:]
	}
}

// leave ends a callback: everybody is told what it did.
func (t *table) leave() {
	if t.closing || t.stopping {
		return
	}
	t.advanceLobby()
	t.flush()
	t.agreeOnRematch()
	t.setAlarm()
}

// isQuiet reports whether a tick has nothing to do: nothing waits, nothing is due, and what no alarm is set for was looked at a moment ago. Thousands
// of tables at which everybody broods cost little more than their ticks.
func (t *table) isQuiet(messages int) bool {
	now := t.module.clock.now()
	return t.standing.started && !t.ended && !t.draining && messages == 0 && t.module.config.fastLane && t.box.panicAt == "" &&
		now < t.quietUntil && now < t.alarmAt && (!t.unkept || now < t.keepAt) && !t.outbox.isHolding() && !t.box.isStirred()
}

// matchMs is match time at a moment of the module's clock.
func (t *table) matchMs(at time.Duration) int64 { return t.standing.matchMs(at) }

// apply gives the session a command at the callback's own time, after all mail.
func (t *table) apply(cmd domain.Command) { t.session.Apply(t.matchMs(t.now), cmd, &t.out) }

// seatOf is the seat that a user plays on, or spectatorSeat. Who has forfeited watches.
func (t *table) seatOf(userID string) int {
	if seat, ok := t.seats.of(userID); ok && !t.forfeited(seat) {
		return seat
	}
	return spectatorSeat
}

func (t *table) forfeited(seat int) bool {
	return t.standing.started && t.session.Snapshot().ByPlayer[seat].Forfeited
}

// spectators counts the visitors without a seat of their own.
func (t *table) spectators() int {
	return t.count(func(v *visitor) bool { return t.seatOf(v.userID) == spectatorSeat })
}

func (t *table) count(which func(*visitor) bool) int {
	n := 0
	for _, v := range t.visitors {
		if which(v) {
			n++
		}
	}
	return n
}

// setAlarm asks to be woken at the next deadline. Without the fast lane the ticks have to do.
func (t *table) setAlarm() {
	if !t.module.config.fastLane {
		return
	}
	if at, ok := t.nextWake(); ok && at != t.alarmAt {
		t.alarmAt = at
		t.box.wakeIn(max(0, at-t.module.clock.now()))
	}
}

func (t *table) nextWake() (time.Duration, bool) {
	if !t.standing.started {
		return t.lobby.nextWake(t.now)
	}
	wakeMs, ok := t.session.NextWakeMs()
	at := t.standing.startedAt + ms(wakeMs)
	if t.draining && !t.ended && (!ok || t.suspendAt < at) {
		return t.suspendAt, true
	}
	return at, ok
}

// closeWhenDone closes a table at which nothing more is going to happen.
func (t *table) closeWhenDone() {
	config := &t.module.config
	switch {
	case t.stopping:
		if t.mayClose() {
			t.closeWith(t.closingKind())
		}
	case t.ended:
		if t.mayClose() && (t.draining || t.now-t.endedAt >= config.afterEnd && !t.rematch.isMaking) {
			t.close()
		}
	case t.standing.started: // the rules end a match; a table with held seats may be empty
		if t.draining && (t.now >= t.suspendAt && t.mayClose() || t.isLate() || t.module.archive.IsAway()) {
			t.suspend()
		}
	case t.draining:
		t.close()
	case len(t.visitors) == 0 && t.now-t.emptySince >= config.emptyTable:
		t.close()
	}
}
