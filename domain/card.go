// Package domain is the game of SET: cards and Sets, board and deck, rules, and the session that plays a match by them. It
// is pure: the same calls give the same results on every machine; it knows no clock, no network and no randomness of its own. Nothing in
// it is safe for concurrent use.
package domain

import (
	"errors"
	"fmt"
)

// DeckSize is how many cards there are: every combination of three values of four attributes.
const DeckSize = 81

// ErrInvalidCard says that a number, a code or a bundle of attributes names none of the 81 cards.
var ErrInvalidCard = errors.New("invalid card")

// Card is one of the 81 cards. It is a comparable value: two cards are the same card exactly if they are ==.
// The zero value is card 0 (one diamond red solid), so no invalid Card can exist.
//
// spec: card-model, Why the Card Is a Value Object
type Card struct{ id uint8 }

// CardFromID returns the card with the given id, 0–80. Any other number is ErrInvalidCard.
//
// spec: card-model, CardId Encoding Formula
func CardFromID(id int) (Card, error) {
	if id < 0 || id >= DeckSize {
		return Card{}, fmt.Errorf("%w: id %d is not 0–80", ErrInvalidCard, id)
	}
	return Card{uint8(id)}, nil
}

// MustCard is CardFromID for ids known to be right. It panics on any other.
func MustCard(id int) Card {
	c, err := CardFromID(id)
	if err != nil {
		panic(err)
	}
	return c
}

// NewCard returns the card with the given attributes. A value outside its enum is ErrInvalidCard.
//
// spec: card-model, CardId Encoding Formula
func NewCard(a Attributes) (Card, error) {
	if a.Number < One || a.Number > Three || a.Shape > Oval || a.Color > Purple || a.Shading > Open {
		return Card{}, fmt.Errorf("%w: number %d (1–3), shape %d, color %d, shading %d (0–2)",
			ErrInvalidCard, a.Number, a.Shape, a.Color, a.Shading)
	}
	return Card{uint8(a.Number-One)*27 + uint8(a.Shape)*9 + uint8(a.Color)*3 + uint8(a.Shading)}, nil
}

// ParseCard reads a card's Code: four digits 0–2, number−1, shape, color, shading, which together are the id in
// base 3 ("1111" is card 40). Anything else is ErrInvalidCard.
func ParseCard(code string) (Card, error) {
	if len(code) != 4 {
		return Card{}, fmt.Errorf("%w: code %q is not four digits", ErrInvalidCard, code)
	}
	var id uint8
	for _, digit := range []byte(code) {
		if digit < '0' || digit > '2' {
			return Card{}, fmt.Errorf("%w: code %q has a digit other than 0, 1, 2", ErrInvalidCard, code)
		}
		id = id*3 + digit - '0'
	}
	return Card{id}, nil
}

// ID returns the card's id, 0–80: (number−1)·27 + shape·9 + color·3 + shading.
func (c Card) ID() int { return int(c.id) }

// Attributes returns the card's four attributes.
//
// spec: card-model, CardId Encoding Formula
func (c Card) Attributes() Attributes {
	return Attributes{
		Number:  One + Number(c.id/27),
		Shape:   Shape(c.id / 9 % 3),
		Color:   Color(c.id / 3 % 3),
		Shading: Shading(c.id % 3),
	}
}

// Code returns the id in base 3, four digits: number−1, shape, color, shading. ParseCard reads it.
func (c Card) Code() string {
	return string([]byte{'0' + c.id/27, '0' + c.id/9%3, '0' + c.id/3%3, '0' + c.id%3})
}

// String names the card for people: "two squiggle green striped".
func (c Card) String() string {
	a := c.Attributes()
	return a.Number.String() + " " + a.Shape.String() + " " + a.Color.String() + " " + a.Shading.String()
}

// Attributes are the four values that make a card. The zero value is not a card, since numbers begin at One.
//
// spec: card-model, The Attribute Enums and CardAttributes Struct
type Attributes struct {
	Number  Number
	Shape   Shape
	Color   Color
	Shading Shading
}

// Number is how many symbols a card shows, 1–3.
type Number uint8

// The numbers, as the spec counts them.
const (
	One   Number = 1
	Two   Number = 2
	Three Number = 3
)

func (n Number) String() string {
	switch n {
	case One:
		return "one"
	case Two:
		return "two"
	case Three:
		return "three"
	}
	return fmt.Sprintf("Number(%d)", uint8(n))
}

// Shape is the form of a card's symbols.
type Shape uint8

// The shapes, as the spec counts them.
const (
	Diamond  Shape = 0
	Squiggle Shape = 1
	Oval     Shape = 2
)

func (s Shape) String() string {
	switch s {
	case Diamond:
		return "diamond"
	case Squiggle:
		return "squiggle"
	case Oval:
		return "oval"
	}
	return fmt.Sprintf("Shape(%d)", uint8(s))
}

// Color is the color of a card's symbols.
type Color uint8

// The colors, as the spec counts them.
const (
	Red    Color = 0
	Green  Color = 1
	Purple Color = 2
)

func (c Color) String() string {
	switch c {
	case Red:
		return "red"
	case Green:
		return "green"
	case Purple:
		return "purple"
	}
	return fmt.Sprintf("Color(%d)", uint8(c))
}

// Shading is how a card's symbols are filled.
type Shading uint8

// The shadings, as the spec counts them.
const (
	Solid   Shading = 0
	Striped Shading = 1
	Open    Shading = 2
)

func (s Shading) String() string {
	switch s {
	case Solid:
		return "solid"
	case Striped:
		return "striped"
	case Open:
		return "open"
	}
	return fmt.Sprintf("Shading(%d)", uint8(s))
}
