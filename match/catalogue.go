package match

import (
	"slices"

	"set3d/domain"
)

// catalogue is the presets that are offered, in the order in which they are listed.
type catalogue []preset

func (c catalogue) find(name string) (preset, bool) {
	i := slices.IndexFunc(c, func(p preset) bool { return p.name == name })
	if i < 0 {
		return preset{}, false
	}
	return c[i], true
}

func (c catalogue) names() []string { return c.namesOf(func(preset) bool { return true }) }

func (c catalogue) publicNames() []string { return c.namesOf(func(p preset) bool { return p.public }) }

func (c catalogue) namesOf(which func(preset) bool) []string {
	names := []string{}
	for _, p := range c {
		if which(p) {
			names = append(names, p.name)
		}
	}
	return names
}

const (
	presetsMax     = 20 // that an operator may change or add
	presetNameMax  = 32
	descriptionMax = 200 // characters
)

// presetChange is a preset as an operator wants it: another one than the one built in by that name, or one more.
type presetChange struct {
	Name        string       `json:"name"`
	Disabled    bool         `json:"disabled"` // not offered
	Description string       `json:"description"`
	Public      bool         `json:"public"`
	Ranked      bool         `json:"ranked"`
	Rules       domain.Rules `json:"rules"`
}

// with is the catalogue with an operator's changes. Those that are not allowed, as after an upgrade that has changed the limits, are left out and
// returned by name.
func (c catalogue) with(changes []presetChange) (changed catalogue, bad []string) {
	changed = slices.Clone(c)
	for _, change := range changes {
		p := change.preset()
		i := slices.IndexFunc(changed, func(other preset) bool { return other.name == p.name })
		switch {
		case change.fault() != nil:
			bad = append(bad, p.name)
		case change.Disabled && i >= 0:
			changed = slices.Delete(changed, i, i+1)
		case change.Disabled:
		case i >= 0:
			changed[i] = p
		default:
			changed = append(changed, p)
		}
	}
	return changed, bad
}

func (p *presetChange) preset() preset {
	return preset{p.Name, p.Description, p.Rules, p.Public, p.Ranked}
}

// presetFault is the first field of a preset that is not as it must be.
type presetFault struct{ field, allowed string }

// fault is what is wrong with a preset, but for what the domain says of its rules; nil: nothing. Strangers meet under rules by which guessing does not
// pay, and no claim is lost on its way.
func (p *presetChange) fault() *presetFault {
	switch {
	case !isPresetName(p.Name) || p.Name == customPreset || p.Name == operatorLabel:
		return &presetFault{"name", "1 to 32 of a to z, 0 to 9 and _, not custom or operator"}
	case p.Name == defaultPreset && (p.Disabled || !p.Public):
		return &presetFault{"disabled, public", "the default preset is always offered, and public"}
	case p.Name == practicePreset && p.Public:
		return &presetFault{"public", "practice has hints, and is for nobody's opponent"}
	case p.Ranked && !p.Public:
		return &presetFault{"ranked", "only public presets are ranked"}
	case p.Public && p.Rules.InvalidAnimMs < publicLockMs:
		return &presetFault{"rules.invalid_anim_ms", "at least 2000 where strangers meet"}
	case p.Public && p.Rules.ClaimGraceMs == 0:
		return &presetFault{"rules.claim_grace_ms", "more than 0 where strangers meet"}
	case p.Rules.Validate() != nil:
		return &presetFault{"rules", "rules that create_match takes"}
	}
	return nil
}

func isPresetName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= presetNameMax
}
