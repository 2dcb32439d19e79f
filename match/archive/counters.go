package archive

import (
	"cmp"
	"slices"
	"time"
)

// Counters are what the archive has done since it was made, and what waits.
type Counters struct {
	Checkpoints int64 // stored
	Results     int64 // stored
	Failures    int64 // of attempts to store something

	Waiting  int           // tables with a state that is not stored
	Finished int           // of these, matches that are over
	Stuck    int           // of these, tried again and again
	SetAside int           // what cannot be settled; not among those that wait
	Oldest   time.Duration // how long the one that has waited longest has
}

func (a *Archive) count(f func(*Counters)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.stats)
}

// Counters returns the counters.
func (a *Archive) Counters() Counters {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.stats
	c.SetAside = a.aside
	now := time.Now()
	for _, e := range a.entries {
		if !e.isDirty() {
			continue
		}
		c.Waiting++
		if e.latest.State.over() {
			c.Finished++
		}
		if e.failures >= shownErrors {
			c.Stuck++
		}
		c.Oldest = max(c.Oldest, now.Sub(e.since))
	}
	return c
}

// Waiting is a table in the queue, as an operator sees it.
type Waiting struct {
	TableID   string `json:"table_id"`
	State     State  `json:"state"`
	ForMs     int64  `json:"for_ms"`
	Failures  int    `json:"failures"`
	LastError string `json:"last_error,omitempty"`
}

// Queue shows what waits to be stored, what has waited longest first, at most so many.
func (a *Archive) Queue(most int) []Waiting {
	a.mu.Lock()
	defer a.mu.Unlock()
	var dirty []*entry
	for _, e := range a.entries {
		if e.isDirty() {
			dirty = append(dirty, e)
		}
	}
	slices.SortFunc(dirty, func(x, y *entry) int { return cmp.Or(x.since.Compare(y.since), cmp.Compare(x.id, y.id)) })
	now, queue := time.Now(), []Waiting{}
	for _, e := range dirty[:min(most, len(dirty))] {
		queue = append(queue, e.show(now))
	}
	return queue
}

// WaitingFor shows what of one table waits to be stored; nil if nothing does.
func (a *Archive) WaitingFor(tableID string) *Waiting {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entries[tableID]
	if e == nil || !e.isDirty() {
		return nil
	}
	w := e.show(time.Now())
	return &w
}

func (e *entry) show(now time.Time) Waiting {
	w := Waiting{TableID: e.id, State: e.latest.State, ForMs: now.Sub(e.since).Milliseconds(), Failures: e.failures}
	if e.lastErr != nil {
		w.LastError = e.lastErr.Error()
	}
	return w
}

// IsAway reports whether the database seems to be away: the last attempts to store something all failed.
func (a *Archive) IsAway() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failures >= shownErrors
}

// Backlog is how many finished matches wait to be stored.
func (a *Archive) Backlog() int { return a.Counters().Finished }
