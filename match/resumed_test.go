package match

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

const quickCheckpoints = "SET3D_CHECKPOINT_MS=10"

// crash lets the process of a game die and another one begin, on what is stored.
func (g *game) crash(settings ...string) (*fakeNakama, string) {
	g.n.t.Helper()
	g.n.waitStored()
	return g.n.another(append(settings, quickCheckpoints)...), g.m.table().setup.TableID
}

// comeBack lets users resume a table and join it, and throws away what they are told.
func (n *fakeNakama) comeBack(id string, names ...string) *game {
	n.t.Helper()
	g := &game{n: n}
	for _, name := range names {
		u := n.session(name)
		matchID, err := u.resume(id)
		if err != nil {
			n.t.Fatalf("%s cannot resume: %v", name, err)
		}
		g.m = n.match(matchID)
		if reason := u.join(g.m); reason != "" {
			n.t.Fatalf("%s cannot join: %s", name, reason)
		}
		g.players = append(g.players, u)
	}
	return g
}

func quickGame(t *testing.T, request string, names ...string) *game {
	t.Helper()
	return startGame(newFake(t, quickCheckpoints), request, names...)
}

// Twenty calls at once make one match.
func TestManyResumeAtOnce(t *testing.T) {
	g := quickGame(t, deckRequest(""), "ann", "bob")
	n, id := g.crash()
	var all sync.WaitGroup
	ids := make([]string, 20)
	for i := range ids {
		u := n.session([]string{"ann", "bob"}[i%2])
		all.Go(func() {
			matchID, err := u.resume(id)
			if err != nil {
				t.Errorf("call %d: %v", i, err)
			}
			ids[i] = matchID
		})
	}
	all.Wait()
	for _, matchID := range ids {
		if matchID != ids[0] {
			t.Fatalf("sent to %v", ids)
		}
	}
	if m := n.match(ids[0]); n.made != 101 || m.table().standing.incarnation != 1 {
		t.Fatalf("%d matches were made", n.made-100)
	}
}

// Bots play on, at their levels.
func TestBotsAfterResuming(t *testing.T) {
	g := quickGame(t, `{"seats":2,"bots":["hard"]}`, "ann")
	g.pass(20 * time.Second)
	before := g.score(1)
	n, id := g.crash()
	next := n.comeBack(id, "ann")
	if w := one[*wire.Welcome](t, next.players[0].news()); w.Roster.Seats[1].BotLevel != wire.BotLevel_BOT_LEVEL_HARD || !w.Roster.Seats[1].Connected || w.Roster.Seats[1].DisplayName != "hard bot" {
		t.Fatalf("roster %v", w.Roster)
	}
	for range 20 { // a hard board takes it a while
		if next.pass(20 * time.Second); next.score(1) > before {
			return
		}
	}
	t.Fatalf("the bot had %d and has %d", before, next.score(1))
}

// A claim that was held when the match was interrupted is judged once, when its player sends it again, or before.
func TestHeldClaimAfterResuming(t *testing.T) {
	for _, suspended := range []bool{false, true} {
		g := quickGame(t, deckRequest(""), "ann", "bob")
		g.players[1].claim(g.m, 1, setSA)
		g.n.waitStored()
		g.pass(100 * time.Millisecond)
		g.players[0].claim(g.m, 2, "0010 0011 0012")
		if suspended {
			g.m.terminate(0)
			g.m.loop()
		}
		n, id := g.crash()
		next := n.comeBack(id, "ann", "bob")
		ann := next.players[0]
		next.pass(2 * time.Second)
		ann.claim(next.m, 2, "0010 0011 0012")
		verdicts, answers := 0, 0
		for _, f := range ann.news() {
			switch m := decode(t, f).(type) {
			case *wire.Update:
				for _, e := range m.Events {
					if e.GetSetClaimed().GetClaimId() == 2 {
						verdicts++
					}
				}
			case *wire.ClaimResult:
				answers++
			}
		}
		if next.score(0) != 1 || next.score(1) != 1 || verdicts > 1 || verdicts+answers == 0 {
			t.Errorf("suspended %t: scores %d : %d, %d verdicts, %d answers", suspended, next.score(0), next.score(1), verdicts, answers)
		}
	}
}

// Who has forfeited watches, and finds no seat.
func TestForfeitedAfterResuming(t *testing.T) {
	g := quickGame(t, deckRequest(`,"seats":3`), "ann", "bob", "cid")
	g.players[1].send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	n, id := g.crash()
	if mine := n.session("bob").mine(t); len(mine) != 0 {
		t.Fatalf("bob finds %+v", mine)
	}
	next := n.comeBack(id, "ann", "bob")
	w := one[*wire.Welcome](t, next.players[1].news())
	if w.Role != wire.Role_ROLE_SPECTATOR || !w.Roster.Seats[1].Forfeited || w.Roster.Seats[0].Forfeited || w.Roster.Seats[2].HeldUntilMs == nil {
		t.Fatalf("bob is told %v", w)
	}
}

// Where the rules hold no seats, players have a moment to come back, and who has not by then has left.
func TestNoHoldAfterResuming(t *testing.T) {
	g := quickGame(t, deckRequest(`,"seats":3,"rules":{"drop_hold_ms":0}`), "ann", "bob", "cid")
	n, id := g.crash("SET3D_RESERVATION_MS=15000")
	next := n.comeBack(id, "ann", "bob")
	next.pass(14 * time.Second)
	for i := range 3 {
		if next.m.table().forfeited(i) {
			t.Fatalf("seat %d is forfeited at once", i)
		}
	}
	next.pass(2 * time.Second)
	next.pass(time.Millisecond) // a hold of 0 ends with the millisecond
	if next.m.table().forfeited(0) || next.m.table().forfeited(1) || !next.m.table().forfeited(2) {
		t.Fatal("only cid has not come back")
	}
	next.m.leave(next.players[1])
	next.pass(time.Millisecond)
	if !next.m.table().forfeited(1) {
		t.Fatal("the rules hold no seats")
	}
}

// The match's clock stands still while nobody plays, and a board animation goes on where it was.
func TestTimeAfterResuming(t *testing.T) {
	g := quickGame(t, `{"preset":"timed","seats":2,"test_deck":"`+boardMAX+boardRest+`"}`, "ann", "bob")
	g.pass(10 * time.Second)
	g.players[0].claim(g.m, 1, setSA)
	before := one[*wire.Update](t, g.players[1].news())
	if before.Snapshot.State != wire.BoardState_BOARD_STATE_VALID_SET_ANIM {
		t.Fatalf("the board is %v", before.Snapshot.State)
	}
	n, id := g.crash()
	n.clock.at += time.Hour
	next := n.comeBack(id, "ann", "bob")
	w := one[*wire.Welcome](t, next.players[0].news())
	if w.Stamp.ServerTimeMs != before.Stamp.ServerTimeMs || w.Snapshot.State != before.Snapshot.State || w.Snapshot.GetAnimation().GetEndMs() != before.Snapshot.GetAnimation().GetEndMs() {
		t.Fatalf("welcome %v\nafter   %v", w, before)
	}
	next.read()
	next.pass(950 * time.Millisecond)
	next.players[0].claim(next.m, 2, "0010 0011 0012")
	if v := verdict(t, next.players[0].news()); !v.Valid {
		t.Fatal(v)
	}
	next.pass(3 * time.Minute)
	if end := ended(t, next.players[0].news()); end == nil || end.Reason != wire.EndReason_END_REASON_TIME_UP {
		t.Fatalf("end %v", end)
	}
	if at := next.m.table().session.NowMs(); at < 180_000 || at > 360_000 {
		t.Fatalf("the time was up at %d", at)
	}
}

// A private table keeps its code.
func TestCodeAfterResuming(t *testing.T) {
	fresh := newFake(t, quickCheckpoints)
	host, guest := fresh.session("ann"), fresh.session("bob")
	g := &game{n: fresh, m: host.create(`{"private":true,"seats":2}`), players: []*fakeUser{host, guest}}
	host.join(g.m)
	code := host.mine(t)[0].Code
	if allow, reason := g.m.attemptWith(guest, map[string]string{"code": code}); !allow {
		t.Fatal(reason)
	}
	g.m.join(guest)
	n, id := g.crash()
	if mine := n.session("bob").mine(t); len(mine) != 1 || mine[0].Code != code || !mine[0].Private {
		t.Fatalf("bob finds %+v", mine)
	}
	next := n.comeBack(id, "ann")
	if mine := next.players[0].mine(t); len(mine) != 1 || mine[0].Code != code || code == "" {
		t.Fatalf("ann finds %+v", mine)
	}
	if b := n.module.tables.byCode(code); b == nil || b.id != next.m.id {
		t.Fatal("the code leads elsewhere")
	}
}

// A match that cannot be made leaves its table as it was: it can be resumed later.
func TestResumingFails(t *testing.T) {
	g := quickGame(t, deckRequest(""), "ann", "bob")
	g.players[0].claim(g.m, 1, setSA)
	n, id := g.crash()
	ann := n.session("ann")
	for range 2 {
		n.mu.Lock()
		n.createError = errors.New("no more matches")
		n.mu.Unlock()
		if _, err := ann.resume(id); err == nil || !strings.Contains(err.Error(), "INTERNAL") {
			t.Fatalf("resumed: %v", err)
		}
		n.waitStored()
		n.mu.Lock()
		n.createError = nil
		n.mu.Unlock()
		if mine := ann.mine(t); len(mine) != 1 || mine[0].Score != 1 {
			t.Fatalf("ann finds %+v", mine)
		}
	}
	population := n.module.tables.population()
	next := n.comeBack(id, "ann")
	if w := one[*wire.Welcome](t, next.players[0].news()); w.Stamp.Incarnation != 3 || w.Snapshot.Scores[0] != 1 || population != 0 {
		t.Fatalf("welcome %v, %d entries were left", w, population)
	}
}

// The database is gone while somebody resumes: an error, and later it works.
func TestResumingWithoutADatabase(t *testing.T) {
	g := quickGame(t, deckRequest(""), "ann", "bob")
	n, id := g.crash()
	ann := n.session("ann")
	for _, bad := range []string{"read", "write"} {
		n.storage.setFault(func(op string) error {
			if op == bad {
				return errNoDatabase
			}
			return nil
		})
		if _, err := ann.resume(id); err == nil || !strings.Contains(err.Error(), "STORAGE_UNAVAILABLE") {
			t.Fatalf("without %s: %v", bad, err)
		}
	}
	n.storage.setFault(nil)
	n.comeBack(id, "ann", "bob")
}
