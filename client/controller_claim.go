package client

import (
	"time"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// waitingClaim is the claim that waits for the server.
type waitingClaim struct {
	id    uint64
	cards domain.Triple
	slots [3]int
	made  time.Duration // when the player claimed

	started time.Duration // when this round of sending began
	sent    time.Duration // when it was last sent
	sends   int
	asked   bool          // a snapshot was asked for
	askedAt time.Duration // when
}

// ResolutionKind is how a claim ended.
type ResolutionKind uint8

// The kinds of resolution.
const (
	ResolvedValid     ResolutionKind = 1 + iota // a Set: the point is ours
	ResolvedInvalid                             // not a Set
	ResolvedRefused                             // not judged; Reason says why
	ResolvedAbandoned                           // nobody will judge it: the table is gone, or our place at it
)

// Resolution is how a claim ended.
type Resolution struct {
	Kind    ResolutionKind
	ClaimID uint64
	Cards   domain.Triple
	Slots   [3]int
	// Mixed are the attributes that are mixed, for ResolvedInvalid.
	Mixed domain.AttributeSet
	// Reason, MissingCards and RetryAtMs are those of the refusal, for ResolvedRefused.
	Reason       wire.Reason
	MissingCards []domain.Card
	RetryAtMs    int64
	// Took is the time from the claim to its resolution, Sends how many times it was sent.
	Took  time.Duration
	Sends int
}

// WaitingForServer reports whether a claim waits for its answer.
func (c *Controller) WaitingForServer() bool { return c.claim != nil }

func (c *Controller) beginClaim(selected domain.SetClaimed) {
	c.claim = &waitingClaim{id: c.claimIDs(), cards: selected.Cards, slots: selected.Slots, made: c.clock()}
	c.startClaim()
}

// startClaim begins a round of sending: at first, and after a Welcome that has no verdict yet. Without a connection the claim waits for
// the next Welcome.
func (c *Controller) startClaim() {
	c.claim.started = c.clock()
	c.claim.asked = false
	c.sendClaim()
}

func (c *Controller) sendClaim() {
	c.claim.sent = c.clock()
	if !c.link.up() {
		return
	}
	c.claim.sends++
	ids := make([]byte, 0, len(c.claim.cards))
	for _, card := range c.claim.cards {
		ids = append(ids, byte(card.ID()))
	}
	c.send(wire.OpCode_OP_CODE_CLAIM_SET, &wire.ClaimSet{ClaimId: c.claim.id, Cards: ids})
}

// claimResult is a refusal, or the verdict of a claim that had been judged before. Some refusals are none: the table was too full
// to take the claim, knew us no more, or is about to be suspended. The same claim is sent again then.
func (c *Controller) claimResult(r *wire.ClaimResult) (Resolution, bool) {
	if c.claim == nil || r.GetClaimId() != c.claim.id {
		return Resolution{}, false
	}
	if verdict := r.GetRepeatedVerdict(); verdict != nil {
		c.applyAnswer()
		return c.judged(verdict)
	}
	refused := r.GetRefused()
	if refused == nil {
		return Resolution{}, false // a kind of result that this client does not know
	}
	switch refused.GetReason() {
	case wire.Reason_REASON_BUSY, wire.Reason_REASON_RATE_LIMITED:
		return Resolution{}, false
	case wire.Reason_REASON_NOT_IN_MATCH:
		c.reconnect()
		return Resolution{}, false
	case wire.Reason_REASON_TABLE_CLOSED:
		if c.maySuspend() {
			return Resolution{}, false
		}
	case wire.Reason_REASON_OWN_LOCK, wire.Reason_REASON_BOARD_LOCK:
		c.retryMs = int64(refused.GetRetryAtMs())
	}
	c.applyAnswer()
	return c.resolve(Resolution{
		Kind:         ResolvedRefused,
		Reason:       refused.GetReason(),
		MissingCards: readCards(refused.GetMissingCards()),
		RetryAtMs:    int64(refused.GetRetryAtMs()),
	})
}

// applyAnswer releases the selection although no new state came with the answer.
func (c *Controller) applyAnswer() {
	if c.replica.Sync(c.replica.Snapshot(), c.MatchTimeMs(), c.seat) != nil {
		c.unreadable++
	}
}

func (c *Controller) judged(verdict *wire.SetClaimed) (Resolution, bool) {
	r := Resolution{Kind: ResolvedInvalid, Mixed: domain.AttributeSet(verdict.GetMixedAttributes())}
	if verdict.GetValid() {
		r.Kind = ResolvedValid
	}
	return c.resolve(r)
}

func (c *Controller) abandoned() (Resolution, bool) {
	if c.claim == nil {
		return Resolution{}, false
	}
	if c.replica != nil && c.seat != noSeat {
		c.applyAnswer()
	}
	return c.resolve(Resolution{Kind: ResolvedAbandoned})
}

func (c *Controller) resolve(r Resolution) (Resolution, bool) {
	r.ClaimID, r.Cards, r.Slots = c.claim.id, c.claim.cards, c.claim.slots
	r.Took, r.Sends = c.clock()-c.claim.made, c.claim.sends
	c.claim = nil
	return r, true
}
