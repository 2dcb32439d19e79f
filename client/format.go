package client

import (
	"fmt"

	"github.com/gorilla/websocket"
	"github.com/heroiclabs/nakama-common/rtapi"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Format is how envelopes travel on a socket. The zero value is invalid.
type Format uint8

// The formats that Nakama speaks. What a match message carries is the same bytes in both; JSON has them in base64.
const (
	FormatProtobuf Format = 1 + iota
	FormatJSON
)

// ParseFormat reads "protobuf" or "json".
func ParseFormat(name string) (Format, error) {
	switch name {
	case "protobuf":
		return FormatProtobuf, nil
	case "json":
		return FormatJSON, nil
	}
	return 0, fmt.Errorf("format %q: want protobuf or json", name)
}

// String is the format's name in a socket's address.
func (f Format) String() string {
	switch f {
	case FormatProtobuf:
		return "protobuf"
	case FormatJSON:
		return "json"
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

func (f Format) frameType() int {
	if f == FormatJSON {
		return websocket.TextMessage
	}
	return websocket.BinaryMessage
}

func (f Format) marshal(envelope *rtapi.Envelope) ([]byte, error) {
	if f == FormatJSON {
		return protojson.MarshalOptions{UseProtoNames: true}.Marshal(envelope)
	}
	return proto.Marshal(envelope)
}

func (f Format) unmarshal(raw []byte, envelope *rtapi.Envelope) error {
	if f == FormatJSON {
		return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(raw, envelope)
	}
	return proto.Unmarshal(raw, envelope)
}
