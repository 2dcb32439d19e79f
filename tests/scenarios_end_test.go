package tests

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// TestScenariosOfEnds are the bug reports about the end of a match, and about people who come and go.
func TestScenariosOfEnds(t *testing.T) {
	t.Parallel()
	runScenarios(t, []scenario{
		{"15 the match ends when no Set is left", endsWithoutSets},
		{"19 claims after the end", claimsAfterTheEnd},
		{"20 joining again on a live session", joiningAgain},
		{"20 a snapshot at any time", snapshotAnyTime},
		{"26 events of one match stay in it", twoMatchesApart},
		{"26 one session in two matches", oneSessionTwoMatches},
	})
}

// endTable is a table with the board END: two Sets, no deck.
func endTable(t *testing.T, on *server, formats ...client.Format) *table {
	t.Helper()
	if len(formats) == 0 {
		formats = []client.Format{asJSON, asProtobuf}
	}
	return open(t, on, client.CreateMatch{TestDeck: boardEND, Rules: quick(nil)}, formats...)
}

func endsWithoutSets(t *testing.T, on *server) {
	x := endTable(t, on)
	a, b := x.players[0], x.players[1]
	a.wins(endS1)
	b.wins(endS2)
	for _, p := range x.players {
		end := p.ended()
		if end.GetReason() != wire.EndReason_END_REASON_NO_SETS_LEFT || !slices.Equal(end.GetWinners(), []uint32{0, 1}) || end.Winner != nil {
			t.Errorf("end {%v}, want a tie of both", end)
		}
		for seat, line := range end.GetTable() {
			if line.GetScore() != 1 || line.GetDisplayName() != x.players[seat].user.Username {
				t.Errorf("final score {%v}", line)
			}
		}
		state := p.state()
		left := slices.DeleteFunc(slices.Clone(state.GetBoard()), func(card byte) bool { return card == 255 })
		if len(left) != 6 || state.GetState() != wire.BoardState_BOARD_STATE_MATCH_END {
			t.Errorf("%d cards are left in %v", len(left), state.GetState())
		}
		p.sync()
		p.mu.Lock()
		ends := endsIn(p.frames, p.match)
		p.mu.Unlock()
		if len(ends) != 1 {
			t.Errorf("the end is told %d times", len(ends))
		}
	}
}

func claimsAfterTheEnd(t *testing.T, on *server) {
	x := endTable(t, on)
	a, b := x.players[0], x.players[1]
	first := a.claim(endS1)
	verdict := a.verdictOf(first)
	b.wins(endS2)
	a.ended()
	a.refusal(a.claim(endS2), wire.Reason_REASON_ENDED)
	b.refusal(b.claim("0021 2201 0020"), wire.Reason_REASON_ENDED)
	a.claimAs(first, endS1)
	if o := a.outcomes(first, 2)[1]; !proto.Equal(o.repeated, verdict) {
		t.Errorf("the repeat is answered %v", o)
	}
	a.forfeit()
	a.error(int64(wire.OpCode_OP_CODE_FORFEIT), wire.Reason_REASON_ENDED)
	x.sameScores(1, 1)
	late := connect(t, on, asProtobuf)
	if welcome := late.join(x.made.MatchID, x.verify(late)); !proto.Equal(welcome.GetEnded(), a.ended()) {
		t.Errorf("a late visitor is told {%v}", welcome)
	}
}

func joiningAgain(t *testing.T, on *server) {
	x := maxTable(t, on, quick(nil))
	a, b := x.players[0], x.players[1]
	a.wins(setSA)
	a.sync()
	b.sync()
	for _, p := range x.players {
		p.mark()
	}
	for range 3 {
		if answer := a.call(joinOf(a.match)); !answer.GetMatch().GetAuthoritative() || answer.GetMatch().GetSelf().GetUserId() != a.user.ID {
			t.Fatalf("joining again is answered {%v}", answer)
		}
	}
	a.sync()
	b.sync()
	for seat, p := range x.players {
		if heard := p.since(); len(heard) != 1 {
			t.Errorf("player %d hears %d messages, wants the PONG only", seat, len(heard))
		}
	}
	a.send(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
	if welcome := a.welcome(); welcome.GetSeat() != 0 || welcome.GetSnapshot().GetScores()[0] != 1 {
		t.Errorf("the snapshot is {%v}", welcome)
	}
	x.sameScores(1, 0)
}

func snapshotAnyTime(t *testing.T, on *server) {
	a, b := connect(t, on, asProtobuf), connect(t, on, asJSON)
	x := create(t, on, client.CreateMatch{Seats: 2, TestDeck: boardEND, Rules: animated(map[string]any{"valid_anim_ms": 1_000})}, a, b)
	ask := func(what string, isIt func(*wire.Welcome) bool) {
		t.Helper()
		a.mark()
		a.send(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
		if welcome := a.welcome(); !isIt(welcome) || welcome.GetProtocolVersion() != 1 || welcome.GetRole() != wire.Role_ROLE_PLAYER {
			t.Errorf("%s: {%v}", what, welcome)
		}
	}
	x.seat(a)
	ask("before the start", func(w *wire.Welcome) bool {
		return w.GetSnapshot() == nil && w.GetSeat() == 0 && len(w.GetRoster().GetSeats()) == 2
	})
	x.seat(b)
	a.idle()
	ask("on an idle board", func(w *wire.Welcome) bool { return w.GetSnapshot().GetState() == wire.BoardState_BOARD_STATE_IDLE })
	id := a.claim(endS1)
	a.verdictOf(id)
	ask("in an animation", func(w *wire.Welcome) bool {
		return w.GetSnapshot().GetAnimation().GetSerial() > 0 && w.GetLastVerdict().GetClaimId() == id
	})
	a.until("the next idle board", func(s *wire.Snapshot) bool {
		return s.GetScores()[0] == 1 && s.GetState() == wire.BoardState_BOARD_STATE_IDLE
	})
	a.mark()
	a.wins(endS2)
	a.ended()
	ask("after the end", func(w *wire.Welcome) bool {
		return w.GetEnded().GetReason() == wire.EndReason_END_REASON_NO_SETS_LEFT && w.GetSnapshot().GetScores()[0] == 2
	})
}

func twoMatchesApart(t *testing.T, on *server) {
	request := client.CreateMatch{Seed: 1234, Rules: quick(nil)}
	one := open(t, on, request, asProtobuf, asJSON)
	other := open(t, on, request, asProtobuf, asJSON)
	board := one.players[0].state().GetBoard()
	if !slices.Equal(board, other.players[0].state().GetBoard()) {
		t.Fatal("one seed, two boards")
	}
	for _, p := range other.players {
		p.sync()
		p.mark()
	}
	a := one.players[0]
	id := newClaimID()
	a.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, setsOn(board)[0]))
	if v := a.verdictOf(id); !v.GetValid() {
		t.Fatalf("verdict %v", v)
	}
	one.sameScores(1, 0)
	for seat, p := range other.players {
		p.sync()
		if heard := p.since(); len(heard) != 1 {
			t.Errorf("player %d of the other match hears %d messages, wants the PONG only", seat, len(heard))
		}
	}
	other.sameScores(0, 0)
}

// One session may sit in two matches: each message says where it belongs.
func oneSessionTwoMatches(t *testing.T, on *server) {
	a := connect(t, on, asJSON)
	one := openFor(t, on, client.CreateMatch{TestDeck: deckOf(boardMAX), Rules: quick(nil)}, a, connect(t, on, asProtobuf))
	a.wins(setSA)
	first := a.match
	two := openFor(t, on, client.CreateMatch{TestDeck: boardEND, Rules: quick(nil)}, a, connect(t, on, asProtobuf))
	b := one.players[1]
	b.wins(setRow)
	a.wins(endS1) // in the second match
	two.players[1].until("the point", func(s *wire.Snapshot) bool { return s.GetScores()[0] == 1 })
	a.attend(first, nil)
	a.mark()
	a.send(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
	if scores := a.welcome().GetSnapshot().GetScores(); !slices.Equal(scores, []uint32{1, 1}) {
		t.Errorf("the first match has the scores %v", scores)
	}
}
