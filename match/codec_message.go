package match

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// unmarshal ignores what a newer client may have added, and keeps none of it.
var unmarshal = proto.UnmarshalOptions{DiscardUnknown: true}

// readClaim decodes a CLAIM_SET for a seat; -1 is a spectator's.
func readClaim(payload []byte, scratch *wire.ClaimSet, seat int) (domain.ClaimSet, error) {
	if err := unmarshal.Unmarshal(payload, scratch); err != nil {
		return domain.ClaimSet{}, err
	}
	return domain.ClaimSet{Seat: seat, ID: scratch.ClaimId, Cards: scratch.Cards}, nil
}

// claimIDOf is the id of a claim that nobody will judge; 0 if the message is no claim, or has none.
func claimIDOf(opCode int64, payload []byte) uint64 {
	if opCode != int64(wire.OpCode_OP_CODE_CLAIM_SET) || len(payload) > messageMax {
		return 0
	}
	var claim wire.ClaimSet
	if unmarshal.Unmarshal(payload, &claim) != nil {
		return 0
	}
	return claim.ClaimId
}

// encoder turns messages into bytes, in one buffer. The bytes are valid until the next message: Nakama copies what is
// broadcast at once into the frame before the dispatcher returns (deferred broadcasts, which it does not, are not used).
type encoder struct {
	buffer   []byte
	frame    snapshotFrame
	snapshot domain.Snapshot
}

func (e *encoder) encode(m proto.Message) []byte {
	buffer, err := proto.MarshalOptions{}.MarshalAppend(e.buffer[:0], m)
	if err != nil {
		panic(fmt.Sprintf("cannot encode %T: %v", m, err))
	}
	e.buffer = buffer
	return buffer
}

// fill puts the session's snapshot on the wire. What it returns is valid until the next fill.
func (e *encoder) fill(s domain.Snapshot) *wire.Snapshot {
	e.snapshot = s
	return e.frame.fill(&e.snapshot)
}

// takeClaimed takes a Set that is being shown off the last snapshot's board.
func (e *encoder) takeClaimed() {
	s := &e.snapshot
	if s.State != domain.ValidSetAnim {
		return
	}
	s.State = domain.MatchEnd
	for _, slot := range s.Animation.ClaimedSlots {
		_ = s.Board.RemoveCard(slot) // it lies there
	}
}

// claimResult is an answer to a claim that was not judged now.
func claimResult(stamp *wire.Stamp, claimID uint64, refusal domain.Refusal) *wire.ClaimResult {
	refused := &wire.ClaimRefused{Reason: reasonToWire(refusal.Reason), RetryAtMs: uint64(refusal.RetryAtMs)}
	for _, card := range refusal.MissingCards() {
		refused.MissingCards = append(refused.MissingCards, byte(card.ID()))
	}
	return &wire.ClaimResult{Stamp: stamp, ClaimId: claimID, Result: &wire.ClaimResult_Refused{Refused: refused}}
}

func claimRepeated(stamp *wire.Stamp, verdict domain.SetClaimed) *wire.ClaimResult {
	return &wire.ClaimResult{
		Stamp: stamp, ClaimId: verdict.ClaimID,
		Result: &wire.ClaimResult_RepeatedVerdict{RepeatedVerdict: setClaimedToWire(verdict)},
	}
}

// timingFor is the advice to clients. A claim that is held is answered when the board is idle again, so nobody gives up
// before the longest lock is over.
func timingFor(r domain.Rules) *wire.Timing {
	longestLockMs := r.ValidAnimMs + r.RefillAnimMs + 3*r.ExpandAnimMs
	return &wire.Timing{
		ResendAfterMs: 1_500, GiveUpAfterMs: uint32(5_000 + longestLockMs), ReconnectAfterMs: 3_000, PingEveryMs: 10_000,
	}
}

// reasonName is a reason as RPCs, joins and metrics spell it: "TABLE_FULL".
func reasonName(r wire.Reason) string { return strings.TrimPrefix(r.String(), "REASON_") }
