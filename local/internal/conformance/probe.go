package conformance

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/heroiclabs/nakama-common/runtime"
)

// The op codes that the probe's loop acts on.
const (
	OpEcho      = 1 // answered to all with 101 and the same data
	OpTargets   = 2 // 102 to the sender, nothing to nobody, 103 deferred to all, 104 to all
	OpKick      = 3 // 105 to the sender, then the sender is kicked
	OpEnd       = 4 // 106 deferred to all, then the match ends
	OpLabel     = 5 // the label becomes the data; 107 to all with the error
	OpDescribe  = 6 // 108 to all with the loop's context
	OpSeen      = 7 // 109 to all with the callbacks so far
	OpBadTarget = 8 // 110 to all with the dispatcher's errors
)

// probe is a match that does what clients ask and remembers its callbacks.
type probe struct{ seen []string }

func (p *probe) note(format string, v ...any) { p.seen = append(p.seen, fmt.Sprintf(format, v...)) }

func (p *probe) MatchInit(
	ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, params map[string]any,
) (any, int, string) {
	id, _ := ctx.Value(runtime.RUNTIME_CTX_MATCH_ID).(string)
	_, err := nk.MatchSignal(ctx, id, "during init")
	p.note("init: signal says %v, entries %T", err, params["entries"])
	rate, label := 30, ""
	if r, ok := params["rate"].(float64); ok {
		rate = int(r)
	}
	if l, ok := params["label"].(string); ok {
		label = l
	}
	if n, ok := params["long"].(float64); ok {
		label = strings.Repeat("x", int(n))
	}
	if params["nil"] != nil {
		return nil, rate, label
	}
	return p, rate, label
}

func (p *probe) MatchJoinAttempt(
	ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, _ runtime.MatchDispatcher, _ int64,
	state any, who runtime.Presence, metadata map[string]string,
) (any, bool, string) {
	p.note("attempt %s %v reason %d", who.GetUsername(), metadata, who.GetReason())
	if metadata["describe"] != "" {
		return state, false, describe(ctx)
	}
	return state, metadata["refuse"] == "", metadata["reason"]
}

func (p *probe) MatchJoin(
	_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, d runtime.MatchDispatcher, _ int64,
	state any, joins []runtime.Presence,
) any {
	for _, j := range joins {
		p.note("join %s reason %d", j.GetUsername(), j.GetReason())
	}
	_ = d.BroadcastMessage(100, []byte("welcome"), joins, nil, true)
	return state
}

func (p *probe) MatchLeave(
	_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, d runtime.MatchDispatcher, _ int64,
	state any, leaves []runtime.Presence,
) any {
	for _, l := range leaves {
		p.note("leave %s reason %d", l.GetUsername(), l.GetReason())
		_ = d.BroadcastMessage(120, []byte(l.GetUsername()), nil, nil, true)
	}
	return state
}

func (p *probe) MatchLoop(
	ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, d runtime.MatchDispatcher, _ int64,
	state any, messages []runtime.MatchData,
) any {
	for _, m := range messages {
		to := []runtime.Presence{m}
		switch m.GetOpCode() {
		case OpEcho:
			_ = d.BroadcastMessage(101, m.GetData(), nil, m, m.GetReliable())
		case OpTargets:
			_ = d.BroadcastMessageDeferred(103, nil, nil, nil, true)
			_ = d.BroadcastMessage(102, nil, to, nil, true)
			_ = d.BroadcastMessage(199, nil, []runtime.Presence{}, nil, true)
			_ = d.BroadcastMessage(104, nil, nil, nil, true)
		case OpKick:
			_ = d.BroadcastMessage(105, nil, to, nil, true)
			_ = d.MatchKick(to)
		case OpEnd:
			_ = d.BroadcastMessageDeferred(106, nil, nil, nil, true)
			return nil
		case OpLabel:
			_ = d.BroadcastMessage(107, []byte(fmt.Sprint(d.MatchLabelUpdate(string(m.GetData())))), nil, nil, true)
		case OpDescribe:
			_ = d.BroadcastMessage(108, []byte(describe(ctx)), nil, nil, true)
		case OpSeen:
			_ = d.BroadcastMessage(109, []byte(strings.Join(p.seen, "\n")), nil, nil, true)
		case OpBadTarget:
			_ = d.BroadcastMessage(110, []byte(badTargets(d, m)), nil, nil, true)
		}
	}
	return state
}

func badTargets(d runtime.MatchDispatcher, m runtime.Presence) string {
	bad := presence{session: "x", user: "y"}
	unknown := presence{session: "11111111-1111-1111-1111-111111111111", user: "22222222-2222-2222-2222-222222222222"}
	halfBad := presence{session: unknown.session, user: "y"}
	return fmt.Sprint(
		d.BroadcastMessage(198, nil, []runtime.Presence{nil}, nil, true), "; ",
		d.BroadcastMessage(198, nil, []runtime.Presence{bad}, nil, true), "; ",
		d.BroadcastMessage(198, nil, []runtime.Presence{halfBad}, nil, true), "; ",
		d.BroadcastMessage(198, nil, []runtime.Presence{unknown}, nil, true), "; ",
		d.BroadcastMessage(111, nil, []runtime.Presence{unknown, m, halfBad}, nil, true), "; ",
		d.BroadcastMessage(198, nil, nil, bad, true), "; ",
		d.MatchKick([]runtime.Presence{bad}), "; ",
		d.MatchLabelUpdate(strings.Repeat("x", 2049)),
	)
}

func (p *probe) MatchTerminate(
	_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, d runtime.MatchDispatcher, _ int64,
	state any, grace int,
) any {
	_ = d.BroadcastMessage(130, []byte(fmt.Sprint(grace)), nil, nil, true)
	return state
}

func (p *probe) MatchSignal(
	_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, _ runtime.MatchDispatcher, _ int64,
	state any, data string,
) (any, string) {
	if data == "end" {
		return nil, "never seen"
	}
	b, err := json.Marshal(p.seen)
	if err != nil {
		return state, err.Error()
	}
	return state, data + " " + string(b)
}
