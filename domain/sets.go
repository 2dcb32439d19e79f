package domain

import (
	"errors"
	"fmt"
	"strings"
)

// ErrCardCount says that Validate was given other than three cards.
var ErrCardCount = errors.New("exactly three cards are required")

// Third returns the card that completes a Set with a and b, the one primitive of the rules: any two different cards
// name exactly one third card. Third(a, a) is a, and Third(a, Third(a, b)) is b.
//
// spec: set-validation, The Rule
func Third(a, b Card) Card { return Card{thirds[a.id][b.id]} }

// Triple is three cards in the order in which they were claimed or found.
type Triple [3]Card

// Validate judges three cards. Any other count is ErrCardCount. It judges attributes only, in any order of the cards;
// whether the cards are distinct is not asked, so that one card three times is valid, as in the spec's table.
//
// spec: set-validation, Implementing Validate()
func Validate(cards []Card) (SetResult, error) {
	if len(cards) != 3 {
		return SetResult{}, cardCountError(len(cards))
	}
	return ValidateTriple(Triple(cards)), nil
}

// ValidateTriple is Validate where the type has counted the cards already.
//
// spec: set-validation, The Rule
func ValidateTriple(t Triple) SetResult {
	sums := digits[t[0].id] + digits[t[1].id] + digits[t[2].id]
	return SetResult{Mixed: mixed[sums%uint16(len(mixed))]}
}

// FindAllSets returns every Set among the cards, in the order of the spec's triple loop: by the place of the first card
// in the list, then of the second, then of the third; within a Set the cards stand as in the list. It returns nil
// if there is none. The list may be of any length; the cards of a board are distinct, and where a card
// is repeated all the same, it counts once, at its first place.
//
// spec: set-validation, Implementing FindAllSets()
func FindAllSets(cards []Card) []Triple { return appendAllSets(nil, cards) }

// SetResult is the verdict on three cards. The zero value is a valid Set.
//
// spec: set-validation, Interface Contract
type SetResult struct {
	// Mixed holds every attribute of which exactly two cards share a value; a Set has none.
	Mixed AttributeSet
}

// IsValid reports whether the three cards form a Set.
func (r SetResult) IsValid() bool { return r.Mixed == 0 }

// Reason names the first mixed attribute, in the order Number, Shape, Color, Shading: "Color is mixed".
// It is empty for a Set.
func (r SetResult) Reason() string {
	if r.IsValid() {
		return ""
	}
	return r.Mixed.First().String() + " is mixed"
}

// Attribute names one of a card's four attributes, in the order in which a verdict names them. The zero value is invalid.
type Attribute uint8

// The attributes.
const (
	AttributeNumber Attribute = 1 + iota
	AttributeShape
	AttributeColor
	AttributeShading
)

func (a Attribute) String() string {
	switch a {
	case AttributeNumber:
		return "Number"
	case AttributeShape:
		return "Shape"
	case AttributeColor:
		return "Color"
	case AttributeShading:
		return "Shading"
	}
	return fmt.Sprintf("Attribute(%d)", uint8(a))
}

// AttributeSet is a set of attributes, a bit for each: bit 0 is Number, bit 3 Shading. The zero value is the empty set.
type AttributeSet uint8

// Has reports whether the set holds the attribute. An invalid attribute is in no set.
func (s AttributeSet) Has(a Attribute) bool { return s&a.bit() != 0 }

// First returns the set's first attribute in the order Number, Shape, Color, Shading; 0 if the set is empty.
func (s AttributeSet) First() Attribute {
	for a := AttributeNumber; a <= AttributeShading; a++ {
		if s.Has(a) {
			return a
		}
	}
	return 0
}

// String lists the attributes in order: "Number, Color"; "none" for the empty set.
func (s AttributeSet) String() string {
	var names []string
	for a := AttributeNumber; a <= AttributeShading; a++ {
		if s.Has(a) {
			names = append(names, a.String())
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// cardCountError is ErrCardCount with the count. It is a type, where fmt.Errorf would do, to keep Validate small enough to be
// inlined.
type cardCountError int

func (n cardCountError) Error() string { return fmt.Sprintf("%v: got %d", ErrCardCount, int(n)) }
func (n cardCountError) Unwrap() error { return ErrCardCount }

func (a Attribute) bit() AttributeSet {
	if a < AttributeNumber || a > AttributeShading {
		return 0
	}
	return 1 << (a - AttributeNumber)
}

// digits[id] holds the card's base-3 digits in fields of three bits, Number lowest, so that three cards can be added
// without a carry: a field of the sum is 0–6, and a multiple of three exactly if the three values are all the same
// or all different. mixed[sum] has the attributes whose field is not.
var (
	digits = tabulateDigits()
	mixed  = tabulateMixed()
)

func tabulateDigits() (table [tableSize]uint16) {
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
