package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	wire "set3d/proto/set3d/v1"
)

func frameOf(t require.TestingT, op wire.OpCode, body proto.Message) Frame {
	data, err := proto.Marshal(body)
	require.NoError(t, err)
	return Frame{Op: int64(op), Data: data}
}

func welcomeAt(t require.TestingT, incarnation uint32, revision uint64) Frame {
	return frameOf(t, wire.OpCode_OP_CODE_WELCOME, &wire.Welcome{Stamp: &wire.Stamp{Incarnation: incarnation, Revision: revision}})
}

func updateAt(t require.TestingT, incarnation uint32, revision uint64) Frame {
	return frameOf(t, wire.OpCode_OP_CODE_UPDATE, &wire.Update{Stamp: &wire.Stamp{Incarnation: incarnation, Revision: revision}})
}

func rosterAt(t require.TestingT, incarnation, revision uint32) Frame {
	return frameOf(t, wire.OpCode_OP_CODE_ROSTER, &wire.Roster{Stamp: &wire.Stamp{Incarnation: incarnation, RosterRevision: revision}})
}

func TestInboxWaitsForTheWelcome(t *testing.T) {
	var inbox Inbox
	require.Empty(t, inbox.Push(updateAt(t, 1, 4)))
	require.Empty(t, inbox.Push(updateAt(t, 1, 6)))
	require.Empty(t, inbox.Push(frameOf(t, wire.OpCode_OP_CODE_CLAIM_RESULT, &wire.ClaimResult{ClaimId: 9})))
	notice := inbox.Push(frameOf(t, wire.OpCode_OP_CODE_NOTICE, &wire.Notice{}))
	require.Len(t, notice, 1, "notices wait for nothing")

	released := inbox.Push(welcomeAt(t, 1, 5))
	require.Len(t, released, 3)
	require.IsType(t, &wire.Welcome{}, released[0].Body)
	require.Equal(t, uint64(6), released[1].Body.GetStamp().GetRevision(), "4 is part of the Welcome")
	require.IsType(t, &wire.ClaimResult{}, released[2].Body)
	require.Len(t, inbox.Push(updateAt(t, 1, 7)), 1)
}

func TestInboxDiscardsOldStates(t *testing.T) {
	var inbox Inbox
	require.Len(t, inbox.Push(welcomeAt(t, 1, 5)), 1)
	require.Empty(t, inbox.Push(updateAt(t, 1, 5)))
	require.Empty(t, inbox.Push(updateAt(t, 1, 3)))
	require.Len(t, inbox.Push(updateAt(t, 1, 9)), 1, "a gap needs no repair")
	require.Empty(t, inbox.Push(updateAt(t, 0, 20)), "of an incarnation that is gone")
	require.Len(t, inbox.Push(updateAt(t, 2, 1)), 1, "a higher incarnation beats every revision")
	require.Empty(t, inbox.Push(updateAt(t, 1, 99)))
	require.Equal(t, Position{Incarnation: 2, Revision: 1}, inbox.Position())

	require.Len(t, inbox.Push(welcomeAt(t, 2, 1)), 1, "the answer to a question for the same state")
	require.Empty(t, inbox.Push(welcomeAt(t, 2, 0)))
	require.Empty(t, inbox.Push(rosterAt(t, 2, 0)))
	require.Len(t, inbox.Push(rosterAt(t, 2, 1)), 1)
	require.Empty(t, inbox.Push(rosterAt(t, 2, 1)))
	require.Empty(t, inbox.Push(rosterAt(t, 1, 7)))
}

func TestInboxStartsAgainOnANewConnection(t *testing.T) {
	var inbox Inbox
	inbox.Push(welcomeAt(t, 1, 5))
	inbox.Connected()
	require.Empty(t, inbox.Push(updateAt(t, 1, 6)))
	require.Empty(t, inbox.Push(welcomeAt(t, 1, 4)), "a late one of the old connection")
	require.Empty(t, inbox.Push(updateAt(t, 1, 7)), "still no Welcome")
	require.Len(t, inbox.Push(welcomeAt(t, 1, 6)), 2)
	require.Equal(t, uint64(7), inbox.Position().Revision)
}

func TestInboxIgnoresWhatItDoesNotKnow(t *testing.T) {
	var inbox Inbox
	inbox.Push(welcomeAt(t, 1, 1))
	for _, op := range []int64{0, 1, 100, 150, 199, -3, 1<<32 + 102} {
		require.Empty(t, inbox.Push(Frame{Op: op, Data: []byte{1, 2, 3}}), "op code %d", op)
	}
	require.Zero(t, inbox.Unreadable())
	require.Empty(t, inbox.Push(Frame{Op: int64(wire.OpCode_OP_CODE_UPDATE), Data: []byte{0xff}}))
	require.Equal(t, 1, inbox.Unreadable())
}

// An update of a newer server: an event of an unknown kind and an unknown field. The snapshot is taken all the same.
func TestUnknownEventsAndFieldsLeaveTheSnapshot(t *testing.T) {
	net := newPlay(t, 1)
	state := net.table.session.Snapshot()
	state.ByPlayer[0].Score = 7
	stamp := net.table.stamp()
	stamp.Revision++
	update := &wire.Update{Stamp: stamp, Events: []*wire.Event{{AtMs: 1}}, Snapshot: snapshotToWire(state)}
	frame := frameOf(t, wire.OpCode_OP_CODE_UPDATE, update)
	frame.Data = append(frame.Data, 0xfa, 0x3f, 2, 1, 2) // field 127, two bytes
	net.seats[0].receive(frame)
	got, _ := net.seats[0].controller.Snapshot()
	require.Equal(t, 7, got.ByPlayer[0].Score)
}

func TestInboxForgetsTheOldestThatWait(t *testing.T) {
	var inbox Inbox
	for revision := range uint64(maxWaiting + 10) {
		inbox.Push(updateAt(t, 1, revision+1))
	}
	released := inbox.Push(welcomeAt(t, 1, 0))
	require.Len(t, released, maxWaiting+1)
	require.Equal(t, uint64(11), released[1].Body.GetStamp().GetRevision())
}

// Whatever comes, in whatever order: states only move forward, and nothing of a state comes before a Welcome.
func TestInboxNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var inbox Inbox
		var last Position
		welcomed := false
		for range rapid.IntRange(1, 60).Draw(rt, "frames") {
			incarnation := uint32(rapid.IntRange(1, 3).Draw(rt, "incarnation"))
			revision := uint64(rapid.IntRange(0, 12).Draw(rt, "revision"))
			var messages []Message
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				inbox.Connected()
				welcomed = false
			case 1:
				messages = inbox.Push(welcomeAt(rt, incarnation, revision))
			case 2:
				messages = inbox.Push(rosterAt(rt, incarnation, uint32(revision)))
			default:
				messages = inbox.Push(updateAt(rt, incarnation, revision))
			}
			for _, m := range messages {
				position := PositionOf(m.Body.GetStamp())
				switch m.Body.(type) {
				case *wire.Welcome:
					welcomed = true
					require.False(rt, position.Before(last))
					last = position
				case *wire.Update:
					require.True(rt, welcomed)
					require.True(rt, last.Before(position))
					last = position
				default:
					require.True(rt, welcomed)
				}
			}
		}
	})
}
