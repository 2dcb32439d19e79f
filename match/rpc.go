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

// rpcs are the RPCs of this module by id.
func (m *module) rpcs() map[string]rpcFunc {
	return map[string]rpcFunc{
		"hello": m.hello, "create_match": m.createMatch, "quick_match": m.quickMatch, "resolve_code": m.resolveCode,
		"list_matches": m.listMatches, "my_matches": m.myMatches, "match_review": m.matchReview,
		"resume_match": m.resumeMatch,
		"get_result":   m.getResult, "get_record": m.getRecord, "match_history": m.matchHistory, "player_stats": m.playerStats,
		"report_player": m.reportPlayer, "delete_my_data": m.deleteMyData, "export_my_data": m.exportMyData,
		"admin_list": operatorsOnly(m.adminList), "admin_inspect": operatorsOnly(m.adminInspect), "admin_end": operatorsOnly(m.adminEnd),
		"admin_drain": operatorsOnly(m.adminDrain), "admin_queue": operatorsOnly(m.adminQueue), "admin_interrupted": operatorsOnly(m.adminInterrupted),
		"admin_repair_leaderboards": operatorsOnly(m.adminRepair), "admin_announce": operatorsOnly(m.adminAnnounce),
		"admin_settings": operatorsOnly(m.adminSettings),
	}
}

// rpc makes an RPC of Nakama's: JSON in and out, every error one with a stable reason, no panic, and no more calls of a
// user than are allowed.
func (m *module) rpc(id string, f rpcFunc) nakamaRPC {
	return func(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, payload string) (response string, err error) {
		defer func() {
			if cause := recover(); cause != nil {
				m.report(atRPC, cause, "", 0)
				response, err = "", reject(wire.Reason_REASON_INTERNAL, nil)
			}
		}()
		answer, err := m.answer(ctx, id, f, payload)
		if err != nil {
			m.count("set3d_rpcs_refused_total", map[string]string{"reason": reasonIn(err)})
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

// answer runs an RPC, if its user may call it now. Servers, who call with the http key, may always.
func (m *module) answer(ctx context.Context, id string, f rpcFunc, payload string) (any, error) {
	if userID, err := userOf(ctx); err == nil {
		if wait, ok := m.calls.take(userID, m.clock.now()); !ok {
			m.count("set3d_rpcs_limited_total", map[string]string{"rpc": id})
			return nil, tooMany(wait)
		}
	}
	m.count("set3d_rpcs_total", map[string]string{"rpc": id})
	return f(ctx, readRequest(payload))
}

type helloResponse struct {
	ServerVersion    string                `json:"server_version"`
	ProtocolVersions []int                 `json:"protocol_versions"`
	Presets          map[string]presetView `json:"presets"`
	Limits           limitsView            `json:"limits"`
	OpCodes          map[string]int32      `json:"op_codes"`
	ServerTimeMs     int64                 `json:"server_time_ms"`

	// What the operator has to say.
	Draining         bool          `json:"draining"`
	MinClientVersion string        `json:"min_client_version"` // empty: any
	ClientOutdated   bool          `json:"client_outdated"`
	Announcement     *announcement `json:"announcement"`
}

type presetView struct {
	Description string    `json:"description"`
	Public      bool      `json:"public"`
	Ranked      bool      `json:"ranked"`
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
	ReservationMs     int64 `json:"reservation_ms"`
	RPCsPerMinute     int   `json:"rpcs_per_minute"`
}

// hello says what this server speaks and plays. Anybody may ask, a load balancer too.
func (m *module) hello(_ context.Context, r *request) (any, error) {
	client, _ := r.text("client", 256)
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
	policy := m.operator.policy()
	outdated := policy.settings.outdated(client)
	if outdated {
		m.count("set3d_clients_outdated_total", nil)
	}
	if outdated && policy.settings.RefuseOld {
		return nil, reject(wire.Reason_REASON_CLIENT_TOO_OLD, args{"minimum": policy.settings.MinClient})
	}
	answer := helloResponse{
		ServerVersion: serverVersion, ProtocolVersions: []int{protocolVersion}, Presets: map[string]presetView{},
		Limits: m.limits(), OpCodes: opCodes(), ServerTimeMs: m.clock.wall().UnixMilli(),
		Draining: m.operator.isDraining(), MinClientVersion: policy.settings.MinClient, ClientOutdated: outdated,
	}
	if policy.settings.Announcement.standsAt(m.clock.wall()) {
		answer.Announcement = policy.settings.Announcement
	}
	for _, p := range policy.presets {
		answer.Presets[p.name] = presetView{
			Description: p.description, Public: p.public, Ranked: p.ranked, Rules: viewRules(p.rules),
		}
	}
	return answer, nil
}

func (m *module) limits() limitsView {
	return limitsView{
		SeatsMax: domain.MaxPlayers, SpectatorsMax: m.config.maxSpectators, OpenMatchesMax: m.config.maxTablesPerUser,
		MessageBytesMax: messageMax, RequestBytesMax: requestMax,
		MessagesPerSecond: m.config.rate.perSecond, MessagesBurst: m.config.rate.burst,
		AfterEndMs: m.config.afterEnd.Milliseconds(), EmptyTableMs: m.config.emptyTable.Milliseconds(),
		ReservationMs: m.config.reservation.Milliseconds(), RPCsPerMinute: m.config.rpcPerMinute,
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
