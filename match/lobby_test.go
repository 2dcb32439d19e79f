package match

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

func TestWelcomeIsFirst(t *testing.T) {
	n := newFake(t)
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	m := ann.create(`{}`)
	for i, u := range []*fakeUser{ann, bob, eve} {
		if reason := u.join(m); reason != "" {
			t.Fatal(reason)
		}
		frames := u.news()
		w, ok := decode(t, frames[0]).(*wire.Welcome)
		if !ok {
			t.Fatalf("the first frame is no WELCOME:\n%s", story(t, frames))
		}
		if w.TableId == "" || w.ProtocolVersion != 1 || w.Rules == nil || w.Timing == nil || w.Roster == nil {
			t.Fatalf("welcome %v", w)
		}
		wantRole, seats := wire.Role_ROLE_PLAYER, 2
		if i == 2 {
			wantRole = wire.Role_ROLE_SPECTATOR
		}
		if w.Role != wantRole || len(w.Roster.Seats) != seats || (i < 2 && *w.Seat != uint32(i)) {
			t.Fatalf("user %d: role %v, seat %v", i, w.Role, w.Seat)
		}
		if (i == 2) != (w.Snapshot != nil) || (i == 2) != (len(w.Commitment) == 32) {
			t.Fatalf("user %d: snapshot %v, commitment %x", i, w.Snapshot, w.Commitment)
		}
	}
	m.pass(time.Second)
}

func TestMatchStartsWhenSeatsAreFull(t *testing.T) {
	n := newFake(t)
	ann, bob := n.session("ann"), n.session("bob")
	m := ann.create(`{"seats":2}`)
	ann.join(m)
	if frames := ann.news(); len(only[*wire.Update](t, frames)) != 0 {
		t.Fatalf("started with one of two:\n%s", story(t, frames))
	}
	bob.join(m)
	for _, u := range []*fakeUser{ann, bob} {
		update := one[*wire.Update](t, u.news())
		started := update.Events[0].GetMatchStarted()
		if started == nil || started.SeatCount != 2 || len(started.Commitment) != 32 || update.FromRevision != 0 {
			t.Fatalf("update %v", update)
		}
		if len(update.Snapshot.Board) < 12 || update.Stamp.Revision == 0 {
			t.Fatalf("snapshot %v at revision %d", update.Snapshot, update.Stamp.Revision)
		}
	}
}

func TestLeaveBeforeTheStart(t *testing.T) {
	n := newFake(t)
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	m := ann.create(`{"seats":3}`)
	ann.join(m)
	bob.join(m)
	m.leave(ann)
	bob.news()
	eve.join(m)
	frames := eve.news()
	if w := one[*wire.Welcome](t, frames); *w.Seat != 0 || *w.Roster.HostSeat != 1 {
		t.Fatalf("eve sits on %d, the host on %d", *w.Seat, *w.Roster.HostSeat)
	}
	if m.table().standing.started {
		t.Fatal("started with two of three")
	}
}

func TestRequestSnapshot(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	eve := g.n.session("eve")
	eve.join(g.m)
	g.read()
	ann.claim(g.m, 1, setSA)
	update := one[*wire.Update](t, ann.news())
	for _, u := range []*fakeUser{ann, eve} {
		u.news()
		u.send(g.m, wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
		w := one[*wire.Welcome](t, u.news())
		if !proto.Equal(w.Snapshot, update.Snapshot) || w.Stamp.Revision != update.Stamp.Revision {
			t.Fatalf("snapshot %v, the update's was %v", w.Snapshot, update.Snapshot)
		}
	}
	wantQuiet(t, "bob", without(t, g.players[1].news(), update))
}

func without(t *testing.T, frames []frame, u *wire.Update) []frame {
	t.Helper()
	var rest []frame
	for _, f := range frames {
		if m, ok := decode(t, f).(*wire.Update); !ok || !proto.Equal(m, u) {
			rest = append(rest, f)
		}
	}
	return rest
}

func TestNewcomerSeesNoStepTwice(t *testing.T) {
	g := newGame(t, `{"preset":"fast","test_deck":"`+boardMAX+boardRest+`"}`, "ann", "bob")
	ann := g.players[0]
	g.m.leave(g.players[1])
	back := g.n.session("bob")
	g.m.attempt(back)
	back.put(g.m, opClaimSet, marshal(t, claimOf(2, "0010 0011 0012")))
	g.m.callback.Lock()
	ann.put(g.m, opClaimSet, marshal(t, claimOf(1, setSA)))
	g.m.callback.Unlock()
	g.m.join(back)
	g.m.settle()
	frames := back.news()
	at := one[*wire.Welcome](t, frames).Stamp.Revision
	for _, u := range only[*wire.Update](t, frames) {
		if u.Stamp.Revision > at && u.FromRevision != at {
			t.Fatalf("welcome at %d, then:\n%s", at, story(t, frames))
		}
	}
	if g.score(0) != 1 || g.score(1) != 1 {
		t.Fatalf("scores %d : %d", g.score(0), g.score(1))
	}
}

func TestTableCrowded(t *testing.T) {
	n := newFake(t, "SET3D_MAX_SPECTATORS=2")
	g := startGame(n, `{}`, "ann", "bob")
	for i := range 2 {
		if reason := n.session(fmt.Sprint("eve", i)).join(g.m); reason != "" {
			t.Fatal(reason)
		}
	}
	if reason := n.session("eve2").join(g.m); reason != `{"reason":"TABLE_CROWDED","args":{}}` {
		t.Fatalf("answered %q", reason)
	}
	if reason := n.session("ann").join(g.m); reason != "" {
		t.Fatalf("a player's new session: %q", reason)
	}
	if reason := n.session("eve0").join(g.m); reason != "" {
		t.Fatalf("a spectator's new session: %q", reason)
	}
}

func TestAttemptsCount(t *testing.T) {
	n := newFake(t, "SET3D_MAX_SPECTATORS=1", "SET3D_EMPTY_TABLE_MS=600000")
	ann := n.session("ann")
	m := ann.create(`{"seats":2}`)
	allowed := 0
	for i := range 10 {
		if ok, _ := m.attempt(n.session(fmt.Sprint("u", i))); ok {
			allowed++
		}
	}
	if allowed != 3 {
		t.Fatalf("%d were let in, there is room for 2 players and 1 spectator", allowed)
	}
	m.pass(arrivalLimit)
	if ok, _ := m.attempt(n.session("late")); !ok {
		t.Fatal("those who never arrived still take the room")
	}
}

func TestEmptyTableCloses(t *testing.T) {
	for _, visited := range []bool{false, true} {
		n := newFake(t, "SET3D_EMPTY_TABLE_MS=5000")
		ann := n.session("ann")
		m := ann.create(`{}`)
		if visited {
			m.pass(4 * time.Second)
			ann.join(m)
			m.pass(60 * time.Second)
			if m.table().closing {
				t.Fatal("closed while ann was there")
			}
			m.leave(ann)
		}
		m.pass(4900 * time.Millisecond)
		if m.table().closing {
			t.Fatal("closed too early")
		}
		m.pass(200 * time.Millisecond)
		if !m.table().closing || m.loop() {
			t.Fatal("an empty table lives on")
		}
	}
}

func TestPing(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.pass(1234 * time.Millisecond)
	g.read()
	g.players[0].send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{ClientTimeMs: 99})
	if p := one[*wire.Pong](t, g.players[0].news()); p.ClientTimeMs != 99 || p.Stamp.ServerTimeMs != 1234 {
		t.Fatalf("pong %v", p)
	}
}
