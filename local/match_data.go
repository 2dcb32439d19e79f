package local

// matchData is one message to MatchLoop. It is its sender's presence too, as runtime.MatchData demands.
type matchData struct {
	Presence
	opCode      int64
	data        []byte
	reliable    bool
	receiveTime int64
}

// GetOpCode returns the op code that the client sent.
func (d *matchData) GetOpCode() int64 { return d.opCode }

// GetData returns the payload.
func (d *matchData) GetData() []byte { return d.data }

// GetReliable reports whether the client asked for reliable delivery.
func (d *matchData) GetReliable() bool { return d.reliable }

// GetReceiveTime returns when the message arrived, in Unix milliseconds of the wall clock.
func (d *matchData) GetReceiveTime() int64 { return d.receiveTime }
