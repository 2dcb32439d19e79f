package match

import (
	"slices"
	"strings"
	"testing"

	"github.com/heroiclabs/nakama-common/api"
)

// Presets are an operator's to change, within what is fair; open tables keep their rules.
func TestOperatorsPresets(t *testing.T) {
	n := newFake(t)
	old := n.session("ann").create(`{"preset":"timed"}`)
	n.mustAdmin("admin_settings", `{"preset":{"name":"timed","rules":{"time_limit_ms":60000}}}`, nil)
	n.mustAdmin("admin_settings", `{"preset":{"name":"fast","disabled":true}}`, nil)
	n.mustAdmin("admin_settings", `{"preset":{"name":"blitz","description":"quick","public":true,"rules":{"time_limit_ms":30000}}}`, nil)
	offered := n.hello("").Presets
	if offered["timed"].Rules.TimeLimitMs != 60_000 || offered["blitz"].Rules.TimeLimitMs != 30_000 || !offered["blitz"].Public || offered["blitz"].Ranked || len(offered) != 5 {
		t.Fatalf("%+v", offered)
	}
	if old.table().setup.Rules.TimeLimitMs != 180_000 {
		t.Error("an open table has other rules now")
	}
	if m := n.session("bob").create(`{"preset":"blitz"}`); m.table().setup.Rules.TimeLimitMs != 30_000 || m.table().setup.Custom {
		t.Error("the new preset is not played")
	}
	if _, err := n.session("bob").rpc("quick_match", `{"preset":"blitz"}`); err != nil {
		t.Error(err)
	}
	if _, err := n.session("bob").rpc("create_match", `{"preset":"fast"}`); reasonOf(err) != "UNKNOWN_PRESET" || strings.Contains(err.Error(), `"fast",`) {
		t.Error(err)
	}
	n.module.measure()
	wantGauge(t, n, "set3d_tables lobby operator", 1) // he was sent to his own
	if got := otherProcess(t, n).hello("").Presets; got["blitz"].Rules.TimeLimitMs != 30_000 {
		t.Errorf("another process: %+v", got)
	}
	var settings adminSettingsResponse
	n.mustAdmin("admin_settings", `{"preset":{"name":"fast","remove":true}}`, &settings)
	if len(settings.Presets) != 2 || !slices.Contains(settings.Offered, "fast") {
		t.Errorf("%+v", settings)
	}
}

// Tables of presets that are not offered any more are found all the same.
func TestTablesOfFormerPresets(t *testing.T) {
	n := newFake(t)
	n.mustAdmin("admin_settings", `{"preset":{"name":"blitz","public":true}}`, nil)
	for user, preset := range map[string]string{"ann": "blitz", "bob": "fast"} {
		n.session(user).create(`{"preset":"` + preset + `"}`)
	}
	n.mustAdmin("admin_settings", `{"preset":{"name":"fast","disabled":true}}`, nil)
	n.mustAdmin("admin_settings", `{"preset":{"name":"blitz","remove":true}}`, nil)
	for _, preset := range []string{"blitz", "fast"} {
		var page adminListResponse
		n.mustAdmin("admin_list", `{"preset":"`+preset+`"}`, &page)
		if list := n.session("cid").list(t, `{"preset":"`+preset+`"}`); len(page.Tables) != 1 || len(list.Matches) != 1 {
			t.Errorf("%s: %+v %+v", preset, page, list)
		}
	}
	n.mustAdmin("admin_settings", `{"preset":{"name":"slow"}}`, nil)
	n.mustAdmin("admin_settings", `{"preset":{"name":"slow","disabled":true}}`, nil)
	n.mustAdmin("admin_list", `{"preset":"slow"}`, nil) // no tables, but a preset
}

func TestPresetsThatAreNotThere(t *testing.T) {
	n := newFake(t)
	for _, change := range []string{`"remove":true`, `"disabled":true`} {
		_, err := n.admin("admin_settings", `{"preset":{"name":"blizt",`+change+`}}`)
		if reasonOf(err) != "UNKNOWN_PRESET" || !strings.Contains(err.Error(), `"preset":"blizt"`) {
			t.Errorf("%s: %v", change, err)
		}
	}
	n.mustAdmin("admin_settings", `{"preset":{"name":"fast","remove":true}}`, nil) // there, and not changed
}

func TestPresetsThatAreNotAllowed(t *testing.T) {
	n := newFake(t)
	for preset, field := range map[string]string{
		`{"disabled":true}`:                                        "preset.name",
		`{"name":"classic","disabled":true}`:                       "preset.disabled, public",
		`{"name":"classic","public":false}`:                        "preset.disabled, public",
		`{"name":"practice","public":true}`:                        "preset.public",
		`{"name":"custom"}`:                                        "preset.name",
		`{"name":"Blitz!"}`:                                        "preset.name",
		`{"name":"b","ranked":true}`:                               "preset.ranked",
		`{"name":"b","public":true,"rules":{"invalid_anim_ms":1}}`: "preset.rules.invalid_anim_ms",
		`{"name":"b","public":true,"rules":{"claim_grace_ms":0}}`:  "preset.rules.claim_grace_ms",
		`{"name":"b","rules":{"initial_board_size":13}}`:           "preset.rules.initial_board_size",
		`{"name":"b","rules":{"time_limit_ms":1}}`:                 "preset.rules.time_limit_ms",
		`{"name":"b","rules":{"colour":1}}`:                        "preset.rules.colour",
		`{"name":"b","colour":1}`:                                  "preset.colour",
	} {
		_, err := n.admin("admin_settings", `{"preset":`+preset+`}`)
		if err == nil || !strings.Contains(err.Error(), `"field":"`+field+`"`) {
			t.Errorf("%s: %v, want %s", preset, err, field)
		}
	}
	if len(n.hello("").Presets) != len(builtInPresets()) {
		t.Error("something was taken")
	}
}

// A stored preset that the limits forbid by now is left out, and the rest is offered.
func TestForbiddenStoredPresetIsLeftOut(t *testing.T) {
	n := newFake(t)
	n.mustAdmin("admin_settings", `{"preset":{"name":"blitz"}}`, nil)
	n.storage.mu.Lock()
	o := n.storage.objects[keyOf(operatorCollection, operatorKey, "")]
	n.storage.objects[keyOf(operatorCollection, operatorKey, "")] = &api.StorageObject{
		Version: "next", Value: strings.Replace(o.Value, `"InitialBoardSize":12`, `"InitialBoardSize":13`, 1),
	}
	n.storage.mu.Unlock()
	n.module.operator.refresh()
	if got := n.hello("").Presets; len(got) != len(builtInPresets()) {
		t.Errorf("%+v", got)
	}
	n.mustAdmin("admin_settings", `{}`, nil)
}
