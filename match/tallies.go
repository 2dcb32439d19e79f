package match

import (
	"strconv"
	"sync/atomic"
	"time"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// The values of labels that are no enums of the wire.
const (
	verdictValid    = "valid"
	verdictWrong    = "wrong"
	playerConnected = "connected"
	playerAway      = "away"
)

// reasonsMax is beyond every number of a reason.
const reasonsMax = 128

// verdictLimitsUs are the upper bounds of the histogram of verdicts, in microseconds. Below the first a claim did not wait;
// beyond 20 ms players notice.
var verdictLimitsUs = [...]int64{250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 250_000, 1_000_000}

// tallies count what happens too often for Nakama's metrics: a counter there with a label costs 0.7 µs and three allocations, a timer 1.2 µs,
// as much as judging a claim. Here it is a few ns, and measure hands the sums over.
type tallies struct {
	valid, wrong    atomic.Int64
	claimsRefused   [reasonsMax]atomic.Int64
	messagesRefused [reasonsMax]atomic.Int64
	verdicts        [len(verdictLimitsUs) + 1]atomic.Int64 // each counts in one of them; the last is beyond all limits
}

func (n *tallies) verdict(valid bool) {
	if valid {
		n.valid.Add(1)
		return
	}
	n.wrong.Add(1)
}

func (n *tallies) claimRefused(r wire.Reason)   { n.claimsRefused[uint32(r)%reasonsMax].Add(1) }
func (n *tallies) messageRefused(r wire.Reason) { n.messagesRefused[uint32(r)%reasonsMax].Add(1) }

// answered counts a claim whose verdict has been sent so long after its arrival.
func (n *tallies) answered(after time.Duration) {
	i := 0
	for i < len(verdictLimitsUs) && after.Microseconds() > verdictLimitsUs[i] {
		i++
	}
	n.verdicts[i].Add(1)
}

// verdictBuckets are the values of the label le. Nakama keeps nothing but letters, digits and underscores: so they are whole
// microseconds, and infinity has no sign.
func verdictBuckets() []string {
	var names []string
	for _, limit := range verdictLimitsUs {
		names = append(names, strconv.FormatInt(limit, 10))
	}
	return append(names, "Inf")
}

// handOver gives Nakama what was counted since the last time.
func (n *tallies) handOver(m *module) {
	add := func(name, label, value string, delta int64) {
		if delta != 0 {
			m.nk.MetricsCounterAdd(name, map[string]string{label: value}, delta)
		}
	}
	add("set3d_claims_total", "verdict", verdictValid, n.valid.Swap(0))
	add("set3d_claims_total", "verdict", verdictWrong, n.wrong.Swap(0))
	for i := range reasonsMax {
		add("set3d_claims_refused_total", "reason", reasonName(wire.Reason(i)), n.claimsRefused[i].Swap(0))
		add("set3d_messages_refused_total", "reason", reasonName(wire.Reason(i)), n.messagesRefused[i].Swap(0))
	}
	sum := int64(0)
	for i, limit := range verdictBuckets() { // cumulative, as Prometheus wants it
		sum += n.verdicts[i].Swap(0)
		add("set3d_verdict_microseconds_bucket", "le", limit, sum)
	}
}

// answered tallies claims whose verdicts have just been sent.
func (t *table) answered(arrivals []time.Duration) {
	if len(arrivals) == 0 {
		return
	}
	now := t.module.clock.now()
	for _, at := range arrivals {
		t.module.tallies.answered(now - at)
	}
}

// tally counts what the session has put out.
func (t *table) tally() {
	for i := range t.out.Events {
		if e, ok := t.out.Events[i].Event.(domain.SetClaimed); ok {
			t.module.tallies.verdict(e.Valid())
		}
	}
	for i := range t.out.Answers {
		t.module.tallies.claimRefused(reasonToWire(t.out.Answers[i].Refusal.Reason))
	}
}
