// Command pluginhost opens a plugin file as Nakama does, runs its InitModule in the local host, and serves it: the test of the very file
// that a real server loads. It has to be built with the plugin's own flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"plugin"
	"strings"
	"syscall"

	"set3d/local"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: pluginhost PLUGIN.so [SETTING=VALUE …]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := serve(ctx, os.Args[1], os.Args[2:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, path string, settings []string) error {
	opened, err := plugin.Open(path)
	if err != nil {
		return err
	}
	symbol, err := opened.Lookup("InitModule")
	if err != nil {
		return err
	}
	init, ok := symbol.(local.InitModule)
	if !ok {
		return fmt.Errorf("InitModule is a %T, which Nakama does not take", symbol)
	}
	env := map[string]string{"SET3D_DEVELOPMENT": "on"} // the local host's keys are public
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		env[key] = value
	}
	server, err := local.New(local.Config{Addr: "127.0.0.1:0", Env: env, Logger: local.NewLogger(os.Stderr, slog.LevelWarn)}, init)
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return errors.Join(err, server.Shutdown(ctx))
	}
	fmt.Printf("Listening on %s\n", server.URL())
	<-ctx.Done()
	return server.Shutdown(context.Background())
}
