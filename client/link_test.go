package client

import (
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/stretchr/testify/require"

	wire "set3d/proto/set3d/v1"
)

func nextEvent(t *testing.T, l *Link) LinkEvent {
	t.Helper()
	select {
	case event, open := <-l.Events():
		if !open {
			return LinkEvent{}
		}
		return event
	case <-time.After(20 * time.Second):
		t.Fatal("nothing happens")
		return LinkEvent{}
	}
}

// welcoming answers every join with the Welcome of a revision.
func welcoming(t *testing.T, revision *uint64) func(s *fakeSocket, e *rtapi.Envelope) {
	return func(s *fakeSocket, e *rtapi.Envelope) {
		if e.GetMatchJoin() != nil {
			s.joined(e.GetCid(), "m.node")
			s.data("m.node", welcomeAt(t, 1, *revision))
		}
	}
}

func TestLinkReconnects(t *testing.T) {
	server := newFakeServer(t)
	revision := uint64(1)
	server.envelope = welcoming(t, &revision)
	link, err := server.client().OpenLink(t.Context(), server.user(), FormatProtobuf, "m.node", JoinOptions{})
	require.NoError(t, err)
	defer link.Close()
	require.Equal(t, LinkJoined, nextEvent(t, link).Kind)
	require.Equal(t, LinkMessage, nextEvent(t, link).Kind)

	revision = 2
	link.Reconnect() // although the socket is well
	require.Equal(t, LinkLost, nextEvent(t, link).Kind)
	require.Equal(t, LinkJoined, nextEvent(t, link).Kind)
	event := nextEvent(t, link)
	require.Equal(t, uint64(2), event.Message.Body.GetStamp().GetRevision())

	_ = server.sockets[1].conn.Close()
	lost := nextEvent(t, link)
	require.Equal(t, LinkLost, lost.Kind)
	require.ErrorIs(t, lost.Err, ErrClosed)
	link.Send(wire.OpCode_OP_CODE_PING, &wire.Ping{}) // lost, and that is all right
	link.Reconnect()
	require.Equal(t, LinkJoined, nextEvent(t, link).Kind)
}

func TestLinkTakesNoForAnAnswer(t *testing.T) {
	server := newFakeServer(t)
	joins := 0
	server.envelope = func(s *fakeSocket, e *rtapi.Envelope) {
		joins++
		if joins == 1 {
			s.joined(e.GetCid(), "m.node")
			return
		}
		s.refuse(e.GetCid(), 5, `{"reason":"FORFEITED"}`)
	}
	link, err := server.client().OpenLink(t.Context(), server.user(), FormatProtobuf, "m.node", JoinOptions{})
	require.NoError(t, err)
	defer link.Close()
	require.Equal(t, LinkJoined, nextEvent(t, link).Kind)
	link.Reconnect()
	require.Equal(t, LinkLost, nextEvent(t, link).Kind)
	failed := nextEvent(t, link)
	require.Equal(t, LinkFailed, failed.Kind)
	require.Equal(t, "FORFEITED", ReasonOf(failed.Err))
	_, open := <-link.Events()
	require.False(t, open)
}

func TestLinkGivesUp(t *testing.T) {
	server := newFakeServer(t)
	revision := uint64(1)
	server.envelope = welcoming(t, &revision)
	link, err := server.client().OpenLink(t.Context(), server.user(), FormatProtobuf, "m.node", JoinOptions{GiveUpAfter: 50 * time.Millisecond})
	require.NoError(t, err)
	defer link.Close()
	require.Equal(t, LinkJoined, nextEvent(t, link).Kind)
	require.Equal(t, LinkMessage, nextEvent(t, link).Kind)
	require.NoError(t, server.Listener.Close())
	link.Reconnect()
	require.Equal(t, LinkLost, nextEvent(t, link).Kind)
	failed := nextEvent(t, link)
	require.Equal(t, LinkFailed, failed.Kind)
	require.ErrorIs(t, failed.Err, ErrNoRoute)
}

func TestLinkFailsAtOnceWhenItCannotJoin(t *testing.T) {
	server := newFakeServer(t)
	server.envelope = func(s *fakeSocket, e *rtapi.Envelope) { s.refuse(e.GetCid(), 4, "Match not found") }
	_, err := server.client().OpenLink(t.Context(), server.user(), FormatProtobuf, "m.node", JoinOptions{})
	require.ErrorContains(t, err, "Match not found")
}

func TestClosedLinkIsQuiet(t *testing.T) {
	server := newFakeServer(t)
	revision := uint64(1)
	server.envelope = welcoming(t, &revision)
	link, err := server.client().OpenLink(t.Context(), server.user(), FormatJSON, "m.node", JoinOptions{})
	require.NoError(t, err)
	link.Close()
	link.Reconnect()
	link.Close()
	for range link.Events() {
	}
}
