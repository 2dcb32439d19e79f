package domain

import (
	"fmt"
	"strings"
)

// RefillPolicy says when claimed slots are refilled. The zero value is invalid.
type RefillPolicy uint8

// The refill policies.
const (
	// RefillAlways refills the claimed slots while the deck has three cards.
	// spec: board-and-dealing, Refill After a Valid Set
	RefillAlways RefillPolicy = 1 + iota
	// RefillToInitialSize refills only if fewer than InitialBoardSize cards remain on the board, as tournaments do.
	RefillToInitialSize
)

func (p RefillPolicy) String() string {
	switch p {
	case RefillAlways:
		return "Always"
	case RefillToInitialSize:
		return "ToInitialSize"
	}
	return fmt.Sprintf("RefillPolicy(%d)", uint8(p))
}

// PenaltyMode says what an invalid claim costs. The zero value is invalid.
type PenaltyMode uint8

// The penalty modes.
const (
	PenaltyNone  PenaltyMode = 1 + iota // nothing
	PenaltyTime                         // PenaltyTimeMs of the player's remaining time
	PenaltyPoint                        // one point
)

func (m PenaltyMode) String() string {
	switch m {
	case PenaltyNone:
		return "None"
	case PenaltyTime:
		return "Time"
	case PenaltyPoint:
		return "Point"
	}
	return fmt.Sprintf("PenaltyMode(%d)", uint8(m))
}

// ClaimMode says what claims three selected cards. The zero value is invalid.
type ClaimMode uint8

// The claim modes.
const (
	ClaimAutomatic ClaimMode = 1 + iota // the third selection claims
	ClaimOnCommand                      // a player's ClaimSelected claims: pass and play
)

func (m ClaimMode) String() string {
	switch m {
	case ClaimAutomatic:
		return "Automatic"
	case ClaimOnCommand:
		return "OnCommand"
	}
	return fmt.Sprintf("ClaimMode(%d)", uint8(m))
}

// The limits of the rules, in milliseconds, both ends included.
const (
	MinTimeLimitMs   = 1_000     // one second: the shortest match in which a person can claim at all
	MaxTimeLimitMs   = 7_200_000 // two hours: nobody sits longer, and a table must end by itself
	MinPenaltyTimeMs = 1         // a penalty that takes nothing is PenaltyNone
	MaxPenaltyTimeMs = 60_000    // one minute: more would end most matches at the first mistake
	MaxAnimMs        = 10_000    // ten seconds: the board takes no claims while it moves
	MaxClaimGraceMs  = 1_000     // one second: a claim that was on its way longer was not on its way
	MinIdleLimitMs   = 1_000     // one second: for tests
	MaxIdleLimitMs   = 3_600_000 // one hour: an abandoned table must end by itself
	MaxDropHoldMs    = 600_000   // ten minutes: the others wait for the seat so long; 0 forfeits it at once
)

// Rules are what a match is played by. They do not change while it lasts. All times are milliseconds. Validate says which
// values are allowed; the zero value is not valid, DefaultRules is. Neither seed nor key is part of the rules.
type Rules struct {
	InitialBoardSize int          // slots of the first deal: 12, 15 or 18
	RefillPolicy     RefillPolicy // when claimed slots are refilled
	PenaltyMode      PenaltyMode  // what an invalid claim costs
	PenaltyTimeMs    int64        // what PenaltyTime takes, 1–60,000; 0 in the other modes
	Timed            bool         // whether the match has a clock
	TimeLimitMs      int64        // what is on it, 1,000–7,200,000; 0 when it has none
	ClaimMode        ClaimMode    // what claims three selected cards
	ClaimGraceMs     int64        // how long after the lock began a claim on its way is held, 0–1,000; 0: never
	ValidAnimMs      int64        // the length of ValidSetAnim, 0–10,000
	InvalidAnimMs    int64        // the length of InvalidSetAnim, 0–10,000
	RefillAnimMs     int64        // the length of RefillAnim, 0–10,000
	ExpandAnimMs     int64        // the length of ExpandBoardAnim, 0–10,000
	IdleLimitMs      int64        // how long a board of an untimed match may lie without a Set claimed, 1,000–3,600,000
	DropHoldMs       int64        // how long a dropped player's seat is held, 0–600,000; 0: not at all
}

// DefaultRules returns the spec's rules for an untimed match.
func DefaultRules() Rules {
	return Rules{
		InitialBoardSize: MinSlots,
		RefillPolicy:     RefillAlways,
		PenaltyMode:      PenaltyNone,
		ClaimMode:        ClaimAutomatic,
		ValidAnimMs:      600,
		InvalidAnimMs:    400,
		RefillAnimMs:     300,
		ExpandAnimMs:     150,
		IdleLimitMs:      600_000,
		DropHoldMs:       180_000,
	}
}

// Validate returns nil if the rules can be played, else a *RulesError that names every bad field.
func (r Rules) Validate() error {
	var check rulesCheck
	check.initialBoardSize(r.InitialBoardSize)
	check.refillPolicy(r.RefillPolicy)
	check.penalty(r)
	check.timeLimit(r)
	check.claimMode(r.ClaimMode)
	check.between("claim_grace_ms", r.ClaimGraceMs, 0, MaxClaimGraceMs)
	check.between("valid_anim_ms", r.ValidAnimMs, 0, MaxAnimMs)
	check.between("invalid_anim_ms", r.InvalidAnimMs, 0, MaxAnimMs)
	check.between("refill_anim_ms", r.RefillAnimMs, 0, MaxAnimMs)
	check.between("expand_anim_ms", r.ExpandAnimMs, 0, MaxAnimMs)
	check.between("idle_limit_ms", r.IdleLimitMs, MinIdleLimitMs, MaxIdleLimitMs)
	check.between("drop_hold_ms", r.DropHoldMs, 0, MaxDropHoldMs)
	if len(check.bad) > 0 {
		return &RulesError{Fields: check.bad}
	}
	return nil
}

// RulesError is what Rules.Validate returns: every bad field, in the order of the struct.
type RulesError struct{ Fields []FieldError }

func (e *RulesError) Error() string {
	var text strings.Builder
	text.WriteString("invalid rules: ")
	for i, f := range e.Fields {
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(f.Error())
	}
	return text.String()
}

// FieldError is one field of the rules with a value that it cannot have.
type FieldError struct {
	Field   string // in snake case, as in JSON: "time_limit_ms"
	Value   string // what it is: "500"
	Allowed string // what it may be: "1000 to 7200000 in a timed match"
}

func (e FieldError) Error() string {
	return e.Field + " is " + e.Value + ", allowed is " + e.Allowed
}

// rulesCheck collects the bad fields.
type rulesCheck struct{ bad []FieldError }

func (c *rulesCheck) refuse(field string, value any, allowed string) {
	c.bad = append(c.bad, FieldError{Field: field, Value: fmt.Sprint(value), Allowed: allowed})
}

func (c *rulesCheck) between(field string, value, lowest, highest int64) {
	if value < lowest || value > highest {
		c.refuse(field, value, fmt.Sprintf("%d to %d", lowest, highest))
	}
}

func (c *rulesCheck) initialBoardSize(slots int) {
	if slots != 12 && slots != 15 && slots != 18 {
		c.refuse("initial_board_size", slots, "12, 15 or 18")
	}
}

func (c *rulesCheck) refillPolicy(p RefillPolicy) {
	if p != RefillAlways && p != RefillToInitialSize {
		c.refuse("refill_policy", p, "Always or ToInitialSize")
	}
}

func (c *rulesCheck) claimMode(m ClaimMode) {
	if m != ClaimAutomatic && m != ClaimOnCommand {
		c.refuse("claim_mode", m, "Automatic or OnCommand")
	}
}

// penalty: mode Time takes time, so it needs a clock to take it from and an amount; no other mode has an amount.
func (c *rulesCheck) penalty(r Rules) {
	switch r.PenaltyMode {
	case PenaltyNone, PenaltyPoint:
		if r.PenaltyTimeMs != 0 {
			c.refuse("penalty_time_ms", r.PenaltyTimeMs, "0 unless penalty_mode is Time")
		}
	case PenaltyTime:
		if !r.Timed {
			c.refuse("penalty_mode", r.PenaltyMode, "None or Point in an untimed match")
		}
		c.between("penalty_time_ms", r.PenaltyTimeMs, MinPenaltyTimeMs, MaxPenaltyTimeMs)
	default:
		c.refuse("penalty_mode", r.PenaltyMode, "None, Time or Point")
	}
}

func (c *rulesCheck) timeLimit(r Rules) {
	switch {
	case !r.Timed && r.TimeLimitMs != 0:
		c.refuse("time_limit_ms", r.TimeLimitMs, "0 in an untimed match")
	case r.Timed && (r.TimeLimitMs < MinTimeLimitMs || r.TimeLimitMs > MaxTimeLimitMs):
		c.refuse("time_limit_ms", r.TimeLimitMs,
			fmt.Sprintf("%d to %d in a timed match", MinTimeLimitMs, MaxTimeLimitMs))
	}
}
