package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/rating"
)

// dataFormat is the version of all that is stored. 1 had no mark: statistics, histories and seats were objects that the
// users owned. In 2 the system owns everything.
const dataFormat = 2

// metaKey is the one object of metaCollection.
const metaKey = "format"

// upgradeLease is for how long a process that upgrades the data is believed to be at it without a word.
const upgradeLease = time.Minute

// meta says how the stored data is to be read, or that a process is upgrading it.
type meta struct {
	Format        int `json:"format"` // 0: an upgrade has begun, and is not done
	RatingFormula int `json:"rating_formula"`
	// Boards says that the leaderboards show the statistics. After an upgrade they have to be set once.
	Boards bool `json:"boards"`

	UpgradedBy  string `json:"upgraded_by,omitempty"` // the node that upgrades
	UntilUnixMs int64  `json:"until_unix_ms,omitempty"`
}

func (m *meta) check() error {
	if m.Format < 0 || m.RatingFormula < 0 {
		return fmt.Errorf("format %d, rating formula %d", m.Format, m.RatingFormula)
	}
	return checkTime(m.UntilUnixMs)
}

// Why the stored data cannot be used by this process.
var (
	// ErrNewerData: a newer version has written it.
	ErrNewerData = errors.New("the stored data is of a newer version of this module")
	// ErrUpgrading: another process is upgrading it.
	ErrUpgrading = errors.New("another process is upgrading the stored data")
)

// Upgrade brings the stored data to the format of this version. It has to be called before anything is put, and nothing
// of an earlier version may run meanwhile. What users own is never read: statistics, ratings and histories are computed
// anew from all stored results, in the order in which the matches ended, and seats from the stored tables. It can be
// repeated at any time, after it was interrupted too; deleting the object set3d_meta/format makes the next start do so.
// It fails with ErrNewerData, ErrUpgrading, an error of the database, or ctx's when the time is over.
func (a *Archive) Upgrade(ctx context.Context) error {
	m, version, err := a.readMeta()
	switch {
	case err != nil:
		return err
	case m.Format > dataFormat || m.RatingFormula > rating.Formula:
		return fmt.Errorf("%w: format %d and rating formula %d, this one knows %d and %d",
			ErrNewerData, m.Format, m.RatingFormula, dataFormat, rating.Formula)
	case m.Format == dataFormat && m.RatingFormula == rating.Formula:
		return nil
	case m.UpgradedBy != "" && m.UpgradedBy != a.config.Node && time.Now().UnixMilli() < m.UntilUnixMs:
		return ErrUpgrading
	}
	u := &upgrade{
		archive: a, ctx: ctx, version: version, players: map[string]*versioned{}, pages: map[string]*historyPage{},
	}
	begun := time.Now()
	if err := u.run(); err != nil {
		return fmt.Errorf("upgrade of the stored data: %w", err)
	}
	if len(u.players) > 0 {
		a.config.Logger.Info("upgraded the stored data to format %d: %d players from %d results, in %v",
			dataFormat, len(u.players), u.results, time.Since(begun).Round(time.Millisecond))
	}
	return nil
}

// FinishUpgrade sets the leaderboards anew if an upgrade has changed what they should show. It may take long, and can
// be repeated.
func (a *Archive) FinishUpgrade() error {
	m, version, err := a.readMeta()
	if err != nil || m.Boards || m.Format != dataFormat {
		return err
	}
	if _, _, err := a.repairLeaderboards(); err != nil {
		return err
	}
	m.Boards = true
	_, err = a.writeMeta(m, version)
	return err
}

func (a *Archive) readMeta() (m meta, version string, err error) {
	o, err := a.readOne(metaCollection, metaKey)
	if err != nil || o == nil {
		return m, absent, err
	}
	if err := decode(o.value, &m); err != nil {
		return m, "", fmt.Errorf("%s/%s: %w", metaCollection, metaKey, err)
	}
	return m, o.version, nil
}

// writeMeta writes the mark, if it still has that version, and with it in one transaction what depends on that.
func (a *Archive) writeMeta(m meta, version string, with ...*runtime.StorageWrite) (string, error) {
	ctx, cancel := callContext()
	defer cancel()
	mark := &runtime.StorageWrite{Collection: metaCollection, Key: metaKey, Value: encode(m), Version: version}
	acks, err := a.nk().StorageWrite(ctx, append(with, mark))
	if isConflict(err) {
		return "", ErrUpgrading
	}
	if err != nil {
		return "", err
	}
	return acks[len(acks)-1].Version, nil
}

// upgrade is one run of Upgrade.
type upgrade struct {
	archive *Archive
	ctx     context.Context
	version string // of the meta object
	renewed time.Time
	marks   int64 // written
	results int
	players map[string]*versioned   // by user id
	pages   map[string]*historyPage // full ones, by key
}

func (u *upgrade) run() error {
	if err := u.renew(); err != nil {
		return err
	}
	refs, err := u.listResults()
	if err != nil {
		return err
	}
	for some := range slices.Chunk(refs, pageSize) {
		if err := u.replay(some); err != nil {
			return err
		}
	}
	if err := u.findSeats(); err != nil {
		return err
	}
	if err := u.write(); err != nil {
		return err
	}
	if err := u.dropParts(); err != nil {
		return err
	}
	done := meta{Format: dataFormat, RatingFormula: rating.Formula, Boards: len(u.players) == 0}
	_, err = u.archive.writeMeta(done, u.version)
	return err
}

// renew says that this process is still at it. It fails if another one is, or the time is over.
func (u *upgrade) renew() error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	if time.Since(u.renewed) < upgradeLease/4 {
		return nil
	}
	return u.store()
}

// store writes something together with the mark that this process is still at it, so that nothing is written once
// another one has begun.
func (u *upgrade) store(writes ...*runtime.StorageWrite) error {
	now := time.Now()
	u.marks++
	until := now.Add(upgradeLease).UnixMilli() + u.marks // each mark has another version
	mark := meta{UpgradedBy: u.archive.config.Node, UntilUnixMs: until}
	version, err := u.archive.writeMeta(mark, u.version, writes...)
	if err == nil {
		u.version, u.renewed = version, now
	}
	return err
}

// listResults are all results that can be read, in the order in which their matches ended.
func (u *upgrade) listResults() ([]resultRef, error) {
	var refs []resultRef
	err := u.archive.pages(resultsCollection, func(page []object) error {
		for _, o := range page {
			r, err := o.result()
			if err != nil {
				u.archive.complain(o.key, err)
				continue
			}
			refs = append(refs, resultRef{o.key, r.EndedUnixMs})
		}
		return u.renew()
	})
	slices.SortFunc(refs, func(x, y resultRef) int {
		return cmp.Or(cmp.Compare(x.EndedUnixMs, y.EndedUnixMs), cmp.Compare(x.ResultID, y.ResultID))
	})
	return refs, err
}

// replay counts some results for their players.
func (u *upgrade) replay(refs []resultRef) error {
	ids := make([]string, len(refs))
	for i := range refs {
		ids[i] = refs[i].ResultID
	}
	results, err := u.archive.readResults(ids)
	if err != nil {
		return err
	}
	for _, r := range results {
		if r.RatingFormula > rating.Formula {
			return fmt.Errorf("%w: result %s has rating formula %d", ErrNewerData, r.ResultID, r.RatingFormula)
		}
		if u.rate(r) {
			if err := u.store(resultWrite(r, "")); err != nil {
				return err
			}
		}
		for i := range r.Players {
			u.count(r, &r.Players[i])
		}
		u.results++
	}
	return u.renew()
}

// rate computes the ratings by a result anew, and reports whether the result shows others.
func (u *upgrade) rate(r *Result) (changed bool) {
	shown := make([]RatingChange, len(r.Players))
	for i := range r.Players {
		p := &r.Players[i]
		if p.UserID == "" {
			continue
		}
		u.player(p.UserID)
		if p.Rating != nil {
			shown[i], p.Rating = *p.Rating, nil
		}
	}
	r.RatingFormula = 0
	r.rate(u.players)
	for i := range r.Players {
		p := &r.Players[i]
		if p.UserID != "" && *cmp.Or(p.Rating, &RatingChange{}) != shown[i] {
			changed = true
		}
	}
	return changed
}

func (u *upgrade) player(userID string) *versioned {
	p := u.players[userID]
	if p == nil {
		p = &versioned{player: player{Stats: newStats()}} // whatever is there is replaced
		u.players[userID] = p
	}
	return p
}

func (u *upgrade) count(r *Result, played *PlayerResult) {
	if played.UserID == "" {
		return
	}
	p := u.player(played.UserID)
	if r.Counted {
		p.Stats.add(r, played)
	}
	if full, number := p.remember(resultRef{r.ResultID, r.EndedUnixMs}); full != nil {
		u.pages[pageKey(played.UserID, number)] = full
	}
}

// findSeats finds who has a seat at a table whose match is not settled.
func (u *upgrade) findSeats() error {
	return u.archive.pages(tablesCollection, func(page []object) error {
		var ids []string
		for _, o := range page {
			ids = append(ids, o.key)
		}
		for some := range slices.Chunk(ids, pageSize/2) {
			found, err := u.archive.readCheckpoints(some)
			if err != nil {
				return err
			}
			for _, id := range some {
				if f := found[id]; f != nil && f.err == nil && f.Table.State != settled {
					for _, userID := range f.Table.humans() {
						u.player(userID).sit(id)
					}
				}
			}
		}
		return u.renew()
	})
}

// write stores all players. Those of a user's pages that are there already are the same.
func (u *upgrade) write() error {
	var writes []*runtime.StorageWrite
	for _, key := range slices.Sorted(maps.Keys(u.pages)) {
		writes = append(writes, &runtime.StorageWrite{Collection: pagesCollection, Key: key, Value: encode(u.pages[key])})
	}
	for _, userID := range slices.Sorted(maps.Keys(u.players)) {
		writes = append(writes, playerWrite(userID, u.players[userID]))
	}
	for some := range slices.Chunk(writes, batchMax) {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		if err := u.store(some...); err != nil {
			return err
		}
	}
	return nil
}

// dropParts removes the players' parts that were set aside: they are counted now.
func (u *upgrade) dropParts() error {
	return u.archive.eachAside(func(s *SetAside) error {
		if s.UserID == "" {
			return nil
		}
		return u.archive.remove(asideCollection, s.ID)
	})
}

// legacyCollections held objects that the users owned, up to data format 1. Nothing reads them.
func legacyCollections() []string { return []string{"set3d_stats", "set3d_history", "set3d_seats"} }

// legacyPerSweep is how many pages of these objects one sweep removes, of each collection.
const legacyPerSweep = 20

// sweepLegacy removes what earlier versions have stored with the users as owners.
func (a *Archive) sweepLegacy() error {
	for _, collection := range legacyCollections() {
		for range legacyPerSweep {
			page, _, err := a.pageOf("", collection, "")
			if err != nil || len(page) == 0 {
				if err != nil {
					return err
				}
				break
			}
			deletes := make([]*runtime.StorageDelete, len(page))
			for i, o := range page {
				deletes[i] = &runtime.StorageDelete{Collection: collection, Key: o.key, UserID: o.userID}
			}
			ctx, cancel := callContext()
			err = a.nk().StorageDelete(ctx, deletes)
			cancel()
			if err != nil {
				return err
			}
		}
	}
	return nil
}
