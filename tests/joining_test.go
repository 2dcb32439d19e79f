package tests

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// TestJoinAndClaimPipelined: a client may send what it likes behind its join, without waiting for anything. All of it is judged.
func TestJoinAndClaimPipelined(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	for _, format := range bothFormats {
		t.Run(format.String(), func(t *testing.T) {
			t.Parallel()
			for range rounds {
				a, b := connect(t, on, asProtobuf), connect(t, on, format)
				x := create(t, on, client.CreateMatch{Seats: 2, TestDeck: deckOf(boardMAX), Rules: quick(nil)}, a, b)
				x.seat(a)
				b.attend(x.made.MatchID, x.verify(b))
				b.rude = true                     // a verifier does not know before the WELCOME whose claims these are
				cid := b.request(joinOf(b.match)) // the match begins with this join
				set, bad := b.claim(setSA), b.claim(notSet)
				b.send(wire.OpCode_OP_CODE_PING, &wire.Ping{ClientTimeMs: 99})
				if v := b.verdictOf(set); !v.GetValid() || v.GetSeat() != 1 {
					t.Fatalf("verdict %v", v)
				}
				b.refusal(bad, wire.Reason_REASON_NOT_ON_BOARD)
				first(b, "the PONG", func(p *wire.Pong) bool { return p.GetClientTimeMs() == 99 })
				if answer := b.answer(cid); answer.GetMatch() == nil {
					t.Fatalf("the join is answered {%v}", answer)
				}
				if welcome := b.welcome(); welcome.GetSeat() != 1 {
					t.Fatalf("WELCOME {%v}", welcome)
				}
				x.players = append(x.players, b)
				x.sameScores(0, 1)
				for _, id := range []uint64{set, bad} {
					if all := outcomesOf(b.since(), id); len(all) != 1 {
						t.Fatalf("claim %x is answered %v", id, all)
					}
				}
			}
		})
	}
}

// TestAllJoinAtOnce: a whole table and its watchers join at once, and each sends a claim and a PING behind its join. While the match is busy with
// the others these come before their sender has arrived; all are answered nevertheless, after the WELCOME.
func TestAllJoinAtOnce(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	seats, watchers := 8, min(16, on.limits.SpectatorsMax)
	var everybody []*peer
	for i := range seats + watchers {
		everybody = append(everybody, connect(t, on, bothFormats[i%2]))
	}
	rounds := 10
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		x := create(t, on, client.CreateMatch{Seats: seats, TestDeck: deckOf(boardMAX), Rules: quick(nil)}, everybody[0])
		claims := make([]uint64, len(everybody))
		var all sync.WaitGroup
		for i, p := range everybody {
			claims[i] = newClaimID()
			p.attend(x.made.MatchID, nil)
			p.mark()
			frames := [][]byte{
				p.encode(joinOf(p.match)), p.encode(dataOf(p.match, opClaim, marshal(t, claimOf(claims[i], ids(setSA))))),
				p.encode(dataOf(p.match, opPing, marshal(t, &wire.Ping{ClientTimeMs: claims[i]}))),
			}
			p.pace.wait()
			p.pace.wait()
			all.Go(func() {
				for _, frame := range frames {
					if err := p.write(frame); err != nil {
						t.Errorf("write: %v", err)
					}
				}
			})
		}
		all.Wait()
		won := 0
		for i, p := range everybody {
			o := p.outcome(claims[i])
			switch o.refused.GetReason() {
			case wire.Reason_REASON_UNSPECIFIED:
				won++
			case wire.Reason_REASON_NOT_STARTED, wire.Reason_REASON_NOT_ON_BOARD, wire.Reason_REASON_NOT_A_PLAYER:
			default:
				t.Fatalf("session %d: %v", i, o)
			}
			first(p, "the PONG", func(pong *wire.Pong) bool { return pong.GetClientTimeMs() == claims[i] })
			p.welcome()
			if heard := p.since(); heard[0].Op != int64(wire.OpCode_OP_CODE_WELCOME) {
				t.Errorf("session %d hears %v before its WELCOME", i, wire.OpCode(heard[0].Op))
			}
		}
		if won > 1 {
			t.Fatalf("%d sessions took one Set", won)
		}
		for _, p := range everybody {
			p.call(leaveOf(p.match))
		}
	}
}

// TestTooMuchAhead: what does not fit in while the join is on its way is answered too.
func TestTooMuchAhead(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	a, b := connect(t, on, asProtobuf), connect(t, on, asProtobuf)
	x := create(t, on, client.CreateMatch{Seats: 2, TestDeck: deckOf(boardMAX), Rules: unlocked(nil)}, a, b)
	x.seat(a)
	b.attend(x.made.MatchID, x.verify(b))
	b.request(joinOf(b.match))
	var claims []uint64
	for range 60 { // far beyond the burst, but not so many that the session is cut off
		id := newClaimID()
		claims = append(claims, id)
		b.put(dataOf(b.match, opClaim, marshal(t, claimOf(id, ids(notSet)))))
	}
	b.rude = true // the verifier was not told of them
	for _, id := range claims {
		o := b.outcome(id)
		switch reason := o.refused.GetReason(); {
		case o.judged != nil, o.repeated != nil:
		case reason == wire.Reason_REASON_RATE_LIMITED, reason == wire.Reason_REASON_BUSY:
		default:
			t.Fatalf("claim %x: %v", id, o)
		}
	}
	a.wins(setSA)
}

// TestClaimAndLeaveAtOnce: scenario 24. A claim that was sent before the leave is judged, and the leave is a drop.
func TestClaimAndLeaveAtOnce(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	for _, format := range bothFormats {
		t.Run(format.String(), func(t *testing.T) {
			t.Parallel()
			for range 5 {
				x := maxTable(t, on, quick(nil), format, asProtobuf)
				a, b := x.players[0], x.players[1]
				a.rude = true // its answer may come after it has left
				b.mark()
				id := a.claim(setSA)
				cid := a.request(leaveOf(a.match))
				if v := b.verdictOf(id); !v.GetValid() || v.GetSeat() != 0 {
					t.Fatalf("the others hear the verdict %v", v)
				}
				roster := first(b, "the drop", func(r *wire.Roster) bool { return !r.GetSeats()[0].GetConnected() })
				if roster.GetSeats()[0].HeldUntilMs == nil {
					t.Fatalf("the seat is not held: {%v}", roster)
				}
				a.answer(cid)
				if welcome := a.join(x.made.MatchID, nil); welcome.GetSeat() != 0 || welcome.GetSnapshot().GetScores()[0] != 1 || welcome.GetLastVerdict().GetClaimId() != id {
					t.Fatalf("back again: {%v}", welcome)
				}
				b.sync()
				if told := outcomesOf(b.since(), id); len(told) != 1 {
					t.Fatalf("the others heard %v", told)
				}
			}
		})
	}
}

// TestLastClaimWhileOthersClaim: all want the last Set. One gets it, the match ends once, and each claim is answered.
func TestLastClaimWhileOthersClaim(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	for round := range 3 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			x := endTable(t, on, asJSON, asProtobuf, asProtobuf, asJSON)
			x.players[0].wins(endS1)
			claims := make([]uint64, len(x.players))
			var all sync.WaitGroup
			for seat, p := range x.players {
				claims[seat] = newClaimID()
				all.Go(func() { p.claimAs(claims[seat], endS2) })
			}
			all.Wait()
			won := 0
			for seat, p := range x.players {
				o := p.outcome(claims[seat])
				switch reason := o.refused.GetReason(); {
				case o.judged.GetValid():
					won++
				case reason != wire.Reason_REASON_ENDED && reason != wire.Reason_REASON_NOT_ON_BOARD:
					t.Errorf("player %d: %v", seat, o)
				}
			}
			for seat, p := range x.players {
				end := p.ended()
				sum := uint32(0)
				for _, line := range end.GetTable() {
					sum += line.GetScore()
				}
				if sum != 2 || end.GetReason() != wire.EndReason_END_REASON_NO_SETS_LEFT {
					t.Errorf("player %d is told the end {%v}", seat, end)
				}
				p.sync()
				p.mu.Lock()
				if ends := len(endsIn(p.frames, p.match)); ends != 1 {
					t.Errorf("player %d is told %d ends", seat, ends)
				}
				p.mu.Unlock()
				if answers := outcomesOf(p.since(), claims[seat]); len(answers) != 1 {
					t.Errorf("player %d: %v", seat, answers)
				}
			}
			if won != 1 {
				t.Errorf("%d players took the last Set", won)
			}
		})
	}
}

// TestStranger: messages of a session that is not in the match change nothing, and are answered.
func TestStranger(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := maxTable(t, on, quick(nil))
	a, b := x.players[0], x.players[1]
	before := a.sync().GetStamp().GetRevision()
	b.sync()
	for _, p := range x.players {
		p.mark()
	}
	for _, format := range bothFormats {
		s := connect(t, on, format)
		s.attend(x.made.MatchID, nil)
		s.refusal(s.claim(setSA), wire.Reason_REASON_NOT_IN_MATCH)
		for _, op := range append([]int64{0, -5, opForfeit, opSnapshot, opPing, 77, 102}, tableOps...) {
			s.mark()
			s.sendData(op, nil)
			s.error(op, wire.Reason_REASON_NOT_IN_MATCH)
		}
		s.mark()
		s.sendData(opClaim, []byte{0xff})
		s.error(opClaim, wire.Reason_REASON_NOT_IN_MATCH)
		s.call(leaveOf(x.made.MatchID))
		s.ping()
	}
	// Who has left is a stranger as well.
	gone := connect(t, on, asJSON)
	gone.join(x.made.MatchID, nil)
	a.mark()
	gone.call(leaveOf(x.made.MatchID))
	first(a, "a roster without watchers", func(r *wire.Roster) bool { return r.GetSpectators() == 0 })
	gone.mark()
	gone.refusal(gone.claim(setSA), wire.Reason_REASON_NOT_IN_MATCH)

	for seat, p := range x.players {
		if after := p.sync().GetStamp().GetRevision(); after != before {
			t.Errorf("the revision went from %d to %d", before, after)
		}
		for _, f := range p.since() {
			switch f.Body.(type) {
			case *wire.Pong, *wire.Roster:
			default:
				t.Errorf("player %d hears {%v}", seat, f.Body)
			}
		}
	}
	b.wins(setSA)
}

// TestSpectator: scenario 25. Who joins when all seats are taken watches, and cannot act.
func TestSpectator(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := maxTable(t, on, quick(nil))
	s := connect(t, on, asJSON)
	welcome := s.join(x.made.MatchID, x.verify(s))
	if welcome.GetRole() != wire.Role_ROLE_SPECTATOR || welcome.Seat != nil || welcome.GetRoster().GetSpectators() != 1 {
		t.Errorf("WELCOME {%v}", welcome)
	}
	s.refusal(s.claim(setSA), wire.Reason_REASON_NOT_A_PLAYER)
	s.rude = true
	s.forfeit()
	s.error(opForfeit, wire.Reason_REASON_NOT_A_PLAYER)
	x.players[0].wins(setSA)
	s.until("the score", func(state *wire.Snapshot) bool { return state.GetScores()[0] == 1 })
	s.sync()
	x.sameScores(1, 0)
}

// spellings are other ways to write a match id, which Nakama takes for the same.
func spellings(matchID string) map[string]string {
	id, node, _ := strings.Cut(matchID, ".")
	bare := strings.ReplaceAll(id, "-", "")
	return map[string]string{
		"upper case": strings.ToUpper(id) + "." + node, "no hyphens": bare + "." + node, "upper case, no hyphens": strings.ToUpper(bare) + "." + node,
		"urn:uuid:": "urn:uuid:" + id + "." + node, "urn:uuid:, no hyphens": "urn:uuid:" + bare + "." + node,
		"braces": "{" + id + "}." + node, "braces, no hyphens": "{" + bare + "}." + node,
	}
}

// TestOtherSpellings: the fast lane knows a match under every spelling of its id, and nobody gets past its checks by one.
func TestOtherSpellings(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	probe := maxTable(t, on, quick(nil))
	for name := range spellings(probe.made.MatchID) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := maxTable(t, on, quick(nil), asJSON, asProtobuf)
			a := x.players[0]
			other := spellings(x.made.MatchID)[name]
			say := func(p *peer, matchID string, codes string) uint64 {
				id := newClaimID()
				p.put(dataOf(matchID, opClaim, marshal(t, claimOf(id, ids(codes)))))
				return id
			}
			a.rude = true // the verifier does not know what is sent under another name
			if v := a.verdictOf(say(a, other, setSA)); !v.GetValid() {
				t.Fatalf("verdict %v", v)
			}
			s := connect(t, on, asJSON) // a stranger stays one
			s.attend(x.made.MatchID, nil)
			s.refusal(say(s, other, setRow), wire.Reason_REASON_NOT_IN_MATCH)
			// Who has joined under another spelling hears of the match under its own name.
			answer := s.call(joinOf(other))
			if answer.GetMatch() == nil {
				t.Fatalf("join: {%v}", answer)
			}
			s.mark()
			s.send(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
			s.welcome()
			s.refusal(say(s, other, setRow), wire.Reason_REASON_NOT_A_PLAYER)
			a.mark()
			s.call(leaveOf(other))
			first(a, "no more watchers", func(r *wire.Roster) bool { return r.GetSpectators() == 0 })
			s.mark()
			s.refusal(say(s, other, setRow), wire.Reason_REASON_NOT_IN_MATCH)
			x.sameScores(1, 0)
		})
	}
}

// TestClientUnderAnotherSpelling: the reference client hears of a match that it joined under another spelling of its id.
func TestClientUnderAnotherSpelling(t *testing.T) {
	t.Parallel()
	on := shared(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	user := signIn(t, on)
	made, err := on.client().CreateMatch(ctx, user, client.CreateMatch{Seats: 1, Rules: quick(nil)})
	if err != nil {
		t.Fatal(err)
	}
	socket, err := on.client().OpenSocket(ctx, user, asProtobuf)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	match, err := socket.Join(ctx, spellings(made.MatchID)["upper case"], client.JoinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	message, err := match.Next(ctx)
	if err != nil {
		t.Fatalf("waiting for the WELCOME: %v", err)
	}
	if _, ok := message.Body.(*wire.Welcome); !ok {
		t.Fatalf("the first message is {%v}", message.Body)
	}
}

// TestNoSuchMatch: joins of what is not there.
func TestNoSuchMatch(t *testing.T) {
	t.Parallel()
	p := connect(t, shared(t), asJSON)
	for id, want := range map[string]rtapi.Error_Code{
		"":      rtapi.Error_BAD_INPUT,
		"set3d": rtapi.Error_BAD_INPUT,
		"5f0a2a3c-0000-4000-8000-000000000000.nowhere": rtapi.Error_MATCH_NOT_FOUND,
		"5f0a2a3c-0000-4000-8000-00000000000g.nowhere": rtapi.Error_BAD_INPUT,
	} {
		if refused := p.refusedJoin(id); refused.GetCode() != int32(want) {
			t.Errorf("%q is answered {%v}, want code %d", id, refused, want)
		}
	}
}
