package match

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// lobbyWalk does anything that users may do to a lobby, in random order; the seed replays it.
type lobbyWalk struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand
	n      *fakeNakama
	m      *fakeMatch
	here   []*fakeUser
	until  map[string]time.Duration // promises that were made
}

func (w *lobbyWalk) fatal(format string, v ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d: %s", w.seed, fmt.Sprintf(format, v...))
}

func (w *lobbyWalk) name() string { return string(rune('a' + w.random.IntN(7))) }

func (w *lobbyWalk) step() {
	switch w.random.IntN(9) {
	case 0, 1:
		w.join(w.name())
	case 2:
		if i := w.random.IntN(len(w.here) + 1); i < len(w.here) {
			u := w.here[i]
			w.here = append(w.here[:i:i], w.here[i+1:]...)
			w.m.leave(u)
		}
	case 3:
		user := "user-" + w.name()
		_, sits := w.m.table().seats.of(user)
		_, promised := w.until[user] // once: nothing prolongs it
		if until := w.n.clock.now() + 2*time.Second; w.m.table().box.reserveSeat(user, until) && !sits && !promised {
			w.until[user] = until
		}
		w.m.settle()
	case 4:
		w.m.pass(time.Duration(w.random.IntN(1500)) * time.Millisecond)
	default:
		w.send()
	}
}

func (w *lobbyWalk) join(name string) {
	u := w.n.session(name)
	inTime := w.n.clock.now() < w.until[u.userID]
	if u.join(w.m) != "" {
		return
	}
	w.here = append(w.here, u)
	delete(w.until, u.userID) // kept; who leaves again has none
	if tb := w.m.table(); inTime && !tb.standing.started && !tb.box.ledger.bars(u.userID) {
		if _, sits := tb.seats.of(u.userID); !sits {
			w.fatal("%s was promised a seat, and has none", name)
		}
	}
}

func (w *lobbyWalk) send() {
	if len(w.here) == 0 {
		return
	}
	u := w.here[w.random.IntN(len(w.here))]
	seat := seatNumber(uint32(w.random.IntN(6)))
	if w.random.IntN(3) == 0 {
		seat = nil
	}
	messages := []struct {
		op wire.OpCode
		m  stampedMessage
	}{
		{wire.OpCode_OP_CODE_SET_READY, &wire.SetReady{Ready: w.random.IntN(8) > 0}},
		{wire.OpCode_OP_CODE_TAKE_SEAT, &wire.TakeSeat{Seat: seat}},
		{wire.OpCode_OP_CODE_ADD_BOT, &wire.AddBot{Level: wire.BotLevel(w.random.IntN(5)), Seat: seat}},
		{wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: uint32(w.random.IntN(6))}},
		{wire.OpCode_OP_CODE_EMOTE, &wire.ShowEmote{Emote: wire.EmoteKind(w.random.IntN(10))}},
	}
	message := messages[w.random.IntN(len(messages))]
	u.send(w.m, message.op, message.m)
}

// check is what holds after every step.
func (w *lobbyWalk) check() {
	tb := w.m.table()
	if tb.closing || w.n.counter("set3d_panics_total") != 0 {
		w.fatal("closing %t, %d panics: %v", tb.closing, w.n.counter("set3d_panics_total"), w.n.logger.lines)
	}
	seen := map[string]bool{}
	for i := range tb.seats.count {
		s, p := &tb.seats.seat[i], tb.box.ledger.places[i]
		switch {
		case s.userID != "" && seen[s.userID]:
			w.fatal("%s sits twice", s.userID)
		case tb.standing.started && !s.isTaken():
			w.fatal("an empty seat %d plays", i)
		case !tb.standing.started && (s.isTaken() != p.taken || s.isTaken() && s.userID != p.userID):
			w.fatal("seat %d is %+v, the ledger says %+v", i, s, p)
		case !tb.standing.started && s.userID != "" && s.visitor == nil:
			w.fatal("seat %d belongs to somebody who is not here", i)
		}
		seen[s.userID] = true
	}
	if tb.lobby.endsAt != 0 && !tb.standing.started && (tb.seats.taken() < 2 || tb.seats.humans() == 0) {
		w.fatal("counts down for %d", tb.seats.taken())
	}
	// Everybody was told the seat that is theirs.
	for _, v := range tb.visitors {
		u := w.n.users[v.sessionID]
		told := spectatorSeat
		for _, welcome := range only[*wire.Welcome](w.t, u.frames) {
			if told = spectatorSeat; welcome.Seat != nil {
				told = int(*welcome.Seat)
			}
		}
		if seat := tb.seatOf(v.userID); told != seat {
			w.fatal("%s sits on %d and was told %d", v.username, seat, told)
		}
	}
}

// Whatever users do to a lobby: seats and ledger agree, promises are kept, everybody knows where he sits, and it starts at some time or
// waits for people.
func TestLobbyWalks(t *testing.T) {
	started := 0
	for seed := range uint64(200) {
		n := newFake(t, "SET3D_EMPTY_TABLE_MS=3600000", "SET3D_RATE_PER_SECOND=1000", "SET3D_RATE_BURST=1000", "SET3D_COUNTDOWN_MS=1000")
		w := &lobbyWalk{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), n: n, until: map[string]time.Duration{}}
		request := `{"start":"ready","seats":5}`
		if seed%3 == 0 {
			request = `{"start":"ready","seats":5,"bots":["easy"],"fill_with_bots_after_ms":4000}`
		}
		w.m = n.session("host").create(request)
		for range 60 {
			w.step()
			w.check()
		}
		if w.m.table().standing.started {
			started++
		}
	}
	if started < 10 {
		t.Errorf("only %d of 200 lobbies started", started)
	}
}
