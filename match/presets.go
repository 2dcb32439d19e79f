package match

import "set3d/domain"

// preset is a set of rules with a name.
type preset struct {
	name        string
	description string
	rules       domain.Rules
	public      bool // strangers are brought together by it: quick_match and the matchmaker
	ranked      bool // a match that the matchmaker made by it counts for a rating
}

// publicLockMs is the least lock after a wrong claim under a public preset. With the spec's 400 ms whoever tries triples at
// random finds a Set twice a minute without looking; docs/decisions.md has the sum.
const publicLockMs = 2_000

// defaultPreset is what create_match plays when nothing is said.
const defaultPreset = "classic"

const (
	practicePreset = "practice"
	customPreset   = "custom" // what rules are called that no preset has
)

// builtInPresets are the rules that can be asked for by name, unless an operator has changed that.
func builtInPresets() catalogue {
	online := domain.DefaultRules()
	online.ClaimGraceMs = 250 // a claim that was on its way when somebody else's Set locked the board is still judged
	online.InvalidAnimMs = publicLockMs

	tournament := online
	tournament.RefillPolicy = domain.RefillToInitialSize

	timed := online
	timed.Timed, timed.TimeLimitMs = true, 180_000
	timed.PenaltyMode, timed.PenaltyTimeMs = domain.PenaltyTime, 5_000

	fast := online
	fast.ValidAnimMs, fast.RefillAnimMs, fast.ExpandAnimMs = 0, 0, 0

	return catalogue{
		{defaultPreset, "the usual game: a wrong claim locks its player for two seconds", online, true, true},
		{"tournament", "claimed cards are replaced only while fewer than the opening board lie there", tournament, true, true},
		{"timed", "three minutes; a wrong claim costs five seconds of one's own clock", timed, true, true},
		{"fast", "no board animations: the next Set can be claimed at once", fast, true, true},
		{practicePreset, "the rules as written, for one player or a shared seed; never ranked", domain.DefaultRules(), false, false},
	}
}
