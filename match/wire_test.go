package match

import (
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatalf("marshal %T: %v", m, err)
	}
	return data
}

// decode reads a frame by its op code.
func decode(t testing.TB, f frame) proto.Message {
	t.Helper()
	m, ok := map[wire.OpCode]proto.Message{
		wire.OpCode_OP_CODE_WELCOME: &wire.Welcome{}, wire.OpCode_OP_CODE_UPDATE: &wire.Update{},
		wire.OpCode_OP_CODE_CLAIM_RESULT: &wire.ClaimResult{}, wire.OpCode_OP_CODE_ROSTER: &wire.Roster{},
		wire.OpCode_OP_CODE_HINT: &wire.Hint{}, wire.OpCode_OP_CODE_EMOTE_SHOWN: &wire.EmoteShown{}, wire.OpCode_OP_CODE_REMATCH: &wire.Rematch{},
		wire.OpCode_OP_CODE_PONG: &wire.Pong{}, wire.OpCode_OP_CODE_NOTICE: &wire.Notice{}, wire.OpCode_OP_CODE_ERROR: &wire.Error{},
	}[wire.OpCode(f.op)]
	if !ok {
		t.Fatalf("a client was sent op code %d", f.op)
	}
	if err := proto.Unmarshal(f.data, m); err != nil {
		t.Fatalf("op code %d: %v", f.op, err)
	}
	return m
}

// only decodes the frames of one message type.
func only[M proto.Message](t testing.TB, frames []frame) []M {
	t.Helper()
	var out []M
	for _, f := range frames {
		if m, ok := decode(t, f).(M); ok {
			out = append(out, m)
		}
	}
	return out
}

// one is the only message of its type among the frames.
func one[M proto.Message](t testing.TB, frames []frame) M {
	t.Helper()
	found := only[M](t, frames)
	if len(found) != 1 {
		var m M
		t.Fatalf("%d messages of type %T, not one:\n%s", len(found), m, story(t, frames))
	}
	return found[0]
}

// verdict is the one SetClaimed that the frames hold.
func verdict(t testing.TB, frames []frame) *wire.SetClaimed {
	t.Helper()
	var found []*wire.SetClaimed
	for _, u := range only[*wire.Update](t, frames) {
		for _, e := range u.Events {
			if c := e.GetSetClaimed(); c != nil {
				found = append(found, c)
			}
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d verdicts, not one:\n%s", len(found), story(t, frames))
	}
	return found[0]
}

// refusal is the one refused claim among the frames.
func refusal(t testing.TB, frames []frame) *wire.ClaimRefused {
	t.Helper()
	r := one[*wire.ClaimResult](t, frames).GetRefused()
	if r == nil {
		t.Fatalf("no refusal:\n%s", story(t, frames))
	}
	return r
}

func wantRefused(t testing.TB, frames []frame, want wire.Reason) *wire.ClaimRefused {
	t.Helper()
	r := refusal(t, frames)
	if r.Reason != want {
		t.Fatalf("refused as %v, want %v", r.Reason, want)
	}
	return r
}

// wantQuiet fails if anything was sent.
func wantQuiet(t testing.TB, who string, frames []frame) {
	t.Helper()
	if len(frames) != 0 {
		t.Fatalf("%s was sent something:\n%s", who, story(t, frames))
	}
}

// story is frames as text, for failures.
func story(t testing.TB, frames []frame) string {
	t.Helper()
	text := ""
	for _, f := range frames {
		text += wire.OpCode(f.op).String() + " " + prototext.MarshalOptions{}.Format(decode(t, f)) + "\n"
	}
	return text
}

// ended is the MatchEnded among the frames, or nil.
func ended(t testing.TB, frames []frame) *wire.MatchEnded {
	t.Helper()
	var end *wire.MatchEnded
	for _, u := range only[*wire.Update](t, frames) {
		for _, e := range u.Events {
			if found := e.GetMatchEnded(); found != nil {
				if end != nil {
					t.Fatalf("the match ended twice:\n%s", story(t, frames))
				}
				end = found
			}
		}
	}
	return end
}

// game is a running match with its players, whose frames so far have been read.
type game struct {
	n       *fakeNakama
	m       *fakeMatch
	players []*fakeUser
}

// newGame starts a match of the named users.
func newGame(t testing.TB, request string, names ...string) *game {
	t.Helper()
	return startGame(newFake(t), request, names...)
}

func startGame(n *fakeNakama, request string, names ...string) *game {
	n.t.Helper()
	g := &game{n: n}
	for i, name := range names {
		u := n.session(name)
		if i == 0 {
			g.m = u.create(request)
		}
		if reason := u.join(g.m); reason != "" {
			n.t.Fatalf("%s cannot join: %s", name, reason)
		}
		g.players = append(g.players, u)
	}
	if !g.m.table().standing.started {
		n.t.Fatalf("the match has not started with %d players", len(names))
	}
	g.read()
	return g
}

// read throws away everybody's frames so far.
func (g *game) read() {
	for _, u := range g.players {
		u.news()
	}
}

func (g *game) pass(d time.Duration) { g.m.pass(d) }

func (g *game) revision() uint64 { return g.m.table().session.Revision() }

func (g *game) score(seat int) int { return g.m.table().session.Snapshot().ByPlayer[seat].Score }

// The boards of the scenarios, as card codes in dealing order; the rest of the deck follows.
const (
	boardSA   = "0000 0001 0002 "
	boardMAX  = "0000 0001 0002 0010 0011 0012 0020 0021 0022 0100 0101 0200 "
	setSA     = "0000 0001 0002"
	setSB     = "0000 0010 0020"
	notSet    = "0000 0001 0010"
	twoPlayer = `{"test_deck":"` + boardMAX + boardRest + `"}`
	boardRest = "0102 0110 0111 0112 0120 0121 0122 0201 0202 0210 0211 0212 0220 0221 0222 1000 1001 1002 1010 1011 1012"
)
