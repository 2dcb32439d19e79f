package domain

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The boards of the public reports, by the codes of their cards.
const (
	boardNone  = "0112 1011 1102 1202 1210 2010 2100 2102 2110 2111 2202 2222"
	boardCap20 = "0010 0012 0100 0122 0210 0212 1000 1011 1120 1121 1220 1221 2011 2022 2111 2122 2210 2212 2220 2221"
	boardMax   = "0000 0001 0002 0010 0011 0012 0020 0021 0022 0100 0101 0200"
	boardGrow  = "1000 2022 1220 2212 2220 2011 1221 0210 0100 0122 0212 0010 2221 2111 2210 0012 1121 1011 1120 2122 0000"
)

// parseCards reads codes with spaces between them.
func parseCards(codes string) []Card {
	var cards []Card
	for _, code := range strings.Fields(codes) {
		c, err := ParseCard(code)
		if err != nil {
			panic(err)
		}
		cards = append(cards, c)
	}
	return cards
}

func ExampleValidate() {
	cards := []Card{MustCard(0), MustCard(1), MustCard(3)}
	result, err := Validate(cards)
	fmt.Println(cards, result.IsValid(), result.Reason(), err)
	fmt.Println(Third(cards[0], cards[1]))
	// Output:
	// [one diamond red solid one diamond red striped one diamond green solid] false Color is mixed <nil>
	// one diamond red open
}

// permutations3 are the six orders of three things.
var permutations3 = [6][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}

// tableTriple makes three cards from a row of the spec's tables: numbers, shapes, colors, shadings.
func tableTriple(t *testing.T, row string) []Card {
	t.Helper()
	fields := strings.Fields(row)
	require.Len(t, fields, 4)
	var cards []Card
	for i := range 3 {
		card, err := NewCard(Attributes{
			Number:  Number(fields[0][i] - '0'),
			Shape:   Shape(strings.IndexByte("D~O", fields[1][i])),
			Color:   Color(strings.IndexByte("RGP", fields[2][i])),
			Shading: Shading(strings.IndexByte("STO", fields[3][i])),
		})
		require.NoError(t, err)
		cards = append(cards, card)
	}
	return cards
}

// spec: set-validation, The Rule (four rows) and Test Cases (eight rows)
func TestValidateTheSpecsTables(t *testing.T) {
	for _, row := range []struct{ name, cards, reason string }{
		{"rule 1", "111 DDD RGP SSS", ""},
		{"rule 2", "123 D~O RGP STO", ""},
		{"rule 3", "112 DD~ RGP STO", "Number is mixed"},
		{"rule 4", "123 D~O RRG STO", "Color is mixed"},
		{"case 1", "111 DDD RRR SSS", ""},
		{"case 2", "123 D~O RGP STO", ""},
		{"case 3", "111 D~O RGP STO", ""},
		{"case 4", "112 D~O RGP STO", "Number is mixed"},
		{"case 5", "123 D~O RRG STO", "Color is mixed"},
		{"case 6", "123 D~O RGP SSO", "Shading is mixed"},
		{"case 7", "123 ~~O RGP STO", "Shape is mixed"},
		{"case 8", "222 OOO PPP TTT", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			cards := tableTriple(t, row.cards)
			for _, order := range permutations3 {
				result, err := Validate([]Card{cards[order[0]], cards[order[1]], cards[order[2]]})
				require.NoError(t, err)
				assert.Equal(t, row.reason == "", result.IsValid())
				assert.Equal(t, row.reason, result.Reason())
			}
		})
	}
}

// spec: set-validation, Test Cases: two cards are an error
func TestValidateNeedsThreeCards(t *testing.T) {
	for _, n := range []int{0, 1, 2, 4, 12, 81} {
		result, err := Validate(make([]Card, n))
		require.ErrorIs(t, err, ErrCardCount)
		assert.EqualError(t, err, fmt.Sprintf("exactly three cards are required: got %d", n))
		assert.Zero(t, result)
	}
	_, err := Validate(nil)
	require.ErrorIs(t, err, ErrCardCount)
}

// All 81³ lists of three cards, so every triple in every order and with every repetition.
func TestValidateEveryTripleLikeTheOracle(t *testing.T) {
	for a := range DeckSize {
		for b := range DeckSize {
			for c := range DeckSize {
				cards := []Card{MustCard(a), MustCard(b), MustCard(c)}
				isValid, reason := oracleValidate(cards)
				result, err := Validate(cards)
				if err != nil || result.IsValid() != isValid || result.Reason() != reason {
					t.Fatalf("%v: valid %v, reason %q, error %v; the oracle says %v, %q",
						cards, result.IsValid(), result.Reason(), err, isValid, reason)
				}
				if isValid != (Third(cards[0], cards[1]) == cards[2]) {
					t.Fatalf("%v: valid %v, but the third of the first two is %v", cards, isValid, Third(cards[0], cards[1]))
				}
				for attribute := AttributeNumber; attribute <= AttributeShading; attribute++ {
					if result.Mixed.Has(attribute) != oracleIsMixed(attribute, cards) {
						t.Fatalf("%v: mixed are %v, wrong in %v", cards, result.Mixed, attribute)
					}
				}
			}
		}
	}
}

func oracleIsMixed(attribute Attribute, cards []Card) bool {
	a, b, c := cards[0].Attributes(), cards[1].Attributes(), cards[2].Attributes()
	switch attribute {
	case AttributeNumber:
		return !oracleIsValidAttribute(a.Number, b.Number, c.Number)
	case AttributeShape:
		return !oracleIsValidAttribute(a.Shape, b.Shape, c.Shape)
	case AttributeColor:
		return !oracleIsValidAttribute(a.Color, b.Color, c.Color)
	}
	return !oracleIsValidAttribute(a.Shading, b.Shading, c.Shading)
}

// Public reports: triples whose verdict was disputed or wrong elsewhere.
func TestValidateReportedTriples(t *testing.T) {
	for _, report := range []struct {
		cards  string
		mixed  []Attribute
		reason string
	}{
		{"0000 0001 0002", nil, ""},
		{"0000 0010 0020", nil, ""},
		{"2000 2110 2220", nil, ""},
		{"0000 0001 0010", []Attribute{AttributeColor, AttributeShading}, "Color is mixed"},
		{"0000 1111 0002", []Attribute{AttributeNumber, AttributeShape, AttributeColor}, "Number is mixed"},
		{"0000 0000 0000", nil, ""},
		{"0000 0000 0001", []Attribute{AttributeShading}, "Shading is mixed"},
		{"0000 1111 1111", []Attribute{AttributeNumber, AttributeShape, AttributeColor, AttributeShading}, "Number is mixed"},
	} {
		cards := parseCards(report.cards)
		for _, order := range permutations3 {
			result := ValidateTriple(Triple{cards[order[0]], cards[order[1]], cards[order[2]]})
			assert.Equal(t, report.reason, result.Reason(), report.cards)
			assert.Equal(t, len(report.mixed), bits.OnesCount8(uint8(result.Mixed)), report.cards)
			for _, attribute := range report.mixed {
				assert.True(t, result.Mixed.Has(attribute), "%s: %v", report.cards, attribute)
			}
		}
	}
}

// Renaming attributes or values never changes a verdict. Swaps of neighbours generate every renaming.
func TestValidateIsSymmetric(t *testing.T) {
	var digitsOf [DeckSize][4]int // by id: number − 1, shape, color, shading
	for id := range digitsOf {
		digitsOf[id] = [4]int{id / 27, id / 9 % 3, id / 3 % 3, id % 3}
	}
	number := func(d [4]int) uint8 { return uint8(d[0]*27 + d[1]*9 + d[2]*3 + d[3]) }

	type renaming struct {
		cards      [DeckSize]Card
		attributes [4]int // where each attribute goes
	}
	var renamings []renaming
	for swap := range 3 { // attribute swap with the next one
		r := renaming{attributes: [4]int{0, 1, 2, 3}}
		r.attributes[swap], r.attributes[swap+1] = swap+1, swap
		for id, d := range digitsOf {
			d[swap], d[swap+1] = d[swap+1], d[swap]
			r.cards[id] = Card{number(d)}
		}
		renamings = append(renamings, r)
	}
	for attribute := range 4 {
		for swap := range 2 { // value swap with the next one
			r := renaming{attributes: [4]int{0, 1, 2, 3}}
			for id, d := range digitsOf {
				switch d[attribute] {
				case swap:
					d[attribute] = swap + 1
				case swap + 1:
					d[attribute] = swap
				}
				r.cards[id] = Card{number(d)}
			}
			renamings = append(renamings, r)
		}
	}

	forEveryTriple(func(triple Triple) {
		before := ValidateTriple(triple).Mixed
		for _, r := range renamings {
			after := ValidateTriple(Triple{r.cards[triple[0].id], r.cards[triple[1].id], r.cards[triple[2].id]}).Mixed
			var want AttributeSet
			for from, to := range r.attributes {
				want |= before >> from & 1 << to
			}
			if after != want {
				t.Fatalf("%v is mixed in %v, renamed in %v", triple, before, after)
			}
		}
	})
}

// forEveryTriple visits the 85,320 triples of different cards, ids ascending.
func forEveryTriple(visit func(Triple)) {
	for a := range uint8(DeckSize) {
		for b := a + 1; b < DeckSize; b++ {
			for c := b + 1; c < DeckSize; c++ {
				visit(Triple{Card{a}, Card{b}, Card{c}})
			}
		}
	}
}

func TestAttributeSet(t *testing.T) {
	var none AttributeSet
	assert.Equal(t, Attribute(0), none.First())
	assert.Equal(t, "none", none.String())
	for a := range 256 {
		assert.False(t, none.Has(Attribute(a)))
	}

	set := ValidateTriple(Triple(parseCards("0000 0001 0010"))).Mixed
	assert.Equal(t, AttributeColor, set.First())
	assert.Equal(t, "Color, Shading", set.String())
	for a := range 256 {
		assert.Equal(t, Attribute(a) == AttributeColor || Attribute(a) == AttributeShading, set.Has(Attribute(a)))
	}
}

// spec: set-validation, Performance Requirements: under 10 µs, 1 ms and 1 ms, and no allocation in the hot path. The limits are
// far above what is measured (see the benchmarks), so that a busy machine does not fail them.
func TestPerformanceRequirements(t *testing.T) {
	board := parseCards(boardGrow)
	triple := board[:3]
	buffer := make([]Triple, 0, 16)
	for _, method := range []struct {
		name  string
		limit time.Duration
		run   func()
	}{
		{"Validate", 10 * time.Microsecond, func() { _, _ = Validate(triple) }},
		{"FindAllSets of 21", time.Millisecond, func() { buffer = appendAllSets(buffer[:0], board) }},
		{"AnySetExists of 21", time.Millisecond, func() { AnySetExists(board) }},
	} {
		const runs = 1000
		start := time.Now()
		for range runs {
			method.run()
		}
		assert.Less(t, time.Since(start)/runs, method.limit, method.name)
		assert.Zero(t, testing.AllocsPerRun(100, method.run), method.name)
	}
}
