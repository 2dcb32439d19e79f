package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
)

const (
	writeWait = 5 * time.Second  // a frame that cannot be written for so long means a dead connection
	readWait  = 60 * time.Second // Nakama pings every 15 s: after four missed ones the connection is dead
	closeWait = time.Second      // for the server's close frame

	maxTickets = 3 // of the matchmaker, that Nakama lets a session have

	readBufferBytes = 2 << 10 // a few of this protocol's frames; longer ones take more reads
)

// Socket is a realtime connection. It is safe for concurrent use. Close it when done.
type Socket struct {
	conn   *websocket.Conn
	format Format
	stats  socketStats

	writing sync.Mutex
	done    chan struct{} // closed when the reader has ended
	matched chan *rtapi.MatchmakerMatched

	mu      sync.Mutex
	lastCid uint64
	pending map[string]chan *rtapi.Envelope // by cid
	joining map[string]*Match               // by cid of the join
	matches map[string]*Match               // by match id as the server spells it
	strays  strayFrames
	err     error // why the reader ended
}

// OpenSocket connects the user.
func (c *Client) OpenSocket(ctx context.Context, user *User, format Format) (*Socket, error) {
	token, err := c.freshToken(ctx, user)
	if err != nil {
		return nil, err
	}
	address := *c.base
	address.Scheme = strings.Replace(address.Scheme, "http", "ws", 1)
	address.Path += "/ws"
	address.RawQuery = url.Values{"token": {token}, "format": {format.String()}, "lang": {"en"}, "status": {"false"}}.Encode()
	dialer := websocket.Dialer{HandshakeTimeout: requestTimeout, ReadBufferSize: readBufferBytes, WriteBufferPool: c.writes}
	conn, response, err := dialer.DialContext(ctx, address.String(), nil)
	if err != nil {
		if response != nil {
			return nil, &Error{Code: response.StatusCode, Message: "no socket: HTTP status " + response.Status}
		}
		return nil, fmt.Errorf("%w: %w", ErrNoRoute, err)
	}
	return newSocket(conn, format), nil
}

func newSocket(conn *websocket.Conn, format Format) *Socket {
	s := &Socket{
		conn:    conn,
		format:  format,
		done:    make(chan struct{}),
		matched: make(chan *rtapi.MatchmakerMatched, maxTickets),
		pending: map[string]chan *rtapi.Envelope{},
		joining: map[string]*Match{},
		matches: map[string]*Match{},
	}
	conn.SetPingHandler(s.pong)
	go s.read()
	return s
}

// Request sends an envelope under a new cid and waits for the answer to it. An answer that is an error is an *Error.
func (s *Socket) Request(ctx context.Context, envelope *rtapi.Envelope) (*rtapi.Envelope, error) {
	return s.request(ctx, envelope, nil)
}

// request registers the joined match under the cid, so that the reader can route the match's data from the answer on.
func (s *Socket) request(ctx context.Context, envelope *rtapi.Envelope, join *Match) (*rtapi.Envelope, error) {
	answer := make(chan *rtapi.Envelope, 1)
	s.mu.Lock()
	if s.err != nil {
		defer s.mu.Unlock()
		return nil, s.err
	}
	s.lastCid++
	cid := strconv.FormatUint(s.lastCid, 10)
	s.pending[cid] = answer
	if join != nil {
		s.joining[cid] = join
	}
	s.mu.Unlock()
	defer s.forget(cid)

	envelope.Cid = cid
	if err := s.Send(envelope); err != nil {
		return nil, err
	}
	select {
	case reply := <-answer:
		return unwrap(reply)
	case <-s.done:
	case <-ctx.Done():
	}
	select {
	case reply := <-answer: // it came, and then the end
		return unwrap(reply)
	default:
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	return nil, ctx.Err()
}

func unwrap(reply *rtapi.Envelope) (*rtapi.Envelope, error) {
	if refused := reply.GetError(); refused != nil {
		return nil, newError(int(refused.GetCode()), refused.GetMessage())
	}
	return reply, nil
}

func (s *Socket) forget(cid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, cid)
	delete(s.joining, cid)
}

// Send writes an envelope and waits for nothing.
func (s *Socket) Send(envelope *rtapi.Envelope) error {
	raw, err := s.format.marshal(envelope)
	if err != nil {
		return fmt.Errorf("marshal: %w", err)
	}
	return s.SendFrame(raw)
}

// SendFrame writes one frame as it is, for those who want to send what no client should.
func (s *Socket) SendFrame(raw []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeWait))
	if err := s.conn.WriteMessage(s.format.frameType(), raw); err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	s.stats.sent(len(raw))
	return nil
}

// RPC calls a function of the server over the socket. Payload and answer are JSON texts.
func (s *Socket) RPC(ctx context.Context, id, payload string) (string, error) {
	reply, err := s.Request(ctx, &rtapi.Envelope{Message: &rtapi.Envelope_Rpc{Rpc: &api.Rpc{Id: id, Payload: payload}}})
	if err != nil {
		return "", err
	}
	return reply.GetRpc().GetPayload(), nil
}

// Ping is the time to the server and back.
func (s *Socket) Ping(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	_, err := s.Request(ctx, &rtapi.Envelope{Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}})
	return time.Since(start), err
}

// Done is closed when the socket is.
func (s *Socket) Done() <-chan struct{} { return s.done }

// Err is why the socket is closed, ErrClosed in its chain, or nil while it is open.
func (s *Socket) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close tells the server and waits until the reader has ended. Nakama takes it for a disconnect, not for a leave.
func (s *Socket) Close() error {
	closing := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = s.conn.WriteControl(websocket.CloseMessage, closing, time.Now().Add(closeWait))
	select {
	case <-s.done:
	case <-time.After(closeWait):
	}
	return s.Abort()
}

// Abort cuts the connection without a word, as a lost network does, and waits until the reader has ended.
func (s *Socket) Abort() error {
	err := s.conn.Close()
	<-s.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (s *Socket) pong(data string) error {
	_ = s.conn.SetReadDeadline(time.Now().Add(readWait))
	err := s.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeWait))
	if errors.Is(err, websocket.ErrCloseSent) {
		return nil
	}
	return err
}
