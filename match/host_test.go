package match

import (
	"fmt"
	"sync"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

func seatNumber(n uint32) *uint32 { return &n }

func TestTakeSeat(t *testing.T) {
	g := lobbyOf(newFake(t), `{"start":"ready","seats":3}`, "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	take := func(u *fakeUser, seat *uint32) {
		g.pass(time.Second)
		g.read()
		u.send(g.m, wire.OpCode_OP_CODE_TAKE_SEAT, &wire.TakeSeat{Seat: seat})
	}
	ann.ready(g.m, true)
	take(ann, seatNumber(2))
	frames := ann.news()
	if w := one[*wire.Welcome](t, frames); *w.Seat != 2 || !w.Roster.Seats[2].Ready || *w.Roster.HostSeat != 2 || w.Roster.Seats[0].UserId != "" {
		t.Fatalf("welcome %v", w)
	}
	one[*wire.Roster](t, bob.news())
	take(bob, seatNumber(2))
	wantRefusal(t, bob, wire.Reason_REASON_SEAT_TAKEN)
	take(bob, seatNumber(3))
	wantRefusal(t, bob, wire.Reason_REASON_NO_SUCH_SEAT)
	take(bob, nil)
	if w := one[*wire.Welcome](t, bob.news()); *w.Seat != 1 {
		t.Fatalf("bob sits on %d", *w.Seat)
	}
	cid, eve := g.n.session("cid"), g.n.session("eve")
	cid.join(g.m)
	eve.join(g.m)
	eve.news()
	take(eve, nil)
	wantRefusal(t, eve, wire.Reason_REASON_TABLE_FULL)
	g.m.leave(cid)
	eve.news()
	take(eve, nil)
	if w := one[*wire.Welcome](t, eve.news()); w.Role != wire.Role_ROLE_PLAYER || *w.Seat != 0 || w.Roster.Spectators != 0 {
		t.Fatalf("welcome %v", w)
	}
}

// A table that starts when it is full starts when a spectator takes its last seat.
func TestSpectatorFillsTheTable(t *testing.T) {
	n := newFake(t)
	m := n.session("host").create(`{"seats":2}`)
	box := m.table().box
	box.reserveSeat("user-a", n.clock.now()+5*time.Second)
	box.reserveSeat("user-b", n.clock.now()+5*time.Second)
	eve, bob := n.session("eve"), n.session("b")
	eve.join(m)
	bob.join(m)
	if w := one[*wire.Welcome](t, eve.news()[:1]); w.Role != wire.Role_ROLE_SPECTATOR || w.Roster.Seats[0].ReservedUntilUnixMs == nil {
		t.Fatalf("welcome %v", w)
	}
	m.pass(5 * time.Second)
	if r := lastRoster(t, bob); r.Seats[0].ReservedUntilUnixMs != nil {
		t.Fatalf("roster %v", r)
	}
	eve.send(m, wire.OpCode_OP_CODE_TAKE_SEAT, &wire.TakeSeat{})
	if w := one[*wire.Welcome](t, eve.news()); *w.Seat != 0 || w.Snapshot == nil {
		t.Fatalf("welcome %v", w)
	}
}

func TestKick(t *testing.T) {
	g := lobbyOf(newFake(t), readyTable, "ann", "bob", "cid")
	ann, bob, cid := g.players[0], g.players[1], g.players[2]
	kick := func(u *fakeUser, seat uint32) {
		u.send(g.m, wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: seat})
	}
	kick(bob, 2)
	wantRefusal(t, bob, wire.Reason_REASON_NOT_HOST)
	kick(ann, 3)
	wantRefusal(t, ann, wire.Reason_REASON_SEAT_EMPTY)
	kick(ann, 4)
	wantRefusal(t, ann, wire.Reason_REASON_NO_SUCH_SEAT)
	kick(ann, 0)
	wantRefusal(t, ann, wire.Reason_REASON_MALFORMED_MESSAGE)
	again := g.n.session("bob")
	if ok, _ := g.m.attempt(again); !ok {
		t.Fatal("bob's second device is not let in")
	}
	again.put(g.m, opClaimSet, marshal(t, claimOf(7, setSA))) // ahead of its MatchJoin
	kick(ann, 1)
	if notice := one[*wire.Notice](t, bob.news()); notice.Kind != wire.NoticeKind_NOTICE_KIND_KICKED {
		t.Fatalf("notice %v", notice)
	}
	if r := lastRoster(t, cid); r.Seats[1].UserId != "" {
		t.Fatalf("roster %v", r)
	}
	if len(g.m.kicked) != 1 || g.m.kicked[0] != bob.sessionID {
		t.Fatalf("kicked %v", g.m.kicked)
	}
	g.m.join(again)
	frames := again.news()
	wantRefused(t, frames, wire.Reason_REASON_NOT_IN_MATCH)
	if notice := one[*wire.Notice](t, frames); notice.Kind != wire.NoticeKind_NOTICE_KIND_KICKED || len(g.m.kicked) != 2 {
		t.Fatalf("the session that was on its way: %v, kicked %v", notice, g.m.kicked)
	}
	if reason := g.n.session("bob").join(g.m); reason != `{"reason":"KICKED","args":{}}` {
		t.Fatalf("bob comes back: %q", reason)
	}
	if g.m.table().box.reserveSeat(bob.userID, g.n.clock.now()+time.Minute) {
		t.Fatal("bob was promised a seat")
	}
	bob.send(g.m, wire.OpCode_OP_CODE_TAKE_SEAT, &wire.TakeSeat{})
	wantRefusal(t, bob, wire.Reason_REASON_NOT_IN_MATCH)
	g.m.leave(bob) // Nakama's, after the kick
	g.read()
	g.m.callback.Lock()
	ann.put(g.m, opKick, marshal(t, &wire.Kick{Seat: 2}))
	cid.put(g.m, opSetReady, marshal(t, &wire.SetReady{Ready: true}))
	g.m.callback.Unlock()
	g.m.settle()
	wantRefusal(t, cid, wire.Reason_REASON_NOT_IN_MATCH)
	eve := g.n.session("eve")
	eve.join(g.m)
	eve.news()
	g.m.leave(cid)
	wantQuiet(t, "eve", eve.news())
}

// Nobody is removed from a table of the matchmaker's.
func TestMatchedTableHasNoHost(t *testing.T) {
	g := lobbyOf(newFake(t), `{"seats":3}`, "ann", "bob")
	g.m.table().setup.Matched = true
	g.m.table().setup.Reserved[0], g.m.table().setup.Reserved[1] = g.players[0].userID, g.players[1].userID
	g.m.table().box.reserveSeat("user-cid", g.n.clock.now()+time.Minute)
	g.players[0].send(g.m, wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: 1})
	wantRefusal(t, g.players[0], wire.Reason_REASON_NOT_HOST)
}

// Who is promised a seat is let in however many watch, and takes no watcher's place on the way.
func TestPromisedAreLetIn(t *testing.T) {
	n := newFake(t, "SET3D_MAX_SPECTATORS=1")
	m := n.session("host").create(`{"seats":2}`)
	for _, user := range []string{"user-ann", "user-bob"} {
		m.table().box.reserveSeat(user, n.clock.now()+time.Minute)
	}
	if ok, why := m.attempt(n.session("ann")); !ok {
		t.Fatal(why)
	}
	if why := n.session("eve").join(m); why != "" {
		t.Fatalf("ann, who is on her way to her seat, takes eve's place: %s", why)
	}
	if why := n.session("bob").join(m); why != "" {
		t.Fatal(why)
	}
	if ok, _ := m.attempt(n.session("late")); ok {
		t.Fatal("two watch")
	}
}

// The host is who has sat longest; it passes on when the host leaves.
func TestHostPassesOn(t *testing.T) {
	g := lobbyOf(newFake(t), `{"start":"ready","seats":4,"bots":["easy"]}`, "ann", "bob", "cid")
	ann, bob, cid := g.players[0], g.players[1], g.players[2]
	g.m.leave(ann)
	if r := lastRoster(t, cid); *r.HostSeat != 1 {
		t.Fatalf("the host sits on %d", *r.HostSeat)
	}
	back := g.n.session("ann")
	back.join(g.m)
	if r := lastRoster(t, cid); *r.HostSeat != 1 {
		t.Fatal("who comes back is the host again")
	}
	g.read()
	back.news()
	back.send(g.m, wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: 1})
	wantRefusal(t, back, wire.Reason_REASON_NOT_HOST)
	g.m.leave(bob)
	g.m.leave(cid)
	if r := lastRoster(t, back); *r.HostSeat != 0 {
		t.Fatalf("the host sits on %d", *r.HostSeat)
	}
	g.m.leave(back)
	if _, ok := g.m.table().seats.host(); ok {
		t.Fatal("a bot is the host")
	}
	running := newGame(t, `{}`, "ann", "bob")
	running.m.leave(running.players[0])
	if r := lastRoster(t, running.players[1]); *r.HostSeat != 1 {
		t.Fatal("a dropped player is the host")
	}
}

// The host kicks somebody who takes another seat at the same moment, joins and leaves go on: no seat is lost, nobody has two.
func TestLobbyUnderRace(t *testing.T) {
	for round := range 200 {
		g := lobbyOf(newFake(t), `{"start":"ready","seats":4}`, "ann", "bob", "cid")
		var wait sync.WaitGroup
		wait.Go(func() { g.players[0].put(g.m, opKick, marshal(t, &wire.Kick{Seat: 1})) })
		wait.Go(func() { g.players[1].put(g.m, opTakeSeat, marshal(t, &wire.TakeSeat{Seat: seatNumber(3)})) })
		wait.Go(func() { g.players[2].put(g.m, opTakeSeat, marshal(t, &wire.TakeSeat{Seat: seatNumber(3)})) })
		wait.Go(func() { g.n.session(fmt.Sprint("u", round)).join(g.m) })
		wait.Go(func() { g.m.table().box.reserveSeat("user-eve", g.n.clock.now()+time.Minute) })
		wait.Go(func() {
			g.players[0].put(g.m, opAddBot, marshal(t, &wire.AddBot{Level: wire.BotLevel_BOT_LEVEL_HARD}))
		})
		wait.Wait()
		g.m.settle()
		tb := g.m.table()
		seen := map[string]bool{}
		for i := range tb.seats.count {
			s, p := &tb.seats.seat[i], &tb.box.ledger.places[i]
			if s.isTaken() != p.taken || s.userID != "" && s.userID != p.userID || s.userID != "" && seen[p.userID] {
				t.Fatalf("seat %d is %+v, the ledger says %+v", i, s, p)
			}
			seen[p.userID] = true
		}
	}
}
