package domain

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// recordMagic begins every record. One byte with the version follows.
const recordMagic = "S3R"

// The versions of records. A record is replayed by the rules of its version, and a session that was replayed from one
// goes on by them and writes the same version.
const (
	recordVersion2 = 2 // see version2.go
	recordVersion  = 3 // of new matches
)

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
	// maxIdleBytes is how much of a record may be commands that changed nothing. They are kept because an odd one explains much
	// when people argue, and are needed for nothing; a client that sends them as fast as it may, 20 a second, makes 1 MB of them in an
	// hour. 64 KiB are some 4,000 of them; a match of honest players has a few dozen.
	maxIdleBytes = 64 << 10
	// maxRecordMs bounds the time in a record, so that sums of times stay far from overflowing: 34 years.
	maxRecordMs = 1 << 40
)

// recorder writes the record of a match: the setup, then every command with its time. What bots do follows from it. A
// digest runs along, of the record's bytes and of all that the match put out.
type recorder struct {
	buf       []byte
	lastMs    int64
	idleBytes int       // of commands that changed nothing
	digest    hash.Hash // nil before the start
	scratch   []byte    // the memory for what is being encoded
}

// start writes the head.
func (r *recorder) start(version byte, setup *Setup) {
	r.buf = appendSetup(append([]byte(recordMagic), version), setup)
	r.digest = sha256.New()
	_, _ = r.digest.Write(r.buf)
}

// command writes one command that has been handled, unless it changed nothing and there are too many of these. Before the
// start nothing is recorded.
func (r *recorder) command(nowMs int64, cmd Command, result Result) {
	if r.digest == nil {
		return
	}
	entry := appendCommand(binary.AppendUvarint(r.scratch[:0], uint64(nowMs-r.lastMs)), cmd)
	if !result.changes() {
		if r.idleBytes+len(entry) > maxIdleBytes {
			return
		}
		r.idleBytes += len(entry)
	}
	r.buf, r.lastMs = append(r.buf, entry...), nowMs
	r.scratch = append(entry, byte(result.Outcome), byte(result.Refusal.Reason))
	_, _ = r.digest.Write(r.scratch)
}

// put digests what a step put out.
func (r *recorder) put(events []TimedEvent, answers []Answer) {
	if r.digest == nil {
		return
	}
	b := r.scratch[:0]
	for _, e := range events {
		b = appendEvent(b, e)
	}
	for _, a := range answers {
		b = appendAnswer(b, a)
	}
	r.scratch = b
	_, _ = r.digest.Write(b)
}

// appendSetup appends rules, players, bots and deck source.
func appendSetup(b []byte, setup *Setup) []byte {
	for _, field := range rulesFields(&setup.Rules) {
		b = binary.AppendUvarint(b, field.get())
	}
	b = append(b, byte(setup.Players))
	for _, bot := range setup.Bots[:setup.Players] {
		if b = append(b, byte(bot.Level)); bot.Level != 0 {
			b = binary.LittleEndian.AppendUint64(b, bot.Seed)
		}
	}
	b = append(b, byte(setup.Deck.Kind()))
	switch setup.Deck.Kind() {
	case SourceSeed:
		b = binary.LittleEndian.AppendUint32(b, uint32(setup.Deck.Seed()))
	case SourceKey:
		key := setup.Deck.Key()
		b = append(b, key[:]...)
	case SourceOrder:
		order := setup.Deck.Order()
		b = append(b, byte(len(order)))
		for _, card := range order {
			b = append(b, card.id)
		}
	}
	return b
}

// appendCommand appends a command's tag and what it is about.
func appendCommand(b []byte, cmd Command) []byte {
	switch c := cmd.(type) {
	case SelectCard:
		b = append(b, tagSelectCard, seatByte(c.Seat), slotByte(c.Slot))
	case DeselectCard:
		b = append(b, tagDeselectCard, seatByte(c.Seat), slotByte(c.Slot))
	case ClaimSelected:
		b = append(b, tagClaimSelected, seatByte(c.Seat))
	case ClaimSet:
		cards := c.Cards[:min(len(c.Cards), maxClaimBytes)]
		b = binary.LittleEndian.AppendUint64(append(b, tagClaimSet, seatByte(c.Seat)), c.ID)
		b = append(append(b, byte(len(cards))), cards...)
	case AnimationComplete:
		b = binary.AppendUvarint(append(b, tagAnimationComplete, seatByte(c.Seat)), uint64(c.Serial))
	case Drop:
		b = append(b, tagDrop, seatByte(c.Seat))
	case Return:
		b = append(b, tagReturn, seatByte(c.Seat))
	case Forfeit:
		tag := tagForfeit
		if c.Idle {
			tag = tagForfeitIdle
		}
		b = append(b, tag, seatByte(c.Seat))
	}
	return b
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

// Record is the record of the match so far, from which Replay makes the same session: the setup, every command with its time,
// the time now, and the digest. nil before the start. It holds the deck's secret.
//
// A command that changed nothing (it was refused, or is a claim that was judged or held before) is left out when such ones have
// used up 64 KiB.
func (s *Session) Record() []byte {
	r := &s.record
	if r.digest == nil {
		return nil
	}
	record := make([]byte, len(r.buf), len(r.buf)+binary.MaxVarintLen64+1+sha256.Size)
	copy(record, r.buf)
	record = append(binary.AppendUvarint(record, uint64(s.nowMs-r.lastMs)), tagEnd)
	digest := cloneHash(r.digest)
	_, _ = digest.Write(record[len(r.buf):])
	return digest.Sum(record)
}

// RecordSize is how many bytes of the record there are so far, its end not counted.
func (s *Session) RecordSize() int { return len(s.record.buf) }

// cloneHash copies the digest, so that it can go on.
func cloneHash(digest hash.Hash) hash.Hash {
	clone, err := digest.(hash.Cloner).Clone()
	must(err)
	return clone
}
