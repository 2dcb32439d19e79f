package domain

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Why a record cannot be replayed.
var (
	ErrRecordVersion = errors.New("not a record, or of a version that this program does not know")
	ErrRecordCorrupt = errors.New("the record is damaged")
)

// recordMagic begins every record; its last byte is the version.
const recordMagic = "S3R\x01"

// The tags of a record's entries.
const (
	tagEnd byte = iota
	tagSelectCard
	tagDeselectCard
	tagClaimSelected
	tagClaimSet
	tagAnimationComplete
	tagDrop
	tagReturn
	tagForfeit
	tagForfeitIdle
)

const (
	// noSeat and noSlot stand for every seat and slot that no match has.
	noSeat = 255
	noSlot = 255
	// maxClaimBytes is how much of a claim is kept: with four bytes it is as malformed as with more.
	maxClaimBytes = 4
	// maxRecordMs bounds the time in a record, so that sums of times stay far from overflowing: 34 years.
	maxRecordMs = 1 << 40
)

// recorder writes the record of a match: the setup, then every command with its time, refused ones too. What bots do
// follows from it.
type recorder struct {
	buf    []byte
	lastMs int64
}

// start writes the head: magic, rules, players, bots, deck source.
func (r *recorder) start(setup Setup) {
	r.buf = append(r.buf, recordMagic...)
	for _, field := range rulesFields(&setup.Rules) {
		r.buf = binary.AppendUvarint(r.buf, field.get())
	}
	r.buf = append(r.buf, byte(setup.Players))
	for _, bot := range setup.Bots[:setup.Players] {
		r.buf = append(r.buf, byte(bot.Level))
		if bot.Level != 0 {
			r.buf = binary.LittleEndian.AppendUint64(r.buf, bot.Seed)
		}
	}
	r.buf = append(r.buf, byte(setup.Deck.Kind()))
	switch key := setup.Deck.Key(); setup.Deck.Kind() {
	case SourceSeed:
		r.buf = binary.LittleEndian.AppendUint32(r.buf, uint32(setup.Deck.Seed()))
	case SourceKey:
		r.buf = append(r.buf, key[:]...)
	case SourceOrder:
		order := setup.Deck.Order()
		r.buf = append(r.buf, byte(len(order)))
		for _, card := range order {
			r.buf = append(r.buf, byte(card.ID()))
		}
	}
}

// command writes one command. Before the start and in a replica nothing is recorded.
func (r *recorder) command(nowMs int64, cmd Command) {
	if len(r.buf) == 0 {
		return
	}
	r.time(nowMs)
	switch c := cmd.(type) {
	case SelectCard:
		r.buf = append(r.buf, tagSelectCard, seatByte(c.Seat), slotByte(c.Slot))
	case DeselectCard:
		r.buf = append(r.buf, tagDeselectCard, seatByte(c.Seat), slotByte(c.Slot))
	case ClaimSelected:
		r.buf = append(r.buf, tagClaimSelected, seatByte(c.Seat))
	case ClaimSet:
		cards := c.Cards[:min(len(c.Cards), maxClaimBytes)]
		r.buf = append(r.buf, tagClaimSet, seatByte(c.Seat))
		r.buf = binary.LittleEndian.AppendUint64(r.buf, c.ID)
		r.buf = append(append(r.buf, byte(len(cards))), cards...)
	case AnimationComplete:
		r.buf = binary.AppendUvarint(append(r.buf, tagAnimationComplete, seatByte(c.Seat)), uint64(c.Serial))
	case Drop:
		r.buf = append(r.buf, tagDrop, seatByte(c.Seat))
	case Return:
		r.buf = append(r.buf, tagReturn, seatByte(c.Seat))
	case Forfeit:
		tag := tagForfeit
		if c.Idle {
			tag = tagForfeitIdle
		}
		r.buf = append(r.buf, tag, seatByte(c.Seat))
	}
}

func (r *recorder) time(nowMs int64) {
	r.buf = binary.AppendUvarint(r.buf, uint64(nowMs-r.lastMs))
	r.lastMs = nowMs
}

// seatByte is the seat + 1, because BoardLayer is −1.
func seatByte(seat int) byte {
	if seat < BoardLayer || seat >= MaxPlayers {
		return noSeat
	}
	return byte(seat + 1)
}

func slotByte(slot int) byte {
	if slot < 0 || slot >= MaxSlots {
		return noSlot
	}
	return byte(slot)
}

// Record is the record of the match so far, from which Replay makes the same session: the setup, then every command
// with its time, then the time now. nil before the start. It holds the deck's secret.
func (s *Session) Record() []byte {
	if len(s.record.buf) == 0 {
		return nil
	}
	r := recorder{buf: bytes.Clone(s.record.buf), lastMs: s.record.lastMs}
	r.time(s.nowMs)
	return append(r.buf, tagEnd)
}

// rulesField reads and writes one field of the rules as a number.
type rulesField struct {
	get func() uint64
	set func(uint64)
}

// rulesFields are the fields in the record's order.
func rulesFields(r *Rules) []rulesField {
	number := func(p *int64) rulesField {
		return rulesField{func() uint64 { return uint64(*p) }, func(v uint64) { *p = int64(v) }}
	}
	return []rulesField{
		{func() uint64 { return uint64(r.InitialBoardSize) }, func(v uint64) { r.InitialBoardSize = int(v) }},
		{func() uint64 { return uint64(r.RefillPolicy) }, func(v uint64) { r.RefillPolicy = RefillPolicy(v) }},
		{func() uint64 { return uint64(r.PenaltyMode) }, func(v uint64) { r.PenaltyMode = PenaltyMode(v) }},
		number(&r.PenaltyTimeMs),
		{func() uint64 {
			if r.Timed {
				return 1
			}
			return 0
		}, func(v uint64) { r.Timed = v != 0 }},
		number(&r.TimeLimitMs),
		{func() uint64 { return uint64(r.ClaimMode) }, func(v uint64) { r.ClaimMode = ClaimMode(v) }},
		number(&r.ClaimGraceMs),
		number(&r.ValidAnimMs), number(&r.InvalidAnimMs), number(&r.RefillAnimMs), number(&r.ExpandAnimMs),
		number(&r.IdleLimitMs), number(&r.DropHoldMs),
	}
}

// Replay runs a record and returns the session as it was when the record was taken; all output goes to out. It fails
// with ErrRecordVersion or ErrRecordCorrupt. A session that was replayed goes on like any other.
func Replay(record []byte, out *Output) (*Session, error) {
	if !bytes.HasPrefix(record, []byte(recordMagic)) {
		return nil, ErrRecordVersion
	}
	r := recordReader{rest: record[len(recordMagic):]}
	setup, err := r.setup()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecordCorrupt, err)
	}
	s := NewSession()
	if err := s.StartMatch(setup, out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecordCorrupt, err)
	}
	for {
		nowMs, cmd, ok := r.entry()
		if !ok {
			return nil, fmt.Errorf("%w: at byte %d", ErrRecordCorrupt, len(record)-len(r.rest))
		}
		if cmd == nil {
			s.Advance(nowMs, out)
			break
		}
		s.Apply(nowMs, cmd, out)
	}
	// One match has one record: what reads the same and is written otherwise was not written by a session.
	if !bytes.Equal(s.Record(), record) {
		return nil, fmt.Errorf("%w: it is not in the form in which records are written", ErrRecordCorrupt)
	}
	return s, nil
}

// recordReader reads a record; after the first thing that it cannot read it is broken and reads zeros.
type recordReader struct {
	rest   []byte
	lastMs int64
	broken bool
}

func (r *recordReader) setup() (Setup, error) {
	var setup Setup
	for _, field := range rulesFields(&setup.Rules) {
		field.set(r.uvarint())
	}
	setup.Players = int(r.byte())
	for seat := range min(setup.Players, MaxPlayers) {
		if setup.Bots[seat].Level = BotLevel(r.byte()); setup.Bots[seat].Level != 0 {
			setup.Bots[seat].Seed = binary.LittleEndian.Uint64(r.bytes(8))
		}
	}
	deck, err := r.deck(SourceKind(r.byte()))
	if err == nil && r.broken {
		err = errors.New("its head is cut off")
	}
	setup.Deck = deck
	return setup, err
}

func (r *recordReader) deck(kind SourceKind) (DeckSource, error) {
	switch kind {
	case SourceSeed:
		return SeedSource(int32(binary.LittleEndian.Uint32(r.bytes(4))))
	case SourceKey:
		return KeySource([32]byte(r.bytes(32))), nil
	case SourceOrder:
		var cards []Card
		for _, id := range r.bytes(int(r.byte())) {
			card, err := CardFromID(int(id))
			if err != nil {
				return DeckSource{}, err
			}
			cards = append(cards, card)
		}
		return OrderSource(cards)
	}
	return DeckSource{}, fmt.Errorf("deck source %d", kind)
}

// entry reads one command with its time; the end of the record is a nil command.
func (r *recordReader) entry() (int64, Command, bool) {
	delta := r.uvarint()
	if delta > uint64(maxRecordMs-r.lastMs) {
		return 0, nil, false
	}
	r.lastMs += int64(delta)
	var cmd Command
	switch tag := r.byte(); tag {
	case tagEnd:
		return r.lastMs, nil, !r.broken && len(r.rest) == 0
	case tagSelectCard:
		cmd = SelectCard{Seat: r.seat(), Slot: int(r.byte())}
	case tagDeselectCard:
		cmd = DeselectCard{Seat: r.seat(), Slot: int(r.byte())}
	case tagClaimSelected:
		cmd = ClaimSelected{Seat: r.seat()}
	case tagClaimSet:
		seat, id := r.seat(), binary.LittleEndian.Uint64(r.bytes(8))
		cmd = ClaimSet{Seat: seat, ID: id, Cards: r.bytes(int(r.byte()))}
	case tagAnimationComplete:
		cmd = AnimationComplete{Seat: r.seat(), Serial: uint32(r.uvarint())}
	case tagDrop:
		cmd = Drop{Seat: r.seat()}
	case tagReturn:
		cmd = Return{Seat: r.seat()}
	case tagForfeit:
		cmd = Forfeit{Seat: r.seat()}
	case tagForfeitIdle:
		cmd = Forfeit{Seat: r.seat(), Idle: true}
	}
	return r.lastMs, cmd, cmd != nil && !r.broken
}

func (r *recordReader) seat() int {
	if b := r.byte(); b != noSeat {
		return int(b) - 1
	}
	return MaxPlayers
}

func (r *recordReader) byte() byte { return r.bytes(1)[0] }

// bytes reads n bytes, or makes n zeros when they are not there: n is never more than a byte holds.
func (r *recordReader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.broken, r.rest = true, nil
		return make([]byte, n)
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *recordReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.broken, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}
