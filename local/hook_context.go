package local

import (
	"context"
	"strings"

	"github.com/heroiclabs/nakama-common/runtime"
)

// version is what handlers read under RUNTIME_CTX_VERSION.
const version = "3.40.0+local"

// The execution modes that handlers read under RUNTIME_CTX_MODE.
const (
	modeRunOnce     = "run_once"
	modeRPC         = "rpc"
	modeBefore      = "before"
	modeAfter       = "after"
	modeEvent       = "event"
	modeMatch       = "match"
	modeMatchCreate = "match_create"
	modeMatchmaker  = "matchmaker"
	modeShutdown    = "shutdown"
)

// caller is who a hook or RPC runs for. The zero value is nobody.
type caller struct {
	userID, username     string
	vars                 map[string]string
	expiry               int64
	sessionID, lang      string
	clientIP, clientPort string
	traceID              string
	headers, query       map[string][]string
}

func (s *session) caller(traceID string) caller {
	return caller{
		userID: s.userID.String(), username: s.username, vars: s.vars, expiry: s.expiry,
		sessionID: s.id.String(), lang: s.lang, clientIP: s.clientIP, clientPort: s.clientPort, traceID: traceID,
	}
}

// hookContext puts under runtime's keys what Nakama does: no key for what is unknown, no language without a session.
//
//nolint:staticcheck // the keys are strings by nakama-common's contract
func (s *Server) hookContext(ctx context.Context, mode string, c caller) context.Context {
	put := func(key string, v any) { ctx = context.WithValue(ctx, key, v) }
	put(runtime.RUNTIME_CTX_ENV, s.cfg.Env)
	put(runtime.RUNTIME_CTX_MODE, mode)
	put(runtime.RUNTIME_CTX_NODE, s.cfg.Name)
	put(runtime.RUNTIME_CTX_VERSION, version)
	if c.headers != nil {
		put(runtime.RUNTIME_CTX_HEADERS, c.headers)
	}
	if c.query != nil {
		put(runtime.RUNTIME_CTX_QUERY_PARAMS, c.query)
	}
	if c.userID != "" {
		put(runtime.RUNTIME_CTX_USER_ID, c.userID)
		put(runtime.RUNTIME_CTX_USERNAME, c.username)
		if c.vars != nil {
			put(runtime.RUNTIME_CTX_VARS, c.vars)
		}
		put(runtime.RUNTIME_CTX_USER_SESSION_EXP, c.expiry)
		if c.sessionID != "" {
			put(runtime.RUNTIME_CTX_SESSION_ID, c.sessionID)
			put(runtime.RUNTIME_CTX_LANG, c.lang)
		}
	}
	if c.clientIP != "" {
		put(runtime.RUNTIME_CTX_CLIENT_IP, c.clientIP)
	}
	if c.clientPort != "" {
		put(runtime.RUNTIME_CTX_CLIENT_PORT, c.clientPort)
	}
	if c.traceID != "" {
		put(runtime.RUNTIME_CTX_TRACE_ID, c.traceID)
	}
	return ctx
}

// lowerID is how ids of RPCs and hooks are compared.
func lowerID(id string) string { return strings.ToLower(id) }
