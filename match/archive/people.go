package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// leavingTime is how long the deletion of an account may take before it is believed to have failed.
const leavingTime = 30 * time.Second

// forgetTask is somebody whose data is to be pseudonymised, because the account is being deleted. It is written before the account goes, because what leads to
// the results goes with it.
type forgetTask struct {
	UserID    string   `json:"user_id"`
	ResultIDs []string `json:"result_ids"`
	UnixMs    int64    `json:"unix_ms"`
}

// PrepareForget notes what will have to be done when the user's account is deleted. From now on no result of the user's is written until
// the account is gone, or it turns out that it stays.
func (a *Archive) PrepareForget(userID string) error {
	a.expectLeaving(userID)
	task := forgetTask{UserID: userID, ResultIDs: []string{}, UnixMs: time.Now().UnixMilli()}
	if err := a.eachResultID(userID, func(id string) { task.ResultIDs = append(task.ResultIDs, id) }); err != nil {
		return err
	}
	ctx, cancel := callContext()
	defer cancel()
	_, err := a.nk().StorageWrite(ctx, []*runtime.StorageWrite{{Collection: forgetCollection, Key: userID, Value: encode(task)}})
	return err
}

func (a *Archive) expectLeaving(userID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(a.leaving, func(_ string, until time.Time) bool { return now.After(until) })
	a.leaving[userID] = now.Add(leavingTime)
}

var errLeaving = errors.New("a player's account is being deleted")

// checkLeaving fails with errLeaving while the account of one of the users is just being deleted.
func (a *Archive) checkLeaving(users []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range users {
		if until, leaving := a.leaving[id]; leaving && time.Now().Before(until) {
			return errLeaving
		}
	}
	return nil
}

// FinishForget pseudonymises what PrepareForget has noted, after the account was deleted. What fails is done by the next Sweep.
func (a *Archive) FinishForget(userID string) error {
	a.mu.Lock()
	delete(a.leaving, userID)
	a.mu.Unlock()
	ctx, cancel := callContext()
	objects, err := a.nk().StorageRead(ctx, []*runtime.StorageRead{{Collection: forgetCollection, Key: userID}})
	cancel()
	if err != nil || len(objects) == 0 {
		return err
	}
	return a.runForget(newObject(objects[0]))
}

func (a *Archive) runForget(o object) error {
	var task forgetTask
	if err := json.Unmarshal([]byte(o.value), &task); err != nil {
		return fmt.Errorf("unreadable task for user %s: %w", o.key, err)
	}
	for _, id := range task.ResultIDs {
		if err := a.pseudonymise(id, task.UserID); err != nil {
			return err
		}
	}
	if err := a.unpublish(task.UserID); err != nil {
		return err
	}
	return a.remove(forgetCollection, "", o.key)
}

// sweepForgotten does what was left of deletions when a process ended.
func (a *Archive) sweepForgotten() error {
	return a.list(systemUser, forgetCollection, func(o object) error {
		var task forgetTask
		if err := json.Unmarshal([]byte(o.value), &task); err != nil {
			a.config.Logger.Error("unreadable task for user %s: %v", o.key, err)
			return nil
		}
		if time.Since(time.UnixMilli(task.UnixMs)) < 2*leavingTime {
			return nil
		}
		users, err := a.alive([]string{task.UserID})
		if err != nil {
			return err
		}
		if _, stayed := users[task.UserID]; stayed {
			return a.remove(forgetCollection, "", o.key)
		}
		return a.runForget(o)
	})
}

// ErrBusy says that a result of the user's is just being written.
var ErrBusy = errors.New("a result is just being written")

// Forget takes a user out of all results and leaderboards and deletes the statistics and the history. The account stays. It fails with ErrBusy while
// a result of the user's waits to be stored.
func (a *Archive) Forget(userID string) error {
	if a.awaits(userID) {
		return ErrBusy
	}
	var ids []string
	if err := a.eachResultID(userID, func(id string) { ids = append(ids, id) }); err != nil {
		return err
	}
	for _, id := range ids {
		if err := a.pseudonymise(id, userID); err != nil {
			return err
		}
	}
	err := a.list(userID, historyCollection, func(o object) error { return a.remove(historyCollection, userID, o.key) })
	if err != nil {
		return err
	}
	if err := a.remove(statsCollection, userID, statsKey); err != nil {
		return err
	}
	return a.unpublish(userID)
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

func (a *Archive) eachResultID(userID string, see func(string)) error {
	return a.list(userID, historyCollection, func(o object) error {
		var ref historyRef
		if err := json.Unmarshal([]byte(o.value), &ref); err != nil {
			return err
		}
		see(ref.ResultID)
		return nil
	})
}

// pseudonymise takes a user out of a result and of the reports about it.
func (a *Archive) pseudonymise(resultID, userID string) error {
	for range settleTries {
		r, version, err := a.readResult(resultID)
		if err != nil || r == nil {
			return err
		}
		if err := a.forgetReports(r.RecordKey, userID); err != nil {
			return err
		}
		p := r.PlayerOf(userID)
		if p == nil {
			return nil
		}
		p.forget()
		ctx, cancel := callContext()
		_, err = a.nk().StorageWrite(ctx, []*runtime.StorageWrite{
			{Collection: resultsCollection, Key: resultID, Value: encode(r), Version: version},
		})
		cancel()
		if !isConflict(err) {
			return err
		}
	}
	return fmt.Errorf("result %s: %w", resultID, errUnsteady)
}

func (a *Archive) remove(collection, userID, key string) error {
	ctx, cancel := callContext()
	defer cancel()
	return a.nk().StorageDelete(ctx, []*runtime.StorageDelete{{Collection: collection, UserID: userID, Key: key}})
}

// sweepRecords deletes the records, with the reports about them, that are kept no longer. The results stay.
func (a *Archive) sweepRecords() error {
	if a.config.KeepRecords == 0 {
		return nil
	}
	oldest := time.Now().Add(-a.config.KeepRecords).UTC().Format(dayLayout)
	for {
		page, _, err := a.page(systemUser, recordsCollection, pageSize, "")
		if err != nil {
			return err
		}
		expired := 0
		for _, o := range page {
			if o.key >= oldest {
				return nil
			}
			if err := errors.Join(a.remove(reportsCollection, "", o.key), a.remove(recordsCollection, "", o.key)); err != nil {
				return err
			}
			expired++
		}
		if expired == 0 {
			return nil
		}
	}
}

// Export is what is stored of a match about one of its players.
type Export struct {
	Result  *Result  `json:"result"`            // the others without their ids
	Record  []byte   `json:"record,omitempty"`  // as base64; absent when it is not kept any more
	Reports []Report `json:"reports,omitempty"` // those that the player has made
}

// Export returns what is stored of a match about one of its players.
func (a *Archive) Export(r *Result, userID string) (Export, error) {
	own := *r
	own.Players = append([]PlayerResult(nil), r.Players...)
	for i := range own.Players {
		if p := &own.Players[i]; p.UserID != userID && p.Bot == "" && !p.Deleted {
			p.UserID, p.Name = "", anotherName
		}
	}
	e := Export{Result: &own}
	var err error
	if e.Record, err = a.Record(r); err != nil {
		return e, err
	}
	all, err := a.Reports(r)
	for _, report := range all {
		if report.UserID == userID {
			e.Reports = append(e.Reports, report)
		}
	}
	return e, err
}
