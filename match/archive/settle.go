package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// settleTries is how often a settlement is tried anew at once when somebody else has changed what it had read: another match of one of
// the players ended at the same moment.
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
	default:
		a.finish(w, "", err)
	}
}

// patience is how long a settlement lets another one of the same users go first.
const patience = time.Second

// enter notes whose match is being settled; false if another one of theirs is, unless that has taken too long. In one process they settle one after the
// other: the database would have the later one try again, and Nakama log an error for that.
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

// settle writes the result of a finished match with all that follows from it, once: the result, the record, its players' statistics and
// histories are one transaction, which fails if the result is there already. The leaderboards follow, and only then the table is
// forgotten, so that whoever finds it after a crash goes on with what is left.
func (a *Archive) settle(w *work) error {
	s, err := a.commitOnce(w)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.answerLocked(w.entry, w.handed)
	a.mu.Unlock()
	if err := a.publishAll(&w.table, s); err != nil {
		return err
	}
	if err := a.forgetLeavers(w); err != nil {
		return err
	}
	return a.clear(w.table.ID, s.alive)
}

// commitOnce sees to it that the result is stored, by whomever, and returns what it found and did.
func (a *Archive) commitOnce(w *work) (*settlement, error) {
	for try := 1; ; try++ {
		s, err := a.readSettlement(w)
		if err != nil {
			return nil, err
		}
		if s.over {
			return s, nil
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

// forgetLeavers takes those out of the result whose accounts were deleted while it was written. Deletions that had begun before know nothing
// of it, those that begin from now on find it.
func (a *Archive) forgetLeavers(w *work) error {
	users := w.table.humans()
	if err := a.checkLeaving(users); err != nil {
		return err
	}
	alive, err := a.alive(users)
	if err != nil {
		return err
	}
	for _, userID := range users {
		if _, exists := alive[userID]; exists {
			continue
		}
		if err := a.pseudonymise(w.table.ID, userID); err != nil {
			return err
		}
	}
	return nil
}

// settlement is what a settlement begins with.
type settlement struct {
	over     bool              // the result is there
	alive    map[string]string // the players who exist: their usernames
	stats    []*Stats          // by seat; nil: not a player who exists
	versions []string          // of stats, by seat; after the commit those that it gave them
	before   []Stats           // what stats were before the commit
}

func (a *Archive) readSettlement(w *work) (*settlement, error) {
	t := &w.table
	reads := []*runtime.StorageRead{{Collection: resultsCollection, Key: t.ID}}
	for _, userID := range t.humans() {
		reads = append(reads, &runtime.StorageRead{Collection: statsCollection, Key: statsKey, UserID: userID})
	}
	if err := a.checkLeaving(t.humans()); err != nil {
		return nil, err
	}
	alive, err := a.alive(t.humans())
	if err != nil {
		return nil, err
	}
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, reads)
	if err != nil {
		return nil, err
	}
	s := &settlement{alive: alive, stats: make([]*Stats, len(t.Seats)), versions: make([]string, len(t.Seats))}
	return s, s.read(t, objects)
}

func (s *settlement) read(t *Table, objects []*api.StorageObject) error {
	for i := range t.Seats {
		if _, exists := s.alive[t.Seats[i].UserID]; exists {
			fresh := newStats()
			s.stats[i], s.versions[i] = &fresh, "*"
		}
	}
	for _, o := range objects {
		if o.Collection == resultsCollection {
			s.over = true
			if err := checkOwn(t, o.Value); err != nil {
				return err
			}
			continue
		}
		seat, ok := t.SeatOf(o.UserId)
		if !ok || s.stats[seat] == nil {
			continue
		}
		known, err := decodeStats(o.Value)
		if err != nil {
			return fmt.Errorf("user %s: %w", o.UserId, err)
		}
		s.stats[seat], s.versions[seat] = &known, o.Version
	}
	return nil
}

// checkOwn fails with errLost if a result is of another end of the match than ours: another process had taken the table over.
func checkOwn(t *Table, value string) error {
	var r Result
	if err := json.Unmarshal([]byte(value), &r); err != nil {
		return fmt.Errorf("unreadable result %s: %w", t.ID, err)
	}
	if t.State != settled && r.RecordSHA256 != digest(t.Record) {
		return errLost
	}
	return nil
}

// remember keeps the statistics as they are.
func (s *settlement) remember() {
	s.before = make([]Stats, len(s.stats))
	for i := range s.stats {
		if s.stats[i] != nil {
			s.before[i] = *s.stats[i]
		}
	}
}

// commit is the transaction.
func (a *Archive) commit(w *work, s *settlement) error {
	t := &w.table
	r, err := newResult(t)
	if err != nil {
		a.config.Logger.Error("%v", err)
	}
	s.remember()
	if r.isRated() {
		r.rate(s.stats)
	}
	done := *t
	done.State, done.Record, done.Setup, done.Rules = settled, nil, nil, nil
	writes := []*runtime.StorageWrite{a.tableWrite(checkpoint{Format: checkpointFormat, Owner: a.owner(), Serial: w.serial, Table: done}, w.version)}
	for i := range r.Players {
		p := &r.Players[i]
		switch {
		case p.UserID == "":
			continue
		case s.stats[i] == nil:
			p.forget()
			continue
		case r.Counted:
			s.stats[i].add(r, p)
			writes = append(writes, &runtime.StorageWrite{
				Collection: statsCollection, Key: statsKey, UserID: p.UserID, Value: encode(s.stats[i]), Version: s.versions[i],
			})
		}
		writes = append(writes, &runtime.StorageWrite{
			Collection: historyCollection, Key: historyKey(r), UserID: p.UserID, Value: encode(historyRef{r.ResultID}), Version: "*",
		})
	}
	writes = append(writes,
		&runtime.StorageWrite{Collection: resultsCollection, Key: r.ResultID, Value: encode(r), Version: "*"},
		&runtime.StorageWrite{Collection: recordsCollection, Key: r.RecordKey, Value: encode(storedRecord{r.ResultID, t.Record}), Version: "*"},
	)
	ctx, cancel := callContext()
	defer cancel()
	acks, _, err := a.nk().MultiUpdate(ctx, nil, writes, nil, nil, false)
	if err != nil {
		return err
	}
	for i, w := range writes {
		if seat, ok := t.SeatOf(w.UserID); ok && w.Collection == statsCollection {
			s.versions[seat] = acks[i].Version
		}
	}
	return nil
}

// storedRecord is a record as it is stored: JSON keeps no bytes.
type storedRecord struct {
	ResultID string `json:"result_id"`
	Record   []byte `json:"record"`
}

// renewVersion finds the version that the table's checkpoint has, or that the table is not ours.
func (a *Archive) renewVersion(w *work) error {
	stored, version, err := a.readCheckpoint(w.table.ID)
	switch {
	case err != nil:
		return err
	case stored == nil:
		w.version = "*"
	case stored.Owner != a.owner():
		return errLost
	default:
		w.version, w.serial = version, max(w.serial, stored.Serial+1)
	}
	return nil
}

// clear forgets a settled table.
func (a *Archive) clear(tableID string, users map[string]string) error {
	deletes := []*runtime.StorageDelete{{Collection: tablesCollection, Key: tableID}}
	for userID := range users {
		deletes = append(deletes, &runtime.StorageDelete{Collection: seatsCollection, Key: tableID, UserID: userID})
	}
	ctx, cancel := callContext()
	defer cancel()
	return a.nk().StorageDelete(ctx, deletes)
}

// hasResult reports whether a table is settled.
func (a *Archive) hasResult(resultID string) (bool, error) {
	r, _, err := a.readResult(resultID)
	return r != nil, err
}

// readResult returns a result with its version, or nil.
func (a *Archive) readResult(resultID string) (*Result, string, error) {
	results, versions, err := a.readResults([]string{resultID})
	if err != nil || len(results) == 0 {
		return nil, "", err
	}
	return results[0], versions[0], nil
}

// readResults returns those of the results that are there, in the order of their ids.
func (a *Archive) readResults(ids []string) (results []*Result, versions []string, err error) {
	reads := make([]*runtime.StorageRead, len(ids))
	for i, id := range ids {
		reads[i] = &runtime.StorageRead{Collection: resultsCollection, Key: id}
	}
	if len(reads) == 0 {
		return nil, nil, nil
	}
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, reads)
	if err != nil {
		return nil, nil, err
	}
	byID := make(map[string]*api.StorageObject, len(objects))
	for _, o := range objects {
		byID[o.Key] = o
	}
	for _, id := range ids {
		o := byID[id]
		if o == nil {
			continue
		}
		r := &Result{}
		if err := json.Unmarshal([]byte(o.Value), r); err != nil {
			return nil, nil, fmt.Errorf("unreadable result %s: %w", id, err)
		}
		results, versions = append(results, r), append(versions, o.Version)
	}
	return results, versions, nil
}

// Record returns the record of a result, nil if it is not kept any more.
func (a *Archive) Record(r *Result) ([]byte, error) {
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, []*runtime.StorageRead{{Collection: recordsCollection, Key: r.RecordKey}})
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	var stored storedRecord
	if err := json.Unmarshal([]byte(objects[0].Value), &stored); err != nil {
		return nil, fmt.Errorf("unreadable record of %s: %w", r.ResultID, err)
	}
	return stored.Record, nil
}

// historyRef leads to a result.
type historyRef struct {
	ResultID string `json:"result_id"`
}

// lastMs is later than every time, so that what is subtracted from it sorts the newest first.
const lastMs = 1<<48 - 1

func historyKey(r *Result) string { return fmt.Sprintf("%012x.%s", lastMs-r.EndedUnixMs, r.ResultID) }
