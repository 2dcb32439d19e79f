package domain

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spec: card-model, CardId Encoding Formula, the example
func TestCardTwoSquigglesGreenStripedIs40(t *testing.T) {
	card, err := NewCard(Attributes{Number: Two, Shape: Squiggle, Color: Green, Shading: Striped})
	require.NoError(t, err)
	assert.Equal(t, 40, card.ID())
	assert.Equal(t, "1111", card.Code())
	assert.Equal(t, "two squiggle green striped", card.String())
}

// spec: card-model, Implementation Checklist: every id round-trips, 81 different cards, ids follow the formula
func TestEveryCardRoundTrips(t *testing.T) {
	seen := map[Card]bool{}
	id := 0
	for _, number := range []Number{One, Two, Three} {
		for _, shape := range []Shape{Diamond, Squiggle, Oval} {
			for _, color := range []Color{Red, Green, Purple} {
				for _, shading := range []Shading{Solid, Striped, Open} {
					attributes := Attributes{number, shape, color, shading}
					require.Equal(t, (int(number)-1)*27+int(shape)*9+int(color)*3+int(shading), id)

					card := MustCard(id)
					require.Equal(t, id, card.ID())
					require.Equal(t, attributes, card.Attributes())
					require.Equal(t, fmt.Sprintf("%d%d%d%d", number-1, shape, color, shading), card.Code())

					same, err := NewCard(attributes)
					require.NoError(t, err)
					require.Equal(t, card, same)
					same, err = ParseCard(card.Code())
					require.NoError(t, err)
					require.Equal(t, card, same)

					seen[card] = true
					id++
				}
			}
		}
	}
	assert.Equal(t, DeckSize, id)
	assert.Len(t, seen, DeckSize)
}

func TestZeroCardIsCard0(t *testing.T) {
	assert.Equal(t, MustCard(0), Card{})
	assert.Equal(t, "one diamond red solid", Card{}.String())
}

func TestInvalidCardsCannotBeMade(t *testing.T) {
	for _, id := range []int{-1, 81, 255, 256, -81, math.MaxInt, math.MinInt} {
		_, err := CardFromID(id)
		require.ErrorIs(t, err, ErrInvalidCard)
		assert.Contains(t, err.Error(), fmt.Sprint(id))
		assert.PanicsWithError(t, err.Error(), func() { MustCard(id) })
	}
	for _, code := range []string{"", "111", "11111", "1113", "111a", "-111", "111 ", "１", "00\x000"} {
		_, err := ParseCard(code)
		require.ErrorIs(t, err, ErrInvalidCard, code)
		assert.Contains(t, err.Error(), fmt.Sprintf("%q", code))
	}
	for _, attributes := range []Attributes{
		{},
		{Number: 0, Shape: Oval, Color: Red, Shading: Open},
		{Number: 4},
		{Number: One, Shape: 3},
		{Number: One, Color: 3},
		{Number: One, Shading: 3},
		{Number: 255, Shape: 255, Color: 255, Shading: 255},
	} {
		_, err := NewCard(attributes)
		require.ErrorIs(t, err, ErrInvalidCard, attributes)
	}
}

// spec: card-model, The Attribute Enums and CardAttributes Struct: the numbers are fixed
func TestAttributeEnumsHaveTheSpecsNumbers(t *testing.T) {
	assert.Equal(t, []Number{1, 2, 3}, []Number{One, Two, Three})
	assert.Equal(t, []Shape{0, 1, 2}, []Shape{Diamond, Squiggle, Oval})
	assert.Equal(t, []Color{0, 1, 2}, []Color{Red, Green, Purple})
	assert.Equal(t, []Shading{0, 1, 2}, []Shading{Solid, Striped, Open})
}

func TestEnumsPrintTheirNames(t *testing.T) {
	for want, value := range map[string]fmt.Stringer{
		"one": One, "two": Two, "three": Three, "Number(0)": Number(0), "Number(4)": Number(4),
		"diamond": Diamond, "squiggle": Squiggle, "oval": Oval, "Shape(3)": Shape(3),
		"red": Red, "green": Green, "purple": Purple, "Color(3)": Color(3),
		"solid": Solid, "striped": Striped, "open": Open, "Shading(3)": Shading(3),
		"Number": AttributeNumber, "Shape": AttributeShape, "Color": AttributeColor, "Shading": AttributeShading,
		"Attribute(0)": Attribute(0), "Attribute(5)": Attribute(5),
		"Seed": SourceSeed, "Key": SourceKey, "Order": SourceOrder, "SourceKind(0)": SourceKind(0),
		"Always": RefillAlways, "ToInitialSize": RefillToInitialSize, "RefillPolicy(0)": RefillPolicy(0),
		"None": PenaltyNone, "Time": PenaltyTime, "Point": PenaltyPoint, "PenaltyMode(0)": PenaltyMode(0),
		"Automatic": ClaimAutomatic, "OnCommand": ClaimOnCommand, "ClaimMode(0)": ClaimMode(0),
	} {
		assert.Equal(t, want, value.String())
	}
}
