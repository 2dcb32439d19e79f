package client

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

// maxUnread is how many messages a match keeps for a reader; more means that nobody reads, and the match fails.
const maxUnread = 4096

// Tap sees the frames of a match as they pass, before anything is sorted out. Received runs on the socket's reader: it must
// not block, nor call the match.
type Tap interface {
	Sent(frame Frame)
	Received(frame Frame)
	// Joined says that a new connection has joined.
	Joined()
}

// ConnectionTap is a Tap that is also told when a connection is gone.
type ConnectionTap interface {
	Tap
	// Disconnected is called once for each Joined, on the socket's reader: it must not block, nor call the match. The error says why.
	Disconnected(err error)
}

// JoinOptions go with a join.
type JoinOptions struct {
	// Metadata is handed to the match.
	Metadata map[string]string
	// Tap sees every frame, or nil.
	Tap Tap
	// TapOnly leaves all that comes to the Tap: Next has nothing but the end of the connection. The data of a frame are then
	// valid only while Received runs. For those who join thousands of matches.
	TapOnly bool
	// GiveUpAfter is how long a Link tries to connect again; 0 is as long as it is open.
	GiveUpAfter time.Duration
	// TableID is the table's id, by which a Link finds the match again after a restart of the server. When it is empty the Link learns
	// it from the Welcome.
	TableID string
}

// Match is a place in a match. It outlives its socket: after Rejoin on another one it goes on where it was. On a Link it outlives the
// server too, with another id. It is safe for
// concurrent use by one reader and many senders.
type Match struct {
	options JoinOptions

	mu     sync.Mutex
	id     string
	socket *Socket // nil while disconnected
	inbox  Inbox
	unread []Message
	err    error // why there is no socket
	news   chan struct{}
}

// Join joins a match. Its first message will be a Welcome. A refusal is an *Error with the server's reason.
func (s *Socket) Join(ctx context.Context, matchID string, options JoinOptions) (*Match, error) {
	m := &Match{options: options, id: matchID, news: make(chan struct{}, 1), err: ErrNotConnected}
	return m, m.Rejoin(ctx, s)
}

// Rejoin joins the same match on another socket. Messages of the old one that were not read yet stay in front.
func (m *Match) Rejoin(ctx context.Context, socket *Socket) error {
	join := &rtapi.MatchJoin{Id: &rtapi.MatchJoin_MatchId{MatchId: m.ID()}, Metadata: m.options.Metadata}
	_, err := socket.request(ctx, &rtapi.Envelope{Message: &rtapi.Envelope_MatchJoin{MatchJoin: join}}, m)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	return nil
}

// goOn lets the next Rejoin join the match in which the table goes on.
func (m *Match) goOn(matchID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.id = matchID
}

// ID is the match's id, spelled as the server does once it has joined.
func (m *Match) ID() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.id
}

// Next waits for the next message. After the socket is gone, and everything that came before is read, it is an error with
// ErrClosed in its chain.
func (m *Match) Next(ctx context.Context) (Message, error) {
	for {
		m.mu.Lock()
		if len(m.unread) > 0 {
			message := m.unread[0]
			m.unread[0] = Message{}
			m.unread = m.unread[1:]
			m.mu.Unlock()
			return message, nil
		}
		err := m.err
		m.mu.Unlock()
		if err != nil {
			return Message{}, err
		}
		select {
		case <-m.news:
		case <-ctx.Done():
			return Message{}, ctx.Err()
		}
	}
}

// Send sends a message of the protocol. Nakama confirms nothing.
func (m *Match) Send(op wire.OpCode, body proto.Message) error {
	data, err := proto.Marshal(body)
	if err != nil {
		return fmt.Errorf("op code %d: %w", op, err)
	}
	return m.SendData(int64(op), data)
}

// SendData sends any bytes under any op code.
func (m *Match) SendData(op int64, data []byte) error {
	m.mu.Lock()
	socket, id, err := m.socket, m.id, m.err
	m.mu.Unlock()
	if socket == nil {
		return err
	}
	if m.options.Tap != nil {
		m.options.Tap.Sent(Frame{Op: op, Data: data, At: time.Now()})
	}
	send := &rtapi.MatchDataSend{MatchId: id, OpCode: op, Data: data, Reliable: true}
	return socket.Send(&rtapi.Envelope{Message: &rtapi.Envelope_MatchDataSend{MatchDataSend: send}})
}

// Leave leaves the Nakama match and keeps the socket. To a running match of ours that is a drop, and the seat is held; send
// wire.Forfeit before to leave for good.
func (m *Match) Leave(ctx context.Context) error {
	m.mu.Lock()
	socket, id := m.socket, m.id
	m.mu.Unlock()
	if socket == nil {
		return ErrNotConnected
	}
	socket.unroute(id, m)
	m.disconnected(socket, ErrNotConnected)
	leave := &rtapi.Envelope{Message: &rtapi.Envelope_MatchLeave{MatchLeave: &rtapi.MatchLeave{MatchId: id}}}
	_, err := socket.Request(ctx, leave)
	return err
}

// Socket is the socket that the match is joined on, or nil.
func (m *Match) Socket() *Socket {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.socket
}

// Position is that of the newest state that came.
func (m *Match) Position() Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.inbox.Position()
}

func (m *Match) connected(socket *Socket, id string) {
	if m.options.Tap != nil {
		m.options.Tap.Joined()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.socket, m.id, m.err = socket, id, nil
	m.inbox.Connected()
}

// receive takes nothing from a socket that the match has left behind.
func (m *Match) receive(socket *Socket, frame Frame) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.socket != socket {
		return
	}
	if m.options.Tap != nil {
		m.options.Tap.Received(frame)
	}
	if m.options.TapOnly {
		return
	}
	if len(m.unread) >= maxUnread {
		m.socket, m.err = nil, ErrOverrun
	} else {
		m.unread = append(m.unread, m.inbox.Push(frame)...)
	}
	m.ring()
}

func (m *Match) disconnected(socket *Socket, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.socket != socket {
		return
	}
	m.socket, m.err = nil, err
	if tap, ok := m.options.Tap.(ConnectionTap); ok {
		tap.Disconnected(err)
	}
	m.ring()
}

// ring wakes the reader; one ring is enough for any number of messages.
func (m *Match) ring() {
	select {
	case m.news <- struct{}{}:
	default:
	}
}

func (s *Socket) unroute(id string, m *Match) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.matches[id] == m {
		delete(s.matches, id)
	}
}
