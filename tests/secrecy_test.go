package tests

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// TestScenario34Secrecy records every byte that clients get until a match ends: players and a watcher on both kinds of socket, a stranger, the
// listing, RPCs over HTTP. Neither the key or the seed nor the order of the cards to come is in any of it.
func TestScenario34Secrecy(t *testing.T) {
	t.Parallel()
	for name, seed := range map[string]int32{"a secret key": 0, "a seed": -1_987_654_321} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := shared(t)
			s := &secrets{t: t}
			var players []*peer
			for _, format := range bothFormats {
				p := connect(t, on, format)
				p.keepRaw = true // nothing has come yet
				players = append(players, p)
			}
			request := `{"seats":2,"seed":` + strconv.Itoa(int(seed)) + `,"rules":{"valid_anim_ms":20,"refill_anim_ms":20,"expand_anim_ms":20,"invalid_anim_ms":100,` +
				`"claim_grace_ms":0,"drop_hold_ms":5000}}`
			answer, refused := players[0].rpc("create_match", request)
			if refused != nil {
				t.Fatal(refused)
			}
			x := &table{t: t, on: on, made: matchOf(t, answer), shared: client.NewBroadcasts()}
			watcher, stranger := connect(t, on, asProtobuf), connect(t, on, asJSON)
			watcher.keepRaw, stranger.keepRaw = true, true
			for _, p := range append(players, watcher) {
				x.seat(p)
			}
			stranger.attend(x.made.MatchID, nil)
			s.text("create_match", answer)
			s.play(x, players, stranger)
			s.check(append(players, watcher), stranger, seed)
		})
	}
}

// secrets are what was heard of a match.
type secrets struct {
	t     *testing.T
	texts []string // over HTTP, before the end
}

func (s *secrets) text(what, body string) { s.texts = append(s.texts, what+": "+body) }

// play takes Set after Set to the end, and asks around meanwhile.
func (s *secrets) play(x *table, players []*peer, stranger *peer) {
	s.t.Helper()
	turn := 0
	for {
		p := players[turn%2]
		state := p.until("an idle board or the end", func(s *wire.Snapshot) bool {
			return s.GetState() == wire.BoardState_BOARD_STATE_IDLE || s.GetState() == wire.BoardState_BOARD_STATE_MATCH_END
		})
		if state.GetState() == wire.BoardState_BOARD_STATE_MATCH_END {
			return
		}
		if turn%5 == 0 && state.GetDeckCount() > 0 { // the last Sets end the match, and with it what is secret
			s.askAround(x, p, stranger)
		}
		p.mark()
		id := newClaimID()
		p.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, setsOn(state.GetBoard())[0]))
		p.outcome(id) // or the board has moved on, and it is refused
		turn++
	}
}

// askAround asks for everything that may be asked for in a match.
func (s *secrets) askAround(x *table, p, stranger *peer) {
	p.send(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
	p.sync()
	p.mark()
	p.outcome(p.claim("0000 0000 0000"))
	stranger.mark()
	stranger.outcome(stranger.claim(setSA))
	stranger.send(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
	s.text("listing", listing(s.t, x.on, stranger.user, ""))
	s.text("listing by label", listing(s.t, x.on, stranger.user, "+label.phase:playing"))
	_, hello := ask(s.t, x.on, http.MethodPost, "/v2/rpc/hello", `"{}"`, bearer(stranger.user))
	s.text("hello", hello)
	_, account := ask(s.t, x.on, http.MethodGet, "/v2/account", "", bearer(p.user))
	s.text("account", account)
	_, storage := ask(s.t, x.on, http.MethodGet, "/v2/storage/set3d", "", bearer(p.user))
	s.text("storage", storage)
}

// check looks for what the end reveals in what came before it.
func (s *secrets) check(inside []*peer, stranger *peer, seed int32) {
	s.t.Helper()
	end := inside[0].ended()
	needles := needlesOf(end, seed)
	if seed == 0 && len(end.GetKey()) != 32 || seed != 0 && end.GetSeed() != seed {
		s.t.Fatalf("the end reveals {%v}", end.GetDeck())
	}
	order := dealtBy(inside[0])
	if len(order) < 60 {
		s.t.Fatalf("only %d cards were dealt", len(order))
	}
	for _, p := range append(inside, stranger) {
		p.hangUp()
		raw, frames := beforeTheEnd(p)
		if len(raw) < 3 {
			s.t.Errorf("%d frames were recorded", len(raw))
		}
		for _, frame := range raw {
			for what, needle := range needles {
				if bytes.Contains(frame, needle) {
					s.t.Errorf("%s was sent before the end: %q", what, frame)
				}
			}
		}
		s.future(frames, order)
	}
	if len(s.texts) < 5 {
		s.t.Errorf("only %d texts were recorded", len(s.texts))
	}
	for _, text := range s.texts {
		for what, needle := range needles {
			if strings.Contains(text, string(needle)) && !strings.HasPrefix(what, "bytes") {
				s.t.Errorf("%s was told before the end: %s", what, text)
			}
		}
	}
}

// future looks for cards that were still in the deck: as cards of a message, and as six in the order in which they came, in any bytes. A message
// of fields that the .proto does not have is suspicious as well.
func (s *secrets) future(frames []frame, order []byte) {
	s.t.Helper()
	dealt := 0
	for _, f := range frames {
		if update, ok := f.Body.(*wire.Update); ok {
			for _, event := range update.GetEvents() {
				dealt += len(event.GetCardsDealt().GetCards())
			}
		}
		left := 81 - dealt
		if snapshot := snapshotOf(f); snapshot != nil {
			left = min(left, int(snapshot.GetDeckCount())) // a watcher has not heard of all that was dealt
			for _, card := range snapshot.GetBoard() {
				if i := bytes.IndexByte(order, card); card != 255 && i >= 81-int(snapshot.GetDeckCount()) {
					s.t.Errorf("card %d lies on the board before it was dealt: {%v}", card, f.Body)
				}
			}
		}
		if f.Body == nil || hasUnknown(f.Body.ProtoReflect()) {
			s.t.Errorf("a message with more in it than the .proto says: op code %d, %x", f.Op, f.Data)
		}
		const window = 6
		for i := 81 - left; i+window <= len(order); i++ {
			if bytes.Contains(f.Data, order[i:i+window]) || strings.Contains(string(f.Data), fmt.Sprint(order[i:i+window])) {
				s.t.Errorf("six of the cards to come are in {%v}", f.Body)
			}
		}
	}
}

func snapshotOf(f frame) *wire.Snapshot {
	switch body := f.Body.(type) {
	case *wire.Update:
		return body.GetSnapshot()
	case *wire.Welcome:
		return body.GetSnapshot()
	}
	return nil
}

// needlesOf are the forms in which a key or a seed might be somewhere.
func needlesOf(end *wire.MatchEnded, seed int32) map[string][]byte {
	needles := map[string][]byte{}
	add := func(what string, raw []byte) {
		needles["bytes of "+what] = raw
		needles["hex of "+what] = []byte(hex.EncodeToString(raw))
		needles["HEX of "+what] = []byte(strings.ToUpper(hex.EncodeToString(raw)))
		for shift := range 3 { // base64 of text that it is a part of
			encoded := base64.StdEncoding.EncodeToString(append(make([]byte, shift), raw...))
			needles[fmt.Sprintf("base64 of %s, shifted by %d", what, shift)] = []byte(encoded[4 : len(encoded)-4])
		}
	}
	if key := end.GetKey(); len(key) > 0 {
		for i := 0; i+16 <= len(key); i += 8 { // halves of it as well
			add(fmt.Sprintf("the key from %d on", i), key[i:i+16])
		}
		return needles
	}
	needles["the seed in digits"] = []byte(strconv.Itoa(int(seed))[1:])
	needles["bytes of the seed as varint"] = protowire.AppendVarint(nil, protowire.EncodeZigZag(int64(seed)))
	needles["bytes of the seed, little endian"] = binary.LittleEndian.AppendUint32(nil, uint32(seed))
	needles["bytes of the seed, big endian"] = binary.BigEndian.AppendUint32(nil, uint32(seed))
	return needles
}

// dealtBy are all cards that were dealt, in their order, as a player saw it from the start.
func dealtBy(p *peer) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	var order []byte
	for _, f := range p.frames {
		if update, ok := f.Body.(*wire.Update); ok {
			for _, event := range update.GetEvents() {
				order = append(order, event.GetCardsDealt().GetCards()...)
			}
		}
	}
	return order
}

// beforeTheEnd is what came before the message with the end in it: as it came, and as match messages.
func beforeTheEnd(p *peer) ([][]byte, []frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	frames := p.frames
	for i, f := range p.frames {
		if len(endsIn([]frame{f}, p.match)) > 0 {
			frames = p.frames[:i]
			marker := f.Data
			if p.format == asJSON {
				marker = []byte(base64.StdEncoding.EncodeToString(f.Data))
			}
			for j, raw := range p.raw {
				if bytes.Contains(raw, marker) {
					return p.raw[:j], frames
				}
			}
			p.t.Fatal("the end is not among the raw frames")
		}
	}
	return p.raw, frames
}

// hasUnknown says whether a message, or one in it, has fields that its type does not know.
func hasUnknown(m protoreflect.Message) bool {
	if len(m.GetUnknown()) > 0 {
		return true
	}
	found := false
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				found = found || hasUnknown(value.List().Get(i).Message())
			}
		default:
			found = found || hasUnknown(value.Message())
		}
		return !found
	})
	return found
}
