package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
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

// A table that cannot be made does not lose those who wait for it: the next of them makes one.
func TestFailedOpeningLosesNobody(t *testing.T) {
	for round := range 50 {
		n := newFake(t)
		n.createFault = func(made int) error {
			time.Sleep(100 * time.Microsecond) // others come meanwhile, and wait
			if made%2 == 1 {
				return errors.New("no room")
			}
			return nil
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		failed, seated := 0, map[string]int{}
		for i := range 20 {
			u := n.session(fmt.Sprint("u", i))
			all.Go(func() {
				found, err := u.quick(`{"seats":4}`)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed++
				} else {
					seated[found.MatchID]++
				}
			})
		}
		all.Wait()
		sum := 0
		for id, users := range seated {
			if sum += users; users > 4 {
				t.Fatalf("%d users at %s", users, id)
			}
		}
		if failed != (n.made+1)/2 || sum != 20-failed || len(seated) != (sum+3)/4 {
			t.Fatalf("round %d: %d calls failed, %d matches were tried, %d users sit at %d tables", round, failed, n.made, sum, len(seated))
		}
		if left := len(tablesOf(n).openings); left != 0 {
			t.Fatalf("%d openings are left", left)
		}
	}
}

// tablesOf is the registry of the module.
func tablesOf(n *fakeNakama) *registry { return n.module.tables }

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

// Who blocked whom does not matter: the two are not seated together. Others are.
func TestBlockedAreApart(t *testing.T) {
	for round := range 100 {
		n := newFake(t)
		ann, bob := n.session("ann"), n.session("bob")
		n.blocked[[]string{ann.userID, bob.userID}[round%2]] = []string{[]string{bob.userID, ann.userID}[round%2]}
		var a, b quickResponse
		if round%4 < 2 {
			a, b = mustQuick(t, ann, `{"seats":3}`), mustQuick(t, bob, `{"seats":3}`)
		} else {
			var all sync.WaitGroup
			all.Go(func() { a = mustQuick(t, ann, `{"seats":3}`) })
			all.Go(func() { b = mustQuick(t, bob, `{"seats":3}`) })
			all.Wait()
		}
		if a.MatchID == b.MatchID {
			t.Fatalf("round %d: seated together", round)
		}
		if c := mustQuick(t, n.session("eve"), `{"seats":3}`); c.Created {
			t.Fatalf("eve %+v", c)
		}
	}
}

// Whoever sat down without quick_match has a block list too.
func TestBlockListOfOneWhoJoined(t *testing.T) {
	n := newFake(t)
	ann, bob := n.session("ann"), n.session("bob")
	n.blocked[ann.userID] = []string{bob.userID}
	m := ann.create(`{}`)
	ann.join(m)
	if found := mustQuick(t, bob, `{}`); found.MatchID == m.id {
		t.Fatal("bob is sent to ann, who has blocked him")
	}
	n.friendsError = errors.New("the database is away")
	n.clock.next(n.clock.now() + blocksFor)
	if found := mustQuick(t, bob, `{}`); found.MatchID == "" {
		t.Fatal("no table without block lists")
	}
}

// A table that is being made is shown to nobody, its seats can be promised all the same, and the promises count from when it is
// there.
func TestSlowOpening(t *testing.T) {
	n := newFake(t, "SET3D_RESERVATION_MS=5000")
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	waiting := make(chan quickResponse)
	n.afterInit = func() {
		n.afterInit = nil
		if listed := tablesOf(n).listed(); len(listed) != 0 {
			t.Error("listed before it is there")
		}
		for code := range tablesOf(n).codes {
			if _, err := eve.resolve(t, code); reasonOf(err) != "UNKNOWN_CODE" {
				t.Errorf("its code is answered %v", err)
			}
		}
		go func() { found, _ := bob.quick(`{}`); waiting <- found }()
		for len(tablesOf(n).neighbours(tableKind{"classic", 2}, n.clock.now())) != 2 {
			time.Sleep(time.Millisecond)
		}
		n.clock.next(n.clock.now() + 4*time.Second)
	}
	first := mustQuick(t, ann, `{}`)
	if second := <-waiting; second.MatchID != first.MatchID || second.Created {
		t.Fatalf("bob %+v", second)
	}
	n.clock.next(n.clock.now() + 4*time.Second)
	for _, u := range []*fakeUser{ann, bob} {
		if mine := u.mine(t); len(mine) != 1 {
			t.Fatalf("%s was promised a seat for five seconds and has %+v after four", u.username, mine)
		}
	}
}

// Strangers may come to a table as soon as Nakama knows it, before whoever made it does. Promises made before that are kept,
// and seats that are gone are not promised.
func TestStrangersAreEarly(t *testing.T) {
	n := newFake(t)
	ann, bob := n.session("ann"), n.session("bob")
	waiting := make(chan quickResponse)
	n.afterInit = func() {
		n.afterInit = nil
		box, now := tablesOf(n).openings[0].box, n.clock.now()
		if !box.ledger.reserve("user-eve", now+time.Minute, now) || box.ledger.reserve("user-dan", now+time.Minute, now) {
			t.Error("a table of two with one promise has not one seat for strangers")
		}
		found, err := bob.quick(`{}`)
		if err != nil {
			t.Error(err)
		}
		go func() { waiting <- found }()
	}
	first := mustQuick(t, ann, `{}`)
	if second := <-waiting; second.MatchID == first.MatchID || !second.Created {
		t.Fatalf("bob is promised a seat that is gone: %+v", second)
	}
	if reason := ann.join(n.match(first.MatchID)); reason != "" || n.match(first.MatchID).table().seatOf(ann.userID) == spectatorSeat {
		t.Fatalf("ann was promised a seat and watches, or hears %q", reason)
	}
}

// Who sits in a lobby, or has a promise there, is sent there again, although an older table has room.
func TestQuickMatchLeadsBack(t *testing.T) {
	n := newFake(t, "SET3D_RESERVATION_MS=5000")
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	older := mustQuick(t, ann, `{}`)
	mustQuick(t, bob, `{}`)
	mine := mustQuick(t, eve, `{}`)
	eve.join(n.match(mine.MatchID))
	n.match(older.MatchID).pass(6 * time.Second)
	if again := mustQuick(t, eve, `{}`); again.MatchID != mine.MatchID {
		t.Fatal("eve is sent away from the table where she sits")
	}
}

// Nothing of hundreds of tables stays in the registry, however they were made and left.
func TestNothingStays(t *testing.T) {
	n := newFake(t, "SET3D_EMPTY_TABLE_MS=1000", "SET3D_AFTER_END_MS=0", "SET3D_RESERVATION_MS=1000")
	n.createFault = func(made int) error {
		if made%7 == 0 {
			return errors.New("no room")
		}
		return nil
	}
	for i := range 100 {
		ann, bob := n.session(fmt.Sprint("a", i)), n.session(fmt.Sprint("b", i))
		_, _ = ann.rpc("create_match", `{"private":true}`)
		_, _ = ann.rpc("create_match", `{}`)
		_, _ = ann.quick(`{}`)
		if found, err := bob.quick(`{"seats":3}`); err == nil {
			bob.join(n.match(found.MatchID))
			n.match(found.MatchID).leave(bob)
		}
		_, _ = n.matched([]runtime.MatchmakerEntry{fakeEntry{user: ann}, fakeEntry{user: bob}})
	}
	n.clock.next(n.clock.now() + time.Minute)
	for range 2 {
		for _, m := range n.all() {
			m.loop()
		}
	}
	eventually(t, func() bool { return tablesOf(n).population() == 0 })
}

// all are the matches that run.
func (n *fakeNakama) all() []*fakeMatch {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Values(n.matches))
}
