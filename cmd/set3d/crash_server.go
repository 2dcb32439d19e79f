package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"set3d/client"
)

// startLimit is how long a server may take until it answers, and a database until it takes connections.
const startLimit = 90 * time.Second

// victim is the server that is killed.
type victim struct {
	process
	client *client.Client
	folder string // of the state; empty for a command
	keep   bool
}

// newVictim prepares a server. It sets the flags' URL if the server is the development host.
func newVictim(flags *crashFlags) (*victim, error) {
	v := &victim{process: process{name: "the server"}, keep: flags.keep}
	settings := flags.settings()
	if flags.command != "" {
		environment := append(os.Environ(), settings...)
		environment = append(environment, "SET3D_SETTINGS="+strings.Join(settings, " "))
		v.command = shell(flags.command, environment)
	} else if err := v.host(flags, settings); err != nil {
		return nil, err
	}
	var err error
	v.client, _, err = flags.server.open()
	return v, err
}

// settings are what the match server is set to. A safe one waits for its database as long as it can: a verdict that is
// told after the wait is one that may be taken back.
func (f *crashFlags) settings() []string {
	settings := []string{
		"SET3D_DURABILITY=" + f.durability,
		fmt.Sprintf("SET3D_CHECKPOINT_MS=%d", f.checkpoint.Milliseconds()),
		fmt.Sprintf("SET3D_RESUME_WITHIN_MS=%d", f.resumeWithin.Milliseconds()),
		"SET3D_AFTER_END_MS=2000", "SET3D_RPC_PER_MINUTE=100000", "SET3D_MAX_TABLES_PER_USER=1000",
	}
	if f.durability == "safe" {
		settings = append(settings, "SET3D_SAFE_WAIT_MS=60000")
	}
	return settings
}

// shell runs a command line.
func shell(line string, environment []string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command("sh", "-c", line)
		cmd.Env = environment
		return cmd
	}
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
	if err := v.launch(); err != nil {
		return err
	}
	deadline := time.Now().Add(startLimit)
	for {
		if _, err := v.client.AuthenticateDevice(ctx, "set3d-crash-asks", ""); err == nil {
			return nil
		}
		select {
		case <-v.gone:
			return exit(exitNoRoute, "the server %w before it answered\n%s", errGone, v.output)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(startPoll):
		}
		if time.Now().After(deadline) {
			return exit(exitNoRoute, "no server answers at %s after %v\n%s", v.client.URL(), startLimit, v.output)
		}
	}
}

func (v *victim) close() {
	v.kill()
	if v.folder != "" && !v.keep {
		_ = os.RemoveAll(v.folder)
	}
}
