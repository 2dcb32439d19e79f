package match

import (
	"context"
	"database/sql"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

// lookEvery is how often a tick looks at a quiet table for what no alarm is set for: idle players, and sessions that never arrived.
const lookEvery = 2 * time.Second

// handler is Nakama's view of a match: seven callbacks, all on the match's own goroutine but MatchInit. Each takes what
// waits in the mailbox first, and none lets a panic out. The state that goes in and out is always the one table.
type handler struct{ module *module }

var _ runtime.Match = (*handler)(nil)

// MatchJoinAttempt lets a session in, or says why not.
func (h *handler) MatchJoinAttempt(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, dispatcher runtime.MatchDispatcher, _ int64, state any, presence runtime.Presence, metadata map[string]string) (out any, allow bool, reason string) {
	t := state.(*table)
	out, reason = t, internalError // unless what follows gets to its end
	defer t.guard(atJoinAttempt)
	t.enter(dispatcher)
	t.box.trip(atJoinAttempt)
	t.leave()
	if why, ok := t.mayJoin(presence.GetUserId()); !ok {
		t.countRefusedJoin(why)
		return t, false, rejection(why, t.refusalArgs(why, presence.GetUserId()))
	}
	if why, a, ok := t.mayEnter(presence.GetUserId(), metadata); !ok {
		t.countRefusedJoin(why)
		return t, false, rejection(why, a)
	}
	t.box.admit(newVisitor(presence))
	return t, true, ""
}

// MatchJoin runs soon after an attempt that was allowed, perhaps before the session has its answer.
func (h *handler) MatchJoin(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, dispatcher runtime.MatchDispatcher, _ int64, state any, presences []runtime.Presence) (out any) {
	t := state.(*table)
	out = t
	defer t.guard(atJoin)
	t.enter(dispatcher)
	t.box.trip(atJoin)
	if t.closing {
		t.turnOut(presences)
		return t
	}
	t.join(presences)
	t.leave()
	return t
}

// MatchLeave may name sessions that never were here.
func (h *handler) MatchLeave(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, dispatcher runtime.MatchDispatcher, _ int64, state any, presences []runtime.Presence) (out any) {
	t := state.(*table)
	out = t
	defer t.guard(atLeave)
	t.enter(dispatcher)
	t.box.tripStarted(atLeave)
	if t.closing {
		return t
	}
	for _, p := range presences {
		t.depart(p.GetSessionId())
	}
	t.leave()
	return t
}

// MatchLoop is the safety net, and what stops a closed table. Messages come here only without the fast lane.
func (h *handler) MatchLoop(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, dispatcher runtime.MatchDispatcher, _ int64, state any, messages []runtime.MatchData) (out any) {
	t := state.(*table)
	if t.closing {
		return nil
	}
	out = t
	defer t.guard(atLoop)
	if t.isQuiet(len(messages)) {
		return t
	}
	t.enter(dispatcher)
	t.box.tripStarted(atLoop)
	if t.closing {
		return t
	}
	if len(messages) > 0 {
		t.slowLane(messages)
	}
	t.box.refuseAll(t.box.expire(), wire.Reason_REASON_NOT_IN_MATCH)
	t.checkIdle()
	t.settleMatched()
	t.dropAbsent()
	t.releaseLate()
	t.leave()
	t.closeWhenDone()
	t.quietUntil = t.now + lookEvery
	return t
}

// MatchSignal is the bell of the fast lane. Nothing else can be asked of a match by signal.
func (h *handler) MatchSignal(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, dispatcher runtime.MatchDispatcher, _ int64, state any, data string) (out any, result string) {
	t := state.(*table)
	out, result = t, "unknown"
	defer t.guard(atSignal)
	t.enter(dispatcher)
	t.box.tripStarted(atSignal)
	t.leave()
	if t.draining && !t.closing { // the grace may be shorter than a tick
		t.closeWhenDone()
	}
	if data == h.module.wake {
		return t, ""
	}
	return t, result
}

// MatchTerminate says that the server shuts down in graceSeconds. A running match goes on meanwhile.
func (h *handler) MatchTerminate(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, dispatcher runtime.MatchDispatcher, _ int64, state any, graceSeconds int) (out any) {
	t := state.(*table)
	out = t
	defer t.guard(atTerminate)
	t.enter(dispatcher)
	t.box.trip(atTerminate)
	if t.closing {
		return t
	}
	t.drain(time.Duration(max(0, graceSeconds)) * time.Second)
	t.leave()
	t.sendNow(nil, wire.OpCode_OP_CODE_NOTICE, &wire.Notice{
		Stamp: t.stampTold(), Kind: wire.NoticeKind_NOTICE_KIND_SHUTDOWN, GraceMs: uint32(max(0, graceSeconds) * 1_000),
	})
	t.closeWhenDone()
	return t
}
