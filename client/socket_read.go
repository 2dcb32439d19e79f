package client

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
)

// read runs until the connection ends, and then tells everyone who waits.
func (s *Socket) read() {
	err := s.readFrames()
	_ = s.conn.Close()
	s.mu.Lock()
	s.err = fmt.Errorf("%w: %w", ErrClosed, err)
	matches := s.matches
	s.matches = map[string]*Match{}
	s.mu.Unlock()
	close(s.done)
	for _, m := range matches {
		m.disconnected(s, s.err)
	}
}

func (s *Socket) readFrames() error {
	var buffer bytes.Buffer
	at := time.Now()
	for {
		_ = s.conn.SetReadDeadline(at.Add(readWait))
		_, reader, err := s.conn.NextReader()
		if err != nil {
			return err
		}
		buffer.Reset()
		if _, err := buffer.ReadFrom(reader); err != nil {
			return err
		}
		raw := buffer.Bytes()
		at = time.Now()
		s.stats.received(len(raw))
		if s.routeData(raw, at) {
			continue
		}
		envelope := &rtapi.Envelope{}
		if err := s.format.unmarshal(raw, envelope); err != nil {
			return fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		s.route(envelope, at)
	}
}

// routeData is the short way for what nearly all frames are, data of a joined match: nothing is allocated for the envelope. It
// reports whether it took the frame.
func (s *Socket) routeData(raw []byte, at time.Time) bool {
	if s.format != FormatProtobuf {
		return false
	}
	data, ok := scanMatchData(raw)
	if !ok {
		return false
	}
	s.mu.Lock()
	match := s.matches[string(data.matchID)]
	s.mu.Unlock()
	if match == nil {
		return false
	}
	frame := Frame{Op: data.op, Data: data.payload, At: at}
	if !match.options.TapOnly {
		frame.Data = bytes.Clone(frame.Data) // the buffer is used again
	}
	match.receive(s, frame)
	return true
}

// route gives an envelope to the request that waits for it, or to the match that it belongs to. Presences, notifications and
// whatever else Nakama tells are of no use here.
func (s *Socket) route(envelope *rtapi.Envelope, at time.Time) {
	if envelope.GetCid() != "" {
		s.answer(envelope)
		return
	}
	if matched := envelope.GetMatchmakerMatched(); matched != nil {
		select {
		case s.matched <- matched:
		default: // nobody has asked for the last ones
		}
	}
	data := envelope.GetMatchData()
	if data == nil {
		return
	}
	frame := Frame{Op: data.GetOpCode(), Data: data.GetData(), At: at}
	s.mu.Lock()
	match := s.matches[data.GetMatchId()]
	if match == nil {
		s.strays.keep(data.GetMatchId(), frame)
	}
	s.mu.Unlock()
	if match != nil {
		match.receive(s, frame)
	}
}

// answer also puts a joined match in its place before the next frame is read. The match's first frames may have come before
// this answer: they waited among the strays.
func (s *Socket) answer(envelope *rtapi.Envelope) {
	cid := envelope.GetCid()
	s.mu.Lock()
	waiting, match := s.pending[cid], s.joining[cid]
	delete(s.pending, cid)
	delete(s.joining, cid)
	var early []Frame
	joined := envelope.GetMatch()
	matchID := canonicalID(joined.GetMatchId())
	if match != nil && joined != nil {
		s.matches[matchID] = match
		early = s.strays.take(matchID)
	}
	s.mu.Unlock()
	if match != nil && joined != nil {
		match.connected(s, matchID)
		for _, frame := range early {
			match.receive(s, frame)
		}
	}
	if waiting != nil {
		waiting <- envelope
	}
}

// canonicalID spells a match id as the match's own messages do. The answer to a join repeats the client's spelling, and Nakama
// accepts several.
func canonicalID(matchID string) string {
	text, node, _ := strings.Cut(matchID, ".")
	id, err := uuid.FromString(text)
	if err != nil {
		return matchID
	}
	return id.String() + "." + node
}

// strayFrames are the last frames of matches that this socket has not joined yet, oldest first.
type strayFrames []strayFrame

type strayFrame struct {
	matchID string
	frame   Frame
}

const maxStrays = 64 // Nakama's own outgoing queue holds so many: more cannot have come between a join and its answer

func (f *strayFrames) keep(matchID string, frame Frame) {
	if len(*f) == maxStrays {
		*f = append((*f)[:0], (*f)[1:]...)
	}
	*f = append(*f, strayFrame{matchID, frame})
}

func (f *strayFrames) take(matchID string) []Frame {
	var taken []Frame
	rest := (*f)[:0]
	for _, stray := range *f {
		if stray.matchID == matchID {
			taken = append(taken, stray.frame)
		} else {
			rest = append(rest, stray)
		}
	}
	*f = rest
	return taken
}

// Traffic counts websocket frames and their bytes since the socket was opened.
type Traffic struct {
	FramesSent, FramesReceived uint64
	BytesSent, BytesReceived   uint64
}

// Plus is the sum.
func (t Traffic) Plus(u Traffic) Traffic {
	return Traffic{
		FramesSent: t.FramesSent + u.FramesSent, FramesReceived: t.FramesReceived + u.FramesReceived,
		BytesSent: t.BytesSent + u.BytesSent, BytesReceived: t.BytesReceived + u.BytesReceived,
	}
}

// Traffic is what the socket has carried so far.
func (s *Socket) Traffic() Traffic {
	return Traffic{
		FramesSent: s.stats.framesOut.Load(), FramesReceived: s.stats.framesIn.Load(),
		BytesSent: s.stats.bytesOut.Load(), BytesReceived: s.stats.bytesIn.Load(),
	}
}

type socketStats struct{ framesIn, framesOut, bytesIn, bytesOut atomic.Uint64 }

func (t *socketStats) sent(n int) {
	t.framesOut.Add(1)
	t.bytesOut.Add(uint64(n))
}

func (t *socketStats) received(n int) {
	t.framesIn.Add(1)
	t.bytesIn.Add(uint64(n))
}
