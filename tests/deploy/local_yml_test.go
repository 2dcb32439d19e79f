package deploy_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shipped is what local.yml has to say: exactly this. A new value is added here with a thought.
func shipped() map[string]any {
	return map[string]any{
		"name":                             "set3d-1",
		"shutdown_grace_sec":               30,
		"logger.level":                     "info",
		"logger.stdout":                    true,
		"database.max_open_conns":          80,
		"session.token_expiry_sec":         7200,
		"session.refresh_token_expiry_sec": 604800,
		"session.single_socket":            false,
		"socket.max_message_size_bytes":    4096,
		"socket.outgoing_queue_size":       256,
		"socket.ping_period_ms":            5000,
		"socket.pong_wait_ms":              12000,
		"match.signal_queue_size":          64,
		"match.call_queue_size":            512,
		"match.input_queue_size":           128,
		"match.join_attempt_queue_size":    128,
		"match.max_empty_sec":              0,
		"match.label_update_interval_ms":   2000,
		"tracker.event_queue_size":         8192,
		"matchmaker.interval_sec":          2,
		"matchmaker.max_tickets":           3,
		"matchmaker.max_intervals":         3,
		"metrics.prometheus_port":          9100,
		"metrics.reporting_freq_sec":       10,
		"runtime.env":                      []any{},
	}
}

func TestNakamaConfiguration(t *testing.T) {
	want, got := shipped(), map[string]any{}
	flatten("", load[map[string]any](t, "local.yml"), got)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, ok := got[key]; !ok || !reflect.DeepEqual(value, want[key]) {
			t.Errorf("local.yml: %s is %v, want %v", key, value, want[key])
		}
		delete(got, key)
	}
	for key, value := range got {
		t.Errorf("local.yml: %s: %v is new", key, value)
	}
	if name := want["name"].(string); len(name) > 16 {
		t.Errorf("local.yml: Nakama takes at most 16 characters of name, %q has %d", name, len(name))
	}
}

const optionsFile = "testdata/nakama-config.txt"

// nakamaOptions are the names of Nakama's configuration, and the type of each.
func nakamaOptions(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(optionsFile)
	if err != nil {
		t.Fatal(err)
	}
	options := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if words := strings.Fields(line); len(words) == 2 && !strings.HasPrefix(line, "#") {
			options[words[0]] = words[1]
		}
	}
	return options
}

// fits says whether a value of YAML suits an option of this type.
func fits(value any, option string) bool {
	switch value.(type) {
	case string:
		return option == "string"
	case int:
		return option == "int"
	case bool:
		return option == "bool"
	case []any:
		return option == "value"
	default:
		return false
	}
}

// TestNakamaKnowsEveryName: Nakama ignores a name that it does not know, without a word.
func TestNakamaKnowsEveryName(t *testing.T) {
	options := nakamaOptions(t)
	used := shipped()
	flatten("", secretsOf(t, defaultSecrets()), used)
	for key, value := range used {
		if !fits(value, options[key]) {
			t.Errorf("%s: %v: Nakama has it as %q", key, value, options[key])
		}
	}
}

// TestOptionsOfTheRealServer compares the recorded names with a program's, or records them.
func TestOptionsOfTheRealServer(t *testing.T) {
	if *nakamaProgram == "" {
		t.Skip("needs -nakama PATH")
	}
	help, _ := exec.Command(*nakamaProgram, "--help").CombinedOutput() // exits with 2 on some platforms
	list := fmt.Sprintf("# The names of Nakama %s's configuration and their types, from its --help:\n"+
		"# go test ./tests/deploy -run Options -nakama PATH -update\n", nakamaVersion)
	for _, m := range regexp.MustCompile(`(?m)^  -(\S+)(?: (\S+))?$`).FindAllStringSubmatch(string(help), -1) {
		if m[2] == "" {
			m[2] = "bool"
		}
		list += m[1] + " " + m[2] + "\n"
	}
	if *update {
		if err := os.WriteFile(optionsFile, []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(optionsFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(recorded) != list {
		t.Errorf("%s has other options than %s: record them with -update and read the diff", *nakamaProgram, optionsFile)
	}
}
