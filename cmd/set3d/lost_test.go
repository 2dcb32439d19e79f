package main

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

// whileRunning runs a command, and kills the relay once the text is in what it printed.
func (r *relay) whileRunning(t *testing.T, until string, args ...string) program {
	var stdout, stderr lockedBuffer
	ended := make(chan int, 1)
	go func() { ended <- run(t.Context(), args, &stdout, &stderr) }()
	require.Eventually(t, func() bool { return strings.Contains(stdout.String()+stderr.String(), until) }, 20*time.Second, 5*time.Millisecond)
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
		require.Equal(t, exitNoRoute, p.code, p.stderr)
		require.Contains(t, p.stdout, "The connection is lost, trying again")
		require.Equal(t, "set3d: the connection was lost, and no server answered for 300ms (--patience)\n", p.stderr)
	})
	t.Run("load", func(t *testing.T) {
		t.Parallel()
		r := newRelay(t, url)
		p := r.whileRunning(t, "matches running", "load", "--url", r.url, "--matches", "2", "--pace", "50ms", "--duration", "4s", "--patience", "3s")
		require.Equal(t, exitNoRoute, p.code, p.stderr)
		require.Contains(t, p.stdout, "connection lost: ")
		require.Contains(t, p.stderr, "the server was lost")
	})
}
