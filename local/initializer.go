package local

import (
	"context"
	"database/sql"
	"net/http"
	"sync"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
)

type (
	rpcFunc       = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, payload string) (string, error)
	matchFunc     = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule) (runtime.Match, error)
	beforeRtFunc  = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, in *rtapi.Envelope) (*rtapi.Envelope, error)
	afterRtFunc   = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, out, in *rtapi.Envelope) error
	matchedFunc   = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, entries []runtime.MatchmakerEntry) (string, error)
	shutdownFunc  = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule)
	deleteHook    = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule) error
	updateHook    = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, in *api.UpdateAccountRequest) (*api.UpdateAccountRequest, error)
	writeHook     = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, in *api.WriteStorageObjectsRequest) (*api.WriteStorageObjectsRequest, error)
	deleteObjHook = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, in *api.DeleteStorageObjectsRequest) (*api.DeleteStorageObjectsRequest, error)
	listMatchHook = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, in *api.ListMatchesRequest) (*api.ListMatchesRequest, error)
)

// httpHandler is a handler that the module serves beside the API.
type httpHandler struct {
	path    string
	methods []string
	serve   func(http.ResponseWriter, *http.Request)
}

// module is what a module registered. All of it but matches is read-only once InitModule has returned.
type module struct {
	rpc                       map[string]rpcFunc
	beforeRt                  map[string]beforeRtFunc
	afterRt                   map[string]afterRtFunc
	matched                   matchedFunc
	shutdown                  shutdownFunc
	beforeDelete, afterDelete deleteHook
	beforeUpdate              updateHook
	beforeList                listMatchHook
	beforeWrite               writeHook
	beforeDeleteObjects       deleteObjHook
	beforeListStorage         listStorageHook
	http                      []httpHandler

	mu      sync.RWMutex
	matches map[string]matchFunc
}

func newModule() *module {
	return &module{
		rpc: map[string]rpcFunc{}, beforeRt: map[string]beforeRtFunc{}, afterRt: map[string]afterRtFunc{},
		matches: map[string]matchFunc{},
	}
}

func (m *module) match(name string) matchFunc {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.matches[name]
}

// initializer is the runtime.Initializer that InitModule gets. A second registration replaces the first, silently.
type initializer struct {
	unsupportedInitializer
	srv *Server
}

var _ runtime.Initializer = (*initializer)(nil)

// realtimePrefix makes the lower-cased Go type name of an envelope's message out of a hook's id.
const realtimePrefix = "*rtapi.envelope_"

func (i *initializer) GetConfig() (runtime.Config, error) { return i.srv.runtimeConfig(), nil }

func (i *initializer) RegisterRpc(id string, fn rpcFunc) error {
	i.srv.module.rpc[lowerID(id)] = fn
	return nil
}

func (i *initializer) RegisterMatch(name string, fn matchFunc) error {
	i.srv.module.mu.Lock()
	defer i.srv.module.mu.Unlock()
	i.srv.module.matches[name] = fn
	return nil
}

func (i *initializer) RegisterBeforeRt(id string, fn beforeRtFunc) error {
	i.srv.module.beforeRt[realtimePrefix+lowerID(id)] = fn
	return nil
}

func (i *initializer) RegisterAfterRt(id string, fn afterRtFunc) error {
	i.srv.module.afterRt[realtimePrefix+lowerID(id)] = fn
	return nil
}

func (i *initializer) RegisterMatchmakerMatched(fn matchedFunc) error {
	i.srv.module.matched = fn
	return nil
}

func (i *initializer) RegisterShutdown(fn shutdownFunc) error {
	i.srv.module.shutdown = fn
	return nil
}

func (i *initializer) RegisterEventSessionStart(fn func(ctx context.Context, logger runtime.Logger, evt *api.Event)) error {
	i.srv.events.start = append(i.srv.events.start, fn)
	return nil
}

func (i *initializer) RegisterEventSessionEnd(fn func(ctx context.Context, logger runtime.Logger, evt *api.Event)) error {
	i.srv.events.end = append(i.srv.events.end, fn)
	return nil
}

func (i *initializer) RegisterBeforeDeleteAccount(fn deleteHook) error {
	i.srv.module.beforeDelete = fn
	return nil
}

func (i *initializer) RegisterAfterDeleteAccount(fn deleteHook) error {
	i.srv.module.afterDelete = fn
	return nil
}

func (i *initializer) RegisterBeforeUpdateAccount(fn updateHook) error {
	i.srv.module.beforeUpdate = fn
	return nil
}

func (i *initializer) RegisterBeforeWriteStorageObjects(fn writeHook) error {
	i.srv.module.beforeWrite = fn
	return nil
}

func (i *initializer) RegisterBeforeDeleteStorageObjects(fn deleteObjHook) error {
	i.srv.module.beforeDeleteObjects = fn
	return nil
}

func (i *initializer) RegisterBeforeListMatches(fn listMatchHook) error {
	i.srv.module.beforeList = fn
	return nil
}

func (i *initializer) RegisterHttp(pathPattern string, handler func(http.ResponseWriter, *http.Request), methods ...string) error {
	i.srv.module.http = append(i.srv.module.http, httpHandler{path: pathPattern, methods: methods, serve: handler})
	return nil
}
