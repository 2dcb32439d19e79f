package domain

import (
	"encoding/binary"
	"fmt"
)

// The kinds of what a match puts out, as the digest has them.
const (
	digestMatchStarted byte = iota + 1
	digestCardsDealt
	digestBoardRefilled
	digestBoardExpanded
	digestSetClaimed
	digestScoreChanged
	digestPenaltyApplied
	digestPlayerForfeited
	digestMatchEnded
	digestAnswer
)

// appendEvent appends all of an event in the one form in which it is digested: its kind, its time, its fields in order.
func appendEvent(b []byte, timed TimedEvent) []byte {
	switch e := timed.Event.(type) {
	case MatchStarted:
		b = appendHead(b, digestMatchStarted, timed.AtMs)
		for _, field := range rulesFields(&e.Rules) {
			b = binary.AppendUvarint(b, field.get())
		}
		b = append(append(b, byte(e.Players), boolByte(e.Committed)), e.Commitment[:]...)
	case CardsDealt:
		b = append(appendHead(b, digestCardsDealt, timed.AtMs), byte(e.Cause))
		b = appendPlacement(b, e.Placement)
	case BoardRefilled:
		b = appendPlacement(appendHead(b, digestBoardRefilled, timed.AtMs), e.Placement)
	case BoardExpanded:
		b = appendPlacement(appendHead(b, digestBoardExpanded, timed.AtMs), e.Placement)
	case SetClaimed:
		b = appendVerdict(appendHead(b, digestSetClaimed, timed.AtMs), e)
	case ScoreChanged:
		b = binary.AppendVarint(append(appendHead(b, digestScoreChanged, timed.AtMs), byte(e.Seat)), int64(e.Score))
	case PenaltyApplied:
		b = append(appendHead(b, digestPenaltyApplied, timed.AtMs), byte(e.Seat), byte(e.Mode))
		b = binary.AppendVarint(binary.AppendVarint(b, e.Amount), e.Remaining)
	case PlayerForfeited:
		b = append(appendHead(b, digestPlayerForfeited, timed.AtMs), byte(e.Seat), byte(e.Cause))
	case MatchEnded:
		b = appendEnd(appendHead(b, digestMatchEnded, timed.AtMs), e)
	default:
		panic(fmt.Sprintf("domain: event %T has no digest", e))
	}
	return b
}

func appendHead(b []byte, kind byte, atMs int64) []byte {
	return binary.AppendUvarint(append(b, kind), uint64(atMs))
}

func appendPlacement(b []byte, p Placement) []byte {
	b = append(b, byte(len(p.Slots)))
	for i, slot := range p.Slots {
		b = append(b, byte(slot), p.Cards[i].id)
	}
	return b
}

func appendVerdict(b []byte, e SetClaimed) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, byte(e.Seat)), e.ClaimID)
	for i, card := range e.Cards {
		b = append(b, card.id, byte(e.Slots[i]))
	}
	return append(b, byte(e.Mixed))
}

func appendEnd(b []byte, e MatchEnded) []byte {
	b = append(b, byte(e.Reason), byte(len(e.Winners)))
	for _, seat := range e.Winners {
		b = append(b, byte(seat))
	}
	b = append(b, byte(len(e.Table)))
	for _, line := range e.Table {
		b = binary.AppendVarint(append(b, byte(line.Seat), boolByte(line.Forfeited)), int64(line.Score))
	}
	return b
}

func appendAnswer(b []byte, a Answer) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, digestAnswer, byte(a.Seat)), a.ClaimID)
	b = append(b, byte(a.Refusal.Reason), byte(a.Refusal.MissingCount))
	for _, card := range a.Refusal.Missing {
		b = append(b, card.id)
	}
	return binary.AppendUvarint(b, uint64(a.Refusal.RetryAtMs))
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}
