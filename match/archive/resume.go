package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

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

// Claim takes over an interrupted table for this process, in the next incarnation: of all who ask, in whatever process, one gets it. The others
// fail with an *ElsewhereError. The user has to sit there; "" is the server itself.
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

// adopt makes this process the owner of a checkpoint, if nobody has touched it since it was read. What is over is settled.
func (a *Archive) adopt(c *checkpoint, version string, state State) (*Table, error) {
	c.Owner = a.owner()
	c.Serial++
	if !c.Table.State.over() {
		c.Table.Incarnation++
	}
	if c.Table.State = state; state == Running {
		c.Table.MatchID = ""
	}
	ctx, cancel := callContext()
	defer cancel()
	acks, err := a.nk().StorageWrite(ctx, []*runtime.StorageWrite{a.tableWrite(*c, version)})
	if isConflict(err) {
		return nil, &ElsewhereError{}
	}
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	e := &entry{id: c.Table.ID, latest: c.Table, serial: c.Serial, version: acks[0].Version, hasSeats: true}
	a.entries[e.id] = e
	if state.over() {
		a.putLocked(e, c.Table)
	}
	return &c.Table, nil
}

// Interrupted are the tables where a user has a seat and that are not alive in this process, and those whose result is still being written
// are not among them.
func (a *Archive) Interrupted(userID string) ([]*Table, error) {
	var tables []*Table
	var stale []string
	err := a.list(userID, seatsCollection, func(o object) error {
		if a.has(o.key) {
			return nil
		}
		t, err := a.Find(o.key)
		switch {
		case errors.Is(err, ErrOver), errors.Is(err, ErrUnknownTable):
			stale = append(stale, o.key)
			return nil
		case err != nil:
			return err
		}
		tables = append(tables, t)
		return nil
	})
	return tables, errors.Join(err, a.forgetSeats(userID, stale))
}

// forgetSeats removes what leads to tables that are gone. A crash can leave such.
func (a *Archive) forgetSeats(userID string, tableIDs []string) error {
	if len(tableIDs) == 0 {
		return nil
	}
	deletes := make([]*runtime.StorageDelete, len(tableIDs))
	for i, id := range tableIDs {
		deletes[i] = &runtime.StorageDelete{Collection: seatsCollection, Key: id, UserID: userID}
	}
	ctx, cancel := callContext()
	defer cancel()
	return a.nk().StorageDelete(ctx, deletes)
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

const (
	// sweepFailures is with how many failures in a row a sweep gives up: then it is not the tables.
	sweepFailures = 3
	// sweepMost is with how many results in the queue a sweep leaves the rest to the next one.
	sweepMost = 1_000
)

// Sweep puts right what other processes have left: it finishes settlements, ends the matches to which nobody has come back in time, and deletes
// records that are old enough. Several processes may sweep at once.
func (a *Archive) Sweep() error {
	var failed []error
	row := 0
	err := a.list(systemUser, tablesCollection, func(o object) error {
		err := a.sweepTable(o)
		if err == nil {
			row = 0
		} else {
			failed = append(failed, fmt.Errorf("table %s: %w", o.key, err))
			row++
		}
		if row == sweepFailures || len(failed) == 10*sweepFailures || a.Backlog() >= sweepMost {
			return errEnough
		}
		return nil
	})
	return errors.Join(err, errors.Join(failed...), a.sweepForgotten(), a.sweepRecords())
}

func (a *Archive) sweepTable(o object) error {
	if !a.beginClaim(o.key) {
		return nil
	}
	defer a.endClaim(o.key)
	c, err := decodeCheckpoint(o.value)
	if err != nil {
		a.config.Logger.Error("table %s: %v", o.key, err)
		return nil
	}
	err = a.mayTake(c)
	if err == nil {
		state := c.Table.State
		if !state.over() {
			if time.Since(time.UnixMilli(c.Table.SavedUnixMs)) < a.config.ResumeWithin {
				return nil
			}
			state = Abandoned
		}
		_, err = a.adopt(c, o.version, state)
	}
	var elsewhere *ElsewhereError
	if errors.As(err, &elsewhere) {
		return nil
	}
	if err == nil {
		a.config.Logger.Info("table %s: settling what another process has left", o.key)
	}
	return err
}

// node is until when a process is surely alive.
type node struct {
	Boot        string `json:"boot"`
	UntilUnixMs int64  `json:"until_unix_ms"`
}

const (
	// leaseTime is for how long a process says that it is alive; three renewals may be lost.
	leaseTime = 40 * time.Second
	// LeaseEvery is how often Lease should be called.
	LeaseEvery = 10 * time.Second
)

// Lease says that this process is alive, so that no other takes its tables over. If it has not said so for too long, it looks whether they are still its
// own.
func (a *Archive) Lease() error {
	ctx, cancel := callContext()
	defer cancel()
	until := time.Now().Add(leaseTime)
	value := encode(node{Boot: a.boot, UntilUnixMs: until.UnixMilli()})
	_, err := a.nk().StorageWrite(ctx, []*runtime.StorageWrite{{Collection: nodesCollection, Key: a.config.Node, Value: value}})
	if err == nil {
		a.renewed(until)
	}
	return err
}

// renewed notes the lease. After a gap every table is stored anew, which fails if another process has it.
func (a *Archive) renewed(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	late := !a.leased.IsZero() && time.Now().Round(0).After(a.leased.Round(0)) // by the calendar: it runs on while a machine sleeps
	a.leased = until
	if !late {
		return
	}
	for _, e := range a.entries {
		if e.latest.State == Running && !e.isDirty() {
			a.putLocked(e, e.latest)
		}
	}
}

// isAlive reports whether another process that owns a table may still play it. Of two processes with the same node's name the older one is gone:
// the name is part of every match id, and Nakama needs it to be unique.
func (a *Archive) isAlive(o owner) (bool, error) {
	if o.Node == a.config.Node {
		return false, nil
	}
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, []*runtime.StorageRead{{Collection: nodesCollection, Key: o.Node}})
	if err != nil || len(objects) == 0 {
		return false, err
	}
	var n node // one that cannot be read is soon written anew, if its process is alive
	readable := json.Unmarshal([]byte(objects[0].Value), &n) == nil
	return readable && n.Boot == o.Boot && time.Now().UnixMilli() < n.UntilUnixMs, nil
}
