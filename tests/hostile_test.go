package tests

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// clientOps are the op codes that a client may send.
var clientOps = slices.Sorted(slices.Values(append(slices.Clone(knownOps), tableOps...)))

// TestHostileFlood sends 10,000 random payloads for each op code of clients into a match in which honest players play, from sessions that
// are in it, a seated one among them, and as many from sessions that are not. The server's rates are raised, so that the payloads get past the
// limiter. Nothing breaks, every honest claim is answered, no honest socket is cut off, and the match ends normally.
func TestHostileFlood(t *testing.T) {
	on := serverWith(t, func(l limits) bool { return l.MessagesPerSecond >= 1_000 && l.MessagesBurst >= 1_000 },
		"SET3D_RATE_PER_SECOND=1000", "SET3D_RATE_BURST=1000")
	perOp, sessions := 10_000, 14
	if testing.Short() || raceDetector {
		perOp, sessions = 500, 6
	}
	rules := quick(map[string]any{"idle_limit_ms": 120_000, "drop_hold_ms": 60_000})
	hostile := connect(t, on, asProtobuf) // has a seat
	honest := []*peer{connect(t, on, asJSON), connect(t, on, asProtobuf)}
	x := create(t, on, client.CreateMatch{Seats: 3, Rules: rules}, honest[0])
	for _, p := range append(honest, hostile) {
		x.seat(p)
	}
	hostile.rude = true
	hostile.attend(x.made.MatchID, nil)

	f := &flood{t: t, seed: rand.Uint64(), matchID: x.made.MatchID, heard: map[string]int{}}
	t.Logf("seed %d", f.seed)
	inside, outside := []*peer{hostile}, []*peer(nil)
	for i := range sessions {
		format := bothFormats[i%2]
		in, out := connect(t, on, format), connect(t, on, format)
		in.join(x.made.MatchID, nil)
		out.attend(x.made.MatchID, nil)
		inside, outside = append(inside, in), append(outside, out)
	}
	var flooding atomic.Bool
	flooding.Store(true)
	var players, floods sync.WaitGroup
	scores := make([]honestScore, len(honest))
	for i, p := range honest {
		players.Go(func() { scores[i] = playHonestly(p, flooding.Load) })
	}
	begun := time.Now()
	floods.Go(func() { f.run(inside, perOp) })
	floods.Go(func() { f.run(outside, perOp) })
	floods.Wait()
	took := time.Since(begun)
	flooding.Store(false)
	players.Wait()

	during := scores[0].during + scores[1].during
	t.Logf("%d payloads in %v; %d honest claims meanwhile, %d met a full table and were sent again",
		f.sent.Load(), took.Round(time.Millisecond), during, scores[0].busy+scores[1].busy)
	f.check()
	if during == 0 {
		t.Error("no honest claim during the flood")
	}
	for seat, p := range honest {
		p.alive()
		if end := p.ended(); end.GetReason() != wire.EndReason_END_REASON_NO_SETS_LEFT || int(end.GetTable()[seat].GetScore()) != scores[seat].won {
			t.Errorf("player %d won %d Sets, the end is {%v}", seat, scores[seat].won, end)
		}
	}
	create(t, on, client.CreateMatch{Seats: 2}, connect(t, on, asJSON)) // the server lives
}

// flood is random payloads from several sessions.
type flood struct {
	t       *testing.T
	seed    uint64
	matchID string
	sent    atomic.Int64

	mu    sync.Mutex
	heard map[string]int // answers by what they were
}

// floodBatch is how many payloads a session sends before it makes sure that the server has read them: fewer than its outgoing queue holds
// answers.
const floodBatch = 16

// run sends perOp payloads for each op code, spread over the sessions.
func (f *flood) run(sessions []*peer, perOp int) {
	var all sync.WaitGroup
	for i, p := range sessions {
		random := rand.New(rand.NewPCG(f.seed, uint64(i)))
		p.mu.Lock()
		p.sink = f.hear
		p.mu.Unlock()
		p.pace.hurry(p.on.limits)
		all.Go(func() {
			for sent := range (perOp*len(clientOps) + len(sessions) - 1) / len(sessions) {
				op := clientOps[sent%len(clientOps)]
				p.pace.wait()
				p.put(dataOf(f.matchID, op, hostilePayload(random)))
				f.sent.Add(1)
				if sent%floodBatch == floodBatch-1 {
					p.ping()
				}
			}
			p.ping()
		})
	}
	all.Wait()
}

// social are the messages that everybody hears, which have a limit of their own: the table counts them, so they have got further than
// the limiter.
var social = map[wire.OpCode]bool{
	wire.OpCode_OP_CODE_SET_READY: true, wire.OpCode_OP_CODE_TAKE_SEAT: true, wire.OpCode_OP_CODE_VOTE_REMATCH: true,
	wire.OpCode_OP_CODE_EMOTE: true,
}

func (f *flood) hear(heard frame) {
	what := wire.OpCode(heard.Op).String()
	switch body := heard.Body.(type) {
	case *wire.Error:
		if what = client.ReasonName(body.GetReason()); what == "RATE_LIMITED" && social[wire.OpCode(body.GetOpCode())] {
			what = "TOO_SOCIAL"
		}
	case *wire.ClaimResult:
		what = client.ReasonName(body.GetRefused().GetReason())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard[strings.TrimPrefix(what, "OP_CODE_")]++
}

// check waits until all payloads are answered. A seat's forfeit and its Sets are told to everybody, which does not count here.
func (f *flood) check() {
	f.t.Helper()
	const untold = 20
	var answered int
	ok := eventually(func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		answered = 0
		for what, n := range f.heard {
			if what != "UPDATE" && what != "ROSTER" {
				answered += n
			}
		}
		return answered >= int(f.sent.Load())-untold
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.t.Logf("the answers: %v", f.heard)
	if !ok {
		f.t.Errorf("%d payloads, %d answers", f.sent.Load(), answered)
	}
	if limited := f.heard["RATE_LIMITED"]; limited*20 > int(f.sent.Load()) {
		f.t.Errorf("%d of %d payloads got no further than the limiter", limited, f.sent.Load())
	}
}

// hostilePayload is something that no honest client sends, or hardly.
func hostilePayload(random *rand.Rand) []byte {
	bytesOf := func(n int) []byte {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		return data
	}
	anyMessage := func() []byte {
		messages := []proto.Message{
			&wire.ClaimSet{ClaimId: random.Uint64(), Cards: bytesOf(random.IntN(6))},
			&wire.ClaimSet{ClaimId: random.Uint64N(4), Cards: []byte{byte(random.IntN(90)), byte(random.IntN(90)), byte(random.IntN(90))}},
			&wire.Ping{ClientTimeMs: random.Uint64()}, &wire.Forfeit{}, &wire.RequestSnapshot{},
			&wire.Welcome{TableId: "x", Stamp: &wire.Stamp{Revision: random.Uint64()}, Snapshot: &wire.Snapshot{Board: bytesOf(21)}},
		}
		raw, _ := proto.Marshal(messages[random.IntN(len(messages))])
		return raw
	}
	switch random.IntN(8) {
	case 0:
		return nil
	case 1:
		return bytesOf(random.IntN(64))
	case 2:
		return bytesOf(random.IntN(1_100))
	case 3:
		return bytesOf(1_025 + random.IntN(1_700))
	case 4:
		return anyMessage()
	case 5: // a message with wounds
		raw := anyMessage()
		for range 1 + random.IntN(3) {
			if len(raw) > 0 {
				raw[random.IntN(len(raw))] ^= 1 << random.IntN(8)
			}
		}
		return raw[:random.IntN(len(raw)+1)]
	case 6: // groups in groups
		depth := random.IntN(500)
		raw := slices.Repeat(protowire.AppendTag(nil, protowire.Number(1+random.IntN(15)), protowire.StartGroupType), depth)
		return append(raw, bytesOf(random.IntN(8))...)
	default: // fields of any kind, which promise more than there is
		var raw []byte
		for range random.IntN(20) {
			raw = protowire.AppendTag(raw, protowire.Number(1+random.IntN(20)), protowire.Type(random.IntN(6)))
			raw = protowire.AppendVarint(raw, random.Uint64()>>random.IntN(64))
		}
		return raw
	}
}

// honestScore is how an honest player fared.
type honestScore struct{ won, during, busy int }

// playHonestly claims what is on the board, until the match ends. While it must go on there is no taking of the last Sets: the player errs
// instead. Each claim has to be answered; a table that is too full is the only reason to send one again.
func playHonestly(p *peer, goesOn func() bool) honestScore {
	var score honestScore
	for !p.over() {
		time.Sleep(time.Duration(100+rand.IntN(100)) * time.Millisecond) // as a player would
		during := goesOn()
		state := p.state()
		sets := setsOn(state.GetBoard())
		if len(sets) == 0 {
			continue // the end, or a claim of the other's that is being told
		}
		cards := sets[rand.IntN(len(sets))]
		if during && state.GetDeckCount() <= 30 {
			cards = slices.Clone(cards)
			cards[2] = otherThan(state.GetBoard(), cards)
		}
		for id := newClaimID(); ; {
			p.mark()
			p.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, cards))
			o := p.outcome(id)
			if reason := o.refused.GetReason(); reason == wire.Reason_REASON_BUSY || reason == wire.Reason_REASON_RATE_LIMITED {
				score.busy++
				time.Sleep(20 * time.Millisecond)
				continue
			}
			if o.judged.GetValid() {
				score.won++
			}
			break
		}
		if during {
			score.during++
		}
	}
	return score
}

// over says whether the end has been told.
func (p *peer) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil || len(endsIn(p.frames, p.match)) > 0
}

// otherThan is a card on the board that is none of these.
func otherThan(board, cards []byte) byte {
	for _, card := range board {
		if card < 81 && !slices.Contains(cards, card) {
			return card
		}
	}
	return cards[0]
}

// TestHostileLimited: with the server's own rates a flood gets no further than the limiter, and its session is cut off. Who plays in the same
// match notices nothing.
func TestHostileLimited(t *testing.T) {
	t.Parallel()
	on := shared(t)
	if on.limits.MessagesPerSecond > 100 {
		t.Skip("the server lets floods in")
	}
	x := open(t, on, client.CreateMatch{Rules: quick(map[string]any{"idle_limit_ms": 120_000})}, asProtobuf, asJSON)
	var flooding atomic.Bool
	flooding.Store(true)
	var players, floods sync.WaitGroup
	scores := make([]honestScore, len(x.players))
	for i, p := range x.players {
		players.Go(func() { scores[i] = playHonestly(p, flooding.Load) })
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range 12 {
		p := connect(t, on, bothFormats[i%2])
		if p.attend(x.made.MatchID, nil); i%3 > 0 {
			p.join(x.made.MatchID, nil)
		}
		floods.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for sent := range 10_000 {
				if p.write(p.encode(dataOf(p.match, clientOps[sent%len(clientOps)], hostilePayload(random)))) != nil {
					break
				}
				if sent == 4*on.limits.MessagesBurst { // later answers may go down with the socket
					first(p, "a limit", func(e *wire.Error) bool { return e.GetReason() == wire.Reason_REASON_RATE_LIMITED })
				}
			}
			p.dead()
		})
	}
	floods.Wait()
	flooding.Store(false)
	players.Wait()
	for seat, p := range x.players {
		p.alive()
		if scores[seat].busy > 0 {
			t.Errorf("player %d: %d claims were turned away", seat, scores[seat].busy)
		}
		if end := p.ended(); end.GetReason() != wire.EndReason_END_REASON_NO_SETS_LEFT || int(end.GetTable()[seat].GetScore()) != scores[seat].won {
			t.Errorf("player %d won %d Sets, the end is {%v}", seat, scores[seat].won, end)
		}
	}
}

// hurry lets a session send at nine tenths of the server's rate.
func (p *pacer) hurry(l limits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = 10 * time.Second / 9 / time.Duration(l.MessagesPerSecond)
	p.burst = p.token * time.Duration(l.MessagesBurst/2)
}
