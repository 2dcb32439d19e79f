package match

import (
	"time"

	wire "set3d/proto/set3d/v1"
)

// twinKind is a way in which a table comes to its match.
type twinKind struct {
	players  int // who are connected
	start    func(n *fakeNakama) *twin
	settings []string
}

// of starts a match by create_match.
func of(request string, names ...string) twinKind {
	start := func(n *fakeNakama) *twin { return &twin{game: startGame(n, request, names...)} }
	return twinKind{players: len(names), start: start}
}

// capDeck has no Set among its first twelve cards.
const capDeck = "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 0002 0020 0022 2222 2221 2220"

func twinKinds() map[string]twinKind {
	return map[string]twinKind{
		"public":           of(deckRequest(""), "ann", "bob"),
		"three players":    of(`{"seats":3}`, "ann", "bob", "cid"),
		"custom rules":     of(`{"rules":{"penalty_mode":"point","idle_limit_ms":60000},"seats":3}`, "ann", "bob", "cid"),
		"no held seats":    of(`{"seats":3,"rules":{"drop_hold_ms":0}}`, "ann", "bob", "cid"),
		"practice":         of(`{"preset":"practice","seats":1,"seed":7}`, "ann"),
		"practice of two":  of(`{"preset":"practice","seats":2,"test_deck":"`+boardMAX+boardRest+`"}`, "ann", "bob"),
		"seed":             of(`{"seed":42}`, "ann", "bob"),
		"bots":             of(`{"seats":3,"bots":["easy","hard"]}`, "ann"),
		"expanded board":   of(`{"test_deck":"`+capDeck+`"}`, "ann", "bob"),
		"tripwire":         of(`{"test_panic_at":"rematch"}`, "ann", "bob"),
		"filled with bots": {players: 1, start: filledWithBots},
		"private, watched": {players: 2, start: privateTable},
		"ready, kicked":    {players: 3, start: readyStart},
		"matched":          {players: 2, start: matchedTable},
		"one did not come": {2, matchedOneCame, []string{"SET3D_RESERVATION_MS=5000"}},
		"quick match":      {players: 3, start: quickTwin},
		"names":            {players: 2, start: namedTable},
		"rematch":          {players: 2, start: rematchTable},
	}
}

func filledWithBots(n *fakeNakama) *twin {
	g := lobbyOf(n, `{"seats":3,"fill_with_bots_after_ms":1000,"fill_level":"hard"}`, "ann")
	g.pass(time.Second)
	return &twin{game: g}
}

func privateTable(n *fakeNakama) *twin {
	ann, bob, cid, eve := n.session("ann"), n.session("bob"), n.session("cid"), n.session("eve")
	m := ann.create(`{"private":true,"seats":3}`)
	code := map[string]string{codeKey: m.table().setup.Code}
	ann.join(m)
	for _, u := range []*fakeUser{bob, cid, eve} {
		if reason := u.joinWith(m, code); reason != "" {
			n.t.Fatal(reason)
		}
	}
	m.leave(ann) // who opened it may come without its code, and without a seat
	return &twin{game: &game{n, m, []*fakeUser{bob, cid}}, watch: []*fakeUser{eve}, names: []string{"ann", "stranger"}}
}

// readyStart is a table whose host sits behind a bot and another player, and has kicked one.
func readyStart(n *fakeNakama) *twin {
	g := lobbyOf(n, `{"start":"ready","seats":6,"min_players":3}`, "ann", "bob", "mallory", "cid")
	ann, bob, cid := g.players[0], g.players[1], g.players[3]
	n.blocked["user-ann"] = []string{"user-eve"}
	ann.send(g.m, wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: 2})
	g.m.leave(g.players[2])
	g.pass(time.Second)
	ann.send(g.m, wire.OpCode_OP_CODE_TAKE_SEAT, &wire.TakeSeat{Seat: seatNumber(5)})
	g.pass(time.Second)
	ann.send(g.m, wire.OpCode_OP_CODE_ADD_BOT, &wire.AddBot{Level: wire.BotLevel_BOT_LEVEL_EASY, Seat: seatNumber(0)})
	for _, u := range []*fakeUser{ann, bob, cid} {
		u.ready(g.m, true)
	}
	g.pass(3 * time.Second)
	eve := n.session("eve")
	eve.join(g.m)
	return &twin{&game{n, g.m, []*fakeUser{bob, cid, ann}}, []*fakeUser{eve}, []string{"mallory", "stranger"}}
}

func matchedTable(n *fakeNakama) *twin {
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	m := n.bringTogether("timed", ann, bob)
	for _, u := range []*fakeUser{ann, bob, eve} {
		u.join(m)
	}
	return &twin{&game{n, m, []*fakeUser{ann, bob}}, []*fakeUser{eve}, []string{"stranger"}}
}

// matchedOneCame is a table of the matchmaker's that has lost its rank: somebody else took the seat.
func matchedOneCame(n *fakeNakama) *twin {
	ann, eve := n.session("ann"), n.session("eve")
	m := n.bringTogether("timed", ann, n.session("bob"))
	ann.join(m)
	m.pass(6 * time.Second)
	if found, err := eve.quick(`{"preset":"timed"}`); err != nil || found.MatchID != m.id {
		n.t.Fatalf("eve is sent to %+v, %v", found, err)
	}
	eve.join(m)
	return &twin{game: &game{n, m, []*fakeUser{ann, eve}}, names: []string{"bob"}}
}

func quickTwin(n *fakeNakama) *twin {
	g := &game{n: n}
	for _, name := range []string{"ann", "bob", "cid"} {
		u := n.session(name)
		found, err := u.quick(`{"preset":"tournament","seats":3}`)
		if err != nil {
			n.t.Fatal(err)
		}
		g.m = n.match(found.MatchID)
		u.join(g.m)
		g.players = append(g.players, u)
	}
	return &twin{game: g, names: []string{"stranger"}}
}

func namedTable(n *fakeNakama) *twin {
	n.accounts["user-ann"] = fakeAccount{"Ann of Arc", "https://example.com/a.png"}
	g := lobbyOf(n, `{"seats":2}`, "ann")
	eventually(n.t, func() bool {
		g.m.settle()
		g.m.callback.Lock()
		defer g.m.callback.Unlock()
		return g.m.table().seats.seat[0].avatar != ""
	})
	bob := n.session("bob")
	bob.join(g.m)
	g.players = append(g.players, bob)
	return &twin{game: g}
}

func rematchTable(n *fakeNakama) *twin {
	g := endedGame(n, `,"seats":2`, "ann", "bob")
	for _, u := range g.players {
		u.vote(g.m, true)
	}
	g.waitRematch()
	again := &game{n: n, m: n.match(g.m.table().rematch.made.MatchId)}
	for _, name := range []string{"ann", "bob"} {
		u := n.session(name)
		if reason := u.join(again.m); reason != "" {
			n.t.Fatal(reason)
		}
		again.players = append(again.players, u)
	}
	return &twin{game: again}
}

// moment is when a table is interrupted.
type moment struct {
	kept  bool // a checkpoint is made then, so that a crash takes nothing back
	least int  // players who are connected
	come  func(w *twin)
}

func moments() map[string]moment {
	return map[string]moment{
		"start": {true, 1, func(*twin) {}},
		"valid animation": {true, 1, func(w *twin) {
			w.pass(time.Second) // an opening board without a Set expands first
			w.takeSet(w.players[0], 1, true)
		}},
		"refill animation": {false, 1, func(w *twin) {
			w.pass(time.Second)
			w.takeSet(w.players[0], 1, true)
			w.pass(700 * time.Millisecond)
		}},
		"own lock": {false, 1, func(w *twin) {
			w.pass(time.Second)
			w.takeSet(w.players[0], 1, false)
			w.pass(200 * time.Millisecond)
		}},
		"held claim": {false, 2, func(w *twin) {
			w.pass(time.Second)
			w.takeSet(w.players[0], 1, true)
			w.pass(100 * time.Millisecond)
			w.takeSet(w.players[1], 2, false)
			tb := w.m.table()
			holds := tb.setup.Rules.ClaimGraceMs != 0 && tb.setup.Rules.ValidAnimMs != 0
			if (tb.held[tb.seatOf(w.players[1].userID)] == 2) != holds {
				w.n.t.Errorf("the session holds %v", tb.held)
			}
		}},
		"forfeit": {true, 3, func(w *twin) {
			last := w.players[len(w.players)-1]
			last.send(w.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
		}},
		"dropped player": {false, 2, func(w *twin) {
			last := w.players[len(w.players)-1]
			w.m.leave(last)
			w.players = w.players[:len(w.players)-1]
			w.names = append(w.names, last.username)
			w.pass(time.Second)
		}},
	}
}
