package match

import (
	"slices"
	"testing"
	"time"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// An ended match tells its players why, answers what is held, counts for nothing, and keeps its result.
func TestAdminEnd(t *testing.T) {
	g := newGame(t, deckRequest(`,"rules":{"claim_grace_ms":250}`), "ann", "bob")
	n, ann, bob := g.n, g.players[0], g.players[1]
	ann.claim(g.m, 1, setSA)
	bob.claim(g.m, 2, setSB) // held
	bob.news()
	var answer adminEndResponse
	n.mustAdmin("admin_end", `{"match_id":"`+g.m.id+`","text":"Sorry:\u0007 we restart"}`, &answer)
	if answer.ResultID == "" || answer.ResultID != answer.TableID {
		t.Fatalf("%+v", answer)
	}
	frames := bob.news()
	end := ended(t, frames)
	if end == nil || end.Reason != wire.EndReason_END_REASON_OPERATOR || len(end.Winners) != 0 || end.Table[0].Score != 1 || end.ResultId != answer.ResultID {
		t.Fatalf("%v", end)
	}
	if refused := refusal(t, frames); refused.Reason != wire.Reason_REASON_TABLE_CLOSED {
		t.Errorf("the held claim: %v", refused)
	}
	if closed := notices(frames, wire.NoticeKind_NOTICE_KIND_CLOSED); len(closed) != 1 || closed[0].Text != "Sorry: we restart" {
		t.Errorf("%v", closed)
	}
	eventually(t, func() bool { return n.module.archive.Counters().Results == 1 })
	result, err := n.module.archive.Result(answer.ResultID)
	if err != nil || result.Reason != "OPERATOR" || result.Counted || len(result.Winners) != 0 || result.Players[0].Score != 1 {
		t.Fatalf("%+v %v", result, err)
	}
	if g.m.loop() || n.module.tables.playing() != 0 {
		t.Error("the match goes on")
	}
	if _, err := n.admin("admin_end", `{"match_id":"`+g.m.id+`"}`); reasonOf(err) != "UNKNOWN_MATCH" {
		t.Error(err)
	}
	lobby := n.session("cid").create(`{}`)
	n.mustAdmin("admin_end", `{"match_id":"`+lobby.id+`"}`, &answer)
	if answer.ResultID != "" || lobby.loop() {
		t.Errorf("a lobby: %+v", answer)
	}
}

// At a table that shows a Set the final snapshot is what the events led to: the Set is the claimer's. End, result and record are of one time.
func TestAdminEndWhileASetIsShown(t *testing.T) {
	g := newGame(t, deckRequest(`,"rules":{"valid_anim_ms":3000}`), "ann", "bob")
	n, bob := g.n, g.players[1]
	g.players[0].claim(g.m, 1, setSA)
	claimed := only[*wire.Update](t, bob.news())
	slots := claimed[len(claimed)-1].Snapshot.Animation.ClaimedSlots
	n.clock.mu.Lock()
	n.clock.at += 700 * time.Millisecond // no callback in between
	n.clock.mu.Unlock()
	var answer adminEndResponse
	n.mustAdmin("admin_end", `{"match_id":"`+g.m.id+`"}`, &answer)
	g.m.settle()
	last := only[*wire.Update](t, bob.news())
	final := last[len(last)-1]
	for slot, card := range final.Snapshot.Board {
		if gone := slices.Contains(slots, byte(slot)); gone != (card == emptySlot) {
			t.Errorf("slot %d holds %d, the Set was in %v", slot, card, slots)
		}
	}
	if final.Snapshot.State != wire.BoardState_BOARD_STATE_MATCH_END || final.Snapshot.Animation != nil || len(slots) != 3 {
		t.Errorf("%v", final.Snapshot)
	}
	eventually(t, func() bool { return n.module.archive.Counters().Results == 1 })
	result, err := n.module.archive.Result(answer.ResultID)
	if err != nil || result.DurationMs < 700 || result.DurationMs != int64(final.Events[0].AtMs) {
		t.Errorf("%v: the result lasts %d ms, the match ended at %d", err, result.DurationMs, final.Events[0].AtMs)
	}
	g.m.callback.Lock()
	record := g.m.table().session.Record()
	g.m.callback.Unlock()
	sum, err := domain.Summarize(record)
	if err != nil || sum.DurationMs != result.DurationMs {
		t.Errorf("%v: the record lasts %d ms, the result %d", err, sum.DurationMs, result.DurationMs)
	}
}

// What is behind the operator's wish in the mailbox is answered, too.
func TestStopAnswersWhatComesBehindIt(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.read()
	g.m.callback.Lock() // nothing is judged until all have come
	g.m.table().box.tell(func(t *table) { t.stop("") })
	g.players[0].put(g.m, opClaimSet, marshal(t, claimOf(5, setSA)))
	g.players[1].put(g.m, opClaimSet, marshal(t, claimOf(6, setSB)))
	g.m.callback.Unlock()
	g.m.settle()
	for _, p := range g.players {
		wantRefused(t, p.news(), wire.Reason_REASON_TABLE_CLOSED)
	}
}
