// Package deploy_test checks what an operator runs: that the versions of the server, of its libraries and of Go are the same
// everywhere, and that the configuration says what the plugin relies on. It starts nothing.
package deploy_test

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// What belongs together: a plugin loads only into the server that was built with the same of each. To move to another Nakama,
// look these up in its release and change them all.
const (
	nakamaVersion   = "3.40.0"
	commonVersion   = "v1.47.0"
	protobufVersion = "v1.36.11"
	goVersion       = "1.26.5"
)

func TestVersionsAgree(t *testing.T) {
	for _, want := range []struct {
		file  string
		times int
		text  string // a regular expression, for a whole line
	}{
		{"Dockerfile", 1, `ARG NAKAMA_VERSION=` + nakamaVersion},
		{"Dockerfile", 1, `FROM heroiclabs/nakama-pluginbuilder:\$\{NAKAMA_VERSION\} AS builder`},
		{"Dockerfile", 1, `FROM heroiclabs/nakama:\$\{NAKAMA_VERSION\}`},
		{"Dockerfile", 2, `FROM .*`},
		{"docker-compose.yml", 1, `    image: set3d-nakama:` + nakamaVersion},
		{"README.md", 1, `.*Nakama ` + nakamaVersion + `.*`},
		{"README.md", 1, `.*Go ` + goVersion + ` or newer.*`},
		{"go.mod", 1, `go ` + goVersion},
		{"go.mod", 0, `toolchain .*`},
		{"go.mod", 1, `\s*github.com/heroiclabs/nakama-common ` + commonVersion + `( // indirect)?`},
		{"go.mod", 1, `\s*google.golang.org/protobuf ` + protobufVersion + `( // indirect)?`},
		{"Makefile", 1, `PROTOC_GEN_GO\s*:= ` + protobufVersion},
		{"proto/set3d/v1/wire.pb.go", 1, `//\s+protoc-gen-go ` + protobufVersion},
	} {
		pattern := regexp.MustCompile(`(?m)^` + want.text + `$`)
		if found := len(pattern.FindAllString(read(t, want.file), -1)); found != want.times {
			t.Errorf("%s has %d lines like %q, want %d", want.file, found, want.text, want.times)
		}
	}
}

// TestNakamaConfiguration wants exactly these settings in local.yml: a new one is added here with a thought.
func TestNakamaConfiguration(t *testing.T) {
	want := map[string]any{
		"name":                             "set3d-1",
		"shutdown_grace_sec":               30,
		"logger.level":                     "info",
		"logger.stdout":                    true,
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
		"match.label_update_interval_ms":   500,
		"tracker.event_queue_size":         8192,
		"matchmaker.interval_sec":          2,
		"matchmaker.max_intervals":         3,
		"metrics.prometheus_port":          9100,
		"metrics.reporting_freq_sec":       10,
		"runtime.env":                      []any{},
	}
	got := map[string]any{}
	flatten("", load[map[string]any](t, "local.yml"), got)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, ok := got[key]; !ok || !equal(value, want[key]) {
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

// service is the part of a compose service that matters here.
type service struct {
	Image       string
	Build       string
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Environment map[string]string
	Ports       []any
	Entrypoint  []string
	Healthcheck struct{ Test []string }
	StopGrace   string `yaml:"stop_grace_period"`
}

func services(t *testing.T) (postgres, nakama service) {
	t.Helper()
	compose := load[struct{ Services map[string]service }](t, "docker-compose.yml")
	return compose.Services["postgres"], compose.Services["nakama"]
}

func TestComposeStartsInOrder(t *testing.T) {
	postgres, nakama := services(t)
	if got := nakama.DependsOn["postgres"].Condition; got != "service_healthy" {
		t.Errorf("nakama waits for postgres to be %q, want service_healthy", got)
	}
	if want := []string{"CMD", "pg_isready", "-U", "postgres", "-d", "nakama"}; !slices.Equal(postgres.Healthcheck.Test, want) {
		t.Errorf("postgres is healthy by %q, want %q", postgres.Healthcheck.Test, want)
	}
	// The image has no curl.
	if want := []string{"CMD", "/nakama/nakama", "healthcheck"}; !slices.Equal(nakama.Healthcheck.Test, want) {
		t.Errorf("nakama is healthy by %q, want %q", nakama.Healthcheck.Test, want)
	}
	if len(nakama.Entrypoint) != 3 || nakama.Entrypoint[0] != "/bin/sh" || nakama.Entrypoint[1] != "-ec" {
		t.Fatalf("nakama starts with %q, want /bin/sh -ec SCRIPT: -x would log the secrets", nakama.Entrypoint)
	}
	script := nakama.Entrypoint[2]
	if !strings.Contains(script, "/nakama/nakama migrate up ") || !strings.Contains(script, "\nexec /nakama/nakama --config /nakama/data/local.yml") {
		t.Errorf("the entrypoint does not migrate and then exec nakama:\n%s", script)
	}
}

func TestComposeStopsGently(t *testing.T) {
	_, nakama := services(t)
	stop, err := time.ParseDuration(nakama.StopGrace)
	if err != nil {
		t.Fatalf("stop_grace_period: %v", err)
	}
	config := load[struct {
		Grace int `yaml:"shutdown_grace_sec"`
	}](t, "local.yml")
	if grace := time.Duration(config.Grace) * time.Second; grace <= 0 || stop < grace+10*time.Second {
		t.Errorf("matches get %v to end, and Docker kills after %v: want more than 0, and 10 s more", grace, stop)
	}
}

func TestComposePublishesTwoPorts(t *testing.T) {
	postgres, nakama := services(t)
	if len(postgres.Ports) > 0 {
		t.Errorf("postgres publishes %q, want nothing", postgres.Ports)
	}
	// Only this machine reaches a server with the development values.
	game := map[string]any{"target": 7350, "published": "7350", "host_ip": "${SET3D_BIND:-127.0.0.1}"}
	if want := []any{game, "127.0.0.1:7351:7351"}; !reflect.DeepEqual(nakama.Ports, want) {
		t.Errorf("nakama publishes %v, want %v", nakama.Ports, want)
	}
}

// TestSecretsHaveOnePlace compares the variables of the compose file with .env.example: the same names and the same
// development values.
func TestSecretsHaveOnePlace(t *testing.T) {
	example := map[string]string{}
	for line := range strings.Lines(read(t, ".env.example")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			example[name] = value
		}
	}
	used := map[string]string{}
	for _, m := range regexp.MustCompile(`\$\{(\w+):-([^}]*)\}`).FindAllStringSubmatch(read(t, "docker-compose.yml"), -1) {
		used[m[1]] = m[2]
	}
	if !maps.Equal(example, used) {
		t.Errorf(".env.example has\n%v\nand docker-compose.yml\n%v", example, used)
	}
	if ignored := strings.Split(read(t, ".gitignore"), "\n"); !slices.Contains(ignored, ".env") {
		t.Error(".gitignore does not name .env")
	}
	_, nakama := services(t)
	for name := range nakama.Environment {
		if !strings.Contains(nakama.Entrypoint[2], `"$$`+name+`"`) {
			t.Errorf("the entrypoint does not use %s", name)
		}
	}
}

// TestBuildContext wants .dockerignore to let in what the Dockerfile copies, and nothing else.
func TestBuildContext(t *testing.T) {
	var copied, let []string
	for line := range strings.Lines(read(t, "Dockerfile")) {
		words := strings.Fields(line)
		if len(words) > 2 && words[0] == "COPY" && !strings.HasPrefix(words[1], "--from") {
			copied = append(copied, words[1:len(words)-1]...)
		}
	}
	for line := range strings.Lines(read(t, ".dockerignore")) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			let = append(let, name)
		}
	}
	slices.Sort(copied)
	slices.Sort(let)
	if !slices.Equal(copied, let) {
		t.Errorf("the Dockerfile copies %q, .dockerignore lets in %q", copied, let)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func load[T any](t *testing.T, file string) T {
	t.Helper()
	var v T
	if err := yaml.Unmarshal([]byte(read(t, file)), &v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// flatten writes nested maps as dotted keys.
func flatten(path string, from map[string]any, to map[string]any) {
	for key, value := range from {
		if nested, ok := value.(map[string]any); ok {
			flatten(path+key+".", nested, to)
			continue
		}
		to[path+key] = value
	}
}

func equal(a, b any) bool {
	if list, ok := a.([]any); ok {
		other, ok := b.([]any)
		return ok && slices.Equal(list, other)
	}
	return a == b
}
