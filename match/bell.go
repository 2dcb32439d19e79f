package match

import (
	"context"
	"errors"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// ringAgainAfter is how long the bell waits after a signal that Nakama did not take.
const ringAgainAfter = 5 * time.Millisecond

// ring wakes the match up, unless somebody is at it already. It never blocks.
func (b *mailbox) ring() {
	if b.claimBell() {
		go b.strike()
	}
}

func (b *mailbox) claimBell() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.ringing {
		return false
	}
	b.ringing = true
	return true
}

// strike runs a callback on the match's goroutine, which drains the mailbox, and waits for it. The signal's error says
// nothing about what was judged: busy can mean not run, will run, or ran. So the bell just rings again until a callback
// has cleared its flag, or the match is gone.
func (b *mailbox) strike() {
	defer b.guard(atBell)
	b.tripStarted(atBell)
	_, err := b.module.nk.MatchSignal(context.Background(), b.id, b.module.wake)
	if err == nil || errors.Is(err, runtime.ErrMatchNotFound) {
		return
	}
	if b.silence() {
		b.module.count("set3d_bell_retries_total", nil)
		b.module.clock.afterFunc(ringAgainAfter, b.ringAgain)
	}
}

func (b *mailbox) ringAgain() {
	defer b.guard(atBell)
	b.ring()
}

// silence clears the flag of a bell that was not heard; false if nobody is there to hear it.
func (b *mailbox) silence() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ringing = false
	return !b.closed
}

// wakeIn sets the table's one timer, which rings the bell.
func (b *mailbox) wakeIn(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
	case b.alarm == nil:
		b.alarm = b.module.clock.afterFunc(d, b.timeUp)
	default:
		b.alarm.Reset(d)
	}
}

func (b *mailbox) timeUp() {
	defer b.guard(atTimer)
	b.tripStarted(atTimer)
	b.ring()
}

// tripStarted is trip for what runs beside the match's goroutine, where a panic is ordered for a running match.
func (b *mailbox) tripStarted(at entryPoint) {
	if b.panicAt == at && b.where().started {
		b.trip(at)
	}
}
