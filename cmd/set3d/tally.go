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
	"google.golang.org/protobuf/proto"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
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

// tally adds up what all players see.
type tally struct {
	messagesSent, messagesReceived atomic.Uint64
	running, ended                 atomic.Int64
	reconnecting                   atomic.Int64 // players whose connection is lost

	mu         sync.Mutex
	live       map[*meter]bool
	closed     client.Traffic // of sockets that are no more
	latency    *hdrhistogram.Histogram
	claims     int
	valid      int
	invalid    int
	unanswered int
	refused    map[string]int // refused claims by reason
	errors     map[string]int // everything else that failed
	violations []string
	wrong      int
}

func newTally() *tally {
	return &tally{
		latency: hdrhistogram.New(lowestUs, highestUs, digits), refused: map[string]int{}, errors: map[string]int{},
		live: map[*meter]bool{},
	}
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
	case errors.As(err, &refused) && refused.Reason != "":
		name = refused.Reason
	case errors.As(err, &refused):
		name = fmt.Sprintf("refused with code %d", refused.Code)
	case errors.Is(err, client.ErrTableClosed):
		name = "table closed"
	case errors.Is(err, client.ErrLinkFailed), errors.Is(err, client.ErrClosed):
		name = connectionLost
	case errors.Is(err, client.ErrNoRoute):
		name = noConnection
	}
	t.count(name)
}

func (t *tally) count(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.errors) < 100 || t.errors[name] > 0 { // names can hold texts of the server's
		t.errors[name]++
	}
}

func (t *tally) answered(took time.Duration) {
	us := min(max(took.Microseconds(), lowestUs), highestUs)
	_ = t.latency.RecordValue(us) // in range: it cannot fail
}

func (t *tally) progress() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := fmt.Sprintf("%s running, %d over, %s, p50 %s, p99 %s", count(int(t.running.Load()), "match"), t.ended.Load(), count(t.claims, "claim"),
		inMs(t.latency.ValueAtQuantile(50)), inMs(t.latency.ValueAtQuantile(99)))
	if n := t.reconnecting.Load(); n > 0 {
		text += fmt.Sprintf(", %s, trying again", count(int(n), "lost connection"))
	}
	for _, name := range slices.Sorted(maps.Keys(t.errors)) {
		text += fmt.Sprintf(", %s: %d", name, t.errors[name])
	}
	return text
}

// traffic is what all sockets have carried so far.
func (t *tally) traffic() traffic {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := traffic{messagesSent: t.messagesSent.Load(), messagesReceived: t.messagesReceived.Load(), sockets: t.closed}
	for m := range t.live {
		sum.add(m.traffic())
	}
	return sum
}

// traffic is match messages, and the frames of the sockets that they travel in.
type traffic struct {
	messagesSent, messagesReceived uint64
	sockets                        client.Traffic
}

func (t *traffic) add(socket client.Traffic) {
	t.sockets.FramesSent += socket.FramesSent
	t.sockets.FramesReceived += socket.FramesReceived
	t.sockets.BytesSent += socket.BytesSent
	t.sockets.BytesReceived += socket.BytesReceived
}

func inMs(us int64) string { return fmt.Sprintf("%.2f ms", float64(us)/1000) }

// meter measures one player's match: a Tap for what it sends, an Audience for what it gets.
type meter struct {
	tally    *tally
	verifier *client.Verifier
	link     *client.Link
	seeking  bool // another connection

	mu   sync.Mutex
	sent map[uint64]time.Time // claims without an answer, by id: when first sent
}

// open puts the meter on its link.
func (m *meter) open(link *client.Link) {
	m.link = link
	m.tally.mu.Lock()
	defer m.tally.mu.Unlock()
	m.tally.live[m] = true
}

func (m *meter) traffic() client.Traffic {
	if socket := m.link.Match().Socket(); socket != nil {
		return socket.Traffic()
	}
	return client.Traffic{}
}

// Joined implements client.Tap.
func (m *meter) Joined() {
	if m.verifier != nil {
		m.verifier.Joined()
	}
}

// Sent implements client.Tap.
func (m *meter) Sent(frame client.Frame) {
	m.tally.messagesSent.Add(1)
	if m.verifier != nil {
		m.verifier.Sent(frame)
	}
	var claim wire.ClaimSet
	if wire.OpCode(frame.Op) != wire.OpCode_OP_CODE_CLAIM_SET || proto.Unmarshal(frame.Data, &claim) != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, resent := m.sent[claim.GetClaimId()]; !resent {
		m.sent[claim.GetClaimId()] = time.Now()
	} else {
		m.tally.count("claims sent again")
	}
}

// Received implements client.Tap.
func (m *meter) Received(frame client.Frame) {
	m.tally.messagesReceived.Add(1)
	if m.verifier != nil {
		m.verifier.Received(frame)
	}
}

// Message implements client.Audience.
func (m *meter) Message(message client.Message) {
	switch body := message.Body.(type) {
	case *wire.Update:
		for _, event := range body.GetEvents() {
			if claimed := event.GetSetClaimed(); claimed != nil {
				m.answered(claimed.GetClaimId(), message.At)
			}
		}
	case *wire.ClaimResult:
		m.answered(body.GetClaimId(), message.At)
	case *wire.Error:
		m.tally.count(client.ReasonName(body.GetReason()))
	}
}

// answered records the first answer to a claim of this player's; ids of others are not among those sent.
func (m *meter) answered(id uint64, at time.Time) {
	m.mu.Lock()
	sent, own := m.sent[id]
	delete(m.sent, id)
	m.mu.Unlock()
	if own {
		m.tally.mu.Lock()
		defer m.tally.mu.Unlock()
		m.tally.answered(at.Sub(sent))
	}
}

// Resolved implements client.Audience.
func (m *meter) Resolved(r client.Resolution) {
	m.mu.Lock()
	delete(m.sent, r.ClaimID) // a Welcome may have answered it
	m.mu.Unlock()
	t := m.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	t.claims++
	switch r.Kind {
	case client.ResolvedValid:
		t.valid++
	case client.ResolvedInvalid:
		t.invalid++
	case client.ResolvedRefused:
		t.refused[client.ReasonName(r.Reason)]++
	case client.ResolvedAbandoned:
		t.unanswered++
	}
}

// ConnectionLost implements client.ConnectionAudience.
func (m *meter) ConnectionLost() {
	m.seeking = true
	m.tally.reconnecting.Add(1)
}

// ConnectionMade implements client.ConnectionAudience.
func (m *meter) ConnectionMade() { m.stopSeeking() }

func (m *meter) stopSeeking() {
	if m.seeking {
		m.tally.reconnecting.Add(-1)
	}
	m.seeking = false
}

// lost says that the connection will not be made again.
func (m *meter) lost() {
	if m.verifier != nil {
		m.verifier.Lost()
	}
}

// close ends the player's part: what has no answer now will have none.
func (m *meter) close() {
	m.stopSeeking()
	carried := m.traffic()
	m.link.Close()
	m.mu.Lock()
	waiting := len(m.sent)
	m.mu.Unlock()
	t := m.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, m)
	sum := traffic{sockets: t.closed}
	sum.add(carried)
	t.closed = sum.sockets
	t.unanswered += waiting
	t.claims += waiting
	if m.verifier == nil {
		return
	}
	report := m.verifier.Report()
	t.wrong += len(report.Violations) + report.Suppressed
	for _, violation := range report.Violations {
		if len(t.violations) < 20 {
			t.violations = append(t.violations, m.link.Match().ID()+" "+violation)
		}
	}
}
