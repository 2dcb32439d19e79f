package archive

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

const (
	firstBackoff = 100 * time.Millisecond
	longBackoff  = 15 * time.Second
	// drainBackoff is the longest at shutdown, when there is no time to be patient.
	drainBackoff = 250 * time.Millisecond
	// shownErrors is how often in a row an entry fails before its error is worth an operator's attention.
	shownErrors = 3
)

// entry is one table in the queue: its newest state, and how far that is stored. A table is there once, however often
// it is handed over, so the queue is never longer than there are tables.
type entry struct {
	id       string
	latest   Table
	handed   uint64 // how often it was handed over
	begun    uint64 // the newest of these that a worker has taken
	stored   uint64 // the newest of these that is stored
	serial   uint64 // of the newest write that was tried
	version  string // of the checkpoint in storage; "*": there is none
	terms    *Terms // that are stored; nil: none
	hasSeats bool   // its players' way back is stored
	busy     bool   // a worker has it
	parked   uint64 // the one of these that cannot be stored; 0: none
	lost     bool   // another process has the table: nothing more is taken until the match here has stopped
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

// isParked reports whether nothing is done about an entry until it is handed over anew.
func (e *entry) isParked() bool { return e.parked == e.handed }

// Put hands over a table's newest state, which replaces those before it that are not stored yet. done, if not nil, is
// called from another goroutine when this state or a newer one is stored; it must not block. Of states that were
// replaced before a worker came to them only the newest one's is called, and none when another process has taken the
// table over. Put does not wait for the database.
//
// Put ignores a state of an earlier incarnation than the newest known one: a callback of a stopped match may hand it
// over after this process has resumed the table.
func (a *Archive) Put(t Table, done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entries[t.ID]
	if e == nil {
		e = &entry{id: t.ID, version: "*"}
		a.entries[t.ID] = e
	}
	if t.Incarnation < e.latest.Incarnation || e.lost {
		return
	}
	if e.latest.State.over() || e.latest.State == Suspended && t.State == Running {
		return // nothing follows the end, and a suspended table has to be claimed first
	}
	a.putLocked(e, t)
	if done != nil {
		if last := len(e.waiting) - 1; last >= 0 && e.waiting[last].handed > e.begun {
			e.waiting = e.waiting[:last]
		}
		e.waiting = append(e.waiting, waiter{e.handed, done})
	}
}

func (a *Archive) putLocked(e *entry, t Table) {
	now := time.Now()
	wasDirty := e.isDirty()
	e.latest = t
	e.handed++
	if !wasDirty {
		e.since = now
		a.dateLocked(e, now)
	} else if t.State != Running && e.failures == 0 {
		e.due = now
	}
	a.scheduleLocked(e)
}

// dateLocked says when an entry is due that has not failed. Those that may wait are due together, so that they are
// written together.
func (a *Archive) dateLocked(e *entry, now time.Time) {
	e.due = now
	if every := a.config.Every; every > 0 && !a.draining && e.latest.State == Running {
		e.due = a.start.Add((now.Sub(a.start) + every).Truncate(max(every/2, time.Millisecond)))
	}
}

// Suspend says that a table's match has stopped. If it was running it has done so without a word, and is handed over as
// it was handed over last. It does nothing if the table is in another incarnation by now.
func (a *Archive) Suspend(tableID string, incarnation uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entries[tableID]
	switch {
	case e == nil || e.latest.Incarnation != incarnation:
	case e.lost:
		a.dropLocked(e)
	case e.latest.State == Running:
		t := e.latest
		t.State = Suspended
		a.putLocked(e, t)
	}
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
	a.recoveredLocked(now)
	e.version, e.stored, e.hasSeats = version, w.handed, true
	if w.newTerms {
		terms := w.table.Terms // alone: the record would stay in memory with it
		e.terms = &terms
	}
	if e.isDirty() {
		e.since = now
		a.dateLocked(e, now)
	}
	a.answerLocked(e, w.handed)
	if w.table.State.over() || w.table.State == Suspended && !e.isDirty() {
		a.dropLocked(e)
	}
	a.emptyLocked()
}

func (a *Archive) failedLocked(e *entry, err error, now time.Time) {
	e.failures++
	e.lastErr = err
	a.stats.Failures++
	a.failures++
	e.begun = e.stored // no worker has anything
	a.gatherLocked(e)
	longest := longBackoff
	if a.draining {
		longest = drainBackoff
	}
	backoff := min(longest, firstBackoff<<min(e.failures-1, 10))
	e.due = now.Add(backoff/2 + rand.N(backoff))
	if e.failures == shownErrors {
		a.config.Logger.Warn("table %s: cannot be stored, tried %d times: %v", e.id, e.failures, err)
	}
}

// recoveredLocked lets everything that has failed be tried at once when the database answers again: what has failed
// often waits long. One table that can never be stored, among others that can, is not an outage.
func (a *Archive) recoveredLocked(now time.Time) {
	outage := a.failures >= shownErrors
	a.failures = 0
	if !outage {
		return
	}
	for _, e := range a.entries {
		if e.failures > 0 && e.due.After(now) {
			e.due = now
			a.scheduleLocked(e)
		}
	}
}

// gatherLocked lets only the newest of those wait who wait for something that no worker has.
func (a *Archive) gatherLocked(e *entry) {
	if n := len(e.waiting); n > 1 {
		e.waiting = append(e.waiting[:0:0], e.waiting[n-1])
	}
}

// retry lets an entry be tried again soon, with the version that it really has. Its terms may be gone with the one that
// it had.
func (a *Archive) retry(w work, version string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := w.entry
	e.version, e.terms, e.busy, e.due = version, nil, false, time.Now().Add(rand.N(firstBackoff))
	a.scheduleLocked(e)
}

// separate lets each of those that could not be stored together be tried on its own.
func (a *Archive) separate(works []work, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.Failures++
	a.failures++
	now := time.Now()
	for _, w := range works {
		e := w.entry
		e.busy, e.failures, e.lastErr, e.due = false, max(1, e.failures), err, now
		a.scheduleLocked(e)
	}
}

// answerLocked tells those who wait for a state up to this one.
func (a *Archive) answerLocked(e *entry, stored uint64) {
	rest := e.waiting[:0]
	for _, w := range e.waiting {
		if w.handed > stored {
			rest = append(rest, w)
			continue
		}
		go a.answer(e.id, w.done)
	}
	clear(e.waiting[len(rest):])
	e.waiting = rest
}

func (a *Archive) answer(id string, done func()) {
	defer a.guard(id)
	done()
}

func (a *Archive) dropLocked(e *entry) {
	if a.entries[e.id] == e { // it may have been claimed anew meanwhile
		delete(a.entries, e.id)
	}
}

// park lets an entry that cannot be stored as it is wait until it is handed over anew.
func (a *Archive) park(w work, err error) {
	a.config.Logger.Error("table %s: cannot be stored as it is: %v", w.id, err)
	a.finish(w, "", err)
	a.mu.Lock()
	defer a.mu.Unlock()
	w.parked = w.handed
	a.emptyLocked()
}

// lose gives up a table that another process has, or a later incarnation in this one.
func (a *Archive) lose(e *entry) {
	a.mu.Lock()
	e.busy, e.stored, e.waiting = false, e.handed, nil
	if e.lost = !e.latest.State.over(); !e.lost { // nothing follows the end
		a.dropLocked(e)
	}
	a.emptyLocked()
	a.mu.Unlock()
	a.config.Superseded(e.id)
}

// Drain stores what waits without waiting for company, and returns when all of it is stored, or with an error that says
// how much is not when ctx is done.
func (a *Archive) Drain(ctx context.Context) error {
	select {
	case <-a.beginDrain():
		return nil
	case <-ctx.Done():
		return errors.Join(ErrNotDrained, context.Cause(ctx))
	}
}

// beginDrain returns what is closed when all is stored.
func (a *Archive) beginDrain() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.draining {
		a.draining = true
		now := time.Now()
		for _, e := range a.entries {
			if e.due.After(now) {
				e.due = now
			}
			a.scheduleLocked(e)
		}
	}
	if a.idle == nil {
		a.idle = make(chan struct{})
	}
	idle := a.idle
	a.emptyLocked()
	return idle
}

// emptyLocked tells those who drain that nothing waits any more.
func (a *Archive) emptyLocked() {
	if a.idle == nil {
		return
	}
	for _, e := range a.entries {
		if e.isDirty() && !e.isParked() {
			return
		}
	}
	close(a.idle)
	a.idle = nil
}

// ErrNotDrained is Drain's error when time ran out.
var ErrNotDrained = errors.New("not everything is stored")

// isConflict reports whether a version was not the expected one. Of a deletion Nakama says so in a text alone.
func isConflict(err error) bool {
	return errors.Is(err, runtime.ErrStorageRejectedVersion) || err != nil && strings.Contains(err.Error(), "Storage delete rejected")
}
