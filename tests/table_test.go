package tests

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// quick are rules without board animations, for tables that nobody waits for when a test has ended.
func quick(more map[string]any) map[string]any {
	rules := map[string]any{
		"valid_anim_ms": 0, "refill_anim_ms": 0, "expand_anim_ms": 0, "invalid_anim_ms": 100, "claim_grace_ms": 250,
		"penalty_mode": "none", "drop_hold_ms": 5_000, "idle_limit_ms": 60_000,
	}
	maps.Copy(rules, more)
	return rules
}

// unlocked are quick rules by which a wrong claim costs a point, if there is one, and no time.
func unlocked(more map[string]any) map[string]any {
	rules := quick(map[string]any{"penalty_mode": "point", "invalid_anim_ms": 0})
	maps.Copy(rules, more)
	return rules
}

// animated are rules with the animations of the spec, and the longest grace: claims in flight are held however slow the machine is.
func animated(more map[string]any) map[string]any {
	rules := quick(map[string]any{"valid_anim_ms": 600, "refill_anim_ms": 300, "expand_anim_ms": 150, "claim_grace_ms": 1_000})
	maps.Copy(rules, more)
	return rules
}

// table is a match with its players, by seat.
type table struct {
	t       *testing.T
	on      *server
	made    client.CreatedMatch
	deck    int // cards in it
	shared  *client.Broadcasts
	players []*peer
}

// open makes a match and seats a player for each format. When it returns all have seen the match begin.
func open(t *testing.T, on *server, request client.CreateMatch, formats ...client.Format) *table {
	t.Helper()
	var players []*peer
	for _, format := range formats {
		players = append(players, connect(t, on, format))
	}
	return openFor(t, on, request, players...)
}

// openFor is open for players who are connected already.
func openFor(t *testing.T, on *server, request client.CreateMatch, players ...*peer) *table {
	t.Helper()
	x := create(t, on, request, players...)
	for _, p := range players {
		x.seat(p)
	}
	for _, p := range players {
		p.start()
	}
	return x
}

// start waits until the match has begun.
func (p *peer) start() *wire.MatchStarted {
	p.t.Helper()
	var started *wire.MatchStarted
	first(p, "the start", func(u *wire.Update) bool {
		for _, event := range u.GetEvents() {
			if event.GetMatchStarted() != nil {
				started = event.GetMatchStarted()
			}
		}
		return started != nil
	})
	return started
}

// create makes a match for the players, and joins none.
func create(t *testing.T, on *server, request client.CreateMatch, players ...*peer) *table {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if request.Seats == 0 {
		request.Seats = len(players)
	}
	made, err := on.client().CreateMatch(ctx, players[0].user, request)
	if err != nil {
		t.Fatalf("create a match: %v", err)
	}
	x := &table{t: t, on: on, made: made, deck: len(ids(request.TestDeck)), shared: client.NewBroadcasts()}
	return x
}

// seat lets a peer join, and checks at the test's end all that it was told.
func (x *table) seat(p *peer) *wire.Welcome {
	x.t.Helper()
	welcome := p.join(x.made.MatchID, x.verify(p))
	x.players = append(x.players, p)
	return welcome
}

func (x *table) verify(p *peer) *client.Verifier {
	verifier := client.NewVerifier(client.VerifierConfig{DeckSize: x.deck, Shared: x.shared})
	x.t.Cleanup(func() {
		for _, violation := range verifier.Report().Violations {
			if !p.rude {
				x.t.Errorf("a violation, as %s saw it: %s", p.user.Username, violation)
			}
		}
	})
	return verifier
}

// welcome is the first WELCOME since the mark.
func (p *peer) welcome() *wire.Welcome {
	p.t.Helper()
	return first(p, "a WELCOME", any1[*wire.Welcome])
}

// newClaimID is random and not 0.
func newClaimID() uint64 { return rand.Uint64() | 1 }

func claimOf(id uint64, cards []byte) *wire.ClaimSet {
	return &wire.ClaimSet{ClaimId: id, Cards: cards}
}

// claim claims cards, given in codes, and returns the claim's id. It does not wait.
func (p *peer) claim(codes string) uint64 {
	p.t.Helper()
	id := newClaimID()
	p.claimAs(id, codes)
	return id
}

func (p *peer) claimAs(id uint64, codes string) {
	p.t.Helper()
	p.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, ids(codes)))
}

// outcome is an answer to a claim: one of the three is set.
type outcome struct {
	judged   *wire.SetClaimed // in an UPDATE
	repeated *wire.SetClaimed // in a CLAIM_RESULT
	refused  *wire.ClaimRefused
	stamp    *wire.Stamp
}

func (o outcome) String() string {
	return fmt.Sprintf("judged {%v} repeated {%v} refused {%v} at {%v}", o.judged, o.repeated, o.refused, o.stamp)
}

// outcomesOf are the answers among frames to the claims with an id.
func outcomesOf(frames []frame, id uint64) []outcome {
	var all []outcome
	for _, f := range frames {
		switch body := f.Body.(type) {
		case *wire.Update:
			for _, event := range body.GetEvents() {
				if verdict := event.GetSetClaimed(); verdict != nil && verdict.GetClaimId() == id {
					all = append(all, outcome{judged: verdict, stamp: body.GetStamp()})
				}
			}
		case *wire.ClaimResult:
			if body.GetClaimId() == id {
				all = append(all, outcome{repeated: body.GetRepeatedVerdict(), refused: body.GetRefused(), stamp: body.GetStamp()})
			}
		}
	}
	return all
}

// outcome waits for the first answer to a claim since the mark.
func (p *peer) outcome(id uint64) outcome {
	p.t.Helper()
	return p.outcomes(id, 1)[0]
}

// outcomes waits for n answers to a claim since the mark.
func (p *peer) outcomes(id uint64, n int) []outcome {
	p.t.Helper()
	var all []outcome
	p.await(fmt.Sprintf("%d answers to claim %x", n, id), func() bool {
		all = outcomesOf(p.news(), id)
		return len(all) >= n
	})
	return all
}

// verdict claims and waits for the verdict, whichever way it comes.
func (p *peer) verdict(codes string) *wire.SetClaimed {
	p.t.Helper()
	return p.verdictOf(p.claim(codes))
}

func (p *peer) verdictOf(id uint64) *wire.SetClaimed {
	p.t.Helper()
	o := p.outcome(id)
	if o.judged == nil && o.repeated == nil {
		p.t.Errorf("claim %x: %v, want a verdict", id, o)
		p.t.FailNow()
	}
	if o.judged != nil {
		return o.judged
	}
	return o.repeated
}

// wins claims a Set and waits until it is judged as one.
func (p *peer) wins(codes string) {
	p.t.Helper()
	if verdict := p.verdict(codes); !verdict.GetValid() {
		p.t.Errorf("%s is judged %v", codes, verdict)
		p.t.FailNow()
	}
}

// refusal waits for the refusal of a claim.
func (p *peer) refusal(id uint64, want wire.Reason) *wire.ClaimRefused {
	p.t.Helper()
	o := p.outcome(id)
	if o.refused.GetReason() != want {
		p.t.Errorf("claim %x: %v, want %v", id, o, want)
		p.t.FailNow()
	}
	return o.refused
}

// sync asks the match, and so knows that everything that this peer has sent was handled, and all that was sent to it has come.
func (p *peer) sync() *wire.Pong {
	p.t.Helper()
	token := rand.Uint64()
	p.send(wire.OpCode_OP_CODE_PING, &wire.Ping{ClientTimeMs: token})
	return first(p, "a PONG", func(pong *wire.Pong) bool { return pong.GetClientTimeMs() == token })
}

// state is the newest snapshot that has come.
func (p *peer) state() *wire.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest()
}

func (p *peer) newest() *wire.Snapshot {
	for i := len(p.frames) - 1; i >= 0; i-- {
		if p.frames[i].matchID != p.match {
			continue
		}
		switch body := p.frames[i].Body.(type) {
		case *wire.Update:
			return body.GetSnapshot()
		case *wire.Welcome:
			return body.GetSnapshot()
		}
	}
	return nil
}

// until waits for a snapshot that is as wanted.
func (p *peer) until(what string, isIt func(*wire.Snapshot) bool) *wire.Snapshot {
	p.t.Helper()
	var state *wire.Snapshot
	p.await(what, func() bool {
		state = p.newest()
		return state != nil && isIt(state)
	})
	return state
}

// idle waits until the board is idle.
func (p *peer) idle() *wire.Snapshot {
	p.t.Helper()
	return p.until("the idle board", func(s *wire.Snapshot) bool { return s.GetState() == wire.BoardState_BOARD_STATE_IDLE })
}

// ended waits for the end, wherever it is told, in everything that came.
func (p *peer) ended() *wire.MatchEnded {
	p.t.Helper()
	var end *wire.MatchEnded
	p.await("the end of the match", func() bool {
		ends := endsIn(p.frames, p.match)
		if len(ends) > 0 {
			end = ends[0]
		}
		return end != nil
	})
	return end
}

// endsIn are all MatchEnded events among frames.
func endsIn(frames []frame, matchID string) []*wire.MatchEnded {
	var ends []*wire.MatchEnded
	for _, f := range frames {
		if update, ok := f.Body.(*wire.Update); ok && f.matchID == matchID {
			for _, event := range update.GetEvents() {
				if event.GetMatchEnded() != nil {
					ends = append(ends, event.GetMatchEnded())
				}
			}
		}
	}
	return ends
}

// notice waits for a NOTICE since the mark.
func (p *peer) notice(kind wire.NoticeKind) *wire.Notice {
	p.t.Helper()
	return first(p, kind.String(), func(n *wire.Notice) bool { return n.GetKind() == kind })
}

// error waits for an ERROR since the mark.
func (p *peer) error(op int64, want wire.Reason) *wire.Error {
	p.t.Helper()
	e := first(p, fmt.Sprintf("an ERROR about op code %d", op), func(e *wire.Error) bool { return e.GetOpCode() == op })
	if e.GetReason() != want {
		p.t.Errorf("op code %d is answered {%v}, want %v", op, e, want)
		p.t.FailNow()
	}
	return e
}

func (x *table) sameScores(want ...uint32) {
	x.t.Helper()
	for i, p := range x.players {
		p.sync()
		state := p.state()
		if fmt.Sprint(state.GetScores()) != fmt.Sprint(want) {
			x.t.Fatalf("player %d sees the scores %v, want %v", i, state.GetScores(), want)
		}
	}
}

// leave leaves the match and returns when the match knows: Nakama answers earlier. Until then nobody may answer at all, because Nakama drops
// what a match sends to a session that has left.
func (p *peer) leave() {
	p.t.Helper()
	p.call(leaveOf(p.match))
	p.rude = true
	known := func() bool {
		return slices.ContainsFunc(p.news(), func(f frame) bool {
			e, ok := f.Body.(*wire.Error)
			return ok && e.GetReason() == wire.Reason_REASON_NOT_IN_MATCH
		})
	}
	p.mark()
	if !eventually(func() bool {
		p.sendData(opPing, nil)
		return p.within(100*time.Millisecond, known)
	}) {
		p.t.Fatal("the match does not know of the leave")
	}
}

// forfeit leaves for good.
func (p *peer) forfeit() {
	p.t.Helper()
	p.send(wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
}

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
