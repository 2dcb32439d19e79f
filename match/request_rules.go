package match

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// rulesView is rules as JSON, as hello shows them and create_match takes them.
type rulesView struct {
	InitialBoardSize int    `json:"initial_board_size"`
	RefillPolicy     string `json:"refill_policy"`
	PenaltyMode      string `json:"penalty_mode"`
	PenaltyTimeMs    int64  `json:"penalty_time_ms"`
	TimeLimitMs      int64  `json:"time_limit_ms"`
	ClaimGraceMs     int64  `json:"claim_grace_ms"`
	ValidAnimMs      int64  `json:"valid_anim_ms"`
	InvalidAnimMs    int64  `json:"invalid_anim_ms"`
	RefillAnimMs     int64  `json:"refill_anim_ms"`
	ExpandAnimMs     int64  `json:"expand_anim_ms"`
	IdleLimitMs      int64  `json:"idle_limit_ms"`
	DropHoldMs       int64  `json:"drop_hold_ms"`
}

// The names of the enums in JSON, by their numbers less one.
var (
	refillPolicyNames = [...]string{"always", "to_initial_size"}
	penaltyModeNames  = [...]string{"none", "time", "point"}
)

func viewRules(r domain.Rules) rulesView {
	return rulesView{
		InitialBoardSize: r.InitialBoardSize,
		RefillPolicy:     refillPolicyNames[r.RefillPolicy-domain.RefillAlways],
		PenaltyMode:      penaltyModeNames[r.PenaltyMode-domain.PenaltyNone],
		PenaltyTimeMs:    r.PenaltyTimeMs,
		TimeLimitMs:      r.TimeLimitMs,
		ClaimGraceMs:     r.ClaimGraceMs,
		ValidAnimMs:      r.ValidAnimMs,
		InvalidAnimMs:    r.InvalidAnimMs,
		RefillAnimMs:     r.RefillAnimMs,
		ExpandAnimMs:     r.ExpandAnimMs,
		IdleLimitMs:      r.IdleLimitMs,
		DropHoldMs:       r.DropHoldMs,
	}
}

// readRules changes the fields of rules that the request names. What the values may be is the domain's to say.
func (r *request) readRules(rules domain.Rules) (domain.Rules, error) {
	whole := func(name string, into *int64) {
		if n, ok := r.number(name, math.MinInt64, math.MaxInt64); ok {
			*into = n
		}
	}
	size := int64(rules.InitialBoardSize)
	whole("initial_board_size", &size)
	rules.InitialBoardSize = int(size)
	if i, ok := r.choice("refill_policy", refillPolicyNames[:]); ok {
		rules.RefillPolicy = domain.RefillAlways + domain.RefillPolicy(i)
	}
	if i, ok := r.choice("penalty_mode", penaltyModeNames[:]); ok {
		rules.PenaltyMode = domain.PenaltyNone + domain.PenaltyMode(i)
	}
	whole("penalty_time_ms", &rules.PenaltyTimeMs)
	whole("time_limit_ms", &rules.TimeLimitMs)
	rules.Timed = rules.TimeLimitMs != 0
	whole("claim_grace_ms", &rules.ClaimGraceMs)
	whole("valid_anim_ms", &rules.ValidAnimMs)
	whole("invalid_anim_ms", &rules.InvalidAnimMs)
	whole("refill_anim_ms", &rules.RefillAnimMs)
	whole("expand_anim_ms", &rules.ExpandAnimMs)
	whole("idle_limit_ms", &rules.IdleLimitMs)
	whole("drop_hold_ms", &rules.DropHoldMs)
	if err := r.done(); err != nil {
		return rules, err
	}
	return rules, r.check(rules)
}

// leastLockMs is the least lock after a wrong claim that has no penalty: somebody who claims at random has to be slower
// than the match grows, in its record and for those who watch.
const leastLockMs = 100

// check lets the domain judge the rules, and refuses those by which a wrong claim costs nothing at all. The first bad
// field is the answer.
func (r *request) check(rules domain.Rules) error {
	err := rules.Validate()
	if err == nil && rules.PenaltyMode == domain.PenaltyNone && rules.InvalidAnimMs < leastLockMs {
		allowed := fmt.Sprintf("%d to %d with penalty_mode none", leastLockMs, domain.MaxAnimMs)
		r.outOfRange("invalid_anim_ms", strconv.FormatInt(rules.InvalidAnimMs, 10), allowed)
		return r.err
	}
	if err == nil {
		return nil
	}
	var bad *domain.RulesError
	if !errors.As(err, &bad) {
		return reject(wire.Reason_REASON_INTERNAL, nil)
	}
	first := bad.Fields[0]
	r.outOfRange(first.Field, inWordsOfRequests.Replace(first.Value), inWordsOfRequests.Replace(first.Allowed))
	return r.err
}

// inWordsOfRequests spells the domain's enums as requests do.
var inWordsOfRequests = strings.NewReplacer(
	domain.RefillAlways.String(), refillPolicyNames[0], domain.RefillToInitialSize.String(), refillPolicyNames[1],
	domain.PenaltyNone.String(), penaltyModeNames[0], domain.PenaltyTime.String(), penaltyModeNames[1],
	domain.PenaltyPoint.String(), penaltyModeNames[2],
)

// choice takes one of several strings and returns which.
func (r *request) choice(name string, from []string) (int, bool) {
	s, ok := r.text(name, requestMax)
	if !ok {
		return 0, false
	}
	i := slices.Index(from, s)
	if i < 0 {
		r.fail(wire.Reason_REASON_OUT_OF_RANGE, args{"field": r.path + name, "value": shorten(s), "allowed": from})
	}
	return i, i >= 0
}
