package tests

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

const (
	asJSON     = client.FormatJSON
	asProtobuf = client.FormatProtobuf
)

// peer is a client without manners: a user on a bare websocket, who sends what the test says and keeps all that comes. What comes of the
// match that it is in goes through a client.Verifier too.
type peer struct {
	t        testing.TB
	on       *server
	user     *client.User
	format   client.Format
	match    string // id of the match, as the server spells it
	verifier *client.Verifier
	rude     bool        // sends what no client should: ERROR messages are no violation
	sink     func(frame) // takes the frames, which are not kept then
	pace     pacer

	conn    *websocket.Conn
	writing sync.Mutex

	mu        sync.Mutex
	changed   chan struct{} // closed, and replaced, when something has come
	frames    []frame
	envelopes []*rtapi.Envelope // all else, without a cid
	answers   map[string]*rtapi.Envelope
	raw       [][]byte // everything, as it came, if kept
	keepRaw   bool
	err       error // why nothing comes any more
	lastCid   int
	from      int // frames before it are not looked at
}

// frame is a match message as it came. Body is nil if its op code is none of ours.
type frame struct {
	matchID string
	client.Message
}

// connect opens a socket for a new user.
func connect(t testing.TB, on *server, format client.Format) *peer {
	t.Helper()
	return connectAs(t, on, signIn(t, on), format)
}

func connectAs(t testing.TB, on *server, user *client.User, format client.Format) *peer {
	t.Helper()
	address := strings.Replace(on.url, "http", "ws", 1) + "/ws?" + url.Values{
		"token": {user.Token()}, "format": {format.String()}, "lang": {"en"}, "status": {"false"},
	}.Encode()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, _, err := websocket.DefaultDialer.DialContext(ctx, address, nil)
	if err != nil {
		t.Fatalf("open a socket: %v", err)
	}
	p := &peer{t: t, on: on, user: user, format: format, conn: conn, changed: make(chan struct{}), pace: newPacer(on.limits),
		answers: map[string]*rtapi.Envelope{}}
	go p.read()
	t.Cleanup(p.hangUp)
	return p
}

func (p *peer) read() {
	for {
		_, raw, err := p.conn.ReadMessage()
		if err != nil {
			p.take(func() { p.err = err })
			return
		}
		at := time.Now()
		envelope := &rtapi.Envelope{}
		if p.format == asJSON {
			err = protojson.Unmarshal(raw, envelope)
		} else {
			err = proto.Unmarshal(raw, envelope)
		}
		if err != nil {
			p.take(func() { p.err = fmt.Errorf("an unreadable frame: %w: %q", err, raw) })
			return
		}
		p.take(func() { p.sort(raw, envelope, at) })
	}
}

func (p *peer) take(what func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what()
	close(p.changed)
	p.changed = make(chan struct{})
}

// sort puts an envelope where it is looked for.
func (p *peer) sort(raw []byte, envelope *rtapi.Envelope, at time.Time) {
	if p.keepRaw {
		p.raw = append(p.raw, raw)
	}
	data := envelope.GetMatchData()
	switch {
	case envelope.GetCid() != "":
		p.answers[envelope.GetCid()] = envelope
	case data == nil:
		p.envelopes = append(p.envelopes, envelope)
	default:
		f := client.Frame{Op: data.GetOpCode(), Data: data.GetData(), At: at}
		if p.verifier != nil && data.GetMatchId() == p.match {
			p.verifier.Received(f)
		}
		message, _, err := client.ReadFrame(f)
		if err != nil {
			p.err = err
			return
		}
		message.Frame = f
		if p.sink != nil {
			p.sink(frame{data.GetMatchId(), message})
			return
		}
		p.frames = append(p.frames, frame{data.GetMatchId(), message})
	}
}

// hangUp cuts the connection and waits until its end is known.
func (p *peer) hangUp() {
	_ = p.conn.Close()
	p.await("the end of the socket", func() bool { return p.err != nil })
}

// await waits until done says so; it is asked with the lock held. It fails the test when nothing happens.
func (p *peer) await(what string, done func() bool) {
	p.t.Helper()
	if !p.within(patience, done) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Errorf("%s did not come in %v. Socket: %v. What came:\n%s", what, patience, p.err, p.story())
		p.t.FailNow()
	}
}

// within waits at most so long.
func (p *peer) within(limit time.Duration, done func() bool) bool {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for {
		p.mu.Lock()
		finished, dead, changed := done(), p.err != nil, p.changed
		p.mu.Unlock()
		if finished {
			return true
		}
		if dead {
			return false
		}
		select {
		case <-changed:
		case <-timeout.C:
			return false
		}
	}
}

// story is what came, for people.
func (p *peer) story() string {
	var text strings.Builder
	for i, f := range p.frames {
		mark := "  "
		if i >= p.from {
			mark = "> "
		}
		fmt.Fprintf(&text, "%s%v {%v}\n", mark, wire.OpCode(f.Op), f.Body)
	}
	for _, envelope := range p.envelopes {
		fmt.Fprintf(&text, "  envelope {%v}\n", envelope)
	}
	return text.String()
}

// write sends one frame of the socket as it is.
func (p *peer) write(raw []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	kind := websocket.BinaryMessage
	if p.format == asJSON {
		kind = websocket.TextMessage
	}
	_ = p.conn.SetWriteDeadline(time.Now().Add(patience))
	return p.conn.WriteMessage(kind, raw)
}

func (p *peer) encode(envelope *rtapi.Envelope) []byte {
	var raw []byte
	var err error
	if p.format == asJSON {
		raw, err = protojson.MarshalOptions{UseProtoNames: true}.Marshal(envelope)
	} else {
		raw, err = proto.Marshal(envelope)
	}
	if err != nil {
		p.t.Errorf("encode: %v", err)
		p.t.FailNow()
	}
	return raw
}

// put writes an envelope without waiting for anything.
func (p *peer) put(envelope *rtapi.Envelope) {
	p.t.Helper()
	if err := p.write(p.encode(envelope)); err != nil {
		p.t.Errorf("write: %v", err)
		p.t.FailNow()
	}
}

// request writes an envelope under a new cid, which is returned.
func (p *peer) request(envelope *rtapi.Envelope) string {
	p.t.Helper()
	p.mu.Lock()
	p.lastCid++
	cid := fmt.Sprint(p.lastCid)
	p.mu.Unlock()
	envelope.Cid = cid
	p.put(envelope)
	return cid
}

func (p *peer) answer(cid string) *rtapi.Envelope {
	p.t.Helper()
	var answer *rtapi.Envelope
	p.await("the answer to request "+cid, func() bool {
		answer = p.answers[cid]
		return answer != nil
	})
	return answer
}

func (p *peer) call(envelope *rtapi.Envelope) *rtapi.Envelope {
	p.t.Helper()
	return p.answer(p.request(envelope))
}

// ping asks Nakama, not the match: whatever the socket was sent before has been handled when it returns.
func (p *peer) ping() {
	p.t.Helper()
	p.call(&rtapi.Envelope{Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}})
}

func (p *peer) rpc(id, payload string) (string, *rtapi.Error) {
	p.t.Helper()
	answer := p.call(&rtapi.Envelope{Message: &rtapi.Envelope_Rpc{Rpc: &api.Rpc{Id: id, Payload: payload}}})
	return answer.GetRpc().GetPayload(), answer.GetError()
}

func joinOf(matchID string) *rtapi.Envelope {
	return &rtapi.Envelope{Message: &rtapi.Envelope_MatchJoin{MatchJoin: &rtapi.MatchJoin{Id: &rtapi.MatchJoin_MatchId{MatchId: matchID}}}}
}

func leaveOf(matchID string) *rtapi.Envelope {
	return &rtapi.Envelope{Message: &rtapi.Envelope_MatchLeave{MatchLeave: &rtapi.MatchLeave{MatchId: matchID}}}
}

func dataOf(matchID string, op int64, data []byte) *rtapi.Envelope {
	return &rtapi.Envelope{Message: &rtapi.Envelope_MatchDataSend{MatchDataSend: &rtapi.MatchDataSend{
		MatchId: matchID, OpCode: op, Data: data, Reliable: true,
	}}}
}

// attend makes the match the peer's own, whose messages are looked at.
func (p *peer) attend(matchID string, verifier *client.Verifier) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.match, p.verifier = matchID, verifier
	if verifier != nil {
		verifier.Joined()
	}
}

// join joins and waits for the WELCOME.
func (p *peer) join(matchID string, verifier *client.Verifier) *wire.Welcome {
	p.t.Helper()
	p.attend(matchID, verifier)
	p.mark()
	if answer := p.call(joinOf(matchID)); answer.GetMatch() == nil {
		p.t.Errorf("join: %v", answer)
		p.t.FailNow()
	}
	return p.welcome()
}

// refusedJoin tries to join and returns the refusal.
func (p *peer) refusedJoin(matchID string) *rtapi.Error {
	p.t.Helper()
	answer := p.call(joinOf(matchID))
	if answer.GetError() == nil {
		p.t.Fatalf("join is answered {%v}, want a refusal", answer)
	}
	return answer.GetError()
}

// again is the same user on a new socket, in the same match. The verifier goes with it.
func (p *peer) again() (*peer, *wire.Welcome) {
	p.t.Helper()
	q := connectAs(p.t, p.on, p.user, p.format)
	p.mu.Lock()
	verifier := p.verifier
	p.verifier, q.rude = nil, p.rude
	p.mu.Unlock()
	return q, q.join(p.match, verifier)
}

// send sends a match message, no faster than clients may.
func (p *peer) send(op wire.OpCode, body proto.Message) {
	p.t.Helper()
	data, err := proto.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	p.sendData(int64(op), data)
}

func (p *peer) sendData(op int64, data []byte) {
	p.t.Helper()
	p.pace.wait()
	p.mu.Lock()
	if p.verifier != nil {
		p.verifier.Sent(client.Frame{Op: op, Data: data, At: time.Now()})
	}
	p.mu.Unlock()
	p.put(dataOf(p.match, op, data))
}

// mark forgets what came so far: from here on only newer messages are looked at.
func (p *peer) mark() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.from = len(p.frames)
}

// news are the peer's frames since the mark. Call it with the lock held.
func (p *peer) news() []frame {
	return slices.DeleteFunc(slices.Clone(p.frames[p.from:]), func(f frame) bool { return f.matchID != p.match })
}

// since are the frames since the mark, in order.
func (p *peer) since() []frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.news()
}

// first waits for the first message of a kind since the mark that is the one.
func first[Body client.Body](p *peer, what string, isIt func(Body) bool) Body {
	p.t.Helper()
	var found Body
	p.await(what, func() bool {
		for _, f := range p.news() {
			if body, ok := f.Body.(Body); ok && isIt(body) {
				found = body
				return true
			}
		}
		return false
	})
	return found
}

// every is all messages of a kind since the mark.
func every[Body client.Body](p *peer) []Body {
	var all []Body
	for _, f := range p.since() {
		if body, ok := f.Body.(Body); ok {
			all = append(all, body)
		}
	}
	return all
}

func any1[Body client.Body](Body) bool { return true }

// dead waits until the server has closed the socket.
func (p *peer) dead() {
	p.t.Helper()
	p.within(patience, func() bool { return p.err != nil })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.t.Fatal("the socket is open")
	}
}

// alive fails if the socket is not open.
func (p *peer) alive() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		p.t.Fatalf("the socket is closed: %v", p.err)
	}
}

// pacer keeps a session well below the server's rate, whatever bunches its messages on the way.
type pacer struct {
	mu    sync.Mutex
	token time.Duration
	burst time.Duration
	free  time.Time // when all tokens are back
}

func newPacer(l limits) pacer {
	token := 2 * time.Second / time.Duration(max(1, l.MessagesPerSecond))
	return pacer{token: token, burst: token * time.Duration(max(1, l.MessagesBurst/2))}
}

// wait returns when one more message may go.
func (p *pacer) wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(p.token)
	if early := p.free.Sub(now) - p.burst; early > 0 {
		time.Sleep(early)
	}
}
