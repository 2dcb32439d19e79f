package match

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// rpcFunc is an RPC of ours: a request in, something that becomes JSON out.
type rpcFunc func(ctx context.Context, r *request) (any, error)

type nakamaRPC = func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, string) (string, error)

// rpc makes an RPC of Nakama's: JSON in and out, every error one with a stable reason, no panic.
func (m *module) rpc(f rpcFunc) nakamaRPC {
	return func(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, payload string) (response string, err error) {
		defer func() {
			if cause := recover(); cause != nil {
				m.report(atRPC, cause, "", 0)
				response, err = "", reject(wire.Reason_REASON_INTERNAL, nil)
			}
		}()
		answer, err := f(ctx, readRequest(payload))
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(answer)
		if err != nil {
			m.logger.Error("cannot encode a response: %v", err)
			return "", reject(wire.Reason_REASON_INTERNAL, nil)
		}
		return string(text), nil
	}
}

type helloResponse struct {
	ServerVersion    string                `json:"server_version"`
	ProtocolVersions []int                 `json:"protocol_versions"`
	Presets          map[string]presetView `json:"presets"`
	Limits           limitsView            `json:"limits"`
	OpCodes          map[string]int32      `json:"op_codes"`
	ServerTimeMs     int64                 `json:"server_time_ms"`
}

type presetView struct {
	Description string    `json:"description"`
	Rules       rulesView `json:"rules"`
}

type limitsView struct {
	SeatsMax          int   `json:"seats_max"`
	SpectatorsMax     int   `json:"spectators_max"`
	OpenMatchesMax    int   `json:"open_matches_max"`
	MessageBytesMax   int   `json:"message_bytes_max"`
	RequestBytesMax   int   `json:"request_bytes_max"`
	MessagesPerSecond int   `json:"messages_per_second"`
	MessagesBurst     int   `json:"messages_burst"`
	AfterEndMs        int64 `json:"after_end_ms"`
	EmptyTableMs      int64 `json:"empty_table_ms"`
}

// hello says what this server speaks and plays. Anybody may ask, a load balancer too.
func (m *module) hello(_ context.Context, r *request) (any, error) {
	r.text("client", 256)
	versions, asked := r.numbers("versions", 64)
	if err := r.done(); err != nil {
		return nil, err
	}
	spoken := !asked
	for _, version := range versions {
		spoken = spoken || version == protocolVersion
	}
	if !spoken {
		return nil, reject(wire.Reason_REASON_UNSUPPORTED_VERSION, args{"supported": []int{protocolVersion}})
	}
	answer := helloResponse{
		ServerVersion: serverVersion, ProtocolVersions: []int{protocolVersion}, Presets: map[string]presetView{},
		Limits: m.limits(), OpCodes: opCodes(), ServerTimeMs: m.clock.wall().UnixMilli(),
	}
	for _, p := range presets() {
		answer.Presets[p.name] = presetView{Description: p.description, Rules: viewRules(p.rules)}
	}
	return answer, nil
}

func (m *module) limits() limitsView {
	return limitsView{
		SeatsMax: domain.MaxPlayers, SpectatorsMax: m.config.maxSpectators, OpenMatchesMax: m.config.maxTablesPerUser,
		MessageBytesMax: messageMax, RequestBytesMax: requestMax,
		MessagesPerSecond: m.config.rate.perSecond, MessagesBurst: m.config.rate.burst,
		AfterEndMs: m.config.afterEnd.Milliseconds(), EmptyTableMs: m.config.emptyTable.Milliseconds(),
	}
}

func opCodes() map[string]int32 {
	codes := make(map[string]int32, len(wire.OpCode_value))
	for name, number := range wire.OpCode_value {
		if number != 0 {
			codes[strings.TrimPrefix(name, "OP_CODE_")] = number
		}
	}
	return codes
}
