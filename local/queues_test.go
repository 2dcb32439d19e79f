package local

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"github.com/stretchr/testify/require"
)

func parseID(s string) (uuid.UUID, error) { return uuid.FromString(s) }

// blocker stops a match's goroutine in a signal until it is released.
type blocker struct{ entered, release chan struct{} }

func newBlocker() *blocker { return &blocker{make(chan struct{}, 100), make(chan struct{})} }

func (b *blocker) signal(c callback, data string) (any, string) {
	switch data {
	case "block":
		b.entered <- struct{}{}
		<-b.release
	case "end":
		b.entered <- struct{}{}
		<-b.release
		return nil, ""
	}
	return c.state, "echo:" + data
}

func (h *host) signal(id, data string) (string, error) {
	return h.srv.nk.MatchSignal(context.Background(), id, data)
}

func TestInputQueueOverflowDropsMessages(t *testing.T) {
	b := newBlocker()
	s := &scripted{signal: b.signal}
	lines := &lineCount{}
	h := start(t, Config{Queues: Queues{Input: 5}, Logger: NewLogger(lines, slog.LevelWarn)}, s.register)
	id := h.match(nil)
	c := h.login("ann").dial(formatJSON)
	c.join(id)
	h.await(s, "join", 1)
	go func() { _, _ = h.signal(id, "block") }()
	<-b.entered
	for i := range 12 {
		c.send(dataEnvelope(id, int64(i+1), ""))
	}
	c.ping()
	close(b.release)
	c.awaitData(105)
	require.Len(t, s.all("data"), 5)
	require.Equal(t, 7, lines.containing("dropping data message"))
	require.False(t, c.has(func(e *rtapi.Envelope) bool { return e.GetError() != nil }), "the sender is not told")
}

type lineCount struct {
	mu    sync.Mutex
	lines []string
}

func (l *lineCount) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(b))
	return len(b), nil
}

func (l *lineCount) containing(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func TestSignalQueueOverflowIsBusy(t *testing.T) {
	b := newBlocker()
	s := &scripted{signal: b.signal}
	h := start(t, Config{Queues: Queues{Signal: 2}}, s.register)
	id := h.match(nil)
	go func() { _, _ = h.signal(id, "block") }()
	<-b.entered
	var wg sync.WaitGroup
	var answered atomic.Int32
	m := h.srv.matches.all()[0]
	for i := range 2 {
		wg.Go(func() {
			if r, err := h.signal(id, fmt.Sprint(i)); err == nil && r == fmt.Sprint("echo:", i) {
				answered.Add(1)
			}
		})
	}
	eventually(t, "two queued signals", func() bool { return len(m.signals) == 2 })
	_, err := h.signal(id, "one too many")
	require.ErrorIs(t, err, runtime.ErrMatchBusy)
	close(b.release)
	wg.Wait()
	require.Equal(t, int32(2), answered.Load())
}

// Signals behind one that ends the match are orphaned or refused: their callers are all told busy, some only when the
// time is up.
func TestEndingMatchOrphansSignals(t *testing.T) {
	t.Parallel()
	b := newBlocker()
	s := &scripted{signal: b.signal}
	h := start(t, Config{Timing: Timing{SignalTimeout: 200 * time.Millisecond}}, s.register)
	waited := 0
	for range 2 { // select picks at random: that no signal is orphaned has a chance of 1 in 2^20
		id := h.match(nil)
		m := h.srv.matches.find(mustID(id))
		go func() { _, _ = h.signal(id, "end") }()
		<-b.entered
		errs := make(chan time.Duration, 10)
		for range 10 {
			go func() {
				began := time.Now()
				_, err := h.signal(id, "behind")
				if err != nil && err == runtime.ErrMatchBusy {
					errs <- time.Since(began)
				}
			}()
		}
		eventually(t, "queued signals", func() bool { return len(m.signals) == 10 })
		b.release <- struct{}{}
		for range 10 {
			if <-errs >= 200*time.Millisecond {
				waited++
			}
		}
	}
	require.NotZero(t, waited, "no signal was orphaned")
	require.Len(t, s.all("signal"), 2, "what was behind never ran")
}

func mustID(s string) matchID {
	id, ok := parseMatchID(s)
	if !ok {
		panic("no match id: " + s)
	}
	return id
}

func TestSignalFaults(t *testing.T) {
	s := &scripted{}
	faults := map[string]SignalFault{"full": SignalQueueFull, "skipped": SignalSkipped, "timeout": SignalTimedOut, "lost": SignalAnswerLost}
	h := start(t, Config{Faults: &Faults{Signal: func(_, data string) SignalFault { return faults[data] }}}, s.register)
	id := h.match(nil)
	for data := range faults {
		_, err := h.signal(id, data)
		require.ErrorIs(t, err, runtime.ErrMatchBusy, data)
	}
	r, err := h.signal(id, "fine")
	require.NoError(t, err)
	require.Equal(t, "echo:fine", r)
	ran := map[string]bool{}
	for _, e := range s.all("signal") {
		ran[e.data] = true
	}
	require.Equal(t, map[string]bool{"timeout": true, "lost": true, "fine": true}, ran)
}

func TestSignalContextCancelled(t *testing.T) {
	b := newBlocker()
	s := &scripted{signal: b.signal}
	h := start(t, Config{}, s.register)
	id := h.match(nil)
	go func() { _, _ = h.signal(id, "block") }()
	<-b.entered
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { _, err := h.srv.nk.MatchSignal(ctx, id, "late"); done <- err }()
	m := h.srv.matches.all()[0]
	eventually(t, "the queued signal", func() bool { return len(m.signals) == 1 })
	cancel()
	require.ErrorIs(t, <-done, runtime.ErrMatchBusy)
	close(b.release)
	_, err := h.signal(id, "next")
	require.NoError(t, err)
	require.Len(t, s.all("signal"), 2, "the cancelled one was skipped")
}

func TestCallQueueOverflowStopsMatchAndCutsSockets(t *testing.T) {
	b := newBlocker()
	s := &scripted{signal: b.signal}
	h := start(t, Config{Queues: Queues{Call: 2}}, s.register)
	id := h.match(nil)
	c := h.login("ann").dial(formatJSON)
	c.join(id)
	h.await(s, "join", 1)
	m := h.srv.matches.all()[0]
	eventually(t, "the join mark", func() bool { return len(m.calls) == 0 })
	go func() { _, _ = h.signal(id, "block") }()
	<-b.entered
	for range 3 { // presence events come from the tracker's goroutine
		m.joined(nil)
	}
	c.awaitClosed()
	require.Empty(t, h.srv.matches.all())
	close(b.release)
}

func TestSlowLoopDoesNotOverflowCalls(t *testing.T) {
	var slow atomic.Bool
	s := &scripted{}
	s.init = func(context.Context, map[string]any) (any, int, string) { return s, 60, "" }
	s.loop = func(c callback, _ []runtime.MatchData) any {
		if slow.CompareAndSwap(true, false) {
			time.Sleep(200 * time.Millisecond) // a dozen ticks, lost
		}
		return c.state
	}
	h := start(t, Config{Queues: Queues{Call: 2}}, s.register)
	id := h.match(nil)
	slow.Store(true)
	eventually(t, "the slow loop", func() bool { return !slow.Load() })
	_, err := h.signal(id, "x")
	require.NoError(t, err)
}

func TestJoinAttemptQueueFull(t *testing.T) {
	b := newBlocker()
	s := &scripted{signal: b.signal}
	h := start(t, Config{Queues: Queues{JoinAttempt: 1}}, s.register)
	id := h.match(nil)
	go func() { _, _ = h.signal(id, "block") }()
	<-b.entered
	ann, bob := h.login("ann").dial(formatJSON), h.login("bob").dial(formatJSON)
	m := h.srv.matches.all()[0]
	e := joinEnvelope(id, nil)
	e.Cid = "1"
	ann.send(e)
	eventually(t, "the queued attempt", func() bool { return len(m.attempts) == 1 })
	r := bob.request(joinEnvelope(id, nil)).GetError()
	require.Equal(t, int32(rtapi.Error_MATCH_JOIN_REJECTED), r.Code)
	require.Equal(t, "Match is not currently accepting join requests", r.Message)
	close(b.release)
	ann.await("join", func(e *rtapi.Envelope) bool { return e.GetMatch() != nil })
}

// A join that timed out for the client still runs: MatchJoin comes, and the marker's expiry makes the ghost leave.
func TestJoinTimesOutYetRuns(t *testing.T) {
	b := newBlocker()
	s := &scripted{signal: b.signal}
	h := start(t, Config{Timing: Timing{JoinTimeout: 50 * time.Millisecond, JoinMarker: 100 * time.Millisecond, MarkerSweep: 50 * time.Millisecond}}, s.register)
	id := h.match(nil)
	go func() { _, _ = h.signal(id, "block") }()
	<-b.entered
	c := h.login("ann").dial(formatJSON)
	require.Equal(t, "Match join rejected", c.request(joinEnvelope(id, nil)).GetError().GetMessage())
	close(b.release)
	h.await(s, "join", 1)
	h.await(s, "leave", 1)
}

func TestDeferredOverflow(t *testing.T) {
	result := make(chan error, 1)
	s := &scripted{loop: func(c callback, ms []runtime.MatchData) any {
		if len(ms) > 0 {
			_ = c.d.BroadcastMessageDeferred(1, nil, nil, nil, true)
			_ = c.d.BroadcastMessageDeferred(2, nil, nil, nil, true)
			result <- c.d.BroadcastMessageDeferred(3, nil, nil, nil, true)
		}
		return c.state
	}}
	h := start(t, Config{Queues: Queues{Deferred: 2}}, s.register)
	id := h.match(nil)
	c := h.login("ann").dial(formatJSON)
	c.join(id)
	c.send(dataEnvelope(id, 9, ""))
	require.ErrorIs(t, <-result, runtime.ErrDeferredBroadcastFull)
	c.awaitData(1)
	c.awaitData(2)
}

// A client that does not read is cut off when its queue is full; the others stay.
func TestOutgoingOverflowCutsOff(t *testing.T) {
	t.Parallel()
	s := &scripted{}
	h := start(t, Config{Queues: Queues{Outgoing: 64}, Timing: Timing{WriteWait: 500 * time.Millisecond, CloseWait: 10 * time.Millisecond}}, s.register)
	id := h.match(nil)
	reader := h.login("ann").dial(formatJSON)
	reader.join(id)
	mute := h.login("bob").dialMute(formatJSON)
	mute.send(joinEnvelope(id, nil))
	h.await(s, "join", 2)
	m := h.srv.matches.all()[0]
	big := make([]byte, 256<<10)
	for op := int64(500); len(s.all("leave")) == 0; op++ {
		_ = m.BroadcastMessage(op, big, nil, nil, true)
		reader.awaitData(op)
	}
	left := s.all("leave")[0]
	require.Equal(t, "bob", left.ps[0].GetUsername())
	require.Equal(t, runtime.PresenceReasonDisconnect, left.ps[0].GetReason())
	reader.ping()
}

func TestOutgoingFullFault(t *testing.T) {
	var cut atomic.Bool
	h := start(t, Config{Faults: &Faults{OutgoingFull: func(string) bool { return cut.Load() }}}, nil)
	c := h.login("ann").dial(formatJSON)
	c.ping()
	cut.Store(true)
	c.send(&rtapi.Envelope{Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}})
	c.awaitClosed()
}

func TestPresenceEventsOverflowLosesLeaves(t *testing.T) {
	var lose atomic.Bool
	s := &scripted{}
	h := start(t, Config{Faults: &Faults{PresenceEventsFull: lose.Load}}, s.register)
	id := h.match(nil)
	a, b := h.login("ann").dial(formatJSON), h.login("bob").dial(formatJSON)
	a.join(id)
	b.join(id)
	h.await(s, "join", 2)
	lose.Store(true)
	a.conn.Close()
	eventually(t, "ann's session to end", func() bool { return len(h.srv.sessions.all()) == 1 })
	lose.Store(false)
	b.conn.Close()
	require.Equal(t, "bob", h.await(s, "leave", 1).ps[0].GetUsername())
	require.Equal(t, 1, h.srv.matches.all()[0].members.size(), "ann is a ghost")
}

func TestLoggerLevels(t *testing.T) {
	l := &lineCount{}
	log := NewLogger(l, slog.LevelInfo).WithField("a", 1).WithFields(map[string]any{"b": "x"})
	log.Debug("no")
	log.Info("n=%d", 3)
	require.Equal(t, 1, l.containing(`msg="n=3" a=1 b=x`))
	require.Len(t, l.lines, 1)
	require.Equal(t, map[string]any{"a": 1, "b": "x"}, log.Fields())
	_ = NewLogger(io.Discard, slog.LevelError)
}
