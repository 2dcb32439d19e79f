package match

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const settingsDoc = "../docs/operations.md"

// settingsTable is the table of all settings as the documentation has it.
func settingsTable() string {
	var table strings.Builder
	table.WriteString("| key | default | allowed | meaning |\n|---|---|---|---|\n")
	for _, s := range Settings() {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", s.Name, s.Default, s.Allowed, s.Meaning)
	}
	return table.String()
}

// TestSettingsAreDocumented: -run SettingsAreDocumented -update writes the table.
func TestSettingsAreDocumented(t *testing.T) {
	raw, err := os.ReadFile(settingsDoc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(raw), "<!-- settings -->\n")
	table, after, ends := strings.Cut(rest, "<!-- end of settings -->\n")
	if !begins || !ends {
		t.Fatalf("%s has no place for the settings", settingsDoc)
	}
	if *update {
		text := before + "<!-- settings -->\n" + settingsTable() + "<!-- end of settings -->\n" + after
		if err := os.WriteFile(settingsDoc, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != settingsTable() {
		t.Errorf("%s has another table than Settings(): go test ./match -run SettingsAreDocumented -update", settingsDoc)
	}
}
