package match

import (
	"context"
	"database/sql"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

type beforeRt = func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *rtapi.Envelope) (*rtapi.Envelope, error)

// gate looks at a realtime message of a client's before Nakama does, and may change or refuse it.
type gate func(ctx context.Context, in *rtapi.Envelope) error

// hook makes a hook of Nakama's of a gate. Nakama recovers no panic there, and the session would be a zombie.
func (m *module) hook(g gate) beforeRt {
	return func(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, in *rtapi.Envelope) (out *rtapi.Envelope, err error) {
		defer func() {
			if cause := recover(); cause != nil {
				m.report(atHook, cause, "", 0)
				out, err = nil, reject(wire.Reason_REASON_INTERNAL, nil)
			}
		}()
		if err := g(ctx, in); err != nil {
			return nil, err
		}
		return in, nil
	}
}

type afterRt = func(
	ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, out, in *rtapi.Envelope,
) error

// note looks at a realtime message that Nakama has answered with success, and at the answer.
type note func(ctx context.Context, out, in *rtapi.Envelope)

// afterHook makes a hook of Nakama's of a note.
func (m *module) afterHook(n note) afterRt {
	return func(
		ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, out, in *rtapi.Envelope,
	) error {
		defer m.guard(atHook)
		n(ctx, out, in)
		return nil
	}
}

// gateMatchJoin refuses storms of joins, and relayed matches: they have no rules, and whoever lands in one waits for a game
// that never comes. The matchmaker hands out tokens for them if its hook fails.
func (m *module) gateMatchJoin(ctx context.Context, in *rtapi.Envelope) error {
	if wait, ok := m.joins.take(senderOf(ctx).userID, m.clock.now()); !ok {
		m.count("set3d_joins_limited_total", nil)
		return tooMany(wait)
	}
	join := in.GetMatchJoin()
	if !m.config.relayedMatches && (join.GetToken() != "" || isRelayed(join.GetMatchId())) {
		return m.noRelayed()
	}
	return nil
}

// gateMatchCreate refuses to make relayed matches. Tables are made by RPC.
func (m *module) gateMatchCreate(context.Context, *rtapi.Envelope) error {
	if m.config.relayedMatches {
		return nil
	}
	return m.noRelayed()
}

func (m *module) noRelayed() error {
	m.count("set3d_relayed_refused_total", nil)
	return reject(wire.Reason_REASON_UNKNOWN_MATCH, args{"detail": "there are no relayed matches here"})
}

// isRelayed reports whether Nakama would take an id for a relayed match's: a UUID, and no node behind its dot.
func isRelayed(id string) bool {
	var uuid [16]byte
	return len(id) > 0 && id[len(id)-1] == '.' && parseUUID(id[:len(id)-1], &uuid)
}
