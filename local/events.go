package local

import (
	"context"
	"time"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// eventWorkers is the number of goroutines that run event functions.
const eventWorkers = 8

type eventFunc func(ctx context.Context, logger runtime.Logger, evt *api.Event)

// events runs the module's session event functions on workers of its own; a full queue loses events.
type events struct {
	srv        *Server
	queue      chan func()
	start, end []eventFunc // set by the module at registration, read-only after that
}

func newEvents(srv *Server) *events {
	return &events{srv: srv, queue: make(chan func(), srv.cfg.Queues.Events)}
}

func (e *events) run(ctx context.Context) {
	for range eventWorkers {
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case fn := <-e.queue:
					fn()
				}
			}
		}()
	}
}

func (e *events) sessionStart(s *session) {
	e.emit(s, e.start, &api.Event{Name: "session_start", Timestamp: now()}, false)
}

func (e *events) sessionEnd(s *session, reason string) {
	e.emit(s, e.end, &api.Event{
		Name: "session_end", Timestamp: now(), Properties: map[string]string{"reason": reason},
	}, true)
}

func now() *timestamppb.Timestamp { return &timestamppb.Timestamp{Seconds: time.Now().Unix()} }

// emit queues one event. The session's own context is over at its end, so an end event gets it without its cancellation.
func (e *events) emit(s *session, fns []eventFunc, evt *api.Event, ended bool) {
	if len(fns) == 0 {
		return
	}
	ctx := e.srv.hookContext(s.ctx, modeEvent, s.caller(""))
	run := func() {
		ctx, cancel := ctx, func() {}
		if ended {
			ctx, cancel = context.WithCancel(context.WithoutCancel(ctx))
		}
		defer cancel()
		for _, fn := range fns {
			fn(ctx, e.srv.cfg.Logger, evt)
		}
	}
	select {
	case e.queue <- run:
	default:
		e.srv.cfg.Logger.Warn("Runtime event queue full, events may be lost")
	}
}
