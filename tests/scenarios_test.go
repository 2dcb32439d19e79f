package tests

import (
	"bytes"
	"maps"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// scenario is a public bug report as a client would meet it. Its number is that of the project's list.
type scenario struct {
	name string
	play func(t *testing.T, on *server)
}

func runScenarios(t *testing.T, scenarios []scenario) {
	on := hooked(t)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.play(t, on)
		})
	}
}

// TestScenariosOfClaims are the bug reports about claims.
func TestScenariosOfClaims(t *testing.T) {
	t.Parallel()
	runScenarios(t, []scenario{
		{"01 both take the same Set, together", sameSetTogether},
		{"01 both take the same Set, a tick later", sameSetATickLater},
		{"01 both take the same Set, much later", sameSetMuchLater},
		{"02 overlapping Sets in one millisecond", overlappingSets},
		{"03 the server does not believe the client", wrongClaim},
		{"03 a Set whose third card is in the deck", cardInTheDeck},
		{"04 one card three times", oneCardThreeTimes},
		{"05 the third card was just taken", thirdCardTaken},
		{"05 a claim in flight stands", claimInFlight},
		{"06 two bad claims at once", twoBadClaims},
		{"07 a claim is sent twice", claimSentTwice},
		{"07 a claim is sent again after reconnecting", claimSentAgain},
		{"08 a late claim never hits new cards", lateClaim},
		{"09 refused claims leave the revision alone", revisionStays},
		{"10 acting for another", actingForAnother},
		{"11 claims that are none", claimsThatAreNone},
		{"12 every mixed attribute is named", mixedAttributes},
	})
}

// maxTable is a table of two with the board MAX.
func maxTable(t *testing.T, on *server, rules map[string]any, formats ...client.Format) *table {
	t.Helper()
	if len(formats) == 0 {
		formats = []client.Format{asProtobuf, asJSON}
	}
	return open(t, on, client.CreateMatch{TestDeck: deckOf(boardMAX), Rules: rules}, formats...)
}

func sameSetTogether(t *testing.T, on *server) {
	x := maxTable(t, on, animated(nil))
	a, b := x.players[0], x.players[1]
	mine, other := a.claim(setSA), b.claim(setSA)
	winner, loser, won, lost := a, b, mine, other
	if o := a.outcome(mine); o.judged == nil { // b's came first
		winner, loser, won, lost = b, a, other, mine
	}
	if v := winner.verdictOf(won); !v.GetValid() {
		t.Fatalf("verdict %v", v)
	}
	if missing := loser.refusal(lost, wire.Reason_REASON_NOT_ON_BOARD).GetMissingCards(); !bytes.Equal(missing, ids(setSA)) {
		t.Errorf("missing %v, want the whole Set", missing)
	}
	scores := a.until("the score", func(s *wire.Snapshot) bool { return s.GetScores()[0]+s.GetScores()[1] > 0 }).GetScores()
	x.sameScores(scores...)
	if scores[0]+scores[1] != 1 {
		t.Errorf("scores %v", scores)
	}
}

func sameSetATickLater(t *testing.T, on *server) {
	x := maxTable(t, on, animated(map[string]any{"claim_grace_ms": 100, "valid_anim_ms": 3_000}))
	a, b := x.players[0], x.players[1]
	a.wins(setSA)
	time.Sleep(500 * time.Millisecond) // longer than the grace, shorter than the lock
	refused := b.refusal(b.claim(setSA), wire.Reason_REASON_BOARD_LOCK)
	if end := b.state().GetAnimation().GetEndMs() + 300; refused.GetRetryAtMs() != end {
		t.Errorf("retry at %d ms, the animations end at %d", refused.GetRetryAtMs(), end)
	}
	x.sameScores(1, 0)
}

func sameSetMuchLater(t *testing.T, on *server) {
	x := maxTable(t, on, animated(nil))
	a, b := x.players[0], x.players[1]
	a.wins(setSA)
	b.until("the refill", func(s *wire.Snapshot) bool {
		return s.GetScores()[0] == 1 && s.GetState() == wire.BoardState_BOARD_STATE_IDLE
	})
	if missing := b.refusal(b.claim(setSA), wire.Reason_REASON_NOT_ON_BOARD).GetMissingCards(); !bytes.Equal(missing, ids(setSA)) {
		t.Errorf("missing %v, want the whole Set", missing)
	}
	x.sameScores(1, 0)
}

func overlappingSets(t *testing.T, on *server) {
	for range 5 {
		x := maxTable(t, on, quick(nil))
		a, b := x.players[0], x.players[1]
		first, second := a.claim(setSA), b.claim(setSB)
		won := 0
		for _, v := range []struct {
			p  *peer
			id uint64
		}{{a, first}, {b, second}} {
			o := v.p.outcome(v.id)
			if o.judged.GetValid() {
				won++
			} else if o.refused.GetReason() != wire.Reason_REASON_NOT_ON_BOARD || !bytes.Equal(o.refused.GetMissingCards(), ids("0000")) {
				t.Errorf("the other claim: %v", o)
			}
		}
		if won != 1 {
			t.Fatalf("%d of two overlapping Sets were taken", won)
		}
		a.sync()
		scores := a.state().GetScores()
		x.sameScores(scores...)
		if scores[0]+scores[1] != 1 {
			t.Errorf("scores %v", scores)
		}
	}
}

// wrongClaim claims three cards that are no Set, under each penalty.
func wrongClaim(t *testing.T, on *server) {
	for mode, more := range map[string]map[string]any{
		"none": nil, "point": nil, "time": {"penalty_time_ms": 5_000, "time_limit_ms": 60_000},
	} {
		t.Run("penalty "+mode, func(t *testing.T) {
			rules := quick(map[string]any{"invalid_anim_ms": 2_000, "penalty_mode": mode})
			maps.Copy(rules, more)
			x := maxTable(t, on, rules)
			a, b := x.players[0], x.players[1]
			a.wins(setSA)
			a.idle()
			before := a.state()
			id := a.claim("0010 0011 0020")
			if v := a.verdictOf(id); v.GetValid() || v.GetMixedAttributes() != 0b1100 {
				t.Errorf("verdict %v, want color and shading mixed", v)
			}
			after := a.state()
			if !bytes.Equal(after.GetBoard(), before.GetBoard()) || after.GetDeckCount() != before.GetDeckCount() {
				t.Errorf("before {%v}, after {%v}", before, after)
			}
			if after.GetLockedUntilMs()[0] == 0 || after.GetLockedUntilMs()[1] != 0 {
				t.Errorf("locks %v", after.GetLockedUntilMs())
			}
			score, paid := uint32(1), after.GetTimePenaltiesMs()[0]
			if mode == "point" {
				score = 0
			}
			if (mode == "time") != (paid == 5_000) || mode != "time" && paid != 0 {
				t.Errorf("%d ms were taken", paid)
			}
			a.refusal(a.claim(setRow), wire.Reason_REASON_OWN_LOCK)
			x.sameScores(score, 0)
			b.wins(setRow) // the lock is a's alone
			if told := outcomesOf(b.since(), id); len(told) != 1 {
				t.Errorf("the other player was told %v", told)
			}
		})
	}
}

func cardInTheDeck(t *testing.T, on *server) {
	x := maxTable(t, on, quick(nil))
	a := x.players[0]
	a.wins(setSA)
	before := a.sync().GetStamp().GetRevision()
	inDeck := a.refusal(a.claim("0010 1110 2210"), wire.Reason_REASON_NOT_ON_BOARD)
	taken := a.refusal(a.claim("0010 0020 0000"), wire.Reason_REASON_NOT_ON_BOARD)
	if !bytes.Equal(inDeck.GetMissingCards(), ids("1110 2210")) || !bytes.Equal(taken.GetMissingCards(), ids("0000")) {
		t.Errorf("missing %v and %v", inDeck.GetMissingCards(), taken.GetMissingCards())
	}
	inDeck.MissingCards, taken.MissingCards = nil, nil
	if !proto.Equal(inDeck, taken) {
		t.Errorf("an undealt card is refused with {%v}, a taken one with {%v}: that tells which is which", inDeck, taken)
	}
	if after := a.sync().GetStamp().GetRevision(); after != before {
		t.Errorf("the revision went from %d to %d", before, after)
	}
}

func oneCardThreeTimes(t *testing.T, on *server) {
	x := maxTable(t, on, quick(nil))
	a := x.players[0]
	for _, codes := range []string{"0000 0000 0000", "0000 0000 0001"} {
		a.refusal(a.claim(codes), wire.Reason_REASON_MALFORMED_CLAIM)
	}
	x.sameScores(0, 0)
}

func thirdCardTaken(t *testing.T, on *server) {
	x := open(t, on, client.CreateMatch{
		TestDeck: deckOf("0200 0201 0202 1202 2202 0000 0001 0010 0100 1000 1111 2000"), Rules: animated(nil),
	}, asJSON, asProtobuf)
	a, b := x.players[0], x.players[1]
	b.wins("0202 1202 2202")
	late := a.claim("0200 0201 0202")
	if missing := a.refusal(late, wire.Reason_REASON_NOT_ON_BOARD).GetMissingCards(); !bytes.Equal(missing, ids("0202")) {
		t.Errorf("missing %v, want 0202", missing)
	}
	if state := a.state(); state.GetState() != wire.BoardState_BOARD_STATE_IDLE {
		t.Errorf("refused while the board is in %v", state.GetState())
	}
	x.sameScores(0, 1)
}

func claimInFlight(t *testing.T, on *server) {
	x := maxTable(t, on, animated(nil))
	a, b := x.players[0], x.players[1]
	b.wins(setSA)
	id := a.claim(setRow)
	a.claimAs(id, setRow) // resent while it is held: one answer all the same
	if v := a.verdictOf(id); !v.GetValid() || v.GetSeat() != 0 {
		t.Fatalf("verdict %v", v)
	}
	x.sameScores(1, 1)
	if all := outcomesOf(a.since(), id); len(all) != 1 {
		t.Errorf("answers %v", all)
	}
}

func twoBadClaims(t *testing.T, on *server) {
	x := maxTable(t, on, quick(nil))
	a, b := x.players[0], x.players[1]
	b.mark()
	a.claimAs(11, "0000 1010 2020")
	a.claimAs(12, "0000 0000 0001")
	a.refusal(11, wire.Reason_REASON_NOT_ON_BOARD)
	a.refusal(12, wire.Reason_REASON_MALFORMED_CLAIM)
	a.sync()
	b.sync()
	for _, id := range []uint64{11, 12} {
		if all := outcomesOf(a.since(), id); len(all) != 1 {
			t.Errorf("claim %d is answered %v", id, all)
		}
		if all := outcomesOf(b.since(), id); len(all) != 0 {
			t.Errorf("the other player hears of claim %d: %v", id, all)
		}
	}
}

func claimSentTwice(t *testing.T, on *server) {
	x := maxTable(t, on, animated(nil))
	a, b := x.players[0], x.players[1]
	id := a.claim(setSA)
	a.claimAs(id, setSA)
	both := a.outcomes(id, 2)
	a.until("the refill", func(s *wire.Snapshot) bool {
		return s.GetScores()[0] == 1 && s.GetState() == wire.BoardState_BOARD_STATE_IDLE
	})
	a.claimAs(id, setSA) // long after the cards have gone
	all := a.outcomes(id, 3)
	for _, o := range all[1:] {
		if !proto.Equal(o.repeated, both[0].judged) {
			t.Errorf("the repeat is answered %v, the verdict was %v", o, both[0])
		}
	}
	a.claimAs(id, setRow)
	if o := a.outcomes(id, 4)[3]; o.refused.GetReason() != wire.Reason_REASON_CLAIM_ID_REUSED {
		t.Errorf("other cards under the same id: %v", o)
	}
	x.sameScores(1, 0)
	if heard := outcomesOf(b.since(), id); len(heard) != 1 {
		t.Errorf("the other player hears %v", heard)
	}
}

func claimSentAgain(t *testing.T, on *server) {
	x := maxTable(t, on, quick(nil))
	a, b := x.players[0], x.players[1]
	id := a.claim(setSA)
	verdict := a.verdictOf(id)
	a.hangUp()
	again, welcome := a.again()
	if !proto.Equal(welcome.GetLastVerdict(), verdict) {
		t.Errorf("the WELCOME's last verdict is {%v}, was {%v}", welcome.GetLastVerdict(), verdict)
	}
	again.claimAs(id, setSA)
	if o := again.outcome(id); !proto.Equal(o.repeated, verdict) {
		t.Errorf("the repeat is answered %v", o)
	}
	again.claimAs(id, setRow)
	again.outcomes(id, 2)
	x.players = []*peer{again, b}
	x.sameScores(1, 0)
}

func lateClaim(t *testing.T, on *server) {
	x := maxTable(t, on, quick(nil))
	a, b := x.players[0], x.players[1]
	a.wins(setSA)
	b.until("the refill", func(s *wire.Snapshot) bool { return s.GetScores()[0] == 1 })
	slots := b.state().GetBoard()[:3]
	if bytes.Equal(slots, ids(setSA)) {
		t.Fatal("the cards are still there")
	}
	if missing := b.refusal(b.claim("0000 0010 0020"), wire.Reason_REASON_NOT_ON_BOARD).GetMissingCards(); !bytes.Equal(missing, ids("0000")) {
		t.Errorf("missing %v", missing)
	}
	x.sameScores(1, 0)
}

func revisionStays(t *testing.T, on *server) {
	x := maxTable(t, on, quick(nil))
	a, b := x.players[0], x.players[1]
	before := a.sync().GetStamp()
	b.sync()
	b.mark()
	for _, codes := range []string{"0000 0000 0001", "2222 2221 2220", "0000 0001", "", "0000 0001 0002 0010"} {
		if o := a.outcome(a.claim(codes)); o.refused == nil {
			t.Errorf("%q is answered %v", codes, o)
		}
	}
	after := a.sync().GetStamp()
	if after.GetRevision() != before.GetRevision() || after.GetRosterRevision() != before.GetRosterRevision() {
		t.Errorf("before {%v}, after {%v}", before, after)
	}
	b.sync()
	if heard := b.since(); len(heard) != 1 {
		t.Errorf("the other player hears %d messages, wants only the PONG", len(heard))
	}
}

// A player field cannot be forged, because there is none: the sender decides. What a newer client may add is ignored.
func actingForAnother(t *testing.T, on *server) {
	x := maxTable(t, on, quick(nil))
	a := x.players[0]
	id := newClaimID()
	data := marshal(t, claimOf(id, ids(setSA)))
	for field := protowire.Number(3); field < 20; field++ {
		data = protowire.AppendVarint(protowire.AppendTag(data, field, protowire.VarintType), 1)
	}
	data = protowire.AppendString(protowire.AppendTag(data, 20, protowire.BytesType), x.players[1].user.ID)
	a.sendData(int64(wire.OpCode_OP_CODE_CLAIM_SET), data)
	if v := a.verdictOf(id); !v.GetValid() || v.GetSeat() != 0 {
		t.Errorf("verdict %v, want a Set for seat 0", v)
	}
	x.sameScores(1, 0)
}

func claimsThatAreNone(t *testing.T, on *server) {
	x := maxTable(t, on, quick(nil))
	a, b := x.players[0], x.players[1]
	a.rude = true
	before := a.sync().GetStamp().GetRevision()
	for name, cards := range map[string][]byte{
		"id 81": {0, 1, 81}, "id 255": {0, 1, 255}, "ids 128 to 130": {128, 129, 130}, "two cards": {0, 1}, "four cards": {0, 1, 2, 3},
		"no cards": {}, "twice the Set": {0, 1, 2, 0, 1, 2}, "500 cards": bytes.Repeat([]byte{0, 1, 2, 3, 4}, 100),
	} {
		id := newClaimID()
		a.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, cards))
		if o := a.outcome(id); o.refused.GetReason() != wire.Reason_REASON_MALFORMED_CLAIM {
			t.Errorf("%s: %v", name, o)
		}
	}
	a.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(0, ids(setSA)))
	a.refusal(0, wire.Reason_REASON_MALFORMED_CLAIM)
	if after := a.sync().GetStamp().GetRevision(); after != before {
		t.Errorf("the revision went from %d to %d", before, after)
	}
	b.wins(setSA)
}

func mixedAttributes(t *testing.T, on *server) {
	x := open(t, on, client.CreateMatch{
		TestDeck: deckOf("2000 2110 2220 0000 0001 0010 0100 1000 1111 1002 2222 0011"), Rules: unlocked(nil),
	}, asJSON, asProtobuf)
	a := x.players[0]
	for _, c := range []struct {
		codes string
		mixed uint32 // bit 0 number, 1 shape, 2 color, 3 shading
	}{
		{"0000 0001 0010", 0b1100}, {"0000 0001 0100", 0b1010}, {"0000 0001 1000", 0b1001}, {"0000 0010 0100", 0b0110},
		{"0000 0001 1002", 0b0001}, {"2222 1111 0011", 0b1100}, {"0001 0000 0011", 0b1100}, {"0000 1111 0001", 0b1111},
	} {
		if v := a.verdict(c.codes); v.GetValid() || v.GetMixedAttributes() != c.mixed {
			t.Errorf("%s: %v, want mixed %04b", c.codes, v, c.mixed)
		}
	}
	a.wins("2000 2110 2220")
}
