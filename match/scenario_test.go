package match

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

// deckRequest asks for two seats and a deck that begins with MAX.
func deckRequest(extra string) string {
	return `{"test_deck":"` + boardMAX + boardRest + `"` + extra + `}`
}

// Scenario 1: both players see the same Set.
func TestSameSetTwice(t *testing.T) {
	for _, gap := range []time.Duration{0, 300 * time.Millisecond, 3 * time.Second} {
		t.Run(gap.String(), func(t *testing.T) {
			g := newGame(t, deckRequest(""), "ann", "bob")
			ann, bob := g.players[0], g.players[1]
			ann.claim(g.m, 1, setSA)
			if gap == 0 { // together: one waits in the mailbox while the other is judged
				bob.claim(g.m, 2, setSA)
			} else {
				g.pass(gap)
				bob.claim(g.m, 2, setSA)
			}
			g.pass(2 * time.Second)
			frames := bob.news()
			if v := verdict(t, frames); !v.Valid || v.Seat != 0 {
				t.Fatalf("verdict %v", v)
			}
			reason := refusal(t, frames).Reason
			if reason != wire.Reason_REASON_NOT_ON_BOARD && reason != wire.Reason_REASON_BOARD_LOCK {
				t.Fatalf("bob was refused as %v", reason)
			}
			if g.score(0) != 1 || g.score(1) != 0 {
				t.Fatalf("scores %d : %d", g.score(0), g.score(1))
			}
		})
	}
}

// Scenario 2: overlapping Sets in one drain: the order of arrival decides.
func TestOverlappingSetsInOneDrain(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	g.m.callback.Lock() // nothing is judged until both have come
	bob.put(g.m, opClaimSet, marshal(t, claimOf(2, setSB)))
	ann.put(g.m, opClaimSet, marshal(t, claimOf(1, setSA)))
	g.m.callback.Unlock()
	g.m.settle()
	g.pass(2 * time.Second)
	if g.score(0) != 0 || g.score(1) != 1 {
		t.Fatalf("scores %d : %d, but bob came first", g.score(0), g.score(1))
	}
	if r := wantRefused(t, ann.news(), wire.Reason_REASON_NOT_ON_BOARD); len(r.MissingCards) != 1 || r.MissingCards[0] != 0 {
		t.Fatalf("missing %v, want card 0000", r.MissingCards)
	}
}

// Scenario 3: the server does not believe the client. Scenario 12: the verdict names every mixed attribute.
func TestWrongClaim(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	ann.claim(g.m, 7, notSet)
	frames := ann.news()
	v := verdict(t, frames)
	if v.Valid || v.ClaimId != 7 || v.MixedAttributes != 0b1100 {
		t.Fatalf("verdict %v, want color and shading mixed", v)
	}
	if u := one[*wire.Update](t, bob.news()); !proto.Equal(u, one[*wire.Update](t, frames)) {
		t.Fatal("bob was told something else than ann")
	}
	if snapshot := one[*wire.Update](t, frames).Snapshot; snapshot.LockedUntilMs[0] != 2000 || snapshot.DeckCount != 21 {
		t.Fatalf("snapshot %v", snapshot)
	}
	g.pass(3 * time.Second)
	g.read()
	ann.claim(g.m, 8, "0101 0200 0002") // a Set would need 0002, which lies there; 1010 is still in the deck
	ann.news()
	g.pass(3 * time.Second)
	ann.claim(g.m, 9, "0000 1010 2020")
	wantRefused(t, ann.news(), wire.Reason_REASON_NOT_ON_BOARD)
}

// Scenario 4, and 11: claims that are none.
func TestMalformedClaims(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	before := g.revision()
	for name, c := range map[string]*wire.ClaimSet{
		"one card three times": claimOf(1, "0000 0000 0000"),
		"one card twice":       claimOf(1, "0000 0000 0001"),
		"two cards":            claimOf(1, "0000 0001"),
		"four cards":           claimOf(1, "0000 0001 0002 0010"),
		"no cards":             {ClaimId: 1},
		"id 0":                 claimOf(0, setSA),
		"card 81":              {ClaimId: 1, Cards: []byte{0, 1, 81}},
		"card 255":             {ClaimId: 1, Cards: []byte{0, 1, 255}},
	} {
		t.Run(name, func(t *testing.T) {
			ann.send(g.m, wire.OpCode_OP_CODE_CLAIM_SET, c)
			wantRefused(t, ann.news(), wire.Reason_REASON_MALFORMED_CLAIM)
			wantQuiet(t, "bob", g.players[1].news())
		})
		g.pass(time.Second)
	}
	if g.revision() != before {
		t.Fatalf("revision %d, was %d: a refusal changed something", g.revision(), before)
	}
}

// Scenario 5: the third card was just taken.
func TestThirdCardTaken(t *testing.T) {
	deck := `{"test_deck":"0200 0201 0202 1202 2202 0000 0001 0010 0100 1000 1111 2000 ` + "0011 0101 1001" + `"}`
	g := newGame(t, deck, "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	bob.claim(g.m, 1, "0202 1202 2202")
	ann.claim(g.m, 2, "0200 0201 0202")
	if results := only[*wire.ClaimResult](t, ann.news()); len(results) != 0 {
		t.Fatalf("a claim in flight was answered before the unlock: %v", results)
	}
	g.pass(899 * time.Millisecond)
	if results := only[*wire.ClaimResult](t, ann.news()); len(results) != 0 {
		t.Fatalf("answered at 899 ms: %v", results)
	}
	g.pass(2 * time.Millisecond)
	r := wantRefused(t, ann.news(), wire.Reason_REASON_NOT_ON_BOARD)
	if len(r.MissingCards) != 1 || r.MissingCards[0] != 20 {
		t.Fatalf("missing %v, want 0202", r.MissingCards)
	}
	if g.score(1) != 1 || g.score(0) != 0 {
		t.Fatalf("scores %d : %d", g.score(0), g.score(1))
	}
}

// Scenario 5, the other half: the claim in flight is about other cards, and stands.
func TestClaimInFlightStands(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	bob.claim(g.m, 1, setSA)
	g.pass(100 * time.Millisecond)
	ann.claim(g.m, 2, "0010 0011 0012")
	ann.claim(g.m, 2, "0010 0011 0012") // resent while held: one answer all the same
	g.read()
	g.pass(900 * time.Millisecond)
	if v := verdict(t, ann.news()); !v.Valid || v.Seat != 0 || v.ClaimId != 2 {
		t.Fatalf("verdict %v", v)
	}
	if g.score(0) != 1 || g.score(1) != 1 {
		t.Fatalf("scores %d : %d", g.score(0), g.score(1))
	}
}

// Scenario 6: two bad claims, two answers.
func TestEachClaimIsAnswered(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	g.m.callback.Lock()
	ann.put(g.m, opClaimSet, marshal(t, claimOf(11, "0000 1010 2020")))
	ann.put(g.m, opClaimSet, marshal(t, claimOf(12, "0000 0000 0001")))
	g.m.callback.Unlock()
	g.m.settle()
	results := only[*wire.ClaimResult](t, ann.news())
	if len(results) != 2 || results[0].ClaimId != 11 || results[1].ClaimId != 12 ||
		results[0].GetRefused().Reason != wire.Reason_REASON_NOT_ON_BOARD ||
		results[1].GetRefused().Reason != wire.Reason_REASON_MALFORMED_CLAIM {
		t.Fatalf("answers %v", results)
	}
	wantQuiet(t, "bob", g.players[1].news())
}

// Scenario 7: a claim that comes again.
func TestRepeatedClaim(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	g.m.callback.Lock()
	for range 2 {
		ann.put(g.m, opClaimSet, marshal(t, claimOf(5, setSA)))
	}
	g.m.callback.Unlock()
	g.m.settle()
	frames := ann.news()
	judged := verdict(t, frames)
	repeated := one[*wire.ClaimResult](t, frames)
	if !proto.Equal(repeated.GetRepeatedVerdict(), judged) {
		t.Fatalf("repeated as %v, judged as %v", repeated, judged)
	}
	if last := frames[len(frames)-1]; wire.OpCode(last.op) != wire.OpCode_OP_CODE_CLAIM_RESULT {
		t.Fatal("the answer came before the UPDATE that it speaks of")
	}
	g.pass(4 * time.Second)
	g.read()
	ann.claim(g.m, 5, setSA)
	if again := one[*wire.ClaimResult](t, ann.news()).GetRepeatedVerdict(); !proto.Equal(again, judged) {
		t.Fatalf("4 s later: %v", again)
	}
	wantQuiet(t, "bob", bob.news())
	ann.claim(g.m, 5, setSB)
	wantRefused(t, ann.news(), wire.Reason_REASON_CLAIM_ID_REUSED)

	g.m.leave(ann)
	back := g.n.session("ann")
	back.join(g.m)
	frames = back.news()
	if w := one[*wire.Welcome](t, frames); !proto.Equal(w.LastVerdict, judged) {
		t.Fatalf("the WELCOME's last verdict is %v", w.LastVerdict)
	}
	back.claim(g.m, 5, setSA)
	if again := one[*wire.ClaimResult](t, back.news()).GetRepeatedVerdict(); !proto.Equal(again, judged) {
		t.Fatalf("after reconnecting: %v", again)
	}
	if g.score(0) != 1 {
		t.Fatalf("score %d", g.score(0))
	}
}

// Scenario 8: a right answer to a board that is gone. Scenario 9: refusals do not move the revision.
func TestLateClaims(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	ann.claim(g.m, 1, setSA)
	g.pass(2 * time.Second)
	g.read()
	before := g.revision()
	for id := range uint64(5) {
		bob.claim(g.m, id+1, setSA)
		wantRefused(t, bob.news(), wire.Reason_REASON_NOT_ON_BOARD)
	}
	if g.revision() != before {
		t.Fatalf("revision %d, was %d", g.revision(), before)
	}
	wantQuiet(t, "ann", ann.news())
}

// Scenario 10: nobody can act for another; an unknown field is ignored.
func TestUnknownFieldIsIgnored(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	payload := append(marshal(t, claimOf(1, setSA)), 0xf8, 0x07, 0x01) // field 127, varint 1
	g.players[1].sendRaw(g.m, opClaimSet, payload)
	if v := verdict(t, g.players[1].news()); !v.Valid || v.Seat != 1 {
		t.Fatalf("verdict %v", v)
	}
}

// Scenario 11: what is no message.
func TestUnreadableMessages(t *testing.T) {
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(i*31 + 7)
	}
	cases := []struct {
		name    string
		op      int64
		payload []byte
		want    wire.Reason
	}{
		{"noise", opClaimSet, noise[:200], wire.Reason_REASON_MALFORMED_MESSAGE},
		{"forfeit with noise", opForfeit, noise[:50], wire.Reason_REASON_MALFORMED_MESSAGE},
		{"snapshot with noise", opRequestSnapshot, noise[:50], wire.Reason_REASON_MALFORMED_MESSAGE},
		{"ping with noise", opPing, noise[:50], wire.Reason_REASON_MALFORMED_MESSAGE},
		{"4 KB", opClaimSet, noise, wire.Reason_REASON_MESSAGE_TOO_LARGE},
		{"op code 0", 0, nil, wire.Reason_REASON_UNKNOWN_OP_CODE},
		{"op code 99", 99, nil, wire.Reason_REASON_UNKNOWN_OP_CODE},
		{"op code -1", -1, nil, wire.Reason_REASON_UNKNOWN_OP_CODE},
		{"an op code that is 1 in 32 bits", 1<<32 + 1, marshal(t, claimOf(1, setSA)), wire.Reason_REASON_UNKNOWN_OP_CODE},
		{"a server's op code", int64(wire.OpCode_OP_CODE_UPDATE), nil, wire.Reason_REASON_UNKNOWN_OP_CODE},
		{"an op code to come", 12, nil, wire.Reason_REASON_UNKNOWN_OP_CODE},
	}
	for _, lane := range []string{"on", "off"} {
		g := startGame(newFake(t, "SET3D_FAST_LANE="+lane), deckRequest(""), "ann", "bob")
		ann := g.players[0]
		for _, c := range cases {
			t.Run(c.name+", lane "+lane, func(t *testing.T) {
				ann.sendRaw(g.m, c.op, c.payload)
				if e := one[*wire.Error](t, ann.news()); e.Reason != c.want || e.OpCode != c.op {
					t.Fatalf("answered %v, want %v", e, c.want)
				}
				wantQuiet(t, "bob", g.players[1].news())
			})
			g.pass(time.Second)
			g.read()
		}
		ann.sendRaw(g.m, opClaimSet, nil)
		wantRefused(t, ann.news(), wire.Reason_REASON_MALFORMED_CLAIM)
		ann.claim(g.m, 1, setSA)
		if v := verdict(t, ann.news()); !v.Valid {
			t.Fatal("the match did not go on")
		}
	}
}
