// Package conformance is a Nakama module made to be asked about its host. The tests of package local run it behind
// the local host and compare what clients see with what was recorded from a real Nakama.
package conformance

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
)

type rpc = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, payload string) (string, error)

// InitModule registers everything that the transcript asks for.
func InitModule(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, i runtime.Initializer) error {
	for id, fn := range map[string]rpc{
		"Conf_Fail": failWith, "conf_ctx": describeContext, "conf_echo": echo, "conf_create": createMatch,
		"conf_signal": signalMatch, "conf_get": getMatch, "conf_list": listMatches, "conf_store": storeObjects,
		"conf_multi": multiUpdate, "conf_score": writeScore, "conf_api": variousErrors, "conf_panic": panics,
		"conf_storage_scene": playScene(storageScene), "conf_list_scene": playScene(listScene), "conf_account_scene": playScene(accountScene),
		"conf_board_scene": playScene(boardScene), "conf_cancelled_scene": playScene(cancelledScene), "conf_farewells": farewells,
	} {
		if err := i.RegisterRpc(id, fn); err != nil {
			return err
		}
	}
	if err := nk.LeaderboardCreate(ctx, "conf_best", true, "desc", "best", "", nil, true); err != nil {
		return err
	}
	if err := nk.LeaderboardCreate(ctx, "conf_incr", true, "desc", "incr", "", nil, true); err != nil {
		return err
	}
	return errors.Join(
		i.RegisterMatch("conf", func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule) (runtime.Match, error) {
			return &probe{}, nil
		}),
		i.RegisterMatch("conf_refused", func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule) (runtime.Match, error) {
			return nil, errors.New("constructor refused")
		}),
		i.RegisterBeforeRt("MatchDataSend", dataHook),
		i.RegisterMatchmakerMatched(matched),
		i.RegisterBeforeDeleteAccount(beforeDelete),
		i.RegisterAfterDeleteAccount(afterDelete),
	)
}

// The op codes that the hook acts on; it leaves all others alone.
const (
	OpHookError   = 51
	OpHookNil     = 52
	OpHookChange  = 53
	OpHookNowhere = 54
	OpHookType    = 55
	OpHookRaw     = 56
)

func dataHook(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, in *rtapi.Envelope) (*rtapi.Envelope, error) {
	msg := in.GetMatchDataSend()
	switch msg.OpCode {
	case OpHookError:
		return nil, runtime.NewError("refused by the hook", 3)
	case OpHookNil:
		return nil, nil
	case OpHookChange:
		msg.OpCode, msg.Data = OpEcho, append([]byte("changed "), msg.Data...)
	case OpHookNowhere:
		msg.MatchId = "00000000-0000-0000-0000-000000000000.x"
	case OpHookType:
		return &rtapi.Envelope{Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}}, nil
	case OpHookRaw:
		to := presence{session: fmt.Sprint(ctx.Value(runtime.RUNTIME_CTX_SESSION_ID)), user: fmt.Sprint(ctx.Value(runtime.RUNTIME_CTX_USER_ID))}
		return in, nk.StreamSendRaw(6, "", "", "", &rtapi.Envelope{Message: &rtapi.Envelope_MatchData{
			MatchData: &rtapi.MatchData{MatchId: msg.MatchId, OpCode: 156, Data: msg.Data},
		}}, []runtime.Presence{to}, true)
	}
	return in, nil
}

// presence names a session to send to.
//
//revive:disable:var-naming // the methods' names are Nakama's
type presence struct{ session, user string }

func (p presence) GetUserId() string                 { return p.user }
func (p presence) GetSessionId() string              { return p.session }
func (p presence) GetNodeId() string                 { return "" }
func (p presence) GetHidden() bool                   { return false }
func (p presence) GetPersistence() bool              { return false }
func (p presence) GetUsername() string               { return "" }
func (p presence) GetStatus() string                 { return "" }
func (p presence) GetReason() runtime.PresenceReason { return 0 }

func matched(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, entries []runtime.MatchmakerEntry) (string, error) {
	switch entries[0].GetProperties()["want"] {
	case "match":
		return nk.MatchCreate(ctx, "conf", map[string]any{"entries": entries})
	case "error":
		return "", errors.New("no match today")
	}
	return "", nil
}

func failWith(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, payload string) (string, error) {
	var in struct {
		Code int
		How  string
	}
	if err := json.Unmarshal([]byte(payload), &in); err != nil {
		return "", err
	}
	err := runtime.NewError("the message", in.Code)
	switch in.How {
	case "plain":
		return "", errors.New("a plain error")
	case "wrapped":
		return "", fmt.Errorf("outside: %w", err)
	}
	return "", err
}

func panics(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, string) (string, error) {
	panic("asked to")
}

func echo(_ context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, payload string) (string, error) {
	return "echo " + payload, nil
}

// describeContext says which of the context's values are there, and those that are the same everywhere.
func describeContext(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, _ string) (string, error) {
	return describe(ctx), nil
}

func describe(ctx context.Context) string {
	out := map[string]any{}
	for _, key := range []string{
		runtime.RUNTIME_CTX_ENV, runtime.RUNTIME_CTX_MODE, runtime.RUNTIME_CTX_USERNAME, runtime.RUNTIME_CTX_VARS,
		runtime.RUNTIME_CTX_LANG, runtime.RUNTIME_CTX_CLIENT_IP, runtime.RUNTIME_CTX_MATCH_TICK_RATE,
		runtime.RUNTIME_CTX_MATCH_LABEL, runtime.RUNTIME_CTX_QUERY_PARAMS,
	} {
		if v := ctx.Value(key); v != nil {
			out[key] = v
		}
	}
	for _, key := range []string{
		runtime.RUNTIME_CTX_USER_ID, runtime.RUNTIME_CTX_USER_SESSION_EXP, runtime.RUNTIME_CTX_SESSION_ID,
		runtime.RUNTIME_CTX_CLIENT_PORT, runtime.RUNTIME_CTX_MATCH_ID, runtime.RUNTIME_CTX_MATCH_NODE,
		runtime.RUNTIME_CTX_NODE, runtime.RUNTIME_CTX_VERSION, runtime.RUNTIME_CTX_HEADERS, runtime.RUNTIME_CTX_TRACE_ID,
	} {
		if v := ctx.Value(key); v != nil {
			out[key] = fmt.Sprintf("%T", v)
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
