// Package echo is an ordinary Nakama module, to compare with: a match handler at ten ticks a second that sends every message to everybody at
// its match, and nothing else. It costs what the frames of a game cost without the game. `set3d load --echo echo_create` drives it.
package echo

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/heroiclabs/nakama-common/runtime"
)

const (
	handlerName = "echo"
	// CreateRPC makes a match. Its answer is {"match_id":…}.
	CreateRPC = "echo_create"

	tickRate   = 10 // what most modules for turns and reactions have
	emptyTicks = 10 * tickRate
)

// InitModule registers the handler and the RPC.
func InitModule(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, initializer runtime.Initializer) error {
	err := initializer.RegisterMatch(handlerName, func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule) (runtime.Match, error) {
		return handler{}, nil
	})
	if err != nil {
		return err
	}
	return initializer.RegisterRpc(CreateRPC, create)
}

func create(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, _ string) (string, error) {
	id, err := nk.MatchCreate(ctx, handlerName, nil)
	if err != nil {
		return "", err
	}
	answer, err := json.Marshal(map[string]string{"match_id": id})
	return string(answer), err
}

// handler has no state of its own.
type handler struct{}

// room is the state of a match.
type room struct {
	members int
	empty   int // ticks without a member
}

// MatchInit makes an empty match.
func (handler) MatchInit(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, map[string]any) (state any, ticks int, label string) {
	return &room{}, tickRate, ""
}

// MatchJoinAttempt lets everybody in.
func (handler) MatchJoinAttempt(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, _ runtime.MatchDispatcher, _ int64,
	state any, _ runtime.Presence, _ map[string]string) (next any, admitted bool, reason string) {
	return state, true, ""
}

// MatchJoin counts.
func (handler) MatchJoin(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, _ runtime.MatchDispatcher, _ int64, state any,
	joined []runtime.Presence) any {
	state.(*room).members += len(joined)
	return state
}

// MatchLeave counts.
func (handler) MatchLeave(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, _ runtime.MatchDispatcher, _ int64, state any,
	left []runtime.Presence) any {
	state.(*room).members -= len(left)
	return state
}

// MatchLoop sends what came to everybody. A match that nobody is at ends after ten seconds.
func (handler) MatchLoop(_ context.Context, logger runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, dispatcher runtime.MatchDispatcher, _ int64, state any,
	messages []runtime.MatchData) any {
	for _, m := range messages {
		if err := dispatcher.BroadcastMessage(m.GetOpCode(), m.GetData(), nil, m, true); err != nil {
			logger.Error("broadcast: %v", err)
		}
	}
	r := state.(*room)
	if r.empty++; r.members > 0 {
		r.empty = 0
	}
	if r.empty > emptyTicks {
		return nil
	}
	return state
}

// MatchTerminate ends with the server.
func (handler) MatchTerminate(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, _ runtime.MatchDispatcher, _ int64, state any,
	_ int) any {
	return state
}

// MatchSignal answers nothing.
func (handler) MatchSignal(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, _ runtime.MatchDispatcher, _ int64, state any,
	_ string) (next any, answer string) {
	return state, ""
}
