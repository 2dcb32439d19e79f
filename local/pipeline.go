package local

import (
	"context"
	"fmt"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
)

// pipeline processes the messages of sockets.
type pipeline struct{ srv *Server }

// step processes one kind of message. It takes the message's fields without asking whether the envelope still holds
// that kind: if a hook has changed it, the nil dereference leaves a zombie session, as in Nakama. Only success lets the after hook run; out is the reply that it is shown.
type step func(ctx context.Context, s *session, in *rtapi.Envelope) (success bool, out *rtapi.Envelope)

// process handles one message. It is false if the session must be closed.
func (p *pipeline) process(s *session, in *rtapi.Envelope) bool {
	if in.Message == nil {
		s.send(errorEnvelope(in.Cid, rtapi.Error_MISSING_PAYLOAD, "Missing message."))
		return false
	}
	// The step is chosen before the hook runs: a hook that changes the type of the message kills the session.
	run := p.step(in)
	if run == nil {
		s.send(errorEnvelope(in.Cid, rtapi.Error_UNRECOGNIZED_PAYLOAD, "Unrecognized message."))
		return false
	}
	ctx := s.ctx
	if _, isRPC := in.Message.(*rtapi.Envelope_Rpc); isRPC {
		run(ctx, s, in) // RPCs have no hooks
		return true
	}
	traceID := uuid.Must(uuid.NewV4()).String()
	name := fmt.Sprintf("%T", in.Message)
	in, goOn, keep := p.before(ctx, s, lowerID(name), traceID, in)
	if !goOn {
		return keep
	}
	success, out := run(ctx, s, in)
	if after := p.srv.module.afterRt[lowerID(name)]; success && after != nil {
		hookCtx := p.srv.hookContext(ctx, modeAfter, s.caller(traceID))
		_ = after(hookCtx, p.srv.hookLogger(lowerID(name), modeAfter), nil, p.srv.nk, out, in) // Nakama drops the error too
	}
	return true
}

// before runs the hook of a message, if there is one. goOn is false if the message is dealt with; keep then says
// whether the session goes on: it does after an error, it does not if the hook disabled the message with nil.
func (p *pipeline) before(ctx context.Context, s *session, id, traceID string, in *rtapi.Envelope) (out *rtapi.Envelope, goOn, keep bool) {
	hook := p.srv.module.beforeRt[id]
	if hook == nil {
		return in, true, true
	}
	hookCtx := p.srv.hookContext(ctx, modeBefore, s.caller(traceID))
	out, err := hook(hookCtx, p.srv.hookLogger(id, modeBefore), nil, p.srv.nk, in)
	switch {
	case err != nil:
		s.send(errorEnvelope(in.Cid, rtapi.Error_RUNTIME_FUNCTION_EXCEPTION, err.Error()))
		return nil, false, true
	case out == nil:
		s.logger.Warn("Intercepted a disabled resource: %v", id)
		s.send(errorEnvelope(in.Cid, rtapi.Error_UNRECOGNIZED_PAYLOAD, "Requested resource was not found."))
		return nil, false, false
	}
	return out, true, true
}

// step returns what processes a message, or nil if nothing does.
func (p *pipeline) step(in *rtapi.Envelope) step {
	switch in.Message.(type) {
	case *rtapi.Envelope_MatchCreate:
		return p.matchCreate
	case *rtapi.Envelope_MatchJoin:
		return p.matchJoin
	case *rtapi.Envelope_MatchLeave:
		return p.matchLeave
	case *rtapi.Envelope_MatchDataSend:
		return p.matchDataSend
	case *rtapi.Envelope_MatchmakerAdd:
		return p.matchmakerAdd
	case *rtapi.Envelope_MatchmakerRemove:
		return p.matchmakerRemove
	case *rtapi.Envelope_Rpc:
		return p.rpc
	case *rtapi.Envelope_Ping:
		return p.ping
	case *rtapi.Envelope_Pong:
		return p.pong
	case *rtapi.Envelope_StatusFollow:
		return p.statusFollow
	case *rtapi.Envelope_StatusUnfollow:
		return p.statusUnfollow
	case *rtapi.Envelope_StatusUpdate:
		return p.statusUpdate
	case *rtapi.Envelope_ChannelJoin, *rtapi.Envelope_ChannelLeave, *rtapi.Envelope_ChannelMessageSend,
		*rtapi.Envelope_ChannelMessageUpdate, *rtapi.Envelope_ChannelMessageRemove, *rtapi.Envelope_PartyCreate,
		*rtapi.Envelope_PartyJoin, *rtapi.Envelope_PartyLeave, *rtapi.Envelope_PartyPromote, *rtapi.Envelope_PartyAccept,
		*rtapi.Envelope_PartyRemove, *rtapi.Envelope_PartyClose, *rtapi.Envelope_PartyJoinRequestList,
		*rtapi.Envelope_PartyMatchmakerAdd, *rtapi.Envelope_PartyMatchmakerRemove, *rtapi.Envelope_PartyDataSend,
		*rtapi.Envelope_PartyUpdate:
		return p.unsupported
	}
	return nil
}

func (p *pipeline) unsupported(_ context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	s.send(errorEnvelope(in.Cid, rtapi.Error_RUNTIME_EXCEPTION, "not in the local host"))
	return false, nil
}

func (p *pipeline) ping(_ context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	return reply(s, &rtapi.Envelope{Cid: in.Cid, Message: &rtapi.Envelope_Pong{Pong: &rtapi.Pong{}}})
}

func (p *pipeline) pong(context.Context, *session, *rtapi.Envelope) (bool, *rtapi.Envelope) {
	return true, nil
}

func reply(s *session, out *rtapi.Envelope) (bool, *rtapi.Envelope) {
	s.send(out)
	return true, out
}

func refuse(s *session, cid string, code rtapi.Error_Code, message string) (bool, *rtapi.Envelope) {
	s.send(errorEnvelope(cid, code, message))
	return false, nil
}

func errorEnvelope(cid string, code rtapi.Error_Code, message string) *rtapi.Envelope {
	return &rtapi.Envelope{Cid: cid, Message: &rtapi.Envelope_Error{Error: &rtapi.Error{
		Code: int32(code), Message: message,
	}}}
}

func (s *Server) hookLogger(id, mode string) runtime.Logger {
	return s.cfg.Logger.WithFields(map[string]any{"api_id": id, "mode": mode})
}
