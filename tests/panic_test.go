package tests

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// TestPanicEndsOneMatch orders a panic at each entry point that a client can reach in a running match. Its players are told, its table is
// closed, and a match beside it plays on.
func TestPanicEndsOneMatch(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	cases := map[string]func(a, b *peer){
		"loop":   func(*peer, *peer) {}, // the next tick
		"leave":  func(_, b *peer) { b.call(leaveOf(b.match)) },
		"signal": func(a, _ *peer) { a.claim(setSA) },
		"bell":   func(a, _ *peer) { a.claim(setSA) },
		"hook":   func(a, _ *peer) { a.claim(setSA) },
		"timer":  func(a, _ *peer) { a.wins(setSA) }, // the end of its animation
	}
	for at, provoke := range cases {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			healthy := maxTable(t, on, animated(nil))
			healthy.players[0].wins(setSA)
			broken := brokenTable(t, on, at)
			a, b := broken.players[0], broken.players[1]
			provoke(a, b)
			wantBroken(t, a)
			if at != "leave" { // b has left
				wantBroken(t, b)
			}
			wantClosed(t, on, broken.made.MatchID)
			wantHealthy(t, healthy)
		})
	}
}

// brokenTable is a running match with a panic in it.
func brokenTable(t *testing.T, on *server, at string) *table {
	t.Helper()
	a, b := connect(t, on, asJSON), connect(t, on, asProtobuf)
	a.rude, b.rude = true, true // an end by panic is a violation
	return openFor(t, on, client.CreateMatch{TestDeck: deckOf(boardMAX), Rules: animated(nil), TestPanicAt: at}, a, b)
}

// wantBroken waits until the player is told that the match has broken, and that its table is closed.
func wantBroken(t *testing.T, p *peer) {
	t.Helper()
	if end := p.ended(); end.GetReason() != wire.EndReason_END_REASON_INTERNAL_ERROR || len(end.GetWinners()) != 0 {
		t.Errorf("the end is {%v}, want an internal error", end)
	}
	p.notice(wire.NoticeKind_NOTICE_KIND_CLOSED)
	if state := p.state(); state != nil && (state.GetState() != wire.BoardState_BOARD_STATE_MATCH_END || state.GetAnimation() != nil || state.GetClockRunning()) {
		t.Errorf("the last state is {%v}", state)
	}
	p.alive()
	p.ping()
}

// wantClosed tries to join a closed table.
func wantClosed(t *testing.T, on *server, matchID string) {
	t.Helper()
	late := connect(t, on, asJSON)
	refused := late.refusedJoin(matchID)
	gone := refused.GetCode() == int32(rtapi.Error_MATCH_NOT_FOUND)
	closed := refused.GetCode() == int32(rtapi.Error_MATCH_JOIN_REJECTED) && strings.Contains(refused.GetMessage(), `"TABLE_CLOSED"`)
	if !gone && !closed {
		t.Errorf("joining a closed table is answered {%v}", refused)
	}
}

// wantHealthy plays on, and asks the server whether it lives.
func wantHealthy(t *testing.T, x *table) {
	t.Helper()
	b := x.players[1]
	b.until("the refill", func(s *wire.Snapshot) bool {
		return s.GetScores()[0] == 1 && s.GetState() == wire.BoardState_BOARD_STATE_IDLE
	})
	b.wins(setRow)
	x.sameScores(1, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := x.on.client().Hello(ctx, b.user); err != nil {
		t.Errorf("hello: %v", err)
	}
}

// TestPanicWhileJoining orders panics where a match has not begun.
func TestPanicWhileJoining(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	healthy := maxTable(t, on, animated(nil))
	healthy.players[0].wins(setSA)
	t.Run("join_attempt", func(t *testing.T) {
		a := connect(t, on, asJSON)
		x := create(t, on, client.CreateMatch{Seats: 2, TestPanicAt: "join_attempt"}, a)
		if refused := a.refusedJoin(x.made.MatchID); !strings.Contains(refused.GetMessage(), `"INTERNAL"`) {
			t.Errorf("the join is answered {%v}", refused)
		}
		wantClosed(t, on, x.made.MatchID)
	})
	t.Run("join", func(t *testing.T) {
		a := connect(t, on, asProtobuf)
		x := create(t, on, client.CreateMatch{Seats: 2, TestPanicAt: "join"}, a)
		a.attend(x.made.MatchID, nil)
		a.call(joinOf(a.match)) // allowed: the panic comes after
		wantBroken(t, a)
		wantClosed(t, on, x.made.MatchID)
	})
	for _, at := range []string{"match_init", "rpc"} {
		t.Run(at, func(t *testing.T) {
			a := connect(t, on, asJSON)
			for range on.limits.OpenMatchesMax + 2 { // what failed does not count as open
				_, refused := a.rpc("create_match", `{"test_panic_at":"`+at+`"}`)
				if want := `{"reason":"INTERNAL","args":{}}`; refused.GetMessage() != want {
					t.Fatalf("create_match is answered {%v}, want %s", refused, want)
				}
			}
			create(t, on, client.CreateMatch{Seats: 2}, a)
		})
	}
	wantHealthy(t, healthy)
}

// TestPanicAfterTheEnd: when a match stops, a panic in what tidies up after it hurts nobody.
func TestPanicAfterTheEnd(t *testing.T) {
	t.Parallel()
	on := serverWith(t, closesSoon, "SET3D_AFTER_END_MS=0")
	healthy := maxTable(t, on, animated(nil))
	healthy.players[0].wins(setSA)
	a := connect(t, on, asJSON)
	x := openFor(t, on, client.CreateMatch{TestDeck: boardEND, Rules: quick(nil), TestPanicAt: "after_func"}, a)
	a.wins(endS1)
	a.wins(endS2)
	if end := a.ended(); end.GetReason() != wire.EndReason_END_REASON_NO_SETS_LEFT {
		t.Errorf("end {%v}", end)
	}
	a.notice(wire.NoticeKind_NOTICE_KIND_CLOSED)
	wantClosed(t, on, x.made.MatchID)
	wantHealthy(t, healthy)
}

// TestPanicAtShutdown: a panic in one match's farewell does not keep the others, or the server, from theirs.
func TestPanicAtShutdown(t *testing.T) {
	t.Parallel()
	on := ownServer(t)
	healthy, broken := maxTable(t, on, animated(nil)), brokenTable(t, on, "terminate")
	on.stopping.Store(true)
	if err := on.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wantShutdown := healthy.players[0].notice(wire.NoticeKind_NOTICE_KIND_SHUTDOWN)
	if wantShutdown.GetGraceMs() != 1_000 {
		t.Errorf("NOTICE {%v}", wantShutdown)
	}
	healthy.players[0].wins(setSA)
	if end := broken.players[1].ended(); end.GetReason() != wire.EndReason_END_REASON_INTERNAL_ERROR {
		t.Errorf("end {%v}", end)
	}
	select {
	case <-on.exited:
	case <-time.After(patience):
		t.Fatal("the server does not stop")
	}
	if on.exit != nil {
		t.Errorf("the server's end: %v", on.exit)
	}
	for _, complaint := range on.complaints() {
		t.Error(complaint)
	}
}

// closesSoon says whether a server closes ended tables while a test can wait for it.
func closesSoon(l limits) bool { return l.AfterEndMs <= 3_000 }
