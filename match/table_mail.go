package match

import (
	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// receiver is the memory into which messages are decoded.
type receiver struct {
	claim    wire.ClaimSet
	forfeit  wire.Forfeit
	snapshot wire.RequestSnapshot
	ping     wire.Ping
}

// The op codes of clients that this server knows, as Nakama numbers them.
const (
	opClaimSet        = int64(wire.OpCode_OP_CODE_CLAIM_SET)
	opForfeit         = int64(wire.OpCode_OP_CODE_FORFEIT)
	opRequestSnapshot = int64(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT)
	opPing            = int64(wire.OpCode_OP_CODE_PING)
)

// handle judges one message. Its answer, if it is for the sender alone, waits until everybody knows the state that it
// belongs to.
func (t *table) handle(m mail) {
	switch m.opCode {
	case opClaimSet:
		t.claim(m)
	case opForfeit:
		if t.decode(m, &t.receiver.forfeit) {
			t.forfeit(m)
		}
	case opRequestSnapshot:
		if t.decode(m, &t.receiver.snapshot) {
			t.reply(reply{kind: replyWelcome, to: m.from})
		}
	case opPing:
		if t.decode(m, &t.receiver.ping) {
			t.reply(reply{kind: replyPong, to: m.from, clientTimeMs: t.receiver.ping.ClientTimeMs})
		}
	default:
		t.replyError(m, wire.Reason_REASON_UNKNOWN_OP_CODE, "")
	}
}

// claim lets the session judge three cards. A verdict is an event; all else is an answer.
func (t *table) claim(m mail) {
	claim, err := readClaim(m.payload, &t.receiver.claim, t.seatFor(m.from))
	if err != nil {
		t.replyError(m, wire.Reason_REASON_MALFORMED_MESSAGE, err.Error())
		return
	}
	result := t.session.Apply(t.matchMs(m.at), claim, &t.out)
	switch result.Outcome {
	case domain.Refused:
		t.reply(reply{kind: replyRefused, to: m.from, claimID: claim.ID, refusal: result.Refusal})
	case domain.Repeated:
		t.reply(reply{kind: replyVerdict, to: m.from, claimID: claim.ID, verdict: result.Verdict})
	case domain.Held:
		t.held[claim.Seat] = claim.ID
	case domain.Applied, domain.HeldAlready, domain.Waiting: // answered by an event
	}
}

func (t *table) forfeit(m mail) {
	result := t.session.Apply(t.matchMs(m.at), domain.Forfeit{Seat: t.seatFor(m.from)}, &t.out)
	if result.Outcome == domain.Refused {
		t.replyError(m, reasonToWire(result.Refusal.Reason), "")
	}
}

// seatFor is the seat of the sender's user at this moment, forfeited or not: what that means is the session's to say.
func (t *table) seatFor(v *visitor) int {
	seat, _ := t.seats.of(v.userID)
	return seat
}

func (t *table) decode(m mail, into proto.Message) bool {
	err := unmarshal.Unmarshal(m.payload, into)
	if err != nil {
		t.replyError(m, wire.Reason_REASON_MALFORMED_MESSAGE, err.Error())
	}
	return err == nil
}
