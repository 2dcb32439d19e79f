// Package local is the embedded host: one process that runs the registration code of a Nakama module behind the part
// of Nakama's API that game clients use, without Docker, a database or Nakama. It behaves as Nakama 3.40.0 wherever a
// client or a match handler can see it. It is for development and tests: it keeps its state in memory, optionally in a
// file, and whatever it does not host answers "not in the local host".
package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// InitModule is a module's entry point, the same function that Nakama looks up in a plugin. The host has no database:
// db is nil.
type InitModule = func(ctx context.Context, logger runtime.Logger, db *sql.DB, nk runtime.NakamaModule, initializer runtime.Initializer) error

// Server is a running host.
type Server struct {
	cfg        Config
	module     *module
	nk         *nakama
	store      *store
	tokens     *tokens
	sessions   *sessions
	tracker    *tracker
	status     *statusFollowers
	router     *router
	matches    *matches
	matchmaker *matchmaker
	pipeline   *pipeline
	events     *events
	metrics    *metrics

	http     *http.Server
	listener net.Listener

	ctx      context.Context // of the host's own goroutines
	cancel   context.CancelFunc
	loops    sync.WaitGroup
	shutdown sync.Once
}

// New makes a server and runs the module's init. It fails if init does, with its error.
func New(cfg Config, init InitModule) (*Server, error) {
	cfg = cfg.withDefaults()
	if len(cfg.Name) > 16 {
		return nil, fmt.Errorf("the node's name %q is longer than 16 characters", cfg.Name)
	}
	s := &Server{cfg: cfg, module: newModule(), sessions: newSessions(), status: newStatusFollowers(), tokens: newTokens(cfg), metrics: newMetrics()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if cfg.Database != nil && cfg.StateFile != "" {
		return nil, errors.New("a server with a Database takes no StateFile")
	}
	db := cfg.Database
	var err error
	if db == nil {
		if db, err = OpenDatabase(cfg.StateFile); err != nil {
			return nil, err
		}
	}
	s.store = &store{Database: db, faults: cfg.Faults}
	s.tracker = newTracker(cfg, s.sessions)
	s.router = &router{sessions: s.sessions, logger: cfg.Logger}
	s.pipeline = &pipeline{srv: s}
	s.events = newEvents(s)
	s.nk = &nakama{srv: s}
	if s.matches, err = newMatches(s); err != nil {
		return nil, err
	}
	if s.matchmaker, err = newMatchmaker(s); err != nil {
		return nil, err
	}
	s.run()
	ctx := s.hookContext(s.ctx, modeRunOnce, caller{})
	if err := init(ctx, cfg.Logger, nil, s.nk, &initializer{srv: s}); err != nil {
		return nil, errors.Join(fmt.Errorf("InitModule: %w", err), s.halt())
	}
	return s, nil
}

// run starts the host's own goroutines.
func (s *Server) run() {
	s.events.run(s.ctx)
	s.background(s.matches.index.run)
	s.background(func() { s.tracker.run(s.ctx, s.matches, s.status, s.router) })
	go s.matchmaker.run(s.ctx) // not awaited: a hook of the module may hang in it
}

func (s *Server) background(f func()) {
	s.loops.Add(1)
	go func() {
		defer s.loops.Done()
		f()
	}()
}

// Start listens and serves. It returns as soon as clients can connect.
func (s *Server) Start() error {
	l, err := net.Listen("tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", s.cfg.Addr, err)
	}
	handler, err := s.handler()
	if err != nil {
		_ = l.Close() // the error is the other one
		return err
	}
	s.listener = l
	s.http = &http.Server{
		Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 5120, ErrorLog: stdLogger(s.cfg.Logger),
	}
	s.background(func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Logger.Error("The API stopped: %v", err)
		}
	})
	s.cfg.Logger.Info("Local host on %s: for development and tests, not for players", s.URL())
	return nil
}

// Addr is the address that the server listens on, once started.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL is the server's base URL, once started.
func (s *Server) URL() string { return "http://" + s.Addr() }
