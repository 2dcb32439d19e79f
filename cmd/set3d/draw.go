package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/term"

	"set3d/domain"
)

// pen draws on a writer: in colour on a terminal, plain anywhere else and under NO_COLOR.
type pen struct {
	out    io.Writer
	width  int
	colors [3]lipgloss.Style // by domain.Color
	seats  []lipgloss.Style
	dim    lipgloss.Style
	bold   lipgloss.Style
	bad    lipgloss.Style
	good   lipgloss.Style
}

const plainWidth = 80 // of output that is no terminal

func newPen(out io.Writer) *pen { return newPenWith(out, lipgloss.NewRenderer(out)) }

func newPenWith(out io.Writer, r *lipgloss.Renderer) *pen {
	ink := func(color string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(color)) }
	p := &pen{
		out: out, width: plainWidth,
		colors: [3]lipgloss.Style{domain.Red: ink("9"), domain.Green: ink("10"), domain.Purple: ink("13")},
		dim:    r.NewStyle().Faint(true),
		bold:   r.NewStyle().Bold(true),
		bad:    ink("9").Bold(true),
		good:   ink("10").Bold(true),
	}
	for _, color := range []string{"14", "11", "12", "13", "10", "9", "15", "8"} {
		p.seats = append(p.seats, ink(color).Bold(true))
	}
	if file, ok := out.(*os.File); ok && term.IsTerminal(file.Fd()) {
		if width, _, err := term.GetSize(file.Fd()); err == nil && width > 0 {
			p.width = width
		}
	}
	return p
}

func (p *pen) printf(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }

// symbols are the shapes by shading: solid, striped, open. A squiggle is drawn as a slanted box: there is no squiggle with three
// shadings in common fonts.
var symbols = [3][3]string{
	domain.Diamond:  {"◆", "◈", "◇"},
	domain.Squiggle: {"▰", "▨", "▱"},
	domain.Oval:     {"●", "◍", "○"},
}

const colorLetters = "rgp"

// legend explains the drawings in one line.
const legend = "diamond ◆◈◇  squiggle ▰▨▱  oval ●◍○ (solid, striped, open); red, green, purple"

// card draws a card in five columns: "◆◆  r". The letter says the colour where there is none, and to those who see it
// differently.
func (p *pen) card(c domain.Card) string {
	a := c.Attributes()
	n := int(a.Number)
	text := strings.Repeat(symbols[a.Shape][a.Shading], n) + strings.Repeat(" ", 3-n) + " " + colorLetters[a.Color:a.Color+1]
	return p.colors[a.Color].Render(text)
}

// side is a line beside the board.
type side []string

const (
	boardWidth = 4*10 + 3*2 // four cells and the gaps between
	sideWidth  = 24         // a score, at least
	margin     = 2
)

// board draws the slots, four in a row, with the lines beside them if there is room, else below. Slots that were just dealt to
// are marked.
func (p *pen) board(board domain.Board, fresh map[int]bool, beside side) {
	rows := (board.SlotCount() + domain.SlotsPerRow - 1) / domain.SlotsPerRow
	wide := p.width >= margin+boardWidth+4+sideWidth
	for row := range max(rows, len(beside)) {
		if !wide && row >= rows {
			break
		}
		var line strings.Builder
		used := 0
		for column := range domain.SlotsPerRow {
			slot := row*domain.SlotsPerRow + column
			if row >= rows || slot >= board.SlotCount() {
				break
			}
			if column > 0 {
				line.WriteString("  ")
				used += 2
			}
			line.WriteString(p.cell(board, slot, fresh[slot]))
			used += 10
		}
		if wide && row < len(beside) {
			line.WriteString(strings.Repeat(" ", boardWidth+4-used) + beside[row])
		}
		p.printf("%s%s\n", strings.Repeat(" ", margin), strings.TrimRight(line.String(), " "))
	}
	if !wide {
		for _, line := range beside {
			p.printf("%s%s\n", strings.Repeat(" ", margin), strings.TrimRight(line, " "))
		}
	}
}

// cell is ten columns: slot number, mark, card.
func (p *pen) cell(board domain.Board, slot int, fresh bool) string {
	card, occupied := board.CardAt(slot)
	mark := " "
	if fresh {
		mark = p.good.Render("+")
	}
	number := p.dim.Render(fmt.Sprintf("%2d", slot))
	if !occupied {
		return number + mark + "  " + p.dim.Render("·") + "    "
	}
	return number + " " + mark + " " + p.card(card)
}

// bar is a score as a bar that fits into n columns.
func bar(score, n int) string {
	if score > n {
		return strings.Repeat("█", n-1) + "…"
	}
	return strings.Repeat("█", score)
}
