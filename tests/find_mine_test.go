package tests

import (
	"testing"
	"time"

	"set3d/client"
)

// TestFindMyMatches: after a drop my_matches leads back to the seat, with the score and the time that is left; after a forfeit it does not.
func TestFindMyMatches(t *testing.T) {
	on := hooked(t)
	x := open(t, on, client.CreateMatch{Rules: quick(map[string]any{"drop_hold_ms": 60_000}), TestDeck: deckOf(boardMAX)}, asJSON, asProtobuf)
	a, b := x.players[0], x.players[1]
	a.wins(setSA)
	mine := func(user *client.User) []client.MyMatch {
		t.Helper()
		found, err := on.client().MyMatches(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		if !found.Complete {
			t.Error("the list is not complete")
		}
		return found.Matches
	}
	a.hangUp()
	var found []client.MyMatch
	if !eventually(func() bool { found = mine(a.user); return len(found) == 1 && !found[0].Connected }) {
		t.Fatalf("after the drop: %+v", found)
	}
	m := found[0]
	if m.MatchID != x.made.MatchID || m.TableID != x.made.TableID || m.Phase != "playing" || m.Seat == nil || *m.Seat != 0 || m.Score != 1 {
		t.Errorf("after the drop: %+v", m)
	}
	if left := time.Until(time.UnixMilli(m.HeldUntilUnixMs)); left < 40*time.Second || left > 65*time.Second {
		t.Errorf("the seat is held for %v more", left)
	}
	if others := mine(b.user); len(others) != 1 || !others[0].Connected || others[0].HeldUntilUnixMs != 0 {
		t.Errorf("who stayed has %+v", others)
	}
	back, welcome := a.again()
	if welcome.GetSeat() != 0 || welcome.GetSnapshot().GetScores()[0] != 1 {
		t.Errorf("back with {%v}", welcome)
	}
	back.sync()
	if found := mine(a.user); len(found) != 1 || !found[0].Connected {
		t.Errorf("back: %+v", found)
	}
	back.forfeit()
	if !eventually(func() bool { return len(mine(a.user)) == 0 }) {
		t.Errorf("after forfeiting: %+v", mine(a.user))
	}
}

// TestFindMyPromise: a seat that was promised is shown before it is taken.
func TestFindMyPromise(t *testing.T) {
	on := shared(t)
	user := signIn(t, on)
	quick := quickFor(t, on, user, client.QuickMatch{Preset: "fast", Seats: 5})
	list, err := on.client().MyMatches(t.Context(), user)
	found := list.Matches
	if err != nil || len(found) != 1 || found[0].MatchID != quick.MatchID || found[0].Seat != nil || found[0].ReservedUntilUnixMs == 0 || found[0].Code != quick.Code {
		t.Errorf("%+v, %v", found, err)
	}
}
