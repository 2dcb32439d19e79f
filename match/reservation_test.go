package match

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"set3d/domain"
)

func TestLedgerKeepsPromises(t *testing.T) {
	l := newLedger(2, [domain.MaxPlayers]string{1: "bob"}, 10*time.Second)
	if seat, ok := l.sit("ann", anySeat, 0); !ok || seat != 0 {
		t.Fatalf("ann sits on %d, %v", seat, ok)
	}
	if _, ok := l.sit("eve", anySeat, 9*time.Second); ok {
		t.Fatal("eve got bob's seat")
	}
	if _, ok := l.sit("eve", 1, 9*time.Second); ok {
		t.Fatal("eve took bob's seat")
	}
	if _, ok := l.seatBot(1, 9*time.Second); ok || l.reserve("eve", time.Minute, 9*time.Second) {
		t.Fatal("bob's seat was given away")
	}
	if !l.promised("bob", 9*time.Second) || l.promised("bob", 10*time.Second) || l.promised("ann", 0) {
		t.Fatal("wrong promises")
	}
	if l.lapse(9*time.Second) || !l.lapse(10*time.Second) || l.lapse(10*time.Second) {
		t.Fatal("a promise lapses once, at its time")
	}
	if seat, ok := l.sit("eve", anySeat, 10*time.Second); !ok || seat != 1 {
		t.Fatal("the seat is not free after the promise")
	}
}

func TestLedgerSits(t *testing.T) {
	l := newLedger(3, [domain.MaxPlayers]string{}, 0)
	for _, until := range []time.Duration{5 * time.Second, time.Second, time.Minute} {
		if !l.reserve("ann", until, 0) || l.free(0) != 2 {
			t.Fatal("one user, one promise")
		}
	}
	if until, ok := l.promise(0, 0); !ok || until != 5*time.Second {
		t.Fatalf("promised until %v: asking again neither prolongs nor shortens a promise", until)
	}
	if seat, _ := l.sit("ann", 2, 0); seat != 2 || l.free(0) != 2 {
		t.Fatalf("ann sits on %d, %d seats are free", seat, l.free(0))
	}
	if seat, _ := l.sit("ann", anySeat, 0); seat != 2 {
		t.Fatalf("ann moved to %d", seat)
	}
	if !l.reserve("ann", time.Minute, 0) || l.free(0) != 2 {
		t.Fatal("who sits needs no promise")
	}
	if _, ok := l.sit("bob", 3, 0); ok {
		t.Fatal("there is no seat 3")
	}
	l.bar("bob")
	if _, ok := l.sit("bob", anySeat, 0); ok || l.reserve("bob", time.Minute, 0) {
		t.Fatal("bob was removed from this table")
	}
	l.seal(true)
	if l.reserve("cid", time.Minute, 0) || l.free(0) != 0 {
		t.Fatal("promised during the countdown")
	}
	l.seal(false)
	l.close()
	if l.reserve("cid", time.Minute, 0) {
		t.Fatal("promised after the lobby")
	}
	if _, ok := l.sit("cid", anySeat, 0); ok {
		t.Fatal("seated after the lobby")
	}
}

// A user is promised a seat at a table once, whatever became of the promise, and may take a free
// seat after that.
func TestOnePromiseForEach(t *testing.T) {
	l := newLedger(2, [domain.MaxPlayers]string{"ann"}, 5*time.Second)
	if !l.reserve("bob", 5*time.Second, 0) {
		t.Fatal("no promise for bob")
	}
	if _, ok := l.sit("bob", anySeat, time.Second); !ok {
		t.Fatal("bob was promised a seat")
	}
	l.vacate(1)
	for _, user := range []string{"ann", "bob"} { // one did not come, one came and left
		if l.reserve(user, time.Minute, 6*time.Second) {
			t.Errorf("%s is promised a seat again", user)
		}
		if !l.hasRoom(user, 6*time.Second) {
			t.Errorf("there is no room for %s at an empty table", user)
		}
	}
	if !l.reserve("cid", time.Minute, 6*time.Second) || !l.reserve("dan", time.Minute, 6*time.Second) {
		t.Fatal("others are promised the seats")
	}
	if l.hasRoom("ann", 6*time.Second) || l.hasRoom("cid", 6*time.Second) {
		t.Error("there is room at a table whose seats are promised")
	}
	l.bar("eve")
	if l.hasRoom("eve", 2*time.Minute) || !l.hasRoom("ann", 2*time.Minute) {
		t.Error("there is room for a user whom the host has removed, or none after all promises")
	}
	l.seal(true)
	if l.hasRoom("ann", 2*time.Minute) {
		t.Error("there is room while a countdown runs")
	}
}

// The memory of promises is bounded. A lobby that has made too many makes no more; its seats can be taken all the same.
func TestPromisesAreBounded(t *testing.T) {
	l := newLedger(1, [domain.MaxPlayers]string{}, 0)
	now := time.Duration(0)
	for i := range 2 * promisesMax {
		user := fmt.Sprint("u", i)
		if l.reserve(user, now+time.Second, now) != (i < promisesMax) || !l.hasRoom(user, now+time.Second) {
			t.Fatalf("user %d, %d promises are remembered", i, len(l.given))
		}
		now += time.Second
	}
}

// Many want the last seats at once: as many promises are made as there are seats, and everyone who has one sits.
func TestPromisesUnderRace(t *testing.T) {
	for range 200 {
		n := newFake(t)
		m := n.session("ann").create(`{"seats":4}`)
		box := m.table().box
		var mu sync.Mutex
		var promised []string
		var wait sync.WaitGroup
		for i := range 8 {
			wait.Go(func() {
				if user := fmt.Sprint("u", i); box.reserveSeat("user-"+user, n.clock.now()+time.Minute) {
					mu.Lock()
					defer mu.Unlock()
					promised = append(promised, user)
				}
			})
		}
		wait.Go(func() { n.session("gate").join(m) })
		wait.Wait()
		m.settle()
		sits := m.table().seats.taken()
		if len(promised)+sits != 4 {
			t.Fatalf("%d promises and %d who sit at 4 seats", len(promised), sits)
		}
		for _, user := range promised {
			if reason := n.session(user).join(m); reason != "" {
				t.Fatalf("%s was promised a seat: %s", user, reason)
			}
			if _, ok := m.table().seats.of("user-" + user); !ok {
				t.Fatalf("%s was promised a seat, and watches", user)
			}
		}
	}
}
