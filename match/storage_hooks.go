package match

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

// registerStorageHooks refuses clients' writes and deletions in this module's collections, and in all others unless the
// operator has left that API on. Nothing relies on these hooks: the server reads only objects that the system owns, which
// clients cannot write. They give a clear error, and keep forged objects out of the database. Nakama has one before hook
// for each API: another module that registers these replaces them.
func (m *module) registerStorageHooks(i runtime.Initializer) error {
	return errors.Join(
		i.RegisterBeforeWriteStorageObjects(beforeStorage(m, func(in *api.WriteStorageObjectsRequest) (names []string) {
			for _, o := range in.GetObjects() {
				names = append(names, o.GetCollection())
			}
			return names
		})),
		i.RegisterBeforeDeleteStorageObjects(beforeStorage(m, func(in *api.DeleteStorageObjectsRequest) (names []string) {
			for _, o := range in.GetObjectIds() {
				names = append(names, o.GetCollection())
			}
			return names
		})),
	)
}

// beforeStorage is the hook before a request that changes objects in these collections.
func beforeStorage[T any](m *module, collections func(*T) []string) beforeAPI[T] {
	return func(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, in *T) (out *T, err error) {
		defer m.guard(atHook) // Nakama recovers no panic there; err is INTERNAL then
		err = reject(wire.Reason_REASON_INTERNAL, nil)
		for _, name := range collections(in) {
			if strings.HasPrefix(name, archive.Prefix) {
				return nil, reject(wire.Reason_REASON_SERVER_OWNED, args{"collection": shorten(name)})
			}
		}
		return in, m.refuseAPI(apiStorage)
	}
}
