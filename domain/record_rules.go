package domain

// rulesField reads and writes one field of the rules as a number.
type rulesField struct {
	get func() uint64
	set func(uint64)
}

// rulesFields are the fields in the record's order.
func rulesFields(r *Rules) []rulesField {
	number := func(p *int64) rulesField {
		return rulesField{func() uint64 { return uint64(*p) }, func(v uint64) { *p = int64(v) }}
	}
	return []rulesField{
		{func() uint64 { return uint64(r.InitialBoardSize) }, func(v uint64) { r.InitialBoardSize = int(v) }},
		{func() uint64 { return uint64(r.RefillPolicy) }, func(v uint64) { r.RefillPolicy = RefillPolicy(v) }},
		{func() uint64 { return uint64(r.PenaltyMode) }, func(v uint64) { r.PenaltyMode = PenaltyMode(v) }},
		number(&r.PenaltyTimeMs),
		{func() uint64 {
			if r.Timed {
				return 1
			}
			return 0
		}, func(v uint64) { r.Timed = v != 0 }},
		number(&r.TimeLimitMs),
		{func() uint64 { return uint64(r.ClaimMode) }, func(v uint64) { r.ClaimMode = ClaimMode(v) }},
		number(&r.ClaimGraceMs),
		number(&r.ValidAnimMs), number(&r.InvalidAnimMs), number(&r.RefillAnimMs), number(&r.ExpandAnimMs),
		number(&r.IdleLimitMs), number(&r.DropHoldMs),
	}
}
