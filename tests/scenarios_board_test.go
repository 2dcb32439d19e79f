package tests

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// boardNONE has no Set among its first 12 cards; the three that follow make one with two of them.
const boardNONE = "0112 1011 1102 1202 1210 2010 2100 2102 2110 2111 2202 2222 0000 0001 0002"

// refillPolicies are the two rules for what happens where a Set lay.
var refillPolicies = []string{"always", "to_initial_size"}

// TestScenariosOfBoards are the bug reports about boards that grow, and about ends that they lead to.
func TestScenariosOfBoards(t *testing.T) {
	t.Parallel()
	runScenarios(t, []scenario{
		{"13 a claim on a grown board", claimOnGrownBoard},
		{"14 slots stay where they are", slotsStay},
		{"17 the last cards of the deck", lastCardsOfTheDeck},
		{"18 a tie has no favourite", tieHasNoFavourite},
	})
}

func claimOnGrownBoard(t *testing.T, on *server) {
	for _, policy := range refillPolicies {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			x := open(t, on, client.CreateMatch{TestDeck: deckOf(boardNONE), Rules: quick(map[string]any{"refill_policy": policy})}, asJSON, asProtobuf)
			a, b := x.players[0], x.players[1]
			before := b.until("the grown board", func(s *wire.Snapshot) bool { return len(s.GetBoard()) == 15 })
			if !bytes.Equal(before.GetBoard(), ids(boardNONE)) || before.GetDeckCount() != 66 {
				t.Fatalf("the board is {%v}", before)
			}
			want, deck := bytes.Clone(before.GetBoard()), 66
			next := []byte{255, 255, 255}
			if policy == "always" {
				next, deck = ids(deckOf(boardNONE))[15:18], 63
			}
			for i, slot := range []int{2, 10, 14} { // where the claimed ones lie
				want[slot] = next[i]
			}
			b.mark()
			a.wins("1102 2202 0002")
			x.sameScores(1, 0)
			if after := b.state(); !bytes.Equal(after.GetBoard(), want) || int(after.GetDeckCount()) != deck {
				t.Errorf("the board is %v with %d in the deck, want %v with %d", after.GetBoard(), after.GetDeckCount(), want, deck)
			}
			for _, update := range every[*wire.Update](b) {
				for _, event := range update.GetEvents() {
					if dealt := event.GetCardsDealt(); dealt.GetCause() == wire.DealCause_DEAL_CAUSE_EXPANSION {
						t.Errorf("the board expands: {%v}", dealt)
					}
				}
			}
		})
	}
}

func slotsStay(t *testing.T, on *server) {
	for _, policy := range refillPolicies {
		for name, deck := range map[string]string{"whole deck": deckOf(boardGROW), "three cards left": boardGROW + " 0001 0011 2001"} {
			t.Run(policy+", "+name, func(t *testing.T) {
				t.Parallel()
				x := open(t, on, client.CreateMatch{TestDeck: deck, Rules: quick(map[string]any{"refill_policy": policy})}, asJSON, asProtobuf)
				state := x.players[0].until("21 cards", func(s *wire.Snapshot) bool { return len(s.GetBoard()) == 21 })
				if got := len(setsOn(state.GetBoard())); got != 3 {
					t.Fatalf("%d Sets on 21 cards", got)
				}
				var claimed []byte
				for turn := 0; ; turn++ {
					sets := setsOn(state.GetBoard())
					if len(sets) == 0 {
						break
					}
					p, id := x.players[turn%2], newClaimID()
					p.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, sets[0]))
					if v := p.verdictOf(id); !v.GetValid() {
						t.Fatalf("verdict %v", v)
					}
					claimed = append(claimed, sets[0]...)
					state = x.players[(turn+1)%2].until("the claim", func(s *wire.Snapshot) bool {
						return s.GetScores()[0]+s.GetScores()[1] == uint32(turn)+1
					})
				}
				if end := x.players[0].ended(); end.GetReason() != wire.EndReason_END_REASON_NO_SETS_LEFT || state.GetDeckCount() != 0 {
					t.Errorf("%d cards in the deck, three of %v are free: end {%v}", state.GetDeckCount(), state.GetBoard(), end)
				}
				for _, p := range x.players {
					p.sync()
					wantFixedSlots(t, p, claimed)
				}
			})
		}
	}
}

// wantFixedSlots fails if a card was ever seen in two slots, two cards were in one place, or a claimed one came back.
func wantFixedSlots(t *testing.T, p *peer, claimed []byte) {
	t.Helper()
	slotOf, gone := map[byte]int{}, map[byte]bool{}
	for _, f := range p.since() {
		update, ok := f.Body.(*wire.Update)
		if !ok {
			continue
		}
		board := update.GetSnapshot().GetBoard()
		if len(board) > 21 {
			t.Fatalf("%d slots", len(board))
		}
		for slot, card := range board {
			if card == 255 {
				continue
			}
			if old, known := slotOf[card]; known && old != slot || gone[card] {
				t.Fatalf("card %s is in slot %d, was in slot %d, gone: %t", code(card), slot, old, gone[card])
			}
			slotOf[card] = slot
		}
		for card := range slotOf {
			gone[card] = !bytes.Contains(board, []byte{card})
			if gone[card] && !bytes.Contains(claimed, []byte{card}) {
				t.Fatalf("card %s is gone, and nobody claimed it", code(card))
			}
		}
	}
}

func lastCardsOfTheDeck(t *testing.T, on *server) {
	x := open(t, on, client.CreateMatch{TestDeck: boardMAX + " 1000 1111 1222", Rules: quick(nil)}, asJSON, asProtobuf)
	a, b := x.players[0], x.players[1]
	if state := b.idle(); state.GetDeckCount() != 3 {
		t.Fatalf("%d cards in the deck", state.GetDeckCount())
	}
	a.wins(setSA)
	state := b.until("the last three cards", func(s *wire.Snapshot) bool { return s.GetDeckCount() == 0 })
	if !bytes.Equal(state.GetBoard()[:3], ids("1000 1111 1222")) {
		t.Errorf("the board is %v", state.GetBoard())
	}
	b.wins(setRow)
	x.sameScores(1, 1)
	if state := a.state(); bytes.Count(state.GetBoard(), []byte{255}) != 3 || state.GetDeckCount() != 0 {
		t.Errorf("after a claim that nothing replaces: {%v}", state)
	}
}

// The same two users tie, whoever of them joins first and whoever claims first: seats and ids decide nothing.
func tieHasNoFavourite(t *testing.T, on *server) {
	one, two := connect(t, on, asJSON), connect(t, on, asProtobuf)
	for _, joins := range [][]*peer{{one, two}, {two, one}} {
		for _, firstClaim := range []int{0, 1} {
			x := openFor(t, on, client.CreateMatch{TestDeck: boardEND, Rules: quick(nil)}, joins...)
			joins[firstClaim].wins(endS1)
			joins[1-firstClaim].wins(endS2)
			for _, p := range x.players {
				end := p.ended()
				if end.GetReason() != wire.EndReason_END_REASON_NO_SETS_LEFT || !slices.Equal(end.GetWinners(), []uint32{0, 1}) || end.Winner != nil {
					t.Errorf("end {%v}, want a tie of both", end)
				}
				scores := fmt.Sprint(end.GetTable()[0].GetScore(), end.GetTable()[1].GetScore())
				if scores != "1 1" {
					t.Errorf("the final table is %v", end.GetTable())
				}
			}
		}
	}
}
