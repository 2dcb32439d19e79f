package archive_test

import (
	"context"
	"errors"
	"sync"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// link is a process's connection to the database.
type link struct {
	runtime.NakamaModule

	mu     sync.Mutex
	calls  int
	before func(call) error // may block; what it returns is the call's error, and the call is not made
	after  func(call) error // the call is made, and fails all the same
}

type call struct {
	n    int    // from 1
	op   string // "read", "write", "multi", "delete", "list", "users", "board"
	keys string // collection/key of all of them
}

func (l *link) set(before, after func(call) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls, l.before, l.after = 0, before, after
}

func (l *link) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

var errDead = errors.New("the database is gone")

// dieAt lets the n-th call from now and all that follow fail. taken says that the n-th takes effect, only its answer is
// lost.
func (l *link) dieAt(n int, taken bool) {
	if !taken {
		l.set(func(c call) error { return unless(c.n < n) }, nil)
		return
	}
	l.set(func(c call) error { return unless(c.n <= n) }, func(c call) error { return unless(c.n < n) })
}

func unless(ok bool) error {
	if ok {
		return nil
	}
	return errDead
}

func do[T any](l *link, op, keys string, f func() (T, error)) (T, error) {
	l.mu.Lock()
	l.calls++
	c, before, after := call{l.calls, op, keys}, l.before, l.after
	l.mu.Unlock()
	var none T
	if before != nil {
		if err := before(c); err != nil {
			return none, err
		}
	}
	v, err := f()
	if err == nil && after != nil {
		err = after(c)
	}
	if err != nil {
		return none, err
	}
	return v, nil
}

func (l *link) StorageRead(ctx context.Context, reads []*runtime.StorageRead) ([]*api.StorageObject, error) {
	keys := ""
	for _, r := range reads {
		keys += r.Collection + "/" + r.Key + " "
	}
	return do(l, "read", keys, func() ([]*api.StorageObject, error) { return l.NakamaModule.StorageRead(ctx, reads) })
}

func keysOf(writes []*runtime.StorageWrite) string {
	keys := ""
	for _, w := range writes {
		keys += w.Collection + "/" + w.Key + " "
	}
	return keys
}

func (l *link) StorageWrite(ctx context.Context, writes []*runtime.StorageWrite) ([]*api.StorageObjectAck, error) {
	return do(l, "write", keysOf(writes), func() ([]*api.StorageObjectAck, error) { return l.NakamaModule.StorageWrite(ctx, writes) })
}

func (l *link) MultiUpdate(ctx context.Context, accounts []*runtime.AccountUpdate, writes []*runtime.StorageWrite, deletes []*runtime.StorageDelete, wallets []*runtime.WalletUpdate, ledger bool) ([]*api.StorageObjectAck, []*runtime.WalletUpdateResult, error) {
	acks, err := do(l, "multi", keysOf(writes), func() ([]*api.StorageObjectAck, error) {
		acks, _, err := l.NakamaModule.MultiUpdate(ctx, accounts, writes, deletes, wallets, ledger)
		return acks, err
	})
	return acks, nil, err
}

func (l *link) StorageDelete(ctx context.Context, deletes []*runtime.StorageDelete) error {
	keys := ""
	for _, d := range deletes {
		keys += d.Collection + "/" + d.Key + " "
	}
	_, err := do(l, "delete", keys, func() (any, error) { return nil, l.NakamaModule.StorageDelete(ctx, deletes) })
	return err
}

func (l *link) StorageList(ctx context.Context, caller, user, collection string, limit int, cursor string) ([]*api.StorageObject, string, error) {
	next := ""
	found, err := do(l, "list", collection, func() (found []*api.StorageObject, err error) {
		found, next, err = l.NakamaModule.StorageList(ctx, caller, user, collection, limit, cursor)
		return found, err
	})
	return found, next, err
}

func (l *link) UsersGetId(ctx context.Context, ids, facebook []string) ([]*api.User, error) {
	return do(l, "users", "", func() ([]*api.User, error) { return l.NakamaModule.UsersGetId(ctx, ids, facebook) })
}

func (l *link) LeaderboardRecordWrite(ctx context.Context, id, owner, name string, score, subscore int64, metadata map[string]any, override *int) (*api.LeaderboardRecord, error) {
	return do(l, "board", id, func() (*api.LeaderboardRecord, error) {
		return l.NakamaModule.LeaderboardRecordWrite(ctx, id, owner, name, score, subscore, metadata, override)
	})
}

func (l *link) LeaderboardRecordDelete(ctx context.Context, id, owner string) error {
	_, err := do(l, "board", id, func() (any, error) { return nil, l.NakamaModule.LeaderboardRecordDelete(ctx, id, owner) })
	return err
}
