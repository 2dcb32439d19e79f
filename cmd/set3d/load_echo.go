package main

import (
	"encoding/binary"
	"time"

	"set3d/client"
)

const (
	echoOp    = 1
	echoBytes = 150 // as an UPDATE with a claim's verdict and a snapshot has
)

// echoGame is a match of a module that sends every message back to everybody at the table: what the frames of a game cost without the
// game. It never ends by itself.
type echoGame struct{ *finish }

func (g *echoGame) lock() time.Duration { return 0 }

func (g *echoGame) wantsForfeit() bool { return false }

func (g *echoGame) claim(p *place) (*claim, time.Duration) {
	id := max(p.seat.random.Uint64(), 1)
	return &claim{id: id, op: echoOp, valid: true, data: binary.BigEndian.AppendUint64(make([]byte, 0, echoBytes), id)[:echoBytes]}, 0
}

func (g *echoGame) hear(p *place, frame client.Frame) {
	if len(frame.Data) < 8 {
		return
	}
	if id := binary.BigEndian.Uint64(frame.Data); p.sent(id) {
		p.answer(id, answeredValid, "", frame.At)
	}
}

// sent reports whether this player sent a message, and not another at the table.
func (p *place) sent(id uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.owed[id]
	return ok
}
