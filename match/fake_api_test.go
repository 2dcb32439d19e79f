package match

import (
	"context"
	"database/sql"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

func (i *fakeInitializer) RegisterBeforeListMatches(fn func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.ListMatchesRequest) (*api.ListMatchesRequest, error)) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

func (i *fakeInitializer) RegisterBeforeListParties(fn func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.ListPartiesRequest) (*api.ListPartiesRequest, error)) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

func (i *fakeInitializer) RegisterBeforeListStorageObjects(fn func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.ListStorageObjectsRequest) (*api.ListStorageObjectsRequest, error)) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

func (i *fakeInitializer) RegisterBeforeListNotifications(fn func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.ListNotificationsRequest) (*api.ListNotificationsRequest, error)) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

func (i *fakeInitializer) RegisterBeforeListGroups(fn func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.ListGroupsRequest) (*api.ListGroupsRequest, error)) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

func (i *fakeInitializer) RegisterBeforeUpdateAccount(fn func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.UpdateAccountRequest) (*api.UpdateAccountRequest, error)) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

// apiCallOf asks a hook of Nakama's API about a request, and reports whether the request goes on as it is.
func apiCallOf[T any](n *fakeNakama, fn func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *T) (*T, error)) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		in := new(T)
		out, err := fn(ctx, n.logger, nil, n, in)
		return out == in, err
	}
}
