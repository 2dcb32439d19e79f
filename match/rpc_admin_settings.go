package match

import (
	"context"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

type adminAnnounceResponse struct {
	Announcement *announcement `json:"announcement"`
}

// adminAnnounce tells all players something, now and whoever comes later; or withdraws it.
func (m *module) adminAnnounce(_ context.Context, r *request) (any, error) {
	text, given := r.text("text", announcementMax)
	at, _ := r.number("at_unix_ms", 0, 1<<53)
	until, _ := r.number("until_unix_ms", 0, 1<<53)
	withdraw, _ := r.flag("withdraw")
	if err := r.done(); err != nil {
		return nil, err
	}
	next := &announcement{Text: cleanText(text, announcementMax), AtUnixMs: at, UntilUnixMs: until}
	switch {
	case withdraw && (given || at != 0 || until != 0):
		return nil, reject(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "withdraw", "allowed": "nothing beside it"})
	case withdraw:
		next = nil
	case until != 0 && (until < at || until <= m.clock.wall().UnixMilli()):
		return nil, reject(wire.Reason_REASON_OUT_OF_RANGE, args{"field": "until_unix_ms", "allowed": "after now, and not before at_unix_ms"})
	case !given || next.Text == "":
		return nil, reject(wire.Reason_REASON_MISSING_FIELD, args{"field": "text, or withdraw"})
	}
	err := m.operator.change(func(s *operatorSettings) error {
		s.Announcement = next
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.logger.Info("an operator announces %q", text)
	return adminAnnounceResponse{next}, nil
}

type adminSettingsResponse struct {
	Announcement     *announcement `json:"announcement"`
	MinClientVersion string        `json:"min_client_version"`
	RefuseOldClients bool          `json:"refuse_old_clients"`
	Presets          []adminPreset `json:"presets"` // those that are not as they are built in
	Offered          []string      `json:"offered"`
}

type adminPreset struct {
	Name        string    `json:"name"`
	Disabled    bool      `json:"disabled"`
	Description string    `json:"description"`
	Public      bool      `json:"public"`
	Ranked      bool      `json:"ranked"`
	Rules       rulesView `json:"rules"`
}

// adminSettings shows what an operator has changed, after changing what the request names.
func (m *module) adminSettings(_ context.Context, r *request) (any, error) {
	least, hasLeast := r.text("min_client_version", 32)
	refuse, hasRefuse := r.flag("refuse_old_clients")
	nested, hasPreset := r.object("preset")
	if _, ok := parseVersion(least); hasLeast && least != "" && !ok {
		r.outOfRange("min_client_version", shorten(least), "two or three numbers with dots between them, or empty")
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	var change func(*operatorSettings) error
	if hasPreset {
		var err error
		if change, err = nested.readPresetChange(); err != nil {
			return nil, err
		}
	}
	if hasLeast || hasRefuse || hasPreset {
		err := m.operator.change(func(s *operatorSettings) error {
			if hasLeast {
				s.MinClient = least
			}
			if hasRefuse {
				s.RefuseOld = refuse
			}
			if hasPreset {
				return change(s)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		m.logger.Warn("an operator has changed the settings")
	}
	return m.viewSettings(), nil
}

func (m *module) viewSettings() adminSettingsResponse {
	policy := m.operator.policy()
	s := &policy.settings
	answer := adminSettingsResponse{
		Announcement: s.Announcement, MinClientVersion: s.MinClient, RefuseOldClients: s.RefuseOld,
		Presets: []adminPreset{}, Offered: policy.presets.names(),
	}
	for _, p := range s.Presets {
		if p.Rules.Validate() != nil { // left out since an upgrade
			p.Rules = domain.DefaultRules()
		}
		answer.Presets = append(answer.Presets, adminPreset{p.Name, p.Disabled, p.Description, p.Public, p.Ranked, viewRules(p.Rules)})
	}
	return answer
}
