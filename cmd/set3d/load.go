package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"set3d/client"
)

func newLoadCommand() *cobra.Command {
	var flags loadFlags
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Load a server with many tables at once, and measure its verdicts",
		Long: `load keeps a number of tables busy for a time, each with automatic players, and measures how long a claim waits for its
answer: from just before it is written to the socket until the answer has been read. Refused claims are answers too. When a
match ends its players meet at a new table, so that the load stays the same.

The players look at the board, think (log-normal times around --pace), and claim a Set that lies there, or now and then three
cards that are none. First all tables are opened, over --ramp; that is not measured. Then --duration begins.

Without a preset and --rules the animations are left out: no claim is held back by the rules, and what is measured is the
server. With --preset or --presets those rules hold; a claim that the server holds during an animation then counts with the
time it was held.

Every claim must be answered exactly once, which is always watched. --verify checks everything else that a client can know,
and costs this process about a fifth more of CPU and some memory: leave it out of measurements.

--idle opens tables at which the match has begun and nobody does anything: 80 tables share the sockets of four players.
--echo drives a module that sends every message back to its whole table: what a frame costs without a game. README.md says
where it is. The server's process is watched with --server-pid (on this machine, Linux) or --metrics.

Progress goes to standard error, the result to standard output. More than 500 tables need a limit of open files above four
times their number (ulimit -n), here and at the server.
` + exitCodesHelp,
		Example: `  set3d load --duration 10s
  set3d load --matches 1 --players 2 --pace 500ms           # latency of one quiet table
  set3d load --matches 250 --pace 2s --ramp 10s --duration 1m --verify=false --server-pid $(pgrep -xo nakama)
  set3d load --matches 20 --presets classic:3,fast:1 --drop-every 30s
  set3d load --matches 0 --idle 5000 --metrics http://127.0.0.1:9100
  set3d load --matches 250 --echo echo_create --verify=false
  set3d load --json > result.json                           # or --json=FILE, and the table here`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return load(cmd, flags) },
	}
	flags.add(cmd)
	return cmd
}

// signIns is how many HTTP connections are kept for signing in and for making tables.
const signIns = 32

func load(cmd *cobra.Command, flags loadFlags) error {
	plan, err := flags.plan()
	if err != nil {
		return err
	}
	flags.server.http = &http.Client{
		Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: signIns, MaxConnsPerHost: signIns, IdleConnTimeout: time.Minute},
	}
	c, format, err := flags.server.open()
	if err != nil {
		return err
	}
	watched, err := newServerWatch(flags.serverPID, flags.metrics)
	if err != nil {
		return err
	}
	file, err := flags.openJSON()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	l := &loader{client: c, format: format, flags: flags, plan: plan, tally: newTally(), server: watched}
	if err := l.firstContact(cmd.Context()); err != nil {
		return explain(err, c.URL())
	}
	progress := newProgress(cmd.ErrOrStderr())
	r := l.run(cmd.Context(), progress)
	r.Interrupted = cmd.Context().Err() != nil
	if err := flags.write(cmd.OutOrStdout(), file, r); err != nil {
		return exit(exitWrong, "write the result: %w", err)
	}
	return r.judge()
}

// openJSON opens the file of --json=FILE, nil without one: a measurement that cannot be written should not be begun. What is in the file
// stays until there is a new result.
func (f loadFlags) openJSON() (*os.File, error) {
	if f.json == "" || f.json == jsonToOutput {
		return nil, nil
	}
	file, err := os.OpenFile(f.json, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, exit(exitUsage, "--json: %w", err)
	}
	return file, nil
}

// write gives the result to people, to programs, or to both. People get it even if it cannot be written to the file.
func (f loadFlags) write(out io.Writer, file *os.File, r result) error {
	if f.json == jsonToOutput {
		return r.writeJSON(out)
	}
	var failed error
	if file != nil {
		failed = replaceJSON(file, r)
	}
	return errors.Join(r.writeTable(newPen(out)), failed)
}

// replaceJSON writes the result in the place of what was in the file.
func replaceJSON(file *os.File, r result) error {
	about, err := file.Stat()
	if err == nil && about.Mode().IsRegular() { // a pipe has nothing to replace
		err = file.Truncate(0)
	}
	if err != nil {
		return err
	}
	return errors.Join(r.writeJSON(file), file.Close())
}

// firstContact finds out before anything is started whether there is a server that takes these matches.
func (l *loader) firstContact(ctx context.Context) error {
	user, err := l.client.AuthenticateDevice(ctx, client.RandomID(), "")
	if err != nil || l.flags.echo != "" {
		return err
	}
	_, err = l.client.Hello(ctx, user)
	return err
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
