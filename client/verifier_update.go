package client

import (
	"bytes"
	"hash/maphash"
	"sync"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

func (v *Verifier) update(u *wire.Update) {
	position := PositionOf(u.GetStamp())
	v.order(u, position)
	v.connection.updated, v.connection.last = true, position
	if position.Incarnation > v.here.Incarnation {
		v.resumed()
	}
	v.answersIn(u)
	if !v.here.Before(position) {
		return // the Welcome knew it already
	}
	contiguous := v.view != nil && u.GetFromRevision() == v.here.Revision && position.Incarnation == v.here.Incarnation
	starts := len(u.GetEvents()) > 0 && u.GetEvents()[0].GetMatchStarted() != nil
	v.stamp(u.GetStamp())
	if u.GetSnapshot() == nil {
		v.violate("an update without a snapshot")
		return
	}
	v.snapshot(u.GetSnapshot())
	if !contiguous && !starts {
		v.resync(u.GetSnapshot())
		if ended := endedIn(u); ended != nil {
			v.matchEnded(ended)
		}
		return
	}
	v.events(u)
	v.compare(u.GetSnapshot())
}

// order checks that the updates of one connection follow each other without a gap. The first one follows the Welcome; it may overlap
// it.
func (v *Verifier) order(u *wire.Update, position Position) {
	from := Position{Incarnation: position.Incarnation, Revision: u.GetFromRevision()}
	switch last := v.connection.last; {
	case !from.Before(position):
		v.violate("an update from revision %d to %d covers nothing", u.GetFromRevision(), position.Revision)
	case v.connection.updated && !last.Before(position):
		v.violate("an update of revision %d comes after one of %d", position.Revision, last.Revision)
	case v.connection.updated && position.Incarnation == last.Incarnation && from != last:
		v.violate("an update from revision %d comes after one to %d", u.GetFromRevision(), last.Revision)
	case !v.connection.updated && v.connection.welcomed && v.here.Before(from):
		v.violate("an update from revision %d comes after a Welcome of %d", u.GetFromRevision(), v.here.Revision)
	}
}

func endedIn(u *wire.Update) *wire.MatchEnded {
	for _, event := range u.GetEvents() {
		if ended := event.GetMatchEnded(); ended != nil {
			return ended
		}
	}
	return nil
}

// snapshot checks what must hold in every snapshot by itself.
func (v *Verifier) snapshot(s *wire.Snapshot) {
	state, err := DomainSnapshot(s)
	if err != nil {
		v.violate("%v", err)
		return
	}
	animated := state.State != domain.BoardIdle && state.State != domain.MatchEnd
	if animated != (s.GetAnimation() != nil) {
		v.violate("in state %v there is an animation: %v", state.State, s.GetAnimation() != nil)
	}
	if animated {
		v.animation(state)
	}
	if state.State == domain.BoardIdle && !domain.AnySetExists(state.Board.AppendCards(nil)) {
		v.violate("the board is idle without a Set: %v", s.GetBoard())
	}
	if state.Timed != v.domain.Timed {
		v.violate("a clock is %v in a match that is timed: %v", state.Timed, v.domain.Timed)
	}
	if want := state.Timed && state.State != domain.MatchEnd; state.ClockRuns != want {
		v.violate("the clock runs: %v, in state %v", state.ClockRuns, state.State)
	}
	if out := v.deckSize - state.DeckCount - state.Board.CardCount(); out < 0 || out%3 != 0 {
		v.violate("%d cards on the board and %d in the deck leave %d for Sets", state.Board.CardCount(), state.DeckCount, out)
	}
}

func (v *Verifier) animation(state domain.Snapshot) {
	a := state.Animation
	length := map[domain.MatchState]int64{
		domain.ValidSetAnim: v.domain.ValidAnimMs, domain.RefillAnim: v.domain.RefillAnimMs, domain.ExpandBoardAnim: v.domain.ExpandAnimMs,
	}[state.State]
	if a.Serial == 0 || a.EndMs-a.StartMs != length {
		v.violate("%v has serial %d and lasts %d ms, want %d", state.State, a.Serial, a.EndMs-a.StartMs, length)
	}
	if a.StartMs > int64(v.timeMs) {
		v.violate("%v begins at %d ms, in the future", state.State, a.StartMs)
	}
	for i, slot := range a.ClaimedSlots {
		if card, _ := state.Board.CardAt(slot); state.State == domain.ValidSetAnim && card != a.ClaimedCards[i] {
			v.violate("the claimed card %v is not in slot %d", a.ClaimedCards[i], slot)
		}
	}
}

// Broadcasts compares the updates that several clients of one match get: they must be the same bytes for everybody. It is safe
// for concurrent use; the zero value is not ready.
type Broadcasts struct {
	mu   sync.Mutex
	seed maphash.Seed
	seen map[broadcast]uint64
}

type broadcast struct {
	at   Position
	from uint64
}

// NewBroadcasts makes a comparison for one match.
func NewBroadcasts() *Broadcasts {
	return &Broadcasts{seed: maphash.MakeSeed(), seen: map[broadcast]uint64{}}
}

func (b *Broadcasts) check(v *Verifier, frame Frame, u *wire.Update) {
	if b == nil {
		return
	}
	key := broadcast{PositionOf(u.GetStamp()), u.GetFromRevision()}
	hash := maphash.Bytes(b.seed, bytes.Clone(frame.Data))
	b.mu.Lock()
	other, seen := b.seen[key]
	b.seen[key] = hash
	b.mu.Unlock()
	if seen && other != hash {
		v.violate("the update to revision %d is not the same bytes for everybody", key.at.Revision)
	}
}
