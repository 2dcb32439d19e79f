package match

import (
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// lobbyOf opens a table that starts when all are ready, and seats users there; the first one is the host.
func lobbyOf(n *fakeNakama, request string, names ...string) *game {
	n.t.Helper()
	g := &game{n: n}
	for i, name := range names {
		u := n.session(name)
		if i == 0 {
			g.m = u.create(request)
		}
		if reason := u.join(g.m); reason != "" {
			n.t.Fatalf("%s cannot join: %s", name, reason)
		}
		g.players = append(g.players, u)
	}
	g.read()
	return g
}

const readyTable = `{"start":"ready","seats":4}`

func (u *fakeUser) ready(m *fakeMatch, ready bool) {
	u.n.t.Helper()
	m.pass(500 * time.Millisecond) // 2 a second
	u.send(m, wire.OpCode_OP_CODE_SET_READY, &wire.SetReady{Ready: ready})
}

// lastRoster is the newest roster that a user was sent.
func lastRoster(t testing.TB, u *fakeUser) *wire.Roster {
	t.Helper()
	found := only[*wire.Roster](t, u.news())
	if len(found) == 0 {
		t.Fatal("no roster")
	}
	return found[len(found)-1]
}

func wantRefusal(t testing.TB, u *fakeUser, want wire.Reason) {
	t.Helper()
	if e := one[*wire.Error](t, u.news()); e.Reason != want {
		t.Fatalf("answered %v, want %v", e, want)
	}
}

func (g *game) started() bool { return g.m.table().standing.started }

func TestAllReadyStarts(t *testing.T) {
	g := lobbyOf(newFake(t), readyTable, "ann", "bob", "cid")
	ann, bob, cid := g.players[0], g.players[1], g.players[2]
	g.m.leave(bob)
	ann.ready(g.m, true)
	if r := lastRoster(t, cid); !r.Seats[0].Ready || r.Seats[2].Ready || r.CountdownEndsUnixMs != nil {
		t.Fatalf("roster %v", r)
	}
	ann.ready(g.m, true)
	wantQuiet(t, "cid", cid.news())
	cid.ready(g.m, true)
	r := lastRoster(t, ann)
	if r.CountdownEndsUnixMs == nil || *r.CountdownEndsUnixMs != uint64(g.n.clock.clock().wall().UnixMilli())+3000 {
		t.Fatalf("roster %v", r)
	}
	g.read()
	g.pass(2900 * time.Millisecond)
	if g.started() {
		t.Fatal("started too early")
	}
	g.pass(100 * time.Millisecond)
	frames := cid.news()
	w := one[*wire.Welcome](t, frames) // cid moves from seat 2 to 1
	if *w.Seat != 1 || len(w.Roster.Seats) != 2 || w.Snapshot != nil || w.Settings.StartMode != wire.StartMode_START_MODE_READY || w.Settings.MinPlayers != 2 {
		t.Fatalf("welcome %v", w)
	}
	update := one[*wire.Update](t, frames)
	if update.Events[0].GetMatchStarted().SeatCount != 2 || update.FromRevision != 0 {
		t.Fatalf("update %v", update)
	}
	roster := one[*wire.Roster](t, frames)
	if roster.Seats[1].UserId != cid.userID || !roster.Seats[1].Ready || roster.CountdownEndsUnixMs != nil {
		t.Fatalf("roster %v", roster)
	}
	if len(only[*wire.Welcome](t, ann.news())) != 0 {
		t.Fatal("ann has not moved")
	}
	late := g.n.session("eve")
	late.join(g.m)
	if w := one[*wire.Welcome](t, late.news()); w.Role != wire.Role_ROLE_SPECTATOR {
		t.Fatalf("a late joiner is %v", w.Role)
	}
}

func TestMinPlayers(t *testing.T) {
	g := lobbyOf(newFake(t), `{"start":"ready","seats":4,"min_players":3}`, "ann", "bob")
	g.players[0].ready(g.m, true)
	g.players[1].ready(g.m, true)
	if g.m.table().lobby.endsAt != 0 {
		t.Fatal("counts down with two of at least three")
	}
	alone := lobbyOf(newFake(t), `{"start":"ready","preset":"practice","seats":4}`, "ann")
	alone.players[0].ready(alone.m, true)
	alone.pass(3 * time.Second)
	if !alone.started() || alone.m.table().seats.count != 1 {
		t.Fatal("practice does not start with one")
	}
}

// A countdown is stopped by who is no longer ready, and by leaving if too few are left; joining does not stop it.
func TestCountdownStops(t *testing.T) {
	g := lobbyOf(newFake(t), readyTable, "ann", "bob", "cid")
	for _, u := range g.players {
		u.ready(g.m, true)
	}
	lobby := &g.m.table().lobby
	eve := g.n.session("eve")
	eve.join(g.m)
	g.m.leave(g.players[2])
	if lobby.endsAt == 0 || *one[*wire.Welcome](t, eve.news()).Seat != 3 {
		t.Fatal("joining or leaving stopped the countdown")
	}
	g.players[1].ready(g.m, false)
	if lobby.endsAt != 0 || lobby.stops != 1 {
		t.Fatal("the countdown goes on")
	}
	g.players[1].ready(g.m, true)
	eve.ready(g.m, true)
	if lobby.endsAt == 0 {
		t.Fatal("no new countdown")
	}
	g.m.leave(eve)
	g.m.leave(g.players[1])
	if lobby.endsAt != 0 || lobby.stops != 2 {
		t.Fatal("counts down for one")
	}
}

// Nobody can keep the others waiting: after three stops, or a minute, the countdown runs on.
func TestCountdownCannotBeStalled(t *testing.T) {
	t.Run("stops", func(t *testing.T) {
		g := lobbyOf(newFake(t), readyTable, "ann", "bob", "cid")
		ann, bob, cid := g.players[0], g.players[1], g.players[2]
		ann.ready(g.m, true)
		bob.ready(g.m, true)
		for range countdownRestarts {
			cid.ready(g.m, true)
			cid.ready(g.m, false)
		}
		if g.m.table().lobby.endsAt == 0 {
			t.Fatal("stalled")
		}
		g.pass(time.Second)
		cid.ready(g.m, true)
		cid.ready(g.m, false)
		g.pass(time.Second) // three since the countdown began
		if !g.started() || g.m.table().seats.count != 3 {
			t.Fatal("the countdown was stopped again")
		}
	})
	t.Run("a minute", func(t *testing.T) {
		g := lobbyOf(newFake(t), readyTable, "ann", "bob")
		g.players[0].ready(g.m, true)
		g.players[1].ready(g.m, true)
		g.players[1].ready(g.m, false)
		g.pass(countdownLimit - 5*time.Second)
		if g.m.table().lobby.endsAt != 0 {
			t.Fatal("counts down too early")
		}
		g.pass(5 * time.Second)
		g.pass(3 * time.Second)
		if !g.started() {
			t.Fatal("stalled")
		}
	})
	t.Run("promises", func(t *testing.T) {
		g := lobbyOf(newFake(t), readyTable, "ann", "bob")
		box := g.m.table().box
		if !box.reserveSeat("user-cid", g.n.clock.now()+10*time.Second) {
			t.Fatal("no seat")
		}
		g.m.settle()
		if r := lastRoster(t, g.players[0]); r.Seats[2].ReservedUntilUnixMs == nil || r.Seats[2].UserId != "" {
			t.Fatalf("roster %v", r)
		}
		g.players[0].ready(g.m, true)
		g.players[1].ready(g.m, true)
		if g.m.table().lobby.endsAt != 0 {
			t.Fatal("did not wait for who was promised a seat")
		}
		g.pass(10 * time.Second)
		if r := lastRoster(t, g.players[0]); r.Seats[2].ReservedUntilUnixMs != nil {
			t.Fatalf("roster %v", r)
		}
		if g.m.table().lobby.endsAt == 0 || box.freeSeats() != 0 || box.reserveSeat("user-dan", g.n.clock.now()+time.Minute) {
			t.Fatal("a new promise puts the start off")
		}
	})
}

// A table that is too small to start, however long it has been waiting, takes promises.
func TestUrgedTableTakesPromises(t *testing.T) {
	g := lobbyOf(newFake(t), readyTable, "ann", "bob")
	g.players[0].ready(g.m, true)
	g.players[1].ready(g.m, true)
	g.m.leave(g.players[1])
	g.pass(2 * countdownLimit)
	if !g.m.table().box.reserveSeat("user-cid", g.n.clock.now()+time.Second) {
		t.Fatal("sealed for ever")
	}
	back := g.n.session("bob")
	back.join(g.m)
	if g.m.table().lobby.endsAt != 0 || g.m.table().box.reserveSeat("user-dan", g.n.clock.now()+time.Minute) {
		t.Fatal("does not wait for the promise that stands, or makes another one")
	}
	g.pass(time.Second)
	g.pass(3 * time.Second)
	if !g.started() {
		t.Fatal("bob is not ready, and that matters still")
	}
	bots := newFake(t).session("ann").create(`{"start":"ready","seats":3,"bots":["easy","easy"]}`)
	bots.pass(5 * time.Second)
	if bots.table().lobby.endsAt != 0 || bots.table().standing.started {
		t.Fatal("bots play among themselves")
	}
	single := lobbyOf(newFake(t), `{"start":"ready","seats":1}`, "ann")
	single.players[0].ready(single.m, true)
	single.pass(3 * time.Second)
	if !single.started() {
		t.Fatal("one seat waits for two players")
	}
	full := lobbyOf(newFake(t), `{"seats":3}`, "ann", "bob")
	full.players[0].ready(full.m, true)
	wantQuiet(t, "bob", full.players[1].news())
}

func TestReadyRefused(t *testing.T) {
	g := newGame(t, `{}`, "ann", "bob")
	for op, m := range map[wire.OpCode]stampedMessage{
		wire.OpCode_OP_CODE_SET_READY: &wire.SetReady{Ready: true}, wire.OpCode_OP_CODE_TAKE_SEAT: &wire.TakeSeat{},
		wire.OpCode_OP_CODE_ADD_BOT: &wire.AddBot{Level: wire.BotLevel_BOT_LEVEL_EASY}, wire.OpCode_OP_CODE_KICK: &wire.Kick{Seat: 1},
	} {
		g.pass(time.Second)
		g.read()
		g.players[0].send(g.m, op, m)
		wantRefusal(t, g.players[0], wire.Reason_REASON_NOT_IN_LOBBY)
		wantQuiet(t, "bob", g.players[1].news())
	}
	lobby := lobbyOf(newFake(t), `{"start":"ready","seats":1}`, "ann", "eve")
	lobby.players[1].ready(lobby.m, true)
	wantRefusal(t, lobby.players[1], wire.Reason_REASON_NOT_A_PLAYER)
	lobby.pass(time.Second)
	lobby.read()
	for _, op := range []int64{opSetReady, opTakeSeat, opAddBot, opKick} {
		lobby.pass(time.Second)
		lobby.players[0].sendRaw(lobby.m, op, []byte{0xff})
		wantRefusal(t, lobby.players[0], wire.Reason_REASON_MALFORMED_MESSAGE)
	}
}

// What everybody hears is limited to two a second, and the rest of a session's messages is not.
func TestSocialMessagesAreLimited(t *testing.T) {
	for _, lane := range []string{"on", "off"} {
		g := lobbyOf(newFake(t, "SET3D_FAST_LANE="+lane), readyTable, "ann", "bob")
		ann := g.players[0]
		for i := range 4 {
			ann.send(g.m, wire.OpCode_OP_CODE_SET_READY, &wire.SetReady{Ready: i%2 == 0})
		}
		if n := len(only[*wire.Error](t, ann.news())); n != 2 {
			t.Fatalf("lane %s: %d of 4 were refused", lane, n)
		}
		ann.send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{})
		one[*wire.Pong](t, ann.news())
		g.pass(500 * time.Millisecond)
		ann.send(g.m, wire.OpCode_OP_CODE_EMOTE, &wire.ShowEmote{Emote: wire.EmoteKind_EMOTE_KIND_HELLO})
		one[*wire.EmoteShown](t, ann.news())
	}
}
