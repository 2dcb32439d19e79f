package client

import wire "set3d/proto/set3d/v1"

// AnySeat is for who does not mind where: the lowest free seat.
const AnySeat = -1

// SetReady says that this player is ready to start, or no longer.
func (m *Match) SetReady(ready bool) error {
	return m.Send(wire.OpCode_OP_CODE_SET_READY, &wire.SetReady{Ready: ready})
}

// TakeSeat asks for a seat in the lobby, or another one. A Welcome is the answer.
func (m *Match) TakeSeat(seat int) error {
	return m.Send(wire.OpCode_OP_CODE_TAKE_SEAT, &wire.TakeSeat{Seat: seatOrAny(seat)})
}

// AddBot seats a bot in the lobby. Host only.
func (m *Match) AddBot(level wire.BotLevel, seat int) error {
	return m.Send(wire.OpCode_OP_CODE_ADD_BOT, &wire.AddBot{Level: level, Seat: seatOrAny(seat)})
}

// Kick removes whoever sits there from the lobby. Host only.
func (m *Match) Kick(seat int) error {
	return m.Send(wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: uint32(seat)})
}

// VoteRematch says after the end that this player wants another match, or no longer. When all do, a Rematch says where.
func (m *Match) VoteRematch(wants bool) error {
	return m.Send(wire.OpCode_OP_CODE_VOTE_REMATCH, &wire.VoteRematch{Wants: wants})
}

// ShowEmote shows an emote to the table.
func (m *Match) ShowEmote(emote wire.EmoteKind) error {
	return m.Send(wire.OpCode_OP_CODE_EMOTE, &wire.ShowEmote{Emote: emote})
}

// RequestHint asks for one to three cards of a Set. Practice only; a Hint is the answer.
func (m *Match) RequestHint(cards int) error {
	return m.Send(wire.OpCode_OP_CODE_REQUEST_HINT, &wire.RequestHint{Cards: uint32(cards)})
}

func seatOrAny(seat int) *uint32 {
	if seat < 0 {
		return nil
	}
	number := uint32(seat)
	return &number
}
