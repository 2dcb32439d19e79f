package match

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func (u *fakeUser) list(t *testing.T, payload string) listResponse {
	t.Helper()
	answer, err := u.rpc("list_matches", payload)
	var list listResponse
	if err == nil {
		err = json.Unmarshal([]byte(answer), &list)
	}
	if err != nil {
		t.Fatalf("list_matches %s: %v", payload, err)
	}
	return list
}

func (l listResponse) ids() []string {
	var ids []string
	for _, m := range l.Matches {
		ids = append(ids, m.MatchID)
	}
	return ids
}

func TestListMatches(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	if answer, _ := ann.rpc("list_matches", ""); answer != `{"matches":[],"cursor":""}` {
		t.Fatalf("with no table: %s", answer)
	}
	plain := ann.create(`{}`)
	ann.create(`{"private":true}`)
	fast := ann.create(`{"preset":"fast","seats":1}`)
	custom := ann.create(`{"rules":{"drop_hold_ms":0}}`)
	ann.join(fast)
	for payload, want := range map[string][]*fakeMatch{
		`{}`: {custom, fast, plain}, `{"preset":"classic"}`: {plain}, `{"preset":"custom"}`: {custom}, `{"preset":"timed"}`: nil,
		`{"phase":"playing"}`: {fast}, `{"phase":"lobby"}`: {custom, plain}, `{"phase":"ended"}`: nil, `{"open":true}`: {custom, plain},
		`{"open":false}`: {fast}, `{"open":false,"phase":"lobby"}`: nil, `{"limit":1}`: {custom},
	} {
		var ids []string
		for _, m := range want {
			ids = append(ids, m.id)
		}
		if got := ann.list(t, payload).ids(); !slices.Equal(got, ids) {
			t.Errorf("%s lists %v, want %v", payload, got, ids)
		}
	}
	if v := ann.list(t, `{"phase":"playing"}`).Matches[0]; v.Seats != 1 || v.Taken != 1 || v.Open || v.Rules.ValidAnimMs != 0 || v.TableID == "" || v.StartMode != "full" {
		t.Errorf("listed %+v", v)
	}
	for payload, want := range map[string]string{
		`{"preset":"blitz"}`: `"UNKNOWN_PRESET"`, `{"phase":"lunch"}`: `"OUT_OF_RANGE"`, `{"open":"T"}`: `"WRONG_TYPE"`, `{"limit":0}`: `"OUT_OF_RANGE"`,
		`{"limit":101}`: `"OUT_OF_RANGE"`, `{"cursor":"x"}`: `"field":"cursor"`, `{"cursor":"-1"}`: `"field":"cursor"`, `{"query":"*"}`: `"UNKNOWN_FIELD"`,
	} {
		answer, err := ann.rpc("list_matches", payload)
		wantError(t, answer, err, want, 3)
	}
}

// Pages show each table once, though tables come and go between them.
func TestListPages(t *testing.T) {
	n := newFake(t, "SET3D_MAX_TABLES_PER_USER=1000")
	ann := n.session("ann")
	tables := map[string]bool{}
	for range 45 {
		tables[ann.create(`{}`).id] = true
	}
	seen, cursor := map[string]int{}, ""
	for page := 0; ; page++ {
		list := ann.list(t, fmt.Sprintf(`{"limit":20,"cursor":%q}`, cursor))
		for _, id := range list.ids() {
			seen[id]++
		}
		n.match(list.ids()[0]).stop()
		ann.create(`{}`)
		if cursor = list.Cursor; cursor == "" {
			break
		}
	}
	if len(seen) != 45 {
		t.Fatalf("%d tables of 45", len(seen))
	}
	for id, times := range seen {
		if times != 1 || !tables[id] {
			t.Fatalf("%s is listed %d times", id, times)
		}
	}
}

func (u *fakeUser) mine(t *testing.T) []mineView {
	t.Helper()
	answer, err := u.rpc("my_matches", `{}`)
	var list mineResponse
	if err == nil {
		err = json.Unmarshal([]byte(answer), &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list.Matches
}

// Scenario: after the app was killed my_matches leads back to the seat, with the score and the time that is left.
func TestMyMatches(t *testing.T) {
	n := newFake(t, "SET3D_RESERVATION_MS=5000")
	g := startGame(n, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	if mine := n.session("eve").mine(t); len(mine) != 0 {
		t.Fatalf("eve has %+v", mine)
	}
	ann.claim(g.m, 1, setSA)
	g.pass(10 * time.Second)
	g.m.leave(ann)
	mine := n.session("ann").mine(t)
	wall := n.clock.clock().wall().UnixMilli()
	if len(mine) != 1 || mine[0].MatchID != g.m.id || mine[0].Phase != "playing" || *mine[0].Seat != 0 || mine[0].Score != 1 || mine[0].Connected ||
		mine[0].HeldUntilUnixMs != wall+180_000 || mine[0].TableID != g.m.table().setup.TableID || mine[0].Code == "" {
		t.Fatalf("ann has %+v", mine)
	}
	if mine := g.players[1].mine(t); len(mine) != 1 || *mine[0].Seat != 1 || !mine[0].Connected || mine[0].HeldUntilUnixMs != 0 {
		t.Fatalf("bob has %+v", mine)
	}
	quick := mustQuick(t, n.session("eve"), `{}`)
	mine = n.session("eve").mine(t)
	if len(mine) != 1 || mine[0].MatchID != quick.MatchID || mine[0].Seat != nil || mine[0].ReservedUntilUnixMs != wall+5_000 {
		t.Fatalf("eve has %+v", mine)
	}
	g.pass(181 * time.Second)
	if mine := n.session("ann").mine(t); len(mine) != 0 {
		t.Fatalf("ann, who is out for good, has %+v", mine)
	}
	if mine := g.players[1].mine(t); len(mine) != 1 || mine[0].Phase != "ended" {
		t.Fatalf("bob has %+v", mine)
	}
	if answer, _ := n.session("dan").rpc("my_matches", `{}`); answer != `{"matches":[],"complete":true}` {
		t.Fatalf("dan has %s", answer)
	}
	if mine := n.session("eve").mine(t); len(mine) != 0 {
		t.Fatalf("eve's promise is over, and she has %+v", mine)
	}
}

// A promise is worth nothing when the lobby is over.
func TestMyMatchesAfterTheLobby(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	found := mustQuick(t, ann, `{}`)
	n.match(found.MatchID).table().box.ledger.close()
	if mine := ann.mine(t); len(mine) != 0 {
		t.Fatalf("ann has %+v", mine)
	}
}

// What a table publishes of its seats is what its goroutine knows, whatever has happened.
func TestFactsFollow(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	g.players[0].claim(g.m, 1, "0000 0001 0010")
	g.m.leave(g.players[1])
	f := g.m.table().box.known()
	if f.seats[1].connected || f.seats[1].heldUntil == 0 || f.label.Phase != "playing" || !strings.Contains(g.m.label, `"phase":"playing"`) {
		t.Fatalf("facts %+v", f)
	}
}
