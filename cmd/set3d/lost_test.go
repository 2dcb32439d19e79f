package main

import (
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"set3d/client"
)

// relay is a way to a server that can be cut: then it is as if the server's process had been killed.
type relay struct {
	url      string
	listener net.Listener

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func newRelay(t *testing.T, serverURL string) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{url: "http://" + l.Addr().String(), listener: l}
	t.Cleanup(r.kill)
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", strings.TrimPrefix(serverURL, "http://"))
			if err != nil {
				_ = near.Close()
				return
			}
			r.keep(near, far)
			go func() { _, _ = io.Copy(near, far) }()
			go func() { _, _ = io.Copy(far, near) }()
		}
	}()
	return r
}

func (r *relay) keep(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, conns...)
	if r.cut {
		r.closeLocked()
	}
}

func (r *relay) kill() {
	_ = r.listener.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = true
	r.closeLocked()
}

func (r *relay) closeLocked() {
	for _, conn := range r.conns {
		_ = conn.Close()
	}
	r.conns = nil
}

// whileRunning runs a command, and kills the relay once what it printed matches.
func (r *relay) whileRunning(t *testing.T, until string, args ...string) program {
	printed := regexp.MustCompile(until)
	var stdout, stderr lockedBuffer
	ended := make(chan int, 1)
	go func() { ended <- run(t.Context(), args, &stdout, &stderr) }()
	require.Eventually(t, func() bool { return printed.MatchString(stdout.String() + stderr.String()) }, 20*time.Second, 5*time.Millisecond)
	r.kill()
	select {
	case code := <-ended:
		return program{code, stdout.String(), stderr.String()}
	case <-time.After(30 * time.Second):
		t.Fatal("it hangs: " + stdout.String() + stderr.String())
		return program{}
	}
}

func TestLosesTheServer(t *testing.T) {
	url := startServer(t)
	t.Run("play", func(t *testing.T) {
		t.Parallel()
		r := newRelay(t, url)
		p := r.whileRunning(t, "cards are dealt", "play", "--url", r.url, "--pace", "1m", "--patience", "300ms")
		require.Equal(t, exitNoRoute, p.code, p.stdout+p.stderr)
		require.Contains(t, p.stdout, "The connection is lost, trying again")
		require.Equal(t, "set3d: the connection was lost, and no server answered for 300ms (--patience)\n", p.stderr)
	})
	t.Run("load", func(t *testing.T) {
		t.Parallel()
		r := newRelay(t, url)
		// At this pace a match lasts longer than the run: once one is running, its players are there to lose the server.
		p := r.whileRunning(t, "[1-9] match(es)? running", "load", "--url", r.url, "--matches", "2", "--pace", "1s", "--duration", "6s", "--patience", "3s")
		require.Equal(t, exitNoRoute, p.code, p.stdout+p.stderr)
		require.Contains(t, p.stdout, "connection lost: ")
		require.Contains(t, p.stderr, "the server was lost")
	})
}

func TestSoakLosesTheServer(t *testing.T) {
	url := startServer(t, "SET3D_AFTER_END_MS=60000")
	for _, test := range []struct {
		until  string // or some tables
		tables int
		settle time.Duration
		stdout string
	}{
		{"no such text", 1_000_000, 0, "no connection"},
		{"waiting for 1 table to close; a table whose match is over stays open", 1, time.Minute, "1 table in"},
	} {
		r := newRelay(t, url)
		c, err := client.New(client.Config{URL: r.url, ServerKey: "defaultkey"})
		require.NoError(t, err)
		s := &soaker{
			client: c, format: client.FormatProtobuf, patience: 200 * time.Millisecond, made: map[string]bool{}, errors: map[string]int{},
			flags: soakFlags{tables: test.tables, workers: 1, play: time.Millisecond, settle: test.settle},
		}
		s.watcher, err = c.AuthenticateDevice(t.Context(), client.RandomID(), "")
		require.NoError(t, err)
		var stdout, progress lockedBuffer
		ended := make(chan error, 1)
		go func() { ended <- s.soak(t.Context(), newPen(&stdout), &progress) }()
		require.Eventually(t, func() bool {
			s.mu.Lock()
			begun := s.begun
			s.mu.Unlock()
			return strings.Contains(progress.String(), test.until) || test.tables > 1 && begun > 3
		}, 20*time.Second, 5*time.Millisecond)
		r.kill()
		var known *exitError
		require.ErrorAs(t, <-ended, &known)
		require.Equal(t, exitNoRoute, known.code)
		require.Contains(t, known.Error(), "was lost, so that nobody knows which tables stayed")
		require.Contains(t, stdout.String(), "how many are still open is not known")
		require.Contains(t, stdout.String(), test.stdout)
	}
}

func TestProgressTellsOfLostConnections(t *testing.T) {
	l := &loader{tally: newTally()}
	table := &loadTable{loader: l, lost: make(chan *place, 1)}
	p := newPlace(table, &seat{random: rand.New(rand.NewPCG(1, 2))}, l.newContest(), nil)
	p.Joined()
	p.sit(nil)
	require.NotContains(t, l.tally.progress(), "trying again")
	p.Disconnected(client.ErrClosed)
	p.Disconnected(client.ErrClosed)
	require.Contains(t, l.tally.progress(), ", 1 lost connection, trying again")
	require.Same(t, p, <-table.lost)
	require.False(t, p.settled())
	p.Joined()
	require.NotContains(t, l.tally.progress(), "trying again")
	require.True(t, p.settled())
	p.Disconnected(client.ErrClosed)
	p.end(true)
	require.NotContains(t, l.tally.progress(), "trying again", "nobody tries for a place that was given up")
}
