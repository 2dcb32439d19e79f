package archive

import (
	"errors"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// settleTries is how often a settlement is tried anew at once when somebody else has changed what it had read: another
// match of one of the players ended at the same moment.
const settleTries = 8

func (a *Archive) settleOne(w work) {
	defer a.rescue([]work{w})
	users := w.table.humans()
	if !a.enter(users) {
		a.retry(w, w.version)
		return
	}
	defer a.exit(users)
	err := a.settle(&w)
	switch {
	case errors.Is(err, errLost):
		a.config.Logger.Warn("table %s: another process has settled it or has it", w.id)
		a.lose(w.entry)
	case isPermanent(err):
		a.setAside(w, err)
	default:
		a.finish(w, "", err)
	}
}

// setAside sets a settlement aside that can never succeed.
func (a *Archive) setAside(w work, cause error) {
	err := a.setAsideTable(&w, cause)
	if errors.Is(err, errLost) {
		a.lose(w.entry)
		return
	}
	a.finish(w, "", err)
}

// patience is how long a settlement lets another one of the same users go first.
const patience = time.Second

// enter notes whose match is being settled; false if another one of theirs is, unless that has taken too long. In one
// process they settle one after the other: the database would have the later one try again, and Nakama log an error for
// that.
func (a *Archive) enter(users []string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for _, id := range users {
		if since, busy := a.settling[id]; busy && now.Sub(since) < patience {
			return false
		}
	}
	for _, id := range users {
		a.settling[id] = now
	}
	return true
}

func (a *Archive) exit(users []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range users {
		delete(a.settling, id)
	}
}

var errLost = errors.New("another process has the table")

// settle writes the result of a finished match with all that follows from it, once: the result, the record, its
// players' statistics and histories are one transaction, which fails if the result is there already. The leaderboards
// follow, and only then the table is forgotten, so that whoever finds it after a crash goes on with what is left.
func (a *Archive) settle(w *work) error {
	users := w.table.humans()
	s, err := a.commitOnce(w)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.answerLocked(w.entry, w.handed)
	a.mu.Unlock()
	// Accounts are looked for after the commit: a deletion that ends from now on finds the result, and one that ended
	// before may have missed it.
	usernames, err := a.alive(users)
	if err != nil {
		return err
	}
	if err := a.publishSettled(s, usernames); err != nil {
		return err
	}
	if err := a.forgetLeavers(w.table.ID, users, usernames); err != nil {
		return err
	}
	return a.clear(w.table.ID)
}

// commitOnce sees to it that the result is stored, by whomever, and returns what it found and did.
func (a *Archive) commitOnce(w *work) (*settlement, error) {
	for try := 1; ; try++ {
		s, err := a.readSettlement(w)
		if err != nil {
			return nil, err
		}
		if s.over {
			return s, s.checkOwn(&w.table)
		}
		err = a.commit(w, s)
		if err == nil {
			a.count(func(c *Counters) { c.Results++ })
			return s, nil
		}
		if !isConflict(err) || try == settleTries {
			return nil, err
		}
		if err := a.renewVersion(w); err != nil {
			return nil, err
		}
	}
}

// forgetLeavers takes those out of the result who do not exist any more, and removes what the result has left of them.
func (a *Archive) forgetLeavers(resultID string, users []string, alive map[string]string) error {
	for _, userID := range users {
		if _, exists := alive[userID]; exists {
			continue
		}
		for _, err := range []error{a.pseudonymise(resultID, userID), a.forgetGone(userID)} {
			if isPermanent(err) {
				a.complain(userID, err)
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// clear forgets a settled table.
func (a *Archive) clear(tableID string) error {
	ctx, cancel := callContext()
	defer cancel()
	return a.nk().StorageDelete(ctx, []*runtime.StorageDelete{
		{Collection: tablesCollection, Key: tableID}, {Collection: termsCollection, Key: tableID},
	})
}
