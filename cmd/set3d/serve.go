package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"set3d/local"
	"set3d/match"
)

// A silent loss of the connection is noticed within pongWait, as with the local.yml that is shipped for Nakama.
const (
	pingPeriod = 5 * time.Second
	pongWait   = 12 * time.Second
)

// settingPrefix begins the names of all settings of the match server.
const settingPrefix = "SET3D_"

type serveFlags struct {
	addr, serverKey, httpKey, logLevel, stateFile string
	env                                           []string
	grace                                         int
}

func newServeCommand() *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve matches on a development host, without Docker, database or Nakama",
		Long: `serve runs the match server in this process, behind the part of Nakama's API that game clients use. It is for
development and tests: its keys are public, its state is in memory or in one file. For players there is Nakama with the plugin.

Settings of the match server, for --env:
` + settingsHelp() + exitCodesHelp,
		Example: `  set3d serve
  set3d serve --addr 127.0.0.1:0                         # a free port, which is printed
  set3d serve --addr 0.0.0.0:7350                        # for a phone on the same network
  set3d serve --env SET3D_AFTER_END_MS=5000 --log-level debug
  set3d serve --state users.json                         # keep users and results`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.addr, "addr", "127.0.0.1:7350", "where to listen; port 0 picks a free one")
	f.StringArrayVar(&flags.env, "env", nil, "a setting KEY=VALUE of the match server; may be repeated")
	f.StringVar(&flags.stateFile, "state", "", "a file that keeps users, storage and leaderboards, also if the host is killed")
	f.StringVar(&flags.logLevel, "log-level", "warn", "debug, info, warn or error; the log goes to standard error")
	f.StringVar(&flags.serverKey, "server-key", "defaultkey", "the key with which clients authenticate")
	f.StringVar(&flags.httpKey, "http-key", "defaulthttpkey", "the key for RPCs without a user")
	f.IntVar(&flags.grace, "grace", 2, "seconds that running matches get when the host is stopped")
	return cmd
}

func settingsHelp() string {
	var text strings.Builder
	for _, s := range match.Settings() {
		fmt.Fprintf(&text, "  %-26s %s (%s; default %s)\n", s.Name, s.Meaning, s.Allowed, s.Default)
	}
	return text.String()
}

// config checks the flags.
func (f serveFlags) config(cmd *cobra.Command) (local.Config, error) {
	_, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		return local.Config{}, exit(exitUsage, "--addr %q: want HOST:PORT", f.addr)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return local.Config{}, exit(exitUsage, "--addr %q: want a port of 0 to 65535", f.addr)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return local.Config{}, exit(exitUsage, "--log-level %q: want debug, info, warn or error", f.logLevel)
	}
	if f.grace < 0 || f.grace > 3600 {
		return local.Config{}, exit(exitUsage, "--grace is %d, want 0 to 3600 seconds", f.grace)
	}
	env := map[string]string{"SET3D_DEVELOPMENT": "on"} // the keys of this host are public, and it says so
	for _, setting := range f.env {
		key, value, ok := strings.Cut(setting, "=")
		if !ok || key == "" {
			return local.Config{}, exit(exitUsage, "--env %q: want KEY=VALUE", setting)
		}
		if !strings.HasPrefix(key, settingPrefix) {
			return local.Config{}, exit(exitUsage, "--env %q: the match server has no such setting, all are named %s…", setting, settingPrefix)
		}
		env[key] = value
	}
	return local.Config{
		Addr: f.addr, ServerKey: f.serverKey, HTTPKey: f.httpKey, Env: env, StateFile: f.stateFile, GraceSeconds: f.grace,
		Logger: local.NewLogger(cmd.ErrOrStderr(), level), Timing: local.Timing{Ping: pingPeriod, PongWait: pongWait},
	}, nil
}

func serve(cmd *cobra.Command, flags serveFlags) error {
	config, err := flags.config(cmd)
	if err != nil {
		return err
	}
	server, err := local.New(config, match.Register)
	if err != nil {
		return exit(exitUsage, "%w", err) // the module refused its settings, or the state file is unreadable
	}
	if err := server.Start(); err != nil {
		_ = server.Shutdown(context.Background())
		if errors.Is(err, syscall.EADDRINUSE) {
			return exit(exitNoPort, "%w\nIs another server running? Choose another --addr, or port 0 for any free one.", err)
		}
		return exit(exitNoPort, "%w\nChoose another --addr.", err)
	}
	newPen(cmd.OutOrStdout()).welcome(server.URL(), flags.serverKey)
	<-cmd.Context().Done()
	again, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	newPen(cmd.OutOrStdout()).printf("Stopping: running matches get %d s. A second signal stops them at once.\n", flags.grace)
	ctx, cancel := context.WithTimeout(again, time.Duration(flags.grace+10)*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return exit(exitWrong, "%w", err)
	}
	return nil
}

// welcome says what this is, where it listens and what to try next.
func (p *pen) welcome(url, key string) {
	more := (&serverFlags{url: url, key: key}).others()
	p.printf(`%s
Listening on %s  (server key %q)
A development host: no players, no secrets. Ctrl-C stops it.

Try next, in another terminal:
  set3d play%s                  watch a whole match
  set3d play%s --players 4      with four players
  set3d load%s --duration 10s   measure how fast it answers
or without installing anything: go run ./cmd/set3d play%s
`, p.bold.Render("SET: 3D match server"), url, key, more, more, more, more)
}
