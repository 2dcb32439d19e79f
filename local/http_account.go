package local

import (
	"context"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func (s *Server) userEndpoints() map[string]endpoint {
	return map[string]endpoint{
		"POST /v2/session/logout":                   s.logout,
		"GET /v2/account":                           s.getAccount,
		"PUT /v2/account":                           s.updateAccount,
		"DELETE /v2/account":                        s.removeAccount,
		"GET /v2/user":                              s.getUsers,
		"GET /v2/match":                             s.listMatches,
		"POST /v2/storage":                          s.readStorage,
		"PUT /v2/storage":                           s.writeStorage,
		"PUT /v2/storage/delete":                    s.deleteStorage,
		"GET /v2/storage/{collection}":              s.listStorage,
		"GET /v2/storage/{collection}/{user}":       s.listStorage,
		"GET /v2/leaderboard/{board}":               s.listLeaderboard,
		"GET /v2/leaderboard/{board}/owner/{owner}": s.aroundOwner,
		"POST /v2/leaderboard/{board}":              s.writeLeaderboard,
		"DELETE /v2/leaderboard/{board}":            s.deleteLeaderboardRecord,
		"GET /v2/friend":                            s.listFriends,
		"POST /v2/friend":                           s.addFriends,
		"DELETE /v2/friend":                         s.deleteFriends,
		"POST /v2/friend/block":                     s.blockFriends,
	}
}

// hookCaller is who an API hook runs for: it has a user and an address and no session.
func (c *call) hookCaller() caller {
	ip, port := clientAddress(c.Request)
	return caller{
		userID: c.who.userID.String(), username: c.who.username, vars: c.who.vars, expiry: c.who.expiry,
		clientIP: ip, clientPort: port, traceID: uuid.Must(uuid.NewV4()).String(),
	}
}

func (s *Server) apiHook(c *call, mode string) context.Context {
	return s.hookContext(c.Context(), mode, c.hookCaller())
}

func (s *Server) getAccount(c *call) (proto.Message, error) {
	u, ok, err := s.store.user(c.Context(), c.who.userID.String())
	if err != nil {
		return nil, fail(codeInternal, "Error retrieving user account.")
	}
	if !ok {
		return nil, fail(codeNotFound, "Account not found.")
	}
	return u.account(s.online(u.ID)), nil
}

func (s *Server) updateAccount(c *call) (proto.Message, error) {
	in := &api.UpdateAccountRequest{}
	if err := c.body(in); err != nil {
		return nil, err
	}
	if hook := s.module.beforeUpdate; hook != nil {
		out, err := hook(s.apiHook(c, modeBefore), s.hookLogger("updateaccount", modeBefore), nil, s.nk, in)
		if in, err = hookOutcome(out, err); err != nil {
			return nil, err
		}
	}
	if u := in.Username; u != nil && (len(u.Value) < 1 || len(u.Value) > 128) {
		return nil, fail(codeInvalidArgument, "Username invalid, must be 1-128 bytes.")
	}
	err := s.store.updateAccount(c.Context(), accountChange{
		user: c.who.userID.String(), username: in.Username.GetValue(), display: unwrap(in.DisplayName), zone: unwrap(in.Timezone),
		location: unwrap(in.Location), lang: unwrap(in.LangTag), avatar: unwrap(in.AvatarUrl),
	})
	if err != nil {
		return nil, fail(codeInvalidArgument, err.Error()) // whatever it is
	}
	return nil, nil
}

func unwrap(v *wrapperspb.StringValue) *string {
	if v == nil {
		return nil
	}
	return &v.Value
}

// hookOutcome is what a before hook of the API means: an error with its code, nil for a disabled call.
func hookOutcome[T any](out *T, err error) (*T, error) {
	if err != nil {
		c, err := hookError(err)
		return nil, fail(c, err.Error())
	}
	if out == nil {
		return nil, fail(codeNotFound, "Requested resource was not found.")
	}
	return out, nil
}

func (s *Server) removeAccount(c *call) (proto.Message, error) {
	if hook := s.module.beforeDelete; hook != nil {
		if err := hook(s.apiHook(c, modeBefore), s.hookLogger("deleteaccount", modeBefore), nil, s.nk); err != nil {
			c, err := hookError(err)
			return nil, fail(c, err.Error())
		}
	}
	if err := s.deleteAccount(c.Context(), c.who.userID); err != nil {
		return nil, fail(codeInternal, "Error deleting user account.")
	}
	if hook := s.module.afterDelete; hook != nil {
		_ = hook(s.apiHook(c, modeAfter), s.hookLogger("deleteaccount", modeAfter), nil, s.nk) // it is too late to refuse
	}
	return nil, nil
}

func (s *Server) getUsers(c *call) (proto.Message, error) {
	ids, err := canonical(c.query["ids"])
	if err != nil {
		return nil, fail(codeInvalidArgument, "ID '"+firstBad(c.query["ids"])+"' is not a valid system ID.")
	}
	found, err := s.nk.users(c.Context(), ids, c.query["usernames"])
	if err != nil {
		return nil, fail(codeInternal, "Error retrieving user accounts.")
	}
	return &api.Users{Users: found}, nil
}

func firstBad(ids []string) string {
	for _, id := range ids {
		if _, err := uuid.FromString(id); err != nil {
			return id
		}
	}
	return ""
}

func (s *Server) listMatches(c *call) (proto.Message, error) {
	l, err := c.listing()
	if err != nil {
		return nil, err
	}
	if hook := s.module.beforeList; hook != nil {
		out, err := hook(s.apiHook(c, modeBefore), s.hookLogger("listmatches", modeBefore), nil, s.nk, l.request())
		if out, err = hookOutcome(out, err); err != nil {
			return nil, err
		}
		l = listingOf(out)
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	found, err := s.matches.list(c.Context(), l)
	if err != nil {
		s.cfg.Logger.Error("Error listing matches: %v", err)
		return nil, fail(codeInternal, "Error listing matches.")
	}
	return &api.MatchList{Matches: found}, nil
}
