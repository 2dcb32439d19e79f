package client

import "google.golang.org/protobuf/encoding/protowire"

// The numbers of the fields of rtapi.Envelope and rtapi.MatchData that a frame with match data is made of.
const (
	envelopeMatchData = 14
	matchDataMatchID  = 1
	matchDataOpCode   = 3
	matchDataData     = 4
)

// matchData is a rtapi.MatchData that points into its frame.
type matchData struct {
	matchID []byte
	op      int64
	payload []byte
}

// scanMatchData finds the match data in the bytes of an envelope. What is anything else, or has anything beside it, is not ok: it takes the
// long way.
func scanMatchData(raw []byte) (data matchData, ok bool) {
	field, kind, n := protowire.ConsumeTag(raw)
	if n < 0 || field != envelopeMatchData || kind != protowire.BytesType {
		return data, false
	}
	body, m := protowire.ConsumeBytes(raw[n:])
	if m < 0 || n+m != len(raw) {
		return data, false
	}
	for len(body) > 0 {
		field, kind, n := protowire.ConsumeTag(body)
		if n < 0 {
			return data, false
		}
		value := body[n:]
		size := protowire.ConsumeFieldValue(field, kind, value)
		if size < 0 {
			return data, false
		}
		switch {
		case field == matchDataMatchID && kind == protowire.BytesType:
			data.matchID, _ = protowire.ConsumeBytes(value)
		case field == matchDataOpCode && kind == protowire.VarintType:
			op, _ := protowire.ConsumeVarint(value)
			data.op = int64(op)
		case field == matchDataData && kind == protowire.BytesType:
			data.payload, _ = protowire.ConsumeBytes(value)
		}
		body = value[size:]
	}
	return data, len(data.matchID) > 0
}
