package local

import (
	"errors"
	"time"
)

var errAccountNotFound = errors.New("account not found")

// accountChange holds what is to be changed; nil stays as it is.
type accountChange struct {
	username                              string
	display, zone, location, lang, avatar *string
	metadata                              *string
}

func (s *store) updateAccount(id string, c accountChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.updateAccountLocked(id, c)
}

func (s *store) updateAccountLocked(id string, c accountChange) error {
	if badUsername.MatchString(c.username) {
		return errors.New("Username invalid, no spaces or control characters allowed.")
	}
	if c.username == "" && c.display == nil && c.zone == nil && c.location == nil && c.lang == nil && c.avatar == nil && c.metadata == nil {
		return errors.New("No fields to update.")
	}
	u := s.users[id]
	if u == nil {
		return nil // an UPDATE of no row
	}
	if other := s.byNameLocked(c.username); c.username != "" && other != nil && other != u {
		return asGRPC(fail(codeAlreadyExists, "Username is already in use."))
	}
	if c.username != "" {
		u.Username = c.username
	}
	for _, f := range []struct {
		to   *string
		from *string
	}{{&u.DisplayName, c.display}, {&u.Zone, c.zone}, {&u.Location, c.location}, {&u.Lang, c.lang}, {&u.AvatarURL, c.avatar}, {&u.Metadata, c.metadata}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	u.Updated = time.Now().Unix()
	s.changed()
	return nil
}

// deleteAccount removes a user and all that is theirs; found is false if there was no such user.
func (s *store) deleteAccount(id string) (found bool, err error) {
	if id == systemUser {
		return false, errors.New("cannot delete the system user")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[id] == nil {
		return false, nil
	}
	delete(s.users, id)
	for k := range s.objects {
		if k.User == id {
			delete(s.objects, k)
		}
	}
	for _, b := range s.boards {
		delete(b.Records, id)
	}
	delete(s.friends, id)
	for _, edges := range s.friends {
		delete(edges, id)
	}
	s.changed()
	return true, nil
}

func (s *store) setBanned(ids []string, banned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if u := s.users[id]; u != nil {
			u.Banned, u.Updated = banned, time.Now().Unix()
		}
	}
	s.changed()
}
