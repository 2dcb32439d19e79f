package domain

import "fmt"

// Replica is a client's copy of a running match. It has no deck and no deadlines: its state comes from the server by
// Sync, and a third selection waits in Validating for the server's verdict (design ruling 13). All but selecting is for
// the server. Like a session it is not safe for concurrent use, and reads no clock.
//
// spec: session-lifecycle, Online Multiplayer
type Replica struct {
	scene
	waiting [MaxPlayers]bool // for the verdict on three selected cards
}

// NobodyAnswered is the seat for a Sync that answers no claim.
const NobodyAnswered = -1

// NewReplica returns a replica of a match of 1–8 players; any other number is ErrPlayerCount.
func NewReplica(rules Rules, players int) (*Replica, error) {
	if players < 1 || players > MaxPlayers {
		return nil, fmt.Errorf("%w, not %d", ErrPlayerCount, players)
	}
	r := &Replica{scene: scene{setup: Setup{Rules: rules, Players: players}}}
	r.shared.Players = players
	return r, nil
}

// Select adds a slot to a player's selection, at nowMs on the match clock. With the third one the outcome is Waiting, and
// the verdict has the cards and slots to claim.
func (r *Replica) Select(nowMs int64, seat, slot int) Result {
	r.Advance(nowMs)
	if reason := r.inputReason(seat); reason != 0 {
		return r.refusal(seat, reason)
	}
	if reason := r.selectSlot(seat, slot); reason != 0 {
		return refused(reason)
	}
	l := r.selectionOf(seat)
	if l.count < len(l.slots) {
		return Result{Outcome: Applied}
	}
	r.waiting[seat] = true
	verdict := SetClaimed{Seat: seat, Cards: r.selectedCards(l), Slots: l.slots}
	return Result{Outcome: Waiting, Verdict: verdict}
}

// Deselect takes a slot out of a player's selection.
func (r *Replica) Deselect(nowMs int64, seat, slot int) Result {
	r.Advance(nowMs)
	if reason := r.inputReason(seat); reason != 0 {
		return r.refusal(seat, reason)
	}
	if reason := r.deselectSlot(seat, slot); reason != 0 {
		return refused(reason)
	}
	return Result{Outcome: Applied}
}

func (r *Replica) inputReason(seat int) Reason {
	if !r.seated(seat) || r.shared.ByPlayer[seat].Forfeited {
		return RefusedNotAPlayer
	}
	if reason := r.lockReason(seat); reason != 0 {
		return reason
	}
	if r.waiting[seat] {
		return RefusedWaiting
	}
	return 0
}

// Advance sets the time, in ms since the match began. It never goes back but by Sync.
func (r *Replica) Advance(nowMs int64) { r.nowMs = max(r.nowMs, nowMs) }

// Sync replaces the shared state, and the time, by the server's. Selections lose the slots whose card has changed. A claim
// that waits keeps its cards highlighted until its answer is there: answered is the seat whose claim got its verdict or
// its refusal, or NobodyAnswered. A state of other than 1–8 players is ErrPlayerCount, and changes nothing.
func (r *Replica) Sync(state Snapshot, nowMs int64, answered int) error {
	if state.Players < 1 || state.Players > MaxPlayers {
		return fmt.Errorf("%w, not %d", ErrPlayerCount, state.Players)
	}
	if r.seated(answered) && r.waiting[answered] {
		r.waiting[answered] = false
		r.hands[answered].selection.clear()
	}
	before := r.shared.Board
	r.shared, r.nowMs = state, nowMs
	for slot := range before.SlotCount() {
		old, was := before.CardAt(slot)
		card, is := r.shared.Board.CardAt(slot)
		if !was || (is && card == old) {
			continue
		}
		for seat := range r.shared.Players {
			if !r.waiting[seat] {
				r.hands[seat].selection.drop(slot)
			}
		}
	}
	return nil
}
