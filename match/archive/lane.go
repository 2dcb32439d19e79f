package archive

import (
	"cmp"
	"slices"
	"time"
)

// lane is one of the ways to storage. What has failed goes another one than what has not, so that the others do not
// wait behind something that cannot be stored, or only after a timeout.
type lane uint8

const (
	checkpointLane lane = iota
	recheckpointLane
	settleLane
	resettleLane
	lanes
)

// workers is how many goroutines a lane has at most. A settlement takes a few round trips to the database.
func (l lane) workers() int {
	if l == checkpointLane {
		return 1 // it writes many at once
	}
	return 2
}

// batch is how many entries of a lane are taken at once.
func (l lane) batch() int {
	if l == checkpointLane {
		return batchMax
	}
	return 1
}

func (e *entry) lane() lane {
	l := checkpointLane
	if e.latest.State.over() {
		l = settleLane
	}
	if e.failures > 0 {
		l++
	}
	return l
}

// scheduleLocked sees to it that a worker comes to a dirty entry when it is due.
func (a *Archive) scheduleLocked(e *entry) {
	if e.busy || !e.isDirty() || e.isParked() {
		return
	}
	if wait := time.Until(e.due); wait > 0 {
		a.wakeLocked(e.due, wait)
		return
	}
	if l := e.lane(); a.workers[l] < l.workers() {
		a.workers[l]++
		go a.work(l)
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

// work stores what is due in a lane until nothing is.
func (a *Archive) work(l lane) {
	defer a.guard("")
	for works := a.take(l); len(works) > 0; works = a.take(l) {
		if l == settleLane || l == resettleLane {
			a.settleOne(works[0])
		} else {
			a.writeBatch(works)
		}
	}
}

// work is what a worker is to store of an entry. It is a copy: the entry may change meanwhile.
type work struct {
	*entry
	table    Table
	newTerms bool // other ones are stored, or none
	handed   uint64
	serial   uint64
	version  string
	tried    int // how often in vain
}

// take gives a worker what is due, the longest due first. Without anything the worker is to end.
func (a *Archive) take(l lane) []work {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	var due []*entry
	for _, e := range a.entries {
		if !e.busy && e.isDirty() && !e.isParked() && e.lane() == l && !e.due.After(now) {
			due = append(due, e)
		}
	}
	switch most := l.batch(); {
	case len(due) == 0: // under the same lock, so that no Put is missed
		a.workers[l]--
		return nil
	case most == 1:
		due = []*entry{slices.MinFunc(due, byDue)}
	case len(due) > most:
		slices.SortFunc(due, byDue)
		due = due[:most]
	}
	works := make([]work, len(due))
	for i, e := range due {
		e.busy, e.begun = true, e.handed
		e.serial++
		works[i] = work{
			entry: e, table: e.latest, newTerms: e.terms == nil || !e.terms.equal(&e.latest.Terms),
			handed: e.handed, serial: e.serial, version: e.version, tried: e.failures,
		}
	}
	return works
}

func byDue(x, y *entry) int { return cmp.Or(x.due.Compare(y.due), cmp.Compare(x.id, y.id)) }
