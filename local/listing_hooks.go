package local

import (
	"context"
	"database/sql"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

type listStorageHook = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, in *api.ListStorageObjectsRequest) (*api.ListStorageObjectsRequest, error)

func (i *initializer) RegisterBeforeListStorageObjects(fn listStorageHook) error {
	i.srv.module.beforeListStorage = fn
	return nil
}

// The listings below are not served here, so their hooks never run.

func (*initializer) RegisterBeforeListParties(func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.ListPartiesRequest) (*api.ListPartiesRequest, error)) error {
	return nil
}

func (*initializer) RegisterBeforeListNotifications(func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.ListNotificationsRequest) (*api.ListNotificationsRequest, error)) error {
	return nil
}

func (*initializer) RegisterBeforeListGroups(func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *api.ListGroupsRequest) (*api.ListGroupsRequest, error)) error {
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
