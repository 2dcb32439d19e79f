package archive

import (
	"errors"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/rating"
)

// settlement is what the settlement of a match has read, and what it will write.
type settlement struct {
	over    bool                  // the result is stored already
	result  *api.StorageObject    // that one
	players map[string]*versioned // what is kept about the players, by user id
	before  map[string]Stats      // their statistics before the match
	bad     map[string]error      // users whose part cannot be settled, and why
}

// readSettlement reads the result, if it is there, and the players, in one call.
func (a *Archive) readSettlement(w *work) (*settlement, error) {
	s := &settlement{players: map[string]*versioned{}, before: map[string]Stats{}, bad: map[string]error{}}
	reads := []*runtime.StorageRead{{Collection: resultsCollection, Key: w.table.ID}}
	for _, userID := range w.table.humans() {
		reads = append(reads, playerRead(userID))
		fresh := newPlayer()
		s.players[userID] = &fresh
	}
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, reads)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if o.Collection == resultsCollection {
			s.over, s.result = true, o
			continue
		}
		p, err := newObject(o).player()
		if err != nil {
			s.bad[o.Key] = err
			delete(s.players, o.Key)
			continue
		}
		s.players[o.Key] = &p
	}
	for userID, p := range s.players {
		s.before[userID] = p.Stats
	}
	return s, nil
}

// checkOwn fails with errLost if a result is of another end of the match than ours: another process had taken the table
// over. A result that cannot be read is nobody's: the failure is permanent.
func (s *settlement) checkOwn(t *Table) error {
	r, err := newObject(s.result).result()
	if err != nil {
		return err
	}
	if t.State != settled && r.RecordSHA256 != digest(t.Record) {
		return errLost
	}
	return nil
}

// commit is the transaction: the result, the record, what is kept about each player, and the mark on the checkpoint
// that it is settled. The part of a player that cannot be used is set aside, also in the transaction.
func (a *Archive) commit(w *work, s *settlement) error {
	writes, err := a.compose(w.id, func() []*runtime.StorageWrite { return a.settlementWrites(w, s) })
	if err != nil {
		return err
	}
	ctx, cancel := callContext()
	defer cancel()
	acks, _, err := a.nk().MultiUpdate(ctx, nil, writes, nil, nil, false)
	if err != nil {
		return err
	}
	for i, write := range writes {
		if p := s.players[write.Key]; p != nil && write.Collection == playersCollection {
			p.version = acks[i].Version
		}
	}
	a.noteAside(len(s.bad))
	return nil
}

func (a *Archive) settlementWrites(w *work, s *settlement) []*runtime.StorageWrite {
	t := &w.table
	r, err := newResult(t)
	if err != nil {
		a.config.Logger.Error("%v", err)
	}
	r.rate(s.players)
	done := *t
	done.State, done.Record = settled, nil
	writes := []*runtime.StorageWrite{a.progressWrite(&done, w.serial, w.version)}
	if w.newTerms { // who sat there
		writes = append(writes, termsWrite(&done))
	}
	for i := range r.Players {
		writes = append(writes, a.playerWrites(r, &r.Players[i], s)...)
	}
	return append(writes,
		resultWrite(r, absent),
		&runtime.StorageWrite{Collection: recordsCollection, Key: r.RecordKey, Value: encode(storedRecord{r.ResultID, t.Record})},
	)
}

// playerWrites are what a result means for one of its players.
func (a *Archive) playerWrites(r *Result, played *PlayerResult, s *settlement) []*runtime.StorageWrite {
	userID := played.UserID
	switch {
	case userID == "":
		return nil
	case s.bad[userID] != nil:
		return []*runtime.StorageWrite{setAsideWrite(SetAside{
			ID: r.ResultID + "." + userID, TableID: r.ResultID, UserID: userID, Reason: s.bad[userID].Error(),
		})}
	}
	p := s.players[userID]
	if r.Counted {
		p.Stats.add(r, played)
	}
	return append(p.settle(userID, r), playerWrite(userID, p))
}

// settle moves a match from the player's seats to the history. It returns the write of the page that has become full,
// if one has.
func (p *player) settle(userID string, r *Result) []*runtime.StorageWrite {
	p.rise(r.TableID)
	full, number := p.remember(resultRef{r.ResultID, r.EndedUnixMs})
	if full == nil {
		return nil
	}
	return []*runtime.StorageWrite{pageWrite(userID, number, full)}
}

// rate changes the ratings of all players by the result, if it is rated. players has those that are known, by user id;
// others count as newcomers.
func (r *Result) rate(players map[string]*versioned) {
	if !r.isRated() {
		return
	}
	r.RatingFormula = rating.Formula
	before, scores, forfeited := make([]rating.Rating, len(r.Players)), make([]int, len(r.Players)), make([]bool, len(r.Players))
	for i := range r.Players {
		before[i] = rating.New()
		if p := players[r.Players[i].UserID]; p != nil {
			before[i] = p.Stats.rating()
		}
		scores[i], forfeited[i] = r.Players[i].Score, r.Players[i].Forfeited
	}
	for i, after := range rating.Update(before, rating.Ranks(scores, forfeited)) {
		p := players[r.Players[i].UserID]
		if p == nil {
			continue
		}
		shown := RatingChange{Before: before[i].Displayed(), After: after.Displayed()}
		shown.Change = shown.After - shown.Before
		r.Players[i].Rating = &shown
		p.Stats.Mu, p.Stats.Sigma = after.Mu, after.Sigma
		p.Stats.Ranked++
	}
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
	case errors.Is(err, errUnreadable):
		w.version = version
	case errors.Is(err, errNewer):
		return errLost
	case err != nil:
		return err
	case stored == nil:
		w.version = absent
	case stored.Owner != a.owner() || stored.Table.Incarnation > w.table.Incarnation:
		return errLost
	default:
		w.version, w.serial = version, max(w.serial, stored.Serial+1)
	}
	return nil
}
