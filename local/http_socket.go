package local

import (
	"crypto/sha256"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/gofrs/uuid/v5"
	"github.com/gorilla/websocket"
)

var upgrader = websocket.Upgrader{
	ReadBufferSize: 4096, WriteBufferSize: 4096, CheckOrigin: func(*http.Request) bool { return true },
}

// sessionIDs makes time-based session ids with a node part that is the node's alone.
func newSessionID(node string) uuid.UUID {
	gen := uuid.NewGenWithHWAF(func() (net.HardwareAddr, error) {
		sum := sha256.Sum256([]byte(node))
		return sum[:6], nil
	})
	return uuid.Must(gen.NewV1())
}

// serveSocket checks the token, upgrades the connection, and stays until the session has ended.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	var f format
	switch query.Get("format") {
	case "", "json":
	case "protobuf":
		f = formatProtobuf
	default:
		http.Error(w, "Invalid format parameter", http.StatusBadRequest)
		return
	}
	token := query.Get("token")
	if auth := r.Header.Get("Authorization"); auth != "" {
		token, _ = strings.CutPrefix(auth, "Bearer ")
	}
	who, err := s.tokens.parseSocket(token)
	if err != nil {
		http.Error(w, "Missing or invalid token", http.StatusUnauthorized)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	c := newSession(s, conn, newSessionID(s.cfg.Name), f, who)
	c.clientIP, c.clientPort = clientAddress(r)
	c.lang = query.Get("lang")
	orDefault(&c.lang, "en")
	status, _ := strconv.ParseBool(query.Get("status"))
	s.admit(c, status)
	c.consume()
}

// admit makes a session known. Every session hears its user's notifications; a status shows on request only.
func (s *Server) admit(c *session, status bool) {
	s.sessions.add(c)
	s.status.follow(c.id, c.userID)
	s.tracker.track(c.ctx, c, stream{Mode: modeNotifications, Subject: c.userID}, Presence{Username: c.username, Hidden: true})
	if status {
		s.tracker.track(c.ctx, c, stream{Mode: modeStatus, Subject: c.userID}, Presence{Username: c.username})
	}
	if s.cfg.SingleSocket {
		// By the time that this runs there may be newer ones, and Nakama closes those too: two sockets that open at about
		// the same time may close each other there. Here the newest always stays, for nobody could rely on the other.
		go s.sessions.disconnectUser(c.userID, c, "single_socket", notificationSingleSocket)
	}
}
