package match

import (
	"context"

	"github.com/heroiclabs/nakama-common/api"
)

func (i *fakeInitializer) RegisterBeforeListMatches(fn beforeAPI[api.ListMatchesRequest]) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

func (i *fakeInitializer) RegisterBeforeListParties(fn beforeAPI[api.ListPartiesRequest]) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

func (i *fakeInitializer) RegisterBeforeListStorageObjects(fn beforeAPI[api.ListStorageObjectsRequest]) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

func (i *fakeInitializer) RegisterBeforeListNotifications(fn beforeAPI[api.ListNotificationsRequest]) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

func (i *fakeInitializer) RegisterBeforeListGroups(fn beforeAPI[api.ListGroupsRequest]) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

func (i *fakeInitializer) RegisterBeforeUpdateAccount(fn beforeAPI[api.UpdateAccountRequest]) error {
	i.n.apiCalls = append(i.n.apiCalls, apiCallOf(i.n, fn))
	return nil
}

// apiCallOf asks a hook of Nakama's API about a request, and reports whether the request goes on as it is.
func apiCallOf[T any](n *fakeNakama, fn beforeAPI[T]) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		in := new(T)
		out, err := fn(ctx, n.logger, nil, n, in)
		return out == in, err
	}
}
