package archive

import (
	"errors"
	"fmt"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

const (
	// sweepFailures is with how many failures in a row a sweep gives up: then it is not the tables.
	sweepFailures = 3
	// sweepMost is with how many results in the queue a sweep leaves the rest to the next one.
	sweepMost = 1_000
)

// Sweep puts right what other processes have left: it finishes settlements, ends the matches to which nobody has come
// back in time, and deletes records that are old enough. Several processes may sweep at once.
func (a *Archive) Sweep() error {
	var failed []error
	row := 0
	aside, err := a.asideTables()
	if err != nil {
		return err
	}
	err = a.list(tablesCollection, func(o object) error {
		if aside[o.key] {
			return nil
		}
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
	return errors.Join(err, errors.Join(failed...), a.sweepForgotten(), a.sweepPlayers(), a.sweepRecords(),
		a.sweepLegacy())
}

func (a *Archive) sweepTable(o object) error {
	if !a.beginClaim(o.key) {
		return nil
	}
	defer a.endClaim(o.key)
	c, err := decodeCheckpoint(o.key, o.value)
	if err != nil {
		return a.setAsideDamaged(o.key, err)
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
		if c, _, err = a.readCheckpoint(o.key); isPermanent(err) {
			return a.setAsideDamaged(o.key, err)
		}
		if c == nil || err != nil {
			return err
		}
		_, err = a.adopt(c, o.version, state) // as it was listed: what has changed since is somebody else's
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

// setAsideDamaged sets a stored table aside that cannot be read. One that a newer version has written is left alone.
func (a *Archive) setAsideDamaged(tableID string, cause error) error {
	if errors.Is(cause, errNewer) {
		a.complain(tableID, cause)
		return nil
	}
	a.config.Logger.Error("table %s: set aside: %v", tableID, cause)
	mark := setAsideWrite(SetAside{ID: tableID, TableID: tableID, Reason: cause.Error()})
	err := a.write([]*runtime.StorageWrite{mark})
	if err == nil {
		a.noteAside(1)
	}
	return err
}

// complainedMax bounds the objects about which something was logged once.
const complainedMax = 1_000

// complain logs once that an object cannot be used: everybody who comes across it would log it again.
func (a *Archive) complain(key string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.complained[key] || len(a.complained) >= complainedMax {
		return
	}
	a.complained[key] = true
	a.config.Logger.Error("%v", err)
}
