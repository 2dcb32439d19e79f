package match

import (
	"slices"

	wire "set3d/proto/set3d/v1"
)

// readPresetChange reads one preset of admin_settings. What it returns changes the settings; fields that are not named stay as they are, and
// those of a new preset are the default preset's.
func (r *request) readPresetChange() (func(*operatorSettings) error, error) {
	name, named := r.text("name", presetNameMax)
	remove, _ := r.flag("remove")
	disabled, hasDisabled := r.flag("disabled")
	description, hasDescription := r.text("description", descriptionMax)
	public, hasPublic := r.flag("public")
	ranked, hasRanked := r.flag("ranked")
	rules, hasRules := r.object("rules")
	if err := r.done(); err != nil {
		return nil, err
	}
	if !named {
		return nil, reject(wire.Reason_REASON_MISSING_FIELD, args{"field": "preset.name"})
	}
	return func(s *operatorSettings) error {
		i := slices.IndexFunc(s.Presets, func(p presetChange) bool { return p.Name == name })
		if _, builtIn := builtInPresets().find(name); i < 0 && !builtIn && (remove || disabled) {
			return reject(wire.Reason_REASON_UNKNOWN_PRESET, args{"preset": shorten(name), "allowed": s.presetNames()})
		}
		if remove {
			s.dropPreset(i)
			return nil
		}
		p := basePreset(name)
		if i >= 0 {
			p = s.Presets[i]
		}
		choose(&p.Disabled, disabled, hasDisabled)
		choose(&p.Description, cleanText(description, descriptionMax), hasDescription)
		choose(&p.Public, public, hasPublic)
		choose(&p.Ranked, ranked, hasRanked)
		if hasRules {
			var err error
			if p.Rules, err = rules.again().readRules(p.Rules); err != nil {
				return err
			}
		}
		return s.putPreset(i, p)
	}, nil
}

// presetNames are the names of all presets there are, offered or not.
func (s *operatorSettings) presetNames() []string {
	names := builtInPresets().names()
	for _, p := range s.Presets {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

func (s *operatorSettings) dropPreset(i int) {
	if i >= 0 {
		s.Presets = slices.Delete(s.Presets, i, i+1)
	}
}

// putPreset puts a preset in the place of the i-th, or behind all if i is negative.
func (s *operatorSettings) putPreset(i int, p presetChange) error {
	if fault := p.fault(); fault != nil {
		return reject(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "preset." + fault.field, "allowed": fault.allowed})
	}
	switch {
	case i >= 0:
		s.Presets[i] = p
	case len(s.Presets) >= presetsMax:
		return reject(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "preset", "allowed": "at most " + entries(presetsMax)})
	default:
		s.Presets = append(s.Presets, p)
	}
	return nil
}

func choose[T any](into *T, value T, given bool) {
	if given {
		*into = value
	}
}

// basePreset is the built-in preset of a name, or a new one like the default, which strangers do not find.
func basePreset(name string) presetChange {
	p, known := builtInPresets().find(name)
	if !known {
		p, _ = builtInPresets().find(defaultPreset)
		p.description, p.public, p.ranked = "", false, false
	}
	return presetChange{Name: name, Description: p.description, Public: p.public, Ranked: p.ranked, Rules: p.rules}
}
