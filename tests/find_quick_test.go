package tests

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// quickFor asks for a quick match over HTTP.
func quickFor(t *testing.T, on *server, user *client.User, request client.QuickMatch) client.QuickMatched {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	found, err := on.client().QuickMatch(ctx, user, request)
	if err != nil {
		t.Errorf("quick_match: %v", err)
	}
	return found
}

// TestFindScenario30: fifty users ask at once for tables of four. Thirteen tables are enough, and everybody gets the seat that was promised.
func TestFindScenario30(t *testing.T) {
	on := shared(t)
	const users = 50
	peers, found := make([]*peer, users), make([]client.QuickMatched, users)
	for i := range peers {
		peers[i] = connect(t, on, []client.Format{asJSON, asProtobuf}[i%2])
	}
	var all sync.WaitGroup
	for i, p := range peers {
		all.Go(func() { found[i] = quickFor(t, on, p.user, client.QuickMatch{Preset: "tournament", Seats: 4}) })
	}
	all.Wait()
	at, created := map[string]int{}, 0
	for _, f := range found {
		if at[f.MatchID]++; f.Created {
			created++
		}
	}
	if before := len(at) - created; before > 1 || before == 0 && created != 13 || created > 13 {
		t.Fatalf("%d tables for %d users, %d of them made for them", len(at), users, created)
	}
	for id, n := range at {
		if n > 4 {
			t.Errorf("%d users are sent to %s", n, id)
		}
	}
	for i, p := range peers {
		all.Go(func() {
			if w := p.join(found[i].MatchID, nil); w.GetRole() != wire.Role_ROLE_PLAYER {
				t.Errorf("user %d was promised a seat and is %v", i, w.GetRole())
			}
		})
	}
	all.Wait()
	for i, p := range peers {
		if at[found[i].MatchID] == 4 {
			first(p, "the start", func(u *wire.Update) bool { return u.GetEvents()[0].GetMatchStarted() != nil })
		}
		p.forfeit()
	}
}

// TestFindQuickOnce: one request that comes twice is one seat, and who has a seat is not given another.
func TestFindQuickOnce(t *testing.T) {
	on := shared(t)
	user := signIn(t, on)
	request := client.QuickMatch{Preset: "timed", Seats: 7, RequestID: "again"}
	one := quickFor(t, on, user, request)
	two, three := quickFor(t, on, user, request), quickFor(t, on, user, client.QuickMatch{Preset: "timed", Seats: 7})
	if one.MatchID != two.MatchID || one.Created != two.Created || three.MatchID != one.MatchID || three.Created || one.ReservedMs <= 0 || one.Code == "" {
		t.Errorf("answers %+v, %+v, %+v", one, two, three)
	}
	for _, bad := range []client.QuickMatch{{Seats: 9}, {Preset: "practice"}, {Preset: "timed", Seats: 3, RequestID: "again"}} {
		if _, err := on.client().QuickMatch(t.Context(), user, bad); client.ReasonOf(err) == "" {
			t.Errorf("%+v is answered %v", bad, err)
		}
	}
}

// TestFindQuickPromisesOnce: a user who asks again and again without joining keeps no seat from others. The player who
// waits gets an opponent.
func TestFindQuickPromisesOnce(t *testing.T) {
	on := serverWith(t, func(l limits) bool { return l.ReservationMs <= 3_000 }, "SET3D_RESERVATION_MS=2000")
	waits, honest, away := connect(t, on, asJSON), connect(t, on, asProtobuf), signIn(t, on)
	request := client.QuickMatch{Preset: "fast", Seats: 2}
	there := quickFor(t, on, waits.user, request)
	if w := waits.join(there.MatchID, nil); w.GetRole() != wire.Role_ROLE_PLAYER {
		t.Fatalf("WELCOME {%v}", w)
	}
	left, begun := int64(on.limits.ReservationMs)+1, time.Now()
	for left > 0 {
		found := quickFor(t, on, away, request)
		if found.MatchID != there.MatchID || found.ReservedMs >= left {
			t.Fatalf("%v after the first call: %+v, after %d ms were left", time.Since(begun), found, left)
		}
		left = found.ReservedMs
		time.Sleep(100 * time.Millisecond)
	}
	if took := time.Since(begun); took > time.Duration(on.limits.ReservationMs)*time.Millisecond+time.Second {
		t.Errorf("the promise stood for %v", took)
	}
	found := quickFor(t, on, honest.user, request)
	if found.MatchID != there.MatchID || found.ReservedMs <= 0 {
		t.Fatalf("the third player gets %+v", found)
	}
	if w := honest.join(there.MatchID, nil); w.GetRole() != wire.Role_ROLE_PLAYER {
		t.Errorf("the third player's WELCOME is {%v}", w)
	}
	for _, p := range []*peer{waits, honest} {
		first(p, "the start", func(u *wire.Update) bool { return u.GetEvents()[0].GetMatchStarted() != nil })
		p.forfeit()
	}
}

// TestFindBlocked: who blocked the other does not matter, the two do not meet; a third one is seated with one of them.
func TestFindBlocked(t *testing.T) {
	on := shared(t)
	for _, blocker := range []int{0, 1} {
		users := []*client.User{signIn(t, on), signIn(t, on), signIn(t, on)}
		path := "/v2/friend/block?ids=" + users[1-blocker].ID
		if status, body := ask(t, on, http.MethodPost, path, "", bearer(users[blocker])); status != http.StatusOK {
			t.Fatalf("block: %d %s", status, body)
		}
		request := client.QuickMatch{Preset: "timed", Seats: 6}
		a, b := quickFor(t, on, users[0], request), quickFor(t, on, users[1], request)
		if a.MatchID == b.MatchID {
			t.Errorf("user %d has blocked the other, and both are sent to one table", blocker)
		}
		if c := quickFor(t, on, users[2], request); c.Created {
			t.Error("a third one gets a table alone")
		}
	}
}

// TestFindTooOften: a user who calls without end is told how long to wait; another is not touched.
func TestFindTooOften(t *testing.T) {
	on := shared(t)
	user, other := signIn(t, on), signIn(t, on)
	c := on.client()
	for i := range 1_000 {
		_, err := c.MyMatches(t.Context(), user)
		if err == nil {
			continue
		}
		if client.ReasonOf(err) != "TOO_MANY_REQUESTS" || !strings.Contains(err.Error(), "retry_after_ms=") || i < 50 {
			t.Fatalf("call %d: %v", i+1, err)
		}
		if _, err := c.MyMatches(t.Context(), other); err != nil {
			t.Fatalf("another user: %v", err)
		}
		return
	}
	t.Fatal("a thousand calls were answered")
}
