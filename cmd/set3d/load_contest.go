package main

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"set3d/client"
	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// contest is what the places of one match share: what is known of it, and what there is to claim.
type contest interface {
	// claim chooses the next message of a place, whose lock is held; nil says that there is none yet, and how long to wait.
	claim(p *place) (*claim, time.Duration)
	// hear takes a message that came for a place.
	hear(p *place, frame client.Frame)
	// lock is how long a wrong claim locks its player.
	lock() time.Duration
	// over is closed when the match has ended, by itself or by end, which reports whether it had not.
	over() <-chan struct{}
	end() bool
	ended() bool
	// wantsForfeit reports whether a player who leaves should say so.
	wantsForfeit() bool
}

func (l *loader) newContest() contest {
	over := &finish{done: make(chan struct{})}
	if l.flags.echo != "" {
		return &echoGame{over}
	}
	return &setGame{finish: over, errorRate: l.flags.errors}
}

// finish is the end of a match.
type finish struct {
	once sync.Once
	done chan struct{}
}

func (f *finish) over() <-chan struct{} { return f.done }

func (f *finish) end() bool {
	first := false
	f.once.Do(func() {
		first = true
		close(f.done)
	})
	return first
}

func (f *finish) ended() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// setGame is a match of SET as its players see it. All of them get the same bytes: the first one decodes them for everybody.
type setGame struct {
	*finish
	errorRate float64

	mu      sync.Mutex
	here    client.Position
	cards   []domain.Card // on the board
	idle    bool          // the board can be claimed from
	lockFor time.Duration // after a wrong claim
	recent  [8]broadcast
	oldest  int
}

// broadcast is an UPDATE that was decoded: players get it one after the other.
type broadcast struct {
	data   []byte
	update *wire.Update
}

func (g *setGame) hear(p *place, frame client.Frame) {
	switch wire.OpCode(frame.Op) {
	case wire.OpCode_OP_CODE_UPDATE:
		g.update(p, frame)
	case wire.OpCode_OP_CODE_CLAIM_RESULT:
		g.result(p, frame)
	case wire.OpCode_OP_CODE_WELCOME:
		var welcome wire.Welcome
		if proto.Unmarshal(frame.Data, &welcome) == nil {
			g.welcome(&welcome)
			p.welcomed(int(welcome.GetSeat()), welcome.GetLastVerdict())
		}
	case wire.OpCode_OP_CODE_NOTICE:
		g.notice(p, frame)
	case wire.OpCode_OP_CODE_ERROR:
		var failed wire.Error
		if proto.Unmarshal(frame.Data, &failed) == nil {
			p.table.loader.tally.count(client.ReasonName(failed.GetReason()))
		}
	}
}

func (g *setGame) welcome(w *wire.Welcome) {
	g.mu.Lock()
	g.lockFor = time.Duration(w.GetRules().GetInvalidAnimMs()) * time.Millisecond
	g.take(w.GetStamp(), w.GetSnapshot())
	g.mu.Unlock()
	if w.GetEnded() != nil {
		g.end()
	}
}

// take puts a newer state in the place of the known one.
func (g *setGame) take(stamp *wire.Stamp, s *wire.Snapshot) {
	position := client.PositionOf(stamp)
	if s == nil || !g.here.Before(position) {
		return
	}
	g.here, g.idle, g.cards = position, s.GetState() == wire.BoardState_BOARD_STATE_IDLE, g.cards[:0]
	for _, id := range s.GetBoard() {
		if card, err := domain.CardFromID(int(id)); err == nil { // 255 is an empty slot
			g.cards = append(g.cards, card)
		}
	}
}

func (g *setGame) update(p *place, frame client.Frame) {
	update := g.decode(frame.Data)
	own := p.seatNumber()
	for _, event := range update.GetEvents() {
		if claimed := event.GetSetClaimed(); claimed != nil && int(claimed.GetSeat()) == own {
			p.answer(claimed.GetClaimId(), verdictKind(claimed), "", frame.At)
		}
		if event.GetMatchEnded() != nil {
			g.end()
		}
	}
}

func verdictKind(verdict *wire.SetClaimed) answerKind {
	if verdict.GetValid() {
		return answeredValid
	}
	return answeredInvalid
}

// decode reads an UPDATE, or finds it among those that another player brought.
func (g *setGame) decode(data []byte) *wire.Update {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.recent {
		if bytes.Equal(g.recent[i].data, data) {
			return g.recent[i].update
		}
	}
	update := &wire.Update{}
	if proto.Unmarshal(data, update) != nil {
		return nil
	}
	slot := &g.recent[g.oldest]
	g.oldest = (g.oldest + 1) % len(g.recent)
	slot.data, slot.update = append(slot.data[:0], data...), update
	g.take(update.GetStamp(), update.GetSnapshot())
	return update
}

func (g *setGame) result(p *place, frame client.Frame) {
	var result wire.ClaimResult
	if proto.Unmarshal(frame.Data, &result) != nil {
		return
	}
	if verdict := result.GetRepeatedVerdict(); verdict != nil {
		p.answer(result.GetClaimId(), verdictKind(verdict), "", frame.At)
		return
	}
	kind, reason := answeredRefused, result.GetRefused().GetReason()
	switch reason {
	case wire.Reason_REASON_BUSY, wire.Reason_REASON_RATE_LIMITED, wire.Reason_REASON_NOT_IN_MATCH:
		kind = answeredLater
	}
	p.answer(result.GetClaimId(), kind, client.ReasonName(reason), frame.At)
}

func (g *setGame) notice(p *place, frame client.Frame) {
	var notice wire.Notice
	if proto.Unmarshal(frame.Data, &notice) != nil {
		return
	}
	switch notice.GetKind() {
	case wire.NoticeKind_NOTICE_KIND_REPLACED, wire.NoticeKind_NOTICE_KIND_CONTESTED, wire.NoticeKind_NOTICE_KIND_KICKED,
		wire.NoticeKind_NOTICE_KIND_CLOSED:
		p.sentOut("table closed")
	case wire.NoticeKind_NOTICE_KIND_SUSPENDED:
		p.suspended()
	}
}

func (g *setGame) lock() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lockFor
}

func (g *setGame) wantsForfeit() bool { return !g.ended() }

// claim picks a Set that lies on the board, or now and then three cards that are none.
func (g *setGame) claim(p *place) (*claim, time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	sets := domain.FindAllSets(g.cards)
	if !g.idle || len(sets) == 0 {
		return nil, p.upTo(p.table.loader.flags.pace/4) + firstReturn/10 // not all at once when the board comes to rest
	}
	random := p.seat.random
	cards := sets[random.IntN(len(sets))]
	if random.Float64() < g.errorRate {
		cards = mistake(random, g.cards)
	}
	id := max(random.Uint64(), 1)
	made := &claim{id: id, op: wire.OpCode_OP_CODE_CLAIM_SET, valid: domain.ValidateTriple(cards).IsValid()}
	for _, card := range cards {
		made.cards = append(made.cards, byte(card.ID()))
	}
	made.data, _ = proto.Marshal(&wire.ClaimSet{ClaimId: id, Cards: made.cards}) // plain fields: it cannot fail
	return made, 0
}

// mistake picks three cards that are no Set, if there are any.
func mistake(random *rand.Rand, board []domain.Card) domain.Triple {
	var picked domain.Triple
	for i, at := range random.Perm(len(board))[:min(4, len(board))] {
		if i < 3 || domain.ValidateTriple(picked).IsValid() {
			picked[min(i, 2)] = board[at]
		}
	}
	return picked
}
