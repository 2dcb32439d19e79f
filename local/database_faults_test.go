package local

import (
	"context"
	"errors"
	"testing"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
	"github.com/stretchr/testify/require"
)

// databaseCalls are module calls by the operation that Faults know them by.
func databaseCalls(nk runtime.NakamaModule, user string) map[string]func(context.Context) error {
	write := []*runtime.StorageWrite{{Collection: "c", Key: "k", Value: `{}`}}
	return map[string]func(context.Context) error{
		opRead: func(ctx context.Context) error {
			_, err := nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: "c", Key: "k"}})
			return err
		},
		opWrite: func(ctx context.Context) error { _, err := nk.StorageWrite(ctx, write); return err },
		opDelete: func(ctx context.Context) error {
			return nk.StorageDelete(ctx, []*runtime.StorageDelete{{Collection: "c", Key: "k"}})
		},
		opList: func(ctx context.Context) error {
			_, _, err := nk.StorageList(ctx, "", "", "c", 10, "")
			return err
		},
		opMulti: func(ctx context.Context) error {
			_, _, err := nk.MultiUpdate(ctx, nil, write, nil, nil, false)
			return err
		},
		opLeaderboard: func(ctx context.Context) error {
			_, err := nk.LeaderboardRecordWrite(ctx, "b", user, "", 1, 0, nil, nil)
			return err
		},
		opUsers:   func(ctx context.Context) error { _, err := nk.UsersGetId(ctx, []string{user}, nil); return err },
		opAccount: func(ctx context.Context) error { return nk.AccountUpdateId(ctx, user, "", nil, "x", "", "", "", "") },
		opFriends: func(ctx context.Context) error { _, _, err := nk.FriendsList(ctx, user, 10, nil, ""); return err },
	}
}

func TestDatabaseFaults(t *testing.T) {
	broken := errors.New("connection refused")
	var before, after string
	fault := func(which *string) func(context.Context, string) error {
		return func(_ context.Context, op string) error {
			if op == *which {
				return broken
			}
			return nil
		}
	}
	h := start(t, Config{Faults: &Faults{Storage: fault(&before), StorageAnswer: fault(&after)}}, nil)
	ctx := context.Background()
	require.NoError(t, h.srv.nk.LeaderboardCreate(ctx, "b", true, "desc", "set", "", nil, true))
	calls := databaseCalls(h.srv.nk, h.login("ann").id)
	for op, call := range calls {
		before = op
		require.ErrorIs(t, call(ctx), broken, op)
		before, after = "", op
		require.ErrorIs(t, call(ctx), broken, op)
		after = ""
		require.NoError(t, call(ctx), op)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		require.ErrorIs(t, call(ended), context.Canceled, op)
	}
	before, after = opWrite, ""
	write := []*runtime.StorageWrite{{Collection: "c", Key: "new", Value: `{}`, Version: "*"}}
	stored := func() []*api.StorageObject {
		found, err := h.srv.nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: "c", Key: "new"}})
		require.NoError(t, err)
		return found
	}
	_, err := h.srv.nk.StorageWrite(ctx, write)
	require.ErrorIs(t, err, broken)
	require.Empty(t, stored(), "it failed before")
	before, after = "", opWrite
	_, err = h.srv.nk.StorageWrite(ctx, write)
	require.ErrorIs(t, err, broken)
	require.Len(t, stored(), 1, "it was done")
	after = ""
	_, err = h.srv.nk.StorageWrite(ctx, write)
	require.ErrorIs(t, err, runtime.ErrStorageRejectedVersion)
}

// TestSlowDatabase: a slow operation delays no other one, and ends with its context.
func TestSlowDatabase(t *testing.T) {
	waiting := make(chan struct{}, 1)
	h := start(t, Config{Faults: &Faults{Storage: func(ctx context.Context, op string) error {
		if op == opWrite {
			waiting <- struct{}{}
			<-ctx.Done()
		}
		return nil
	}}}, nil)
	calls := databaseCalls(h.srv.nk, systemUser)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- calls[opWrite](ctx) }()
	<-waiting
	require.NoError(t, calls[opRead](context.Background()))
	require.NoError(t, calls[opMulti](context.Background()))
	require.NoError(t, calls[opDelete](context.Background()))
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	found, err := h.srv.nk.StorageRead(context.Background(), []*runtime.StorageRead{{Collection: "c", Key: "k"}})
	require.NoError(t, err)
	require.Empty(t, found)
}
