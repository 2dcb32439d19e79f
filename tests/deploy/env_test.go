package deploy_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checkout is a folder with what `make env` needs.
func checkout(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "deploy"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{".env.example", "local.yml", "deploy/env.sh", "deploy/entrypoint.sh"} {
		write(t, filepath.Join(folder, file), read(t, file))
	}
	return folder
}

func variables(t *testing.T, path string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok && !strings.HasPrefix(line, "#") {
			values[name] = value
		}
	}
	return values
}

func makeEnv(t *testing.T, folder string, args ...string) result {
	t.Helper()
	return script(t, filepath.Join(folder, "deploy/env.sh"), nil, args...)
}

func TestEnvIsMade(t *testing.T) {
	folder := checkout(t)
	r := makeEnv(t, folder)
	if r.exit != 0 || !strings.Contains(r.output, "docker compose up") {
		t.Fatalf("exit code %d, it says %q", r.exit, r.output)
	}
	made, example := variables(t, filepath.Join(folder, ".env")), variables(t, root+".env.example")
	seen := map[string]bool{}
	for name, value := range made {
		if example[name] != "" {
			if value != example[name] {
				t.Errorf("%s is %q, .env.example says %q", name, value, example[name])
			}
			continue
		}
		if !regexp.MustCompile(`^[A-Za-z0-9]{32}$`).MatchString(value) || seen[value] {
			t.Errorf("%s is %q, want 32 letters and digits of its own", name, value)
		}
		seen[value] = true
		if strings.Contains(r.output, value) {
			t.Errorf("%s is printed", name)
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(made)), slices.Sorted(maps.Keys(example))) {
		t.Errorf(".env has %v, .env.example %v", made, example)
	}
	for name := range defaultSecrets() {
		if made[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
	// Every `docker compose` is the production one from then on, and even without that file the secrets are refused.
	if made["COMPOSE_FILE"] != "docker-compose.yml:docker-compose.prod.yml" || made["SET3D_DEVELOPMENT"] != "off" {
		t.Errorf("COMPOSE_FILE is %q, SET3D_DEVELOPMENT is %q", made["COMPOSE_FILE"], made["SET3D_DEVELOPMENT"])
	}
	if state, err := os.Stat(filepath.Join(folder, ".env")); err != nil || state.Mode().Perm() != 0o600 {
		t.Errorf(".env: %v, %v, want 0600", state.Mode(), err)
	}
	if other := checkout(t); makeEnv(t, other).exit == 0 && variables(t, filepath.Join(other, ".env"))["NAKAMA_HTTP_KEY"] == made["NAKAMA_HTTP_KEY"] {
		t.Error("two deployments have the same secret")
	}
}

func TestEnvIsNeverOverwritten(t *testing.T) {
	folder := checkout(t)
	path := filepath.Join(folder, ".env")
	for _, c := range []struct {
		change string // to the .env that was made
		exit   int
		says   string
	}{
		{"", 0, "in order"},
		{"\nNAKAMA_CONSOLE_PASSWORD=password\n", 1, `NAKAMA_CONSOLE_PASSWORD is "password", which everybody knows`},
		{"\nNAKAMA_HTTP_KEY=\n", 1, "NAKAMA_HTTP_KEY is not set"},
		{"\nNAKAMA_HTTP_KEY=defaulthttpkey\nSET3D_DEVELOPMENT=on\nCOMPOSE_FILE=docker-compose.yml\n", 0, "SET3D_DEVELOPMENT is on"},
		{"\nNAKAMA_HTTP_KEY=defaulthttpkey\nSET3D_DEVELOPMENT=on\n", 1, `NAKAMA_HTTP_KEY is "defaulthttpkey"`},
		{"\nSET3D_DEVELOPMENT=on\n", 0, "SET3D_DEVELOPMENT=on has no effect"},
		{"\nCOMPOSE_FILE=docker-compose.yml\n", 1, "COMPOSE_FILE does not name docker-compose.prod.yml"},
		{"\nCOMPOSE_FILE=\nSET3D_DEVELOPMENT=off\n", 1, "COMPOSE_FILE does not name docker-compose.prod.yml"},
		{"\nexport FOO=1\n", 1, `begins with "export": write NAME=value alone`},
		{"\nSET3D_TICK_RATE 5\n", 1, "has no =: write NAME=value"},
		{"\nSET3D_TICK_RATE", 1, "has no =: write NAME=value"}, // the last line, unended
		{"\nSET3D TICK_RATE=5\n", 1, "before the = a name has"},
		{"\nSET3D_TICK_RATE=5\r\n", 1, "has a carriage return"},
		{"\nNAKAMA_CONSOLE_PASSWORD=x\n", 1, "NAKAMA_CONSOLE_PASSWORD has 1 characters, it must have 8 or more"},
	} {
		_ = os.Remove(path)
		if r := makeEnv(t, folder); r.exit != 0 {
			t.Fatalf("exit code %d, it says %q", r.exit, r.output)
		}
		made, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before := string(made) + c.change
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		r := makeEnv(t, folder)
		if r.exit != c.exit || !strings.Contains(r.output, "stays as it is") || !strings.Contains(r.output, c.says) {
			t.Errorf("with %q: exit code %d, it says %q", c.change, r.exit, r.output)
		}
		if r.exit != 0 && (strings.Contains(r.output, "are in order") || !strings.Contains(r.output, "Correct .env")) {
			t.Errorf("with %q: it says %q", c.change, r.output)
		}
		if after, _ := os.ReadFile(path); string(after) != before {
			t.Errorf("with %q: .env has changed to %q", c.change, after)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := makeEnv(t, folder); r.exit != 1 || !strings.Contains(r.output, "chmod 600 .env") {
		t.Errorf("everybody may read .env: exit code %d, it says %q", r.exit, r.output)
	}
}

func TestEnvMakesOneMoreSecret(t *testing.T) {
	folder := checkout(t)
	first, second := makeEnv(t, folder, "secret"), makeEnv(t, folder, "secret")
	if first.exit != 0 || len(first.output) != 33 || first.output == second.output {
		t.Errorf("exit code %d: %q, %q", first.exit, first.output, second.output)
	}
	if r := makeEnv(t, folder, "anything"); r.exit != 2 || !strings.Contains(r.output, "usage") {
		t.Errorf("exit code %d, it says %q", r.exit, r.output)
	}
	if _, err := os.Stat(filepath.Join(folder, ".env")); err == nil {
		t.Error(".env was made")
	}
}
