package match

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

func (u *fakeUser) review(t *testing.T, request string) (reviewResponse, string) {
	t.Helper()
	text, err := u.rpc("match_review", request)
	if err != nil {
		return reviewResponse{}, err.Error()
	}
	var r reviewResponse
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r, ""
}

func TestMatchReview(t *testing.T) {
	g := startGame(newFake(t), `{"preset":"fast","test_deck":"`+endDeckCards+`"}`, "ann", "bob")
	ann, bob, eve := g.players[0], g.players[1], g.n.session("eve")
	eve.join(g.m)
	ask := `{"match_id":"` + g.m.id + `"}`
	if _, why := ann.review(t, ask); !strings.Contains(why, "NOT_ENDED") {
		t.Fatalf("while the match runs: %s", why)
	}
	g.pass(1500 * time.Millisecond)
	ann.claim(g.m, 1, "0110 1101 2122")
	g.pass(2 * time.Second)
	bob.claim(g.m, 2, "1110 0112 2111")
	for _, u := range []*fakeUser{ann, bob, eve} {
		r, why := u.review(t, ask)
		if why != "" || len(r.Boards) != 2 || r.MatchID != g.m.id || r.TableID != g.m.table().setup.TableID {
			t.Fatalf("%s: %+v", why, r)
		}
		first, second := r.Boards[0], r.Boards[1]
		if first.Sets != 2 || first.Taken.Seat != 0 || first.Taken.AfterMs != 1500 || first.Taken.DisplayName != "ann" || first.Missed != nil || len(first.Cards) != 12 {
			t.Fatalf("first board %+v", first)
		}
		if second.Sets != 1 || second.Taken.Seat != 1 || second.Taken.AfterMs != 2000 || second.FromMs != 1500 || second.Cards[6] != emptySlot {
			t.Fatalf("second board %+v", second)
		}
	}
	r, _ := ann.review(t, `{"match_id":"`+strings.ToUpper(g.m.id[:36])+g.m.id[36:]+`","missed":true}`)
	if len(r.Boards[0].Missed) != 1 || len(r.Boards[0].Missed[0]) != 3 || r.Boards[1].Missed != nil {
		t.Fatalf("missed %v", r.Boards[0].Missed)
	}
	if _, why := g.n.session("mallory").review(t, ask); !strings.Contains(why, "NOT_IN_MATCH") {
		t.Fatalf("a stranger gets %q", why)
	}
	for request, want := range map[string]string{
		`{}`: `{"reason":"MISSING_FIELD","args":{"field":"match_id"}}`, `{"match_id":"?"}`: "UNKNOWN_MATCH",
		`{"match_id":"00000000-0000-4000-8000-00000000ffff.node1"}`: "UNKNOWN_MATCH", `{"match_id":5}`: "WRONG_TYPE",
		`{"match_id":"x","missed":1}`: "WRONG_TYPE", `{"match_id":"x","who":1}`: "UNKNOWN_FIELD",
	} {
		if _, why := ann.review(t, request); !strings.Contains(why, want) {
			t.Errorf("%s: %s, want %s", request, why, want)
		}
	}
	g.pass(2 * time.Minute)
	g.m.loop()
	eventually(t, func() bool { _, why := ann.review(t, ask); return strings.Contains(why, "UNKNOWN_MATCH") })
}

// A record that cannot be read is the server's fault, and said so.
func TestMatchReviewFails(t *testing.T) {
	g := endedGame(newFake(t), "", "ann", "bob")
	g.m.table().box.keepReview([]byte("?"), g.m.table().seats.names())
	if _, why := g.players[0].review(t, `{"match_id":"`+g.m.id+`"}`); why != internalError || !g.n.logger.has("cannot look back") {
		t.Fatalf("answered %q", why)
	}
}

// However many have watched before, a player may review the match, also one who came last. The bound is for spectators.
func TestReviewRemembersPlayers(t *testing.T) {
	n := newFake(t, "SET3D_EMPTY_TABLE_MS=600000")
	ann := n.session("ann")
	m := ann.create(`{"seats":2}`)
	for i := range metMax + 1 {
		u := n.session(fmt.Sprint("visitor", i))
		u.join(m)
		m.leave(u)
	}
	ann.join(m)
	bob := n.session("bob")
	bob.join(m)
	ask := `{"match_id":"` + m.id + `"}`
	if _, why := bob.review(t, ask); !strings.Contains(why, "NOT_ENDED") {
		t.Fatalf("while the match runs bob gets %q", why)
	}
	bob.send(m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	for i, name := range []string{"ann", "bob", "visitor0", fmt.Sprint("visitor", metMax)} {
		if _, why := n.session(name).review(t, ask); (why == "") != (i < 3) {
			t.Errorf("%s gets %q", name, why)
		}
	}
}
