package tests

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

const (
	opClaim    = int64(wire.OpCode_OP_CODE_CLAIM_SET)
	opForfeit  = int64(wire.OpCode_OP_CODE_FORFEIT)
	opSnapshot = int64(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT)
	opPing     = int64(wire.OpCode_OP_CODE_PING)
)

// tableOps are those of the lobby and of what is around a match.
var tableOps = []int64{
	int64(wire.OpCode_OP_CODE_SET_READY), int64(wire.OpCode_OP_CODE_TAKE_SEAT), int64(wire.OpCode_OP_CODE_ADD_BOT),
	int64(wire.OpCode_OP_CODE_KICK), int64(wire.OpCode_OP_CODE_VOTE_REMATCH), int64(wire.OpCode_OP_CODE_EMOTE),
	int64(wire.OpCode_OP_CODE_REQUEST_HINT),
}

// knownOps are those of the game.
var knownOps = []int64{opClaim, opForfeit, opSnapshot, opPing}

var bothFormats = []client.Format{asJSON, asProtobuf}

// TestOpCodesRight sends every op code as it should be, on both kinds of socket.
func TestOpCodesRight(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	for _, format := range bothFormats {
		t.Run(format.String(), func(t *testing.T) {
			t.Parallel()
			x := maxTable(t, on, quick(nil), format, format)
			a, b := x.players[0], x.players[1]
			a.wins(setSA)
			if pong := a.sync(); pong.GetStamp().GetRevision() == 0 {
				t.Errorf("PONG {%v}", pong)
			}
			a.mark()
			a.send(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
			if welcome := a.welcome(); welcome.GetSnapshot().GetScores()[0] != 1 {
				t.Errorf("WELCOME {%v}", welcome)
			}
			b.forfeit()
			end := a.ended()
			if end.GetReason() != wire.EndReason_END_REASON_LAST_PLAYER || end.GetWinner() != 0 || !end.GetTable()[1].GetForfeited() {
				t.Errorf("end {%v}", end)
			}
			first(a, "the forfeit", func(u *wire.Update) bool {
				for _, event := range u.GetEvents() {
					if event.GetPlayerForfeited().GetCause() == wire.ForfeitCause_FORFEIT_CAUSE_REQUESTED {
						return event.GetPlayerForfeited().GetSeat() == 1
					}
				}
				return false
			})
		})
	}
}

// TestOpCodesUnknown sends op codes that mean nothing, from both ends of the numbers and between.
func TestOpCodesUnknown(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	for _, format := range bothFormats {
		t.Run(format.String(), func(t *testing.T) {
			t.Parallel()
			x := maxTable(t, on, quick(nil), format, asProtobuf)
			a, b := x.players[0], x.players[1]
			a.rude = true
			before := a.sync().GetStamp().GetRevision()
			ops := []int64{0, -1, 12, 99, 100, 101, 102, 107, 127, 128, 255, 256, 1 << 31, 1<<32 + opClaim, math.MaxInt64, math.MinInt64}
			for _, op := range ops {
				a.sendData(op, marshal(t, claimOf(newClaimID(), ids(setSA)))) // a claim in another's clothes
				a.error(op, wire.Reason_REASON_UNKNOWN_OP_CODE)
			}
			if after := a.sync().GetStamp().GetRevision(); after != before {
				t.Errorf("the revision went from %d to %d", before, after)
			}
			b.sync()
			for _, f := range b.since() {
				if e, ok := f.Body.(*wire.Error); ok {
					t.Errorf("the other player hears {%v}", e)
				}
			}
			b.wins(setSA)
			x.sameScores(0, 1)
		})
	}
}

// TestOpCodesWrong sends what is no message of its op code, nothing at all, and too much.
func TestOpCodesWrong(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	truncated := []byte{0x09, 1, 2}             // field 1 has eight bytes
	endless := bytes.Repeat([]byte{0xff}, 11)   // a varint that does not end
	group := bytes.Repeat([]byte{0x0b}, 200)    // groups in groups, never closed
	lie := []byte{0x12, 0xff, 0xff, 0xff, 0x7f} // field 2 says that it is long
	varintID := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 7)
	longest := bytes.Repeat([]byte{0}, on.limits.MessageBytesMax)
	for _, format := range bothFormats {
		t.Run(format.String(), func(t *testing.T) {
			t.Parallel()
			x := maxTable(t, on, quick(nil), format, asProtobuf)
			a, b := x.players[0], x.players[1]
			a.rude = true
			before := a.sync().GetStamp().GetRevision()
			malformed := func(op int64, data []byte, want wire.Reason) {
				t.Helper()
				a.mark()
				a.sendData(op, data)
				a.error(op, want)
			}
			for _, op := range knownOps {
				for _, data := range [][]byte{truncated, endless, group, lie, longest} {
					malformed(op, data, wire.Reason_REASON_MALFORMED_MESSAGE)
				}
				malformed(op, make([]byte, on.limits.MessageBytesMax+1), wire.Reason_REASON_MESSAGE_TOO_LARGE)
				malformed(op, noise(2_850), wire.Reason_REASON_MESSAGE_TOO_LARGE) // all that fits into 4 KB of JSON
			}
			for _, data := range [][]byte{nil, varintID, marshal(t, &wire.Ping{ClientTimeMs: 5})} { // no claim id in any
				a.mark()
				a.sendData(opClaim, data)
				a.refusal(0, wire.Reason_REASON_MALFORMED_CLAIM)
			}
			a.mark()
			a.sendData(opPing, nil)
			first(a, "a PONG", func(p *wire.Pong) bool { return p.GetClientTimeMs() == 0 })
			a.sendData(opSnapshot, marshal(t, claimOf(1, ids(setSA)))) // only fields that it does not know
			if after := a.welcome().GetStamp().GetRevision(); after != before {
				t.Errorf("the revision went from %d to %d", before, after)
			}
			b.wins(setSA)
			x.sameScores(0, 1)
		})
	}
}

// TestOversizedFrame: Nakama closes a socket that sends more than 4 KB at once. The match goes on without it.
func TestOversizedFrame(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	for _, format := range bothFormats {
		t.Run(format.String(), func(t *testing.T) {
			t.Parallel()
			x := maxTable(t, on, quick(nil), format, asProtobuf)
			a, b := x.players[0], x.players[1]
			b.mark()
			a.put(dataOf(a.match, opClaim, noise(5_000)))
			a.dead()
			first(b, "the drop", func(r *wire.Roster) bool { return !r.GetSeats()[0].GetConnected() })
			b.wins(setSA)
			again, _ := a.again()
			again.wins(setRow)
		})
	}
}

// TestBrokenEnvelopes: a socket that sends what is no envelope is closed, and nothing else happens.
func TestBrokenEnvelopes(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	cases := map[string]struct {
		format client.Format
		frame  []byte
	}{
		"JSON, not an object":  {asJSON, []byte(`[1]`)},
		"JSON, not base64":     {asJSON, []byte(`{"match_data_send":{"match_id":"MATCH","op_code":"1","data":"%%%"}}`)},
		"JSON, op code a text": {asJSON, []byte(`{"match_data_send":{"match_id":"MATCH","op_code":"NaN","data":""}}`)},
		"protobuf, noise":      {asProtobuf, bytes.Repeat([]byte{0xff}, 20)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := maxTable(t, on, quick(nil), c.format, asProtobuf)
			a, b := x.players[0], x.players[1]
			if err := a.write(bytes.ReplaceAll(c.frame, []byte("MATCH"), []byte(a.match))); err != nil {
				t.Fatal(err)
			}
			a.dead()
			b.wins(setSA)
			again, _ := a.again()
			again.wins(setRow)
		})
	}
}

func noise(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	return data
}
