package tests

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Boards of the scenarios, in card codes: number-1, shape, color, shading, 0-2 each. A code read in base 3 is the card's id.
const (
	boardMAX = "0000 0001 0002 0010 0011 0012 0020 0021 0022 0100 0101 0200" // 14 Sets

	setSA  = "0000 0001 0002"
	setSB  = "0000 0010 0020"
	setRow = "0010 0011 0012" // shares no card with SA
	notSet = "0000 0001 0010" // color and shading are mixed

	boardEND = "0021 2201 0020 0221 1011 0222 " + endS1 + " " + endS2 // exactly these two Sets, and no deck
	endS1    = "0110 1101 2122"
	endS2    = "1110 0112 2111"
)

// ids turns codes into card ids.
func ids(codes string) []byte {
	var out []byte
	for _, code := range strings.Fields(codes) {
		var id byte
		for _, digit := range []byte(code) {
			id = id*3 + digit - '0'
		}
		out = append(out, id)
	}
	return out
}

func code(id byte) string {
	return fmt.Sprintf("%d%d%d%d", id/27, id/9%3, id/3%3, id%3)
}

// deckOf is a whole deck that begins with these cards; the others follow by id.
func deckOf(front string) string {
	var deck strings.Builder
	deck.WriteString(front)
	first := ids(front)
	for id := range byte(81) {
		if !bytes.Contains(first, []byte{id}) {
			deck.WriteString(" " + code(id))
		}
	}
	return deck.String()
}

// third is the one card that makes a Set with two others. This is the tests' own arithmetic, not the server's.
func third(a, b byte) byte {
	var id byte
	for _, place := range []byte{27, 9, 3, 1} {
		x, y := a/place%3, b/place%3
		id += (6 - x - y) % 3 * place
	}
	return id
}

// setsOn lists the Sets on a board; 255 is an empty slot.
func setsOn(board []byte) [][]byte {
	var sets [][]byte
	for i, a := range board {
		for j := i + 1; j < len(board); j++ {
			if a > 80 || board[j] > 80 {
				continue
			}
			c := third(a, board[j])
			if k := slices.Index(board, c); k > j {
				sets = append(sets, []byte{a, board[j], c})
			}
		}
	}
	return sets
}
