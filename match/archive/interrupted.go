package archive

import (
	"errors"
	"time"
)

// Interruption is a table whose process is gone and to which nobody has come back yet.
type Interruption struct {
	*Table
	Node string // of the process that had it
	// Until is when the match ends as abandoned, unless somebody comes back before. A sweep does it, some time later.
	Until time.Time
}

// AllInterrupted lists the interrupted ones of 100 stored tables, in the order of their ids, and the cursor of the next
// 100; empty: that was all. A page may be empty although others follow. A made-up cursor is an error that IsBadCursor
// knows.
func (a *Archive) AllInterrupted(cursor string) (tables []Interruption, next string, err error) {
	page, next, err := a.page(tablesCollection, cursor)
	if err != nil {
		return nil, "", err
	}
	aside, err := a.asideTables()
	if err != nil {
		return nil, "", err
	}
	for _, o := range page {
		c, err := decodeCheckpoint(o.key, o.value)
		if err != nil || c.Table.State.over() || aside[o.key] {
			continue // the sweep complains about what cannot be read
		}
		var elsewhere *ElsewhereError
		if err = a.mayTake(c); err == nil {
			c, _, err = a.readCheckpoint(o.key)
		}
		switch {
		case errors.As(err, &elsewhere):
		case isPermanent(err): // the sweep sets it aside
		case err != nil:
			return nil, "", err
		case c != nil && !c.Table.State.over(): // nobody has just settled it
			until := time.UnixMilli(c.Table.SavedUnixMs).Add(a.config.ResumeWithin)
			tables = append(tables, Interruption{&c.Table, c.Owner.Node, until})
		}
	}
	return tables, next, nil
}
