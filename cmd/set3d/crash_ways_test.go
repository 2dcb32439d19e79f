//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeDatabase says that it takes connections, and does what it is told when it gets a signal.
func fakeDatabase(onSignals string) string {
	return onSignals + `; echo "LOG:  ` + databaseReady + `"; while :; do sleep 0.01; done`
}

// TestCrashInAllWays plays on a development host with a database that it does not need: whatever is ended, everything
// comes back.
func TestCrashInAllWays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	for _, durability := range []string{"safe", "fast"} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			addr, err := freeAddr()
			require.NoError(t, err)
			state := filepath.Join(t.TempDir(), "state.json")
			serve := fmt.Sprintf(`for s in $SET3D_SETTINGS; do set -- "$@" --env $s; done
				exec %s serve --addr %s --state %s "$@"`, quoted(program), addr, quoted(state))
			p := execute(t, "crash", "--rounds", "6", "--matches", "4", "--resume-within", "4s", "--seed", "830",
				"--durability", durability, "--server", serve, "--url", "http://"+addr,
				"--database", fakeDatabase("trap 'sleep 1; exit' TERM"))
			require.Equal(t, exitOK, p.code, p.stdout+p.stderr)
			require.Contains(t, p.stdout, "6 rounds: server 1, database 1, both 1, host 1, outage 1, isolated 1; the")
			require.Contains(t, p.stdout, "All well.")
		})
	}
}

func TestCrashReadsWays(t *testing.T) {
	for _, test := range []struct {
		text string
		db   bool
		want []crashWay
	}{
		{"", false, []crashWay{killServer}},
		{"", true, []crashWay{killServer, killDatabase, killBoth, stopHost, loseDatabase, loseBoth}},
		{"server,host", false, []crashWay{killServer, stopHost}},
		{"outage,outage,both,isolated", true, []crashWay{loseDatabase, loseDatabase, killBoth, loseBoth}},
	} {
		got, err := readWays(test.text, test.db)
		require.NoError(t, err)
		require.Equal(t, test.want, got)
	}
}

// The bound on lost verdicts depends on how the server ended, and on whether its database was there.
func TestCrashKnowsWhatMayBeLost(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const bound, long = 500*time.Millisecond + writeSlack, 25 * time.Second
	for _, test := range []struct {
		name string
		away []span
		end  lifeEnd
		told time.Duration // before the end
		may  bool
	}{
		{"a young verdict", nil, lifeEnd{at: now}, bound, true},
		{"an old one", nil, lifeEnd{at: now}, bound + 1, false},
		{"killed with the database", nil, lifeEnd{way: killBoth, at: now}, bound, true},
		{"stopped with the database", nil, lifeEnd{way: stopHost, at: now, whole: true}, 0, false},
		{"stopped, and killed after the grace", nil, lifeEnd{way: stopHost, at: now}, bound, true},
		{"the database was gone before", nil, lifeEnd{way: stopHost, at: now, stored: ago(long)}, long + bound, true},
		{"and told before that", nil, lifeEnd{way: stopHost, at: now, stored: ago(long)}, long + bound + 1, false},
		{"just after an outage", []span{{ago(9 * time.Second), ago(3 * time.Second)}}, lifeEnd{at: now}, 9*time.Second + bound, true},
		{"told before the outage", []span{{ago(9 * time.Second), ago(3 * time.Second)}}, lifeEnd{at: now}, 9*time.Second + bound + 1, false},
		{"during an outage", nil, lifeEnd{way: loseBoth, at: now, stored: ago(long)}, long + bound, true},
		{"after two", []span{{ago(30 * time.Second), ago(25 * time.Second)}, {ago(9 * time.Second), ago(3 * time.Second)}},
			lifeEnd{at: now}, 30 * time.Second, true},
		{"long after an outage", []span{{ago(40 * time.Second), ago(catchUp)}}, lifeEnd{at: now}, bound + 1, false},
	} {
		c := &crasher{flags: crashFlags{durability: "fast", checkpoint: 500 * time.Millisecond}, away: test.away}
		c.lifeOver(test.end)
		require.Equal(t, test.may, c.mayLose(0, ago(test.told)), test.name)
		require.False(t, c.mayLose(1, now), "%s: what was told in a life that has not ended", test.name)
		c.flags.durability = "safe"
		require.False(t, c.mayLose(0, ago(test.told)), test.name)
	}
	c := &crasher{
		lives: []lifeEnd{{at: now}, {at: now, way: killBoth}, {at: now, way: stopHost}, {at: now, way: loseBoth}},
	}
	require.Equal(t, "1s before a kill", c.before(0, ago(time.Second)))
	require.Equal(t, "1s before a kill of both", c.before(1, ago(time.Second)))
	require.Equal(t, "1s before the end of a host's shutdown", c.before(2, ago(time.Second)))
	require.Equal(t, "1s before a kill while the database was away", c.before(3, ago(time.Second)))
	require.Equal(t, "after the last kill", c.before(4, now))
}

// At a host's shutdown both are asked to end; who does not is killed, and it is noticed if the database is the first to
// go.
func TestCrashStopsAHost(t *testing.T) {
	for _, test := range []struct {
		name, server, database string
		whole                  bool
		orphaned, overdue      int
	}{
		{"in time", "trap 'exit' TERM", "trap 'sleep 0.2; exit' TERM", true, 0, 0},
		{"the server does not end", "trap '' TERM", "trap 'sleep 4; exit' TERM", false, 0, 1},
		{"the database is the first", "trap 'sleep 1.5; exit' TERM", "trap 'exit' TERM", false, 1, 0},
		{"nor does the database", "trap 'exit' TERM", "trap '' TERM", true, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := &crasher{
				flags: crashFlags{grace: 3 * time.Second}, progress: io.Discard, database: newDatabase(fakeDatabase(test.database)),
				server: &victim{process: process{command: shell(test.server+"; while :; do sleep 0.01; done", nil)}},
			}
			require.NoError(t, c.database.start(t.Context()))
			t.Cleanup(c.database.kill)
			require.NoError(t, c.server.launch())
			t.Cleanup(c.server.kill)
			time.Sleep(100 * time.Millisecond) // for the trap
			require.NoError(t, c.strike(t.Context(), stopHost, 0))
			require.Len(t, c.lives, 1)
			end := c.lives[0]
			require.Equal(t, []any{test.whole, test.orphaned, test.overdue}, []any{end.whole, c.orphaned, c.overdue})
			require.Equal(t, test.orphaned > 0, end.stored.Before(end.at))
			require.NoError(t, c.database.died(), "it is started again")
			require.Error(t, c.server.died())
		})
	}
}

// The server lives while its database is away, and no life of it ends.
func TestCrashTakesTheDatabaseAway(t *testing.T) {
	for _, way := range []crashWay{killDatabase, loseDatabase} {
		c := &crasher{progress: io.Discard, database: newDatabase(fakeDatabase("trap 'exit' INT"))}
		require.NoError(t, c.database.start(t.Context()))
		t.Cleanup(c.database.close)
		first := c.database.cmd.Process.Pid
		require.NoError(t, c.strike(t.Context(), way, 300*time.Millisecond))
		require.Empty(t, c.lives)
		require.Len(t, c.away, 1)
		if way == loseDatabase {
			require.GreaterOrEqual(t, c.away[0].to.Sub(c.away[0].from), 300*time.Millisecond)
		}
		require.NotEqual(t, first, c.database.cmd.Process.Pid)
		require.NoError(t, c.database.died())
		require.ErrorIs(t, syscall.Kill(first, 0), syscall.ESRCH)
	}
}

// A server that is killed while its database is away may not have stored what it has told since.
func TestCrashKillsWithoutDatabase(t *testing.T) {
	c := &crasher{progress: io.Discard, database: newDatabase(fakeDatabase("trap 'exit' INT")), server: &victim{}}
	require.NoError(t, c.database.start(t.Context()))
	t.Cleanup(c.database.close)
	c.server.command = shell("sleep 600", nil)
	require.NoError(t, c.server.launch())
	t.Cleanup(c.server.kill)
	require.NoError(t, c.strike(t.Context(), loseBoth, 300*time.Millisecond))
	require.Len(t, c.lives, 1)
	require.GreaterOrEqual(t, c.lives[0].at.Sub(c.lives[0].stored), 300*time.Millisecond)
	require.Error(t, c.server.died())
	require.NoError(t, c.database.died())
}

// A life ends when the server is gone, however long its database keeps something open.
func TestCrashKillsBoth(t *testing.T) {
	c := &crasher{
		progress: io.Discard, server: &victim{}, database: newDatabase("setsid sleep 3 & " + fakeDatabase(":")),
	}
	require.NoError(t, c.database.start(t.Context()))
	t.Cleanup(func() { c.database.kill() })
	c.server.command = shell("sleep 600", nil)
	require.NoError(t, c.server.launch())
	from := time.Now()
	require.NoError(t, c.strike(t.Context(), killBoth, 0))
	require.GreaterOrEqual(t, time.Since(from), outputWait)
	require.Less(t, c.lives[0].at.Sub(from), outputWait/2)
	require.Equal(t, c.lives[0].at, c.lives[0].stored)
}

// A database that does not start at once is tried again; one that never does is an error with what it said.
func TestCrashStartsADatabase(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o600))
	d := newDatabase(fmt.Sprintf(`if rm %s 2>&-; then exit 1; fi; %s`, quoted(lock), fakeDatabase(":")))
	require.NoError(t, d.start(t.Context()))
	d.kill()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorIs(t, newDatabase("echo no such cluster; exit 1").start(ctx), context.DeadlineExceeded)
	silent := newDatabase("echo no such cluster; sleep 600")
	require.NoError(t, silent.launch())
	t.Cleanup(silent.kill)
	_, err := silent.await(t.Context(), time.Now().Add(300*time.Millisecond))
	require.ErrorContains(t, err, "no such cluster")
	require.Nil(t, newDatabase(""))
}
