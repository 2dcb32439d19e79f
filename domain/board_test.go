package domain

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// spec: board-and-dealing, Implementation Checklist: exactly 12 empty slots
func TestNewBoardHasTwelveEmptySlots(t *testing.T) {
	board := NewBoard()
	assert.Equal(t, 12, board.SlotCount())
	assert.Equal(t, 0, board.CardCount())
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, board.EmptySlots())
	assert.Empty(t, board.AppendCards(nil))
	assert.Equal(t, Board{}, board)
	_, found := board.SlotOf(Card{})
	assert.False(t, found)
}

// spec: board-and-dealing, Grid Layout and Slot Indices: the measures and the table of expansions
func TestBoardMeasures(t *testing.T) {
	assert.Equal(t, []int{12, 21, 4, 3}, []int{MinSlots, MaxSlots, SlotsPerRow, ExpansionSize})
	board := NewBoard()
	for _, expansion := range []struct {
		slots int
		added []int
	}{{15, []int{12, 13, 14}}, {18, []int{15, 16, 17}}, {21, []int{18, 19, 20}}} {
		before := board.EmptySlots()
		require.NoError(t, board.Expand(3))
		assert.Equal(t, expansion.slots, board.SlotCount())
		assert.Equal(t, append(before, expansion.added...), board.EmptySlots())
	}
}

// spec: board-and-dealing, Board Invariants, row by row: a named error with the numbers, and the board unchanged
func TestBoardInvariants(t *testing.T) {
	grown := func(expansions int) Board {
		board := NewBoard()
		require.NoError(t, board.PlaceCard(5, MustCard(40)))
		for range expansions {
			require.NoError(t, board.Expand(3))
		}
		return board
	}
	place := func(slot, id int) func(*Board) error {
		return func(b *Board) error { return b.PlaceCard(slot, MustCard(id)) }
	}
	remove := func(slot int) func(*Board) error { return func(b *Board) error { return b.RemoveCard(slot) } }
	expand := func(additional int) func(*Board) error { return func(b *Board) error { return b.Expand(additional) } }

	for _, invariant := range []struct {
		name  string
		board Board
		do    func(*Board) error
		err   error
		text  string
	}{
		{"place before the first slot", grown(0), place(-1, 0), ErrSlotOutOfRange, "slot -1, the board has slots 0–11"},
		{"place behind the last slot", grown(0), place(12, 0), ErrSlotOutOfRange, "slot 12, the board has slots 0–11"},
		{"place behind a grown board", grown(1), place(15, 0), ErrSlotOutOfRange, "slot 15, the board has slots 0–14"},
		{"place behind a full-grown board", grown(3), place(21, 0), ErrSlotOutOfRange, "slot 21, the board has slots 0–20"},
		{"place far away", grown(0), place(1<<30+1, 0), ErrSlotOutOfRange, "slot 1073741825"},
		{"place on another card", grown(0), place(5, 7), ErrSlotOccupied, "slot 5 holds card 40, card 7 does not fit"},
		{"place on the same card", grown(0), place(5, 40), ErrSlotOccupied, "slot 5 holds card 40, card 40 does not fit"},
		{"place a card twice", grown(0), place(6, 40), ErrCardOnBoard, "card 40 lies in slot 5, it cannot be in slot 6 too"},
		{"remove before the first slot", grown(0), remove(-1), ErrSlotOutOfRange, "slot -1, the board has slots 0–11"},
		{"remove behind the last slot", grown(0), remove(12), ErrSlotOutOfRange, "slot 12, the board has slots 0–11"},
		{"remove behind a full-grown board", grown(3), remove(21), ErrSlotOutOfRange, "slot 21, the board has slots 0–20"},
		{"expand by none", grown(0), expand(0), ErrExpansionSize, "not by 0"},
		{"expand by one", grown(0), expand(1), ErrExpansionSize, "not by 1"},
		{"expand by two", grown(0), expand(2), ErrExpansionSize, "not by 2"},
		{"expand by four", grown(0), expand(4), ErrExpansionSize, "not by 4"},
		{"expand by six", grown(0), expand(6), ErrExpansionSize, "not by 6"},
		{"shrink", grown(1), expand(-3), ErrExpansionSize, "not by -3"},
		{"expand beyond 21", grown(3), expand(3), ErrBoardFull, "it has 21, 3 more do not fit"},
	} {
		t.Run(invariant.name, func(t *testing.T) {
			board := invariant.board
			err := invariant.do(&board)
			require.ErrorIs(t, err, invariant.err)
			assert.ErrorContains(t, err, invariant.text)
			assert.Equal(t, invariant.board, board)
		})
	}
}

// spec: board-and-dealing, Board Invariants: removing from an empty slot does nothing
func TestRemoveCardFromAnEmptySlot(t *testing.T) {
	board := NewBoard()
	require.NoError(t, board.RemoveCard(3))
	assert.Equal(t, NewBoard(), board)
}

// spec: board-and-dealing, Refill After a Valid Set, and Implementation Checklist: the same slots are empty, and no other card moves
func TestRemovedSlotsAreEmptyAndRefilled(t *testing.T) {
	board := NewBoard()
	for slot, card := range parseCards(boardMax) {
		require.NoError(t, board.PlaceCard(slot, card))
	}
	for _, slot := range []int{7, 2, 9} {
		require.NoError(t, board.RemoveCard(slot))
	}
	assert.Equal(t, []int{2, 7, 9}, board.EmptySlots())
	assert.Equal(t, 9, board.CardCount())
	_, occupied := board.CardAt(7)
	assert.False(t, occupied)

	for i, card := range parseCards("2000 2001 2002") {
		require.NoError(t, board.PlaceCard([]int{7, 2, 9}[i], card))
	}
	assert.Equal(t, parseCards("0000 0001 2001 0010 0011 0012 0020 2000 0022 2002 0101 0200"), board.AppendCards(nil))
	assert.Empty(t, board.EmptySlots())
}

func TestCardAtOutOfRange(t *testing.T) {
	board := NewBoard()
	for _, slot := range []int{-1, 12, 20, 21, math.MaxInt} {
		card, occupied := board.CardAt(slot)
		assert.False(t, occupied)
		assert.Zero(t, card)
	}
}

func TestBoardIsAValue(t *testing.T) {
	board := NewBoard()
	before := board
	require.NoError(t, board.PlaceCard(0, MustCard(0)))
	assert.NotEqual(t, before, board)
	assert.Equal(t, 0, before.CardCount())
	require.NoError(t, board.RemoveCard(0))
	assert.True(t, before == board, "a card that has come and gone leaves no trace")
}

// Any sequence of calls does what it would do to a plain list of slots.
func TestBoardLikeAPlainList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		board, list := NewBoard(), make([]int, 12) // ids + 1
		slots, ids := rapid.IntRange(-2, 23), rapid.IntRange(0, 12)
		find := func(id int) (int, bool) {
			for slot, there := range list {
				if there == id+1 {
					return slot, true
				}
			}
			return -1, false
		}
		t.Repeat(map[string]func(*rapid.T){
			"place": func(t *rapid.T) {
				slot, id := slots.Draw(t, "slot"), ids.Draw(t, "id")
				err := board.PlaceCard(slot, MustCard(id))
				_, onBoard := find(id)
				switch {
				case slot < 0 || slot >= len(list):
					assert.ErrorIs(t, err, ErrSlotOutOfRange)
				case list[slot] != 0:
					assert.ErrorIs(t, err, ErrSlotOccupied)
				case onBoard:
					assert.ErrorIs(t, err, ErrCardOnBoard)
				default:
					assert.NoError(t, err)
					list[slot] = id + 1
				}
			},
			"remove": func(t *rapid.T) {
				slot := slots.Draw(t, "slot")
				err := board.RemoveCard(slot)
				if slot < 0 || slot >= len(list) {
					assert.ErrorIs(t, err, ErrSlotOutOfRange)
					return
				}
				assert.NoError(t, err)
				list[slot] = 0
			},
			"expand": func(t *rapid.T) {
				additional := rapid.SampledFrom([]int{3, 3, 3, 0, -3, 6}).Draw(t, "additional")
				err := board.Expand(additional)
				switch {
				case additional != 3:
					assert.ErrorIs(t, err, ErrExpansionSize)
				case len(list) == 21:
					assert.ErrorIs(t, err, ErrBoardFull)
				default:
					assert.NoError(t, err)
					list = append(list, 0, 0, 0)
				}
			},
			"": func(t *rapid.T) {
				assert.Equal(t, len(list), board.SlotCount())
				var cards []Card
				var empty []int
				for slot, there := range list {
					card, occupied := board.CardAt(slot)
					assert.Equal(t, there != 0, occupied)
					if there == 0 {
						empty = append(empty, slot)
						continue
					}
					assert.Equal(t, there-1, card.ID())
					cards = append(cards, card)
				}
				assert.Equal(t, cards, board.AppendCards(nil))
				assert.Equal(t, empty, board.EmptySlots())
				assert.Equal(t, len(cards), board.CardCount())
				for id := range 13 {
					slot, onBoard := board.SlotOf(MustCard(id))
					wantSlot, want := find(id)
					assert.Equal(t, want, onBoard)
					assert.Equal(t, wantSlot, slot)
				}
			},
		})
	})
}

func TestBoardQueriesDoNotAllocate(t *testing.T) {
	board := NewBoard()
	cards := make([]Card, 0, MaxSlots)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = board.PlaceCard(3, MustCard(7))
		cards = board.AppendCards(cards[:0])
		_ = board.RemoveCard(3)
	}))
}
