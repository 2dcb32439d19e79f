package main

import (
	"fmt"
	"time"
)

func (c *crasher) listWrong() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, wrong := range c.wrong {
		c.pen.printf("%s  %s\n", c.pen.bad.Render("WRONG"), wrong)
	}
}

// interrupted says what was seen until then.
func (c *crasher) interrupted() {
	c.listWrong()
	begun, over := c.progressed()
	c.pen.printf("%s %s so far, %d of them over.\n", c.killCount(), count(begun, "match"), over)
	c.pen.printf("%s\n", c.pen.bold.Render("Interrupted: what is left was not yet compared with what the players were told; --seed "+
		fmt.Sprint(c.flags.seed)+" makes the same choices again."))
}

// verdict says what was found.
func (c *crasher) verdict() error {
	c.listWrong()
	s := &c.finished
	c.pen.printf("%s %s, %d of them of matches that were resumed, %d of matches that nobody came back to, %d whose start nobody was told.\n",
		c.killCount(), count(s.results, "result"), s.resumed, s.abandoned, s.untold)
	c.pen.printf("%s verified, with %s that players were told.\n", count(s.records, "record"), count(s.verdicts, "verdict"))
	c.pen.printf("%s of ranked matches, %d of them rated, at most %d of one player.\n",
		count(s.ranked, "result"), s.rated, s.chain)
	if n := c.struck[stopHost]; n > 0 {
		c.pen.printf("Stopped with its host: %s. The database was gone before the server: %d. Killed after --grace: %d.\n",
			count(n, "time"), c.orphaned, c.overdue)
	}
	if c.flags.durability == "fast" {
		c.pen.printf("Taken back: %s, %s, %s; told at most %v before a kill.\n", count(s.takenBack, "verdict"), count(s.lostEnds, "end"),
			count(s.lostMatches, "start"), s.oldest.Round(time.Millisecond))
	}
	if n := len(c.wrong) + c.surplus; n > 0 {
		return exit(exitWrong, "%s wrong; --seed %d makes the same choices again", count(n, "thing"), c.flags.seed)
	}
	c.pen.printf("%s\n", c.pen.good.Render("All well."))
	return nil
}
