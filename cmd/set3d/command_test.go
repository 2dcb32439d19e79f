package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"set3d/client"
)

// lockedBuffer is a bytes.Buffer that a command may write to while a test reads.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// program is a finished run.
type program struct {
	code           int
	stdout, stderr string
}

func execute(t *testing.T, args ...string) program {
	var stdout, stderr lockedBuffer
	code := run(t.Context(), args, &stdout, &stderr)
	return program{code, stdout.String(), stderr.String()}
}

var listening = regexp.MustCompile(`Listening on (http://\S+)`)

// startServer runs serve on a free port for the length of the test, and returns its URL.
func startServer(t *testing.T, env ...string) string {
	ctx, cancel := context.WithCancel(context.Background())
	var stdout, stderr lockedBuffer
	args := []string{"serve", "--addr", "127.0.0.1:0", "--grace", "0"}
	for _, setting := range env {
		args = append(args, "--env", setting)
	}
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, args, &stdout, &stderr) }()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitOK {
			t.Errorf("serve ended with %d: %s", code, stderr.String())
		}
	})
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		if found := listening.FindStringSubmatch(stdout.String()); found != nil {
			return found[1]
		}
		select {
		case code := <-ended:
			ended <- code
			t.Fatalf("serve ended with %d: %s", code, stderr.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
	t.Fatalf("serve does not listen: %s", stderr.String())
	return ""
}

func TestUsageErrors(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"--nonsense", "unknown flag: --nonsense"},
		{"nonsense", `unknown command "nonsense"`},
		{"help bogus", `there is no help for "bogus"`},
		{"help play extra", "no such command"},
		{"simulate --games 5", "--games is for a league"},
		{"simulate --league --seeds 5", "--seeds is for matches without --league"},
		{"play extra", `unknown command "extra"`},
		{"play --players 0", "--players is 0, want 1 to 8"},
		{"play --players 9", "--players is 9"},
		{"play --players two", "invalid argument"},
		{"play --pace -1s", "--pace is -1s"},
		{"play --errors 1", "--errors is 1"},
		{"play --errors nan", "--errors is NaN"},
		{"load --errors nan", "--errors is NaN"},
		{"load --json=/nonexistent/result.json", "--json: open /nonexistent/result.json: no such file"},
		{"play --url 127.0.0.1:7450", "--url 127.0.0.1:7450: http:// or https:// is missing"},
		{"play --rules nojson", "--rules: want a JSON object"},
		{"play --rules [1]", "--rules: want a JSON object"},
		{"play --format xml", "want protobuf or json"},
		{"play --url localhost", "want http://HOST:PORT"},
		{"play --url http://127.0.0.1:7350/api", "without a path"},
		{"load --matches -1", "--matches is -1"},
		{"load --matches 0", "there is nothing to do"},
		{"load --idle 20001", "--idle is 20001, want 0 to 20000"},
		{"load --ramp -1s", "--ramp is -1s"},
		{"load --drop-every 1ms", "--drop-every is 1ms"},
		{"load --preset fast --presets fast:1", "one of them"},
		{"load --presets fast:0", "want a share of 1 to 1000"},
		{"load --presets fast:x", "want a share"},
		{"load --presets fast,,classic", "want NAME:SHARE"},
		{"load --echo echo_create --preset fast", "--echo knows neither presets nor rules"},
		{"load --server-pid 2147483647", "--server-pid, --metrics: process 2147483647"},
		{"load --metrics http://127.0.0.1:1", "--server-pid, --metrics: "},
		{"load --matches 5000", "want 0 to 2000"},
		{"load --players 99", "--players is 99"},
		{"load --duration 0s", "--duration is 0s"},
		{"load --pace 1h", "--pace is 1h0m0s"},
		{"load --patience 0s", "--patience is 0s"},
		{"play --patience -1s", "--patience is -1s"},
		{"load --errors -0.1", "--errors is -0.1"},
		{"load --rules {", "--rules: want a JSON object"},
		{"serve --addr nowhere", "want HOST:PORT"},
		{"serve --addr 127.0.0.1:99999", "want a port of 0 to 65535"},
		{"serve --addr 127.0.0.1:seven", "want a port of 0 to 65535"},
		{"serve --env NOVALUE", "want KEY=VALUE"},
		{"serve --env FOO=1", "all are named SET3D_"},
		{"serve --state /nonexistent/x.json", "the state file /nonexistent/x.json cannot be written: no such file or directory"},
		{"serve --log-level loud", "want debug, info, warn or error"},
		{"serve --grace -1", "--grace is -1"},
		{"serve --addr 127.0.0.1:0 --env SET3D_TICK_RATE=fast", "SET3D_TICK_RATE"},
	} {
		p := execute(t, strings.Fields(test.args)...)
		require.Equal(t, exitUsage, p.code, "%s: %s", test.args, p.stderr)
		require.Contains(t, p.stderr, test.want, test.args)
		require.Contains(t, p.stderr, "--help'", test.args)
		require.Empty(t, p.stdout, test.args)
		require.NotContains(t, p.stderr, "Usage:", "no usage spam")
	}
}

func TestHelp(t *testing.T) {
	for _, command := range []string{"", "serve", "play", "load"} {
		p := execute(t, append(strings.Fields(command), "--help")...)
		require.Equal(t, exitOK, p.code)
		require.Empty(t, p.stderr)
		require.Contains(t, p.stdout, strings.TrimSpace("set3d "+command))
	}
	for _, command := range []string{"serve", "play", "load", "crash", "replay"} {
		p := execute(t, command, "--help")
		require.Contains(t, p.stdout, "\nExit codes:")
		require.Contains(t, p.stdout, "Examples:")
	}
	require.Contains(t, execute(t, "serve", "--help").stdout, "SET3D_TICK_RATE")
	require.Equal(t, execute(t, "load", "--help"), execute(t, "help", "load"))
	require.Equal(t, execute(t, "--help"), execute(t, "help"))
	require.Contains(t, execute(t).stdout, "A first look", "without arguments: the help")
}

// unusedURL is where nobody listens.
func unusedURL(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return "http://" + l.Addr().String()
}

func TestNoServer(t *testing.T) {
	url := unusedURL(t)
	for _, command := range []string{"play", "load"} {
		p := execute(t, command, "--url", url)
		require.Equal(t, exitNoRoute, p.code)
		require.Contains(t, p.stderr, "no server answers at "+url)
		require.Contains(t, p.stderr, "set3d serve")
		require.Contains(t, p.stderr, "(connection refused)")
		require.NotContains(t, p.stderr, "--help")
	}
}

func TestAnotherServer(t *testing.T) {
	for _, status := range []int{http.StatusNotImplemented, http.StatusOK} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<html>hello</html>")
		}))
		p := execute(t, "play", "--url", server.URL)
		server.Close()
		require.Equal(t, exitNoRoute, p.code)
		require.Contains(t, p.stderr, "what answers at "+server.URL+" does not look like a Nakama server")
	}
}

func TestServeOnATakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	p := execute(t, "serve", "--addr", l.Addr().String())
	require.Equal(t, exitNoPort, p.code)
	require.Contains(t, p.stderr, "Is another server running? Choose another --addr")
	p = execute(t, "serve", "--addr", "192.0.2.1:0") // an address for documentation: nobody's
	require.Equal(t, exitNoPort, p.code)
	require.NotContains(t, p.stderr, "another server")
}

func TestServePrintsWhatToTry(t *testing.T) {
	var out bytes.Buffer
	newPen(&out).welcome("http://127.0.0.1:9999", "a-key")
	require.Contains(t, out.String(), "set3d play --url http://127.0.0.1:9999 --key a-key ")
	out.Reset()
	newPen(&out).welcome("http://127.0.0.1:7350", "defaultkey")
	require.Contains(t, out.String(), "\n  set3d play                  watch")
}

var replayLine = regexp.MustCompile(`(?m)^Replay it: set3d (replay .+)$`)

// requireReplay follows what play says, once the result is stored.
func requireReplay(t *testing.T, stdout string) {
	t.Helper()
	line := replayLine.FindStringSubmatch(stdout)
	require.NotNil(t, line, stdout)
	require.Eventually(t, func() bool {
		p := execute(t, strings.Fields(line[1])...)
		return p.code == exitOK && strings.Contains(p.stdout, "All well.")
	}, 30*time.Second, 50*time.Millisecond, line[1])
}

func TestOtherServersAreNamed(t *testing.T) {
	require.Empty(t, (&serverFlags{url: defaultURL, key: defaultKey}).others())
	require.Equal(t, ` --url https://set.example.org:7 --key 'it'\''s $5'`, (&serverFlags{url: "https://set.example.org:7", key: "it's $5"}).others())
}

// fastRules make a match as short as it can be.
const fastRules = `{"valid_anim_ms":0,"refill_anim_ms":0,"expand_anim_ms":0,"invalid_anim_ms":100}`

func TestAgainstAServer(t *testing.T) {
	url := startServer(t, "SET3D_RATE_PER_SECOND=1000", "SET3D_RATE_BURST=1000")
	for _, args := range []string{
		"--players 2 --errors 0.2",
		"--players 1 --seed 42 --format json",
		"--players 4 --preset timed",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			p := execute(t, append([]string{"play", "--url", url, "--pace", "10ms", "--rules", fastRules}, strings.Fields(args)...)...)
			require.Equal(t, exitOK, p.code, p.stderr+p.stdout)
			require.Empty(t, p.stderr)
			require.Contains(t, p.stdout, "The match is over: no Set is left")
			require.Contains(t, p.stdout, "each answered.")
			require.Contains(t, p.stdout, "The cards were dealt as the "+map[bool]string{true: "seed says", false: "server had committed"}[strings.Contains(args, "--seed")])
			require.True(t, strings.HasSuffix(p.stdout, "All well.\n"))
			requireReplay(t, p.stdout)
			require.NotContains(t, p.stdout, "\x1b", "plain when it is no terminal")
		})
	}
	t.Run("wrong key", func(t *testing.T) {
		t.Parallel()
		p := execute(t, "play", "--url", url, "--key", "nonsense")
		require.Equal(t, exitRefused, p.code, p.stderr)
		require.Contains(t, p.stderr, "--key")
	})
	t.Run("unknown preset", func(t *testing.T) {
		t.Parallel()
		p := execute(t, "play", "--url", url, "--preset", "nonsense")
		require.Equal(t, exitRefused, p.code)
		require.Contains(t, p.stderr, "UNKNOWN_PRESET")
		require.Contains(t, p.stderr, "tournament", "it says what is allowed")
	})
	t.Run("bad rules", func(t *testing.T) {
		t.Parallel()
		p := execute(t, "play", "--url", url, "--rules", `{"valid_anim_ms":99999}`)
		require.Equal(t, exitRefused, p.code)
		require.Contains(t, p.stderr, "OUT_OF_RANGE")
	})
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		p := execute(t, "play", "--url", url, "--pace", "1m", "--timeout", "200ms")
		require.Equal(t, exitWrong, p.code)
		require.Equal(t, "set3d: the match is not over after 200ms (--timeout)\n", p.stderr)
	})
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		var stdout, stderr lockedBuffer
		require.Equal(t, exitStopped, run(ctx, []string{"play", "--url", url, "--pace", "1m"}, &stdout, &stderr))
		require.Contains(t, stderr.String(), "interrupted")
	})
	t.Run("load", func(t *testing.T) {
		t.Parallel()
		p := execute(t, "load", "--url", url, "--matches", "2", "--players", "2", "--pace", "20ms", "--duration", "700ms", "--json")
		require.Equal(t, exitOK, p.code, p.stderr+p.stdout)
		var r result
		require.NoError(t, json.Unmarshal([]byte(p.stdout), &r))
		require.Positive(t, r.Claims.Sent)
		require.Equal(t, r.Claims.Sent, r.Claims.Valid+r.Claims.Invalid+r.Claims.Refused)
		require.Zero(t, r.Claims.Unanswered)
		require.Equal(t, int64(r.Claims.Sent), r.LatencyMs.Count)
		require.Positive(t, r.LatencyMs.P50)
		require.Positive(t, r.PerSecond.FramesReceived)
		require.Greater(t, r.PerSecond.FramesReceived, r.PerSecond.MessagesReceived)
		require.Zero(t, r.Violations)
		require.Contains(t, p.stderr, "waiting for the last answers")
	})
	t.Run("load is interrupted", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var stdout, stderr lockedBuffer
		require.Equal(t, exitStopped, run(ctx, []string{"load", "--url", url, "--matches", "1"}, &stdout, &stderr))
		require.Contains(t, stdout.String(), "Verdict latency")
		require.Contains(t, stdout.String(), "Interrupted: this is what was seen until then.")
		require.Contains(t, stderr.String(), "set3d: interrupted after ")
	})
	t.Run("load is refused", func(t *testing.T) {
		t.Parallel()
		p := execute(t, "load", "--url", url, "--preset", "nonsense", "--duration", "300ms")
		require.Equal(t, exitRefused, p.code)
		require.Contains(t, p.stdout, "UNKNOWN_PRESET")
		require.Contains(t, p.stderr, "no claim was answered: create_match: the server refused: UNKNOWN_PRESET")
		require.NotContains(t, p.stderr, "map[")
	})
}

func TestLoadJudges(t *testing.T) {
	for _, test := range []struct {
		r    result
		code int
	}{
		{result{LatencyMs: latencies{Count: 5}}, exitOK},
		{result{LatencyMs: latencies{Count: 5}, Refused: map[string]int{"BUSY": 5}}, exitOK},
		{result{}, exitWrong},
		{result{LatencyMs: latencies{Count: 5}, Claims: claimCounts{Unanswered: 1}, Errors: map[string]int{"connection lost": 1}}, exitNoRoute},
		{result{Errors: map[string]int{"no connection": 1}}, exitNoRoute},
		{result{Matches: 1, IdleTables: 1}, exitWrong},
		{result{IdleTables: 1}, exitOK},
		{result{IdleTables: 1, Errors: map[string]int{"TOO_MANY_MATCHES": 1}}, exitWrong},
		{result{IdleTables: 1, Errors: map[string]int{"DRAINING": 1}, refusal: "DRAINING"}, exitRefused},
		{result{Matches: 1, Errors: map[string]int{"DRAINING": 1}, refusal: "DRAINING"}, exitRefused},
		{result{Matches: 1, LatencyMs: latencies{Count: 5}, Errors: map[string]int{"DRAINING": 1}, refusal: "DRAINING"}, exitOK},
		{result{LatencyMs: latencies{Count: 5}, Violations: 1}, exitWrong},
		{result{LatencyMs: latencies{Count: 5}, Claims: claimCounts{Unanswered: 1}}, exitWrong},
	} {
		err := test.r.judge()
		if test.code == exitOK {
			require.NoError(t, err)
			continue
		}
		var known *exitError
		require.ErrorAs(t, err, &known)
		require.Equal(t, test.code, known.code)
	}
}

// A server that was lost may have been found again; it is told which.
func TestLoadKnowsWhetherTheServerCameBack(t *testing.T) {
	tally := newTally()
	says := func(text string) {
		r := tally.result(loadFlags{}, tally.mark())
		require.ErrorContains(t, r.judge(), "the server was lost and "+text+" (connection lost: 1, no connection: 1)")
	}
	tally.failed(client.ErrLinkFailed)
	tally.failed(client.ErrNoRoute)
	says("could not be reached again")
	tally.opened(nil)
	clear(tally.live)
	says("was reached again")
}

// Whoever looks on gets the table although the file cannot be written.
func TestLoadPrintsTheTableWithoutTheFile(t *testing.T) {
	flags := loadFlags{json: filepath.Join(t.TempDir(), "result.json")}
	require.NoError(t, os.WriteFile(flags.json, bytes.Repeat([]byte("an old result "), 1000), 0o600))
	file, err := flags.openJSON()
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, flags.write(&out, file, result{Matches: 1}))
	require.Contains(t, out.String(), "Verdict latency")
	text, err := os.ReadFile(flags.json)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &result{}), "nothing is left of the old one")
	out.Reset()
	require.Error(t, flags.write(&out, file, result{Matches: 1}), "it is closed")
	require.Contains(t, out.String(), "Verdict latency")
}

func TestLoadTable(t *testing.T) {
	var out bytes.Buffer
	r := result{
		Matches: 10, Players: 4, PaceMs: 2000, Seconds: 30, MatchesOver: 12,
		Claims:    claimCounts{Sent: 100, Valid: 80, Invalid: 5, Refused: 14, Unanswered: 1},
		LatencyMs: latencies{Count: 99, P50: 0.5, P90: 0.9, P99: 4.25, P999: 5, Max: 17.5},
		PerSecond: rates{MessagesSent: 3, MessagesReceived: 14, FramesSent: 4, FramesReceived: 16, BytesSent: 200, BytesReceived: 4000},
		Refused:   map[string]int{"NOT_ON_BOARD": 13, "BOARD_LOCK": 1}, Errors: map[string]int{"BUSY": 2},
		Verified: true, Violations: 1, Details: []string{"match at revision 3: wrong"},
		Client:      clientResult{CPUSeconds: 3, CPUPercent: 10, CPUMsPerThousandFrames: 50},
		Connections: connections{Dropped: 4, Reconnected: 3},
		Buckets:     []bucket{{0.5, 50}, {1, 40}, {2, 0}, {0, 9}},
	}
	require.NoError(t, r.writeTable(newPen(&out)))
	golden(t, "load_table", out.Bytes())
	out.Reset()
	require.NoError(t, r.writeJSON(&out))
	golden(t, "load_json", out.Bytes())

	r.IdleTables, r.Interrupted, r.Details = 5000, true, nil
	r.Server = &serverResult{CPUPercent: 25, CPUMsPerThousandFrames: 100, RSSBeforeMB: 60, RSSMB: 300, RSSPeakMB: 320, KiBPerTable: 57.5,
		HeapBeforeMB: 9, HeapMB: 200, GoroutinesBefore: 90, Goroutines: 5300}
	for i := range 10 {
		r.Timeline = append(r.Timeline, sample{P50: 0.5, P99: 1 + float64(i%3), ServerCPU: 20 + float64(i), ClientCPU: 10, ServerRSSMB: 290})
	}
	out.Reset()
	require.NoError(t, r.writeTable(newPen(&out)))
	golden(t, "load_table_full", out.Bytes())
	r = result{IdleTables: 7, Players: 2, Seconds: 3}
	out.Reset()
	require.NoError(t, r.writeTable(newPen(&out)))
	golden(t, "load_table_idle", out.Bytes())
}

func TestCount(t *testing.T) {
	require.Equal(t, "1 match", count(1, "match"))
	require.Equal(t, "2 matches", count(2, "match"))
	require.Equal(t, "0 players", count(0, "player"))
}
