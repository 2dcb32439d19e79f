package local

import (
	"context"
	"errors"
	"time"
)

var errAccountNotFound = errors.New("account not found")

// accountChange holds what is to be changed of a user; nil stays as it is.
type accountChange struct {
	user                                  string
	username                              string
	display, zone, location, lang, avatar *string
	metadata                              *string
}

func (s *store) updateAccount(ctx context.Context, c accountChange) error {
	return s.update(ctx, opAccount, func(t *tx) error { return t.updateAccount(c) })
}

func (t *tx) updateAccount(c accountChange) error {
	if badUsername.MatchString(c.username) {
		return errors.New("Username invalid, no spaces or control characters allowed.")
	}
	if c.username == "" && c.display == nil && c.zone == nil && c.location == nil && c.lang == nil && c.avatar == nil && c.metadata == nil {
		return errors.New("No fields to update.")
	}
	old := t.user(c.user)
	if old == nil {
		return nil // an UPDATE of no row
	}
	u := *old
	if c.username != "" {
		if other := t.userNamed(c.username); other != nil && other != old {
			return asGRPC(fail(codeAlreadyExists, "Username is already in use."))
		}
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
	t.putUser(&u)
	return nil
}

// deleteAccount removes a user and all that is theirs; found is false if there was no such user.
func (s *store) deleteAccount(ctx context.Context, id string) (found bool, err error) {
	if id == systemUser {
		return false, errors.New("cannot delete the system user")
	}
	err = s.update(ctx, opAccount, func(t *tx) error {
		if found = t.user(id) != nil; found {
			t.Users = append(t.Users, entry[string, user]{Key: id})
		}
		return nil
	})
	return found, err
}

func (s *store) setBanned(ctx context.Context, ids []string, banned bool) error {
	return s.update(ctx, opAccount, func(t *tx) error {
		for _, id := range ids {
			if old := t.user(id); old != nil {
				u := *old
				u.Banned, u.Updated = banned, time.Now().Unix()
				t.putUser(&u)
			}
		}
		return nil
	})
}
