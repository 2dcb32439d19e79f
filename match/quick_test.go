package match

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// quick asks for a quick match.
func (u *fakeUser) quick(request string) (quickResponse, error) {
	answer, err := u.rpc("quick_match", request)
	var found quickResponse
	if err == nil {
		err = json.Unmarshal([]byte(answer), &found)
	}
	return found, err
}

func mustQuick(t *testing.T, u *fakeUser, request string) quickResponse {
	t.Helper()
	found, err := u.quick(request)
	if err != nil {
		t.Fatalf("quick_match %s of %s: %v", request, u.username, err)
	}
	return found
}

// rush lets many users ask at once, and returns the answers by user.
func rush(t *testing.T, n *fakeNakama, users int, request string) ([]*fakeUser, []quickResponse) {
	t.Helper()
	players, found := make([]*fakeUser, users), make([]quickResponse, users)
	for i := range players {
		players[i] = n.session(fmt.Sprint("u", i))
	}
	var all sync.WaitGroup
	for i, u := range players {
		all.Go(func() {
			var err error
			if found[i], err = u.quick(request); err != nil {
				t.Errorf("%s: %v", u.username, err)
			}
		})
	}
	all.Wait()
	return players, found
}

// Scenario 30: fifty at once make thirteen tables of four, and nobody is refused the seat that was promised.
func TestFiftyMakeThirteenTables(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		n := newFake(t)
		players, found := rush(t, n, 50, `{"seats":4}`)
		at, created := map[string]int{}, 0
		for _, f := range found {
			if at[f.MatchID]++; f.Created {
				created++
			}
		}
		if n.made != 13 || len(at) != 13 || created != 13 {
			t.Fatalf("%d tables were made, %d are used, %d were made for somebody", n.made, len(at), created)
		}
		for i, u := range players {
			m := n.match(found[i].MatchID)
			if reason := u.join(m); reason != "" {
				t.Fatalf("%s was promised a seat and hears %s", u.username, reason)
			}
			if seat := m.table().seatOf(u.userID); seat == spectatorSeat {
				t.Fatalf("%s was promised a seat and watches", u.username)
			}
		}
		started := 0
		for matchID := range at {
			if n.match(matchID).table().standing.started {
				started++
			}
		}
		if started != 12 {
			t.Fatalf("%d matches began", started)
		}
	}
}

// A promise is over when its time is: others get the seat then, and not before.
func TestPromiseExpires(t *testing.T) {
	n := newFake(t, "SET3D_RESERVATION_MS=5000", "SET3D_EMPTY_TABLE_MS=600000")
	ann, bob, eve, dan := n.session("ann"), n.session("bob"), n.session("eve"), n.session("dan")
	first := mustQuick(t, ann, `{}`)
	if again := mustQuick(t, ann, `{}`); again.MatchID != first.MatchID || again.Created {
		t.Fatalf("who has a promise is sent elsewhere: %+v", again)
	}
	if second := mustQuick(t, bob, `{}`); second.MatchID != first.MatchID || second.Created || second.ReservedMs != 5_000 {
		t.Fatalf("bob %+v", second)
	}
	third := mustQuick(t, eve, `{}`)
	if third.MatchID == first.MatchID || !third.Created {
		t.Fatalf("eve is sent to a table whose seats are promised: %+v", third)
	}
	m := n.match(first.MatchID)
	m.pass(4900 * time.Millisecond)
	if !strings.Contains(m.label, `"open":false`) {
		t.Fatalf("label %s", m.label)
	}
	m.pass(200 * time.Millisecond)
	if !strings.Contains(m.label, `"open":true`) {
		t.Fatalf("label %s", m.label)
	}
	if late := mustQuick(t, dan, `{}`); late.MatchID != first.MatchID {
		t.Fatalf("dan %+v", late)
	}
}

// Asking again prolongs no promise: the other player does not wait for one who never comes.
func TestAskingAgainProlongsNothing(t *testing.T) {
	n := newFake(t, "SET3D_RESERVATION_MS=5000", "SET3D_EMPTY_TABLE_MS=600000")
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	first := mustQuick(t, ann, `{}`)
	m := n.match(first.MatchID)
	ann.join(m)
	if again := mustQuick(t, ann, `{}`); again.MatchID != first.MatchID || again.ReservedMs != 0 {
		t.Fatalf("who sits is promised a seat: %+v", again)
	}
	for left := int64(5_000); left > 0; left -= 1_000 {
		for _, request := range []string{`{}`, `{"request_id":"bob"}`} {
			if found := mustQuick(t, bob, request); found.MatchID != first.MatchID || found.ReservedMs != left {
				t.Fatalf("%d ms before the end of the promise the answer to %s is %+v", left, request, found)
			}
		}
		m.pass(time.Second)
	}
	for range 3 { // bob may come, if nobody else does
		for _, request := range []string{`{}`, `{"request_id":"bob"}`} {
			found := mustQuick(t, bob, request)
			if found.MatchID != first.MatchID || found.ReservedMs != 0 || found.Created {
				t.Fatalf("after the promise the answer to %s is %+v", request, found)
			}
		}
		m.pass(time.Second)
	}
	if !strings.Contains(m.label, `"open":true`) {
		t.Fatalf("label %s", m.label)
	}
	if found := mustQuick(t, eve, `{}`); found.MatchID != first.MatchID || found.ReservedMs != 5_000 {
		t.Fatalf("eve %+v", found)
	}
	if found := mustQuick(t, bob, `{}`); found.MatchID == first.MatchID || !found.Created || found.ReservedMs != 5_000 {
		t.Fatalf("bob, when the seat is eve's: %+v", found)
	}
	eve.join(m)
	if !m.table().standing.started {
		t.Fatal("ann and eve do not play")
	}
}

// Joining and leaving gives nobody a second promise, and a table where a promise can be made is better than one where
// it cannot.
func TestLeavingRenewsNothing(t *testing.T) {
	n := newFake(t, "SET3D_RESERVATION_MS=5000", "SET3D_EMPTY_TABLE_MS=600000")
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	first := mustQuick(t, ann, `{"seats":3}`)
	m := n.match(first.MatchID)
	ann.join(m)
	mustQuick(t, bob, `{"seats":3}`)
	bob.join(m)
	m.leave(bob)
	if found := mustQuick(t, bob, `{"seats":3}`); found.MatchID != first.MatchID || found.ReservedMs != 0 {
		t.Fatalf("bob, who left: %+v", found)
	}
	n.blocked[eve.userID] = []string{ann.userID}
	other := mustQuick(t, eve, `{"seats":3}`)
	if found := mustQuick(t, bob, `{"seats":3}`); found.MatchID != other.MatchID || found.ReservedMs != 5_000 {
		t.Fatalf("bob is sent to %+v, eve to %+v", found, other)
	}
	eve.join(n.match(other.MatchID))
	n.blocked[bob.userID] = []string{ann.userID, eve.userID}
	m.pass(6 * time.Second)
	if found := mustQuick(t, bob, `{"seats":3}`); found.MatchID == first.MatchID || found.MatchID == other.MatchID {
		t.Fatalf("bob is sent to those whom he has blocked: %+v", found)
	}
}

// Only tables of the same kind are for quick_match: not private ones, not those with rules or a deck of their own.
func TestQuickMatchIsParticular(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	for _, request := range []string{
		`{"private":true}`, `{"rules":{"drop_hold_ms":0}}`, `{"seed":5}`, `{"seats":3}`, `{"preset":"fast"}`, `{"test_deck":"` + boardMAX + boardRest + `"}`,
	} {
		ann.create(request)
	}
	plain := ann.create(`{"rules":{"drop_hold_ms":180000}}`)
	if found := mustQuick(t, n.session("bob"), `{}`); found.MatchID != plain.id {
		t.Fatalf("bob %+v, want the table with the preset's own rules", found)
	}
	for request, want := range map[string]string{
		`{"preset":"practice"}`: `{"reason":"UNKNOWN_PRESET","args":{"allowed":["classic","tournament","timed","fast"],"preset":"practice"}}`,
		`{"preset":"blitz"}`:    `"UNKNOWN_PRESET"`,
		`{"seats":1}`:           `{"reason":"OUT_OF_RANGE","args":{"allowed":"2 to 8","field":"seats","value":"1"}}`,
		`{"seats":9}`:           `"OUT_OF_RANGE"`,
		`{"rules":{}}`:          `"UNKNOWN_FIELD"`,
	} {
		answer, err := n.session("eve").rpc("quick_match", request)
		wantError(t, answer, err, want, 3)
	}
}

// Who has too many tables can still be seated at others'.
func TestQuickMatchCountsTables(t *testing.T) {
	n := newFake(t, "SET3D_MAX_TABLES_PER_USER=1")
	ann, bob := n.session("ann"), n.session("bob")
	ann.create(`{"private":true}`)
	answer, err := ann.rpc("quick_match", `{}`)
	wantError(t, answer, err, `{"reason":"TOO_MANY_MATCHES","args":{"limit":1}}`, 8)
	there := mustQuick(t, bob, `{}`)
	if found := mustQuick(t, ann, `{}`); found.MatchID != there.MatchID {
		t.Fatalf("ann %+v", found)
	}
}

func TestQuickMatchIsIdempotent(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	first := mustQuick(t, ann, `{"request_id":"r"}`)
	if again := mustQuick(t, ann, `{"preset":"classic","request_id":"r"}`); again != first {
		t.Fatalf("answers %+v and %+v", first, again)
	}
	for id, request := range map[string]string{"quick_match": `{"request_id":"r","seats":3}`, "create_match": `{"request_id":"r"}`} {
		answer, err := ann.rpc(id, request)
		wantError(t, answer, err, `"REQUEST_ID_REUSED"`, 3)
	}
}
