package local

import (
	"context"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// Shutdown ends the server as Nakama ends on SIGTERM. With a grace period, the module's shutdown function and
// MatchTerminate, once a match, start together; matches then loop on until they end or the period does, while the API
// serves as before. Without one, matches just stop. When ctx is done the grace is cut short, as by a second signal.
// Sockets end without a close frame. A second call does nothing.
func (s *Server) Shutdown(ctx context.Context) error {
	var err error
	s.shutdown.Do(func() {
		if s.cfg.GraceSeconds > 0 {
			s.grace(ctx)
		}
		err = s.halt()
	})
	return err
}

func (s *Server) grace(ctx context.Context) {
	period := time.Duration(s.cfg.GraceSeconds) * time.Second
	hookDone := s.runShutdownHook(period)
	s.cfg.Logger.Info("Shutdown started, grace period %v", period)
	timer := time.NewTimer(period)
	defer timer.Stop()
	select {
	case <-s.matches.terminateAll(s.cfg.GraceSeconds):
		s.cfg.Logger.Info("All authoritative matches stopped")
	case <-timer.C:
		s.cfg.Logger.Info("Shutdown grace period expired")
		return // the hook is not awaited any more
	case <-ctx.Done():
		return
	}
	select {
	case <-hookDone:
	case <-timer.C:
		s.cfg.Logger.Info("Shutdown function grace period expired")
	case <-ctx.Done():
	}
}

func (s *Server) runShutdownHook(period time.Duration) <-chan struct{} {
	done := make(chan struct{})
	if s.module.shutdown == nil {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(s.ctx), period, runtime.ErrGracePeriodExpired)
		defer cancel()
		ctx = s.hookContext(ctx, modeShutdown, caller{})
		s.module.shutdown(ctx, s.cfg.Logger.WithField("mode", modeShutdown), nil, s.nk)
	}()
	return done
}

// lastWordsWait is how long matches' last frames may take to leave, as the rest of a Nakama's exit takes a moment.
const lastWordsWait = 250 * time.Millisecond

func (s *Server) flushSockets() {
	deadline := time.Now().Add(lastWordsWait)
	wait := func(busy func() bool) {
		for busy() && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
	}
	wait(func() bool { return s.matches.stopping.Load() > 0 })
	for _, c := range s.sessions.all() {
		wait(func() bool { return c.unsent.Load() > 0 })
	}
}

// Kill ends the server as nearly as a process can kill a part of itself: the database refuses the module from now on,
// neither MatchTerminate nor the shutdown hook runs, sockets end. The module's own goroutines live on, without effect.
func (s *Server) Kill() {
	s.store.end()
	s.shutdown.Do(func() { _ = s.halt() }) // a killed process reports nothing
}

// halt stops everything at once. A database that is the server's own is closed.
func (s *Server) halt() error {
	s.matches.stopAll()
	s.flushSockets()
	s.cancel()
	if s.http != nil {
		_ = s.http.Close() // sockets are hijacked and closed below
	}
	for _, c := range s.sessions.all() {
		c.close("", runtime.PresenceReasonDisconnect)
	}
	s.loops.Wait()
	s.store.end()
	if s.cfg.Database != nil {
		return nil
	}
	return s.store.Close()
}
