// Package match makes a match of SET a match of Nakama: it seats users, carries their messages to the domain's session
// and its events back, and answers the module's RPCs. It decides nothing about SET.
package match

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/archive"
)

// Name is the module's name, by which Nakama makes matches of it.
const Name = "set3d"

const (
	serverVersion   = "0.1.0"
	protocolVersion = 1
)

// Register reads the configuration and registers everything of this module: the match, the RPCs, and the hook of the fast
// lane. Nakama and the local host call it once. An error says which setting is wrong and what is allowed.
func Register(ctx context.Context, logger runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, initializer runtime.Initializer) error {
	return register(ctx, logger, nk, initializer, systemClock())
}

// module is everything that lives as long as the process.
type module struct {
	config   config
	clock    clock
	nk       runtime.NakamaModule
	logger   *throttle
	tables   *registry
	limiter  *limiter
	manners  *limiter // of what is said around the game
	requests *requests
	calls    *allowance // of RPCs
	joins    *allowance
	guesses  *allowance // of codes
	seeks    *allowance // of tickets of the matchmaker
	tickets  *tickets
	apiCalls *allowance // of Nakama's own API
	blocks   *blocks
	archive  *archive.Archive
	operator *operator
	wake     string // the signal that only we know, so that nobody else can wake a match up
	stray    stray
	tallies  tallies
	observed observations // measure's
}

func register(ctx context.Context, logger runtime.Logger, nk runtime.NakamaModule, initializer runtime.Initializer, c clock) error {
	env, _ := ctx.Value(runtime.RUNTIME_CTX_ENV).(map[string]string)
	settings, err := parseConfig(env)
	if err != nil {
		return err
	}
	if err := checkSecrets(settings, logger, initializer); err != nil {
		return err
	}
	node, _ := ctx.Value(runtime.RUNTIME_CTX_NODE).(string)
	m := newModule(settings, logger, nk, c)
	m.openArchive(node)
	if settings.testHooks {
		logger.Warn("SET3D_TEST_HOOKS is on: clients can order decks and panics. Never in production")
	}
	if err := initializer.RegisterMatch(Name, m.newMatch); err != nil {
		return fmt.Errorf("register the match: %w", err)
	}
	for id, f := range m.rpcs() {
		if err := initializer.RegisterRpc(id, m.rpc(id, f)); err != nil {
			return fmt.Errorf("register %s: %w", id, err)
		}
	}
	if err := m.registerHooks(initializer); err != nil {
		return err
	}
	if err := m.registerStorageHooks(initializer); err != nil {
		return err
	}
	if err := m.registerDisabledAPIs(initializer); err != nil {
		return err
	}
	if err := m.registerArchive(ctx, initializer); err != nil {
		return err
	}
	m.operator.start()
	m.startMeasuring()
	logger.Info("SET: 3D online %s, fast lane %t, %d ticks a second, durability %v", serverVersion, settings.fastLane, settings.tickRate,
		settings.archive.durability)
	return nil
}

func newModule(settings config, logger runtime.Logger, nk runtime.NakamaModule, c clock) *module {
	m := &module{
		config: settings, clock: c, nk: nk, logger: newThrottle(logger, c.now),
		tables: newRegistry(), limiter: newLimiter(settings.rate), manners: newLimiter(socialRate()), requests: newRequests(),
		calls: newAllowance(settings.rpcPerMinute), joins: newAllowance(settings.rpcPerMinute),
		guesses: newAllowance(settings.wrongCodesPerMinute),
		seeks:   newAllowance(settings.rpcPerMinute), tickets: newTickets(),
		apiCalls: newAllowance(settings.rpcPerMinute),
		wake:     "wake " + rand.Text(),
	}
	m.blocks, m.operator = newBlocks(m), newOperator(m)
	return m
}

// registerHooks registers what stands between clients and Nakama: the fast lane, and the way to a table.
func (m *module) registerHooks(initializer runtime.Initializer) error {
	hooks := map[string]beforeRt{
		"MatchJoin": m.hook(m.gateMatchJoin), "MatchCreate": m.hook(m.gateMatchCreate),
		"MatchmakerAdd": m.hook(m.gateTicket), "PartyMatchmakerAdd": m.hook(m.gatePartyTicket),
	}
	if m.config.fastLane {
		hooks["MatchDataSend"] = m.beforeMatchData
	}
	for id, hook := range hooks {
		if err := initializer.RegisterBeforeRt(id, hook); err != nil {
			return fmt.Errorf("register the hook for %s: %w", id, err)
		}
	}
	for id, note := range map[string]note{"MatchmakerAdd": m.tookTicket, "MatchmakerRemove": m.removedTicket} {
		if err := initializer.RegisterAfterRt(id, m.afterHook(note)); err != nil {
			return fmt.Errorf("register the hook behind %s: %w", id, err)
		}
	}
	if err := m.registerAPILimits(initializer); err != nil {
		return fmt.Errorf("register the hooks for Nakama's API: %w", err)
	}
	if err := initializer.RegisterMatchmakerMatched(m.matched); err != nil {
		return fmt.Errorf("register the matchmaker's hook: %w", err)
	}
	return nil
}

func (m *module) newMatch(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule) (runtime.Match, error) {
	return &handler{module: m}, nil
}

// count adds one to a counter of Metrics. What happens with every claim is tallied instead.
func (m *module) count(name string, tags map[string]string) { m.nk.MetricsCounterAdd(name, tags, 1) }
