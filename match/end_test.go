package match

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

func TestLabel(t *testing.T) {
	n := newFake(t)
	ann, bob := n.session("ann"), n.session("bob")
	m := ann.create(endDeck)
	want := func(text string) {
		t.Helper()
		if m.label != text {
			t.Fatalf("label %s\nwant  %s", m.label, text)
		}
	}
	want(`{"v":1,"phase":"lobby","open":true,"private":false,"ranked":false,"start":"full","preset":"fast","seats":2,"taken":0}`)
	ann.join(m)
	want(`{"v":1,"phase":"lobby","open":true,"private":false,"ranked":false,"start":"full","preset":"fast","seats":2,"taken":1}`)
	updates := m.labels
	for range 5 {
		m.loop()
	}
	if m.labels != updates {
		t.Fatal("the label is updated without a change")
	}
	bob.join(m)
	want(`{"v":1,"phase":"playing","open":false,"private":false,"ranked":false,"start":"full","preset":"fast","seats":2,"taken":2}`)
	ann.claim(m, 1, "0110 1101 2122")
	ann.claim(m, 2, "1110 0112 2111")
	want(`{"v":1,"phase":"ended","open":false,"private":false,"ranked":false,"start":"full","preset":"fast","seats":2,"taken":2}`)
}

// Shutdown: everybody is told, nobody new comes in, a running match goes on and then closes at once.
func TestTerminate(t *testing.T) {
	g := newGame(t, endDeck, "ann", "bob")
	ann := g.players[0]
	g.m.terminate(30)
	if notice := one[*wire.Notice](t, ann.news()); notice.Kind != wire.NoticeKind_NOTICE_KIND_SHUTDOWN || notice.GraceMs != 30_000 {
		t.Fatalf("notice %v", notice)
	}
	if reason := g.n.session("eve").join(g.m); !strings.Contains(reason, "SHUTTING_DOWN") {
		t.Fatalf("a newcomer hears %q", reason)
	}
	if reason := g.n.session("bob").join(g.m); reason != "" {
		t.Fatalf("a player hears %q", reason)
	}
	ann.claim(g.m, 1, "0110 1101 2122")
	ann.claim(g.m, 2, "1110 0112 2111")
	if ended(t, ann.news()) == nil {
		t.Fatal("the match did not go on")
	}
	g.m.loop()
	if g.m.loop() {
		t.Fatal("the table stays open during a shutdown")
	}
}

func TestTerminateInTheLobby(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	m := ann.create(`{}`)
	ann.join(m)
	ann.news()
	m.terminate(30)
	var kinds []string
	for _, notice := range only[*wire.Notice](t, ann.news()) {
		kinds = append(kinds, notice.Kind.String())
	}
	if fmt.Sprint(kinds) != "[NOTICE_KIND_SHUTDOWN NOTICE_KIND_CLOSED]" || m.loop() {
		t.Fatalf("notices %v", kinds)
	}
}

// Scenario 34: nothing shows the key, the seed or the deck before the end; the end shows the key.
func TestSecrets(t *testing.T) {
	g := newGame(t, `{}`, "ann", "bob")
	eve := g.n.session("eve")
	eve.join(g.m)
	ann := g.players[0]
	ann.claim(g.m, 1, setSA)
	ann.send(g.m, wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
	g.pass(time.Second)
	tb := g.m.table()
	key := tb.deck.Key()
	if key == ([32]byte{}) {
		t.Fatal("no key")
	}
	shown := tb.String() + g.m.label + strings.Join(g.n.logger.lines, "\n") + g.m.signal("anything")
	for _, u := range []*fakeUser{ann, g.players[1], eve} {
		for _, f := range u.frames {
			shown += string(f.data)
		}
	}
	if strings.Contains(shown, string(key[:])) || strings.Contains(strings.ToLower(shown), hex.EncodeToString(key[:])) {
		t.Fatal("the key is out")
	}
	g.read()
	ann.send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	if end := ended(t, ann.news()); end == nil || string(end.GetKey()) != string(key[:]) {
		t.Fatalf("end %v", end)
	}
}

func TestSeededMatchShowsItsSeedAtTheEnd(t *testing.T) {
	g := newGame(t, `{"seed":-123456}`, "ann", "bob")
	if text := g.m.table().String() + g.m.label; strings.Contains(text, "123456") {
		t.Fatalf("the seed is out: %s", text)
	}
	g.players[0].send(g.m, wire.OpCode_OP_CODE_FORFEIT, nil)
	if end := ended(t, g.players[0].news()); end.GetSeed() != -123456 || end.GetKey() != nil {
		t.Fatalf("end %v", end)
	}
}

func TestConsoleView(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.players[0].claim(g.m, 1, setSA)
	var view consoleView
	if err := json.Unmarshal([]byte(g.m.table().String()), &view); err != nil {
		t.Fatal(err)
	}
	if view.State != "ValidSetAnim" || view.Seats[0].Score != 1 || view.Seats[1].Name != "bob" || len(view.Board) != 12 || view.Board[1] != "0001" {
		t.Fatalf("view %+v", view)
	}
	if empty := g.n.session("cid").create(`{}`).table().String(); !json.Valid([]byte(empty)) {
		t.Fatalf("a fresh table shows %s", empty)
	}
	g.n.waitStored() // what waits is shown with how long it has
	if text := fmt.Sprintf("%+v", g.m.state); text != g.m.table().String() {
		t.Fatalf("Nakama's console would show %s", text)
	}
}

// A wrong claim that changes no snapshot: everybody hears the verdict all the same, once.
func TestVerdictWithoutAChange(t *testing.T) {
	g := newGame(t, `{"rules":{"penalty_mode":"point","invalid_anim_ms":0},"test_deck":"`+boardMAX+`"}`, "ann", "bob")
	ann := g.players[0]
	ann.claim(g.m, 1, notSet)
	for _, player := range g.players {
		frames := player.news()
		if len(frames) != 1 {
			t.Fatalf("%d frames:\n%s", len(frames), story(t, frames))
		}
		if v := verdict(t, frames); v.Valid || v.MixedAttributes == 0 {
			t.Fatalf("verdict %v", v)
		}
	}
}

// The clock of a timed match ends it by the timer, to the millisecond.
func TestTimeIsUp(t *testing.T) {
	g := newGame(t, `{"preset":"timed","rules":{"time_limit_ms":5000}}`, "ann", "bob")
	for range 8 {
		if f := g.n.clock.next(g.n.clock.now() + 5*time.Second); f != nil {
			f()
			g.m.settle()
		}
		if g.m.table().ended {
			break
		}
	}
	end := ended(t, g.players[1].news())
	if end == nil || end.Reason != wire.EndReason_END_REASON_TIME_UP {
		t.Fatalf("end %v", end)
	}
	if now := g.m.table().session.NowMs(); now != 5000 {
		t.Fatalf("ended at %d ms", now)
	}
}
