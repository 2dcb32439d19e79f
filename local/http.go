package local

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

var (
	gatewayJSON   = protojson.MarshalOptions{UseProtoNames: true, UseEnumNumbers: true}
	gatewayParser = protojson.UnmarshalOptions{DiscardUnknown: true}
)

// call is one API request: who calls, and the request.
type call struct {
	*http.Request
	who   identity
	query url.Values
}

// endpoint answers a call with a message, or with nil for an empty one.
type endpoint func(c *call) (proto.Message, error)

// handler serves the API. It fails if the module registered a path that cannot be served.
func (s *Server) handler() (h http.Handler, err error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /ws", s.serveSocket)
	mux.HandleFunc("GET /metrics", s.metrics.serve)
	mux.HandleFunc("GET /healthcheck", func(w http.ResponseWriter, _ *http.Request) { writeMessage(w, nil) })
	mux.HandleFunc("/v2/rpc/{id...}", s.serveRPC)
	for pattern, e := range s.authEndpoints() {
		mux.Handle(pattern, s.withServerKey(e))
	}
	for pattern, e := range s.userEndpoints() {
		mux.Handle(pattern, s.withToken(e))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, fail(codeUnimplemented, "not in the local host"))
	})
	defer func() {
		if r := recover(); r != nil { // the mux panics on a pattern that it cannot serve
			h, err = nil, fmt.Errorf("registering the module's HTTP handlers: %v", r)
		}
	}()
	for _, m := range s.module.http {
		s.mountModule(mux, m)
	}
	return s.cors(s.limit(mux)), nil
}

// mountModule serves a module's handler. The path is exact, as in Nakama; {name} is a variable of one segment.
func (s *Server) mountModule(mux *http.ServeMux, m httpHandler) {
	path := m.path
	if strings.HasSuffix(path, "/") {
		path += "{$}"
	}
	if len(m.methods) == 0 {
		mux.HandleFunc(path, m.serve)
	}
	for _, method := range m.methods {
		mux.HandleFunc(method+" "+path, m.serve)
	}
}

func (s *Server) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ws" && r.URL.Path != "/" {
			r.Body = http.MaxBytesReader(w, r.Body, s.cfg.Limits.Request)
			w.Header().Set("Cache-Control", "no-store, no-cache, must-revalidate")
		}
		next.ServeHTTP(w, r)
	})
}

// cors lets every web page in.
func (s *Server) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" {
			w.Header().Set("Access-Control-Allow-Origin", "*")
		}
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			w.Header().Set("Access-Control-Allow-Headers", "Authorization,Content-Type,User-Agent")
			w.Header().Set("Access-Control-Allow-Methods", "GET,HEAD,POST,PUT,DELETE")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func serve(w http.ResponseWriter, c *call, e endpoint) {
	out, err := e(c)
	if err != nil {
		writeError(w, err)
		return
	}
	writeMessage(w, out)
}

func writeMessage(w http.ResponseWriter, out proto.Message) {
	body := []byte("{}")
	if out != nil {
		b, err := gatewayJSON.Marshal(out)
		if err != nil {
			writeError(w, fail(codeInternal, err.Error()))
			return
		}
		body = b
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client may be gone
}

// writeError answers as the gRPC gateway does.
func writeError(w http.ResponseWriter, err error) {
	st := asStatus(err)
	writeJSON(w, st.code.httpStatus(), map[string]any{"code": int(st.code), "message": st.message})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"code":13,"message":"Internal Server Error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may be gone
}

// body parses the request's body into a message.
func (c *call) body(into proto.Message) error {
	raw, err := io.ReadAll(c.Body)
	if err != nil {
		return fail(codeInvalidArgument, err.Error())
	}
	if len(raw) == 0 {
		return nil
	}
	if err := gatewayParser.Unmarshal(raw, into); err != nil {
		return fail(codeInvalidArgument, err.Error())
	}
	return nil
}

// number reads a query parameter; ok is false if it is absent.
func (c *call) number(name string) (n int64, ok bool, err error) {
	raw, ok := c.query[name]
	if !ok {
		return 0, false, nil
	}
	n, err = strconv.ParseInt(raw[0], 10, 32)
	if err != nil {
		return 0, false, fail(codeInvalidArgument, "parsing field \""+name+"\": "+err.Error())
	}
	return n, true, nil
}

// flag reads a boolean query parameter, or nil if it is absent.
func (c *call) flag(name string) (*bool, error) {
	raw, ok := c.query[name]
	if !ok {
		return nil, nil
	}
	b, err := strconv.ParseBool(raw[0])
	if err != nil {
		return nil, fail(codeInvalidArgument, "parsing field \""+name+"\": "+err.Error())
	}
	return &b, nil
}

func (c *call) text(name string) *string {
	raw, ok := c.query[name]
	if !ok {
		return nil
	}
	return &raw[0]
}

// limitParam reads "limit" between 1 and most.
func (c *call) limitParam(dflt, most int) (int, error) {
	n, ok, err := c.number("limit")
	if err != nil {
		return 0, err
	}
	if !ok {
		return dflt, nil
	}
	if n < 1 || n > int64(most) {
		return 0, fail(codeInvalidArgument, fmt.Sprintf("Invalid limit - limit must be between 1 and %d.", most))
	}
	return int(n), nil
}
