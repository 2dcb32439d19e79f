package archive

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// asideMax bounds how many objects that are set aside are listed.
const asideMax = 1_000

// SetAside is something that cannot be settled as it is stored, and is not tried again until an operator asks for it:
// the whole settlement of a table, or the part of one of its players.
type SetAside struct {
	ID      string `json:"id"` // the object's key
	TableID string `json:"table_id"`
	UserID  string `json:"user_id,omitempty"` // whose part; empty: the whole settlement
	Reason  string `json:"reason"`
	UnixMs  int64  `json:"unix_ms"` // since when
}

func (s *SetAside) check() error {
	return errors.Join(checkID(s.TableID), checkUser(s.UserID), checkTime(s.UnixMs))
}

// reasonMax bounds the reason, in bytes.
const reasonMax = 500

func setAsideWrite(s SetAside) *runtime.StorageWrite {
	s.UnixMs = time.Now().UnixMilli()
	s.Reason = s.Reason[:min(len(s.Reason), reasonMax)]
	return &runtime.StorageWrite{Collection: asideCollection, Key: s.ID, Value: encode(s)}
}

// setAsideTable sets the settlement of a table aside: the table is stored as it ended, with the mark and without the
// names of users who do not exist any more, and nothing is tried any more. If even that cannot be stored, the mark is
// stored alone.
func (a *Archive) setAsideTable(w *work, cause error) error {
	alive, err := a.alive(w.table.humans())
	if err != nil {
		return err
	}
	a.config.Logger.Error("table %s: set aside, its match cannot be settled: %v", w.id, cause)
	w.table.Seats = slices.Clone(w.table.Seats)
	for _, userID := range w.table.humans() {
		if _, exists := alive[userID]; !exists {
			w.table.forgetUser(userID)
		}
	}
	mark := setAsideWrite(SetAside{ID: w.id, TableID: w.id, Reason: cause.Error()})
	for range settleTries {
		writes, err := a.compose(w.id, func() []*runtime.StorageWrite {
			return []*runtime.StorageWrite{a.progressWrite(&w.table, w.serial, w.version), termsWrite(&w.table), mark}
		})
		if err == nil {
			err = a.write(writes)
		}
		switch {
		case isPermanent(err):
			err = a.write([]*runtime.StorageWrite{mark})
			fallthrough
		case !isConflict(err):
			if err == nil {
				a.noteAside(1)
			}
			return err
		}
		if err := a.renewVersion(w); err != nil {
			return err
		}
	}
	return errUnsteady
}

func (a *Archive) write(writes []*runtime.StorageWrite) error {
	ctx, cancel := callContext()
	defer cancel()
	_, err := a.nk().StorageWrite(ctx, writes)
	return err
}

func (a *Archive) noteAside(more int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.aside += more
}

// SetAside lists what is set aside, at most 1,000.
func (a *Archive) SetAside() ([]SetAside, error) {
	all := []SetAside{}
	err := a.eachAside(func(s *SetAside) error {
		if len(all) < asideMax {
			all = append(all, *s)
		}
		return nil
	})
	return all, err
}

// eachAside shows everything that is set aside, and counts it. Of a mark that cannot be read it shows the id and why.
func (a *Archive) eachAside(see func(*SetAside) error) error {
	seen := 0
	err := a.list(asideCollection, func(o object) error {
		seen++
		var s SetAside
		if err := decode(o.value, &s); err != nil {
			s = SetAside{Reason: err.Error()}
		}
		s.ID = o.key
		return see(&s)
	})
	if err == nil {
		a.mu.Lock()
		a.aside = seen
		a.mu.Unlock()
	}
	return err
}

// Retry tries again to settle what is set aside under an id. It fails with ErrNotAside if nothing is, and with the
// reason if it still cannot be settled. A table's settlement goes on in the queue.
func (a *Archive) Retry(id string) error {
	o, err := a.readOne(asideCollection, id)
	if err != nil {
		return err
	}
	if o == nil {
		return ErrNotAside
	}
	var s SetAside
	if err := decode(o.value, &s); err != nil {
		return fmt.Errorf("set aside under %s: %w", id, err)
	}
	s.ID = id
	if s.UserID != "" {
		return a.retryPart(&s, o.version)
	}
	if err := a.remove(asideCollection, id); err != nil {
		return err
	}
	a.noteAside(-1)
	return a.sweepOne(s.TableID)
}

// ErrNotAside says that nothing is set aside under an id.
var ErrNotAside = errors.New("nothing is set aside under this id")

// sweepOne settles a table that is over, as a sweep would do in time.
func (a *Archive) sweepOne(tableID string) error {
	o, err := a.readOne(tablesCollection, tableID)
	if err != nil || o == nil {
		return err
	}
	return a.sweepTable(*o)
}

// IsSetAside reports whether the settlement of a table is set aside.
func (a *Archive) IsSetAside(tableID string) (bool, error) {
	o, err := a.readOne(asideCollection, tableID)
	return o != nil, err
}

// retryPart adds a stored result to one of its players, for whom that was set aside. The others' ratings count as they
// are now.
func (a *Archive) retryPart(s *SetAside, version string) error {
	for range settleTries {
		writes, err := a.partWrites(s)
		if err != nil {
			return err
		}
		mark := []*runtime.StorageDelete{{Collection: asideCollection, Key: s.ID, Version: version}}
		ctx, cancel := callContext()
		_, _, err = a.nk().MultiUpdate(ctx, nil, writes, mark, nil, false)
		cancel()
		if err == nil {
			a.noteAside(-1)
			return a.showAll([]string{s.UserID})
		}
		if !isConflict(err) {
			return err
		}
	}
	return errUnsteady
}

// partWrites are what the result means for the player. Nothing, if the result is gone or does not name the player any
// more.
func (a *Archive) partWrites(s *SetAside) ([]*runtime.StorageWrite, error) {
	r, version, err := a.readResult(s.TableID)
	if err != nil || r == nil {
		return nil, err
	}
	played := r.PlayerOf(s.UserID)
	if played == nil {
		return nil, nil
	}
	var users []string
	for i := range r.Players {
		if id := r.Players[i].UserID; id != "" {
			users = append(users, id)
		}
	}
	players, bad, err := a.readPlayers(users)
	if err == nil {
		err = bad[s.UserID]
	}
	if err != nil {
		return nil, err
	}
	known, err := a.knows(s.UserID, players[s.UserID], s.TableID)
	if err != nil || known { // an upgrade has counted it
		return nil, err
	}
	rated := *r
	rated.Players = append([]PlayerResult(nil), r.Players...)
	rated.rate(players)
	played.Rating = rated.Players[played.Seat].Rating
	p := players[s.UserID]
	if r.Counted {
		p.Stats.add(r, played)
	}
	return append(p.settle(s.UserID, r), playerWrite(s.UserID, p), resultWrite(r, version)), nil
}

// knows reports whether a result is in a player's history.
func (a *Archive) knows(userID string, p *versioned, resultID string) (bool, error) {
	for begin := 0; begin < p.results(); begin += recentMax {
		ids, err := a.readRefs(userID, p, begin, min(begin+recentMax, p.results()))
		if err != nil || slices.Contains(ids, resultID) {
			return err == nil, err
		}
	}
	return false, nil
}

// asideTables are the tables whose settlement is set aside.
func (a *Archive) asideTables() (map[string]bool, error) {
	tables := map[string]bool{}
	err := a.eachAside(func(s *SetAside) error {
		if s.UserID == "" {
			tables[s.ID] = true
		}
		return nil
	})
	return tables, err
}
