package main

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"set3d/domain"
)

// verify shows the match and everything that can be verified, and returns what is wrong.
func verify(p *pen, saved savedRecord) error {
	t := &transcript{pen: p, saved: saved}
	sum, _ := domain.Summarize(saved.Record) // of a damaged record nothing, and the replay says why
	t.setup = sum.Setup
	session, broken := domain.ReplayCommands(saved.Record, &t.out, t.command)
	t.tell(sum.DurationMs)
	if broken != nil {
		p.printf("\n%s  the record does not verify: %v\n", p.bad.Render("WRONG"), broken)
		return exit(exitWrong, "%w", broken)
	}
	if _, ended := session.Ended(); !ended {
		t.line(session.NowMs(), saved.withoutEnd())
	}
	t.table(sum)
	p.printf("The record: %s, version %d. It is whole, and gives the match's %s.\n", count(len(saved.Record), "byte"),
		saved.Record[len(recordStart)], count(t.judged, "verdict"))
	t.deal(sum)
	c := &comparison{}
	if gives := commitmentText(sum); saved.seen != "" && saved.seen != gives {
		c.differences = append(c.differences, fmt.Sprintf("commitment: %v was shown, the record gives %v", saved.seen, shown(gives)))
	}
	if saved.Result != nil {
		c.result(saved.GotRecord, sum)
	}
	return t.verdicts(c)
}

// withoutEnd says what became of a match whose record has no end.
func (s savedRecord) withoutEnd() string {
	if s.Result != nil && s.Result.Reason == stopped {
		return "The match was ended by the operator; nobody wins"
	}
	return "Here the record ends; the match went on, or was ended by force"
}

// verdicts says what the comparison came to.
func (t *transcript) verdicts(c *comparison) error {
	for _, difference := range c.differences {
		t.pen.printf("%s  %s\n", t.pen.bad.Render("WRONG"), difference)
	}
	if n := len(c.differences); n > 0 {
		return exit(exitWrong, "%s from what the record gives", count(n, "difference"))
	}
	if t.saved.Result == nil {
		t.pen.printf("A bare record: there is no result to compare it with.\n%s\n", t.pen.good.Render("It verifies itself."))
		return nil
	}
	t.pen.printf("The result: all of its %d values that follow from the record do.\n%s\n", c.compared, t.pen.good.Render("All well."))
	return nil
}

// table is the final table, or the one so far.
func (t *transcript) table(sum domain.Summary) {
	widest := 0
	for seat := range sum.Seats {
		widest = max(widest, len([]rune(t.saved.name(sum.Setup, seat))))
	}
	t.pen.printf("\n  %s\n", t.pen.bold.Render(strings.Repeat(" ", widest)+"  score  Sets  wrong  fastest   median"))
	for seat, s := range sum.Seats {
		note := ""
		switch {
		case s.Forfeited:
			note = "  gave up"
		case slices.Contains(sum.End.Winners, seat):
			note = "  wins"
		}
		pad := strings.Repeat(" ", widest-len([]rune(t.saved.name(sum.Setup, seat))))
		t.pen.printf("  %s%s  %5d  %4d  %5d %s %s%s\n", t.name(seat), pad, s.Score, s.Sets, s.Wrong,
			reactionText(s.Reactions, s.Reactions.FastestMs), reactionText(s.Reactions, s.Reactions.MedianMs), note)
	}
	t.pen.printf("\n")
}

// reactionText is a reaction time in eight columns, if there is any.
func reactionText(r domain.Reactions, ms int64) string {
	if r.Count == 0 {
		return "       –"
	}
	return fmt.Sprintf("%6.1f s", float64(ms)/1000)
}

// deal says what binds the server to the cards.
func (t *transcript) deal(sum domain.Summary) {
	switch {
	case !sum.Committed && sum.Setup.Deck.Kind() == domain.SourceSeed:
		t.pen.printf("The deal: the deck of the seed %d, for practice.\n", sum.Setup.Deck.Seed())
	case !sum.Committed:
		t.pen.printf("The deal: a deck that was given, for a test.\n")
	case t.saved.seen != "":
		t.pen.printf("The deal: the deck of a key, %s\n", sameOrNot(t.saved.seen == commitmentText(sum)))
	default:
		t.pen.printf("The deal: the deck of a key with the commitment\n  %s\nIt is fair if that was shown when the match started (--commitment).\n",
			commitmentText(sum))
	}
}

func sameOrNot(same bool) string {
	if same {
		return "the one to which the server had committed itself."
	}
	return "and not of the one to which the server had committed itself."
}

// commitmentText is the commitment of the deck's key, or "".
func commitmentText(sum domain.Summary) string {
	if !sum.Committed {
		return ""
	}
	return hex.EncodeToString(sum.Commitment[:])
}
