package client

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

// Frame is the data of one Nakama match message as it came or as it went.
type Frame struct {
	Op   int64
	Data []byte
	At   time.Time // when this process had read it, or was about to write it
}

// Message is a frame that was read. Body is *wire.Welcome, *wire.Update, *wire.ClaimResult, *wire.Roster, *wire.Pong,
// *wire.Notice, *wire.Error, *wire.Hint, *wire.EmoteShown or *wire.Rematch.
type Message struct {
	Frame
	Body Body
}

// Body is a message of the server.
type Body interface {
	proto.Message
	GetStamp() *wire.Stamp
}

// ReadFrame unmarshals a frame from the server. Op codes that this client does not know give false and no error: a newer server
// may send them.
func ReadFrame(frame Frame) (Message, bool, error) {
	body := newBody(wire.OpCode(frame.Op))
	if body == nil || int64(wire.OpCode(frame.Op)) != frame.Op {
		return Message{}, false, nil
	}
	if err := proto.Unmarshal(frame.Data, body); err != nil {
		return Message{}, false, fmt.Errorf("%w: op code %d: %w", ErrUnreadable, frame.Op, err)
	}
	return Message{Frame: frame, Body: body}, true, nil
}

func newBody(op wire.OpCode) Body {
	switch op {
	case wire.OpCode_OP_CODE_WELCOME:
		return &wire.Welcome{}
	case wire.OpCode_OP_CODE_UPDATE:
		return &wire.Update{}
	case wire.OpCode_OP_CODE_CLAIM_RESULT:
		return &wire.ClaimResult{}
	case wire.OpCode_OP_CODE_ROSTER:
		return &wire.Roster{}
	case wire.OpCode_OP_CODE_PONG:
		return &wire.Pong{}
	case wire.OpCode_OP_CODE_NOTICE:
		return &wire.Notice{}
	case wire.OpCode_OP_CODE_ERROR:
		return &wire.Error{}
	case wire.OpCode_OP_CODE_HINT:
		return &wire.Hint{}
	case wire.OpCode_OP_CODE_EMOTE_SHOWN:
		return &wire.EmoteShown{}
	case wire.OpCode_OP_CODE_REMATCH:
		return &wire.Rematch{}
	}
	return nil
}

// ReasonName is the stable name of a reason: "NOT_ON_BOARD". A reason of a newer server is named by its number.
func ReasonName(reason wire.Reason) string {
	const prefix = "REASON_"
	name := reason.String()
	if len(name) > len(prefix) && name[:len(prefix)] == prefix {
		return name[len(prefix):]
	}
	return "REASON " + name
}
