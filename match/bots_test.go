package match

import (
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

func TestBotsFromTheOpening(t *testing.T) {
	g := newGame(t, `{"seats":3,"bots":["easy","hard"]}`, "ann")
	bots := g.m.table().session.Setup().Bots
	if bots[0].Level != 0 || bots[1].Level.String() != "easy" || bots[2].Level.String() != "hard" || bots[1].Seed == bots[2].Seed || bots[1].Seed == 0 {
		t.Fatalf("bots %v", bots)
	}
	late := g.n.session("eve")
	late.join(g.m)
	r := one[*wire.Welcome](t, late.news()).Roster
	if s := r.Seats[2]; s.BotLevel != wire.BotLevel_BOT_LEVEL_HARD || s.DisplayName != "hard bot" || s.UserId != "" || !s.Connected || !s.Ready {
		t.Fatalf("seat %v", s)
	}
	g.pass(2 * time.Minute)
	claims := 0
	for _, u := range only[*wire.Update](t, g.players[0].news()) {
		for _, e := range u.Events {
			if c := e.GetSetClaimed(); c != nil && c.Seat > 0 {
				claims++
			}
		}
	}
	if claims == 0 {
		t.Fatal("the bots do not play")
	}
	g.m.leave(g.players[0])
	g.pass(4 * time.Minute)
	if !g.m.table().ended {
		t.Fatal("the bots play on alone")
	}
}

func TestAddBot(t *testing.T) {
	g := lobbyOf(newFake(t), readyTable, "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	add := func(u *fakeUser, level wire.BotLevel, seat *uint32) {
		g.read()
		u.send(g.m, wire.OpCode_OP_CODE_ADD_BOT, &wire.AddBot{Level: level, Seat: seat})
	}
	easy := wire.BotLevel_BOT_LEVEL_EASY
	add(bob, easy, nil)
	wantRefusal(t, bob, wire.Reason_REASON_NOT_HOST)
	for _, level := range []wire.BotLevel{0, 4, -1} {
		add(ann, level, nil)
		wantRefusal(t, ann, wire.Reason_REASON_MALFORMED_MESSAGE)
	}
	add(ann, easy, seatNumber(4))
	wantRefusal(t, ann, wire.Reason_REASON_NO_SUCH_SEAT)
	add(ann, easy, seatNumber(1))
	wantRefusal(t, ann, wire.Reason_REASON_SEAT_TAKEN)
	add(ann, wire.BotLevel_BOT_LEVEL_MEDIUM, seatNumber(3))
	if r := lastRoster(t, bob); r.Seats[3].BotLevel != wire.BotLevel_BOT_LEVEL_MEDIUM {
		t.Fatalf("roster %v", r)
	}
	add(ann, easy, nil)
	add(ann, easy, nil)
	wantRefusal(t, ann, wire.Reason_REASON_TABLE_FULL)
	ann.send(g.m, wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: 3})
	if r := lastRoster(t, bob); r.Seats[3].BotLevel != 0 || r.Seats[2].BotLevel != easy {
		t.Fatalf("roster %v", r)
	}
	ann.ready(g.m, true)
	bob.ready(g.m, true)
	g.pass(3 * time.Second)
	if !g.started() || g.m.table().seats.count != 3 {
		t.Fatal("bots are not ready by themselves")
	}
	ranked := lobbyOf(newFake(t), `{"seats":3}`, "ann")
	ranked.m.table().setup.Ranked = true
	ranked.players[0].send(ranked.m, wire.OpCode_OP_CODE_ADD_BOT, &wire.AddBot{Level: easy})
	wantRefusal(t, ranked.players[0], wire.Reason_REASON_RANKED_TABLE)
}

func TestBotsFillUpAfterAWait(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	m := ann.create(`{"seats":3,"fill_with_bots_after_ms":5000,"fill_level":"easy"}`)
	m.pass(20 * time.Second) // nobody waits
	if m.table().seats.taken() != 0 {
		t.Fatal("bots sit at an empty table")
	}
	ann.join(m)
	m.pass(4900 * time.Millisecond)
	if m.table().seats.taken() != 1 {
		t.Fatal("too early")
	}
	m.table().box.reserveSeat("user-bob", n.clock.now()+2*time.Second)
	m.pass(1900 * time.Millisecond)
	if m.table().seats.taken() != 1 {
		t.Fatal("a promised seat is not waited for")
	}
	n.session("bob").join(m)
	if !m.table().standing.started || m.table().seats.seat[2].bot.String() != "easy" {
		t.Fatalf("seats %+v", m.table().seats)
	}
	left := n.session("dan").create(`{"seats":2,"fill_with_bots_after_ms":5000}`)
	dan := n.session("dan")
	dan.join(left)
	if at := left.table().alarmAt; at != n.clock.now()+5*time.Second {
		t.Fatalf("the alarm goes off at %v", at)
	}
	left.pass(4 * time.Second)
	left.leave(dan)
	left.pass(time.Second)
	n.session("fay").join(left)
	left.pass(4 * time.Second)
	if left.table().seats.taken() != 1 {
		t.Fatal("fay's wait is counted from dan's")
	}
	once := lobbyOf(n, `{"start":"ready","seats":2,"fill_with_bots_after_ms":1000}`, "gus")
	once.pass(time.Second)
	once.players[0].send(once.m, wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: 1})
	once.pass(2 * time.Second)
	if once.m.table().seats.taken() != 1 {
		t.Fatal("the bot that was removed is back")
	}
	medium := n.session("cid").create(`{"seats":2,"fill_with_bots_after_ms":1000}`)
	n.session("cid").join(medium)
	medium.pass(time.Second)
	if !medium.table().standing.started || medium.table().seats.seat[1].bot.String() != "medium" {
		t.Fatal("the alarm did not go off, or the level is wrong")
	}
}

// A bot's promised answer: a claim of a bot that is refused goes to nobody.
func TestBotsPlayOutAMatch(t *testing.T) {
	g := newGame(t, `{"seats":4,"bots":["hard","hard","hard"],"rules":{"claim_grace_ms":1000}}`, "ann")
	for range 200 {
		if g.m.table().ended {
			break
		}
		g.pass(10 * time.Second)
	}
	end := ended(t, g.players[0].news())
	if end == nil || end.Table[3].DisplayName != "hard bot" {
		t.Fatalf("end %v", end)
	}
}

func TestCreateMatchTables(t *testing.T) {
	n := newFake(t)
	for request, want := range map[string]string{
		`{"start":"now"}`:                    `"field":"start","value":"now"`,
		`{"seats":3,"min_players":4}`:        `"allowed":"1 to 3","field":"min_players"`,
		`{"min_players":2}`:                  `"allowed":"only with start ready","field":"min_players","value":"2"`,
		`{"bots":["easy","easy"]}`:           `"allowed":"at most 1 entry","field":"bots"`,
		`{"bots":["tough"]}`:                 `"allowed":"easy, medium or hard","field":"bots","value":"tough"`,
		`{"bots":"easy"}`:                    `"expected":"a list of strings","field":"bots"`,
		`{"bots":[1]}`:                       `WRONG_TYPE`,
		`{"fill_with_bots_after_ms":600001}`: `"field":"fill_with_bots_after_ms"`,
		`{"fill_level":"easy"}`:              `"allowed":"only with fill_with_bots_after_ms","field":"fill_level"`,
		`{"rules":{"penalty_mode":"time"}}`:  `"allowed":"none or point in an untimed match","field":"rules.penalty_mode","value":"time"`,
		`{"rules":{"penalty_time_ms":5}}`:    `"allowed":"0 unless penalty_mode is time"`,
	} {
		if _, err := n.session("ann").rpc("create_match", request); err == nil || !contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", request, err, want)
		}
	}
	m := n.session("ann").create(`{"rules":{"idle_limit_ms":500000}}`)
	if m.table().settings().Preset != "custom" || m.table().settings().Ranked {
		t.Fatalf("settings %v", m.table().settings())
	}
	if s := n.session("ann").create(`{"rules":{"idle_limit_ms":600000}}`).table().settings(); s.Preset != "classic" {
		t.Fatalf("the preset's own rules are %q", s.Preset)
	}
}
