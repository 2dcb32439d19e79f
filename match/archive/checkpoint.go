package archive

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heroiclabs/nakama-common/runtime"
)

// writeBatch stores many checkpoints in one transaction. If that fails, each is tried on its own, so that one that
// cannot be stored blocks no other.
func (a *Archive) writeBatch(works []work) {
	defer a.rescue(works)
	err := a.tryCheckpoints(works)
	switch {
	case err == nil:
	case len(works) > 1:
		a.separate(works, err)
	case isConflict(err):
		a.reconcile(works[0])
	case isPermanent(err):
		a.park(works[0], err)
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

// compose makes the writes of a transaction. A panic in it is a permanent error: the same data would panic again.
func (a *Archive) compose(tableID string, f func() []*runtime.StorageWrite) (writes []*runtime.StorageWrite, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			a.config.Panicked(cause, tableID)
			err = permanent(fmt.Errorf("panic: %v", cause))
		}
	}()
	return f(), nil
}

// tryCheckpoints stores all of them or none, and finishes those that are stored.
func (a *Archive) tryCheckpoints(works []work) error {
	seats, err := a.seatWrites(works)
	if err != nil {
		return err
	}
	at := make([]int, len(works))
	writes, err := a.compose(works[0].id, func() []*runtime.StorageWrite {
		writes := seats
		for i := range works {
			w := &works[i]
			at[i] = len(writes)
			writes = append(writes, a.progressWrite(&w.table, w.serial, w.version))
			if w.newTerms {
				writes = append(writes, termsWrite(&w.table))
			}
		}
		return writes
	})
	if err != nil {
		return err
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

// seatWrites lead the players of matches that have just begun back to their tables. A player whose object cannot be
// used goes without.
func (a *Archive) seatWrites(works []work) ([]*runtime.StorageWrite, error) {
	var users []string
	for i := range works {
		if !works[i].hasSeats {
			users = append(users, works[i].table.humans()...)
		}
	}
	slices.Sort(users)
	users = slices.Compact(users)
	players, bad, err := a.readPlayers(users)
	if err != nil {
		return nil, err
	}
	for i := range works {
		if works[i].hasSeats {
			continue
		}
		for _, userID := range works[i].table.humans() {
			if p := players[userID]; p != nil {
				p.sit(works[i].id)
			}
		}
	}
	var writes []*runtime.StorageWrite
	for _, userID := range users {
		if err := bad[userID]; err != nil {
			a.complain(userID, err)
			continue
		}
		writes = append(writes, playerWrite(userID, players[userID]))
	}
	return writes, nil
}

// alive are the usernames of those of the users who exist. What cannot be a user's id is nobody's: Nakama would refuse
// to look for the others too.
func (a *Archive) alive(users []string) (map[string]string, error) {
	names := make(map[string]string, len(users))
	if len(users) == 0 {
		return names, nil
	}
	ctx, cancel := callContext()
	defer cancel()
	found, err := a.nk().UsersGetId(ctx, users, nil)
	if err != nil {
		possible := slices.DeleteFunc(slices.Clone(users), func(id string) bool { return !isUUID(id) })
		if len(possible) == len(users) {
			return nil, err
		}
		return a.alive(possible)
	}
	for _, u := range found {
		names[u.Id] = u.Username
	}
	return names, nil
}

// reconcile finds out why a checkpoint does not have the version that it should have: an answer of the database's was
// lost, or another process has the table. A damaged checkpoint is replaced.
func (a *Archive) reconcile(w work) {
	stored, version, err := a.readCheckpoint(w.id)
	switch {
	case errors.Is(err, errUnreadable):
		a.retry(w, version)
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
			a.retry(w, absent)
		}
	case stored.Owner == a.owner() && stored.Table.Incarnation > w.table.Incarnation:
		a.lose(w.entry)
	case stored.Owner == a.owner() && stored.Table.State != settled:
		a.retry(w, version)
	default:
		a.config.Logger.Warn("table %s: node %s has taken it over", w.id, stored.Owner.Node)
		a.lose(w.entry)
	}
}

// readCheckpoint returns what is stored of a table, or nil. With errUnreadable it returns the version of what cannot be
// read.
func (a *Archive) readCheckpoint(tableID string) (*checkpoint, string, error) {
	found, err := a.readCheckpoints([]string{tableID})
	if err != nil || found[tableID] == nil {
		return nil, "", err
	}
	f := found[tableID]
	return f.checkpoint, f.version, f.err
}

// found is a checkpoint as it was read.
type found struct {
	*checkpoint
	version string
	err     error // why it cannot be used
}

// readCheckpoints returns what is stored of some tables, by id.
func (a *Archive) readCheckpoints(tableIDs []string) (map[string]*found, error) {
	var reads []*runtime.StorageRead
	for _, id := range tableIDs {
		reads = append(reads, &runtime.StorageRead{Collection: tablesCollection, Key: id}, &runtime.StorageRead{Collection: termsCollection, Key: id})
	}
	if len(reads) == 0 {
		return nil, nil
	}
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, reads)
	if err != nil {
		return nil, err
	}
	all, terms := map[string]*found{}, map[string]string{}
	for _, o := range objects {
		if o.Collection == termsCollection {
			terms[o.Key] = o.Value
			continue
		}
		c, err := decodeCheckpoint(o.Key, o.Value)
		all[o.Key] = &found{c, o.Version, err}
	}
	for id, f := range all {
		if f.err == nil {
			f.err = f.addTerms(terms, id)
		}
	}
	return all, nil
}

// addTerms reads the terms of a table. The first format had them in the same object.
func (f *found) addTerms(terms map[string]string, tableID string) error {
	value, there := terms[tableID]
	switch {
	case !there && f.Format == 1:
		return nil
	case !there:
		return unreadable(fmt.Errorf("table %s has no terms", tableID))
	}
	f.Table.Terms = Terms{}
	if err := decode(value, &f.Table.Terms); err != nil {
		return unreadable(fmt.Errorf("terms of table %s: %w", tableID, err))
	}
	return nil
}

// Why a checkpoint cannot be used, which is permanent.
var (
	// errUnreadable: it is damaged.
	errUnreadable = errors.New("unreadable checkpoint")
	// errNewer: a newer version of this module has written it.
	errNewer = errors.New("checkpoint of a newer version")
)

// IsUnreadable reports whether what is stored of a table cannot be used, however often it is read.
func IsUnreadable(err error) bool { return errors.Is(err, errUnreadable) || errors.Is(err, errNewer) }

func unreadable(err error) error { return permanent(errors.Join(errUnreadable, err)) }

// decodeCheckpoint reads a table's progress. Terms are in it only if an earlier version has written it.
func decodeCheckpoint(tableID, value string) (*checkpoint, error) {
	var c checkpoint
	err := decode(value, &c)
	switch {
	case errors.Is(err, errNewer):
		return nil, permanent(err)
	case err == nil && c.Table.ID != tableID:
		err = fmt.Errorf("it is of table %.64q", c.Table.ID)
		fallthrough
	case err != nil:
		return nil, unreadable(fmt.Errorf("table %s: %w", tableID, err))
	}
	return &c, nil
}
