package tests

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// boardGROW has no Set among its first 12, 15 and 18 cards, and three among all 21.
const boardGROW = "1000 2022 1220 2212 2220 2011 1221 0210 0100 0122 0212 0010 2221 2111 2210 0012 1121 1011 1120 2122 0000"

// TestGrowingBoard: a board without a Set grows by three cards, and again, and cannot be claimed from meanwhile.
func TestGrowingBoard(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := open(t, on, client.CreateMatch{TestDeck: deckOf(boardGROW), Rules: quick(map[string]any{"expand_anim_ms": 700})}, asJSON, asProtobuf)
	a, b := x.players[0], x.players[1]
	refused := a.refusal(a.claim("1000 2022 1220"), wire.Reason_REASON_BOARD_LOCK)
	if refused.GetRetryAtMs() == 0 {
		t.Errorf("refused {%v}", refused)
	}
	state := b.idle()
	if !bytes.Equal(state.GetBoard(), ids(boardGROW)) {
		t.Errorf("the board is %v", state.GetBoard())
	}
	var slots, cards []byte
	for _, update := range every[*wire.Update](b) {
		for _, event := range update.GetEvents() {
			if dealt := event.GetCardsDealt(); dealt.GetCause() == wire.DealCause_DEAL_CAUSE_EXPANSION {
				slots, cards = append(slots, dealt.GetSlots()...), append(cards, dealt.GetCards()...)
			}
		}
	}
	if !bytes.Equal(slots, []byte{12, 13, 14, 15, 16, 17, 18, 19, 20}) || !bytes.Equal(cards, ids(boardGROW)[12:]) {
		t.Errorf("dealt %v to %v", cards, slots)
	}
	sets := setsOn(state.GetBoard())
	if len(sets) != 3 {
		t.Fatalf("%d Sets", len(sets))
	}
	id := newClaimID()
	b.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, sets[0]))
	if v := b.verdictOf(id); !v.GetValid() {
		t.Errorf("verdict %v", v)
	}
	x.sameScores(0, 1)
}

// TestOwnClock: a player whose own clock has run out claims no more, and the match goes on for the others until theirs have.
func TestOwnClock(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	x := maxTable(t, on, quick(map[string]any{"penalty_mode": "time", "penalty_time_ms": 60_000, "time_limit_ms": 50_000}))
	a, b := x.players[0], x.players[1]
	a.verdict(notSet)
	if paid := a.state().GetTimePenaltiesMs()[0]; paid == 0 || paid > 50_000 {
		t.Errorf("%d ms were taken", paid)
	}
	a.refusal(a.claim(setSA), wire.Reason_REASON_OUT_OF_TIME)
	b.wins(setSA)
	x.sameScores(0, 1)
	b.verdict("0010 0011 0020")
	end := a.ended()
	if end.GetReason() != wire.EndReason_END_REASON_TIME_UP || !slices.Equal(end.GetWinners(), []uint32{1}) {
		t.Errorf("end {%v}", end)
	}
}

// TestIdleEnd: a match in which nobody finds a Set ends by itself.
func TestIdleEnd(t *testing.T) {
	t.Parallel()
	x := open(t, shared(t), client.CreateMatch{Rules: quick(map[string]any{"idle_limit_ms": 1_000})}, asProtobuf, asJSON)
	begun := time.Now()
	for _, p := range x.players {
		if end := p.ended(); end.GetReason() != wire.EndReason_END_REASON_IDLE || len(end.GetWinners()) != 2 || len(end.GetKey()) != 32 {
			t.Errorf("end {%v}", end)
		}
	}
	if took := time.Since(begun); took < 900*time.Millisecond {
		t.Errorf("ended after %v", took)
	}
}

// TestOpeningBoards: a match begins with as many slots as its rules say.
func TestOpeningBoards(t *testing.T) {
	t.Parallel()
	on := shared(t)
	for _, size := range []int{12, 15, 18} {
		x := open(t, on, client.CreateMatch{Seed: 99, Rules: quick(map[string]any{"initial_board_size": size})}, asJSON)
		if state := x.players[0].idle(); len(state.GetBoard()) < size || len(state.GetBoard())+int(state.GetDeckCount()) != 81 {
			t.Errorf("%d slots: {%v}", size, state)
		}
	}
}

// TestWithoutTheFastLane: the same match on a server that judges at its ticks.
func TestWithoutTheFastLane(t *testing.T) {
	on := ownServer(t, "SET3D_FAST_LANE=off", "SET3D_TICK_RATE=30")
	x := maxTable(t, on, quick(nil))
	a, b := x.players[0], x.players[1]
	a.wins(setSA)
	b.refusal(b.claim(setSB), wire.Reason_REASON_NOT_ON_BOARD)
	a.rude = true
	a.sendData(77, nil)
	a.error(77, wire.Reason_REASON_UNKNOWN_OP_CODE)
	x.sameScores(1, 0)
	g := playWhole(t, on, client.CreateMatch{Seats: 2, Rules: map[string]any{
		"valid_anim_ms": 40, "refill_anim_ms": 30, "expand_anim_ms": 20, "invalid_anim_ms": 100, "drop_hold_ms": 10_000,
	}}, 0.1, bothFormats...)
	g.check(wire.EndReason_END_REASON_NO_SETS_LEFT, true)
}
