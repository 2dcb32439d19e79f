package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
)

// systemUser owns storage that no player owns.
var systemUser = uuid.Nil.String()

// store is what a database would keep: users, storage objects, leaderboards and friends. One lock guards it all, so
// every operation is a transaction.
type store struct {
	faults *Faults
	file   string // "" keeps nothing

	mu      sync.Mutex
	users   map[string]*user
	objects map[objectKey]*object
	boards  map[string]*board
	friends map[string]map[string]*edge // user → other user
	dirty   bool
}

func newStore(cfg Config) (*store, error) {
	s := &store{
		faults: cfg.Faults, file: cfg.StateFile, users: map[string]*user{}, objects: map[objectKey]*object{},
		boards: map[string]*board{}, friends: map[string]map[string]*edge{},
	}
	s.users[systemUser] = &user{ID: systemUser, Username: "", Metadata: "{}", Lang: "en", Created: time.Now().Unix()}
	if s.file == "" {
		return s, nil
	}
	if err := s.load(); err != nil {
		return s, err
	}
	return s, s.tryToWrite()
}

// tryToWrite finds out at the start whether the state can be saved, not at the end, when it would be lost.
func (s *store) tryToWrite() error {
	tmp, err := s.temporary()
	if err != nil {
		return err
	}
	_ = tmp.Close() // nothing was written
	if err := os.Remove(tmp.Name()); err != nil {
		return fmt.Errorf("saving the state file: %w", err)
	}
	return nil
}

// temporary is a new file beside the state file, which is to take its place.
func (s *store) temporary() (*os.File, error) {
	tmp, err := os.CreateTemp(filepath.Dir(s.file), filepath.Base(s.file)+".*")
	if err != nil {
		var at *os.PathError
		if errors.As(err, &at) {
			err = at.Err // its path is that of the temporary file
		}
		return nil, fmt.Errorf("the state file %s cannot be written: %w", s.file, err)
	}
	return tmp, nil
}

// saved is the state file's content.
type saved struct {
	Users   []*user
	Objects []*object
	Boards  []*board
	Friends map[string]map[string]*edge
}

func (s *store) load() error {
	raw, err := os.ReadFile(s.file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the state file: %w", err)
	}
	var in saved
	if err := json.Unmarshal(raw, &in); err != nil {
		return fmt.Errorf("the state file %s is damaged: %w", s.file, err)
	}
	for _, u := range in.Users {
		s.users[u.ID] = u
	}
	for _, o := range in.Objects {
		s.objects[o.key()] = o
	}
	for _, b := range in.Boards {
		s.boards[b.ID] = b
	}
	if in.Friends != nil {
		s.friends = in.Friends
	}
	return nil
}

// changed notes that there is something to save. The caller holds the lock.
func (s *store) changed() { s.dirty = true }

// saveInterval is how much a crash may lose.
const saveInterval = time.Second

// run saves changes until stop is closed.
func (s *store) run(stop <-chan struct{}, failed func(error)) {
	if s.file == "" {
		return
	}
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			if err := s.save(); err != nil {
				failed(err)
			}
		}
	}
}

// save writes the state file if anything has changed, all of it or nothing.
func (s *store) save() error {
	if s.file == "" {
		return nil
	}
	raw, err := s.encode()
	if raw == nil || err != nil {
		return err
	}
	if err := s.replace(raw); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed() // for the next save
		return err
	}
	return nil
}

// replace puts a new state file in the place of the old one.
func (s *store) replace(raw []byte) error {
	tmp, err := s.temporary()
	if err != nil {
		return err
	}
	_, err = tmp.Write(raw)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), s.file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // best effort: the error is already reported
		return fmt.Errorf("saving the state file: %w", err)
	}
	return nil
}

func (s *store) encode() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dirty {
		return nil, nil
	}
	out := saved{Friends: s.friends}
	for _, u := range s.users {
		out.Users = append(out.Users, u)
	}
	for _, o := range s.objects {
		out.Objects = append(out.Objects, o)
	}
	for _, b := range s.boards {
		out.Boards = append(out.Boards, b)
	}
	raw, err := json.MarshalIndent(out, "", " ")
	s.dirty = err != nil
	return raw, err
}

func (s *store) byNameLocked(name string) *user {
	for _, u := range s.users {
		if u.Username == name && u.ID != systemUser {
			return u
		}
	}
	return nil
}

// user returns a copy of a user; ok is false if there is none.
func (s *store) user(id string) (u user, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.users[id]; found != nil {
		return *found, true
	}
	return user{}, false
}

// usersByIDOrName returns the users that exist, each once, without the system's.
func (s *store) usersByIDOrName(ids, names []string) []user {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []user
	for _, u := range s.users {
		if u.ID != systemUser && (slices.Contains(ids, u.ID) || slices.Contains(names, u.Username)) {
			out = append(out, *u)
		}
	}
	slices.SortFunc(out, func(a, b user) int { return strings.Compare(a.ID, b.ID) })
	return out
}
