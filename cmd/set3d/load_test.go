package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"set3d/client"
	"set3d/domain"
	"set3d/local"
	wire "set3d/proto/set3d/v1"
	"set3d/tests/echo"
)

// loadResult runs load and reads its result.
func loadResult(t *testing.T, args ...string) result {
	t.Helper()
	p := execute(t, append([]string{"load", "--json"}, args...)...)
	require.Equal(t, exitOK, p.code, p.stderr+p.stdout)
	var r result
	require.NoError(t, json.Unmarshal([]byte(p.stdout), &r))
	return r
}

// requireSound sees that nothing went wrong and nothing was forgotten.
func requireSound(t *testing.T, r result) {
	t.Helper()
	delete(r.Errors, "claims sent again") // on a slow machine
	require.Empty(t, r.Errors)
	require.Zero(t, r.Violations, r.Details)
	require.Zero(t, r.Claims.Unanswered)
	require.Equal(t, r.Claims.Sent, r.Claims.Valid+r.Claims.Invalid+r.Claims.Refused)
}

func TestLoadOnTheGame(t *testing.T) {
	url := startServer(t, "SET3D_RATE_PER_SECOND=1000", "SET3D_RATE_BURST=1000", "SET3D_AFTER_END_MS=5000")
	t.Run("tables are renewed", func(t *testing.T) {
		t.Parallel()
		for _, args := range []string{"--verify=false", "--format json"} {
			r := loadResult(t, append(strings.Fields(args), "--url", url, "--matches", "3", "--players", "2", "--pace", "10ms", "--errors", "0.2",
				"--duration", "2s")...)
			requireSound(t, r)
			require.Greater(t, r.MatchesOver, int64(3), "matches follow one another")
			require.Positive(t, r.Claims.Valid)
			require.Positive(t, r.Claims.Invalid)
			require.Equal(t, r.LatencyMs.Count, int64(r.Claims.Sent))
			require.Greater(t, r.PerSecond.FramesReceived, r.PerSecond.FramesSent)
			require.NotZero(t, r.Seed)
			require.NotEmpty(t, r.Timeline)
			var answers, inBuckets int64
			for _, s := range r.Timeline {
				answers += s.Answers
			}
			for _, b := range r.Buckets {
				inBuckets += b.Answers
			}
			require.Equal(t, r.LatencyMs.Count, inBuckets)
			require.Positive(t, answers)
			require.LessOrEqual(t, answers, r.LatencyMs.Count, "the last answers come after the last sample")
		}
	})
	t.Run("presets with their animations, a ramp, and lost connections", func(t *testing.T) {
		t.Parallel()
		r := loadResult(t, "--url", url, "--matches", "4", "--players", "2", "--pace", "50ms", "--presets", "classic:1,fast:3", "--ramp", "300ms",
			"--drop-every", "400ms", "--duration", "3s")
		requireSound(t, r)
		require.Equal(t, "classic:1,fast:3", r.Presets)
		require.InDelta(t, 0.3, r.RampSeconds, 1e-9)
		require.Positive(t, r.Connections.Dropped)
		require.Positive(t, r.Connections.Reconnected)
		require.Positive(t, r.Claims.Valid)
		require.True(t, r.Verified)
	})
	t.Run("idle tables", func(t *testing.T) {
		t.Parallel()
		r := loadResult(t, "--url", url, "--matches", "0", "--idle", "43", "--players", "2", "--duration", "500ms")
		requireSound(t, r)
		require.Equal(t, 43, r.IdleTables)
		require.Zero(t, r.Claims.Sent)
	})
	t.Run("its own CPU, and the server's", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("needs /proc")
		}
		file := filepath.Join(t.TempDir(), "result.json")
		p := execute(t, "load", "--url", url, "--matches", "5", "--pace", "5ms", "--duration", "3s", "--json="+file)
		require.Equal(t, exitOK, p.code, p.stderr+p.stdout)
		require.Contains(t, p.stdout, "Verdict latency")
		require.Contains(t, p.stdout, "How long an answer took")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var r result
		require.NoError(t, json.Unmarshal(text, &r))
		require.Positive(t, r.Client.CPUSeconds)
		require.Positive(t, r.Client.CPUMsPerThousandFrames)
		require.Nil(t, r.Server)
	})
}

// TestLoadWatchesItself has the server in its own process: then both need the same.
func TestLoadWatchesItself(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	url := startServer(t)
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "# HELP go_goroutines x\ngo_goroutines 77\ngo_memstats_heap_inuse_bytes 2e+06\ngo_memstats_stack_inuse_bytes 1e+06\n")
	}))
	defer metrics.Close()
	r := loadResult(t, "--url", url, "--matches", "5", "--pace", "100ms", "--duration", "2s", "--server-pid", itoa(os.Getpid()), "--metrics", metrics.URL)
	require.NotNil(t, r.Server)
	require.Positive(t, r.Server.CPUSeconds)
	require.InDelta(t, r.Client.CPUSeconds, r.Server.CPUSeconds, max(0.5, r.Client.CPUSeconds/2))
	require.Positive(t, r.Server.CPUMsPerThousandFrames)
	require.Positive(t, r.Server.RSSMB)
	require.GreaterOrEqual(t, r.Server.RSSPeakMB, r.Server.RSSMB)
	require.InDelta(t, 3, r.Server.HeapMB, 1e-9)
	require.Equal(t, uint64(77), r.Server.Goroutines)
	require.Positive(t, r.Timeline[0].ServerRSSMB)
}

func itoa(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func TestLoadOnTheEchoModule(t *testing.T) {
	server, err := local.New(local.Config{Addr: "127.0.0.1:0", Logger: local.NewLogger(io.Discard, slog.LevelError)}, echo.InitModule)
	require.NoError(t, err)
	require.NoError(t, server.Start())
	defer func() { require.NoError(t, server.Shutdown(context.Background())) }()
	r := loadResult(t, "--url", server.URL(), "--echo", echo.CreateRPC, "--matches", "2", "--players", "3", "--pace", "50ms", "--idle", "7",
		"--duration", "2s")
	requireSound(t, r)
	require.Equal(t, r.Claims.Sent, r.Claims.Valid)
	require.Positive(t, r.Claims.Sent)
	require.False(t, r.Verified, "there is nothing to verify")
	require.InDelta(t, 3, r.PerSecond.MessagesReceived/r.PerSecond.MessagesSent, 1, "every message comes to everybody")

	p := execute(t, "load", "--url", server.URL(), "--echo", "no_such_rpc", "--matches", "1", "--duration", "200ms")
	require.Equal(t, exitRefused, p.code)
	require.Contains(t, p.stdout, "refused with code 6: RPC function not found")
	require.Contains(t, p.stderr, "no claim was answered: the server refused: RPC function not found")
}

// TestLoadKeepsTheFramesOfLostConnections: what a socket has carried counts when it is gone.
func TestLoadKeepsTheFramesOfLostConnections(t *testing.T) {
	r := newRelay(t, startServer(t))
	p := r.whileRunning(t, `[1-9]\d* claims`, "load", "--url", r.url, "--matches", "2", "--players", "2", "--pace", "20ms", "--duration", "8s",
		"--patience", "200ms", "--json")
	require.Equal(t, exitNoRoute, p.code, p.stdout+p.stderr)
	var got result
	require.NoError(t, json.Unmarshal([]byte(p.stdout), &got))
	require.Positive(t, got.PerSecond.FramesReceived)
	require.Positive(t, got.PerSecond.BytesSent)
	require.Positive(t, got.Errors[connectionLost])
}

func TestPresetMix(t *testing.T) {
	flags := loadFlags{matches: 1, players: 3, duration: time.Second, patience: time.Second, presets: "classic:2,fast"}
	plan, err := flags.plan()
	require.NoError(t, err)
	var names []string
	for table := range 6 {
		request := plan.request(table)
		require.Equal(t, 3, request.Seats)
		require.Empty(t, request.Rules, "the presets' own")
		names = append(names, request.Preset)
	}
	require.Equal(t, []string{"classic", "classic", "fast", "classic", "classic", "fast"}, names)

	flags.presets = ""
	plan, err = flags.plan()
	require.NoError(t, err)
	require.Contains(t, plan.request(0).Rules, "valid_anim_ms", "without animations")
	flags.rules = `{"invalid_anim_ms":7}`
	plan, err = flags.plan()
	require.NoError(t, err)
	require.Equal(t, map[string]any{"invalid_anim_ms": 7.0}, plan.request(0).Rules)
}

// testPlace is a place at a table without a server, whose timer never rings.
func testPlace(flags loadFlags) *place {
	l := &loader{tally: newTally(), flags: flags}
	p := newPlace(&loadTable{loader: l, lost: make(chan *place, 1)}, &seat{random: rand.New(rand.NewPCG(1, 2))}, l.newContest(), nil)
	p.state, p.timer = placePlays, time.AfterFunc(time.Hour, func() {})
	return p
}

func TestThinkTimesHaveThePaceAsTheirMean(t *testing.T) {
	p := testPlace(loadFlags{pace: 2 * time.Second})
	var sum, longest time.Duration
	short, long := 0, 0
	const n = 500_000
	for range n {
		d := p.think()
		sum, longest = sum+d, max(longest, d)
		if d < time.Second {
			short++
		}
		if d > 4*time.Second {
			long++
		}
	}
	require.InDelta(t, 2, (sum / n).Seconds(), 0.02)
	require.Equal(t, 20*time.Second, longest, "some would be longer")
	require.Greater(t, short, n/10)
	require.Greater(t, long, n/50)
}

func TestEveryClaimIsAnsweredOnce(t *testing.T) {
	ask := func(p *place, id uint64, valid bool) {
		p.claim, p.owed[id] = &claim{id: id, valid: valid, first: time.Now()}, p.owed[id]+1
	}
	p := testPlace(loadFlags{pace: time.Hour})
	tally := p.table.loader.tally
	ask(p, 5, true)
	p.answer(5, answeredLater, "BUSY", time.Now())
	require.NotNil(t, p.claim, "it is sent again")
	require.Equal(t, 1, tally.errors["BUSY"])
	ask(p, 5, true)
	p.answer(5, answeredValid, "", time.Now())
	require.Nil(t, p.claim)
	require.Zero(t, tally.wrong)
	p.answer(5, answeredValid, "", time.Now())
	require.Equal(t, 1, tally.wrong, "answered twice")
	p.answer(6, answeredRefused, "NOT_ON_BOARD", time.Now())
	require.Equal(t, 2, tally.wrong, "never sent")
	ask(p, 7, true)
	p.answer(7, answeredInvalid, "", time.Now())
	require.Equal(t, 3, tally.wrong, "it was a Set")
	ask(p, 8, false)
	p.answer(8, answeredValid, "", time.Now())
	require.Equal(t, 4, tally.wrong, "it was none")
	ask(p, 9, false)
	p.end(true)
	require.Equal(t, 1, tally.unanswered)
	require.Equal(t, 4, tally.claims, "5, 7, 8 and the one without an answer")
}

// A claim that waits when the server interrupts the match to shut down need not be answered. One that waits when a table closes must.
func TestAnInterruptedMatchOwesNoAnswer(t *testing.T) {
	for kind, unanswered := range map[wire.NoticeKind]int{wire.NoticeKind_NOTICE_KIND_SUSPENDED: 0, wire.NoticeKind_NOTICE_KIND_CLOSED: 1} {
		p := testPlace(loadFlags{pace: time.Hour})
		p.verifier = client.NewVerifier(client.VerifierConfig{})
		sent, _ := proto.Marshal(&wire.ClaimSet{ClaimId: 5, Cards: []byte{0, 1, 2}})
		p.claim, p.owed[5] = &claim{id: 5, valid: true, first: time.Now()}, 1
		p.verifier.Sent(client.Frame{Op: int64(wire.OpCode_OP_CODE_CLAIM_SET), Data: sent})
		notice, _ := proto.Marshal(&wire.Notice{Kind: kind})
		p.contest.(*setGame).notice(p, client.Frame{Op: int64(wire.OpCode_OP_CODE_NOTICE), Data: notice})
		require.Nil(t, p.claim)
		require.Equal(t, unanswered, p.table.loader.tally.unanswered, "%v", kind)
		require.Len(t, p.verifier.Report().Violations, unanswered, "%v", kind)
	}
}

// A claim whose connection was lost counts, but its time is not the server's.
func TestALostConnectionIsNoLatency(t *testing.T) {
	p := testPlace(loadFlags{pace: time.Hour})
	p.claim, p.owed[5] = &claim{id: 5, valid: true, first: time.Now().Add(-time.Minute)}, 1
	p.Disconnected(client.ErrClosed)
	p.Joined()
	p.answer(5, answeredValid, "", time.Now())
	require.Equal(t, 1, p.table.loader.tally.valid)
	require.Zero(t, p.table.loader.tally.latency.TotalCount())
}

// What happened while the tables were opened is not measured, but what went wrong stays.
func TestMeasuringBegins(t *testing.T) {
	tally := newTally()
	tally.resolved(answeredValid, "", time.Second)
	tally.resolved(answeredRefused, "BUSY", time.Second)
	tally.unansweredClaim()
	tally.count("an error")
	tally.violation("wrong", nil)
	tally.messagesSent.Add(5)
	tally.dropped.Add(1)
	tally.over(true)
	tally.begin()
	tally.resolved(answeredInvalid, "", time.Millisecond)
	tally.messagesSent.Add(2)
	end := tally.mark()
	end.at = tally.start.at.Add(2 * time.Second)
	r := tally.result(loadFlags{}, end)
	require.Equal(t, claimCounts{Sent: 2, Invalid: 1, Unanswered: 1}, r.Claims)
	require.Equal(t, int64(1), r.LatencyMs.Count)
	require.InDelta(t, 1, r.LatencyMs.Max, 0.01)
	require.Equal(t, []bucket{{2, 1}}, r.Buckets)
	require.Empty(t, r.Refused)
	require.Equal(t, map[string]int{"an error": 1}, r.Errors)
	require.Equal(t, []string{"wrong"}, r.Details)
	require.InDelta(t, 1, r.PerSecond.MessagesSent, 1e-9)
	require.Zero(t, r.Connections)
	require.Zero(t, r.MatchesOver)
}

func TestBuckets(t *testing.T) {
	h := hdrhistogram.New(lowestUs, highestUs, digits)
	require.Empty(t, buckets(h))
	for _, us := range []int64{150, 199, 200, 700, 6_000_000} {
		require.NoError(t, h.RecordValue(us))
	}
	got := buckets(h)
	require.Equal(t, []bucket{{0.2, 2}, {0.5, 1}, {1, 1}, {2, 0}}, got[:4])
	require.Equal(t, bucket{0, 1}, got[len(got)-1], "slower than all")
	require.Len(t, got, len(bucketsMs()))
}

// A server limits the tables that a user has open, and those that are over stay open for a while.
func TestLoadTakesNewUsersInTime(t *testing.T) {
	url := startServer(t, "SET3D_RATE_PER_SECOND=1000", "SET3D_RATE_BURST=1000", "SET3D_MAX_TABLES_PER_USER="+itoa(createdPerUser))
	r := loadResult(t, "--url", url, "--matches", "1", "--players", "1", "--pace", "1ms", "--duration", "4s", "--verify=false")
	requireSound(t, r)
	require.Greater(t, r.MatchesOver, int64(createdPerUser))
}

func TestMistakesAreNoSets(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	board := make([]domain.Card, 0, domain.DeckSize)
	for range 2_000 {
		board = board[:0]
		for _, id := range random.Perm(domain.DeckSize)[:4+random.IntN(15)] {
			board = append(board, domain.MustCard(id))
		}
		triple := mistake(random, board)
		require.False(t, domain.ValidateTriple(triple).IsValid(), "%v of %v", triple, board)
		require.True(t, triple[0] != triple[1] && triple[1] != triple[2] && triple[0] != triple[2])
	}
}

func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	p := &progress{out: &out, start: time.Now(), live: true}
	p.say("%d tables", 3)
	p.say("%d tables", 4)
	p.end()
	require.Equal(t, "\r\x1b[K    0 s  3 tables\r\x1b[K    0 s  4 tables\n", out.String())
}

func TestMetricsOfAnotherProgram(t *testing.T) {
	require.False(t, readMetrics(strings.NewReader("# TYPE x counter\nx 5\n\nnonsense"), &vitals{}))
	var v vitals
	require.True(t, readMetrics(strings.NewReader("process_cpu_seconds_total 0.25\nprocess_resident_memory_bytes 1.5e+06\n"), &v))
	require.Equal(t, vitals{work: 250 * time.Millisecond, rssBytes: 1_500_000}, v)
}
