package match

import (
	"strconv"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

// An idle tick of a running match allocates nothing.
func TestIdleTickDoesNotAllocate(t *testing.T) {
	for name, g := range map[string]*game{
		"idle":      newGame(t, deckRequest(""), "ann", "bob"),
		"timed":     newGame(t, `{"preset":"timed"}`, "ann", "bob"),
		"lobby":     lobbyOf(newFake(t), `{"start":"ready","seats":4,"bots":["easy"],"fill_with_bots_after_ms":60000}`, "ann", "bob"),
		"animating": newGame(t, deckRequest(""), "ann", "bob"),
	} {
		if name == "animating" {
			g.players[0].claim(g.m, 1, setSA)
		}
		state := g.m.state
		n := testing.AllocsPerRun(100, func() {
			state = g.m.core.MatchLoop(g.m.ctx, g.n.logger, nil, g.n, g.m, 1, state, nil)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkIdleTick(b *testing.B) {
	g := newGame(b, deckRequest(""), "ann", "bob")
	state := g.m.state
	b.ReportAllocs()
	for b.Loop() {
		state = g.m.core.MatchLoop(g.m.ctx, g.n.logger, nil, g.n, g.m, 1, state, nil)
	}
}

// countingDispatcher counts frames and throws them away.
type countingDispatcher struct{ frames, bytes int }

func (d *countingDispatcher) BroadcastMessage(_ int64, data []byte, _ []runtime.Presence, _ runtime.Presence, _ bool) error {
	d.frames++
	d.bytes += len(data)
	return nil
}

func (d *countingDispatcher) BroadcastMessageDeferred(int64, []byte, []runtime.Presence, runtime.Presence, bool) error {
	return nil
}
func (d *countingDispatcher) MatchKick([]runtime.Presence) error { return nil }
func (d *countingDispatcher) MatchLabelUpdate(string) error      { return nil }

// BenchmarkClaim is a claim's whole way through this package: hook, mailbox, drain, judgement, one frame for all. The
// signal is taken out: the drain is called where Nakama would. Every claim is judged, and wrong, with a lock of 1 ms, so
// that the board stays.
func BenchmarkClaim(b *testing.B) {
	const claimsPerMatch = 10_000 // as many as no match has: a longer one would measure the growth of its memory
	var line *claimLine
	dispatcher := &countingDispatcher{}
	b.ReportAllocs()
	for i := range b.N {
		if i%claimsPerMatch == 0 {
			b.StopTimer()
			line = newClaimLine(b, dispatcher)
			b.StartTimer()
		}
		line.claim(uint64(i + 1))
	}
	b.StopTimer()
	if dispatcher.frames != b.N {
		b.Fatalf("%d frames for %d claims", dispatcher.frames, b.N)
	}
	b.ReportMetric(float64(dispatcher.bytes)/float64(b.N), "bytes/frame")
}

// claimLine sends one claim after the other into a match whose bell the benchmark is.
type claimLine struct {
	g          *game
	dispatcher runtime.MatchDispatcher
	message    *rtapi.MatchDataSend
	in         *rtapi.Envelope
	wrong      *wire.ClaimSet
	payload    []byte
}

func newClaimLine(b *testing.B, dispatcher runtime.MatchDispatcher) *claimLine {
	n := newFake(b, "SET3D_RATE_PER_SECOND=1000", "SET3D_RATE_BURST=1000")
	g := startGame(n, `{"seats":4,"rules":{"penalty_mode":"point","invalid_anim_ms":1},"test_deck":"`+boardMAX+boardRest+`"}`, "ann", "bob", "cid", "dan")
	message := &rtapi.MatchDataSend{OpCode: opClaimSet}
	g.m.table().box.ringing = true // nobody else rings
	return &claimLine{
		g: g, dispatcher: dispatcher, wrong: claimOf(0, notSet), message: message,
		in: &rtapi.Envelope{Message: &rtapi.Envelope_MatchDataSend{MatchDataSend: message}},
	}
}

func (l *claimLine) claim(id uint64) {
	n := l.g.n
	n.clock.at += 2 * time.Millisecond
	l.wrong.ClaimId = id
	l.payload, _ = proto.MarshalOptions{}.MarshalAppend(l.payload[:0], l.wrong)
	l.message.MatchId, l.message.Data = l.g.m.id, l.payload
	if _, err := n.hook(l.g.players[0].ctx, l.in); err != nil {
		n.t.Fatal(err)
	}
	l.g.m.core.MatchSignal(l.g.m.ctx, n.logger, nil, n, l.dispatcher, 1, l.g.m.state, "")
	l.g.m.table().box.ringing = true
}

// BenchmarkClaimCold is the same at many tables in turn, with so many KiB read between two claims: on a server a table's memory, and the code, are no
// longer in the caches when its next claim comes. cold-ns is the claim alone.
func BenchmarkClaimCold(b *testing.B) {
	lines := make([]*claimLine, 250)
	for i := range lines {
		lines[i] = newClaimLine(b, &countingDispatcher{})
	}
	junk := make([]byte, 64<<20)
	at := 0
	id := uint64(0)
	for _, kib := range []int{0, 1 << 10, 32 << 10} {
		b.Run(strconv.Itoa(kib), func(b *testing.B) {
			total := time.Duration(0)
			for i := range b.N {
				for range kib << 10 / 64 {
					junk[at]++
					at = (at + 64) % len(junk)
				}
				id++
				began := time.Now()
				lines[i%len(lines)].claim(id)
				total += time.Since(began)
			}
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "cold-ns")
		})
	}
}

func BenchmarkSnapshotEncode(b *testing.B) {
	s := fullSnapshot(4)
	var e encoder
	b.ReportAllocs()
	for b.Loop() {
		e.encode(e.fill(s))
	}
	b.ReportMetric(float64(len(e.buffer)), "bytes")
}

func BenchmarkWelcome(b *testing.B) {
	g := newGame(b, deckRequest(""), "ann", "bob")
	tb := g.m.table()
	tb.dispatcher = &countingDispatcher{}
	v := tb.visitors[0]
	b.ReportAllocs()
	for b.Loop() {
		tb.welcome(v)
	}
}
