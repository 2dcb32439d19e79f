package match

import (
	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

func rulesToWire(r domain.Rules) *wire.Rules {
	return &wire.Rules{
		InitialBoardSize: uint32(r.InitialBoardSize),
		RefillPolicy:     refillPolicyToWire(r.RefillPolicy),
		PenaltyMode:      penaltyModeToWire(r.PenaltyMode),
		PenaltyTimeMs:    uint32(r.PenaltyTimeMs),
		TimeLimitMs:      uint32(r.TimeLimitMs),
		ClaimGraceMs:     uint32(r.ClaimGraceMs),
		ValidAnimMs:      uint32(r.ValidAnimMs),
		InvalidAnimMs:    uint32(r.InvalidAnimMs),
		RefillAnimMs:     uint32(r.RefillAnimMs),
		ExpandAnimMs:     uint32(r.ExpandAnimMs),
		IdleLimitMs:      uint32(r.IdleLimitMs),
		DropHoldMs:       uint32(r.DropHoldMs),
	}
}

func refillPolicyToWire(p domain.RefillPolicy) wire.RefillPolicy {
	switch p {
	case domain.RefillAlways:
		return wire.RefillPolicy_REFILL_POLICY_ALWAYS
	case domain.RefillToInitialSize:
		return wire.RefillPolicy_REFILL_POLICY_TO_INITIAL_SIZE
	}
	return wire.RefillPolicy_REFILL_POLICY_UNSPECIFIED
}

func penaltyModeToWire(m domain.PenaltyMode) wire.PenaltyMode {
	switch m {
	case domain.PenaltyNone:
		return wire.PenaltyMode_PENALTY_MODE_NONE
	case domain.PenaltyTime:
		return wire.PenaltyMode_PENALTY_MODE_TIME
	case domain.PenaltyPoint:
		return wire.PenaltyMode_PENALTY_MODE_POINT
	}
	return wire.PenaltyMode_PENALTY_MODE_UNSPECIFIED
}

// reasonToWire names a domain's refusal of a claim. No other command of a client's can be refused with a reason of its own.
func reasonToWire(r domain.Reason) wire.Reason {
	switch r {
	case domain.RefusedMalformed:
		return wire.Reason_REASON_MALFORMED_CLAIM
	case domain.RefusedNotAPlayer:
		return wire.Reason_REASON_NOT_A_PLAYER
	case domain.RefusedNotStarted:
		return wire.Reason_REASON_NOT_STARTED
	case domain.RefusedClaimIDReused:
		return wire.Reason_REASON_CLAIM_ID_REUSED
	case domain.RefusedEnded:
		return wire.Reason_REASON_ENDED
	case domain.RefusedOutOfTime:
		return wire.Reason_REASON_OUT_OF_TIME
	case domain.RefusedOwnLock:
		return wire.Reason_REASON_OWN_LOCK
	case domain.RefusedBoardLock:
		return wire.Reason_REASON_BOARD_LOCK
	case domain.RefusedNotOnBoard:
		return wire.Reason_REASON_NOT_ON_BOARD
	}
	return wire.Reason_REASON_INTERNAL
}
