package simulation

import (
	"fmt"
	"math/rand/v2"

	"set3d/domain"
)

// claimBook keeps, for every claim id, what became of it: each is answered once, whenever that is.
type claimBook struct {
	sent    []domain.ClaimSet
	answers []answerState // by index of sent
}

type answerState uint8

const (
	unanswered answerState = iota
	held
	judged
	turnedDown
)

// again is a claim that was sent before: the same, or the same id with other cards.
func (b *claimBook) again(r *rand.Rand, seat int) domain.Command {
	if len(b.sent) == 0 {
		return domain.ClaimSet{Seat: seat}
	}
	claim := b.sent[r.IntN(len(b.sent))]
	switch r.IntN(4) {
	case 0:
		claim.Cards = []byte{byte(r.IntN(27)), byte(27 + r.IntN(27)), byte(54 + r.IntN(27))}
	case 1:
		claim.Seat = seat
	}
	return claim
}

// record enters the result of a claim that was just applied.
func (b *claimBook) record(claim domain.ClaimSet, result domain.Result) error {
	i, known := b.find(claim.Seat, claim.ID)
	state := map[domain.Outcome]answerState{domain.Applied: judged, domain.Refused: turnedDown, domain.Held: held}[result.Outcome]
	switch {
	case result.Outcome == domain.Repeated:
		if !known || b.answers[i] != judged {
			return fmt.Errorf("a repeat of a claim that was not judged")
		}
		return nil
	case result.Outcome == domain.HeldAlready:
		if !known || b.answers[i] != held {
			return fmt.Errorf("held already, and it is not held")
		}
		return nil
	case !known:
		b.sent, b.answers = append(b.sent, claim), append(b.answers, state)
		return nil
	case state != turnedDown && b.answers[i] != turnedDown:
		return fmt.Errorf("a claim that was answered before (%d) is answered anew (%d)", b.answers[i], state)
	case b.answers[i] == turnedDown:
		b.sent[i], b.answers[i] = claim, state
	}
	return nil
}

// late enters the answer to a held claim.
func (b *claimBook) late(seat int, id uint64, state answerState) error {
	i, known := b.find(seat, id)
	if !known || b.answers[i] != held {
		return fmt.Errorf("a late answer to claim %d of seat %d, which was not held", id, seat)
	}
	b.answers[i] = state
	return nil
}

func (b *claimBook) find(seat int, id uint64) (int, bool) {
	for i, claim := range b.sent {
		if claim.Seat == seat && claim.ID == id {
			return i, true
		}
	}
	return 0, false
}

func (b *claimBook) open() int {
	n := 0
	for _, state := range b.answers {
		if state == held {
			n++
		}
	}
	return n
}
