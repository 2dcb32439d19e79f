package archive

import "time"

// LoseLease makes the archive believe that its lease has run out, as after a long pause.
func (a *Archive) LoseLease() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leased = time.Now().Add(-time.Second)
}

// Entries is how many tables the archive has in memory.
func (a *Archive) Entries() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.entries) + len(a.claims)
}

// PutOff lets everything that has failed wait for an hour, as after a long outage.
func (a *Archive) PutOff() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.entries {
		if e.failures > 0 {
			e.due = time.Now().Add(time.Hour)
		}
	}
}

// IsPutOff reports whether a table still waits for that hour.
func (a *Archive) IsPutOff(tableID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Until(a.entries[tableID].due) > time.Minute
}
