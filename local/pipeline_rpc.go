package local

import (
	"context"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func (p *pipeline) rpc(ctx context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	req := in.GetRpc()
	if req.Id == "" {
		return refuse(s, in.Cid, rtapi.Error_BAD_INPUT, "RPC ID must be set")
	}
	if p.srv.module.rpc[lowerID(req.Id)] == nil {
		return refuse(s, in.Cid, rtapi.Error_RUNTIME_FUNCTION_NOT_FOUND, "RPC function not found")
	}
	result, _, err := p.srv.callRPC(ctx, lowerID(req.Id), s.caller(uuid.Must(uuid.NewV4()).String()), req.Payload)
	if err != nil {
		return refuse(s, in.Cid, rtapi.Error_RUNTIME_FUNCTION_EXCEPTION, err.Error())
	}
	return reply(s, &rtapi.Envelope{Cid: in.Cid, Message: &rtapi.Envelope_Rpc{Rpc: &api.Rpc{Id: req.Id, Payload: result}}})
}

func (p *pipeline) statusFollow(ctx context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	req := in.GetStatusFollow()
	ids, ok := userIDs(s, in.Cid, req.UserIds)
	if !ok {
		return false, nil
	}
	found, err := p.srv.store.usersByIDOrName(ctx, ids, req.Usernames)
	if err != nil {
		return refuse(s, in.Cid, rtapi.Error_RUNTIME_EXCEPTION, "Could not check users")
	}
	var follow []uuid.UUID
	for _, u := range found {
		if id := uuid.FromStringOrNil(u.ID); id != s.userID {
			follow = append(follow, id)
		}
	}
	p.srv.status.follow(s.id, follow...)
	out := &rtapi.Status{}
	for _, id := range follow {
		at := stream{Mode: modeStatus, Subject: id}
		for _, pr := range p.srv.tracker.list(at, false, true) {
			out.Presences = append(out.Presences, pr.wireIn(at))
		}
	}
	return reply(s, &rtapi.Envelope{Cid: in.Cid, Message: &rtapi.Envelope_Status{Status: out}})
}

func (p *pipeline) statusUnfollow(_ context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	ids, ok := userIDs(s, in.Cid, in.GetStatusUnfollow().UserIds)
	if !ok {
		return false, nil
	}
	for _, raw := range ids {
		if id := uuid.FromStringOrNil(raw); id != s.userID {
			p.srv.status.unfollow(s.id, id)
		}
	}
	return reply(s, &rtapi.Envelope{Cid: in.Cid})
}

func userIDs(s *session, cid string, in []string) ([]string, bool) {
	out := make([]string, 0, len(in))
	for _, raw := range in {
		id, err := uuid.FromString(raw)
		if err != nil {
			refuse(s, cid, rtapi.Error_BAD_INPUT, "Invalid user identifier")
			return nil, false
		}
		out = append(out, id.String())
	}
	return out, true
}

// statusTextMax is the longest status text in bytes.
const statusTextMax = 2048

func (p *pipeline) statusUpdate(ctx context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	text := in.GetStatusUpdate().Status
	at := stream{Mode: modeStatus, Subject: s.userID}
	if text == nil { // no status is invisible
		p.srv.tracker.untrack(s.id, at, s.userID)
		return reply(s, &rtapi.Envelope{Cid: in.Cid})
	}
	if len(text.Value) > statusTextMax {
		return refuse(s, in.Cid, rtapi.Error_BAD_INPUT, "Status must be 2048 characters or less")
	}
	if !p.srv.tracker.update(ctx, s, at, Presence{Username: s.username, Status: text.Value}) {
		return refuse(s, in.Cid, rtapi.Error_RUNTIME_EXCEPTION, "Error tracking status update")
	}
	return reply(s, &rtapi.Envelope{Cid: in.Cid})
}

func stringValue(v string) *wrapperspb.StringValue { return wrapperspb.String(v) }
