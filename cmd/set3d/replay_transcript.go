package main

import (
	"fmt"
	"strings"

	"set3d/domain"
)

// transcript tells a match from its record.
type transcript struct {
	pen      *pen
	saved    savedRecord
	setup    domain.Setup
	out      domain.Output
	told     int // of out's events
	answered int // of out's late answers
	scores   [domain.MaxPlayers]int
	judged   int
}

// command is told of every command, after what came before it and what it did.
func (t *transcript) command(nowMs int64, cmd domain.Command, result domain.Result) {
	t.tell(nowMs)
	switch c := cmd.(type) {
	case domain.ClaimSet:
		t.claim(nowMs, c, result)
	case domain.Drop:
		if result.Outcome == domain.Applied {
			t.line(nowMs, t.name(c.Seat)+" has lost the connection")
		}
	case domain.Return:
		if result.Outcome == domain.Applied {
			t.line(nowMs, t.name(c.Seat)+" is back")
		}
	}
}

// claim tells what became of a claim that was not judged at once.
func (t *transcript) claim(nowMs int64, c domain.ClaimSet, result domain.Result) {
	what := t.name(c.Seat) + " claims " + t.claimed(c.Cards)
	switch result.Outcome {
	case domain.Refused:
		t.line(nowMs, t.pen.dim.Render(what+", refused: "+result.Refusal.Reason.String()))
	case domain.Held:
		t.line(nowMs, t.pen.dim.Render(what+", which waits for the board"))
	case domain.Repeated, domain.HeldAlready:
		t.line(nowMs, t.pen.dim.Render(what+" again"))
	}
}

func (t *transcript) claimed(ids []byte) string {
	if len(ids) == 0 {
		return "nothing"
	}
	var cards []domain.Card
	for _, id := range ids {
		card, err := domain.CardFromID(int(id))
		if err != nil {
			return fmt.Sprintf("% x", ids)
		}
		cards = append(cards, card)
	}
	return t.cards(cards)
}

// tell tells what has not been told. Late answers have no time of their own: they are put before what happened at nowMs.
func (t *transcript) tell(nowMs int64) {
	for ; t.told < len(t.out.Events) && t.out.Events[t.told].AtMs < nowMs; t.told++ {
		t.event(t.out.Events[t.told].AtMs, t.out.Events[t.told].Event)
	}
	for ; t.answered < len(t.out.Answers); t.answered++ {
		a := t.out.Answers[t.answered]
		t.note(t.pen.dim.Render(t.name(a.Seat) + "'s waiting claim is refused: " + a.Refusal.Reason.String()))
	}
	for ; t.told < len(t.out.Events); t.told++ {
		t.event(t.out.Events[t.told].AtMs, t.out.Events[t.told].Event)
	}
}

func (t *transcript) event(atMs int64, event domain.Event) {
	switch e := event.(type) {
	case domain.MatchStarted:
		t.started(e)
	case domain.CardsDealt:
		t.dealt(atMs, e)
	case domain.SetClaimed:
		t.verdict(atMs, e)
	case domain.ScoreChanged:
		t.scores[e.Seat] = e.Score
		t.note(t.pen.dim.Render(t.scoreLine()))
	case domain.PenaltyApplied:
		if e.Mode == domain.PenaltyPoint {
			t.scores[e.Seat] = int(e.Remaining)
		}
		t.line(atMs, t.name(e.Seat)+" "+penaltyText(e))
	case domain.PlayerForfeited:
		t.line(atMs, fmt.Sprintf("%s is out: %v", t.name(e.Seat), e.Cause))
	case domain.MatchEnded:
		t.line(atMs, t.pen.bold.Render(fmt.Sprintf("The match is over: %v", e.Reason)))
	}
}

// dealt tells a deal; the first one as a board.
func (t *transcript) dealt(atMs int64, e domain.CardsDealt) {
	switch e.Cause {
	case domain.DealRefill:
		t.line(atMs, "Refilled: "+t.cards(e.Cards))
	case domain.DealExpansion:
		t.line(atMs, "No Set on the board, more cards: "+t.cards(e.Cards))
	case domain.DealInitial:
		board := domain.NewBoard()
		for i, slot := range e.Slots {
			for slot >= board.SlotCount() {
				_ = board.Expand(domain.ExpansionSize) // the session had the room
			}
			_ = board.PlaceCard(slot, e.Cards[i])
		}
		t.line(atMs, count(len(e.Cards), "card")+" on the board")
		t.pen.printf("\n")
		t.pen.board(board, nil, nil)
		t.pen.printf("\n")
	}
}

func penaltyText(e domain.PenaltyApplied) string {
	switch {
	case e.Mode == domain.PenaltyTime:
		return fmt.Sprintf("loses %.1f s, %.1f s left", float64(e.Amount)/1000, float64(e.Remaining)/1000)
	case e.Amount == 0:
		return "has no point to lose"
	}
	return "loses " + count(int(e.Amount), "point")
}

func (t *transcript) started(e domain.MatchStarted) {
	t.setup.Players = e.Players // of a damaged record too
	if r := t.saved.Result; r != nil {
		t.pen.printf("Match %s, result %s, preset %s\n", r.MatchID, r.ResultID, r.Preset)
	}
	var names []string
	for seat := range e.Players {
		names = append(names, t.name(seat))
	}
	t.pen.printf("%s: %s\n%s\n\n", count(e.Players, "player"), strings.Join(names, ", "), t.pen.dim.Render(legend))
}

func (t *transcript) verdict(atMs int64, e domain.SetClaimed) {
	t.judged++
	cards := t.cards(e.Cards[:]) + "  " + t.pen.dim.Render(fmt.Sprintf("(slots %d, %d, %d)", e.Slots[0], e.Slots[1], e.Slots[2]))
	if e.Valid() {
		t.line(atMs, t.name(e.Seat)+" takes "+cards)
		return
	}
	t.line(atMs, t.name(e.Seat)+" claims "+cards)
	t.note(fmt.Sprintf("%s: %s mixed", t.pen.bad.Render("wrong"), strings.ToLower(e.Mixed.String())))
}

func (t *transcript) scoreLine() string {
	var scores []string
	for seat := range t.setup.Players {
		scores = append(scores, fmt.Sprintf("%s %d", t.saved.name(t.setup, seat), t.scores[seat]))
	}
	return strings.Join(scores, ", ")
}

func (t *transcript) name(seat int) string {
	name := t.saved.name(t.setup, seat)
	if seat < 0 {
		return name
	}
	return t.pen.seats[seat%len(t.pen.seats)].Render(name)
}

func (t *transcript) line(atMs int64, text string) {
	t.pen.printf("%s  %s\n", t.pen.dim.Render(fmt.Sprintf("%8.3f s", float64(atMs)/1000)), text)
}

// note is a line that belongs to the one above.
func (t *transcript) note(text string) { t.pen.printf("            %s\n", text) }

func (t *transcript) cards(cards []domain.Card) string {
	var drawn []string
	for _, card := range cards {
		drawn = append(drawn, strings.Join(strings.Fields(t.pen.card(card)), " "))
	}
	return strings.Join(drawn, ", ")
}
