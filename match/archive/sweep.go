package archive

import (
	"errors"
	"fmt"
	"time"
)

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
		if c, _, err = a.readCheckpoint(o.key); c == nil || err != nil {
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
