package local

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"google.golang.org/protobuf/proto"
)

// parseBasic returns the user name of Basic authentication.
func parseBasic(header string) (string, bool) {
	raw, ok := strings.CutPrefix(header, "Basic ")
	if !ok {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(raw)
	if err != nil {
		return "", false
	}
	name, _, ok := strings.Cut(string(b), ":")
	return name, ok
}

func (s *Server) withServerKey(e endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		if auth == "" {
			writeError(w, fail(codeUnauthenticated, "Server key required"))
			return
		}
		if key, ok := parseBasic(auth); !ok || key != s.cfg.ServerKey {
			writeError(w, fail(codeUnauthenticated, "Server key invalid"))
			return
		}
		serve(w, &call{Request: r, query: r.URL.Query()}, e)
	})
}

func (s *Server) withToken(e endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		if auth == "" {
			writeError(w, fail(codeUnauthenticated, "Auth token required"))
			return
		}
		who, err := s.bearer(auth)
		if err != nil {
			writeError(w, fail(codeUnauthenticated, "Auth token invalid"))
			return
		}
		serve(w, &call{Request: r, who: who, query: r.URL.Query()}, e)
	})
}

func (s *Server) bearer(header string) (identity, error) {
	token, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		return identity{}, errTokenInvalid
	}
	return s.tokens.parseSession(token)
}

func (s *Server) authEndpoints() map[string]endpoint {
	return map[string]endpoint{
		"POST /v2/account/authenticate/device": s.authenticateDevice,
		"POST /v2/account/authenticate/custom": s.authenticateCustom,
		"POST /v2/account/authenticate/email":  s.authenticateEmail,
		"POST /v2/account/session/refresh":     s.refreshSession,
	}
}

// creation reads the query parameters of the authenticate calls.
func (c *call) creation() (username string, create bool, err error) {
	flag, err := c.flag("create")
	return c.query.Get("username"), flag == nil || *flag, err
}

func (s *Server) authenticateDevice(c *call) (proto.Message, error) {
	in := &api.AccountDevice{}
	username, create, err := c.creation()
	if err == nil {
		err = c.body(in)
	}
	if err != nil {
		return nil, err
	}
	u, created, err := s.store.authenticateDevice(c.Context(), in.Id, username, create)
	return s.newSession(u, created, in.Vars, err)
}

func (s *Server) authenticateCustom(c *call) (proto.Message, error) {
	in := &api.AccountCustom{}
	username, create, err := c.creation()
	if err == nil {
		err = c.body(in)
	}
	if err != nil {
		return nil, err
	}
	u, created, err := s.store.authenticateCustom(c.Context(), in.Id, username, create)
	return s.newSession(u, created, in.Vars, err)
}

func (s *Server) authenticateEmail(c *call) (proto.Message, error) {
	in := &api.AccountEmail{}
	username, create, err := c.creation()
	if err == nil {
		err = c.body(in)
	}
	if err != nil {
		return nil, err
	}
	u, created, err := s.store.authenticateEmail(c.Context(), in.Email, in.Password, username, create)
	return s.newSession(u, created, in.Vars, err)
}

func (s *Server) newSession(u user, created bool, vars map[string]string, err error) (proto.Message, error) {
	if err != nil {
		return nil, err
	}
	token, refresh := s.tokens.pair(uuid.Must(uuid.NewV4()).String(), u.ID, u.Username, vars)
	return &api.Session{Created: created, Token: token, RefreshToken: refresh}, nil
}

// refreshSession makes a new pair of tokens with the old id. New vars replace the old ones, if there are any.
func (s *Server) refreshSession(c *call) (proto.Message, error) {
	in := &api.SessionRefreshRequest{}
	if err := c.body(in); err != nil {
		return nil, err
	}
	if in.Token == "" {
		return nil, fail(codeInvalidArgument, "Refresh token is required.")
	}
	who, err := s.tokens.parseRefresh(in.Token)
	if err != nil {
		return nil, fail(codeUnauthenticated, "Refresh token invalid or expired.")
	}
	u, ok, err := s.store.user(c.Context(), who.userID.String())
	if err != nil {
		return nil, fail(codeInternal, "Error finding user account.")
	}
	if !ok {
		return nil, fail(codeNotFound, "User account not found.")
	}
	if u.Banned {
		return nil, fail(codePermissionDenied, "User account banned.")
	}
	vars := in.Vars
	if vars == nil {
		vars = who.vars
	}
	token, refresh := s.tokens.pair(who.tokenID, u.ID, u.Username, vars)
	return &api.Session{Token: token, RefreshToken: refresh}, nil
}

// logout voids the tokens that are named, which must be the caller's, or all of the caller's if none is.
func (s *Server) logout(c *call) (proto.Message, error) {
	in := &api.SessionLogoutRequest{}
	if err := c.body(in); err != nil {
		return nil, err
	}
	var session, refresh identity
	var err error
	if in.Token != "" {
		if session, err = s.tokens.parseSession(in.Token); err != nil || session.userID != c.who.userID {
			return nil, fail(codeInvalidArgument, "Session token invalid.")
		}
	}
	if in.RefreshToken != "" {
		if refresh, err = s.tokens.parseRefresh(in.RefreshToken); err != nil || refresh.userID != c.who.userID {
			return nil, fail(codeInvalidArgument, "Refresh token invalid.")
		}
	}
	if in.Token == "" && in.RefreshToken == "" {
		s.tokens.voidUser(c.who.userID)
		return nil, nil
	}
	s.tokens.revoke(session.tokenID, refresh.tokenID)
	return nil, nil
}
