package tests

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/proto"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// TestFlapping: scenario 23, five times. Each time the player has the same seat, score, board and verdicts as before, and then plays on.
func TestFlapping(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	for _, format := range bothFormats {
		t.Run(format.String(), func(t *testing.T) {
			t.Parallel()
			x := maxTable(t, on, unlocked(map[string]any{"drop_hold_ms": 60_000}), format, asProtobuf)
			a, b := x.players[0], x.players[1]
			wrong := a.claim(notSet)
			a.verdictOf(wrong)
			won := a.claim(setSA)
			verdict := a.verdictOf(won)
			board := a.idle().GetBoard()
			for range 5 {
				b.mark()
				a.hangUp()
				first(b, "the drop", func(r *wire.Roster) bool {
					return !r.GetSeats()[0].GetConnected() && r.GetSeats()[0].HeldUntilMs != nil
				})
				var welcome *wire.Welcome
				a, welcome = a.again()
				state := welcome.GetSnapshot()
				if welcome.GetRole() != wire.Role_ROLE_PLAYER || welcome.GetSeat() != 0 || state.GetScores()[0] != 1 ||
					!bytes.Equal(state.GetBoard(), board) || !proto.Equal(welcome.GetLastVerdict(), verdict) {
					t.Fatalf("back again: {%v}", welcome)
				}
				a.claimAs(won, setSA)
				if repeated := a.outcome(won).repeated; !proto.Equal(repeated, verdict) {
					t.Fatalf("the claim sent again is answered {%v}, was {%v}", repeated, verdict)
				}
				a.claimAs(wrong, notSet)
				if repeated := a.outcome(wrong).repeated; repeated == nil || repeated.GetValid() {
					t.Fatalf("the wrong claim sent again is answered {%v}", repeated)
				}
				first(b, "the return", func(r *wire.Roster) bool { return r.GetSeats()[0].GetConnected() && r.GetSeats()[0].HeldUntilMs == nil })
			}
			x.players[0] = a
			x.sameScores(1, 0)
			a.wins(setRow)
			x.sameScores(2, 0)
		})
	}
}

// TestInTheBackground: the seat of an app in the background is held for as long as the rules say, which is more than 90 s in every preset; who
// is back just before has it, and the hold is over.
func TestInTheBackground(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	held := func(b *peer) (until, now uint64) {
		roster := first(b, "the drop", func(r *wire.Roster) bool {
			return !r.GetSeats()[0].GetConnected() && r.GetSeats()[0].HeldUntilMs != nil
		})
		return roster.GetSeats()[0].GetHeldUntilMs(), roster.GetStamp().GetServerTimeMs()
	}
	t.Run("as in the presets", func(t *testing.T) {
		t.Parallel()
		rules := quick(nil)
		delete(rules, "drop_hold_ms")
		x := maxTable(t, on, rules)
		var made struct {
			DropHoldMs uint64 `json:"drop_hold_ms"`
		}
		if err := json.Unmarshal(x.made.Rules, &made); err != nil || made.DropHoldMs < 90_000 {
			t.Errorf("seats are held for %d ms, %v", made.DropHoldMs, err)
		}
		hold := made.DropHoldMs
		x.players[0].hangUp()
		if until, now := held(x.players[1]); until > now+hold || until+1_000 < now+hold {
			t.Errorf("held until %d at %d, want %d ms", until, now, hold)
		}
	})
	t.Run("back just before", func(t *testing.T) {
		t.Parallel()
		x := maxTable(t, on, quick(map[string]any{"drop_hold_ms": 2_500}))
		a, b := x.players[0], x.players[1]
		a.wins(setSA)
		back := connectAs(t, on, a.user, a.format)
		b.mark()
		a.hangUp()
		until, _ := held(b)
		for b.sync().GetStamp().GetServerTimeMs()+1_000 < until {
			continue // PINGs have a pace
		}
		if w := back.join(x.made.MatchID, nil); w.GetRole() != wire.Role_ROLE_PLAYER || w.GetSeat() != 0 || w.GetSnapshot().GetScores()[0] != 1 {
			t.Fatalf("back with {%v}", w)
		}
		for b.sync().GetStamp().GetServerTimeMs() <= until {
			continue
		}
		if b.state().GetForfeitedSeats() != 0 {
			t.Error("the seat is forfeited")
		}
		back.wins(setRow)
	})
}

// TestContestedSeat: scenario 21 gone wrong. Two devices of one user both come back at once, each time that the other has replaced them. They are
// told, it ends, and who has the seat then plays.
func TestContestedSeat(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := maxTable(t, on, quick(nil))
	has, b := x.players[0], x.players[1]
	has.wins(setSA)
	b.sync()
	b.mark()
	const enough = 20
	told := map[wire.NoticeKind]int{}
	for {
		back := connectAs(t, on, has.user, has.format)
		answer := back.call(joinOf(x.made.MatchID))
		if refused := answer.GetError(); refused != nil {
			if !strings.Contains(refused.GetMessage(), `"CONTESTED"`) || !strings.Contains(refused.GetMessage(), "retry_after_ms") {
				t.Fatalf("the join is refused with {%v}", refused)
			}
			break
		}
		notice := first(has, "the word that the seat is another's", func(n *wire.Notice) bool {
			return n.GetKind() == wire.NoticeKind_NOTICE_KIND_REPLACED || n.GetKind() == wire.NoticeKind_NOTICE_KIND_CONTESTED
		})
		if told[notice.GetKind()]++; told[wire.NoticeKind_NOTICE_KIND_REPLACED] > 3 {
			t.Fatalf("who lost the seat is told %v", told)
		}
		has.attend(x.made.MatchID, nil) // the verifier knows of one device only
		if back.attend(x.made.MatchID, nil); back.welcome().GetSeat() != 0 {
			t.Fatal("another seat")
		}
		if has = back; told[wire.NoticeKind_NOTICE_KIND_CONTESTED] > enough {
			t.Fatalf("it does not end: %v", told)
		}
	}
	if told[wire.NoticeKind_NOTICE_KIND_CONTESTED] == 0 {
		t.Errorf("nobody was told: %v", told)
	}
	has.wins(setRow)
	x.players[0] = has
	x.sameScores(2, 0)
	for _, roster := range every[*wire.Roster](b) {
		if !roster.GetSeats()[0].GetConnected() || roster.GetSeats()[0].HeldUntilMs != nil {
			t.Errorf("the others are told of a drop: {%v}", roster)
		}
	}
}

// deaf opens a socket for a user of which nothing is ever read.
func deaf(t *testing.T, on *server, user *client.User) *websocket.Conn {
	t.Helper()
	address := strings.Replace(on.url, "http", "ws", 1) + "/ws?" + url.Values{"token": {user.Token()}, "format": {"protobuf"}}.Encode()
	conn, _, err := websocket.DefaultDialer.DialContext(t.Context(), address, nil)
	if err != nil {
		t.Fatalf("open a socket: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// pingedWithin says whether the server asks a socket so soon whether it lives.
func pingedWithin(t *testing.T, on *server, limit time.Duration) bool {
	t.Helper()
	conn := deaf(t, on, signIn(t, on))
	pinged := false
	conn.SetPingHandler(func(string) error {
		pinged = true
		return conn.Close()
	})
	_ = conn.SetReadDeadline(time.Now().Add(limit))
	_, _, _ = conn.ReadMessage()
	return pinged
}

// TestFrozenPhone: scenario 22. A phone freezes: its socket stays open, reads nothing and answers no ping. The others see it as disconnected in
// seconds, the seat is held, and the phone's user finds it again.
func TestFrozenPhone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes the server's pong wait")
	}
	on := hooked(t)
	const pingPeriod, pongWait, slack = 5 * time.Second, 12 * time.Second, 4 * time.Second // local.yml; the wait and a busy machine
	b := connect(t, on, asJSON)
	x := create(t, on, client.CreateMatch{Seats: 2, TestDeck: deckOf(boardMAX), Rules: quick(map[string]any{"drop_hold_ms": 60_000})}, b)
	x.seat(b)
	phone := signIn(t, on)
	frozen := deaf(t, on, phone)
	if err := frozen.WriteMessage(websocket.BinaryMessage, marshal(t, joinOf(x.made.MatchID))); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	b.start()
	b.mark()
	b.wins(setSA)
	if !pingedWithin(t, on, pingPeriod+slack) {
		if on.process != nil {
			t.Fatalf("the server does not ping in %v", pingPeriod+slack)
		}
		t.Skipf("the server does not ping in %v: local.yml has it every %v", pingPeriod+slack, pingPeriod)
	}
	var seat *wire.Seat
	b.within(pongWait+slack-time.Since(begun), func() bool {
		for _, f := range b.news() {
			if roster, ok := f.Body.(*wire.Roster); ok && !roster.GetSeats()[1].GetConnected() {
				seat = roster.GetSeats()[1]
			}
		}
		return seat != nil
	})
	if seat == nil {
		t.Fatalf("after %v the phone counts as connected", time.Since(begun))
	}
	t.Logf("noticed after %v", time.Since(begun).Round(time.Millisecond))
	if seat.HeldUntilMs == nil || seat.GetUserId() != phone.ID || seat.GetForfeited() {
		t.Errorf("the seat is {%v}", seat)
	}
	thawed := connectAs(t, on, phone, asProtobuf)
	if w := thawed.join(x.made.MatchID, x.verify(thawed)); w.GetSeat() != 1 || w.GetSnapshot().GetScores()[0] != 1 {
		t.Errorf("back with {%v}", w)
	}
	thawed.wins(setRow)
	x.players = append(x.players, thawed)
	x.sameScores(1, 1)
}

// TestEndWithNobodyThere: scenario 16. All sockets close behind the last claim. The match ends nevertheless, and its result can be had.
func TestEndWithNobodyThere(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := open(t, on, client.CreateMatch{TestDeck: boardEND, Rules: animated(map[string]any{"drop_hold_ms": 60_000})}, asJSON, asProtobuf)
	a, b := x.players[0], x.players[1]
	a.wins(endS1)
	a.until("the next idle board", func(s *wire.Snapshot) bool {
		return s.GetScores()[0] == 1 && s.GetState() == wire.BoardState_BOARD_STATE_IDLE
	})
	b.wins(endS2)
	a.hangUp()
	b.hangUp()
	over := func() bool {
		_, err := on.client().RPC(t.Context(), a.user, "match_review", `{"match_id":"`+x.made.MatchID+`"}`)
		if err != nil && client.ReasonOf(err) != "NOT_ENDED" {
			t.Fatal(err)
		}
		return err == nil
	}
	if !eventually(over) {
		t.Fatal("the match goes on")
	}
	for _, p := range x.players {
		_, welcome := p.again()
		end := welcome.GetEnded()
		if end.GetReason() != wire.EndReason_END_REASON_NO_SETS_LEFT || end.GetTable()[0].GetScore() != 1 || end.GetTable()[1].GetScore() != 1 {
			t.Errorf("WELCOME {%v}", welcome)
		}
	}
}

// TestLastClaimLeaveAndTimeLimit: scenarios 24 and 31. The last Set is claimed, its claimer leaves, and the time is up, all at about one moment.
// There is one end with one result, in which the claim counts as it was judged.
func TestLastClaimLeaveAndTimeLimit(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	for name, early := range map[string]uint64{"well before": 500, "just before": 40, "at the moment": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const limit = 1_500
			x := open(t, on, client.CreateMatch{TestDeck: boardEND, Rules: quick(map[string]any{"time_limit_ms": limit})}, asJSON, asProtobuf)
			a, b := x.players[0], x.players[1]
			b.wins(endS1)
			if now := a.sync().GetStamp().GetServerTimeMs(); now+early < limit {
				time.Sleep(time.Duration(limit-early-now) * time.Millisecond) // to be near; nothing waits for it
			}
			a.rude = true // its answer may come after it has left
			id := a.claim(endS2)
			a.request(leaveOf(a.match))
			end := b.ended()
			b.sync()
			b.mu.Lock()
			ends, told := len(endsIn(b.frames, b.match)), outcomesOf(b.frames, id)
			b.mu.Unlock()
			won := uint32(0)
			for _, o := range told {
				if o.judged.GetValid() {
					won++
				}
			}
			if ends != 1 || won > 1 || end.GetTable()[0].GetScore() != won || end.GetTable()[1].GetScore() != 1 {
				t.Errorf("%d ends, %d verdicts for the last Set: {%v}", ends, won, end)
			}
			want := wire.EndReason_END_REASON_TIME_UP
			if won == 1 {
				want = wire.EndReason_END_REASON_NO_SETS_LEFT
			}
			if end.GetReason() != want {
				t.Errorf("the end is {%v}, want %v", end, want)
			}
			if welcome := connectAs(t, on, a.user, asJSON).join(x.made.MatchID, nil); !proto.Equal(welcome.GetEnded(), end) {
				t.Errorf("who left is told {%v}", welcome)
			}
		})
	}
}

// TestTwoEndsTogether: scenario 32. Two matches of one user end at one moment. Each has its own end and result.
func TestTwoEndsTogether(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	request := client.CreateMatch{TestDeck: boardEND, Rules: quick(nil)}
	user := signIn(t, on)
	var tables []*table
	for _, format := range bothFormats {
		tables = append(tables, openFor(t, on, request, connectAs(t, on, user, format), connect(t, on, format)))
	}
	tables[0].players[0].wins(endS1)
	tables[1].players[1].wins(endS1)
	var all sync.WaitGroup
	for _, x := range tables {
		all.Go(func() { x.players[0].wins(endS2) })
	}
	all.Wait()
	for i, want := range [][]uint32{{2, 0}, {1, 1}} {
		for _, p := range tables[i].players {
			end := p.ended()
			if end.GetReason() != wire.EndReason_END_REASON_NO_SETS_LEFT || end.GetTable()[0].GetScore() != want[0] || end.GetTable()[1].GetScore() != want[1] {
				t.Errorf("match %d: end {%v}, want the scores %v", i, end, want)
			}
		}
		if _, err := on.client().RPC(t.Context(), user, "match_review", `{"match_id":"`+tables[i].made.MatchID+`"}`); err != nil {
			t.Errorf("match %d: %v", i, err)
		}
	}
}
