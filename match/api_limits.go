package match

import (
	"context"
	"database/sql"
	"errors"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

// beforeAPI is a hook before a call of Nakama's API.
type beforeAPI[T any] = func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *T) (*T, error)

// registerAPILimits gives calls of Nakama's own API a rate for each user: Nakama writes a line for every query or
// cursor that it cannot read, most of them with what the client sent, and for every username that is taken.
func (m *module) registerAPILimits(i runtime.Initializer) error {
	return errors.Join(
		i.RegisterBeforeListMatches(atRate[api.ListMatchesRequest](m)),
		i.RegisterBeforeListParties(atRate[api.ListPartiesRequest](m)),
		i.RegisterBeforeListStorageObjects(atRate[api.ListStorageObjectsRequest](m)),
		i.RegisterBeforeListNotifications(atRate[api.ListNotificationsRequest](m)),
		i.RegisterBeforeListGroups(atRate[api.ListGroupsRequest](m)),
		i.RegisterBeforeUpdateAccount(atRate[api.UpdateAccountRequest](m)),
	)
}

// atRate is a hook of Nakama's that lets as many requests of a user through as RPCs, over all these calls together.
func atRate[T any](m *module) beforeAPI[T] {
	return func(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, in *T) (out *T, err error) {
		defer m.guard(atHook) // Nakama recovers no panic there; err is INTERNAL then
		err = reject(wire.Reason_REASON_INTERNAL, nil)
		if userID, known := userOf(ctx); known == nil {
			if wait, ok := m.apiCalls.take(userID, m.clock.now()); !ok {
				return in, tooMany(wait)
			}
		}
		return in, nil
	}
}
