package local

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/gorilla/websocket"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
)

// errOutgoingFull is why a session is cut off whose client does not read.
var errOutgoingFull = errors.New("session outgoing queue full")

// pingBackoff is the number of messages received in a ping period that make the ping unnecessary.
const pingBackoff = 20

// session is one socket of one user. One goroutine reads and processes, another writes.
type session struct {
	srv                  *Server
	nth                  uint64 // of all that were admitted, from 1
	id, userID           uuid.UUID
	username             string
	vars                 map[string]string
	expiry               int64
	clientIP, clientPort string
	lang                 string
	format               format
	logger               runtime.Logger

	ctx      context.Context
	cancel   context.CancelFunc
	closing  sync.Mutex // held while ctx is cancelled or a presence is added
	conn     *websocket.Conn
	outgoing chan []byte
	unsent   atomic.Int64 // frames queued and not yet written

	mu        sync.Mutex // guards stopped, the ping timer and writes to conn
	stopped   bool
	ping      *time.Timer
	closeSent atomic.Bool
	closeAck  chan struct{}
	received  int // only touched by the reading goroutine
}

func newSession(srv *Server, conn *websocket.Conn, id uuid.UUID, f format, who identity) *session {
	ctx, cancel := context.WithCancel(context.Background())
	return &session{
		srv: srv, id: id, userID: who.userID, username: who.username, vars: who.vars, expiry: who.expiry, format: f,
		logger: srv.cfg.Logger.WithFields(map[string]any{"uid": who.userID.String(), "sid": id.String()}),
		ctx:    ctx, cancel: cancel, conn: conn,
		outgoing: make(chan []byte, srv.cfg.Queues.Outgoing),
		ping:     time.NewTimer(srv.cfg.Timing.Ping),
		closeAck: make(chan struct{}),
		received: pingBackoff,
	}
}

// consume reads and processes messages until the socket ends. A panic in a hook leaves without closing the session,
// which then lives on as a zombie, as in Nakama.
func (s *session) consume() {
	s.srv.events.sessionStart(s)
	s.conn.SetReadLimit(s.srv.cfg.Limits.Message)
	if err := s.conn.SetReadDeadline(time.Now().Add(s.srv.cfg.Timing.PongWait)); err != nil {
		s.close("failed to set initial read deadline", runtime.PresenceReasonDisconnect)
		return
	}
	s.conn.SetPongHandler(func(string) error { s.resetPing(); return nil })
	s.conn.SetCloseHandler(s.handleClose)
	go s.write()

	reason := ""
	for reason == "" {
		messageType, data, err := s.conn.ReadMessage()
		if err != nil {
			reason = readError(err)
			break
		}
		reason = s.receive(messageType, data)
	}
	s.close(reason, runtime.PresenceReasonDisconnect)
}

// readError returns why reading ended, or "" for an ordinary end.
func readError(err error) string {
	if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseNoStatusReceived) {
		return ""
	}
	if errors.Is(err, net.ErrClosed) {
		return ""
	}
	return err.Error()
}

// receive processes one frame and returns why the session must end, or "".
func (s *session) receive(messageType int, data []byte) string {
	if messageType != s.frameType() {
		return "received unexpected WebSocket message type"
	}
	s.received--
	if s.received <= 0 {
		s.received = pingBackoff
		if !s.resetPing() {
			return "error updating ping timer"
		}
	}
	in := &rtapi.Envelope{}
	if err := s.format.unmarshal(data, in); err != nil {
		s.logger.Warn("Received malformed payload")
		return "received malformed payload"
	}
	if !s.srv.pipeline.process(s, in) {
		return "error processing message"
	}
	return ""
}

func (s *session) handleClose(code int, _ string) error {
	if s.closeSent.CompareAndSwap(false, true) {
		deadline := time.Now().Add(s.srv.cfg.Timing.PongWait)
		_ = s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), deadline)
		return nil
	}
	close(s.closeAck)
	return nil
}

func (s *session) frameType() int {
	if s.format == formatProtobuf {
		return websocket.BinaryMessage
	}
	return websocket.TextMessage
}

// resetPing starts the ping period and the read deadline anew. It is false once the session has stopped.
func (s *session) resetPing() bool {
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return false
	}
	s.ping.Reset(s.srv.cfg.Timing.Ping)
	err := s.conn.SetReadDeadline(time.Now().Add(s.srv.cfg.Timing.PongWait))
	s.mu.Unlock()
	if err != nil {
		s.close("failed to set read deadline", runtime.PresenceReasonDisconnect)
	}
	return err == nil
}

// write sends queued frames and pings until the session ends.
func (s *session) write() {
	reason := ""
	for {
		var ok bool
		select {
		case <-s.ctx.Done():
			s.close("", runtime.PresenceReasonDisconnect)
			return
		case <-s.ping.C:
			reason, ok = s.writeFrame(websocket.PingMessage, []byte{})
		case payload := <-s.outgoing:
			reason, ok = s.writeFrame(s.frameType(), payload)
			s.unsent.Add(-1)
		}
		if !ok {
			s.close(reason, runtime.PresenceReasonDisconnect)
			return
		}
	}
}

func (s *session) writeFrame(messageType int, payload []byte) (reason string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return "", false
	}
	if err := s.writeLocked(messageType, payload); err != nil {
		s.couldNotWrite(err)
		return err.Error(), false
	}
	return "", true
}

// couldNotWrite logs that a frame is lost. That clients go while something is on its way to them is every day's.
func (s *session) couldNotWrite(err error) {
	const text = "Could not write message: %v"
	if errors.Is(err, websocket.ErrCloseSent) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		s.logger.Debug(text, err)
		return
	}
	s.logger.Warn(text, err)
}

func (s *session) writeLocked(messageType int, payload []byte) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.srv.cfg.Timing.WriteWait)); err != nil {
		return err
	}
	return s.conn.WriteMessage(messageType, payload)
}

// send encodes an envelope for this session alone and queues it.
func (s *session) send(e *rtapi.Envelope) {
	b, err := s.format.marshal(e)
	if err != nil {
		s.logger.Warn("Could not marshal envelope: %v", err)
		return
	}
	_ = s.queue(b) // a full queue has closed the session: nobody is left to tell
}

// queue adds an encoded frame. When the queue is full the session is cut off, for the alternative is to lose frames.
func (s *session) queue(payload []byte) error {
	if !s.srv.cfg.Faults.outgoingFull(s.id.String()) {
		s.unsent.Add(1)
		select {
		case s.outgoing <- payload:
			return nil
		default:
			s.unsent.Add(-1)
		}
	}
	s.logger.Warn("Could not write message, session outgoing queue full")
	go s.close(errOutgoingFull.Error(), runtime.PresenceReasonDisconnect)
	return errOutgoingFull
}
