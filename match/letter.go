package match

import (
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

// streamAuthoritative is Nakama's mode of the streams of authoritative matches.
const streamAuthoritative = 6

// refuse answers a message that was not taken, without the match's goroutine and its dispatcher. A claim is answered by
// its id, so that nobody waits for a verdict.
func (b *mailbox) refuse(to *visitor, opCode int64, payload []byte, reason wire.Reason) {
	b.module.tallies.messageRefused(reason)
	if claimID := claimIDOf(opCode, payload); claimID != 0 {
		b.refuseClaim(to, claimID, reason)
		return
	}
	b.mailOut(to, wire.OpCode_OP_CODE_ERROR, &wire.Error{Stamp: b.stamp(), Reason: reason, OpCode: opCode})
}

func (b *mailbox) refuseClaim(to *visitor, claimID uint64, reason wire.Reason) {
	b.mailOut(to, wire.OpCode_OP_CODE_CLAIM_RESULT, &wire.ClaimResult{
		Stamp: b.stamp(), ClaimId: claimID,
		Result: &wire.ClaimResult_Refused{Refused: &wire.ClaimRefused{Reason: reason}},
	})
}

func (b *mailbox) stamp() *wire.Stamp { return stampOf(b.where(), b.module.clock.now()) }

// refuseAll answers what was left in a mailbox. One message that cannot be answered does not keep the others from it.
func (b *mailbox) refuseAll(left []mail, reason wire.Reason) {
	for _, m := range left {
		if m.run != nil {
			continue
		}
		alone(func() { b.refuse(m.from, m.opCode, m.payload, reason) })
	}
}

// mailOut sends to exactly one session: with no presence at all it would go to the whole stream.
func (b *mailbox) mailOut(to *visitor, opCode wire.OpCode, m proto.Message) {
	data, err := proto.Marshal(m)
	if err != nil {
		b.module.logger.Error("cannot encode %v: %v", opCode, err)
		return
	}
	envelope := &rtapi.Envelope{Message: &rtapi.Envelope_MatchData{MatchData: &rtapi.MatchData{
		MatchId: b.id, OpCode: int64(opCode), Data: data, Reliable: true,
	}}}
	if err := b.module.nk.StreamSendRaw(streamAuthoritative, "", "", "", envelope, []runtime.Presence{to}, true); err != nil {
		b.module.logger.Warn("match %s at revision %d: cannot send %v to session %s: %v", b.id, b.where().revision, opCode, to.sessionID, err)
	}
}
