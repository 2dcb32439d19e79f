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
	ready    wire.SetReady
	takeSeat wire.TakeSeat
	addBot   wire.AddBot
	kick     wire.Kick
	vote     wire.VoteRematch
	emote    wire.ShowEmote
	hint     wire.RequestHint
}

// The op codes of clients that this server knows, as Nakama numbers them.
const (
	opClaimSet        = int64(wire.OpCode_OP_CODE_CLAIM_SET)
	opSetReady        = int64(wire.OpCode_OP_CODE_SET_READY)
	opTakeSeat        = int64(wire.OpCode_OP_CODE_TAKE_SEAT)
	opAddBot          = int64(wire.OpCode_OP_CODE_ADD_BOT)
	opKick            = int64(wire.OpCode_OP_CODE_KICK)
	opForfeit         = int64(wire.OpCode_OP_CODE_FORFEIT)
	opVoteRematch     = int64(wire.OpCode_OP_CODE_VOTE_REMATCH)
	opEmote           = int64(wire.OpCode_OP_CODE_EMOTE)
	opRequestSnapshot = int64(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT)
	opPing            = int64(wire.OpCode_OP_CODE_PING)
	opRequestHint     = int64(wire.OpCode_OP_CODE_REQUEST_HINT)
)

// handle judges one message. Its answer, if it is for the sender alone, waits until everybody knows the state that it
// belongs to.
func (t *table) handle(m mail) {
	if m.run != nil {
		m.run(t)
		return
	}
	switch m.opCode {
	case opClaimSet:
		t.noteActive(m.from.userID)
		t.claim(m)
	case opForfeit:
		if t.decode(m, &t.receiver.forfeit) {
			t.forfeit(m)
		}
	case opRequestSnapshot:
		if t.decode(m, &t.receiver.snapshot) {
			t.noteActive(m.from.userID)
			t.reply(reply{kind: replyWelcome, to: m.from})
		}
	case opPing:
		if t.decode(m, &t.receiver.ping) {
			t.reply(reply{kind: replyPong, to: m.from, clientTimeMs: t.receiver.ping.ClientTimeMs})
		}
	default:
		t.handleSocial(m)
	}
}

// handleSocial judges what is said around the game.
func (t *table) handleSocial(m mail) {
	if isSocial(m.opCode) && t.module.manners.take(m.from.sessionID, m.at) != paceFine {
		t.replyError(m, wire.Reason_REASON_RATE_LIMITED, "")
		return
	}
	r := &t.receiver
	switch m.opCode {
	case opSetReady, opTakeSeat, opAddBot, opKick:
		t.handleLobby(m)
	case opVoteRematch:
		if t.decode(m, &r.vote) {
			t.voteRematch(m, r.vote.Wants)
		}
	case opEmote:
		if t.decode(m, &r.emote) {
			t.noteActive(m.from.userID)
			t.emote(m, r.emote.Emote)
		}
	case opRequestHint:
		if t.decode(m, &r.hint) {
			t.hint(m, r.hint.Cards)
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
		t.module.tallies.claimRefused(reasonToWire(result.Refusal.Reason))
		t.reply(reply{kind: replyRefused, to: m.from, claimID: claim.ID, refusal: result.Refusal})
	case domain.Repeated:
		t.reply(reply{kind: replyVerdict, to: m.from, claimID: claim.ID, verdict: result.Verdict})
	case domain.Held, domain.HeldAlready: // perhaps since before the table was resumed
		t.held[claim.Seat] = claim.ID
	case domain.Applied: // answered by an event
		t.judged = append(t.judged, m.at)
		t.seats.seat[claim.Seat].playedAt = t.now
	case domain.Waiting:
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
