package match

import "set3d/domain"

// preset is a set of rules with a name.
type preset struct {
	name        string
	description string
	rules       domain.Rules
}

// defaultPreset is what create_match plays when nothing is said.
const defaultPreset = "classic"

const (
	practicePreset = "practice"
	customPreset   = "custom" // what rules are called that no preset has
)

// presets are the rules that can be asked for by name, in the order in which they are listed.
func presets() []preset {
	online := domain.DefaultRules()
	online.ClaimGraceMs = 250    // a claim that was on its way when somebody else's Set locked the board is still judged
	online.InvalidAnimMs = 2_000 // guessing costs time

	tournament := online
	tournament.RefillPolicy = domain.RefillToInitialSize

	timed := online
	timed.Timed, timed.TimeLimitMs = true, 180_000
	timed.PenaltyMode, timed.PenaltyTimeMs = domain.PenaltyTime, 5_000

	fast := online
	fast.ValidAnimMs, fast.RefillAnimMs, fast.ExpandAnimMs = 0, 0, 0

	return []preset{
		{defaultPreset, "the usual game: a wrong claim locks its player for two seconds", online},
		{"tournament", "claimed cards are replaced only while fewer than the opening board lie there", tournament},
		{"timed", "three minutes; a wrong claim costs five seconds of one's own clock", timed},
		{"fast", "no board animations: the next Set can be claimed at once", fast},
		{practicePreset, "the rules as written, for one player or a shared seed; never ranked", domain.DefaultRules()},
	}
}

func findPreset(name string) (preset, bool) {
	for _, p := range presets() {
		if p.name == name {
			return p, true
		}
	}
	return preset{}, false
}

func presetNames() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.name)
	}
	return names
}
