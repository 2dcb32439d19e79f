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

// recorder writes the record of a match: the setup, then every command with its time. What bots do follows from it. A digest
// runs along, of the record's bytes and of all that the match put out.
type recorder struct {
	buf       []byte
	lastMs    int64
	idleBytes int // of commands that changed nothing
	digest    hash.Hash
}

// start writes the head: magic, version, rules, players, bots, deck source.
func (r *recorder) start(version byte, setup Setup) {
	r.buf = append(append(r.buf, recordMagic...), version)
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
	r.digest = sha256.New()
	_, _ = r.digest.Write(r.buf)
}

// command writes one command that has been handled, unless it changed nothing and there are too many of these. Before the
// start nothing is recorded.
func (r *recorder) command(nowMs int64, cmd Command, result Result) {
	if len(r.buf) == 0 {
		return
	}
	start, lastMs := len(r.buf), r.lastMs
	r.time(nowMs)
	r.append(cmd)
	if size := len(r.buf) - start; !result.changes() {
		if r.idleBytes+size > maxIdleBytes {
			r.buf, r.lastMs = r.buf[:start], lastMs
			return
		}
		r.idleBytes += size
	}
	end := len(r.buf)
	r.buf = append(r.buf, byte(result.Outcome), byte(result.Refusal.Reason))
	_, _ = r.digest.Write(r.buf[start:])
	r.buf = r.buf[:end]
}

func (r *recorder) append(cmd Command) {
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

// put digests what a step put out. The encoding is made behind the record's last byte, where there is room, and taken away.
func (r *recorder) put(events []TimedEvent, answers []Answer) {
	if len(r.buf) == 0 || len(events)+len(answers) == 0 {
		return
	}
	end := len(r.buf)
	for _, e := range events {
		r.buf = appendEvent(r.buf, e)
	}
	for _, a := range answers {
		r.buf = appendAnswer(r.buf, a)
	}
	_, _ = r.digest.Write(r.buf[end:])
	r.buf = r.buf[:end]
}

// Record is the record of the match so far, from which Replay makes the same session: the setup, every command with its time,
// the time now, and the digest. nil before the start. It holds the deck's secret.
//
// A command that changed nothing (it was refused, or is a claim that was judged or held before) is left out when such ones have
// used up 64 KiB.
func (s *Session) Record() []byte {
	if len(s.record.buf) == 0 {
		return nil
	}
	r := recorder{buf: make([]byte, 0, len(s.record.buf)+binary.MaxVarintLen64+1+sha256.Size), lastMs: s.record.lastMs}
	r.buf = append(r.buf, s.record.buf...)
	r.time(s.nowMs)
	r.buf = append(r.buf, tagEnd)
	digest := cloneHash(s.record.digest)
	_, _ = digest.Write(r.buf[len(s.record.buf):])
	return digest.Sum(r.buf)
}

// RecordSize is how many bytes of the record there are so far, its end not counted.
func (s *Session) RecordSize() int { return len(s.record.buf) }

// cloneHash copies the digest, so that it can go on.
func cloneHash(digest hash.Hash) hash.Hash {
	clone, err := digest.(hash.Cloner).Clone()
	must(err)
	return clone
}
