package local

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/gofrs/uuid/v5"
)

// callRPC runs a registered RPC by its lower-cased id.
func (s *Server) callRPC(ctx context.Context, id string, who caller, payload string) (string, code, error) {
	result, err := s.module.rpc[id](s.hookContext(ctx, modeRPC, who), s.cfg.Logger.WithField("rpc_id", id), nil, s.nk, payload)
	if err != nil {
		c, err := hookError(err)
		return "", c, err
	}
	return result, codeOK, nil
}

// serveRPC is RPC over HTTP. A panic in the function is net/http's to recover: the client sees the connection close.
func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		writeError(w, fail(codeUnimplemented, "Method Not Allowed"))
		return
	}
	query := r.URL.Query()
	who, refused := s.rpcCaller(r, query.Get("http_key"))
	if refused != "" {
		rpcRefusal(w, codeUnauthenticated, refused)
		return
	}
	id := r.PathValue("id")
	if id == "" {
		rpcRefusal(w, codeInvalidArgument, "RPC ID must be set")
		return
	}
	if s.module.rpc[lowerID(id)] == nil {
		rpcRefusal(w, codeNotFound, "RPC function not found")
		return
	}
	_, unwrapped := query["unwrap"]
	payload, ok := rpcPayload(w, r, unwrapped)
	if !ok {
		return
	}
	query.Del("http_key")
	who.query = query
	result, c, err := s.callRPC(r.Context(), lowerID(id), who, payload)
	switch {
	case err != nil:
		writeJSON(w, c.httpStatus(), map[string]any{"error": err, "message": err.Error(), "code": int(c)})
	case unwrapped:
		contentType := r.Header.Get("Content-Type")
		orDefault(&contentType, "text/plain")
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, result) // the client may be gone
	default:
		writeJSON(w, http.StatusOK, map[string]any{"payload": result})
	}
}

func rpcRefusal(w http.ResponseWriter, c code, message string) {
	writeJSON(w, c.httpStatus(), map[string]any{"error": message, "message": message, "code": int(c)})
}

// rpcCaller checks the HTTP key or the token. With the key there is no user.
func (s *Server) rpcCaller(r *http.Request, key string) (c caller, refused string) {
	auth := r.Header.Get("Authorization")
	basic, isBasic := parseBasic(auth)
	switch {
	case key == "" && isBasic:
		key = basic
		fallthrough
	case key != "":
		if key != s.cfg.HTTPKey {
			return c, "HTTP key invalid"
		}
	case auth == "":
		return c, "Auth token or HTTP key required"
	default:
		who, err := s.bearer(auth)
		if err != nil {
			return c, "Auth token invalid"
		}
		c = caller{userID: who.userID.String(), username: who.username, vars: who.vars, expiry: who.expiry}
	}
	c.clientIP, c.clientPort = clientAddress(r)
	c.traceID = uuid.Must(uuid.NewV4()).String()
	c.headers = r.Header.Clone()
	return c, ""
}

// rpcPayload reads the body: a JSON string, or anything if unwrapped.
func rpcPayload(w http.ResponseWriter, r *http.Request, unwrapped bool) (payload string, ok bool) {
	if r.Method != http.MethodPost {
		return "", true
	}
	b, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		writeJSON(w, http.StatusBadRequest, map[string]any{"code": int(codeInvalidArgument), "message": err.Error()})
		return "", false
	}
	if err != nil {
		rpcRefusal(w, codeInternal, "Internal Server Error")
		return "", false
	}
	if len(b) == 0 || unwrapped {
		return string(b), true
	}
	if err := json.Unmarshal(b, &payload); err != nil {
		rpcRefusal(w, codeInvalidArgument, "json: cannot unmarshal object into Go value of type string")
		return "", false
	}
	return payload, true
}

// clientAddress is the client's address, behind at most one proxy.
func clientAddress(r *http.Request) (ip, port string) {
	if forwarded := r.Header.Get("X-Forwarded-For"); forwarded != "" {
		parts := strings.Split(forwarded, ",")
		last := strings.TrimSpace(parts[len(parts)-1])
		if host, port, err := net.SplitHostPort(last); err == nil {
			return host, port
		}
		return last, ""
	}
	ip, port, _ = net.SplitHostPort(r.RemoteAddr) // net/http always sets host:port
	return ip, port
}
