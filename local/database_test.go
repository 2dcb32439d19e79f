package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heroiclabs/nakama-common/runtime"
	"github.com/stretchr/testify/require"
)

// open opens a database.
func open(t *testing.T, file string) *store {
	t.Helper()
	d, err := OpenDatabase(file)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return &store{Database: d, faults: &Faults{}}
}

// left opens what a process would leave behind that was killed now: a copy of the file, which is not closed.
func left(t *testing.T, file string) *store {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	return open(t, write(t, raw))
}

// write makes a file of a name that nobody uses.
func write(t *testing.T, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(file, content, 0o600))
	return file
}

func (s *store) write(t *testing.T, key, value string) {
	t.Helper()
	_, err := s.writeObjects(context.Background(), true, []objectWrite{{key: objectKey{"c", key, systemUser}, value: value}})
	require.NoError(t, err)
}

// values are the objects of the system's user in collection c by key, comma separated.
func (s *store) values(t *testing.T) string {
	t.Helper()
	found, _, err := s.listObjects(context.Background(), "", systemUser, "c", 1000, "")
	require.NoError(t, err)
	var out []string
	for _, o := range found {
		out = append(out, o.Key+o.Value)
	}
	return strings.Join(out, ",")
}

// fill makes one change of every kind, and undoes some.
func fill(t *testing.T, s *store) (ann, bob user) {
	t.Helper()
	ctx := context.Background()
	var made []user
	for _, name := range []string{"ann", "bob", "eve"} {
		u, _, err := s.authenticateDevice(ctx, "device-of-"+name, name, true)
		require.NoError(t, err)
		made = append(made, u)
		_, err = s.writeObjects(ctx, true, []objectWrite{{key: objectKey{"c", "own", u.ID}, value: `{}`}})
		require.NoError(t, err)
		require.NoError(t, s.createBoard(ctx, board{ID: "b", Operator: "set"}))
		_, err = s.writeRecord(ctx, recordWrite{board: "b", owner: u.ID, username: name, score: 5}, true)
		require.NoError(t, err)
	}
	ann, bob = made[0], made[1]
	eve := made[2]
	require.NoError(t, s.addFriends(ctx, ann.ID, made))
	require.NoError(t, s.addFriends(ctx, bob.ID, []user{ann, eve}))
	require.NoError(t, s.deleteFriends(ctx, bob.ID, []user{eve}))
	found, err := s.deleteAccount(ctx, eve.ID)
	require.NoError(t, err)
	require.True(t, found)
	name := "Bobby"
	require.NoError(t, s.updateAccount(ctx, accountChange{user: bob.ID, display: &name}))
	require.NoError(t, s.setBanned(ctx, []string{bob.ID}, true))
	require.NoError(t, s.createBoard(ctx, board{ID: "gone", Operator: "set"}))
	require.NoError(t, s.deleteBoard(ctx, "gone"))
	_, err = s.writeRecord(ctx, recordWrite{board: "b", owner: ann.ID, score: 2}, true)
	require.NoError(t, err)
	require.NoError(t, s.deleteRecord(ctx, "b", bob.ID, true))
	s.write(t, "x", `{"a": 1}`)
	s.write(t, "y", `{}`)
	require.NoError(t, s.deleteObjects(ctx, true, []objectDelete{{key: objectKey{"c", "y", systemUser}}}))
	return ann, bob
}

func requireFilled(t *testing.T, s *store, ann, bob user) {
	t.Helper()
	ctx := context.Background()
	require.Equal(t, `x{"a": 1}`, s.values(t))
	require.Len(t, s.users, 3, "with the system's")
	require.Len(t, s.objects, 3, "with each user's own")
	require.Len(t, s.boards, 1)
	require.Equal(t, "Bobby", s.users[bob.ID].DisplayName)
	_, _, err := s.authenticateDevice(ctx, "device-of-bob", "", false)
	require.ErrorContains(t, err, "banned")
	list, err := s.listRecords(ctx, "b", nil, 10, "")
	require.NoError(t, err)
	require.Len(t, list.Records, 1)
	require.Equal(t, ann.ID, list.Records[0].OwnerId)
	require.Equal(t, "ann", list.Records[0].Username.Value)
	require.Equal(t, []int64{2, 2}, []int64{list.Records[0].Score, int64(list.Records[0].NumScore)})
	require.Equal(t, friendMutual, s.friends[ann.ID][bob.ID].State)
	require.Len(t, s.friends[ann.ID], 1)
	require.Len(t, s.friends[bob.ID], 1)
}

// TestDatabaseOutlivesItsProcess: what was answered is read from the file although nothing was closed, from the changes
// as well as from the snapshot that the first reader has made of them.
func TestDatabaseOutlivesItsProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	s := open(t, file)
	ann, bob := fill(t, s)
	requireFilled(t, s, ann, bob)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Greater(t, strings.Count(string(raw), "\n"), 10, "changes follow the snapshot")
	heir := left(t, file)
	requireFilled(t, heir, ann, bob)
	requireFilled(t, left(t, heir.journal.path), ann, bob)
	raw, err = os.ReadFile(heir.journal.path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(raw), "\n"), "a start leaves a snapshot alone")
}

// TestDatabaseThatCannotWrite: an operation whose change is not in the file fails and changes nothing.
func TestDatabaseThatCannotWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	s := open(t, file)
	s.write(t, "k", `{}`)
	readOnly, err := os.Open(file)
	require.NoError(t, err)
	s.journal.file.Close()
	s.journal.file = readOnly
	w := []objectWrite{{key: objectKey{"c", "k", systemUser}, value: `{"n":1}`}}
	for range 2 {
		_, err = s.writeObjects(context.Background(), true, w)
		require.Error(t, err)
		_, _, err = s.authenticateDevice(context.Background(), "device-of-ann", "", true)
		require.EqualError(t, err, "Error finding or creating user account.")
	}
	require.Equal(t, "k{}", s.values(t))
	require.Len(t, s.users, 1)
}

func TestDatabaseIsCompactedAsItGrows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	s := open(t, file)
	large := `{"x":"` + strings.Repeat("x", spare/10) + `"}`
	for i := range 100 {
		s.write(t, fmt.Sprint(i%2), fmt.Sprintf(`{"n":%d,%s`, i, large[1:]))
	}
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(3*spare))
	require.Equal(t, s.values(t), left(t, file).values(t))
}

// TestSharedDatabase: two servers see each other's writes and versions; when one is killed the other goes on.
func TestSharedDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	db, err := OpenDatabase(file)
	require.NoError(t, err)
	one := start(t, Config{Name: "one", Database: db}, nil)
	two := start(t, Config{Name: "two", Database: db}, nil)
	ctx := context.Background()
	first := []*runtime.StorageWrite{{Collection: "c", Key: "k", Value: `{"n":1}`, Version: "*"}}
	_, err = one.srv.nk.StorageWrite(ctx, first)
	require.NoError(t, err)
	_, err = two.srv.nk.StorageWrite(ctx, first)
	require.ErrorIs(t, err, runtime.ErrStorageRejectedVersion)
	ann := one.login("ann")
	require.Equal(t, ann.id, two.login("ann").id)
	status, _ := account{h: two, token: ann.token}.do("GET", "/v2/account", "")
	require.Equal(t, 200, status, "a token of one is good at the other")

	one.srv.Kill()
	_, err = one.srv.nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: "c", Key: "k"}})
	require.ErrorIs(t, err, errClosed)
	require.ErrorIs(t, one.srv.nk.StorageDelete(ctx, []*runtime.StorageDelete{{Collection: "c", Key: "k"}}), errClosed)
	found, err := two.srv.nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: "c", Key: "k"}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, two.srv.Shutdown(ctx))
	require.NoError(t, db.Close())
	require.NoError(t, db.Close())
	again := start(t, Config{StateFile: file}, nil)
	require.Equal(t, ann.id, again.login("ann").id)

	_, err = New(Config{StateFile: file, Database: db}, nil)
	require.EqualError(t, err, "a server with a Database takes no StateFile")
}
