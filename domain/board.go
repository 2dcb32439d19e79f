package domain

import (
	"errors"
	"fmt"
)

// The measures of a board, in slots.
const (
	MinSlots      = 12 // the first deal
	MaxSlots      = 21 // 20 cards can hold no Set, 21 never: a board needs no more
	SlotsPerRow   = 4  // slot n lies in row n / 4, column n % 4
	ExpansionSize = 3  // slots that an expansion adds
)

// The board's invariants. Each is a mistake of the caller's, never an event of the game.
//
// spec: board-and-dealing, Board Invariants
var (
	ErrSlotOutOfRange = errors.New("slot out of range")
	ErrSlotOccupied   = errors.New("slot is occupied")
	ErrCardOnBoard    = errors.New("card is on the board already")
	ErrExpansionSize  = errors.New("a board expands by three slots")
	ErrBoardFull      = errors.New("a board has at most 21 slots")
)

// Board is the slots on the table and the cards in them: 12 to 21 slots, each empty or with one card, no card twice.
// A card never moves to another slot. Board is a comparable value: assigning it copies it. The zero value is a board of 12 empty slots.
// It knows neither the deck nor what a Set is.
//
// spec: board-and-dealing, Responsibilities and Boundaries
type Board struct {
	cards [MaxSlots]uint8 // by slot: the card's id + 1, or 0 when the slot is empty
	slots [DeckSize]uint8 // the inverse, by card id: the slot + 1, or 0 when the card is not on the board
	added uint8           // slots beyond MinSlots
	count uint8           // cards on the board
}

// NewBoard returns a board of 12 empty slots.
//
// spec: board-and-dealing, Initial Deal
func NewBoard() Board { return Board{} }

// SlotCount returns how many slots the board has, empty ones included: 12, 15, 18 or 21.
func (b *Board) SlotCount() int { return MinSlots + int(b.added) }

// CardCount returns how many cards lie on the board, 0–21.
func (b *Board) CardCount() int { return int(b.count) }

// CardAt returns the card in a slot; false if the slot is empty or out of range.
func (b *Board) CardAt(slot int) (Card, bool) {
	if b.checkSlot(slot) != nil || b.cards[slot] == 0 {
		return Card{}, false
	}
	return Card{b.cards[slot] - 1}, true
}

// SlotOf returns the slot in which a card lies; false if it is not on the board.
func (b *Board) SlotOf(c Card) (int, bool) {
	return int(b.slots[c.id]) - 1, b.slots[c.id] != 0
}

// PlaceCard puts a card into an empty slot. The board is unchanged after an error: ErrSlotOutOfRange, ErrSlotOccupied,
// or ErrCardOnBoard when the card lies in another slot.
//
// spec: board-and-dealing, Board Invariants
func (b *Board) PlaceCard(slot int, c Card) error {
	if err := b.checkSlot(slot); err != nil {
		return err
	}
	if there, occupied := b.CardAt(slot); occupied {
		return fmt.Errorf("%w: slot %d holds card %d, card %d does not fit", ErrSlotOccupied, slot, there.ID(), c.ID())
	}
	if other, found := b.SlotOf(c); found {
		return fmt.Errorf("%w: card %d lies in slot %d, it cannot be in slot %d too", ErrCardOnBoard, c.ID(), other, slot)
	}
	b.cards[slot] = c.id + 1
	b.slots[c.id] = uint8(slot) + 1
	b.count++
	return nil
}

// RemoveCard empties a slot; an empty one stays empty. The only error is ErrSlotOutOfRange.
//
// spec: board-and-dealing, Board Invariants
func (b *Board) RemoveCard(slot int) error {
	if err := b.checkSlot(slot); err != nil {
		return err
	}
	if c, occupied := b.CardAt(slot); occupied {
		b.cards[slot] = 0
		b.slots[c.id] = 0
		b.count--
	}
	return nil
}

// EmptySlots returns the empty slots, ascending.
//
// spec: board-and-dealing, Refill After a Valid Set
func (b *Board) EmptySlots() []int {
	var empty []int
	for slot := range b.SlotCount() {
		if b.cards[slot] == 0 {
			empty = append(empty, slot)
		}
	}
	return empty
}

// AppendCards appends the cards on the board to dst, in the order of their slots.
func (b *Board) AppendCards(dst []Card) []Card {
	for slot := range b.SlotCount() {
		if c, occupied := b.CardAt(slot); occupied {
			dst = append(dst, c)
		}
	}
	return dst
}

// Expand adds three empty slots behind the last. The board is unchanged after an error: ErrExpansionSize for any other
// number than 3, ErrBoardFull beyond 21 slots.
//
// spec: board-and-dealing, Board Invariants
func (b *Board) Expand(additional int) error {
	if additional != ExpansionSize {
		return fmt.Errorf("%w: not by %d", ErrExpansionSize, additional)
	}
	if b.SlotCount()+additional > MaxSlots {
		return fmt.Errorf("%w: it has %d, %d more do not fit", ErrBoardFull, b.SlotCount(), additional)
	}
	b.added += ExpansionSize
	return nil
}

func (b *Board) checkSlot(slot int) error {
	if slot < 0 || slot >= b.SlotCount() {
		return fmt.Errorf("%w: slot %d, the board has slots 0–%d", ErrSlotOutOfRange, slot, b.SlotCount()-1)
	}
	return nil
}
