package archive

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

const (
	firstBackoff = 100 * time.Millisecond
	longBackoff  = 15 * time.Second
	// shownErrors is how often in a row an entry fails before its error is worth an operator's attention.
	shownErrors = 3
)

// entry is one table in the queue: its newest state, and how far that is stored. A table is there once, however often it is handed over, so
// the queue is never longer than there are tables.
type entry struct {
	id       string
	latest   Table
	handed   uint64 // how often it was handed over
	stored   uint64 // the newest of these that is stored
	serial   uint64 // of the newest write that was tried
	version  string // of the checkpoint in storage; "*": there is none
	hasSeats bool   // its players' way back is stored
	busy     bool   // a worker has it
	failures int    // in a row
	lastErr  error
	since    time.Time // since when it waits to be stored
	due      time.Time // when it is tried next
	waiting  []waiter
}

// waiter wants to know when a state is stored.
type waiter struct {
	handed uint64
	done   func()
}

func (e *entry) isDirty() bool { return e.handed > e.stored }

// Put hands over a table's newest state, which replaces those before it that are not stored yet. done, if not nil, is called from another goroutine
// when this state or a newer one is stored; it must not block. Put does not wait for the database.
func (a *Archive) Put(t Table, done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entryLocked(t.ID)
	if e.latest.State.over() {
		return // nothing follows the end
	}
	now := time.Now()
	if !e.isDirty() {
		e.since, e.due = now, now.Add(a.config.Every)
	}
	if a.draining || t.State != Running {
		e.due = now
	}
	e.latest = t
	e.handed++
	if done != nil {
		e.waiting = append(e.waiting, waiter{e.handed, done})
	}
	a.scheduleLocked(e)
}

func (a *Archive) entryLocked(id string) *entry {
	e := a.entries[id]
	if e == nil {
		e = &entry{id: id, version: "*"}
		a.entries[id] = e
	}
	return e
}

// scheduleLocked sees to it that a worker comes to a dirty entry when it is due.
func (a *Archive) scheduleLocked(e *entry) {
	if e.busy || !e.isDirty() {
		return
	}
	if wait := time.Until(e.due); wait > 0 {
		a.wakeLocked(e.due, wait)
		return
	}
	switch over := e.latest.State.over(); {
	case over && a.settling < settlers:
		a.settling++
		go a.settleFinished()
	case !over && !a.writing:
		a.writing = true
		go a.writeCheckpoints()
	}
}

// wakeLocked sets the one timer, unless it goes off before.
func (a *Archive) wakeLocked(at time.Time, wait time.Duration) {
	switch {
	case a.timer == nil:
		a.timer = time.AfterFunc(wait, a.wake)
	case a.wakeAt.IsZero() || at.Before(a.wakeAt):
		a.timer.Reset(wait)
	default:
		return
	}
	a.wakeAt = at
}

// wake looks for everything that is due.
func (a *Archive) wake() {
	defer a.guard("")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wakeAt = time.Time{}
	for _, e := range a.entries {
		a.scheduleLocked(e)
	}
}

// take gives a worker entries that are due, at most so many. Without any the worker is to end.
func (a *Archive) take(most int, finished bool) []*entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	var taken []*entry
	for _, e := range a.entries {
		if !e.busy && e.isDirty() && !e.due.After(now) && e.latest.State.over() == finished {
			e.busy = true
			if taken = append(taken, e); len(taken) == most {
				break
			}
		}
	}
	if len(taken) == 0 { // under the same lock, so that no Put is missed
		if finished {
			a.settling--
		} else {
			a.writing = false
		}
	}
	return taken
}

// work is what a worker wants to store of an entry. It is a copy: the entry may change meanwhile.
type work struct {
	*entry
	table   Table
	handed  uint64
	serial  uint64
	version string
	tried   int // how often in vain
}

func (a *Archive) begin(e *entry) work {
	a.mu.Lock()
	defer a.mu.Unlock()
	e.serial++
	return work{entry: e, table: e.latest, handed: e.handed, serial: e.serial, version: e.version, tried: e.failures}
}

// finish notes what came of it. A state that was handed over meanwhile is due like any other.
func (a *Archive) finish(w work, version string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, now := w.entry, time.Now()
	if !e.busy { // by rescue: it was finished before the panic
		return
	}
	e.busy = false
	defer a.scheduleLocked(e)
	if err != nil {
		a.failedLocked(e, err, now)
		return
	}
	e.failures, e.lastErr = 0, nil
	e.version, e.stored, e.hasSeats = version, w.handed, true
	if e.since, e.due = now, now.Add(a.config.Every); a.draining || e.latest.State != Running {
		e.due = now
	}
	a.answerLocked(e)
	if w.table.State.over() || w.table.State == Suspended && !e.isDirty() {
		delete(a.entries, e.id)
	}
	a.emptyLocked()
}

func (a *Archive) failedLocked(e *entry, err error, now time.Time) {
	e.failures++
	e.lastErr = err
	a.stats.Failures++
	backoff := min(longBackoff, firstBackoff<<min(e.failures-1, 10))
	e.due = now.Add(backoff/2 + rand.N(backoff))
	if e.failures == shownErrors {
		a.config.Logger.Warn("table %s: cannot be stored, tried %d times: %v", e.id, e.failures, err)
	}
}

// answerLocked tells those who wait for what is stored now.
func (a *Archive) answerLocked(e *entry) {
	rest := e.waiting[:0]
	for _, w := range e.waiting {
		if w.handed > e.stored {
			rest = append(rest, w)
			continue
		}
		go a.answer(e.id, w.done)
	}
	e.waiting = rest
}

func (a *Archive) answer(id string, done func()) {
	defer a.guard(id)
	done()
}

// emptyLocked tells those who drain that nothing waits any more.
func (a *Archive) emptyLocked() {
	if a.idle == nil {
		return
	}
	for _, e := range a.entries {
		if e.isDirty() {
			return
		}
	}
	close(a.idle)
	a.idle = nil
}

// lose forgets a table that another process has.
func (a *Archive) lose(e *entry) {
	a.mu.Lock()
	e.busy, e.stored = false, e.handed
	a.answerLocked(e)
	delete(a.entries, e.id)
	a.emptyLocked()
	a.mu.Unlock()
	a.config.Superseded(e.id)
}

// Drain stores what waits without waiting for company, and returns when all of it is stored, or with an error that says how much is not
// when ctx is done.
func (a *Archive) Drain(ctx context.Context) error {
	a.mu.Lock()
	a.draining = true
	for _, e := range a.entries {
		if e.failures == 0 {
			e.due = time.Time{}
		}
		a.scheduleLocked(e)
	}
	if a.idle == nil {
		a.idle = make(chan struct{})
	}
	idle := a.idle
	a.emptyLocked()
	a.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return errors.Join(ErrNotDrained, context.Cause(ctx))
	}
}

// ErrNotDrained is Drain's error when time ran out.
var ErrNotDrained = errors.New("not everything is stored")

// isConflict reports whether a version was not the expected one.
func isConflict(err error) bool { return errors.Is(err, runtime.ErrStorageRejectedVersion) }
