package match

import (
	"cmp"
	"context"
	"crypto/md5"
	"database/sql"
	"encoding/hex"
	"errors"
	"maps"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// fakeStorage is Nakama's storage and leaderboards, as far as the archive uses them: versions are hashes of the content, and a write is
// all or nothing. That the real ones behave so is what the archive's own tests, which run on the local host, and the integration tests are for.
type fakeStorage struct {
	t         testing.TB
	callbacks sync.Map // goroutines that run a callback

	mu       sync.Mutex
	objects  map[fakeKey]*api.StorageObject
	scores   map[string]map[string]int64 // by leaderboard and user
	fault    func(op string) error       // what an operation meets; may block
	shutdown func(context.Context)
	deletes  []func(userID string) error // hooks before and after an account is deleted

	beforeWrite  func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.WriteStorageObjectsRequest) (*api.WriteStorageObjectsRequest, error)
	beforeDelete func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.DeleteStorageObjectsRequest) (*api.DeleteStorageObjectsRequest, error)
}

type fakeKey struct{ collection, key, user string }

const fakeSystemUser = "00000000-0000-0000-0000-000000000000"

func newFakeStorage(t testing.TB) *fakeStorage {
	return &fakeStorage{t: t, objects: map[fakeKey]*api.StorageObject{}, scores: map[string]map[string]int64{}}
}

// inCallback notes that this goroutine runs a callback of a match, until the returned function is called. No callback may wait for the database.
func (s *fakeStorage) inCallback() func() {
	me := goroutine()
	s.callbacks.Store(me, true)
	return func() { s.callbacks.Delete(me) }
}

// goroutine is the number of the running goroutine.
func goroutine() string {
	var stack [64]byte
	number, _, _ := strings.Cut(strings.TrimPrefix(string(stack[:goruntime.Stack(stack[:], false)]), "goroutine "), " ")
	return number
}

func (s *fakeStorage) meet(op string) error {
	if _, inside := s.callbacks.Load(goroutine()); inside {
		s.t.Errorf("a callback of a match calls the database: %s", op)
	}
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(op)
}

func (s *fakeStorage) setFault(fault func(op string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func keyOf(collection, key, user string) fakeKey {
	return fakeKey{collection, key, cmp.Or(user, fakeSystemUser)}
}

func (n *fakeNakama) StorageRead(_ context.Context, reads []*runtime.StorageRead) ([]*api.StorageObject, error) {
	s := n.storage
	if err := s.meet("read"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*api.StorageObject
	for _, r := range reads {
		if o := s.objects[keyOf(r.Collection, r.Key, r.UserID)]; o != nil {
			found = append(found, o)
		}
	}
	return found, nil
}

func (n *fakeNakama) StorageWrite(_ context.Context, writes []*runtime.StorageWrite) ([]*api.StorageObjectAck, error) {
	if err := n.storage.meet("write"); err != nil {
		return nil, err
	}
	return n.storage.write(writes)
}

func (n *fakeNakama) MultiUpdate(_ context.Context, _ []*runtime.AccountUpdate, writes []*runtime.StorageWrite, deletes []*runtime.StorageDelete, _ []*runtime.WalletUpdate, _ bool) ([]*api.StorageObjectAck, []*runtime.WalletUpdateResult, error) {
	if err := n.storage.meet("multi"); err != nil {
		return nil, nil, err
	}
	acks, err := n.storage.write(writes)
	if err == nil {
		n.storage.remove(deletes)
	}
	return acks, nil, err
}

func (s *fakeStorage) write(writes []*runtime.StorageWrite) ([]*api.StorageObjectAck, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(s.objects)
	var acks []*api.StorageObjectAck
	for _, w := range writes {
		key := keyOf(w.Collection, w.Key, w.UserID)
		old := next[key]
		if w.Version == "*" && old != nil || w.Version != "" && w.Version != "*" && (old == nil || old.Version != w.Version) {
			return nil, runtime.ErrStorageRejectedVersion
		}
		sum := md5.Sum([]byte(w.Value))
		next[key] = &api.StorageObject{
			Collection: w.Collection, Key: w.Key, UserId: key.user, Value: w.Value, Version: hex.EncodeToString(sum[:]),
		}
		acks = append(acks, &api.StorageObjectAck{Version: next[key].Version})
	}
	s.objects = next
	return acks, nil
}

func (n *fakeNakama) StorageDelete(_ context.Context, deletes []*runtime.StorageDelete) error {
	if err := n.storage.meet("delete"); err != nil {
		return err
	}
	n.storage.remove(deletes)
	return nil
}

func (s *fakeStorage) remove(deletes []*runtime.StorageDelete) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deletes {
		delete(s.objects, keyOf(d.Collection, d.Key, d.UserID))
	}
}

func (n *fakeNakama) StorageList(_ context.Context, _, userID, collection string, limit int, cursor string) ([]*api.StorageObject, string, error) {
	s := n.storage
	if err := s.meet("list"); err != nil {
		return nil, "", err
	}
	from, err := strconv.Atoi(cmp.Or(cursor, "0"))
	if err != nil {
		return nil, "", errors.New("malformed cursor")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*api.StorageObject
	for key, o := range s.objects {
		if key.collection == collection && (userID == "" || key.user == userID) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *api.StorageObject) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.UserId, b.UserId))
	})
	all = all[min(from, len(all)):]
	if len(all) > limit {
		return all[:limit], strconv.Itoa(from + limit), nil
	}
	return all, "", nil
}

func (n *fakeNakama) LeaderboardCreate(_ context.Context, id string, _ bool, _, _, _ string, _ map[string]any, _ bool) error {
	n.storage.mu.Lock()
	defer n.storage.mu.Unlock()
	n.storage.scores[id] = map[string]int64{}
	return nil
}

func (n *fakeNakama) LeaderboardRecordWrite(_ context.Context, id, ownerID, _ string, score, _ int64, _ map[string]any, _ *int) (*api.LeaderboardRecord, error) {
	if err := n.storage.meet("leaderboard"); err != nil {
		return nil, err
	}
	n.storage.mu.Lock()
	defer n.storage.mu.Unlock()
	n.storage.scores[id][ownerID] = score
	return &api.LeaderboardRecord{}, nil
}

func (n *fakeNakama) LeaderboardRecordsList(_ context.Context, id string, _ []string, _ int, _ string, _ int64) (records, owned []*api.LeaderboardRecord, next, before string, err error) {
	n.storage.mu.Lock()
	defer n.storage.mu.Unlock()
	for _, owner := range sortedKeys(n.storage.scores[id]) {
		records = append(records, &api.LeaderboardRecord{OwnerId: owner})
	}
	return records, nil, "", "", nil
}

func (n *fakeNakama) LeaderboardRecordDelete(_ context.Context, id, ownerID string) error {
	n.storage.mu.Lock()
	defer n.storage.mu.Unlock()
	delete(n.storage.scores[id], ownerID)
	return nil
}

func (i *fakeInitializer) RegisterBeforeWriteStorageObjects(fn func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.WriteStorageObjectsRequest) (*api.WriteStorageObjectsRequest, error)) error {
	i.n.storage.beforeWrite = fn
	return nil
}

func (i *fakeInitializer) RegisterBeforeDeleteStorageObjects(fn func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.DeleteStorageObjectsRequest) (*api.DeleteStorageObjectsRequest, error)) error {
	i.n.storage.beforeDelete = fn
	return nil
}

func (i *fakeInitializer) RegisterShutdown(fn func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule)) error {
	i.n.storage.shutdown = func(ctx context.Context) { fn(ctx, i.n.logger, nil, i.n) }
	return nil
}

func (i *fakeInitializer) RegisterBeforeDeleteAccount(fn deleteAccountHook) error {
	return i.hookDelete(fn)
}

func (i *fakeInitializer) RegisterAfterDeleteAccount(fn deleteAccountHook) error {
	return i.hookDelete(fn)
}

func (i *fakeInitializer) hookDelete(fn deleteAccountHook) error {
	i.n.storage.deletes = append(i.n.storage.deletes, func(userID string) error {
		ctx := context.WithValue(context.Background(), runtime.RUNTIME_CTX_USER_ID, userID) //nolint:staticcheck // Nakama's keys are strings
		return fn(ctx, i.n.logger, nil, i.n)
	})
	return nil
}
