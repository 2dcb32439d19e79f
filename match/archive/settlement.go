package archive

import (
	"encoding/json"
	"fmt"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

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
	done.State, done.Record = settled, nil
	writes := []*runtime.StorageWrite{a.progressWrite(&done, w.serial, w.version)}
	if w.newTerms { // who sat there
		writes = append(writes, termsWrite(&done))
	}
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
	w.newTerms = true // they may be gone with the old version
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
