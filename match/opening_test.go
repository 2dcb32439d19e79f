package match

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

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
