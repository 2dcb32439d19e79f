package deploy_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var database = flag.String("database", "", "with -nakama: an empty PostgreSQL to start it with, host:port/name; the user is postgres, the password $POSTGRES_PASSWORD")

// TestRealServer starts a real Nakama as the container does, with the shipped configuration: with the plugin it is healthy and stops
// when it is told to; without, Nakama says that it is healthy and the healthcheck says that it is not.
func TestRealServer(t *testing.T) {
	if *nakamaProgram == "" || *database == "" {
		t.Skip("needs -nakama PATH -database HOST:PORT/NAME")
	}
	data := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-buildmode=plugin", "-o", filepath.Join(data, "modules/set3d.so"), ".")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	t.Run("with the plugin", func(t *testing.T) {
		s := startReal(t, data)
		s.wait(t, "the plugin answers", 0)
		s.stop(t)
		for _, complaint := range []string{"insecure", `"level":"error"`, "everybody knows"} {
			if strings.Contains(s.log.String(), complaint) {
				t.Errorf("the log has %s:\n%s", complaint, &s.log)
			}
		}
	})
	t.Run("without it", func(t *testing.T) {
		s := startReal(t, t.TempDir())
		s.wait(t, "404", 1)
		s.stop(t)
	})
}

// realPort is the server's; gRPC takes the one below, console and metrics those above, and the console's gRPC the one two below. All
// are outside of what the system gives to outgoing connections, of which Nakama makes some to itself while it starts.
const realPort = 27350

type realServer struct {
	process *exec.Cmd
	env     []string
	log     bytes.Buffer // complete when the process has ended
}

func startReal(t *testing.T, data string) *realServer {
	t.Helper()
	s := &realServer{}
	env := with(ownSecrets(), "PATH="+os.Getenv("PATH"), "NAKAMA="+*nakamaProgram, "NAKAMA_CONFIG="+root+"local.yml", "NAKAMA_TELEMETRY=0",
		"NAKAMA_DATABASE="+*database, "POSTGRES_PASSWORD="+os.Getenv("POSTGRES_PASSWORD"), "NAKAMA_PORT="+strconv.Itoa(realPort))
	for key, value := range env {
		s.env = append(s.env, key+"="+value)
	}
	s.process = exec.Command(root+"deploy/entrypoint.sh", "--data_dir", data, "--socket.address", "127.0.0.1", "--socket.port", strconv.Itoa(realPort),
		"--console.address", "127.0.0.1", "--console.port", strconv.Itoa(realPort+1), "--metrics.prometheus_port", strconv.Itoa(realPort+2))
	s.process.Env, s.process.Stdout, s.process.Stderr = s.env, &s.log, &s.log
	// Should the script not become Nakama, that must not outlive the test, nor the test wait for it.
	s.process.SysProcAttr, s.process.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, 10*time.Second
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL) })
	return s
}

// wait asks the healthcheck until it says this and exits with that.
func (s *realServer) wait(t *testing.T, want string, exit int) {
	t.Helper()
	var output []byte
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		check := exec.Command(root + "deploy/healthcheck.sh")
		check.Env = s.env
		output, _ = check.CombinedOutput()
		if strings.Contains(string(output), want) && check.ProcessState.ExitCode() == exit {
			return
		}
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	t.Fatalf("the healthcheck says %s\nthe log:\n%s", output, &s.log)
}

func (s *realServer) stop(t *testing.T) {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.process.Wait(); err != nil || !strings.Contains(s.log.String(), "Shutdown complete") {
		t.Errorf("it ended with %v\n%s", err, &s.log)
	}
}
