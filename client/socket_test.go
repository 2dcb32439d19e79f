package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/stretchr/testify/require"

	wire "set3d/proto/set3d/v1"
)

var bothFormats = []Format{FormatProtobuf, FormatJSON}

func eachFormat(t *testing.T, test func(t *testing.T, format Format)) {
	for _, format := range bothFormats {
		t.Run(format.String(), func(t *testing.T) { test(t, format) })
	}
}

// The answers come in the other order than the questions.
func TestAnswersFindTheirRequests(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		server := newFakeServer(t)
		var waiting []*rtapi.Envelope
		server.envelope = func(s *fakeSocket, e *rtapi.Envelope) {
			waiting = append(waiting, e)
			if len(waiting) == 2 {
				s.answerRPC("unknown", "{}")
				s.answerRPC(waiting[1].GetCid(), `{"id":"`+waiting[1].GetRpc().GetId()+`"}`)
				s.answerRPC(waiting[0].GetCid(), `{"id":"`+waiting[0].GetRpc().GetId()+`"}`)
			}
		}
		socket := server.socket(format)
		answers := make(chan string, 2)
		for _, id := range []string{"one", "two"} {
			go func() {
				answer, err := socket.RPC(t.Context(), id, "{}")
				if err != nil || answer != `{"id":"`+id+`"}` {
					answers <- "wrong: " + answer
				}
				answers <- "right"
			}()
		}
		require.Equal(t, "right", <-answers)
		require.Equal(t, "right", <-answers)
		traffic := socket.Traffic()
		require.Equal(t, uint64(2), traffic.FramesSent)
		require.Equal(t, uint64(3), traffic.FramesReceived)
		require.Positive(t, traffic.BytesReceived)
	})
}

func TestRefusalOnASocketIsTyped(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		server := newFakeServer(t)
		server.envelope = func(s *fakeSocket, e *rtapi.Envelope) { s.refuse(e.GetCid(), 5, `{"reason":"TABLE_FULL","args":{}}`) }
		_, err := server.socket(format).Join(t.Context(), "m.node", JoinOptions{})
		require.Equal(t, "TABLE_FULL", ReasonOf(err))
		var refused *Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, 5, refused.Code)
	})
}

// A match's first frames may come before the answer to the join, and under the server's spelling of the id.
func TestFramesBeforeTheJoinsAnswer(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		server := newFakeServer(t)
		var metadata map[string]string
		server.envelope = func(s *fakeSocket, e *rtapi.Envelope) {
			require.Equal(t, "AB.node", e.GetMatchJoin().GetMatchId())
			metadata = e.GetMatchJoin().GetMetadata()
			s.data("other.node", updateAt(t, 1, 99))
			s.data("ab.node", updateAt(t, 1, 4))
			s.data("ab.node", welcomeAt(t, 1, 3))
			s.joined(e.GetCid(), "ab.node")
			s.data("ab.node", updateAt(t, 1, 5))
			s.send(&rtapi.Envelope{Message: &rtapi.Envelope_MatchPresenceEvent{MatchPresenceEvent: &rtapi.MatchPresenceEvent{MatchId: "ab.node"}}})
		}
		match, err := server.socket(format).Join(t.Context(), "AB.node", JoinOptions{Metadata: map[string]string{"k": "v"}})
		require.NoError(t, err)
		require.Equal(t, "ab.node", match.ID())
		require.Equal(t, map[string]string{"k": "v"}, metadata)
		for _, revision := range []uint64{3, 4, 5} {
			message, err := match.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, revision, message.Body.GetStamp().GetRevision())
			require.False(t, message.At.IsZero())
		}
		require.Equal(t, uint64(5), match.Position().Revision)
	})
}

func TestSendAndLeave(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		server := newFakeServer(t)
		sent := make(chan *rtapi.MatchDataSend, 1)
		server.envelope = func(s *fakeSocket, e *rtapi.Envelope) {
			switch {
			case e.GetMatchJoin() != nil:
				s.joined(e.GetCid(), "m.node")
			case e.GetMatchDataSend() != nil:
				sent <- e.GetMatchDataSend()
			case e.GetMatchLeave() != nil:
				s.send(&rtapi.Envelope{Cid: e.GetCid()})
				s.data("m.node", welcomeAt(t, 1, 1))
			}
		}
		tap := &recordingTap{}
		match, err := server.socket(format).Join(t.Context(), "m.node", JoinOptions{Tap: tap})
		require.NoError(t, err)
		require.NoError(t, match.Send(wire.OpCode_OP_CODE_CLAIM_SET, &wire.ClaimSet{ClaimId: 5, Cards: []byte{1, 2, 3}}))
		got := <-sent
		require.Equal(t, int64(1), got.GetOpCode())
		require.Equal(t, "m.node", got.GetMatchId())
		require.Equal(t, []byte{9, 5, 0, 0, 0, 0, 0, 0, 0, 18, 3, 1, 2, 3}, got.GetData())
		require.Equal(t, 1, tap.joined)
		require.Len(t, tap.sent, 1)

		require.NoError(t, match.Leave(t.Context()))
		_, err = match.Next(t.Context())
		require.ErrorIs(t, err, ErrNotConnected)
		require.ErrorIs(t, match.Send(wire.OpCode_OP_CODE_PING, &wire.Ping{}), ErrNotConnected)
		require.ErrorIs(t, match.Leave(t.Context()), ErrNotConnected)
		require.Empty(t, tap.received)
	})
}

// The socket reads all frames into one buffer; messages outlive it.
func TestMessagesKeepTheirData(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		server := newFakeServer(t)
		server.envelope = func(s *fakeSocket, e *rtapi.Envelope) {
			s.joined(e.GetCid(), "m.node")
			s.data("m.node", welcomeAt(t, 1, 3))
			s.data("m.node", updateAt(t, 1, 4))
			s.data("m.node", updateAt(t, 1, 5))
		}
		match, err := server.socket(format).Join(t.Context(), "m.node", JoinOptions{})
		require.NoError(t, err)
		var messages []Message
		for range 3 {
			message, err := match.Next(t.Context())
			require.NoError(t, err)
			messages = append(messages, message)
		}
		require.Equal(t, welcomeAt(t, 1, 3).Data, messages[0].Data)
		require.Equal(t, updateAt(t, 1, 4).Data, messages[1].Data)
		require.Equal(t, updateAt(t, 1, 5).Data, messages[2].Data)
	})
}

// With TapOnly the tap has it all, and Next only the end.
func TestTapOnly(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		server := newFakeServer(t)
		server.envelope = func(s *fakeSocket, e *rtapi.Envelope) {
			s.data("m.node", welcomeAt(t, 1, 3))
			s.joined(e.GetCid(), "m.node")
			s.data("m.node", updateAt(t, 1, 4))
			_ = s.conn.Close()
		}
		tap := &copyingTap{lost: make(chan error, 1)}
		match, err := server.socket(format).Join(t.Context(), "m.node", JoinOptions{Tap: tap, TapOnly: true})
		require.NoError(t, err)
		require.ErrorIs(t, <-tap.lost, ErrClosed)
		_, err = match.Next(t.Context())
		require.ErrorIs(t, err, ErrClosed)
		require.Equal(t, []string{string(welcomeAt(t, 1, 3).Data), string(updateAt(t, 1, 4).Data)}, tap.data)
	})
}

// copyingTap keeps what comes, and hears of the end.
type copyingTap struct {
	recordingTap
	data []string
	lost chan error
}

func (c *copyingTap) Received(frame Frame)   { c.data = append(c.data, string(frame.Data)) }
func (c *copyingTap) Disconnected(err error) { c.lost <- err }

type recordingTap struct {
	joined         int
	sent, received []Frame
}

func (r *recordingTap) Joined()              { r.joined++ }
func (r *recordingTap) Sent(frame Frame)     { r.sent = append(r.sent, frame) }
func (r *recordingTap) Received(frame Frame) { r.received = append(r.received, frame) }

// What came before the socket ended is read first; then the match can go on on another socket.
func TestMatchOutlivesItsSocket(t *testing.T) {
	server := newFakeServer(t)
	revision := uint64(1)
	server.envelope = func(s *fakeSocket, e *rtapi.Envelope) {
		s.joined(e.GetCid(), "m.node")
		if revision > 1 {
			s.data("m.node", updateAt(t, 1, revision+1)) // waits for the Welcome again
		}
		s.data("m.node", welcomeAt(t, 1, revision))
		if revision == 1 {
			s.data("m.node", updateAt(t, 1, 7))
			_ = s.conn.Close()
		}
	}
	socket := server.socket(FormatProtobuf)
	match, err := socket.Join(t.Context(), "m.node", JoinOptions{})
	require.NoError(t, err)
	<-socket.Done()
	for _, want := range []uint64{1, 7} {
		message, err := match.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, message.Body.GetStamp().GetRevision())
	}
	_, err = match.Next(t.Context())
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, socket.Err(), ErrClosed)
	_, err = socket.RPC(t.Context(), "hello", "{}")
	require.ErrorIs(t, err, ErrClosed)

	revision = 9
	require.NoError(t, match.Rejoin(t.Context(), server.socket(FormatJSON)))
	for _, want := range []uint64{9, 10} {
		message, err := match.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, message.Body.GetStamp().GetRevision())
	}
}

func TestWaitsEndWithTheirContext(t *testing.T) {
	server := newFakeServer(t)
	server.envelope = func(s *fakeSocket, e *rtapi.Envelope) {
		if e.GetMatchJoin() != nil {
			s.joined(e.GetCid(), "m.node")
		}
	}
	socket := server.socket(FormatProtobuf)
	ctx, cancel := context.WithCancel(t.Context())
	match, err := socket.Join(ctx, "m.node", JoinOptions{})
	require.NoError(t, err)
	cancel()
	_, err = socket.RPC(ctx, "hello", "{}")
	require.ErrorIs(t, err, context.Canceled)
	_, err = match.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, socket.pending)
	require.NoError(t, socket.Err(), "the socket lives on")
}

func TestCloseSaysGoodbye(t *testing.T) {
	server := newFakeServer(t)
	goodbye := make(chan int, 1)
	server.envelope = func(s *fakeSocket, e *rtapi.Envelope) {
		s.send(&rtapi.Envelope{Cid: e.GetCid(), Message: &rtapi.Envelope_Pong{Pong: &rtapi.Pong{}}})
	}
	socket := server.socket(FormatProtobuf)
	_, err := socket.Ping(t.Context())
	require.NoError(t, err)
	server.sockets[0].conn.SetCloseHandler(func(code int, _ string) error {
		goodbye <- code
		return server.sockets[0].conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	})
	require.NoError(t, socket.Close())
	require.Equal(t, websocket.CloseNormalClosure, <-goodbye)
	require.ErrorIs(t, socket.Err(), ErrClosed)
	require.ErrorIs(t, socket.Send(&rtapi.Envelope{}), ErrClosed)
}

func TestUnreadableFramesCloseTheSocket(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		server := newFakeServer(t)
		server.envelope = func(s *fakeSocket, _ *rtapi.Envelope) {
			_ = s.conn.WriteMessage(format.frameType(), []byte{0xff, 0xff})
		}
		socket := server.socket(format)
		_, err := socket.RPC(t.Context(), "hello", "{}")
		require.ErrorIs(t, err, ErrUnreadable)
	})
}

func TestSocketIsRefused(t *testing.T) {
	server := newFakeServer(t)
	user := server.user()
	user.token = ""
	_, err := server.client().OpenSocket(t.Context(), user, FormatJSON)
	var refused *Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 401, refused.Code)
}

func TestStraysAreBounded(t *testing.T) {
	var strays strayFrames
	for i := range maxStrays + 5 {
		strays.keep([]string{"a", "b"}[i%2], Frame{Op: int64(i)})
	}
	require.Len(t, strays, maxStrays)
	taken := strays.take("b")
	require.Len(t, taken, maxStrays/2)
	require.Equal(t, int64(5), taken[0].Op, "the oldest went first")
	require.Len(t, strays, maxStrays/2)
}

func TestAMatchThatNobodyReadsFails(t *testing.T) {
	socket := &Socket{}
	m := &Match{news: make(chan struct{}, 1)}
	m.connected(socket, "m.node")
	m.receive(socket, welcomeAt(t, 1, 0))
	for revision := range uint64(maxUnread + 1) {
		m.receive(socket, updateAt(t, 1, revision+1))
	}
	read := 0
	for {
		if _, err := m.Next(t.Context()); err != nil {
			require.ErrorIs(t, err, ErrOverrun)
			break
		}
		read++
	}
	require.Equal(t, maxUnread, read)
}

// Next sleeps until there is something, without missing it.
func TestNextWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		socket := &Socket{}
		m := &Match{news: make(chan struct{}, 1)}
		m.connected(socket, "m.node")
		go func() {
			time.Sleep(time.Hour)
			m.receive(&Socket{}, welcomeAt(t, 1, 8)) // of another socket: not ours
			m.receive(socket, welcomeAt(t, 1, 2))
		}()
		message, err := m.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, uint64(2), message.Body.GetStamp().GetRevision())
	})
}
