package domain

import (
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func timedRules() Rules {
	r := DefaultRules()
	r.Timed, r.TimeLimitMs = true, 300_000
	return r
}

func penaltyTimeRules() Rules {
	r := timedRules()
	r.PenaltyMode, r.PenaltyTimeMs = PenaltyTime, 5_000
	return r
}

func TestDefaultRules(t *testing.T) {
	assert.Equal(t, Rules{
		InitialBoardSize: 12, RefillPolicy: RefillAlways, PenaltyMode: PenaltyNone, ClaimMode: ClaimAutomatic,
		ValidAnimMs: 600, InvalidAnimMs: 400, RefillAnimMs: 300, ExpandAnimMs: 150,
		IdleLimitMs: 600_000, DropHoldMs: 180_000,
	}, DefaultRules())
	assert.NoError(t, DefaultRules().Validate())
	assert.NoError(t, timedRules().Validate())
	assert.NoError(t, penaltyTimeRules().Validate())
}

// The spec has PenaltyMode as None, Time, Point, in this order.
func TestRuleEnumsKeepTheirNumbers(t *testing.T) {
	assert.Equal(t, []PenaltyMode{1, 2, 3}, []PenaltyMode{PenaltyNone, PenaltyTime, PenaltyPoint})
	assert.Equal(t, []RefillPolicy{1, 2}, []RefillPolicy{RefillAlways, RefillToInitialSize})
	assert.Equal(t, []ClaimMode{1, 2}, []ClaimMode{ClaimAutomatic, ClaimOnCommand})
}

// Every field, on each side of each of its limits.
func TestRulesLimits(t *testing.T) {
	type change func(r *Rules, value int64)
	untimed, timed, penaltyTime := DefaultRules, timedRules, penaltyTimeRules
	for _, limit := range []struct {
		name    string
		base    func() Rules
		set     change
		good    []int64
		bad     []int64
		field   string
		allowed string
	}{
		{"board size", untimed, func(r *Rules, v int64) { r.InitialBoardSize = int(v) },
			[]int64{12, 15, 18}, []int64{-12, 0, 9, 11, 13, 14, 16, 17, 19, 21, 24, 1 << 30}, "initial_board_size", "12, 15 or 18"},
		{"refill policy", untimed, func(r *Rules, v int64) { r.RefillPolicy = RefillPolicy(v) },
			[]int64{1, 2}, []int64{0, 3, 255}, "refill_policy", "Always or ToInitialSize"},
		{"penalty mode, untimed", untimed, func(r *Rules, v int64) { r.PenaltyMode = PenaltyMode(v) },
			[]int64{1, 3}, []int64{0, 4, 255}, "penalty_mode", "None, Time or Point"},
		{"penalty mode, timed", timed, func(r *Rules, v int64) { r.PenaltyMode = PenaltyMode(v) },
			[]int64{1, 3}, []int64{0, 4, 255}, "penalty_mode", "None, Time or Point"},
		{"penalty time", penaltyTime, func(r *Rules, v int64) { r.PenaltyTimeMs = v },
			[]int64{1, 2, 59_999, 60_000}, []int64{-1 << 63, -1, 0, 60_001, 1<<63 - 1}, "penalty_time_ms", "1 to 60000"},
		{"penalty time without penalty", timed, func(r *Rules, v int64) { r.PenaltyTimeMs = v },
			[]int64{0}, []int64{-1, 1, 5_000}, "penalty_time_ms", "0 unless penalty_mode is Time"},
		{"penalty time with points", timed, func(r *Rules, v int64) { r.PenaltyMode, r.PenaltyTimeMs = PenaltyPoint, v },
			[]int64{0}, []int64{-1, 1, 5_000}, "penalty_time_ms", "0 unless penalty_mode is Time"},
		{"penalty mode Time, untimed", untimed, func(r *Rules, v int64) { r.PenaltyMode, r.PenaltyTimeMs = PenaltyTime, v },
			nil, []int64{1, 5_000}, "penalty_mode", "None or Point in an untimed match"},
		{"time limit", timed, func(r *Rules, v int64) { r.TimeLimitMs = v },
			[]int64{1_000, 1_001, 7_199_999, 7_200_000}, []int64{-1 << 63, -1, 0, 999, 7_200_001, 1<<63 - 1},
			"time_limit_ms", "1000 to 7200000 in a timed match"},
		{"time limit, untimed", untimed, func(r *Rules, v int64) { r.TimeLimitMs = v },
			[]int64{0}, []int64{-1, 1, 1_000, 300_000}, "time_limit_ms", "0 in an untimed match"},
		{"claim mode", untimed, func(r *Rules, v int64) { r.ClaimMode = ClaimMode(v) },
			[]int64{1, 2}, []int64{0, 3, 255}, "claim_mode", "Automatic or OnCommand"},
		{"claim grace", untimed, func(r *Rules, v int64) { r.ClaimGraceMs = v },
			[]int64{0, 1, 999, 1_000}, []int64{-1 << 63, -1, 1_001, 1<<63 - 1}, "claim_grace_ms", "0 to 1000"},
		{"valid animation", untimed, func(r *Rules, v int64) { r.ValidAnimMs = v },
			[]int64{0, 1, 9_999, 10_000}, []int64{-1, 10_001}, "valid_anim_ms", "0 to 10000"},
		{"invalid animation", untimed, func(r *Rules, v int64) { r.InvalidAnimMs = v },
			[]int64{0, 1, 9_999, 10_000}, []int64{-1, 10_001}, "invalid_anim_ms", "0 to 10000"},
		{"refill animation", untimed, func(r *Rules, v int64) { r.RefillAnimMs = v },
			[]int64{0, 1, 9_999, 10_000}, []int64{-1, 10_001}, "refill_anim_ms", "0 to 10000"},
		{"expand animation", untimed, func(r *Rules, v int64) { r.ExpandAnimMs = v },
			[]int64{0, 1, 9_999, 10_000}, []int64{-1, 10_001}, "expand_anim_ms", "0 to 10000"},
		{"idle limit", untimed, func(r *Rules, v int64) { r.IdleLimitMs = v },
			[]int64{1_000, 1_001, 3_599_999, 3_600_000}, []int64{-1, 0, 999, 3_600_001}, "idle_limit_ms", "1000 to 3600000"},
		{"drop hold", untimed, func(r *Rules, v int64) { r.DropHoldMs = v },
			[]int64{0, 1, 599_999, 600_000}, []int64{-1, 600_001}, "drop_hold_ms", "0 to 600000"},
	} {
		t.Run(limit.name, func(t *testing.T) {
			for _, value := range limit.good {
				rules := limit.base()
				limit.set(&rules, value)
				assert.NoError(t, rules.Validate(), value)
			}
			for _, value := range limit.bad {
				rules := limit.base()
				limit.set(&rules, value)
				bad := badFields(t, rules)
				require.Len(t, bad, 1, value)
				assert.Equal(t, limit.field, bad[0].Field)
				assert.Equal(t, limit.allowed, bad[0].Allowed)
				assert.NotEmpty(t, bad[0].Value)
				assert.EqualError(t, rules.Validate(),
					"invalid rules: "+limit.field+" is "+bad[0].Value+", allowed is "+limit.allowed)
			}
		})
	}
}

func badFields(t *testing.T, rules Rules) []FieldError {
	t.Helper()
	var rulesError *RulesError
	require.True(t, errors.As(rules.Validate(), &rulesError), "%+v", rules)
	return rulesError.Fields
}

// One error names every bad field, in the order of the struct.
func TestRulesErrorNamesEveryBadField(t *testing.T) {
	rules := Rules{
		InitialBoardSize: 13, PenaltyTimeMs: -1, PenaltyMode: PenaltyTime, Timed: true, TimeLimitMs: 500, ClaimGraceMs: -1,
		ValidAnimMs: -1, InvalidAnimMs: -1, RefillAnimMs: -1, ExpandAnimMs: -1, IdleLimitMs: -1, DropHoldMs: -1,
	}
	var fields []string
	for _, bad := range badFields(t, rules) {
		fields = append(fields, bad.Field)
	}
	assert.Equal(t, []string{
		"initial_board_size", "refill_policy", "penalty_time_ms", "time_limit_ms", "claim_mode", "claim_grace_ms",
		"valid_anim_ms", "invalid_anim_ms", "refill_anim_ms", "expand_anim_ms", "idle_limit_ms", "drop_hold_ms",
	}, fields)

	two := DefaultRules()
	two.InitialBoardSize, two.RefillPolicy = 13, 0
	assert.EqualError(t, two.Validate(), "invalid rules: initial_board_size is 13, allowed is 12, 15 or 18; "+
		"refill_policy is RefillPolicy(0), allowed is Always or ToInitialSize")
}

func TestZeroRulesAreInvalid(t *testing.T) {
	var fields []string
	for _, bad := range badFields(t, Rules{}) {
		fields = append(fields, bad.Field)
	}
	assert.Equal(t, []string{"initial_board_size", "refill_policy", "penalty_mode", "claim_mode", "idle_limit_ms"}, fields)
}

// A field that is added must be validated: this test does not know it.
func TestEveryRuleIsChecked(t *testing.T) {
	rules := reflect.TypeFor[Rules]()
	known := []string{
		"InitialBoardSize", "RefillPolicy", "PenaltyMode", "PenaltyTimeMs", "Timed", "TimeLimitMs", "ClaimMode", "ClaimGraceMs",
		"ValidAnimMs", "InvalidAnimMs", "RefillAnimMs", "ExpandAnimMs", "IdleLimitMs", "DropHoldMs",
	}
	var names []string
	for i := range rules.NumField() {
		names = append(names, rules.Field(i).Name)
	}
	assert.Equal(t, known, names)
}
