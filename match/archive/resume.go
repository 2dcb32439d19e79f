package archive

import (
	"cmp"
	"errors"
	"slices"

	"github.com/heroiclabs/nakama-common/runtime"
)

// Why a table cannot be claimed.
var (
	// ErrUnknownTable: there is no such table, or the user does not sit there.
	ErrUnknownTable = errors.New("no such table")
	// ErrOver: its match is over.
	ErrOver = errors.New("the match of this table is over")
	// ErrDraining: this process ends, and takes nothing over.
	ErrDraining = errors.New("this process shuts down")
)

// ElsewhereError says that a table is alive in another process, or just being resumed there.
type ElsewhereError struct {
	MatchID string // empty: it is just being made
}

// Error implements error.
func (e *ElsewhereError) Error() string { return "the table is alive in another process" }

// Find returns what is stored of a table, without claiming it. It fails with ErrUnknownTable and ErrOver.
func (a *Archive) Find(tableID string) (*Table, error) {
	c, _, err := a.readCheckpoint(tableID)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		over, err := a.hasResult(tableID)
		if err == nil && over {
			err = ErrOver
		} else if err == nil {
			err = ErrUnknownTable
		}
		return nil, err
	case c.Table.State.over():
		return nil, ErrOver
	}
	return &c.Table, nil
}

// Claim takes over an interrupted table for this process, in the next incarnation: of all who ask, in whatever process,
// one gets it. The others fail with an *ElsewhereError. The user has to sit there; "" is the server itself.
func (a *Archive) Claim(tableID, userID string) (*Table, error) {
	if a.isDraining() {
		return nil, ErrDraining
	}
	if !a.beginClaim(tableID) {
		return nil, &ElsewhereError{}
	}
	defer a.endClaim(tableID)
	c, version, err := a.readCheckpoint(tableID)
	if err != nil {
		return nil, err
	}
	if c == nil {
		_, err := a.Find(tableID)
		if err == nil {
			err = ErrUnknownTable // it came back a moment ago: ask again
		}
		return nil, err
	}
	if _, sits := c.Table.SeatOf(userID); !sits && userID != "" {
		return nil, ErrUnknownTable
	}
	if c.Table.State.over() {
		return nil, ErrOver
	}
	if aside, err := a.IsSetAside(tableID); err != nil || aside { // it had ended, which could not be stored
		return nil, cmp.Or(err, error(ErrOver))
	}
	if err := a.mayTake(c); err != nil {
		return nil, err
	}
	return a.adopt(c, version, Running)
}

// mayTake fails with an *ElsewhereError while a table may still be played.
func (a *Archive) mayTake(c *checkpoint) error {
	if a.has(c.Table.ID) {
		return &ElsewhereError{} // perhaps just being suspended, which is not stored yet
	}
	if c.Table.State == Suspended || c.Owner.Boot == a.boot { // what is ours and not here was taken by a call whose answer was lost
		return nil
	}
	alive, err := a.isAlive(c.Owner)
	if err == nil && alive {
		err = &ElsewhereError{c.Table.MatchID}
	}
	return err
}

// beginClaim keeps two goroutines of this process from taking the same table; false if another one is at it.
func (a *Archive) beginClaim(tableID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.claims[tableID] {
		return false
	}
	a.claims[tableID] = true
	return true
}

func (a *Archive) endClaim(tableID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.claims, tableID)
}

// adopt makes this process the owner of a checkpoint, if nobody has touched it since it was read. What is over is
// settled.
func (a *Archive) adopt(c *checkpoint, version string, state State) (*Table, error) {
	c.Serial++
	if !c.Table.State.over() {
		c.Table.Incarnation++
	}
	if c.Table.State = state; state == Running {
		c.Table.MatchID = ""
	}
	ctx, cancel := callContext()
	defer cancel()
	acks, err := a.nk().StorageWrite(ctx, []*runtime.StorageWrite{a.progressWrite(&c.Table, c.Serial, version), termsWrite(&c.Table)})
	if isConflict(err) {
		return nil, &ElsewhereError{}
	}
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	terms := c.Table.Terms
	e := &entry{id: c.Table.ID, latest: c.Table, serial: c.Serial, version: acks[0].Version, terms: &terms, hasSeats: true}
	a.entries[e.id] = e
	if state.over() {
		a.putLocked(e, c.Table)
	}
	return &c.Table, nil
}

// Interrupted are the tables where a user has a seat and that are not alive in this process. Those whose result is
// still being written are not among them, nor those that cannot be read.
func (a *Archive) Interrupted(userID string) ([]*Table, error) {
	p, err := a.readPlayer(userID)
	if err != nil {
		return nil, err
	}
	away := slices.DeleteFunc(slices.Clone(p.Seats), a.has)
	if len(away) == 0 {
		return nil, nil
	}
	aside, err := a.asideTables()
	if err != nil {
		return nil, err
	}
	var tables []*Table
	var stale []string
	for some := range slices.Chunk(away, pageSize/2) {
		found, err := a.readCheckpoints(some)
		if err != nil {
			return tables, err
		}
		for _, id := range some {
			switch f := found[id]; {
			case f == nil:
				stale = append(stale, id)
			case f.err != nil:
				a.complain(id, f.err)
			case !f.Table.State.over() && !aside[id]:
				tables = append(tables, &f.Table)
			}
		}
	}
	return tables, a.forgetSeats(userID, stale)
}

// forgetSeats removes what leads to tables that are gone: somebody has deleted them from the database.
func (a *Archive) forgetSeats(userID string, tableIDs []string) error {
	if len(tableIDs) == 0 {
		return nil
	}
	return a.changePlayer(userID, func(p *player) bool {
		before := len(p.Seats)
		for _, id := range tableIDs {
			p.rise(id)
		}
		return len(p.Seats) != before
	})
}

func (a *Archive) isDraining() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.draining
}

// has reports whether this process has a table.
func (a *Archive) has(tableID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entries[tableID]
	return e != nil && !e.lost
}

// Pending reports whether a table's result is on its way to storage.
func (a *Archive) Pending(tableID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entries[tableID]
	return e != nil && e.latest.State.over()
}
