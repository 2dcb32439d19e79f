package match

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

// registerStorageHooks keeps clients from writing and deleting objects in this module's collections, and in all others unless the operator has left that
// API on. Nothing relies on it: the server reads only what the
// system owns, which clients cannot write. It tells them at once, and keeps rubbish out. Nakama has one before hook for each API: another module that
// registers these replaces them.
func (m *module) registerStorageHooks(initializer runtime.Initializer) error {
	if err := initializer.RegisterBeforeWriteStorageObjects(m.beforeWriteStorage); err != nil {
		return fmt.Errorf("register the hook before storage is written: %w", err)
	}
	if err := initializer.RegisterBeforeDeleteStorageObjects(m.beforeDeleteStorage); err != nil {
		return fmt.Errorf("register the hook before storage is deleted: %w", err)
	}
	return nil
}

func (m *module) beforeWriteStorage(
	_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, in *api.WriteStorageObjectsRequest,
) (_ *api.WriteStorageObjectsRequest, err error) {
	defer m.guardHook(&err)
	for _, o := range in.GetObjects() {
		if err := checkCollection(o.GetCollection()); err != nil {
			return nil, err
		}
	}
	return in, m.refuseAPI(apiStorage)
}

func (m *module) beforeDeleteStorage(
	_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, in *api.DeleteStorageObjectsRequest,
) (_ *api.DeleteStorageObjectsRequest, err error) {
	defer m.guardHook(&err)
	for _, o := range in.GetObjectIds() {
		if err := checkCollection(o.GetCollection()); err != nil {
			return nil, err
		}
	}
	return in, m.refuseAPI(apiStorage)
}

// guardHook recovers a panic of an API hook, which Nakama would not.
func (m *module) guardHook(err *error) {
	if cause := recover(); cause != nil {
		m.report(atHook, cause, "", 0)
		*err = reject(wire.Reason_REASON_INTERNAL, nil)
	}
}

// checkCollection refuses collections of this module.
func checkCollection(name string) error {
	if !strings.HasPrefix(name, archive.Prefix) {
		return nil
	}
	return reject(wire.Reason_REASON_SERVER_OWNED, args{"collection": shorten(name)})
}
