package domain

// The method. Any two different cards name the third that makes a Set of them (Third). So it is asked of every two
// cards whether their third is there, or lies behind them: a table look-up for each pair, where the specification's
// triple loop judges every three.

// appendAllSets is FindAllSets into the caller's buffer. It does not allocate when dst has room for all the Sets.
func appendAllSets(dst []Triple, cards []Card) []Triple {
	if !AnySetExists(cards) {
		return dst // three times as fast as the search
	}
	var (
		hand  [tableSize]Card  // the cards without repetitions, from 1
		place [tableSize]uint8 // by card id: where in hand it is, 0 for nowhere
		n     int
	)
	for _, c := range cards {
		if place[c.id] == 0 {
			n++
			hand[n], place[c.id] = c, uint8(n)
		}
	}
	for i := 1; i < n; i++ {
		third := &thirds[hand[i].id]
		for j := i + 1; j < n; j++ { // not the last card, which can only be a third
			if k := place[third[hand[j].id]]; int(k) > j {
				dst = append(dst, Triple{hand[i], hand[j], hand[k]})
			}
		}
	}
	return dst
}

// AnySetExists reports whether there is a Set among the cards. It does not allocate. The list may be of any length; a
// card that is repeated counts once.
//
// spec: set-validation, Implementing AnySetExists()
func AnySetExists(cards []Card) bool {
	var in [tableSize]bool // by card id
	for _, c := range cards {
		in[c.id] = true
	}
	for i, a := range cards {
		third := &thirds[a.id]
		for _, b := range cards[i+1:] {
			if in[third[b.id]] && a != b {
				return true
			}
		}
	}
	return false
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
