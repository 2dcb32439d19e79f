package match

import (
	"time"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// emptySlot is an empty slot's byte in a board on the wire.
const emptySlot = 255

// snapshotFrame is a wire snapshot with the memory of everything in it, to be filled again and again.
type snapshotFrame struct {
	snapshot   wire.Snapshot
	animation  wire.Animation
	clockEndMs uint64
	seat       uint32
	board      [domain.MaxSlots]byte
	claimed    [3]byte
	slots      [3]byte
	dealt      [3]byte
	scores     [domain.MaxPlayers]uint32
	lockedMs   [domain.MaxPlayers]uint64
	penalties  [domain.MaxPlayers]uint32
}

// fill puts a snapshot into the frame. What it returns is valid until the next fill.
func (f *snapshotFrame) fill(s *domain.Snapshot) *wire.Snapshot {
	f.fillBoard(&s.Board)
	f.fillPlayers(s)
	f.snapshot.DeckCount = uint32(s.DeckCount)
	f.snapshot.State = boardStateToWire(s.State)
	f.snapshot.ClockEndMs = nil
	if s.Timed {
		f.clockEndMs = uint64(s.ClockEndMs)
		f.snapshot.ClockEndMs = &f.clockEndMs
	}
	f.snapshot.ClockRunning = s.ClockRuns
	f.snapshot.Animation = nil
	if s.Animation.Serial != 0 {
		f.fillAnimation(&s.Animation)
		f.snapshot.Animation = &f.animation
	}
	return &f.snapshot
}

func (f *snapshotFrame) fillBoard(b *domain.Board) {
	n := b.SlotCount()
	for slot := range n {
		f.board[slot] = emptySlot
		if card, occupied := b.CardAt(slot); occupied {
			f.board[slot] = byte(card.ID())
		}
	}
	f.snapshot.Board = f.board[:n]
}

func (f *snapshotFrame) fillPlayers(s *domain.Snapshot) {
	f.snapshot.ForfeitedSeats = 0
	for seat := range s.Players {
		p := &s.ByPlayer[seat]
		f.scores[seat] = uint32(p.Score)
		f.lockedMs[seat] = uint64(p.LockedUntilMs)
		f.penalties[seat] = uint32(p.TimePenaltyMs)
		if p.Forfeited {
			f.snapshot.ForfeitedSeats |= 1 << seat
		}
	}
	f.snapshot.Scores = f.scores[:s.Players]
	f.snapshot.LockedUntilMs = f.lockedMs[:s.Players]
	f.snapshot.TimePenaltiesMs = f.penalties[:s.Players]
}

func (f *snapshotFrame) fillAnimation(a *domain.Animation) {
	f.animation.Serial = a.Serial
	f.animation.StartMs, f.animation.EndMs = uint64(a.StartMs), uint64(a.EndMs)
	f.animation.Seat, f.animation.ClaimedCards, f.animation.ClaimedSlots, f.animation.DealtSlots = nil, nil, nil, nil
	if a.Claimed {
		f.seat = uint32(a.Seat)
		f.animation.Seat = &f.seat
		f.claimed, f.slots = cardBytes(a.ClaimedCards), slotBytes(a.ClaimedSlots)
		f.animation.ClaimedCards, f.animation.ClaimedSlots = f.claimed[:], f.slots[:]
	}
	if a.Dealt {
		f.dealt = slotBytes(a.DealtSlots)
		f.animation.DealtSlots = f.dealt[:]
	}
}

func cardBytes(cards domain.Triple) (ids [3]byte) {
	for i, c := range cards {
		ids[i] = byte(c.ID())
	}
	return ids
}

func slotBytes(slots [3]int) (out [3]byte) {
	for i, s := range slots {
		out[i] = byte(s)
	}
	return out
}

func boardStateToWire(s domain.MatchState) wire.BoardState {
	switch s {
	case domain.BoardIdle:
		return wire.BoardState_BOARD_STATE_IDLE
	case domain.ValidSetAnim:
		return wire.BoardState_BOARD_STATE_VALID_SET_ANIM
	case domain.RefillAnim:
		return wire.BoardState_BOARD_STATE_REFILL_ANIM
	case domain.ExpandBoardAnim:
		return wire.BoardState_BOARD_STATE_EXPAND_BOARD_ANIM
	case domain.MatchEnd:
		return wire.BoardState_BOARD_STATE_MATCH_END
	case domain.CardSelected1, domain.CardSelected2, domain.Validating, domain.InvalidSetAnim: // a player's, never the board's
	}
	return wire.BoardState_BOARD_STATE_UNSPECIFIED
}

// stampOf is the stamp of a message made at now.
func stampOf(s standing, now time.Duration) *wire.Stamp {
	return &wire.Stamp{
		ServerTimeMs: uint64(s.matchMs(now)), Incarnation: s.incarnation, Revision: s.revision, RosterRevision: s.rosterRevision,
	}
}

// matchMs is match time: ms since the match began, 0 before.
func (s standing) matchMs(now time.Duration) int64 {
	if !s.started || now <= s.startedAt {
		return 0
	}
	return int64((now - s.startedAt) / time.Millisecond)
}
