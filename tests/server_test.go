package tests

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"set3d/client"
)

// server is a server under test: a process that was started here, or one that runs elsewhere.
type server struct {
	url, key, httpKey string
	version           string
	limits            limits
	hooks             bool // takes test_deck and test_panic_at

	process  *exec.Cmd // nil if it runs elsewhere
	settings []string
	log      lines
	exited   chan struct{}
	exit     error
	stopping atomic.Bool
}

// limits are those of hello's answer that tests have to know.
type limits struct {
	SpectatorsMax     int `json:"spectators_max"`
	OpenMatchesMax    int `json:"open_matches_max"`
	MessageBytesMax   int `json:"message_bytes_max"`
	RequestBytesMax   int `json:"request_bytes_max"`
	MessagesPerSecond int `json:"messages_per_second"`
	MessagesBurst     int `json:"messages_burst"`
	AfterEndMs        int `json:"after_end_ms"`
	EmptyTableMs      int `json:"empty_table_ms"`
	ReservationMs     int `json:"reservation_ms"`
	RPCsPerMinute     int `json:"rpcs_per_minute"`
}

func (s *server) String() string {
	where := "the server at " + s.url
	if s.process != nil {
		where = fmt.Sprintf("set3d serve at %s, pid %d", s.url, s.process.Process.Pid)
	}
	return fmt.Sprintf("%s, version %s, test hooks %t, %+v", where, s.version, s.hooks, s.limits)
}

// buildProgram builds a package of this module, for the race detector if this test is.
func buildProgram(ctx context.Context, into, pkg string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-o", into}, flags...)
	if raceDetector {
		args = append(args, "-race")
	}
	command := exec.CommandContext(ctx, "go", append(args, pkg)...)
	command.Dir = ".."
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(command.Args[1:], " "), err, output)
	}
	return nil
}

// start runs `set3d serve` with the test hooks and some settings more.
func (l *lab) start(ctx context.Context, settings ...string) (*server, error) {
	args := []string{"serve", "--addr", "127.0.0.1:0", "--grace", "1", "--env", hooksSetting}
	for _, setting := range settings {
		args = append(args, "--env", setting)
	}
	s := &server{key: "defaultkey", httpKey: "defaulthttpkey", settings: settings}
	return s, l.launch(ctx, s, exec.Command(l.program, args...))
}

var listening = regexp.MustCompile(`Listening on (http://\S+)`)

// launch starts a server's process, waits until it says where it listens, and from then on watches that it lives.
func (l *lab) launch(ctx context.Context, s *server, process *exec.Cmd) error {
	process.Stderr = &s.log
	output, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	s.process, s.exited = process, make(chan struct{})
	l.mu.Lock()
	l.running = append(l.running, s)
	l.mu.Unlock()
	found := make(chan string, 1)
	go s.watch(output, found)
	select {
	case s.url = <-found:
		return s.ask(ctx)
	case <-s.exited:
		return fmt.Errorf("the server ended at once: %w\n%s", s.exit, s.log.text())
	case <-ctx.Done():
		return fmt.Errorf("the server does not say where it listens\n%s", s.log.text())
	}
}

// watch reads what the process prints and waits for its end. An end that nobody asked for ends the tests.
func (s *server) watch(output io.Reader, found chan<- string) {
	reader := bufio.NewScanner(output)
	started := false
	for reader.Scan() {
		if match := listening.FindStringSubmatch(reader.Text()); match != nil && !started {
			started = true
			found <- match[1]
		}
		_, _ = s.log.Write(append(reader.Bytes(), '\n'))
	}
	s.exit = s.process.Wait()
	close(s.exited)
	if started && !s.stopping.Load() {
		fmt.Fprintf(os.Stderr, "FAIL: the server died: %v\nIts log:\n%s\n", s.exit, s.log.text())
		theLab.stopAll()
		os.Exit(1)
	}
}

// stop ends the process as an operator would, and says what was wrong with it.
func (s *server) stop() []string {
	if s.stopping.Swap(true) {
		return nil
	}
	_ = s.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.exited:
	case <-time.After(lastCall):
		_ = s.process.Process.Kill()
		<-s.exited
		return append(s.complaints(), "the server did not stop in "+lastCall.String())
	}
	if s.exit != nil {
		return append(s.complaints(), fmt.Sprintf("the server's end: %v\n%s", s.exit, s.log.text()))
	}
	return s.complaints()
}

var bugs = regexp.MustCompile(`DATA RACE|panic in |panic serving|fatal error:|came past the hook`)

// complaints are the lines of the log that tell of a bug, and the whole log after the first one.
func (s *server) complaints() []string {
	for line := range strings.Lines(s.log.text()) {
		if bugs.MatchString(line) && !strings.Contains(line, "ordered by test_panic_at") {
			return []string{fmt.Sprintf("the log of %s has: %s\n%s", s, line, s.log.text())}
		}
	}
	return nil
}

func (s *server) client() *client.Client {
	c, err := client.New(client.Config{URL: s.url, ServerKey: s.key})
	if err != nil {
		panic(err) // TestMain has asked the server already
	}
	return c
}

// ask learns what the server is like.
func (s *server) ask(ctx context.Context) error {
	c, err := client.New(client.Config{URL: s.url, ServerKey: s.key})
	if err != nil {
		return err
	}
	user, err := c.AuthenticateDevice(ctx, client.RandomID(), "")
	if err != nil {
		return err
	}
	answer, err := c.RPC(ctx, user, "hello", "{}")
	if err != nil {
		return err
	}
	hello := struct {
		Version string  `json:"server_version"`
		Limits  *limits `json:"limits"`
	}{Limits: &s.limits}
	if err := json.Unmarshal([]byte(answer), &hello); err != nil {
		return err
	}
	s.version = hello.Version
	_, err = c.CreateMatch(ctx, user, client.CreateMatch{TestPanicAt: "no such place"})
	s.hooks = client.ReasonOf(err) == "OUT_OF_RANGE"
	return nil
}

// shared is the server that most tests use.
func shared(*testing.T) *server { return theLab.shared }

// hooked is the shared server, if it takes decks and panics on order.
func hooked(t *testing.T) *server {
	t.Helper()
	if !theLab.shared.hooks {
		t.Skip("the server has not " + hooksSetting)
	}
	return theLab.shared
}

// serverWith starts a server with other settings. An external server is used if it suits; else the test is skipped.
func serverWith(t *testing.T, suits func(limits) bool, settings ...string) *server {
	t.Helper()
	if theLab.program == "" {
		if !theLab.shared.hooks || !suits(theLab.shared.limits) {
			t.Skipf("needs a server with %s %s", hooksSetting, strings.Join(settings, " "))
		}
		return theLab.shared
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := theLab.start(ctx, settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, problem := range s.stop() {
			t.Error(problem)
		}
	})
	return s
}

// ownServer is serverWith for tests that end the server, or that no external one is set up for.
func ownServer(t *testing.T, settings ...string) *server {
	t.Helper()
	if theLab.program == "" {
		t.Skipf("needs a server of its own %v", settings)
	}
	return serverWith(t, func(limits) bool { return true }, settings...)
}

// lines is a log. It keeps all of it: a server that talks so much that this hurts has a bug.
type lines struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(p)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}
