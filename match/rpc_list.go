package match

import (
	"context"
	"slices"
	"strconv"

	wire "set3d/proto/set3d/v1"
)

const (
	listDefault = 20
	listMax     = 100
	cursorMax   = 20 // digits of the largest serial
)

type listResponse struct {
	Matches []tableView `json:"matches"`
	Cursor  string      `json:"cursor"` // of the next page; empty: that was all
}

// listFilter is what a user wants to see.
type listFilter struct {
	preset, phase string // empty: any
	open, byOpen  bool
	before        int64 // serial; 0: from the newest on
	limit         int
}

// listMatches lists the public tables of this server, the newest first. Unlike Nakama's listing it is never late.
func (m *module) listMatches(ctx context.Context, r *request) (any, error) {
	if _, err := userOf(ctx); err != nil {
		return nil, err
	}
	f := listFilter{limit: listDefault}
	f.read(r, m.listedPresets())
	if err := r.done(); err != nil {
		return nil, err
	}
	answer := listResponse{Matches: []tableView{}}
	last := int64(0)
	for _, b := range m.tables.listed() {
		view := viewTable(b)
		if view.Private || !f.wants(&view) || f.before != 0 && b.serial >= f.before {
			continue
		}
		if len(answer.Matches) == f.limit {
			answer.Cursor = strconv.FormatInt(last, 10)
			break
		}
		answer.Matches = append(answer.Matches, view)
		last = b.serial
	}
	return answer, nil
}

// listedPresets are the presets that a table may have: those there are, offered or not, and those of open tables that are no more.
func (m *module) listedPresets() []string {
	names := append(m.operator.policy().settings.presetNames(), customPreset)
	for _, b := range m.tables.listed() {
		if name := b.known().label.Preset; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (f *listFilter) read(r *request, presets []string) {
	if name, ok := r.text("preset", requestMax); ok {
		f.preset = name
		if !slices.Contains(presets, name) {
			r.fail(wire.Reason_REASON_UNKNOWN_PRESET, args{"preset": shorten(name), "allowed": presets})
		}
	}
	phases := []string{phaseLobby, phasePlaying, phaseEnded}
	if i, ok := r.choice("phase", phases); ok {
		f.phase = phases[i]
	}
	f.open, f.byOpen = r.flag("open")
	if n, ok := r.number("limit", 1, listMax); ok {
		f.limit = int(n)
	}
	if text, ok := r.text("cursor", cursorMax); ok && text != "" {
		serial, err := strconv.ParseInt(text, 10, 64)
		if err != nil || serial <= 0 {
			r.outOfRange("cursor", shorten(text), "the cursor of an earlier answer")
		}
		f.before = serial
	}
}

func (f *listFilter) wants(v *tableView) bool {
	return (f.preset == "" || v.Preset == f.preset) && (f.phase == "" || v.Phase == f.phase) && (!f.byOpen || v.Open == f.open)
}
