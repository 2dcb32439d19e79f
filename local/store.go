package local

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
)

// store is a server's access to its database. Every operation fails as one of a database server would: when its
// context is done, when a fault says so, and when the server has ended.
type store struct {
	*Database
	faults *Faults
	ended  atomic.Bool // changed under the database's lock
}

// end refuses all later operations. None is under way when it returns.
func (s *store) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended.Store(true)
}

// view reads in one transaction.
func (s *store) view(ctx context.Context, op string, f func() error) error {
	return s.run(ctx, op, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ended.Load() {
			return errClosed
		}
		return f()
	})
}

// update changes in one transaction: all of what f changes, or nothing if there is an error before the answer.
func (s *store) update(ctx context.Context, op string, f func(*tx) error) error {
	return s.run(ctx, op, func() error {
		return s.transact(func(t *tx) error {
			if s.ended.Load() {
				return errClosed
			}
			return f(t)
		})
	})
}

// run surrounds an operation by what may go wrong before and after it, without the lock.
func (s *store) run(ctx context.Context, op string, f func() error) error {
	if err := s.faults.storage(ctx, op); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return s.faults.storageAnswer(ctx, op)
}

// user returns a copy of a user; ok is false if there is none.
func (s *store) user(ctx context.Context, id string) (u user, ok bool, err error) {
	err = s.view(ctx, opUsers, func() error {
		if found := s.users[id]; found != nil {
			u, ok = *found, true
		}
		return nil
	})
	return u, ok, err
}

// usersByIDOrName returns the users that exist, each once.
func (s *store) usersByIDOrName(ctx context.Context, ids, names []string) ([]user, error) {
	return s.usersThat(ctx, func(u *user) bool {
		return slices.Contains(ids, u.ID) || (u.Username != "" && slices.Contains(names, u.Username))
	})
}

func (s *store) usersThat(ctx context.Context, match func(*user) bool) ([]user, error) {
	var out []user
	err := s.view(ctx, opUsers, func() error {
		for _, u := range s.users {
			if match(u) {
				out = append(out, *u)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b user) int { return strings.Compare(a.ID, b.ID) })
	return out, err
}
