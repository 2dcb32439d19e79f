package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"set3d/client"
)

const (
	// startLimit is how long a server may take until it answers.
	startLimit = 90 * time.Second
	startPoll  = 50 * time.Millisecond
	logTail    = 4_000 // bytes of a server's output that are shown when it ends by itself
)

// victim is the server that is killed.
type victim struct {
	command func() *exec.Cmd
	client  *client.Client
	folder  string // of the state; empty for a command
	keep    bool

	process *exec.Cmd
	gone    chan struct{} // closed when the process has ended
	output  *tail
}

// newVictim prepares a server. It sets the flags' URL if the server is the development host.
func newVictim(flags *crashFlags) (*victim, error) {
	v := &victim{keep: flags.keep}
	settings := []string{
		"SET3D_DURABILITY=" + flags.durability,
		fmt.Sprintf("SET3D_CHECKPOINT_MS=%d", flags.checkpoint.Milliseconds()),
		fmt.Sprintf("SET3D_RESUME_WITHIN_MS=%d", flags.resumeWithin.Milliseconds()),
		"SET3D_AFTER_END_MS=2000", "SET3D_RPC_PER_MINUTE=100000", "SET3D_MAX_TABLES_PER_USER=1000",
	}
	if flags.command != "" {
		environment := append(os.Environ(), settings...)
		environment = append(environment, "SET3D_SETTINGS="+strings.Join(settings, " "))
		v.command = func() *exec.Cmd {
			cmd := exec.Command("sh", "-c", flags.command)
			cmd.Env = environment
			return cmd
		}
	} else if err := v.host(flags, settings); err != nil {
		return nil, err
	}
	var err error
	v.client, _, err = flags.server.open()
	return v, err
}

// host makes the development host the victim.
func (v *victim) host(flags *crashFlags, settings []string) error {
	program, err := os.Executable()
	if err != nil {
		return exit(exitWrong, "cannot find this program to start it: %w", err)
	}
	if v.folder, err = os.MkdirTemp("", "set3d-crash-"); err != nil {
		return exit(exitWrong, "%w", err)
	}
	addr, err := freeAddr()
	if err != nil {
		return exit(exitNoRoute, "%w", err)
	}
	flags.server.url, flags.server.key = "http://"+addr, "defaultkey"
	args := []string{"serve", "--addr", addr, "--state", filepath.Join(v.folder, "state.json")}
	for _, setting := range settings {
		args = append(args, "--env", setting)
	}
	v.command = func() *exec.Cmd { return exec.Command(program, args...) }
	return nil
}

// freeAddr is an address that nobody listens on.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// start starts the server and waits until it answers.
func (v *victim) start(ctx context.Context) error {
	v.process, v.gone, v.output = v.command(), make(chan struct{}), &tail{}
	v.process.Stdout, v.process.Stderr = v.output, v.output
	v.process.WaitDelay = time.Second // for what it has left behind with its output
	ownGroup(v.process)
	if err := v.process.Start(); err != nil {
		return exit(exitNoRoute, "the server does not start: %w", err)
	}
	process, gone := v.process, v.gone
	go func() { _ = process.Wait(); close(gone) }()
	deadline := time.Now().Add(startLimit)
	for {
		if _, err := v.client.AuthenticateDevice(ctx, "set3d-crash-asks", ""); err == nil {
			return nil
		}
		select {
		case <-v.gone:
			return exit(exitNoRoute, "%w before it answered\n%s", errGone, v.output)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(startPoll):
		}
		if time.Now().After(deadline) {
			return exit(exitNoRoute, "no server answers at %s after %v\n%s", v.client.URL(), startLimit, v.output)
		}
	}
}

// kill ends the process, and all that it has started, at once.
func (v *victim) kill() {
	if v.process != nil && v.process.Process != nil {
		killGroup(v.process.Process)
		<-v.gone
	}
}

// died says that the process has ended by itself, or nil.
func (v *victim) died() error {
	select {
	case <-v.gone:
		return exit(exitWrong, "%w\n%s", errGone, v.output)
	default:
		return nil
	}
}

func (v *victim) close() {
	v.kill()
	if v.folder != "" && !v.keep {
		_ = os.RemoveAll(v.folder)
	}
}

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 2*logTail {
		t.text = bytes.Clone(t.text[len(t.text)-logTail:])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text[max(0, len(t.text)-logTail):])
}
