package domain

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Why a record cannot be replayed.
var (
	ErrRecordVersion = errors.New("not a record, or of a version that this program does not know")
	ErrRecordCorrupt = errors.New("the record is damaged")
	// ErrRecordDiffers is a record that can be read and does not give what its match gave: a byte was changed, or the rules were.
	ErrRecordDiffers = errors.New("the record gives another match than it was taken from")
)

// Replay runs a record and returns the session as it was when the record was taken; all output goes to out. It fails
// with ErrRecordVersion, ErrRecordCorrupt or ErrRecordDiffers. A session that was replayed goes on like any other, by
// the rules of the record's version.
func Replay(record []byte, out *Output) (*Session, error) {
	return ReplayCommands(record, out, func(int64, Command, Result) {})
}

// ReplayCommands is Replay that also says of each command, after it was handled, what became of it and when: what the commands put out,
// and the deadlines before them, is in out by then. It says so of damaged records too, as far as they can be read.
func ReplayCommands(record []byte, out *Output, handled func(nowMs int64, cmd Command, result Result)) (*Session, error) {
	s, err := replay(record, out, handled)
	if err != nil {
		return nil, err
	}
	// One match has one record: what reads the same and is written otherwise was not written by a session.
	written, end := s.Record(), len(record)-sha256.Size
	switch {
	case !bytes.HasPrefix(written, record[:end]) || len(written) != len(record):
		return nil, fmt.Errorf("%w: it is not in the form in which records are written", ErrRecordCorrupt)
	case !bytes.Equal(written, record):
		return nil, fmt.Errorf("%w: its digest is %x, and what it gives has %x", ErrRecordDiffers, record[end:], written[end:])
	}
	return s, nil
}

// replay is ReplayCommands but for the digest.
func replay(record []byte, out *Output, handled func(int64, Command, Result)) (*Session, error) {
	versioned, ok := bytes.CutPrefix(record, []byte(recordMagic))
	if !ok || len(versioned) == 0 || versioned[0] != recordVersion2 && versioned[0] != recordVersion {
		return nil, ErrRecordVersion
	}
	r := recordReader{rest: versioned[1:]}
	setup, err := r.setup()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecordCorrupt, err)
	}
	s := &Session{version: versioned[0]}
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
			return s, nil
		}
		result := s.Apply(nowMs, cmd, out)
		handled(s.nowMs, cmd, result)
	}
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
		return r.lastMs, nil, !r.broken && len(r.rest) == sha256.Size
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
