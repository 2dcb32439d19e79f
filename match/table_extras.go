package match

import (
	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// emote shows an emote of the fixed list to everybody, before, in and after the match. Players only.
func (t *table) emote(m mail, emote wire.EmoteKind) {
	seat := t.seatOf(m.from.userID)
	_, known := wire.EmoteKind_name[int32(emote)]
	switch {
	case seat == spectatorSeat:
		t.replyError(m, wire.Reason_REASON_NOT_A_PLAYER, "")
	case !known || emote == 0:
		t.replyError(m, wire.Reason_REASON_MALFORMED_MESSAGE, "there is no such emote")
	default:
		t.replyStamped(nil, wire.OpCode_OP_CODE_EMOTE_SHOWN, func(stamp *wire.Stamp) stampedMessage {
			return &wire.EmoteShown{Stamp: stamp, Seat: uint32(seat), Emote: emote}
		})
	}
}

// hint shows a part of a Set on the board, always of the same one until the board is another. Practice only.
func (t *table) hint(m mail, cards uint32) {
	_, ended := t.session.Ended()
	switch {
	case t.setup.Preset != practicePreset:
		t.replyError(m, wire.Reason_REASON_NO_HINTS, "")
	case t.seatOf(m.from.userID) == spectatorSeat:
		t.replyError(m, wire.Reason_REASON_NOT_A_PLAYER, "")
	case !t.standing.started:
		t.replyError(m, wire.Reason_REASON_NOT_STARTED, "")
	case ended:
		t.replyError(m, wire.Reason_REASON_ENDED, "")
	case cards < 1 || cards > 3:
		t.replyError(m, wire.Reason_REASON_MALFORMED_MESSAGE, "1 to 3 cards")
	default:
		t.replyStamped(m.from, wire.OpCode_OP_CODE_HINT, func(stamp *wire.Stamp) stampedMessage {
			return &wire.Hint{Stamp: stamp, Cards: t.hintCards(int(cards))}
		})
	}
}

func (t *table) hintCards(n int) []byte {
	snapshot := t.session.Snapshot()
	if snapshot.State != domain.BoardIdle {
		return nil
	}
	sets := domain.FindAllSets(snapshot.Board.AppendCards(nil))
	if len(sets) == 0 {
		return nil
	}
	cards := cardBytes(sets[0])
	return cards[:n]
}
