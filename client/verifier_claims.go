package client

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

// claimKey names a claim: ids belong to a seat.
type claimKey struct {
	seat uint32
	id   uint64
}

// claimView is what is known about a claim, anybody's.
type claimView struct {
	cards   []byte
	sends   int // by this client
	answers int
	verdict *wire.SetClaimed
	decided bool // a verdict has come, however
}

func (v *Verifier) claim(seat uint32, id uint64) *claimView {
	key := claimKey{seat, id}
	if v.claims[key] == nil {
		v.claims[key] = &claimView{}
	}
	return v.claims[key]
}

func (v *Verifier) own(id uint64) *claimView { return v.claim(uint32(max(v.seat, 0)), id) }

func (v *Verifier) sentClaim(frame Frame) {
	var sent wire.ClaimSet
	if proto.Unmarshal(frame.Data, &sent) != nil || sent.GetClaimId() == 0 {
		return // answered with an Error, or as malformed: who sends that does not count
	}
	c := v.own(sent.GetClaimId())
	if c.sends == 0 {
		v.report.Claims++
		c.cards = sent.GetCards()
	}
	c.sends++
}

// answersIn takes the verdicts of an update. A verdict is broadcast once.
func (v *Verifier) answersIn(u *wire.Update) {
	for _, event := range u.GetEvents() {
		verdict := event.GetSetClaimed()
		if verdict == nil || verdict.GetClaimId() == 0 {
			continue
		}
		c := v.claim(verdict.GetSeat(), verdict.GetClaimId())
		if c.verdict != nil && c.answers > 0 {
			v.violate("claim %x of seat %d is judged twice", verdict.GetClaimId(), verdict.GetSeat())
		}
		v.judged(c, verdict)
		if int(verdict.GetSeat()) == v.seat {
			v.answered(c, verdict.GetClaimId())
		}
	}
}

// judged checks that a claim has one verdict for ever.
func (v *Verifier) judged(c *claimView, verdict *wire.SetClaimed) {
	if c.verdict != nil && !proto.Equal(c.verdict, verdict) {
		v.violate("claim %x had the verdict {%v}, now {%v}", verdict.GetClaimId(), c.verdict, verdict)
	}
	if c.sends > 0 && !bytes.Equal(c.cards, verdict.GetCards()) {
		v.violate("claim %x named the cards %v, its verdict %v", verdict.GetClaimId(), c.cards, verdict.GetCards())
	}
	c.verdict, c.decided = verdict, true
}

// resumed forgets what a restart of the server may have taken back. The deck stays the same: what was seen of it counts as far as it is dealt. A
// claim that was held at the checkpoint is answered again.
func (v *Verifier) resumed() {
	v.ended = nil
	for _, c := range v.claims {
		c.verdict, c.answers, c.decided = nil, 0, c.decided || c.answers > 0
	}
	v.stale = v.view != nil
}

func (v *Verifier) answered(c *claimView, id uint64) {
	c.answers++
	v.report.Answers++
	if c.answers > c.sends {
		v.violate("claim %x was sent %d times and answered %d times", id, c.sends, c.answers)
	}
}

// lastVerdict is no answer, but it may be all that is left of one.
func (v *Verifier) lastVerdict(verdict *wire.SetClaimed) {
	if int(verdict.GetSeat()) != v.seat {
		v.violate("the last verdict is of seat %d, this is seat %d", verdict.GetSeat(), v.seat)
		return
	}
	v.judged(v.own(verdict.GetClaimId()), verdict)
}

func (v *Verifier) claimResult(r *wire.ClaimResult) {
	c := v.own(r.GetClaimId())
	if c.sends == 0 && r.GetClaimId() != 0 {
		v.violate("claim %x is answered and was not sent", r.GetClaimId())
		return
	}
	v.answered(c, r.GetClaimId())
	if verdict := r.GetRepeatedVerdict(); verdict != nil {
		if c.sends < 2 {
			v.violate("claim %x is answered as a repeat and was sent once", r.GetClaimId())
		}
		v.judged(c, verdict)
		return
	}
	if r.GetRefused() == nil {
		v.violate("claim %x has neither a refusal nor a verdict", r.GetClaimId())
		return
	}
	v.refusal(c, r)
}

// refusalSlackMs is how long a refusal may have been on its way before it got its stamp.
const refusalSlackMs = 1000

func (v *Verifier) refusal(c *claimView, r *wire.ClaimResult) {
	refused, now := r.GetRefused(), r.GetStamp().GetServerTimeMs()
	switch refused.GetReason() {
	case wire.Reason_REASON_OWN_LOCK, wire.Reason_REASON_BOARD_LOCK:
		longest := uint64(v.domain.ValidAnimMs + v.domain.RefillAnimMs + v.domain.ExpandAnimMs + v.domain.InvalidAnimMs)
		if refused.GetRetryAtMs()+refusalSlackMs < now || refused.GetRetryAtMs() > now+longest {
			v.violate("claim %x is refused at %d ms until %d ms", r.GetClaimId(), now, refused.GetRetryAtMs())
		}
	default:
		if refused.GetRetryAtMs() != 0 {
			v.violate("claim %x is refused as %s, with a retry time", r.GetClaimId(), ReasonName(refused.GetReason()))
		}
	}
	if missing := refused.GetMissingCards(); refused.GetReason() == wire.Reason_REASON_NOT_ON_BOARD {
		if len(missing) == 0 {
			v.violate("claim %x is refused as not on the board, and no card is named", r.GetClaimId())
		}
		for _, id := range missing {
			onBoard := v.view != nil && PositionOf(r.GetStamp()) == v.here && slices.Contains(v.view.board, id)
			if onBoard || !bytes.Contains(c.cards, []byte{id}) {
				v.violate("claim %x misses card %d: on the board %v, claimed %v", r.GetClaimId(), id, onBoard, c.cards)
			}
		}
	} else if len(missing) != 0 {
		v.violate("claim %x is refused as %s, with missing cards", r.GetClaimId(), ReasonName(refused.GetReason()))
	}
}

// unanswered looks for own claims that nothing answers.
func (v *Verifier) unanswered() {
	for key, c := range v.claims {
		if c.sends > 0 && c.answers == 0 && !c.decided {
			v.violate("claim %x was sent %d times and never answered", key.id, c.sends)
		}
	}
}
