package main

import (
	"context"
	"os"
	"strings"
	"syscall"
	"time"
)

// databaseReady is what PostgreSQL writes to standard error when it takes connections.
const databaseReady = "database system is ready to accept connections"

// database is a PostgreSQL that is ended and started again.
type database struct{ process }

// newDatabase prepares the database of a command line, or returns nil if there is none.
func newDatabase(line string) *database {
	if line == "" {
		return nil
	}
	return &database{process{name: "the database", command: shell(line, os.Environ())}}
}

// start starts the database and waits until it takes connections. One that was killed may have left processes behind,
// and does not start before they are gone.
func (d *database) start(ctx context.Context) error {
	deadline := time.Now().Add(startLimit)
	for {
		if err := d.launch(); err != nil {
			return err
		}
		if ready, err := d.await(ctx, deadline); ready || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(4 * startPoll):
		}
		if time.Now().After(deadline) {
			return exit(exitNoRoute, "the database %w before it took connections\n%s", errGone, d.output)
		}
	}
}

// await waits until the database takes connections; false if it has ended.
func (d *database) await(ctx context.Context, deadline time.Time) (ready bool, err error) {
	for !strings.Contains(d.output.String(), databaseReady) {
		select {
		case <-d.gone:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(startPoll):
		}
		if time.Now().After(deadline) {
			return false, exit(exitNoRoute, "the database does not say %q after %v\n%s", databaseReady, startLimit, d.output)
		}
	}
	return true, nil
}

func (d *database) close() {
	if d.cmd != nil {
		d.stop(syscall.SIGINT, stopLimit)
	}
}
