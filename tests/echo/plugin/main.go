// The echo module as a plugin of Nakama: go build -trimpath -buildmode=plugin -o echo.so ./tests/echo/plugin
package main

import (
	"context"
	"database/sql"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/tests/echo"
)

// InitModule is what Nakama looks up and calls once.
func InitModule(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, initializer runtime.Initializer) error {
	return echo.InitModule(ctx, logger, db, nk, initializer)
}

// A plugin is package main, which needs a main.
func main() {}
