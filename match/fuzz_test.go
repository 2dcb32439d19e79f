package match

import (
	"encoding/json"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// FuzzHandler lets one hostile player and one hostile stranger do anything in any order, beside an honest player. Nothing
// panics, every claim id is answered, the table can always be shown, and the honest player can go on.
func FuzzHandler(f *testing.F) {
	f.Add([]byte("\x01\x00\x01\x02\x03\x04\x05"))
	f.Add(append([]byte{0, 1, 12}, marshal(f, claimOf(9, setSA))...))
	f.Add([]byte{0, 6, 0, 8, 5, 5, 5, 3, 9, 0, 200, 7, 4, 0, 6, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 2_000 {
			return
		}
		n := newFake(t, "SET3D_RATE_PER_SECOND=1000", "SET3D_RATE_BURST=1000")
		g := startGame(n, `{"seats":2,"test_deck":"`+boardMAX+boardRest+`","rules":{"drop_hold_ms":0}}`, "ann", "mallory")
		h := &hostility{g: g, mallory: g.players[1], eve: n.session("eve"), script: script}
		for len(h.script) > 0 {
			h.step()
		}
		if n.counter("set3d_panics_total") != 0 {
			t.Fatalf("panics:\n%v", n.logger.lines)
		}
		if !json.Valid([]byte(g.m.table().String())) {
			t.Fatal("the console's view is no JSON")
		}
		g.pass(3 * time.Second)
		g.read()
		if g.m.table().closing {
			return // the match had ended, and the table has been kept long enough
		}
		g.players[0].send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{ClientTimeMs: 1})
		one[*wire.Pong](t, g.players[0].news())
	})
}

// hostility reads a script: what to do, then what it needs.
type hostility struct {
	g            *game
	mallory, eve *fakeUser
	script       []byte
}

func (h *hostility) next() byte {
	if len(h.script) == 0 {
		return 0
	}
	b := h.script[0]
	h.script = h.script[1:]
	return b
}

func (h *hostility) bytes() []byte {
	n := min(int(h.next()), len(h.script))
	b := h.script[:n]
	h.script = h.script[n:]
	return b
}

func (h *hostility) step() {
	m := h.g.m
	switch h.next() % 9 {
	case 0:
		h.mallory.sendRaw(m, int64(int8(h.next())), h.bytes())
	case 1:
		h.eve.sendRaw(m, int64(h.next()), h.bytes())
	case 2:
		h.eve.join(m)
	case 3:
		m.leave(h.eve)
	case 4:
		m.leave(h.mallory)
	case 5:
		h.mallory.join(m)
	case 6:
		h.g.pass(time.Duration(h.next()) * 10 * time.Millisecond)
	case 7:
		m.signal(string(h.bytes()))
	case 8:
		m.queue(h.mallory, int64(h.next()), h.bytes())
		m.loop()
	}
}

// FuzzRequest reads any text as a request: an answer or an error with a reason, never a panic.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{`{"seats":2}`, `{"rules":{"penalty_mode":"time"}}`, `{"request_id":"\u0000"}`, "{", "[[[[", `{"a":{"b":[1,{"c":null}]}}`} {
		f.Add(seed)
	}
	n := newFake(f, "SET3D_MAX_TABLES_PER_USER=1")
	ann := n.session("ann")
	f.Fuzz(func(t *testing.T, payload string) {
		n.clock.next(n.clock.now() + time.Minute) // nobody calls too often
		for _, id := range sortedKeys(n.rpcs) {
			answer, err := ann.rpc(id, payload)
			if err != nil {
				var reason struct {
					Reason string
				}
				if json.Unmarshal([]byte(err.Error()), &reason) != nil || reason.Reason == "" || reason.Reason == "INTERNAL" {
					t.Fatalf("%s %q: %v", id, payload, err)
				}
			} else if !json.Valid([]byte(answer)) {
				t.Fatalf("%s %q answered %q", id, payload, answer)
			}
		}
	})
}
