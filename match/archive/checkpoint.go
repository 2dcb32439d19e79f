package archive

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// writeBatch stores many checkpoints in one transaction. If that fails, each is tried on its own, so that one that cannot be
// stored blocks no other.
func (a *Archive) writeBatch(works []work) {
	defer a.rescue(works)
	err := a.tryCheckpoints(works)
	switch {
	case err == nil:
	case len(works) > 1:
		a.separate(works, err)
	case isConflict(err):
		a.reconcile(works[0])
	default:
		a.finish(works[0], "", err)
	}
}

// rescue lets what a worker panicked at be tried again, later.
func (a *Archive) rescue(works []work) {
	cause := recover()
	if cause == nil {
		return
	}
	a.config.Panicked(cause, works[0].id)
	for _, w := range works {
		a.finish(w, "", fmt.Errorf("panic: %v", cause))
	}
}

// tryCheckpoints stores all of them or none, and finishes those that are stored.
func (a *Archive) tryCheckpoints(works []work) error {
	var writes []*runtime.StorageWrite
	at := make([]int, len(works))
	for i := range works {
		w := &works[i]
		at[i] = len(writes)
		writes = append(writes, a.progressWrite(&w.table, w.serial, w.version))
		if w.newTerms {
			writes = append(writes, termsWrite(&w.table))
		}
		if !w.hasSeats {
			seats, err := a.seatWrites(w)
			if err != nil {
				return err
			}
			writes = append(writes, seats...)
		}
	}
	ctx, cancel := callContext()
	defer cancel()
	acks, err := a.nk().StorageWrite(ctx, writes)
	if err != nil {
		return err
	}
	for i := range works {
		a.finish(works[i], acks[at[i]].Version, nil)
	}
	a.count(func(c *Counters) { c.Checkpoints += int64(len(works)) })
	return nil
}

func (a *Archive) progressWrite(t *Table, serial uint64, version string) *runtime.StorageWrite {
	return &runtime.StorageWrite{
		Collection: tablesCollection, Key: t.ID, Version: version,
		Value: encode(stored[Progress]{checkpointFormat, a.owner(), serial, t.Progress}),
	}
}

// termsWrite goes into the same transaction as a write of the progress, whose version guards both.
func termsWrite(t *Table) *runtime.StorageWrite {
	return &runtime.StorageWrite{Collection: termsCollection, Key: t.ID, Value: encode(t.Terms)}
}

func (a *Archive) owner() owner { return owner{Node: a.config.Node, Boot: a.boot} }

// seatRef leads a user back to a table.
type seatRef struct {
	TableID string `json:"table_id"`
}

// seatWrites are what leads the players back to their table. What belongs to a user who is gone cannot be written: after a failure only
// those who exist are served.
func (a *Archive) seatWrites(w *work) ([]*runtime.StorageWrite, error) {
	users := w.table.humans()
	if w.tried > 0 {
		alive, err := a.alive(users)
		if err != nil {
			return nil, err
		}
		users = slices.DeleteFunc(users, func(id string) bool { _, exists := alive[id]; return !exists })
	}
	var writes []*runtime.StorageWrite
	for _, userID := range users {
		writes = append(writes, &runtime.StorageWrite{
			Collection: seatsCollection, Key: w.id, UserID: userID, Value: encode(seatRef{w.id}),
		})
	}
	return writes, nil
}

// alive are the usernames of those of the users who exist.
func (a *Archive) alive(users []string) (map[string]string, error) {
	names := make(map[string]string, len(users))
	if len(users) == 0 {
		return names, nil
	}
	ctx, cancel := callContext()
	defer cancel()
	found, err := a.nk().UsersGetId(ctx, users, nil)
	if err != nil {
		return nil, err
	}
	for _, u := range found {
		names[u.Id] = u.Username
	}
	return names, nil
}

// reconcile finds out why a checkpoint does not have the version that it should have: an answer of the database's was lost, or
// another process has the table.
func (a *Archive) reconcile(w work) {
	stored, version, err := a.readCheckpoint(w.id)
	switch {
	case err != nil:
		a.finish(w, "", err)
	case stored == nil:
		over, err := a.hasResult(w.id)
		switch {
		case err != nil:
			a.finish(w, "", err)
		case over:
			a.lose(w.entry)
		default:
			a.retry(w, "*")
		}
	case stored.Owner == a.owner() && stored.Table.State != settled:
		a.retry(w, version)
	default:
		a.config.Logger.Warn("table %s: node %s has taken it over", w.id, stored.Owner.Node)
		a.lose(w.entry)
	}
}

// readCheckpoint returns what is stored of a table, or nil.
func (a *Archive) readCheckpoint(tableID string) (*checkpoint, string, error) {
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, []*runtime.StorageRead{
		{Collection: tablesCollection, Key: tableID}, {Collection: termsCollection, Key: tableID},
	})
	if err != nil {
		return nil, "", err
	}
	var progress, terms *api.StorageObject
	for _, o := range objects {
		if o.Collection == termsCollection {
			terms = o
		} else {
			progress = o
		}
	}
	if progress == nil {
		return nil, "", nil
	}
	c, err := decodeCheckpoint(progress.Value)
	if err == nil && terms != nil {
		if err = json.Unmarshal([]byte(terms.Value), &c.Table.Terms); err != nil {
			err = fmt.Errorf("unreadable terms: %w", err)
		}
	}
	return c, progress.Version, err
}

// decodeCheckpoint reads a table's progress. Terms are in it only if an earlier version has written it.
func decodeCheckpoint(value string) (*checkpoint, error) {
	var c checkpoint
	if err := json.Unmarshal([]byte(value), &c); err != nil {
		return nil, fmt.Errorf("unreadable checkpoint: %w", err)
	}
	if c.Format < 1 || c.Format > checkpointFormat {
		return nil, fmt.Errorf("checkpoint of format %d, this version reads 1 to %d", c.Format, checkpointFormat)
	}
	return &c, nil
}
