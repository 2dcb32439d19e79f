package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"set3d/client"
)

// The histogram: 1 µs to 60 s with three digits. What is slower counts as 60 s.
const (
	lowestUs  = 1
	highestUs = 60_000_000
	digits    = 3
)

// The errors that say that the server is gone.
const (
	noConnection   = "no connection"
	connectionLost = "connection lost"
)

const maxDetails = 20 // violations that are kept in words

// tally adds up what all players see.
type tally struct {
	messagesSent, messagesReceived atomic.Uint64
	running, ended, idle           atomic.Int64
	reconnecting                   atomic.Int64 // players whose connection is lost
	dropped, reconnected           atomic.Int64 // connections, since begin

	mu         sync.Mutex
	live       map[*client.Socket]bool
	closed     client.Traffic // of sockets that are no more
	start      mark           // of what is measured
	latency    *hdrhistogram.Histogram
	lately     *hdrhistogram.Histogram // since the last sample
	claims     int
	valid      int
	invalid    int
	unanswered int            // ever
	refused    map[string]int // refused claims by reason
	errors     map[string]int // everything else that failed, ever
	refusal    string         // the first of the server's refusals, in words
	gone       bool           // the server, since the last connection that was made
	violations []string       // ever
	wrong      int
}

func newTally() *tally {
	return &tally{
		latency: hdrhistogram.New(lowestUs, highestUs, digits), lately: hdrhistogram.New(lowestUs, highestUs, digits),
		refused: map[string]int{}, errors: map[string]int{}, live: map[*client.Socket]bool{}, start: mark{at: time.Now()},
	}
}

// begin forgets what was counted while the tables opened, but for what went wrong.
func (t *tally) begin() {
	start := t.mark()
	t.ended.Store(0)
	t.dropped.Store(0)
	t.reconnected.Store(0)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.start = start
	t.latency.Reset()
	t.lately.Reset()
	t.claims, t.valid, t.invalid = t.unanswered, 0, 0
	clear(t.refused)
}

func (t *tally) begun() { t.running.Add(1) }

// over counts a match that was played to its end; one that was cut off only runs no more.
func (t *tally) over(toItsEnd bool) {
	t.running.Add(-1)
	if toItsEnd {
		t.ended.Add(1)
	}
}

// failed counts an error by its reason, or by its kind.
func (t *tally) failed(err error) {
	var refused *client.Error
	name := "other: " + err.Error()
	switch {
	case errors.As(err, &refused):
		name = refusalName(refused)
		if !refused.Foreign {
			t.refusedWith(err)
		}
	case errors.Is(err, client.ErrTableClosed):
		name = "table closed"
	case errors.Is(err, client.ErrLinkFailed), errors.Is(err, client.ErrClosed):
		name = connectionLost
	case errors.Is(err, client.ErrNoRoute):
		name = noConnection
	}
	t.count(name)
	if name == connectionLost || name == noConnection {
		t.lost()
	}
}

func refusalName(refused *client.Error) string {
	if refused.Reason != "" {
		return refused.Reason
	}
	return fmt.Sprintf("refused with code %d: %s", refused.Code, refused.Message)
}

// refusedWith keeps the words of the first refusal.
func (t *tally) refusedWith(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refusal == "" {
		t.refusal = err.Error()
	}
}

// lost notes that the server is gone, until the next connection is made.
func (t *tally) lost() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = true
}

func (t *tally) count(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.errors) < 100 || t.errors[name] > 0 { // names can hold texts of the server's
		t.errors[name]++
	}
}

// resolved counts an answered claim. Without a time its connection was lost meanwhile, and only the claim counts.
func (t *tally) resolved(kind answerKind, reason string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.claims++
	switch kind {
	case answeredValid:
		t.valid++
	case answeredInvalid:
		t.invalid++
	case answeredRefused:
		t.refused[reason]++
	}
	if took > 0 {
		us := min(max(took.Microseconds(), lowestUs), highestUs)
		_ = t.latency.RecordValue(us) // in range: it cannot fail
		_ = t.lately.RecordValue(us)
	}
}

func (t *tally) unansweredClaim() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.claims++
	t.unanswered++
}

// violation notes what no server should do.
func (t *tally) violation(text string, match *client.Match) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.violationLocked(text, match)
}

func (t *tally) violationLocked(text string, match *client.Match) {
	t.wrong++
	if match != nil {
		text = match.ID() + " " + text
	}
	if len(t.violations) < maxDetails {
		t.violations = append(t.violations, text)
	}
}

// verified takes what a verifier has found.
func (t *tally) verified(report client.Report, match *client.Match) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrong += report.Suppressed
	for _, text := range report.Violations {
		t.violationLocked(text, match)
	}
}

func (t *tally) progress() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := fmt.Sprintf("%s running, %d over, %s, p50 %s, p99 %s", count(int(t.running.Load()), "match"), t.ended.Load(), count(t.claims, "claim"),
		inMs(t.latency.ValueAtQuantile(50)), inMs(t.latency.ValueAtQuantile(99)))
	if n := t.idle.Load(); n > 0 {
		text += fmt.Sprintf(", %s", count(int(n), "idle table"))
	}
	if n := t.reconnecting.Load(); n > 0 {
		text += fmt.Sprintf(", %s, trying again", count(int(n), "lost connection"))
	}
	for _, name := range slices.Sorted(maps.Keys(t.errors)) {
		text += fmt.Sprintf(", %s: %d", name, t.errors[name])
	}
	return text
}

// opened counts a socket's traffic from now on.
func (t *tally) opened(socket *client.Socket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live[socket] = true
	t.gone = false
}

// close closes a socket and keeps what it has carried. A second time does nothing.
func (t *tally) close(socket *client.Socket) {
	_ = socket.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live[socket] {
		delete(t.live, socket)
		t.closed = t.closed.Plus(socket.Traffic())
	}
}

func inMs(us int64) string { return fmt.Sprintf("%.2f ms", float64(us)/1000) }

// mark is what all sockets had carried at a moment, and what this process had worked.
type mark struct {
	at                             time.Time
	messagesSent, messagesReceived uint64
	sockets                        client.Traffic
	work                           time.Duration // CPU time of this process
}

func (t *tally) mark() mark {
	m := mark{
		at: time.Now(), work: ownWork(), messagesSent: t.messagesSent.Load(), messagesReceived: t.messagesReceived.Load(),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m.sockets = t.closed
	for socket := range t.live {
		m.sockets = m.sockets.Plus(socket.Traffic())
	}
	return m
}
