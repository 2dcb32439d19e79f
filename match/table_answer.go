package match

import (
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// replyKind is what a session is answered with.
type replyKind uint8

const (
	replyRefused replyKind = iota + 1
	replyVerdict
	replyError
	replyPong
	replyWelcome
	replyStamped
)

// reply is an answer to one session that waits for the UPDATE before it, so that it never speaks of a state that its
// receiver has not seen. Under durabilitySafe what speaks of none (PONG, an ERROR about the message itself) does not
// wait for a verdict to be stored.
type reply struct {
	kind         replyKind
	to           *visitor
	claimID      uint64
	refusal      domain.Refusal
	verdict      domain.SetClaimed
	reason       wire.Reason
	opCode       int64
	detail       string
	clientTimeMs uint64
	stamped      func(*wire.Stamp) stampedMessage // makes a rarer message, for everybody if there is no to
}

// stampedMessage is a message with its stamp.
type stampedMessage = proto.Message

func (t *table) reply(r reply) { t.replies = append(t.replies, r) }

func (t *table) replyStamped(to *visitor, opCode wire.OpCode, stamped func(*wire.Stamp) stampedMessage) {
	t.reply(reply{kind: replyStamped, to: to, opCode: int64(opCode), stamped: stamped})
}

func (t *table) replyError(m mail, reason wire.Reason, detail string) {
	t.module.tallies.messageRefused(reason)
	t.reply(reply{kind: replyError, to: m.from, reason: reason, opCode: m.opCode, detail: detail})
}

func (t *table) answer(r *reply) {
	switch r.kind {
	case replyRefused:
		t.sendTo(r.to, wire.OpCode_OP_CODE_CLAIM_RESULT, claimResult(t.stamp(), r.claimID, r.refusal))
	case replyVerdict:
		t.sendTo(r.to, wire.OpCode_OP_CODE_CLAIM_RESULT, claimRepeated(t.stamp(), r.verdict))
	case replyError:
		t.answerError(r)
	case replyPong:
		t.sendNow(r.to, wire.OpCode_OP_CODE_PONG, &wire.Pong{Stamp: t.stampTold(), ClientTimeMs: r.clientTimeMs})
	case replyWelcome:
		t.welcome(r.to)
	case replyStamped:
		if r.to == nil {
			t.sendAll(wire.OpCode(r.opCode), r.stamped(t.stamp()))
			return
		}
		t.sendTo(r.to, wire.OpCode(r.opCode), r.stamped(t.stamp()))
	}
}

// answerError says why a message was not taken. If the message itself was at fault that says nothing of the state, and
// waits for nothing.
func (t *table) answerError(r *reply) {
	e := &wire.Error{Stamp: t.stampTold(), Reason: r.reason, OpCode: r.opCode, Detail: strings.ToValidUTF8(r.detail, "?")}
	switch r.reason {
	case wire.Reason_REASON_MALFORMED_MESSAGE, wire.Reason_REASON_UNKNOWN_OP_CODE, wire.Reason_REASON_RATE_LIMITED:
		t.sendNow(r.to, wire.OpCode_OP_CODE_ERROR, e)
	default:
		e.Stamp = t.stamp()
		t.sendTo(r.to, wire.OpCode_OP_CODE_ERROR, e)
	}
}

// welcome sends the whole state to one session.
func (t *table) welcome(v *visitor) {
	if t.standing.started { // it says what has not been told to anybody yet
		t.keep()
	}
	t.standing.revision = t.session.Revision()
	w := &wire.Welcome{
		Stamp: t.stamp(), ProtocolVersion: protocolVersion, TableId: t.setup.TableID, Role: wire.Role_ROLE_SPECTATOR,
		Rules: rulesToWire(t.setup.Rules), Roster: t.roster(), Timing: timingFor(t.setup.Rules),
		Settings: t.settings(),
	}
	if seat := t.seatOf(v.userID); seat != spectatorSeat {
		number := uint32(seat)
		w.Role, w.Seat = wire.Role_ROLE_PLAYER, &number
	}
	if verdict, ok := t.session.LastVerdict(t.seatFor(v)); ok {
		w.LastVerdict = setClaimedToWire(verdict)
	}
	if t.standing.started {
		w.Snapshot = t.encoder.fill(t.session.Snapshot())
		if commitment, ok := t.deck.Commitment(); ok {
			w.Commitment = commitment[:]
		}
	}
	if end, ok := t.session.Ended(); ok {
		w.Ended = matchEndedToWire(end, t.ending())
	}
	t.sendTo(v, wire.OpCode_OP_CODE_WELCOME, w)
}

// roster lists who sits where.
func (t *table) roster() *wire.Roster {
	r := &wire.Roster{Spectators: uint32(t.spectators())}
	for i := range t.seats.count {
		r.Seats = append(r.Seats, t.rosterSeat(i))
		if t.seats.seat[i].wants {
			r.RematchVotes |= 1 << i
		}
	}
	if host, ok := t.seats.host(); ok {
		number := uint32(host)
		r.HostSeat = &number
	}
	if t.lobby.endsAt != 0 && !t.standing.started {
		r.CountdownEndsUnixMs = t.wallMs(t.lobby.endsAt)
	}
	return r
}

func (t *table) rosterSeat(i int) *wire.Seat {
	s := &t.seats.seat[i]
	place := &wire.Seat{
		UserId: s.userID, DisplayName: s.name, AvatarUrl: s.avatar, BotLevel: botLevelToWire(s.bot), Forfeited: t.forfeited(i),
		Connected: s.visitor != nil || s.bot != 0,
	}
	place.Ready = place.Connected
	if t.setup.StartWhenReady && !t.standing.started && s.bot == 0 {
		place.Ready = s.ready
	}
	if until, promised := t.box.ledger.promise(i, t.now); promised {
		place.ReservedUntilUnixMs = t.wallMs(until)
	}
	if untilMs, dropped := t.session.HeldUntilMs(i); dropped {
		held := uint64(untilMs)
		place.HeldUntilMs = &held
	}
	return place
}

// wallMs is a moment of the module's clock as unix time in ms.
func (t *table) wallMs(at time.Duration) *uint64 {
	unix := uint64(t.module.clock.wall().Add(at - t.module.clock.now()).UnixMilli())
	return &unix
}

func seatForfeited(stamp *wire.Stamp, seat int) *wire.Notice {
	number := uint32(seat)
	return &wire.Notice{Stamp: stamp, Kind: wire.NoticeKind_NOTICE_KIND_SEAT_FORFEITED, Seat: &number}
}
