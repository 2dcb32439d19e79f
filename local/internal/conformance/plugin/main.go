// The plugin is the conformance module for a real Nakama: built with -buildmode=plugin, it lets the transcript of
// package local's tests be recorded there.
package main

import (
	"context"
	"database/sql"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/local/internal/conformance"
)

// InitModule is what Nakama looks up.
func InitModule(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, i runtime.Initializer) error {
	return conformance.InitModule(ctx, logger, db, nk, i)
}

func main() {}
