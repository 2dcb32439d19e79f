package local

import (
	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// format is how a socket's envelopes are encoded.
type format int

const (
	formatJSON format = iota
	formatProtobuf
)

var (
	socketJSON   = protojson.MarshalOptions{UseProtoNames: true, UseEnumNumbers: true}
	socketParser = protojson.UnmarshalOptions{}
)

func (f format) marshal(e *rtapi.Envelope) ([]byte, error) {
	if f == formatProtobuf {
		return proto.Marshal(e)
	}
	return socketJSON.Marshal(e)
}

func (f format) unmarshal(data []byte, e *rtapi.Envelope) error {
	if f == formatProtobuf {
		return proto.Unmarshal(data, e)
	}
	return socketParser.Unmarshal(data, e)
}

// router delivers envelopes to sessions, encoding each at most once a format.
type router struct {
	sessions *sessions
	logger   runtime.Logger
}

// send queues the envelope to every session that is still there. An unknown session is skipped silently.
func (r *router) send(to []uuid.UUID, e *rtapi.Envelope) {
	var encoded [2][]byte
	for _, id := range to {
		s := r.sessions.get(id)
		if s == nil {
			continue
		}
		if encoded[s.format] == nil {
			b, err := s.format.marshal(e)
			if err != nil {
				r.logger.Error("Could not marshal message: %v", err)
				return
			}
			encoded[s.format] = b
		}
		if err := s.queue(encoded[s.format]); err != nil {
			r.logger.Error("Failed to route message to session %v: %v", id, err)
		}
	}
}
