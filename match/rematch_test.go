package match

import (
	"errors"
	"sync"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// endedGame is a match of the named users that is over.
func endedGame(n *fakeNakama, more string, names ...string) *game {
	n.t.Helper()
	g := startGame(n, `{"preset":"fast","test_deck":"`+endDeckCards+`"`+more+`}`, names...)
	g.players[0].claim(g.m, 1, "0110 1101 2122")
	g.players[0].claim(g.m, 2, "1110 0112 2111")
	if !g.m.table().ended {
		n.t.Fatal("not ended")
	}
	g.read()
	return g
}

func (u *fakeUser) vote(m *fakeMatch, wants bool) {
	u.n.t.Helper()
	m.pass(500 * time.Millisecond)
	u.send(m, wire.OpCode_OP_CODE_VOTE_REMATCH, &wire.VoteRematch{Wants: wants})
}

// waitRematch waits until the rematch is made, or has failed.
func (g *game) waitRematch() {
	g.n.t.Helper()
	eventually(g.n.t, func() bool {
		g.m.settle()
		g.m.callback.Lock()
		defer g.m.callback.Unlock()
		return !g.m.table().rematch.isMaking
	})
	g.m.settle()
}

func (g *game) matches() int {
	g.n.mu.Lock()
	defer g.n.mu.Unlock()
	return g.n.made
}

func TestRematch(t *testing.T) {
	g := endedGame(newFake(t), "", "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	eve := g.n.session("eve")
	eve.join(g.m)
	g.read()
	ann.vote(g.m, true)
	if r := lastRoster(t, bob); r.RematchVotes != 1 {
		t.Fatalf("votes %b", r.RematchVotes)
	}
	ann.vote(g.m, false)
	bob.vote(g.m, true)
	if r := lastRoster(t, ann); r.RematchVotes != 2 || g.m.table().rematch.isMaking {
		t.Fatalf("votes %b", r.RematchVotes)
	}
	eve.news()
	eve.vote(g.m, true)
	wantRefusal(t, eve, wire.Reason_REASON_NOT_A_PLAYER)
	ann.vote(g.m, true)
	g.waitRematch()
	r := one[*wire.Rematch](t, ann.news())
	if other := one[*wire.Rematch](t, bob.news()); other.MatchId != r.MatchId || r.ReservedMs != rematchHoldMs || r.TableId == g.m.table().setup.TableID {
		t.Fatalf("rematch %v, and %v", r, other)
	}
	one[*wire.Rematch](t, eve.news())
	if g.matches() != 2 {
		t.Fatalf("%d matches were made", g.matches())
	}
	ann.vote(g.m, true)
	if again := one[*wire.Rematch](t, ann.news()); again.MatchId != r.MatchId || g.matches() != 2 {
		t.Fatal("asked again, and got another one")
	}
	wantQuiet(t, "bob", bob.news())
	late := g.n.session("bob")
	late.join(g.m)
	one[*wire.Rematch](t, late.news())

	m := g.n.match(r.MatchId)
	thief := g.n.session("thief")
	thief.join(m)
	if w := one[*wire.Welcome](t, thief.news()); w.Role != wire.Role_ROLE_SPECTATOR {
		t.Fatal("a reserved seat was given away")
	}
	bobs, anns := g.n.session("bob"), g.n.session("ann")
	bobs.join(m)
	anns.join(m)
	if w := one[*wire.Welcome](t, bobs.news()); *w.Seat != 1 {
		t.Fatalf("bob sits on %d", *w.Seat)
	}
	if tb := m.table(); !tb.standing.started || tb.setup.Deck != "" || tb.setup.Preset != "fast" || tb.setup.Creator != ann.userID {
		t.Fatalf("setup %+v", tb.setup)
	}
}

// Scenario 27: both vote at once, however that falls: one match for both.
func TestRematchVotesAtOnce(t *testing.T) {
	for range 300 {
		g := endedGame(newFake(t), "", "ann", "bob")
		var wait sync.WaitGroup
		for _, u := range g.players {
			wait.Go(func() { u.put(g.m, opVoteRematch, marshal(t, &wire.VoteRematch{Wants: true})) })
		}
		wait.Wait()
		eventually(t, func() bool {
			g.m.callback.Lock()
			defer g.m.callback.Unlock()
			return g.m.table().rematch.made != nil
		})
		g.m.settle()
		a, b := one[*wire.Rematch](t, g.players[0].news()), one[*wire.Rematch](t, g.players[1].news())
		if a.MatchId != b.MatchId || g.matches() != 2 {
			t.Fatalf("%s and %s, %d matches", a.MatchId, b.MatchId, g.matches())
		}
	}
}

// Who has left does not count, bots follow, and a table that starts when full asks for no more than are there.
func TestRematchOfThoseWhoAreHere(t *testing.T) {
	g := endedGame(newFake(t), `,"seats":4,"bots":["hard"]`, "ann", "bob", "cid")
	ann, bob, cid := g.players[0], g.players[1], g.players[2]
	ann.vote(g.m, true)
	cid.vote(g.m, true)
	g.m.leave(bob)
	g.waitRematch()
	m := g.n.match(one[*wire.Rematch](t, cid.news()).MatchId)
	setup := m.table().setup
	if setup.Seats != 3 || setup.Reserved[0] != ann.userID || setup.Reserved[1] != cid.userID || setup.Bots[2].String() != "hard" {
		t.Fatalf("setup %+v", setup)
	}
	g.n.session("ann").join(m)
	g.n.session("cid").join(m)
	if !m.table().standing.started {
		t.Fatal("waits for bob")
	}
	out := startGame(newFake(t), `{"preset":"fast","seats":3,"test_deck":"`+endDeckCards+`"}`, "ann", "bob", "cid")
	out.players[2].send(out.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{}) // and stays, to watch
	out.players[0].claim(out.m, 1, "0110 1101 2122")
	out.players[0].claim(out.m, 2, "1110 0112 2111")
	out.players[0].vote(out.m, true)
	out.players[1].vote(out.m, true)
	out.waitRematch()
	made := out.n.match(only[*wire.Rematch](t, out.players[2].news())[0].MatchId).table().setup
	if made.Seats != 2 || made.Reserved[1] != out.players[1].userID || made.Reserved[2] != "" {
		t.Fatalf("setup %+v", made)
	}
	single := endedGame(newFake(t), `,"seats":1`, "ann")
	single.players[0].vote(single.m, true)
	single.waitRematch()
	one[*wire.Rematch](t, single.players[0].news())
}

func TestRematchOfReadyTable(t *testing.T) {
	n := newFake(t, "SET3D_COUNTDOWN_MS=0")
	g := lobbyOf(n, `{"start":"ready","seats":5,"preset":"fast","test_deck":"`+endDeckCards+`"}`, "ann", "bob")
	g.players[0].ready(g.m, true)
	g.players[1].ready(g.m, true)
	g.players[0].claim(g.m, 1, "0110 1101 2122")
	g.players[0].claim(g.m, 2, "1110 0112 2111")
	g.read()
	g.players[0].vote(g.m, true)
	g.players[1].vote(g.m, true)
	g.waitRematch()
	m := n.match(one[*wire.Rematch](t, g.players[0].news()).MatchId)
	if s := m.table().setup; s.Seats != 5 || !s.StartWhenReady {
		t.Fatalf("setup %+v", s)
	}
}

// The rematch of a match that counts counts too, and nobody else gets in.
func TestRematchOfMatched(t *testing.T) {
	g := endedGame(newFake(t), "", "ann", "bob")
	setup := &g.m.table().setup
	setup.Matched, setup.Ranked = true, true
	g.players[0].vote(g.m, true)
	g.players[1].vote(g.m, true)
	g.waitRematch()
	m := g.n.match(one[*wire.Rematch](t, g.players[0].news()).MatchId)
	g.n.session("ann").join(m)
	eve := g.n.session("eve")
	eve.join(m)
	m.pass(rematchHoldMs*time.Millisecond - time.Second)
	if s := m.table().setup; !s.Matched || !s.Ranked || s.Code == setup.Code || s.TableID == setup.TableID {
		t.Fatalf("setup %+v", s)
	}
	eve.news()
	eve.send(m, wire.OpCode_OP_CODE_TAKE_SEAT, &wire.TakeSeat{Seat: seatNumber(1)})
	wantRefusal(t, eve, wire.Reason_REASON_SEAT_TAKEN)
	g.n.session("bob").join(m)
	if !m.table().standing.started {
		t.Fatal("not started")
	}
}

func TestRematchRefused(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.players[0].vote(g.m, true)
	wantRefusal(t, g.players[0], wire.Reason_REASON_NOT_ENDED)
	g.players[0].sendRaw(g.m, opVoteRematch, []byte{0xff})
	wantRefusal(t, g.players[0], wire.Reason_REASON_MALFORMED_MESSAGE)
	g.players[0].send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	g.read()
	g.players[0].vote(g.m, true)
	wantRefusal(t, g.players[0], wire.Reason_REASON_NOT_A_PLAYER)
}

// When no match can be made the votes are void, and may be cast again. A table waits for its rematch before it closes.
func TestRematchFails(t *testing.T) {
	g := endedGame(newFake(t), "", "ann", "bob")
	g.n.createError = errors.New("no memory")
	g.players[0].vote(g.m, true)
	g.players[1].vote(g.m, true)
	g.waitRematch()
	if r := lastRoster(t, g.players[0]); r.RematchVotes != 0 || !g.n.logger.has("cannot make a rematch") {
		t.Fatalf("roster %v", r)
	}
	g.n.createError = nil
	g.read()
	g.players[0].vote(g.m, true)
	g.players[1].vote(g.m, true)
	g.waitRematch()
	one[*wire.Rematch](t, g.players[1].news())

	h := endedGame(newFake(t), "", "ann", "bob")
	h.m.table().rematch.isMaking = true
	h.pass(2 * time.Minute)
	if h.m.table().closing {
		t.Fatal("closed before the rematch was there")
	}
	h.m.terminate(1)
	if !h.m.table().closing {
		t.Fatal("a shutdown waits for it")
	}
}

func TestPanicInRematch(t *testing.T) {
	g := endedGame(newFake(t), `,"test_panic_at":"rematch"`, "ann", "bob")
	g.players[0].vote(g.m, true)
	g.players[1].vote(g.m, true)
	eventually(t, func() bool { return g.n.counter("set3d_panics_total rematch") == 1 })
	g.m.loop()
	if !g.m.table().closing {
		t.Fatal("goes on")
	}
}

func TestPanicInLookUp(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	m := ann.create(`{"test_panic_at":"look_up"}`)
	ann.join(m)
	eventually(t, func() bool { return n.counter("set3d_panics_total look_up") == 1 })
	m.loop()
	if !m.table().closing {
		t.Fatal("goes on")
	}
}
