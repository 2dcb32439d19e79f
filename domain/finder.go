package domain

import "math/bits"

// The method. Three different cards are a Set exactly if their codes, added digit by digit modulo 3, make 0000; so any two
// cards name the third. FindAllSets asks of every two cards whether their third lies behind them in the list.
// AnySetExists asks of whole rows of cards at once. Lay the 81 cards out in nine rows by number and shape, in each row
// nine cards by color and shading: what a board has of one row is nine bits. A Set lies within a row, which a table of
// the 512 possible rows knows, or has its cards in three rows that are a Set by number and shape, of which there are
// twelve. To test three such rows for a Set across, take from two of them all sums of color and shading, and see whether
// a card of the third makes one of them 00. All the sums are one multiplication: write a row as a number that has
// a 1 at hexadecimal place 5·color + shading for each of its cards, and the product of two rows has, at place
// 5·color + shading with both from 0 to 4, how many pairs have that sum: nine at most, so that no place overflows.

// AppendAllSets is FindAllSets into the caller's buffer. It does not allocate when dst has room for all the Sets.
func AppendAllSets(dst []Triple, cards []Card) []Triple {
	if !AnySetExists(cards) {
		return dst // four times as fast as the search
	}
	var (
		hand  [tableSize]Card  // the cards without repetitions, from 1
		place [tableSize]uint8 // by card id: where in hand it is, 0 for nowhere
		n     int
		// The cards that make a Set with the first and one behind them. Declared here to be cleared once.
		seconds [tableSize]Card
	)
	for _, c := range cards {
		if place[c.id] == 0 {
			n++
			hand[n], place[c.id] = c, uint8(n)
		}
	}
	pairs := hand[:n] // without the last card, which can only be a third
	for i := 1; i < len(pairs); i++ {
		first, count := pairs[i], uint8(0)
		third := &thirds[first.id]
		for j := i + 1; j < len(pairs); j++ {
			second := pairs[j]
			k := place[third[second.id]]
			seconds[count] = second
			count += (uint8(j) - k) >> 7 // 1 if k > j, else 0, as both are below 128: a branch would be guessed wrong too often
		}
		for _, second := range seconds[:count] {
			dst = append(dst, Triple{first, second, Card{third[second.id]}})
		}
	}
	return dst
}

// AnySetExists reports whether there is a Set among the cards. It does not allocate, and does the same work on every
// list of the same length. The list may be of any length; a card that is repeated counts once.
//
// spec: set-validation, Implementing AnySetExists()
func AnySetExists(cards []Card) bool {
	var low, high uint64 // the rows 0–6 and 7–8, nine bits each
	for _, c := range cards {
		low |= 1 << c.id
		high |= 1 << (c.id - 7*rowSize) // wraps beyond 64 and adds nothing for rows 0–6
	}
	var (
		r     [rowSize]*row
		found uint64
	)
	for i := range r {
		if i == 7 {
			low = high
		}
		r[i] = &rows[low%uint64(len(rows))]
		low >>= rowSize
		found |= r[i].within
	}
	found |= across(r[0], r[1], r[2]) | across(r[3], r[4], r[5]) | across(r[6], r[7], r[8]) // one number, three shapes
	found |= across(r[0], r[3], r[6]) | across(r[1], r[4], r[7]) | across(r[2], r[5], r[8]) // one shape, three numbers
	found |= across(r[0], r[4], r[8]) | across(r[1], r[5], r[6]) | across(r[2], r[3], r[7]) // three of both
	found |= across(r[0], r[5], r[7]) | across(r[1], r[3], r[8]) | across(r[2], r[4], r[6])
	return found != 0
}

// across is not 0 if a card of each row make a Set. The rows must be a Set by number and shape.
func across(a, b, c *row) uint64 {
	high, low := bits.Mul64(a.factor, b.factor)
	return high&c.lacksHigh | low&c.lacksLow
}

// tableSize is the length of tables and arrays that are indexed by a byte: none of them needs a bounds check.
const tableSize = 256

// thirds[a][b] is the id of the card that completes a Set with a and b.
var thirds = tabulateThirds()

func tabulateThirds() (table [tableSize][tableSize]uint8) {
	for a := range DeckSize {
		for b := range DeckSize {
			third := 0
			for place := 1; place < DeckSize; place *= 3 {
				third += (6 - a/place%3 - b/place%3) % 3 * place
			}
			table[a][b] = uint8(third)
		}
	}
	return table
}

const rowSize = 9 // cards in a row, and rows

// row is what AnySetExists needs to know about the cards that a board has of one row.
type row struct {
	within              uint64 // not 0 if three of the cards are a Set
	factor              uint64 // 1 at the hexadecimal place of every card
	lacksHigh, lacksLow uint64 // f at the hexadecimal place of every sum that a card makes 00
}

// rows is indexed by the nine bits of a row, bit 3·color + shading for each card.
var rows = tabulateRows()

func tabulateRows() (table [1 << rowSize]row) {
	for cards := range table {
		r := &table[cards]
		for a := range rowSize {
			if cards>>a&1 != 0 {
				r.add(a/3, a%3)
			}
			for b := range a {
				if line := 1<<a | 1<<b | 1<<thirds[a][b]; cards&line == line {
					r.within = 1
				}
			}
		}
	}
	return table
}

// add adds a card to all but within.
func (r *row) add(color, shading int) {
	r.factor |= 1 << sumPlace(color, shading)
	for c := (3 - color) % 3; c < 5; c += 3 {
		for s := (3 - shading) % 3; s < 5; s += 3 {
			r.lacksLow |= 0xf << sumPlace(c, s)
			r.lacksHigh |= 0xf << (sumPlace(c, s) - 64)
		}
	}
}

func sumPlace(color, shading int) uint { return uint(4 * (5*color + shading)) }
