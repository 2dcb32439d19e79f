package match

import (
	"context"
	"database/sql"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

// messageMax is how long a message's payload may be. The longest honest one has less than 40 bytes.
const messageMax = 1024

// beforeMatchData runs on the sending session's own goroutine for every match message of the server, before Nakama has
// looked whether the session is in the match. Messages to a table of ours end here, in its mailbox; what goes on to
// Nakama is an envelope that it drops. All others pass untouched.
func (m *module) beforeMatchData(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, in *rtapi.Envelope) (out *rtapi.Envelope, err error) {
	message := in.GetMatchDataSend()
	if message == nil {
		return in, nil
	}
	out = in
	var box *mailbox
	matchID, opCode, payload := message.MatchId, message.OpCode, message.Data
	defer func() {
		if cause := recover(); cause != nil && box != nil {
			box.hookBroke(cause, senderOf(ctx), opCode, payload)
		} else if cause != nil {
			m.report(atHook, cause, matchID, 0)
		}
	}()
	key, ok := parseMatchID(matchID)
	if !ok {
		return in, nil
	}
	if box = m.tables.find(key); box == nil {
		return in, nil
	}
	consume(message)
	box.tripStarted(atHook)
	m.receive(box, senderOf(ctx), opCode, payload)
	return in, nil
}

// consume makes Nakama drop a message silently.
func consume(message *rtapi.MatchDataSend) {
	message.MatchId, message.Data, message.Presences = nowhere, nil, nil
}

// hookBroke ends the table whose message the hook panicked at.
func (b *mailbox) hookBroke(cause any, from *visitor, opCode int64, payload []byte) {
	b.poison()
	b.module.report(atHook, cause, b.id, b.where().revision)
	alone(func() { b.refuse(from, opCode, payload, wire.Reason_REASON_TABLE_CLOSED) })
	alone(b.ring)
}

func senderOf(ctx context.Context) *visitor {
	text := func(key string) string {
		s, _ := ctx.Value(key).(string)
		return s
	}
	return &visitor{
		sessionID: text(runtime.RUNTIME_CTX_SESSION_ID), userID: text(runtime.RUNTIME_CTX_USER_ID),
		node: text(runtime.RUNTIME_CTX_NODE), username: text(runtime.RUNTIME_CTX_USERNAME),
	}
}

// receive takes a message in, or says to its sender why not.
func (m *module) receive(box *mailbox, from *visitor, opCode int64, payload []byte) {
	switch m.limiter.take(from.sessionID, m.clock.now()) {
	case paceTooFast:
		m.turnAway(box, from, opCode, payload, wire.Reason_REASON_RATE_LIMITED)
		return
	case paceHopeless:
		m.cutOff(from)
		return
	case paceCutOff:
		return
	case paceFine:
	}
	if len(payload) > messageMax {
		m.turnAway(box, from, opCode, nil, wire.Reason_REASON_MESSAGE_TOO_LARGE)
		return
	}
	switch box.put(from.sessionID, opCode, payload) {
	case posted:
		go box.strike()
	case postedSilently:
	case refusedStranger:
		m.turnAway(box, from, opCode, payload, wire.Reason_REASON_NOT_IN_MATCH)
	case refusedFull:
		m.turnAway(box, from, opCode, payload, wire.Reason_REASON_BUSY)
	case refusedClosed:
		m.turnAway(box, from, opCode, payload, wire.Reason_REASON_TABLE_CLOSED)
	}
}

func (m *module) turnAway(box *mailbox, from *visitor, opCode int64, payload []byte, reason wire.Reason) {
	box.refuse(from, opCode, payload, reason)
}

// cutOff disconnects a session that goes on sending long after it was told not to.
func (m *module) cutOff(from *visitor) {
	m.count("set3d_sessions_cut_off_total", nil)
	m.logger.Warn("session %s of user %s floods its match: disconnecting it", from.sessionID, from.userID)
	if err := m.nk.SessionDisconnect(context.Background(), from.sessionID, runtime.PresenceReasonDisconnect); err != nil {
		m.logger.Warn("cannot disconnect session %s: %v", from.sessionID, err)
	}
}
