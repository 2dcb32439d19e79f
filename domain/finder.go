package domain

// thirds[a][b] is the id of the card that completes a Set with a and b.
var thirds = tabulateThirds()

func tabulateThirds() (table [DeckSize][DeckSize]uint8) {
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

// digits[id] holds the card's base-3 digits in fields of three bits, Number lowest, so that three cards can be added
// without a carry: a field of the sum is 0–6, and a multiple of three exactly if the three values are all the same
// or all different. mixed[sum] has the attributes whose field is not.
var (
	digits = tabulateDigits()
	mixed  = tabulateMixed()
)

func tabulateDigits() (table [DeckSize]uint16) {
	for id := range uint16(DeckSize) {
		table[id] = id/27 | id/9%3<<3 | id/3%3<<6 | id%3<<9
	}
	return table
}

func tabulateMixed() (table [1 << 12]AttributeSet) {
	for sum := range table {
		for a := AttributeNumber; a <= AttributeShading; a++ {
			if sum>>(3*(a-AttributeNumber))&7%3 != 0 {
				table[sum] |= a.bit()
			}
		}
	}
	return table
}

// AppendAllSets is FindAllSets into a buffer of the caller's. It does not allocate when dst has room for all
// Sets.
func AppendAllSets(dst []Triple, cards []Card) []Triple {
	var (
		hand  [1 + DeckSize]Card // the distinct cards, from 1
		place [DeckSize]uint8    // where in hand a card is; 0: nowhere
		n     uint8
	)
	for _, c := range cards {
		if place[c.id] == 0 {
			n++
			hand[n], place[c.id] = c, n
		}
	}
	for i := uint8(1); i <= n; i++ {
		third := &thirds[hand[i].id]
		for j := i + 1; j <= n; j++ {
			if k := place[third[hand[j].id]]; k > j {
				dst = append(dst, Triple{hand[i], hand[j], hand[k]})
			}
		}
	}
	return dst
}

// AnySetExists reports whether there is a Set among the cards. It does not allocate. The list may be of any length, 0–81 cards;
// a card that is repeated counts once.
//
// spec: set-validation, Implementing AnySetExists()
func AnySetExists(cards []Card) bool {
	var buffer [1]Triple
	return len(AppendAllSets(buffer[:0], cards)) > 0
}
