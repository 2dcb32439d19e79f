package match

import (
	"sync"

	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

const tableClosed = wire.Reason_REASON_TABLE_CLOSED

// stray warns once about messages that came past the hook.
type stray struct{ once sync.Once }

// slowLane judges the messages that Nakama itself has brought, in their order, at the time of the tick. With the fast lane on
// there should be none.
func (t *table) slowLane(messages []runtime.MatchData) {
	if t.module.config.fastLane {
		t.module.count("set3d_messages_past_hook_total", nil)
		t.module.stray.once.Do(func() {
			t.logger.Warn("table %s: a match message came past the hook for MatchDataSend: another module may have taken it over", t.setup.TableID)
		})
	}
	for _, message := range messages {
		// A sender may have left: Nakama's queues are in no order among each other.
		if v := t.visitor(message.GetSessionId()); v != nil {
			t.receive(v, message)
		}
	}
	t.judgePending()
}

func (t *table) receive(v *visitor, message runtime.MatchData) {
	m := mail{from: v, opCode: message.GetOpCode(), payload: message.GetData(), at: t.now}
	switch t.module.limiter.take(v.sessionID, t.module.clock.now()) {
	case paceTooFast:
		t.module.turnAway(t.box, v, m.opCode, m.payload, wire.Reason_REASON_RATE_LIMITED)
		return
	case paceHopeless:
		t.module.cutOff(v)
		return
	case paceCutOff:
		return
	case paceFine:
	}
	if len(m.payload) > messageMax {
		t.module.turnAway(t.box, v, m.opCode, nil, wire.Reason_REASON_MESSAGE_TOO_LARGE)
		return
	}
	t.pending = append(t.pending, m)
}

func (t *table) visitor(sessionID string) *visitor {
	for _, v := range t.visitors {
		if v.sessionID == sessionID {
			return v
		}
	}
	return nil
}

// turnOut tells sessions that come to a closed table.
func (t *table) turnOut(presences []runtime.Presence) {
	for _, p := range presences {
		t.sendTo(newVisitor(p), wire.OpCode_OP_CODE_NOTICE, t.closedNotice())
	}
}
