package match

import (
	"errors"
	"strings"
	"testing"
	"time"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestEmotes(t *testing.T) {
	g := lobbyOf(newFake(t), `{"seats":2,"preset":"fast","test_deck":"`+endDeckCards+`"}`, "ann")
	ann := g.players[0]
	show := func(u *fakeUser, e wire.EmoteKind) {
		g.pass(time.Second)
		g.read()
		u.news()
		u.send(g.m, wire.OpCode_OP_CODE_EMOTE, &wire.ShowEmote{Emote: e})
	}
	show(ann, wire.EmoteKind_EMOTE_KIND_HELLO)
	if e := one[*wire.EmoteShown](t, ann.news()); e.Seat != 0 || e.Emote != wire.EmoteKind_EMOTE_KIND_HELLO {
		t.Fatalf("shown %v", e)
	}
	bob, eve := g.n.session("bob"), g.n.session("eve")
	bob.join(g.m)
	eve.join(g.m)
	show(bob, wire.EmoteKind_EMOTE_KIND_GOOD_LUCK)
	for _, u := range []*fakeUser{ann, bob} {
		if e := one[*wire.EmoteShown](t, u.news()); e.Seat != 1 {
			t.Fatalf("shown %v", e)
		}
	}
	show(eve, wire.EmoteKind_EMOTE_KIND_HELLO)
	wantRefusal(t, eve, wire.Reason_REASON_NOT_A_PLAYER)
	for _, e := range []wire.EmoteKind{0, 9, -1, 1 << 30} {
		show(ann, e)
		wantRefusal(t, ann, wire.Reason_REASON_MALFORMED_MESSAGE)
	}
	ann.claim(g.m, 1, "0110 1101 2122")
	ann.claim(g.m, 2, "1110 0112 2111")
	show(ann, wire.EmoteKind_EMOTE_KIND_GOOD_GAME)
	one[*wire.EmoteShown](t, bob.news()[0:])
}

const endDeckCards = "0021 2201 0020 0221 1011 0222 0110 1101 2122 1110 0112 2111"

func TestHints(t *testing.T) {
	n := newFake(t)
	g := startGame(n, `{"preset":"practice","seats":2,"test_deck":"`+boardMAX+boardRest+`"}`, "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	eve := n.session("eve")
	eve.join(g.m)
	g.read()
	ask := func(u *fakeUser, cards uint32) {
		u.news()
		u.send(g.m, wire.OpCode_OP_CODE_REQUEST_HINT, &wire.RequestHint{Cards: cards})
	}
	var all []byte
	for cards := uint32(3); cards >= 1; cards-- {
		ask(ann, cards)
		hint := one[*wire.Hint](t, ann.news()).Cards
		if len(hint) != int(cards) || all != nil && string(all[:cards]) != string(hint) {
			t.Fatalf("hints %v, then %v", all, hint)
		}
		if all == nil {
			all = hint
		}
	}
	set := domain.Triple{domain.MustCard(int(all[0])), domain.MustCard(int(all[1])), domain.MustCard(int(all[2]))}
	if !domain.ValidateTriple(set).IsValid() {
		t.Fatalf("%v is no Set", set)
	}
	wantQuiet(t, "bob", bob.news())
	for _, cards := range []uint32{0, 4} {
		ask(ann, cards)
		wantRefusal(t, ann, wire.Reason_REASON_MALFORMED_MESSAGE)
	}
	ask(eve, 1)
	wantRefusal(t, eve, wire.Reason_REASON_NOT_A_PLAYER)
	ann.claim(g.m, 1, setSA)
	ask(ann, 2)
	if hint := one[*wire.Hint](t, ann.news()); len(hint.Cards) != 0 {
		t.Fatal("a hint while the board is locked")
	}
	ann.send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	ask(bob, 1)
	wantRefusal(t, bob, wire.Reason_REASON_ENDED)

	lobby := lobbyOf(n, `{"preset":"practice","seats":2}`, "cid")
	lobby.players[0].send(lobby.m, wire.OpCode_OP_CODE_REQUEST_HINT, &wire.RequestHint{Cards: 1})
	wantRefusal(t, lobby.players[0], wire.Reason_REASON_NOT_STARTED)
	classic := startGame(n, `{}`, "dan", "fay")
	classic.players[0].send(classic.m, wire.OpCode_OP_CODE_REQUEST_HINT, &wire.RequestHint{Cards: 1})
	wantRefusal(t, classic.players[0], wire.Reason_REASON_NO_HINTS)
}

// Who does nothing while others play is warned, then forfeits; a sign of life resets that.
func TestIdlePlayers(t *testing.T) {
	g := newGame(t, `{"seats":3,"rules":{"idle_limit_ms":3600000},"test_deck":"`+boardMAX+boardRest+`"}`, "ann", "bob", "cid")
	ann, bob, cid := g.players[0], g.players[1], g.players[2]
	play := func(id uint64) { bob.claim(g.m, id, notSet); cid.claim(g.m, id, notSet) }
	g.pass(60 * time.Second)
	play(1)
	g.pass(59 * time.Second)
	ann.news()
	g.pass(2 * time.Second)
	if notice := one[*wire.Notice](t, ann.news()); notice.Kind != wire.NoticeKind_NOTICE_KIND_IDLE || notice.GraceMs != 30_000 {
		t.Fatalf("notice %v", notice)
	}
	ann.send(g.m, wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
	g.pass(40 * time.Second)
	play(2)
	g.pass(79 * time.Second)
	if len(only[*wire.Notice](t, ann.news())) != 0 {
		t.Fatal("warned again too early")
	}
	for id := range uint64(3) {
		ann.send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{}) // comes by itself
		g.pass(15 * time.Second)
		play(id + 3)
	}
	g.pass(time.Second)
	frames := ann.news()
	notices := only[*wire.Notice](t, frames)
	if len(notices) != 2 || notices[0].Kind != wire.NoticeKind_NOTICE_KIND_IDLE || notices[1].Kind != wire.NoticeKind_NOTICE_KIND_SEAT_FORFEITED {
		t.Fatalf("notices %v", notices)
	}
	found := false
	for _, u := range only[*wire.Update](t, bob.news()) {
		for _, e := range u.Events {
			if f := e.GetPlayerForfeited(); f != nil {
				found = f.Seat == 0 && f.Cause == wire.ForfeitCause_FORFEIT_CAUSE_IDLE
			}
		}
	}
	if !found || g.m.table().ended {
		t.Fatal("the others were not told, or the match is over")
	}
	ann.claim(g.m, 1, setSA)
	wantRefused(t, ann.news(), wire.Reason_REASON_NOT_A_PLAYER)
}

// Nobody is idle while all brood, alone, or against bots; and a warned player is not forfeited before somebody else plays.
func TestNobodyIsIdleAlone(t *testing.T) {
	g := newGame(t, deckRequest(`,"rules":{"idle_limit_ms":3600000}`), "ann", "bob")
	g.pass(10 * time.Minute)
	for _, u := range g.players {
		if len(only[*wire.Notice](t, u.news())) != 0 {
			t.Fatal("warned although nobody plays")
		}
	}
	g.players[1].claim(g.m, 1, notSet)
	g.pass(2 * lookEvery)
	one[*wire.Notice](t, g.players[0].news())
	g.pass(10 * time.Minute)
	if g.m.table().ended {
		t.Fatal("forfeited although bob did nothing either")
	}
	g.players[1].claim(g.m, 2, notSet)
	g.pass(2 * lookEvery)
	if !g.m.table().ended {
		t.Fatal("never forfeited")
	}
	alone := newGame(t, `{"seats":2,"bots":["hard"]}`, "cid")
	alone.pass(3 * time.Minute) // perhaps the bot has played to the end by then, and the table has closed
	for _, n := range only[*wire.Notice](t, alone.players[0].news()) {
		if n.Kind == wire.NoticeKind_NOTICE_KIND_IDLE {
			t.Fatal("warned against a bot")
		}
	}
	loud := newGame(t, deckRequest(`,"seats":3,"rules":{"idle_limit_ms":3600000}`), "ann", "bob", "cid")
	loud.pass(time.Second)
	loud.players[2].send(loud.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	loud.pass(time.Minute)
	loud.players[2].claim(loud.m, 1, notSet)
	loud.pass(2 * time.Minute)
	if len(only[*wire.Notice](t, loud.players[0].news())) != 0 {
		t.Fatal("warned because somebody who is out makes noise")
	}
	off := startGame(newFake(t, "SET3D_IDLE_WARNING_MS=0"), deckRequest(`,"rules":{"idle_limit_ms":3600000}`), "ann", "bob")
	off.pass(5 * time.Minute)
	off.players[1].claim(off.m, 1, notSet)
	off.pass(time.Second)
	if len(only[*wire.Notice](t, off.players[0].news())) != 0 {
		t.Fatal("warned although it is switched off")
	}
}

// Emotes, snapshots and refused claims cost nothing, and do not make the other players look idle.
func TestNoiseMakesNobodyIdle(t *testing.T) {
	g := newGame(t, deckRequest(`,"rules":{"idle_limit_ms":3600000}`), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	for i := range uint64(60) {
		ann.send(g.m, wire.OpCode_OP_CODE_EMOTE, &wire.ShowEmote{Emote: wire.EmoteKind_EMOTE_KIND_HELLO})
		ann.send(g.m, wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
		ann.claim(g.m, i+1, "0000 0000 0000") // refused
		g.pass(10 * time.Second)
	}
	if notices := only[*wire.Notice](t, bob.news()); len(notices) != 0 {
		t.Fatalf("bob, who thinks, hears %v", notices)
	}
	ann.claim(g.m, 100, notSet)
	g.pass(2 * lookEvery)
	if notice := one[*wire.Notice](t, bob.news()); notice.Kind != wire.NoticeKind_NOTICE_KIND_IDLE {
		t.Fatalf("notice %v", notice)
	}
	g.pass(20 * time.Second)
	ann.send(g.m, wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
	g.pass(30 * time.Second)
	if g.m.table().ended {
		t.Fatal("bob forfeited although ann has not played since")
	}
}

// A dropped player is not idle: the hold is the limit. Who comes back begins anew.
func TestDroppedIsNotIdle(t *testing.T) {
	g := newGame(t, deckRequest(`,"rules":{"idle_limit_ms":3600000,"drop_hold_ms":600000}`), "ann", "bob")
	g.m.leave(g.players[0])
	g.pass(3 * time.Minute)
	g.players[1].claim(g.m, 1, notSet)
	g.pass(time.Second)
	if g.m.table().closing || g.m.table().seats.seat[0].warnedAt != 0 {
		t.Fatal("a dropped player was warned")
	}
	back := g.n.session("ann")
	back.join(g.m)
	g.players[1].claim(g.m, 2, notSet)
	g.pass(time.Minute)
	if len(only[*wire.Notice](t, back.news())) != 0 {
		t.Fatal("warned right after coming back")
	}
}

func TestNamesFromAccounts(t *testing.T) {
	n := newFake(t)
	long := strings.Repeat("é", 60)
	n.accounts["user-ann"] = fakeAccount{"Ann\u202e\n of\x00 Arc ", "https://example.com/a.png"}
	n.accounts["user-bob"] = fakeAccount{long, "https://example.com/\n"}
	n.accounts["user-cid"] = fakeAccount{"\xff\t", ""}
	g := lobbyOf(n, `{"seats":4}`, "ann", "bob", "cid", "dan")
	seats := &g.m.table().seats
	eventually(t, func() bool {
		g.m.settle()
		g.m.callback.Lock()
		defer g.m.callback.Unlock()
		return seats.seat[0].avatar != "" && seats.seat[1].name != "bob" && seats.seat[2].name != "cid"
	})
	g.m.settle()
	if names := seats.names(); names[0] != "Ann of Arc" || names[1] != strings.Repeat("é", nameMax) || names[2] != "?" || names[3] != "dan" {
		t.Fatalf("names %q", names)
	}
	if seats.seat[1].avatar != "" {
		t.Fatalf("avatar %q", seats.seat[1].avatar)
	}
	late := n.session("eve")
	late.join(g.m)
	if r := one[*wire.Welcome](t, late.news()).Roster; r.Seats[0].DisplayName != "Ann of Arc" || r.Seats[0].AvatarUrl != "https://example.com/a.png" {
		t.Fatalf("roster %v", r)
	}
	n.accountError = errors.New("the database is away")
	h := lobbyOf(n, `{"seats":2}`, "ann", "bob")
	eventually(t, func() bool { return n.logger.has("WARN cannot look up user") })
	if names := h.m.table().seats.names(); names[0] != "ann" {
		t.Fatalf("names %q", names)
	}
}

// Two devices that reconnect by themselves: the fight is told, and is over after ten rounds.
func TestContestedSeat(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	holder := g.players[0]
	for i := 1; i <= contestedMax; i++ {
		next := g.n.session("ann")
		if reason := next.join(g.m); reason != "" {
			t.Fatalf("takeover %d: %s", i, reason)
		}
		want := wire.NoticeKind_NOTICE_KIND_REPLACED
		if i >= contestedFrom {
			want = wire.NoticeKind_NOTICE_KIND_CONTESTED
		}
		if notice := one[*wire.Notice](t, holder.news()); notice.Kind != want {
			t.Fatalf("takeover %d: told %v", i, notice.Kind)
		}
		g.m.leave(holder)
		g.pass(2 * time.Second)
		holder = next
		holder.news()
	}
	if reason := g.n.session("ann").join(g.m); reason != `{"reason":"CONTESTED","args":{"retry_after_ms":40000}}` {
		t.Fatalf("answered %q", reason)
	}
	if reason := g.n.session("eve").join(g.m); reason != "" {
		t.Fatalf("eve: %q", reason)
	}
	if reason := g.n.session("bob").join(g.m); reason != "" {
		t.Fatalf("bob: %q", reason)
	}
	if notice := one[*wire.Notice](t, g.players[1].news()); notice.Kind != wire.NoticeKind_NOTICE_KIND_REPLACED {
		t.Fatalf("bob's older device: %v", notice)
	}
	g.m.leave(holder) // nobody holds it any more
	back := g.n.session("ann")
	if reason := back.join(g.m); reason != "" {
		t.Fatalf("the seat is free: %q", reason)
	}
	g.pass(time.Minute)
	last := g.n.session("ann")
	last.join(g.m)
	if notice := one[*wire.Notice](t, back.news()[1:]); notice.Kind != wire.NoticeKind_NOTICE_KIND_REPLACED {
		t.Fatalf("a minute later: %v", notice)
	}
}

// Flapping five times changes nothing.
func TestFlapping(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.players[0].claim(g.m, 1, setSA)
	g.pass(2 * time.Second)
	before := g.m.table().session.Snapshot()
	ann := g.players[0]
	for range 5 {
		g.m.leave(ann)
		g.pass(100 * time.Millisecond)
		ann = g.n.session("ann")
		if reason := ann.join(g.m); reason != "" {
			t.Fatal(reason)
		}
	}
	if after := g.m.table().session.Snapshot(); after != before {
		t.Fatalf("was %+v, is %+v", before, after)
	}
	if w := one[*wire.Welcome](t, ann.news()); *w.Seat != 0 || w.LastVerdict == nil || w.Snapshot.Scores[0] != 1 {
		t.Fatalf("welcome %v", w)
	}
}
