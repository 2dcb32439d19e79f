package local

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
)

// systemUser owns storage that no player owns.
var systemUser = uuid.Nil.String()

// Database is what a database server would keep: users, storage objects, leaderboards and friends. Servers of one
// process may share one, as the nodes of a cluster do. One lock guards it all, so every operation is a transaction.
type Database struct {
	mu      sync.Mutex
	users   map[string]*user
	objects map[objectKey]*object
	boards  map[string]*board
	friends map[string]map[string]*edge // user → other user
	journal *journal                    // nil keeps nothing
}

// OpenDatabase makes a database that is kept in a file, or in memory alone if file is "". In a file, whatever an
// operation has answered survives the death of the process, not that of the machine. A file may be open only once.
func OpenDatabase(file string) (*Database, error) {
	d := &Database{
		users: map[string]*user{}, objects: map[objectKey]*object{}, boards: map[string]*board{}, friends: map[string]map[string]*edge{},
	}
	d.users[systemUser] = &user{ID: systemUser, Metadata: "{}", Lang: "en", Created: time.Now().Unix()}
	if file == "" {
		return d, nil
	}
	lock, err := lockFile(file)
	if err != nil {
		return nil, err
	}
	d.journal = &journal{path: file, lock: lock}
	if err = d.load(file); err == nil {
		err = d.journal.compact(d.snapshotLocked)
	}
	if err != nil {
		d.journal.release()
		return nil, err
	}
	return d, nil
}

// Close writes the file anew, as a snapshot alone, and refuses all later changes. In memory it does nothing.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.journal == nil {
		return nil
	}
	return d.journal.close(d.snapshotLocked)
}

// snapshot is all of a database.
type snapshot struct {
	Users   []*user
	Objects []*object
	Boards  []*board
	Friends map[string]map[string]*edge
}

func (d *Database) snapshotLocked() ([]byte, error) {
	out := snapshot{Friends: d.friends}
	for _, u := range d.users {
		out.Users = append(out.Users, u)
	}
	for _, o := range d.objects {
		out.Objects = append(out.Objects, o)
	}
	for _, b := range d.boards {
		out.Boards = append(out.Boards, b)
	}
	return json.Marshal(out)
}

func (d *Database) restore(in snapshot) {
	for _, u := range in.Users {
		d.users[u.ID] = u
	}
	for _, o := range in.Objects {
		d.objects[o.key()] = o
	}
	for _, b := range in.Boards {
		if b.Records == nil {
			b.Records = map[string]*record{}
		}
		d.boards[b.ID] = b
	}
	if in.Friends != nil {
		d.friends = in.Friends
	}
}

// recordKey names a leaderboard record.
type recordKey struct{ Board, Owner string }

// edgeKey names one side of a friendship.
type edgeKey struct{ From, To string }

// entry puts a value in the place of what is under a key. No value deletes it.
type entry[K comparable, V any] struct {
	Key   K
	Value *V `json:",omitempty"`
}

// latest returns what entries put under a key last; ok is false if they leave it alone.
func latest[K comparable, V any](entries []entry[K, V], key K) (v *V, ok bool) {
	for _, e := range slices.Backward(entries) {
		if e.Key == key {
			return e.Value, true
		}
	}
	return nil, false
}

// change is what one transaction changes. It holds whole values, which nobody modifies any more.
type change struct {
	Users   []entry[string, user]      `json:",omitempty"` // a deleted one takes all that is theirs along
	Objects []entry[objectKey, object] `json:",omitempty"`
	Boards  []entry[string, board]     `json:",omitempty"` // new ones without records
	Records []entry[recordKey, record] `json:",omitempty"`
	Edges   []entry[edgeKey, edge]     `json:",omitempty"`
}

func (c *change) empty() bool {
	return len(c.Users)+len(c.Objects)+len(c.Boards)+len(c.Records)+len(c.Edges) == 0
}

func put[K comparable, V any](m map[K]*V, key K, v *V) {
	if v == nil {
		delete(m, key)
	} else {
		m[key] = v
	}
}

func (d *Database) applyLocked(c *change) {
	for _, e := range c.Users {
		put(d.users, e.Key, e.Value)
		if e.Value == nil {
			d.forgetLocked(e.Key)
		}
	}
	for _, e := range c.Objects {
		put(d.objects, e.Key, e.Value)
	}
	for _, e := range c.Boards {
		if e.Value != nil {
			e.Value.Records = map[string]*record{}
		}
		put(d.boards, e.Key, e.Value)
	}
	for _, e := range c.Records {
		if b := d.boards[e.Key.Board]; b != nil {
			put(b.Records, e.Key.Owner, e.Value)
		}
	}
	for _, e := range c.Edges {
		if d.friends[e.Key.From] == nil {
			d.friends[e.Key.From] = map[string]*edge{}
		}
		put(d.friends[e.Key.From], e.Key.To, e.Value)
	}
}

// forgetLocked removes all that is a deleted user's.
func (d *Database) forgetLocked(id string) {
	for k := range d.objects {
		if k.User == id {
			delete(d.objects, k)
		}
	}
	for _, b := range d.boards {
		delete(b.Records, id)
	}
	delete(d.friends, id)
	for _, edges := range d.friends {
		delete(edges, id)
	}
}

// tx is a transaction: what it has changed is seen by itself alone until the commit.
type tx struct {
	*Database
	change
}

// transact runs a transaction. What f changes is kept, all of it, before transact returns; if f fails, nothing is.
func (d *Database) transact(f func(*tx) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &tx{Database: d}
	if err := f(t); err != nil || t.empty() {
		return err
	}
	if d.journal != nil {
		if err := d.journal.append(&t.change); err != nil {
			return err
		}
	}
	d.applyLocked(&t.change)
	if d.journal != nil {
		d.journal.compactIfGrown(d.snapshotLocked)
	}
	return nil
}

func (t *tx) user(id string) *user {
	if u, ok := latest(t.Users, id); ok {
		return u
	}
	return t.users[id]
}

func (t *tx) userNamed(name string) *user {
	for _, e := range t.Users {
		if u := t.user(e.Key); u != nil && u.Username == name {
			return u
		}
	}
	for _, u := range t.users {
		if u.Username == name && u.ID != systemUser && t.user(u.ID) == u {
			return u
		}
	}
	return nil
}

func (t *tx) putUser(u *user) { t.Users = append(t.Users, entry[string, user]{u.ID, u}) }

func (t *tx) object(k objectKey) *object {
	if o, ok := latest(t.Objects, k); ok {
		return o
	}
	return t.objects[k]
}

func (t *tx) putObject(k objectKey, o *object) {
	t.Objects = append(t.Objects, entry[objectKey, object]{k, o})
}

func (t *tx) putRecord(board, owner string, r *record) {
	t.Records = append(t.Records, entry[recordKey, record]{recordKey{board, owner}, r})
}

func (t *tx) putEdge(from, to string, e *edge) {
	t.Edges = append(t.Edges, entry[edgeKey, edge]{edgeKey{from, to}, e})
}
