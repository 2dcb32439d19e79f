package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"time"

	"set3d/client"
	"set3d/domain"
	"set3d/match"
	wire "set3d/proto/set3d/v1"
)

const (
	// writeSlack is what a checkpoint's write may take when it is not waited for.
	writeSlack = time.Second
	// wrongSlack is how much later a wrong claim that costs nothing is stored, and the tick that does it.
	wrongSlack  = match.KeepWrongWithin + time.Second
	resultsPoll = 100 * time.Millisecond
)

// check asks the server for all that there should be.
func (c *crasher) check(ctx context.Context) error {
	c.say("checking the results of %d matches", len(c.all()))
	stored := map[string]*client.Result{}
	deadline := time.Now().Add(crashPatience) // for all of them
	for _, m := range c.all() {
		result, err := c.result(ctx, m, deadline)
		if err != nil {
			return err
		}
		if result == nil {
			m.mu.Lock()
			c.noResult(m)
			m.mu.Unlock()
			continue
		}
		stored[result.ResultID] = result
		if err := c.checkMatch(ctx, m, result); err != nil {
			return err
		}
	}
	deadline = time.Now().Add(crashPatience) // for the leaderboards, which follow the results
	for _, user := range append(c.ranked.everybody(), c.users...) {
		if err := c.checkUser(ctx, user, stored, deadline); err != nil {
			return err
		}
	}
	return nil
}

// result waits for a match's result. It is nil if there is none.
func (c *crasher) result(ctx context.Context, m *crashMatch, deadline time.Time) (*client.Result, error) {
	tableID := m.tableID()
	if tableID == "" {
		return nil, nil
	}
	gone := false // the match was not there any more: then the result is, if there is one
	for {
		got, err := c.client.GetResult(ctx, m.asking(), tableID)
		switch {
		case err == nil && got.Result != nil:
			return got.Result, nil
		case err != nil && client.ReasonOf(err) == "":
			return nil, err
		case gone && client.ReasonOf(err) == "UNKNOWN_RESULT", time.Now().After(deadline):
			return nil, nil
		}
		if gone = err != nil && !c.isInterrupted(ctx, m, tableID); gone {
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(resultsPoll):
		}
	}
}

// isInterrupted reports whether the server still has the match: it is swept a moment after the start. Who has forfeited
// is not told.
func (c *crasher) isInterrupted(ctx context.Context, m *crashMatch, tableID string) bool {
	return slices.ContainsFunc(m.users, func(user *client.User) bool {
		mine, err := c.client.MyMatches(ctx, user)
		return err != nil || !mine.Complete || slices.ContainsFunc(mine.Matches, func(t client.MyMatch) bool {
			return t.TableID == tableID && t.Phase != "lobby"
		})
	})
}

// noResult is about a match that has none: it may have begun only just before a kill.
func (c *crasher) noResult(m *crashMatch) {
	if m.final != nil {
		c.failAt(m, "the result was told as final and is not there: %+v", *m.final)
		return
	}
	if m.began.IsZero() {
		return
	}
	if !c.mayLose(m.beganIn, m.began) {
		c.failAt(m, "its start was told %s and it has no result; verdicts told: %d, ends: %d",
			c.before(m.beganIn, m.began), len(m.verdicts), len(m.ends))
		return
	}
	c.tookBack(&c.finished.lostMatches, m.beganIn, m.began)
}

// mayLoseVerdict is mayLose for the verdict of a claim.
func (c *crasher) mayLoseVerdict(key toldKey, told toldVerdict, rules domain.Rules) bool {
	most := c.flags.checkpoint + writeSlack
	if !told.valid && rules.PenaltyMode == domain.PenaltyNone {
		most += wrongSlack
	}
	return c.mayLoseWithin(most, key.life, told.at)
}

// tookBack counts something that was told and is lost, as it may be.
func (c *crasher) tookBack(which *int, life int, at time.Time) {
	*which++
	c.finished.oldest = max(c.finished.oldest, c.lives[life].at.Sub(at))
}

// checkMatch compares a result with its record, and both with what was told.
func (c *crasher) checkMatch(ctx context.Context, m *crashMatch, result *client.Result) error {
	saved, err := c.client.GetRecord(ctx, m.asking(), result.ResultID)
	if err != nil {
		return fmt.Errorf("the record of %s: %w", result.ResultID, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c.count(m, result)
	story, err := readStory(saved.Record)
	if err != nil {
		c.failAt(m, "the record: %v", err)
		return nil
	}
	compared := &comparison{}
	compared.result(saved, story.sum)
	if len(m.commitment) > 0 && hex.EncodeToString(m.commitment) != saved.Result.Commitment {
		compared.differences = append(compared.differences, fmt.Sprintf("the commitment was %x, and is %s", m.commitment, saved.Result.Commitment))
	}
	for _, difference := range compared.differences {
		c.failAt(m, "%s", difference)
	}
	c.checkVerdicts(m, story)
	c.checkStandings(m, story)
	c.checkEnds(m, result)
	c.checkForfeits(m, result)
	c.checkFinal(m, result)
	c.checkPlayers(m, result)
	return nil
}

func (c *crasher) count(m *crashMatch, result *client.Result) {
	s := &c.finished
	s.results++
	s.records++
	s.verdicts += len(m.verdicts)
	s.untold += oneIf(m.began.IsZero())
	s.resumed += oneIf(result.Incarnation > 0)
	s.abandoned += oneIf(result.Reason == "ABANDONED" && len(m.ends) == 0)
	s.ranked += oneIf(result.Ranked)
	s.rated += oneIf(result.Players[0].Rating != nil)
}

// checkVerdicts: what was told is in the record.
func (c *crasher) checkVerdicts(m *crashMatch, story *story) {
	for key, told := range m.verdicts {
		i, there := story.index[claimOf(key)]
		if there && story.verdicts[i] == (storyVerdict{told.cards, told.valid}) {
			continue
		}
		if !c.mayLoseVerdict(key, told, story.sum.Setup.Rules) {
			c.failAt(m, "the verdict of claim %x of seat %d, valid %v, was told %s and is not in the record",
				key.id, key.seat, told.valid, c.before(key.life, told.at))
			continue
		}
		c.tookBack(&c.finished.takenBack, key.life, told.at)
	}
}

// checkStandings: the scores that were told are those of the record after the same verdict; those of a player who comes
// back are some that follow. What follows from a verdict that is taken back is another thing.
func (c *crasher) checkStandings(m *crashMatch, story *story) {
	for _, told := range m.standings {
		from, there := story.index[claimOf(told.after)]
		until := len(story.scores)
		if told.exact {
			until = from + 1
		}
		same := func(scores []uint32) bool { return slices.Equal(scores, told.scores) }
		matches := there && slices.ContainsFunc(story.scores[from:until], same)
		if !matches && !c.mayLose(told.life, told.at) && !c.mayLoseVerdict(told.after, m.verdicts[told.after], story.sum.Setup.Rules) {
			c.failAt(m, "the scores %v were told %s, after claim %x; the record has %v", told.scores,
				c.before(told.life, told.at), told.after.id, story.scores)
		}
	}
}

// checkEnds: the result is the end that was told.
func (c *crasher) checkEnds(m *crashMatch, result *client.Result) {
	for _, told := range m.ends {
		same := endReasonName(told.ended.GetReason()) == result.Reason && len(told.ended.GetTable()) == len(result.Players)
		for seat, line := range told.ended.GetTable() {
			same = same && int(line.GetScore()) == result.Players[seat].Score && line.GetForfeited() == result.Players[seat].Forfeited
		}
		if same && slices.EqualFunc(told.ended.GetWinners(), result.Winners, func(a uint32, b int) bool { return int(a) == b }) {
			continue
		}
		if !c.mayLose(told.life, told.at) {
			c.failAt(m, "the end {%v} was told %s, the result is %+v", told.ended,
				c.before(told.life, told.at), *result)
			continue
		}
		c.tookBack(&c.finished.lostEnds, told.life, told.at)
	}
}

// checkForfeits: who was told to be out is out.
func (c *crasher) checkForfeits(m *crashMatch, result *client.Result) {
	for _, told := range m.forfeits {
		if int(told.seat) < len(result.Players) && result.Players[told.seat].Forfeited {
			continue
		}
		if !c.mayLose(told.life, told.at) {
			c.failAt(m, "the forfeit of seat %d was told %s, the result is %+v", told.seat,
				c.before(told.life, told.at), *result)
		}
	}
}

// checkFinal: a result that was told as final stays, with its changes of ratings; no kill may take that back. Whether a
// match was ranked is known from who made it.
func (c *crasher) checkFinal(m *crashMatch, result *client.Result) {
	if m.final != nil && !reflect.DeepEqual(m.final, result) {
		c.failAt(m, "the result was told as final, %+v, and is %+v", *m.final, *result)
	}
	if m.kind.ranked != result.Ranked {
		c.failAt(m, "ranked: %v, want %v", result.Ranked, m.kind.ranked)
	}
}

// checkPlayers: what each player saw was sound in itself, and who stayed saw the end.
func (c *crasher) checkPlayers(m *crashMatch, result *client.Result) {
	if int(result.Incarnation) > len(c.lives) {
		c.failAt(m, "incarnation %d after %d kills", result.Incarnation, len(c.lives))
	}
	for i, s := range m.seats {
		if s.err != nil {
			s.verifier.Lost()
		}
		if reason := client.ReasonOf(s.err); s.err != nil && !s.left && reason != "MATCH_OVER" && reason != "UNKNOWN_MATCH" {
			c.failAt(m, "player %d: %v", i, s.err)
		}
		for _, violation := range s.verifier.Report().Violations {
			c.failAt(m, "player %d: %s", i, violation)
		}
	}
}

// endReasonName is the name of a reason as results have it.
func endReasonName(r wire.EndReason) string { return r.String()[len("END_REASON_"):] }
