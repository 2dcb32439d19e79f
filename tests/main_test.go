package tests

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"set3d/client"
)

const (
	patience     = 10 * time.Second // for anything that is about to come
	lastCall     = 15 * time.Second // before go test's own timeout: time to stop the servers
	buildLimit   = 5 * time.Minute
	envURL       = "SET3D_NAKAMA_URL"
	envKey       = "SET3D_NAKAMA_KEY"
	envHTTPKey   = "SET3D_NAKAMA_HTTP_KEY"
	hooksSetting = "SET3D_TEST_HOOKS=on"
)

// lab is what all tests share.
type lab struct {
	folder  string
	program string // path of set3d, built once; empty with an external server
	shared  *server

	mu      sync.Mutex
	running []*server
}

var theLab = &lab{}

func TestMain(m *testing.M) {
	flag.Parse()
	if !isSet("test.parallel") {
		_ = flag.Set("test.parallel", "8") // the tests wait more than they work
	}
	os.Exit(theLab.run(m))
}

func (l *lab) run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "set3d-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l.folder = folder
	defer func() { _ = os.RemoveAll(folder) }()
	l.watchTheTime()
	if err := l.open(); err != nil {
		fmt.Fprintln(os.Stderr, "no server to test:", err)
		l.stopAll()
		return 1
	}
	fmt.Printf("testing %s\n", l.shared)
	code := m.Run()
	if problems := l.stopAll(); len(problems) > 0 {
		for _, problem := range problems {
			fmt.Fprintln(os.Stderr, "FAIL:", problem)
		}
		return 1
	}
	return code
}

// open finds or starts the server that most tests share.
func (l *lab) open() error {
	ctx, cancel := context.WithTimeout(context.Background(), buildLimit)
	defer cancel()
	if url := os.Getenv(envURL); url != "" {
		l.shared = &server{url: url, key: orDefault(os.Getenv(envKey), "defaultkey"),
			httpKey: orDefault(os.Getenv(envHTTPKey), "defaulthttpkey")}
		return l.shared.ask(ctx)
	}
	l.program = filepath.Join(l.folder, "set3d")
	if err := buildProgram(ctx, l.program, "./cmd/set3d"); err != nil {
		return err
	}
	var err error
	l.shared, err = l.start(ctx)
	return err
}

// stopAll ends the servers that were started here and says what was wrong with them.
func (l *lab) stopAll() []string {
	l.mu.Lock()
	running := l.running
	l.running = nil
	l.mu.Unlock()
	var problems []string
	for _, s := range running {
		problems = append(problems, s.stop()...)
	}
	return problems
}

// watchTheTime stops the servers before go test kills this process, which would leave them behind.
func (l *lab) watchTheTime() {
	limit, ok := flag.Lookup("test.timeout").Value.(flag.Getter).Get().(time.Duration)
	if !ok || limit <= lastCall {
		return
	}
	time.AfterFunc(limit-lastCall, func() {
		fmt.Fprintln(os.Stderr, "FAIL: the tests hang; all goroutines follow")
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
		l.stopAll()
		os.Exit(1)
	})
}

// isSet says whether a flag was on the command line.
func isSet(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// signIn makes a new user.
func signIn(t testing.TB, on *server) *client.User {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	user, err := on.client().AuthenticateDevice(ctx, client.RandomID(), "")
	if err != nil {
		t.Fatalf("sign in: %v", err)
	}
	return user
}
