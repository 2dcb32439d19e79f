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
