package local

import (
	"context"
	"database/sql"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// beforeAPI is a hook before a call of the API.
type beforeAPI[T any] = func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *T) (*T, error)

type listStorageHook = beforeAPI[api.ListStorageObjectsRequest]

func (i *initializer) RegisterBeforeListStorageObjects(fn listStorageHook) error {
	i.srv.module.beforeListStorage = fn
	return nil
}

// The listings below are not served here, so their hooks never run.

func (*initializer) RegisterBeforeListParties(beforeAPI[api.ListPartiesRequest]) error {
	return nil
}

func (*initializer) RegisterBeforeListNotifications(beforeAPI[api.ListNotificationsRequest]) error {
	return nil
}

func (*initializer) RegisterBeforeListGroups(beforeAPI[api.ListGroupsRequest]) error {
	return nil
}

// beforeListStorage asks the module about a listing.
func (s *Server) beforeListStorage(c *call, in *api.ListStorageObjectsRequest) (*api.ListStorageObjectsRequest, error) {
	hook := s.module.beforeListStorage
	if hook == nil {
		return in, nil
	}
	out, err := hook(s.apiHook(c, modeBefore), s.hookLogger("liststorageobjects", modeBefore), nil, s.nk, in)
	return hookOutcome(out, err)
}
