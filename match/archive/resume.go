package archive

import (
	"encoding/json"
	"errors"
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
	if c.Table.State != Suspended {
		alive, err := a.isAlive(c.Owner)
		if err != nil {
			return nil, err
		}
		if alive {
			return nil, &ElsewhereError{c.Table.MatchID}
		}
	}
	return a.adopt(c, version)
}

// adopt makes this process the owner of a checkpoint, if nobody has touched it since it was read.
func (a *Archive) adopt(c *checkpoint, version string) (*Table, error) {
	c.Owner = a.owner()
	c.Serial++
	c.Table.Incarnation++
	c.Table.State, c.Table.MatchID = Running, ""
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
	a.entries[c.Table.ID] = &entry{
		id: c.Table.ID, latest: c.Table, serial: c.Serial, version: acks[0].Version, hasSeats: true,
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
	return a.entries[tableID] != nil
}

// Pending reports whether a table's result is on its way to storage.
func (a *Archive) Pending(tableID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entries[tableID]
	return e != nil && e.latest.State.over()
}

// Sweep puts right what other processes have left: it finishes settlements, ends the matches to which nobody has come back in time, and deletes
// records that are old enough. Several processes may sweep at once.
func (a *Archive) Sweep() error {
	err := a.list(systemUser, tablesCollection, func(o object) error {
		if a.has(o.key) {
			return nil
		}
		c, err := decodeCheckpoint(o.value)
		if err != nil {
			a.config.Logger.Error("table %s: %v", o.key, err)
			return nil
		}
		return a.sweepTable(c, o.version)
	})
	return errors.Join(err, a.sweepForgotten(), a.sweepRecords())
}

func (a *Archive) sweepTable(c *checkpoint, version string) error {
	if c.Table.State != Suspended {
		if alive, err := a.isAlive(c.Owner); err != nil || alive {
			return err
		}
	}
	before := c.Table
	if !before.State.over() {
		if time.Since(time.UnixMilli(before.SavedUnixMs)) < a.config.ResumeWithin {
			return nil
		}
		before.State = Abandoned
		before.Incarnation++
	}
	t, err := a.adopt(c, version)
	var elsewhere *ElsewhereError
	if errors.As(err, &elsewhere) {
		return nil
	}
	if err != nil {
		return err
	}
	a.config.Logger.Info("table %s: settling what another process has left", t.ID)
	a.Put(before, nil)
	return nil
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

// Lease says that this process is alive, so that no other takes its tables over.
func (a *Archive) Lease() error {
	ctx, cancel := callContext()
	defer cancel()
	value := encode(node{Boot: a.boot, UntilUnixMs: time.Now().Add(leaseTime).UnixMilli()})
	_, err := a.nk().StorageWrite(ctx, []*runtime.StorageWrite{{Collection: nodesCollection, Key: a.config.Node, Value: value}})
	return err
}

// isAlive reports whether the process that owns a table may still play it. Of two processes with the same node's name the older one is gone:
// the name is part of every match id, and Nakama needs it to be unique.
func (a *Archive) isAlive(o owner) (bool, error) {
	if o.Boot == a.boot {
		return a.config.Node == o.Node, nil
	}
	if o.Node == a.config.Node {
		return false, nil
	}
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, []*runtime.StorageRead{{Collection: nodesCollection, Key: o.Node}})
	if err != nil || len(objects) == 0 {
		return false, err
	}
	var n node
	if err := json.Unmarshal([]byte(objects[0].Value), &n); err != nil {
		return false, err
	}
	return n.Boot == o.Boot && time.Now().UnixMilli() < n.UntilUnixMs, nil
}
