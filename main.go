// The plugin: an authoritative server for SET: 3D as a module of Nakama.
package main

import (
	"context"
	"database/sql"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match"
)

// InitModule is what Nakama looks up and calls once, before it serves anybody.
func InitModule(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, initializer runtime.Initializer) error {
	return match.Register(ctx, logger, db, nk, initializer)
}

// A plugin is package main, which needs a main.
func main() {}
