package archive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// deletionTime is how long the deletion of an account may take before a sweep looks what has become of it.
const deletionTime = time.Minute

// forgetTask says that an account is being deleted. It is written before the account goes, so that a process that dies
// in between does not leave the data until a sweep happens to come to that player.
type forgetTask struct {
	UserID string `json:"user_id"`
	UnixMs int64  `json:"unix_ms"`
}

func (f *forgetTask) check() error { return errors.Join(checkID(f.UserID), checkTime(f.UnixMs)) }

// PrepareForget notes that the user's account is being deleted. Settlements do not wait for the deletion, because it may
// never happen: a client that disconnects makes Nakama cancel it. A result that is stored meanwhile is found by
// FinishForget, or its settlement finds that the account is gone.
func (a *Archive) PrepareForget(userID string) error {
	task := forgetTask{UserID: userID, UnixMs: time.Now().UnixMilli()}
	return a.write([]*runtime.StorageWrite{{Collection: forgetCollection, Key: userID, Value: encode(task)}})
}

// FinishForget removes what is kept about a user, after the account was deleted. What fails is done by the next Sweep.
func (a *Archive) FinishForget(userID string) error {
	if err := a.forgetGone(userID); err != nil {
		return err
	}
	return a.remove(forgetCollection, userID)
}

// sweepForgotten does what was left of deletions when a process ended. One that fails keeps no other from being done.
func (a *Archive) sweepForgotten() error {
	var failed []error
	err := a.list(forgetCollection, func(o object) error {
		var task forgetTask
		if err := decode(o.value, &task); err != nil {
			a.complain(o.key, fmt.Errorf("task for user %s: %w", o.key, err))
			return nil
		}
		if time.Since(time.UnixMilli(task.UnixMs)) < deletionTime {
			return nil
		}
		users, err := a.alive([]string{task.UserID})
		if err != nil {
			return err
		}
		if task.UserID != o.key {
			a.complain(o.key, fmt.Errorf("task for user %s: it is of user %.64q", o.key, task.UserID))
			return nil
		}
		if _, stayed := users[task.UserID]; stayed {
			err = a.remove(forgetCollection, o.key)
		} else {
			err = a.FinishForget(task.UserID)
		}
		if err != nil {
			failed = appendSome(failed, fmt.Errorf("user %s: %w", task.UserID, err))
		}
		return nil
	})
	return errors.Join(err, errors.Join(failed...))
}

// ErrBusy says that a result of the user's is just being written.
var ErrBusy = errors.New("a result is just being written")

// Forget takes a user out of all results and leaderboards and deletes the statistics and the history. The account
// stays, and the seats in matches that are not over. It fails with ErrBusy while a result of the user's waits to be
// stored.
func (a *Archive) Forget(userID string) error {
	if a.awaits(userID) {
		return ErrBusy
	}
	return a.forget(userID, func(p *player) player { return player{Stats: newStats(), Seats: p.Seats} })
}

// forgetGone removes everything that is kept about a user who does not exist any more.
func (a *Archive) forgetGone(userID string) error {
	return a.forget(userID, func(*player) player { return player{Stats: newStats()} })
}

// forget takes a user out of everything that names the user, and leaves of the player what keep returns. A result that
// cannot be read stops nothing: it is logged, since nobody can take a name out of it.
func (a *Archive) forget(userID string, keep func(*player) player) error {
	err := a.forgetAside(userID)
	for try := 0; err == nil && try < settleTries; try++ {
		if err = a.forgetPlayer(userID, keep); err == nil {
			return a.unpublish(userID)
		}
		if errors.Is(err, errUnsteady) { // a match of the user's was settled meanwhile
			err = nil
		}
	}
	return cmp.Or(err, error(errUnsteady))
}

func (a *Archive) forgetPlayer(userID string, keep func(*player) player) error {
	p, err := a.readPlayer(userID)
	if isPermanent(err) {
		a.complain(userID, err)
		return a.forgetDamaged(userID)
	}
	if err != nil {
		return err
	}
	if err := a.forgetResults(userID, p); err != nil {
		return err
	}
	if err := a.removePages(userID, p.Pages); err != nil { // before the player, who says how many there are
		return err
	}
	known := p.results()
	steady := true
	err = a.changePlayer(userID, func(now *player) bool {
		if steady = now.results() == known; steady {
			*now = keep(now)
		}
		return steady
	})
	if err == nil && !steady {
		err = errUnsteady
	}
	return err
}

// forgetDamaged takes a user out of all results there are, because the object that leads to the user's own cannot be
// used. It looks at every result.
func (a *Archive) forgetDamaged(userID string) error {
	err := a.list(resultsCollection, func(o object) error {
		r, err := o.result()
		if err != nil || r.PlayerOf(userID) == nil {
			return nil
		}
		return a.pseudonymise(r.ResultID, userID)
	})
	if err != nil {
		return err
	}
	if err := a.remove(playersCollection, userID); err != nil {
		return err
	}
	return a.removeUnknownPages(userID)
}

// forgetResults takes a user out of all results of the history.
func (a *Archive) forgetResults(userID string, p *versioned) error {
	for begin := 0; begin < p.results(); begin += recentMax {
		ids, err := a.readRefs(userID, p, begin, min(begin+recentMax, p.results()))
		if err != nil {
			return err
		}
		for _, id := range ids {
			err := a.pseudonymise(id, userID)
			if isPermanent(err) {
				a.complain(id, err)
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Archive) removePages(userID string, pages int) error {
	numbers := make([]int, pages)
	for n := range numbers {
		numbers[n] = n
	}
	for some := range slices.Chunk(numbers, pageSize) {
		deletes := make([]*runtime.StorageDelete, len(some))
		for i, n := range some {
			deletes[i] = &runtime.StorageDelete{Collection: pagesCollection, Key: pageKey(userID, n)}
		}
		ctx, cancel := callContext()
		err := a.nk().StorageDelete(ctx, deletes)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// removeUnknownPages removes the pages of a user when nothing says how many there are.
func (a *Archive) removeUnknownPages(userID string) error {
	for number := range pagesMax {
		o, err := a.readOne(pagesCollection, pageKey(userID, number))
		if err != nil || o == nil {
			return err
		}
		if err := a.remove(pagesCollection, o.key); err != nil {
			return err
		}
	}
	return nil
}

// forgetAside takes a user out of what is set aside.
func (a *Archive) forgetAside(userID string) error {
	return a.eachAside(func(s *SetAside) error {
		var err error
		switch {
		case s.TableID == "":
			a.complain(s.ID, fmt.Errorf("set aside under %s: %s", s.ID, s.Reason))
		case s.UserID == userID:
			err = a.remove(asideCollection, s.ID)
			if err == nil {
				err = a.pseudonymise(s.TableID, userID)
			}
		case s.UserID == "":
			err = a.forgetSeat(s.TableID, userID)
		}
		if isPermanent(err) {
			a.complain(s.ID, err)
			return nil
		}
		return err
	})
}

// forgetSeat takes a user out of a table whose settlement is set aside.
func (a *Archive) forgetSeat(tableID, userID string) error {
	for range settleTries {
		c, version, err := a.readCheckpoint(tableID)
		if err != nil || c == nil {
			return err
		}
		if _, sits := c.Table.SeatOf(userID); !sits {
			return nil
		}
		c.Table.forgetUser(userID)
		c.Serial++
		progress := a.progressWrite(&c.Table, c.Serial, version)
		if err := a.write([]*runtime.StorageWrite{progress, termsWrite(&c.Table)}); !isConflict(err) {
			return err
		}
	}
	return errUnsteady
}

// awaits reports whether a finished match of the user's waits to be stored.
func (a *Archive) awaits(userID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.entries {
		if _, sits := e.latest.SeatOf(userID); sits && e.latest.State.over() {
			return true
		}
	}
	return false
}

// pseudonymise takes a user out of a result, and then out of the reports about it, so that no report is accepted after
// that.
func (a *Archive) pseudonymise(resultID, userID string) error {
	for range settleTries {
		r, version, err := a.readResult(resultID)
		if err != nil || r == nil {
			return err
		}
		if p := r.PlayerOf(userID); p != nil {
			p.forget()
			err = a.write([]*runtime.StorageWrite{resultWrite(r, version)})
		}
		switch {
		case isConflict(err):
			continue
		case err != nil:
			return err
		}
		if err := a.forgetReports(r.RecordKey, userID); !isPermanent(err) {
			return err
		}
		return nil
	}
	return fmt.Errorf("result %s: %w", resultID, errUnsteady)
}

func (a *Archive) remove(collection, key string) error {
	ctx, cancel := callContext()
	defer cancel()
	return a.nk().StorageDelete(ctx, []*runtime.StorageDelete{{Collection: collection, Key: key}})
}
