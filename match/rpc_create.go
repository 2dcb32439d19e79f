package match

import (
	"context"
	"math"
	"slices"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

const (
	defaultSeats = 2
	requestIDMax = 64 // characters
)

type createResponse struct {
	MatchID string    `json:"match_id"`
	TableID string    `json:"table_id"`
	Code    string    `json:"code"`
	Private bool      `json:"private"`
	Preset  string    `json:"preset"`
	Rules   rulesView `json:"rules"`
	Seats   int       `json:"seats"`
}

// createMatch opens a table. With a request_id the same request gets the same answer for a minute: SDKs send a request
// again when the reply was lost.
func (m *module) createMatch(ctx context.Context, r *request) (any, error) {
	userID, err := userOf(ctx)
	if err != nil {
		return nil, err
	}
	requestID, _ := r.text("request_id", requestIDMax)
	setup, err := m.readSetup(r)
	if err != nil {
		return nil, err
	}
	setup.Creator = userID
	if setup.PanicAt == atRPC {
		panic("ordered by test_panic_at: " + string(atRPC))
	}
	return m.once(ctx, userID, requestID, setup, func() (any, error) { return m.open(ctx, setup) })
}

// once does what a user asks for; the same request with an id gets the same answer for a minute.
func (m *module) once(ctx context.Context, userID, requestID string, what any, do func() (any, error)) (any, error) {
	if requestID == "" {
		return do()
	}
	return m.requests.once(ctx, userID+" "+requestID, what, m.clock.now, do)
}

// userOf is who calls an RPC. The server's own key is nobody.
func userOf(ctx context.Context) (string, error) {
	userID, _ := ctx.Value(runtime.RUNTIME_CTX_USER_ID).(string)
	if userID == "" {
		return "", reject(wire.Reason_REASON_NO_USER, nil)
	}
	return userID, nil
}

// readSetup reads what create_match was asked for.
func (m *module) readSetup(r *request) (tableSetup, error) {
	s := tableSetup{Preset: defaultPreset, Seats: defaultSeats}
	if name, ok := r.text("preset", requestMax); ok {
		s.Preset = name
	}
	presets := m.presets()
	chosen, known := presets.find(s.Preset)
	if !known {
		r.fail(wire.Reason_REASON_UNKNOWN_PRESET, args{"preset": shorten(s.Preset), "allowed": presets.names()})
	}
	s.Rules, s.Public = chosen.rules, chosen.public
	nested, hasRules := r.object("rules")
	if n, ok := r.number("seats", 1, domain.MaxPlayers); ok {
		s.Seats = int(n)
	}
	if n, ok := r.number("seed", math.MinInt32, math.MaxInt32); ok {
		s.Seed = int32(n)
	}
	r.readTable(&s)
	s.Private, _ = r.flag("private")
	if m.config.testHooks {
		r.readTestHooks(&s)
	}
	if err := r.done(); err != nil {
		return s, err
	}
	if hasRules {
		var err error
		if s.Rules, err = nested.readRules(s.Rules); err != nil {
			return s, err
		}
	}
	s.Custom = s.Rules != chosen.rules
	return s, nil
}

func (r *request) readTestHooks(s *tableSetup) {
	if at, ok := r.text("test_panic_at", requestMax); ok {
		s.PanicAt = entryPoint(at)
		if !slices.Contains(entryPoints(), s.PanicAt) {
			r.fail(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "test_panic_at", "value": shorten(at), "allowed": entryPoints()})
		}
	}
	if codes, ok := r.text("test_deck", requestMax); ok {
		s.Deck = codes
		if _, err := parseDeck(codes); err != nil {
			r.fail(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "test_deck", "value": shorten(codes), "allowed": err.Error()})
		}
	}
}

// open makes the match, if the user has not too many already.
func (m *module) open(ctx context.Context, s tableSetup) (any, error) {
	o := m.newOpening(s)
	if !m.tables.begin(o, m.config.maxTablesPerUser) {
		return nil, m.tooManyTables()
	}
	if err := m.make(ctx, o); err != nil {
		return nil, err
	}
	return createResponse{
		MatchID: o.matchID, TableID: o.setup.TableID, Code: o.setup.Code, Private: s.Private, Preset: s.rulesName(),
		Rules: viewRules(s.Rules), Seats: s.Seats,
	}, nil
}

func (m *module) tooManyTables() error {
	m.count("set3d_tables_limited_total", nil)
	return reject(wire.Reason_REASON_TOO_MANY_MATCHES, args{"limit": m.config.maxTablesPerUser})
}
