package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/heroiclabs/nakama-common/runtime"
)

const (
	// recentMax is how many results a player's object lists; then they become a page of their own.
	recentMax = 25
	// seatsMax bounds the tables at which a player has a seat at once. Beyond it the oldest is dropped: its match can
	// still be resumed by the table's id.
	seatsMax = 256
	// pagesMax bounds the pages of a history: a million results.
	pagesMax = 40_000
)

// player is everything that the server keeps about a user, in one object of its own that is keyed by the user's id. The
// system owns it: what users own they can write and delete themselves.
type player struct {
	Stats Stats `json:"stats"`
	// Seats are the tables at which the user has a seat and whose match is not settled, the newest last.
	Seats []string `json:"seats,omitempty"`
	// Recent are the user's newest results, the newest last, at most recentMax.
	Recent []resultRef `json:"recent,omitempty"`
	// Pages is how many full pages of older results there are, numbered from 0, the oldest.
	Pages int `json:"pages,omitempty"`
}

// resultRef leads to a result.
type resultRef struct {
	ResultID    string `json:"result_id"`
	EndedUnixMs int64  `json:"ended_unix_ms"`
}

// historyPage is recentMax results of a user, the newest last.
type historyPage struct {
	Results []resultRef `json:"results"`
}

// version is what Nakama calls the version of an object: a hash of its content. absent is the version of an object that
// is not there.
const absent = "*"

// versioned is a player as it was read.
type versioned struct {
	player
	version string // absent: there is no object yet
}

func newPlayer() versioned { return versioned{player{Stats: newStats()}, absent} }

// sit notes a seat.
func (p *player) sit(tableID string) {
	if slices.Contains(p.Seats, tableID) {
		return
	}
	if p.Seats = append(p.Seats, tableID); len(p.Seats) > seatsMax {
		p.Seats = p.Seats[1:]
	}
}

// rise forgets a seat.
func (p *player) rise(tableID string) {
	p.Seats = slices.DeleteFunc(p.Seats, func(id string) bool { return id == tableID })
}

// remember adds a result to the history. It returns the page that has become full, or nil, and that page's number.
func (p *player) remember(ref resultRef) (full *historyPage, number int) {
	if len(p.Recent) >= recentMax {
		full, number = &historyPage{Results: p.Recent}, p.Pages
		p.Recent = nil
		p.Pages++
	}
	at := len(p.Recent) // results of matches that ended together may be stored in any order
	for at > 0 && p.Recent[at-1].EndedUnixMs > ref.EndedUnixMs {
		at--
	}
	p.Recent = slices.Insert(p.Recent, at, ref)
	return full, number
}

// results counts the results in the history.
func (p *player) results() int { return p.Pages*recentMax + len(p.Recent) }

// isEmpty reports whether nothing is known about the user.
func (p *player) isEmpty() bool {
	return p.results() == 0 && len(p.Seats) == 0 && p.Stats == newStats()
}

func (p *player) check() error {
	switch {
	case len(p.Seats) > seatsMax:
		return fmt.Errorf("%d seats", len(p.Seats))
	case len(p.Recent) > recentMax:
		return fmt.Errorf("%d recent results", len(p.Recent))
	case p.Pages < 0 || p.Pages > pagesMax:
		return fmt.Errorf("%d pages", p.Pages)
	}
	for _, id := range p.Seats {
		if err := checkID(id); err != nil {
			return err
		}
	}
	return errors.Join(checkRefs(p.Recent), p.Stats.check())
}

func (h *historyPage) check() error {
	if len(h.Results) != recentMax {
		return fmt.Errorf("a page of %d results", len(h.Results))
	}
	return checkRefs(h.Results)
}

func checkRefs(refs []resultRef) error {
	for _, ref := range refs {
		if err := checkID(ref.ResultID); err != nil {
			return err
		}
	}
	return nil
}

func playerRead(userID string) *runtime.StorageRead {
	return &runtime.StorageRead{Collection: playersCollection, Key: userID}
}

func playerWrite(userID string, p *versioned) *runtime.StorageWrite {
	return &runtime.StorageWrite{Collection: playersCollection, Key: userID, Value: encode(p.player), Version: p.version}
}

func pageKey(userID string, number int) string { return fmt.Sprintf("%s.%06d", userID, number) }

func pageWrite(userID string, number int, page *historyPage) *runtime.StorageWrite {
	return &runtime.StorageWrite{Collection: pagesCollection, Key: pageKey(userID, number), Value: encode(page)}
}

// player reads a stored player. The error is permanent.
func (o object) player() (versioned, error) {
	p := versioned{version: o.version}
	err := decode(o.value, &p.player)
	if err != nil {
		err = permanent(fmt.Errorf("player %s: %w", o.key, err))
	}
	return p, err
}

// readPlayers reads what is kept about users. Of a user about whom nothing is kept it returns a newcomer. The objects
// that cannot be used are in bad.
func (a *Archive) readPlayers(users []string) (players map[string]*versioned, bad map[string]error, err error) {
	players, bad = make(map[string]*versioned, len(users)), map[string]error{}
	if len(users) == 0 {
		return players, bad, nil
	}
	reads := make([]*runtime.StorageRead, len(users))
	for i, userID := range users {
		reads[i] = playerRead(userID)
		fresh := newPlayer()
		players[userID] = &fresh
	}
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, reads)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range objects {
		p, err := newObject(o).player()
		if err != nil {
			bad[o.Key] = err
			delete(players, o.Key)
			continue
		}
		players[o.Key] = &p
	}
	return players, bad, nil
}

// readPlayer reads what is kept about one user.
func (a *Archive) readPlayer(userID string) (*versioned, error) {
	players, bad, err := a.readPlayers([]string{userID})
	if err == nil {
		err = bad[userID]
	}
	return players[userID], err
}

// changePlayer changes what is kept about a user, if change says that it has. What is empty then is deleted.
func (a *Archive) changePlayer(userID string, change func(*player) bool) error {
	for range settleTries {
		p, err := a.readPlayer(userID)
		if err != nil || !change(&p.player) {
			return err
		}
		ctx, cancel := callContext()
		switch {
		case !p.isEmpty():
			_, err = a.nk().StorageWrite(ctx, []*runtime.StorageWrite{playerWrite(userID, p)})
		case p.version != absent:
			err = a.nk().StorageDelete(ctx, []*runtime.StorageDelete{{Collection: playersCollection, Key: userID, Version: p.version}})
		}
		cancel()
		if !isConflict(err) {
			return err
		}
	}
	return fmt.Errorf("player %s: %w", userID, errUnsteady)
}

// Stats returns a user's statistics; those of a newcomer if there are none.
func (a *Archive) Stats(userID string) (Stats, error) {
	p, err := a.readPlayer(userID)
	if err != nil {
		return newStats(), err
	}
	return p.Stats, nil
}

// decode reads a stored value, and checks what was read.
func decode[T any, P interface {
	*T
	check() error
}](value string, into P) error {
	if len(value) > valueMax {
		return fmt.Errorf("%d bytes", len(value))
	}
	if err := json.Unmarshal([]byte(value), into); err != nil {
		return fmt.Errorf("unreadable: %w", err)
	}
	if err := into.check(); err != nil {
		return fmt.Errorf("impossible: %w", err)
	}
	return nil
}
