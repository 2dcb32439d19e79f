package match

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

var update = flag.Bool("update", false, "rewrite testdata/golden")

// TestGoldenBytes plays one story and compares every kind of message with testdata/golden, byte by byte. Each file is
// named after its message and holds its bytes in hex, with its text as comment: a change there is a change of the wire.
func TestGoldenBytes(t *testing.T) {
	for name, data := range goldenMessages(t) {
		path := filepath.Join("testdata", "golden", name+".hex")
		if *update {
			writeGolden(t, path, name, data)
			continue
		}
		want, err := readGolden(path)
		if err != nil {
			t.Errorf("%v: run the test with -update and read the diff", err)
		} else if !bytes.Equal(data, want) {
			t.Errorf("%s:\n got %x\nwant %x", name, data, want)
		}
	}
}

// Every golden file is a message of this version still.
func TestGoldenFilesAreComplete(t *testing.T) {
	names := goldenMessages(t)
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.hex"))
	if err != nil || len(files) != len(names) {
		t.Fatalf("%d files for %d messages, %v", len(files), len(names), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".hex")
		if _, ok := names[name]; !ok {
			t.Errorf("%s is no message of the story", path)
		}
		data, err := readGolden(path)
		if err != nil {
			t.Fatal(err)
		}
		m := messageNamed(t, name)
		if err := proto.Unmarshal(data, m); err != nil || len(m.ProtoReflect().GetUnknown()) != 0 {
			t.Errorf("%s does not decode: %v", name, err)
		}
	}
}

// goldenMessages are messages by name, "welcome_lobby" being a Welcome.
func goldenMessages(t *testing.T) map[string][]byte {
	n := newFake(t)
	out := map[string][]byte{}
	ann, bob, eve := n.session("ann"), n.session("bob"), n.session("eve")
	m := ann.create(`{"preset":"timed","seats":2,"test_deck":"` + boardMAX + boardRest + `"}`)
	m.table().setup.TableID, m.table().setup.Code = "TABLE", "K7TM4X" // random otherwise
	keep := func(name string, frames []frame) {
		last := frames[len(frames)-1]
		out[name] = last.data
		decode(t, last)
	}
	ann.join(m)
	keepOp := func(name string, u *fakeUser, op wire.OpCode) {
		var found []frame
		for _, f := range u.news() {
			if wire.OpCode(f.op) == op {
				found = append(found, f)
			}
		}
		keep(name, found)
	}
	keepOp("welcome_lobby", ann, wire.OpCode_OP_CODE_WELCOME)
	bob.join(m)
	keepOp("update_started", ann, wire.OpCode_OP_CODE_UPDATE)
	eve.join(m)
	keepOp("welcome_spectator", eve, wire.OpCode_OP_CODE_WELCOME)
	keepOp("roster", ann, wire.OpCode_OP_CODE_ROSTER)
	m.pass(1500 * time.Millisecond)
	ann.claim(m, 0x1122334455667788, setSA)
	keepOp("update_valid_set", bob, wire.OpCode_OP_CODE_UPDATE)
	ann.claim(m, 2, "0010 0011 0012")
	keepOp("claim_result_refused", ann, wire.OpCode_OP_CODE_CLAIM_RESULT)
	ann.claim(m, 0x1122334455667788, setSA)
	keepOp("claim_result_repeated", ann, wire.OpCode_OP_CODE_CLAIM_RESULT)
	m.pass(600 * time.Millisecond)
	keepOp("update_refill", bob, wire.OpCode_OP_CODE_UPDATE)
	m.pass(time.Second)
	bob.claim(m, 3, setSA)
	keepOp("claim_result_not_on_board", bob, wire.OpCode_OP_CODE_CLAIM_RESULT)
	bob.claim(m, 4, "0010 0011 0020")
	keepOp("update_invalid_set", ann, wire.OpCode_OP_CODE_UPDATE)
	bob.send(m, wire.OpCode_OP_CODE_PING, &wire.Ping{ClientTimeMs: 777})
	keepOp("pong", bob, wire.OpCode_OP_CODE_PONG)
	bob.sendRaw(m, 55, []byte("?"))
	keepOp("error", bob, wire.OpCode_OP_CODE_ERROR)
	m.leave(bob)
	keepOp("roster_dropped", ann, wire.OpCode_OP_CODE_ROSTER)
	m.terminate(30)
	keepOp("notice_shutdown", ann, wire.OpCode_OP_CODE_NOTICE)
	ann.send(m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	keepOp("update_ended", ann, wire.OpCode_OP_CODE_UPDATE)
	end := matchEndedToWire(domain.MatchEnded{
		Reason: domain.EndTimeUp, Winners: []int{0, 1}, Table: []domain.FinalScore{{Seat: 0, Score: 3}, {Seat: 1, Score: 3}},
	}, &ending{names: [domain.MaxPlayers]string{"ann", "bob"}, deck: domain.KeySource([32]byte{1, 2, 3, 31: 9})})
	out["match_ended_key"] = marshal(t, end)
	goldenLobby(t, out)
	out["claim_set"] = marshal(t, claimOf(0x1122334455667788, setSA))
	out["ping"] = marshal(t, &wire.Ping{ClientTimeMs: 777})
	return out
}

// goldenLobby plays a second story, of a lobby and of what is around a match.
func goldenLobby(t *testing.T, out map[string][]byte) {
	n := newFake(t)
	ann, bob := n.session("ann"), n.session("bob")
	m := ann.create(`{"preset":"practice","start":"ready","seats":4,"bots":["hard"],"test_deck":"` + boardMAX + `"}`)
	m.table().setup.TableID, m.table().setup.Code = "TABLE", "K7TM4X"
	m.table().box.reserveSeat(bob.userID, n.clock.now()+30*time.Second)
	m.settle()
	keep := func(name string, u *fakeUser, op wire.OpCode) {
		for _, f := range u.news() {
			if wire.OpCode(f.op) == op {
				out[name] = f.data
			}
		}
		if out[name] == nil {
			t.Fatalf("no %s", name)
		}
	}
	ann.join(m)
	keep("welcome_ready_table", ann, wire.OpCode_OP_CODE_WELCOME)
	ann.send(m, wire.OpCode_OP_CODE_EMOTE, &wire.ShowEmote{Emote: wire.EmoteKind_EMOTE_KIND_GOOD_LUCK})
	keep("emote_shown", ann, wire.OpCode_OP_CODE_EMOTE_SHOWN)
	bob.join(m)
	ann.ready(m, true)
	bob.ready(m, true)
	keep("roster_countdown", ann, wire.OpCode_OP_CODE_ROSTER)
	m.pass(3 * time.Second)
	ann.send(m, wire.OpCode_OP_CODE_REQUEST_HINT, &wire.RequestHint{Cards: 2})
	keep("hint", ann, wire.OpCode_OP_CODE_HINT)
	out["rematch"] = marshal(t, &wire.Rematch{Stamp: stampOf(standing{started: true, revision: 3}, 5*time.Second),
		MatchId: "m", TableId: "TABLE", ReservedMs: rematchHoldMs})
	out["set_ready"] = marshal(t, &wire.SetReady{Ready: true})
	out["take_seat"] = marshal(t, &wire.TakeSeat{Seat: seatNumber(0)})
	out["add_bot"] = marshal(t, &wire.AddBot{Level: wire.BotLevel_BOT_LEVEL_HARD, Seat: seatNumber(2)})
	out["kick"] = marshal(t, &wire.Kick{Seat: 1})
	out["vote_rematch"] = marshal(t, &wire.VoteRematch{Wants: true})
	out["show_emote"] = marshal(t, &wire.ShowEmote{Emote: wire.EmoteKind_EMOTE_KIND_WOW})
	out["request_hint"] = marshal(t, &wire.RequestHint{Cards: 1})
}

// messageNamed is the message type of a golden name: its longest prefix that is one.
func messageNamed(t *testing.T, name string) proto.Message {
	all := map[string]proto.Message{
		"welcome": &wire.Welcome{}, "update": &wire.Update{}, "claim_result": &wire.ClaimResult{}, "roster": &wire.Roster{},
		"pong": &wire.Pong{}, "error": &wire.Error{}, "notice": &wire.Notice{}, "match_ended": &wire.MatchEnded{},
		"claim_set": &wire.ClaimSet{}, "ping": &wire.Ping{}, "hint": &wire.Hint{}, "emote_shown": &wire.EmoteShown{},
		"rematch": &wire.Rematch{}, "set_ready": &wire.SetReady{}, "take_seat": &wire.TakeSeat{}, "add_bot": &wire.AddBot{},
		"kick": &wire.Kick{}, "vote_rematch": &wire.VoteRematch{}, "show_emote": &wire.ShowEmote{}, "request_hint": &wire.RequestHint{},
	}
	var prefixes []string
	for prefix := range all {
		if strings.HasPrefix(name, prefix) {
			prefixes = append(prefixes, prefix)
		}
	}
	if len(prefixes) == 0 {
		t.Fatalf("%s is no message", name)
	}
	slices.SortFunc(prefixes, func(a, b string) int { return len(b) - len(a) })
	return all[prefixes[0]]
}

func writeGolden(t *testing.T, path, name string, data []byte) {
	m := messageNamed(t, name)
	if err := proto.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	// prototext varies its spaces from build to build, on purpose.
	for _, line := range strings.Split(strings.TrimSpace(prototext.Format(m)), "\n") {
		text.WriteString("# " + strings.ReplaceAll(line, ":  ", ": ") + "\n")
	}
	dump := hex.EncodeToString(data)
	for len(dump) > 0 {
		n := min(len(dump), 96)
		text.WriteString(dump[:n] + "\n")
		dump = dump[n:]
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readGolden(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var dump strings.Builder
	for _, line := range strings.Split(string(raw), "\n") {
		if !strings.HasPrefix(line, "#") {
			dump.WriteString(line)
		}
	}
	return hex.DecodeString(dump.String())
}
