package local

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
)

func (s *session) self() *rtapi.UserPresence {
	return &rtapi.UserPresence{UserId: s.userID.String(), SessionId: s.id.String(), Username: s.username}
}

func (p *pipeline) matchCreate(ctx context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	id := uuid.Must(uuid.NewV4())
	name := in.GetMatchCreate().Name
	if name != "" {
		id = uuid.NewV5(uuid.NamespaceDNS, name)
	}
	at := matchID{id: id}.stream()
	ok, isNew := p.srv.tracker.track(ctx, s, at, Presence{Username: s.username})
	if !ok {
		return false, nil
	}
	match := &rtapi.Match{MatchId: id.String() + ".", Size: 1, Self: s.self()}
	if name != "" {
		match.Size = int32(p.srv.tracker.count(at))
		match.Presences = p.others(s, at, isNew)
	}
	return reply(s, &rtapi.Envelope{Cid: in.Cid, Message: &rtapi.Envelope_Match{Match: match}})
}

// others lists a relayed match's presences; a session that has just joined is not among them, one that was there is.
func (p *pipeline) others(s *session, at stream, isNew bool) []*rtapi.UserPresence {
	var out []*rtapi.UserPresence
	for _, pr := range p.srv.tracker.list(at, false, true) {
		if !isNew || pr.SessionID != s.id {
			out = append(out, pr.wire())
		}
	}
	return out
}

func (p *pipeline) matchJoin(ctx context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	req := in.GetMatchJoin()
	var raw, invalid string
	switch id := req.Id.(type) {
	case *rtapi.MatchJoin_MatchId:
		raw, invalid = id.MatchId, "Invalid match ID"
	case *rtapi.MatchJoin_Token:
		invalid = "Invalid match token"
		raw, _ = p.srv.tokens.parseMatch(id.Token) // "" is no match id either
	default:
		return refuse(s, in.Cid, rtapi.Error_BAD_INPUT, "No match ID or token found")
	}
	id, ok := parseMatchID(raw)
	if !ok {
		return refuse(s, in.Cid, rtapi.Error_BAD_INPUT, invalid)
	}
	if id.node == "" {
		_, byToken := req.GetId().(*rtapi.MatchJoin_Token)
		return p.joinRelayed(ctx, s, in.Cid, raw, id, byToken)
	}
	return p.joinAuthoritative(ctx, s, in.Cid, raw, id, req.Metadata)
}

func (p *pipeline) joinRelayed(ctx context.Context, s *session, cid, raw string, id matchID, allowEmpty bool) (bool, *rtapi.Envelope) {
	at := id.stream()
	if !allowEmpty && p.srv.tracker.count(at) == 0 {
		return refuse(s, cid, rtapi.Error_MATCH_NOT_FOUND, "Match not found")
	}
	isNew := !p.srv.tracker.has(s.id, at, s.userID)
	if isNew {
		if ok, _ := p.srv.tracker.track(ctx, s, at, Presence{Username: s.username}); !ok {
			return false, nil
		}
	}
	others := p.others(s, at, isNew)
	return reply(s, &rtapi.Envelope{Cid: cid, Message: &rtapi.Envelope_Match{Match: &rtapi.Match{
		MatchId: raw, Size: int32(len(others)), Presences: others, Self: s.self(),
	}}})
}

// joinAuthoritative asks the match, then tracks the presence, then replies: MatchJoin, and what it broadcasts, may
// come before the reply.
func (p *pipeline) joinAuthoritative(ctx context.Context, s *session, cid, raw string, id matchID, metadata map[string]string) (bool, *rtapi.Envelope) {
	res := p.srv.matches.joinAttempt(ctx, s, id, metadata)
	if !res.found {
		return refuse(s, cid, rtapi.Error_MATCH_NOT_FOUND, "Match not found")
	}
	if !res.allow {
		if res.reason == "" {
			res.reason = "Match join rejected"
		}
		return refuse(s, cid, rtapi.Error_MATCH_JOIN_REJECTED, res.reason)
	}
	if res.isNew {
		// If the session is closing this fails, silently: the join marker's expiry cleans up.
		p.srv.tracker.track(ctx, s, id.stream(), Presence{Username: s.username})
	}
	var others []*rtapi.UserPresence
	for _, m := range res.members {
		if !res.isNew || m.SessionID != s.id {
			others = append(others, m.wire())
		}
	}
	return reply(s, &rtapi.Envelope{Cid: cid, Message: &rtapi.Envelope_Match{Match: &rtapi.Match{
		MatchId: raw, Authoritative: true, Label: stringValue(res.label),
		Size: int32(len(others)), Presences: others, Self: s.self(),
	}}})
}

func (p *pipeline) matchLeave(_ context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	id, ok := parseMatchID(in.GetMatchLeave().MatchId)
	if !ok {
		return refuse(s, in.Cid, rtapi.Error_BAD_INPUT, "Invalid match ID")
	}
	p.srv.tracker.untrack(s.id, id.stream(), s.userID)
	return reply(s, &rtapi.Envelope{Cid: in.Cid})
}

// matchDataSend has no reply, and no error for those who are not members. An error carries no cid, as in Nakama.
func (p *pipeline) matchDataSend(_ context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	msg := in.GetMatchDataSend()
	id, ok := parseMatchID(msg.MatchId)
	if !ok {
		return refuse(s, "", rtapi.Error_BAD_INPUT, "Invalid match ID")
	}
	if !p.srv.tracker.has(s.id, id.stream(), s.userID) {
		return false, nil
	}
	if id.node == "" {
		return p.relay(s, id, msg)
	}
	p.srv.matches.sendData(id, &matchData{
		Presence: Presence{Node: p.srv.cfg.Name, UserID: s.userID, SessionID: s.id, Username: s.username},
		opCode:   msg.OpCode, data: msg.Data, reliable: msg.Reliable, receiveTime: time.Now().UnixMilli(),
	})
	return true, nil
}

// relay sends data to the presences that the sender named, or to all but the sender.
func (p *pipeline) relay(s *session, id matchID, msg *rtapi.MatchDataSend) (bool, *rtapi.Envelope) {
	named := map[uuid.UUID]bool{}
	for _, pr := range msg.Presences {
		sid, err := uuid.FromString(pr.SessionId)
		if err != nil {
			return false, nil
		}
		named[sid] = true
	}
	var to []uuid.UUID
	for _, sid := range p.srv.tracker.sessionIDs(id.stream()) {
		if named[sid] || (len(named) == 0 && sid != s.id) {
			to = append(to, sid)
		}
	}
	p.srv.router.send(to, &rtapi.Envelope{Message: &rtapi.Envelope_MatchData{MatchData: &rtapi.MatchData{
		MatchId: msg.MatchId, Presence: s.self(), OpCode: msg.OpCode, Data: msg.Data, Reliable: msg.Reliable,
	}}})
	return true, nil
}
