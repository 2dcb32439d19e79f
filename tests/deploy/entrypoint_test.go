package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// patience is for a shell on a busy machine.
const patience = time.Minute

// defaultSecrets are the variables of the entrypoint with the values that everybody knows.
func defaultSecrets() map[string]string {
	return map[string]string{
		"POSTGRES_PASSWORD": "localdb", "NAKAMA_SERVER_KEY": "defaultkey", "NAKAMA_HTTP_KEY": "defaulthttpkey",
		"NAKAMA_ENCRYPTION_KEY": "defaultencryptionkey", "NAKAMA_REFRESH_ENCRYPTION_KEY": "defaultrefreshencryptionkey",
		"NAKAMA_CONSOLE_USERNAME": "admin", "NAKAMA_CONSOLE_PASSWORD": "password",
		"NAKAMA_CONSOLE_SIGNING_KEY": "defaultsigningkey", "NAKAMA_CONSOLE_MFA_KEY": "the-key-has-to-be-32-bytes-long!",
	}
}

// ownSecrets are the same variables with values of one's own.
func ownSecrets() map[string]string {
	own := map[string]string{}
	for name := range defaultSecrets() {
		own[name] = "own." + strings.ToLower(name)
	}
	own["NAKAMA_CONSOLE_MFA_KEY"] = "own_456789abcdef0123456789abcdef"
	return own
}

// with is a copy with other values, "KEY=value" each; "KEY" alone takes it away.
func with(values map[string]string, changes ...string) map[string]string {
	changed := maps.Clone(values)
	for _, change := range changes {
		key, value, ok := strings.Cut(change, "=")
		if changed[key] = value; !ok {
			delete(changed, key)
		}
	}
	return changed
}

// call is one start of the Nakama that only notes how it was called.
type call struct {
	Process int
	Args    []string
	Secrets string // of the configuration that came through the pipe
}

// fakeNakama writes each call to a file, and fails if its first argument is $FAIL.
const fakeNakama = `#!/bin/sh
args=
for arg; do
  args="$args$arg
"
done
printf '%s\0%s\0%s\0' "$$" "$args" "$(cat /dev/fd/3 2>/dev/null)" >>"$CALLS"
[ "${1:-}" != "${FAIL:-none}" ]
`

// result is what a script did.
type result struct {
	process int
	exit    int
	output  string
	calls   []call
}

func (r result) started() bool { return len(r.calls) == 2 }

// script runs one of deploy/ with nothing in its environment but the given variables.
func script(t *testing.T, path string, env map[string]string, args ...string) result {
	t.Helper()
	folder := t.TempDir()
	fake, calls := filepath.Join(folder, "nakama"), filepath.Join(folder, "calls")
	write(t, fake, fakeNakama)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, path, args...)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "NAKAMA=" + fake, "CALLS=" + calls}
	for key, value := range env {
		command.Env = append(command.Env, key+"="+value)
	}
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); command.ProcessState == nil {
		t.Fatal(err)
	}
	r := result{process: command.Process.Pid, exit: command.ProcessState.ExitCode(), output: output.String()}
	noted, err := os.ReadFile(calls)
	if err != nil {
		return r // nobody called
	}
	parts := strings.Split(string(noted), "\x00")
	for i := 0; i+2 < len(parts); i += 3 {
		process, _ := strconv.Atoi(parts[i])
		r.calls = append(r.calls, call{process, strings.Split(strings.TrimSuffix(parts[i+1], "\n"), "\n"), parts[i+2]})
	}
	return r
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func entrypoint(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	if env["NAKAMA_CONFIG"] == "" {
		env = with(env, "NAKAMA_CONFIG="+root+"local.yml")
	}
	return script(t, root+"deploy/entrypoint.sh", env, args...)
}

// secretsOf is the configuration that the entrypoint makes of the environment.
func secretsOf(t *testing.T, env map[string]string) map[string]any {
	t.Helper()
	r := entrypoint(t, with(env, "SET3D_DEVELOPMENT=on"))
	if !r.started() {
		t.Fatalf("not started, exit code %d: %s", r.exit, r.output)
	}
	var config map[string]any
	if err := yaml.Unmarshal([]byte(r.calls[1].Secrets), &config); err != nil {
		t.Fatalf("%v\n%s", err, r.calls[1].Secrets)
	}
	return config
}

func TestEntrypointBecomesNakama(t *testing.T) {
	r := entrypoint(t, ownSecrets(), "--logger.level", "debug")
	if r.exit != 0 || !r.started() || r.output != "" {
		t.Fatalf("exit code %d, %d calls, it says %q", r.exit, len(r.calls), r.output)
	}
	migrate, serve := r.calls[0], r.calls[1]
	if want := []string{"migrate", "up", "--config", "/dev/fd/3"}; !slices.Equal(migrate.Args, want) {
		t.Errorf("first nakama %q, want %q", migrate.Args, want)
	}
	if want := []string{"--config", root + "local.yml", "--config", "/dev/fd/3", "--logger.level", "debug"}; !slices.Equal(serve.Args, want) {
		t.Errorf("then nakama %q, want %q", serve.Args, want)
	}
	// Else the signal to stop would reach a shell, which hands nothing on.
	if serve.Process != r.process {
		t.Errorf("nakama is process %d, not the script's own %d", serve.Process, r.process)
	}
	if got, want := migrate.Secrets, "database: {address: ['postgres:own.postgres_password@postgres:5432/nakama']}"; got != want {
		t.Errorf("the migration gets %q, want %q", got, want)
	}
}

func TestEntrypointHandsSecretsOver(t *testing.T) {
	env := with(ownSecrets(), "NAKAMA_DATABASE=db.example:5433/game?sslmode=require", "OTHER=x", "SET3D_TICK_RATE=5",
		`SET3D_TEXT=it's "down": 5 # & {so} on\n`)
	got := map[string]any{}
	flatten("", secretsOf(t, env), got)
	slices.SortFunc(got["runtime.env"].([]any), func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	want := map[string]any{
		"database.address":                   []any{"postgres:own.postgres_password@db.example:5433/game?sslmode=require"},
		"socket.server_key":                  "own.nakama_server_key",
		"session.encryption_key":             "own.nakama_encryption_key",
		"session.refresh_encryption_key":     "own.nakama_refresh_encryption_key",
		"console.username":                   "own.nakama_console_username",
		"console.password":                   "own.nakama_console_password",
		"console.signing_key":                "own.nakama_console_signing_key",
		"console.mfa.storage_encryption_key": "own_456789abcdef0123456789abcdef",
		"runtime.http_key":                   "own.nakama_http_key",
		"runtime.env":                        []any{"SET3D_DEVELOPMENT=on", `SET3D_TEXT=it's "down": 5 # & {so} on\n`, "SET3D_TICK_RATE=5"},
	}
	a, _ := json.MarshalIndent(got, "", " ")
	b, _ := json.MarshalIndent(want, "", " ")
	if string(a) != string(b) {
		t.Errorf("nakama gets %s\nwant %s", a, b)
	}
	// Others on the machine see the arguments of a process.
	for _, c := range entrypoint(t, env).calls {
		for name, value := range ownSecrets() {
			if strings.Contains(strings.Join(c.Args, " "), value) {
				t.Errorf("the command line shows %s: %q", name, c.Args)
			}
		}
	}
}

// TestEntrypointRefusesWhatEverybodyKnows tries each of the nine alone: Nakama itself would only warn.
func TestEntrypointRefusesWhatEverybodyKnows(t *testing.T) {
	for name, known := range defaultSecrets() {
		env := with(ownSecrets(), name+"="+known)
		r := entrypoint(t, env)
		if want := name + ` is "` + known + `", which everybody knows`; r.exit != 1 || len(r.calls) > 0 || !strings.Contains(r.output, want) {
			t.Errorf("exit code %d, %d calls, it says %q, want %q", r.exit, len(r.calls), r.output, want)
		}
		for other := range defaultSecrets() {
			if other != name && strings.Contains(r.output, other+" ") {
				t.Errorf("%s is insecure, and it says %q", name, r.output)
			}
		}
		r = entrypoint(t, with(env, "SET3D_DEVELOPMENT=on"))
		if !r.started() || !strings.Contains(r.output, name) || !strings.Contains(r.output, "SET3D_DEVELOPMENT is on") {
			t.Errorf("in development with %s=%s: exit code %d, it says %q", name, known, r.exit, r.output)
		}
	}
}

// TestEntrypointRefusesWhatCannotWork: development is no excuse for these.
func TestEntrypointRefusesWhatCannotWork(t *testing.T) {
	for name := range defaultSecrets() {
		for change, want := range map[string]string{
			name:                   name + " is not set",
			name + "=":             name + " is not set",
			name + "=p'w":          name + " has other characters",
			name + "=pass word":    name + " has other characters",
			name + "=p@w:x/y":      name + " has other characters",
			name + "=line\nfeed":   name + " has other characters",
			name + "=back\\slash":  name + " has other characters",
			name + "=schlüssel-äö": name + " has other characters",
		} {
			r := entrypoint(t, with(ownSecrets(), change, "SET3D_DEVELOPMENT=on"))
			if r.exit != 1 || len(r.calls) > 0 || !strings.Contains(r.output, want) {
				t.Errorf("%q: exit code %d, %d calls, it says %q, want %q", change, r.exit, len(r.calls), r.output, want)
			}
		}
		if testing.Short() {
			break
		}
	}
	r := entrypoint(t, with(ownSecrets(), "NAKAMA_CONFIG=/no/such.yml", "SET3D_DEVELOPMENT=on"))
	if r.exit != 1 || len(r.calls) > 0 || !strings.Contains(r.output, "cannot read /no/such.yml") {
		t.Errorf("without a configuration: exit code %d, it says %q", r.exit, r.output)
	}
}

// TestEntrypointRefusesShortSecrets: eight characters are the least, but development may do without; a name is no secret.
func TestEntrypointRefusesShortSecrets(t *testing.T) {
	for name := range defaultSecrets() {
		short, enough := with(ownSecrets(), name+"=seven77"), with(ownSecrets(), name+"=eight888")
		switch name {
		case "NAKAMA_CONSOLE_MFA_KEY":
			continue
		case "NAKAMA_CONSOLE_USERNAME":
			enough, short = with(ownSecrets(), name+"=x"), nil
		}
		if r := entrypoint(t, enough); !r.started() || r.output != "" {
			t.Errorf("%s: exit code %d, it says %q", name, r.exit, r.output)
		}
		if short == nil {
			continue
		}
		if r := entrypoint(t, short); r.exit != 1 || len(r.calls) > 0 || !strings.Contains(r.output, name+" has 7 characters, it must have 8 or more") {
			t.Errorf("%s: exit code %d, it says %q", name, r.exit, r.output)
		}
		if r := entrypoint(t, with(short, "SET3D_DEVELOPMENT=on")); !r.started() {
			t.Errorf("%s in development: exit code %d, it says %q", name, r.exit, r.output)
		}
	}
}

// TestEntrypointRefusesKeysThatNakamaRefuses: it would end with them, so development is no excuse.
func TestEntrypointRefusesKeysThatNakamaRefuses(t *testing.T) {
	for change, want := range map[string]string{
		"NAKAMA_CONSOLE_MFA_KEY=" + strings.Repeat("k", 31): "NAKAMA_CONSOLE_MFA_KEY has 31 characters, it must have 32 exactly",
		"NAKAMA_CONSOLE_MFA_KEY=" + strings.Repeat("k", 33): "NAKAMA_CONSOLE_MFA_KEY has 33 characters, it must have 32 exactly",
		"NAKAMA_ENCRYPTION_KEY=" + ownSecrets()["NAKAMA_REFRESH_ENCRYPTION_KEY"]: "NAKAMA_ENCRYPTION_KEY and " +
			"NAKAMA_REFRESH_ENCRYPTION_KEY are the same",
	} {
		r := entrypoint(t, with(ownSecrets(), change, "SET3D_DEVELOPMENT=on"))
		if r.exit != 1 || len(r.calls) > 0 || !strings.Contains(r.output, want) {
			t.Errorf("%q: exit code %d, %d calls, it says %q, want %q", change, r.exit, len(r.calls), r.output, want)
		}
	}
}

// TestEntrypointChecksTheQueues: one message less than shipped in a queue, or Nakama's own size, which holds where nothing is said.
func TestEntrypointChecksTheQueues(t *testing.T) {
	local := read(t, "local.yml")
	for _, queue := range []string{
		"match.signal_queue_size", "match.call_queue_size", "match.input_queue_size", "match.join_attempt_queue_size", "socket.outgoing_queue_size",
	} {
		size := shipped()[queue].(int)
		_, key, _ := strings.Cut(queue, ".")
		line := "  " + key + ": "
		for replacement, want := range map[string]string{
			line + strconv.Itoa(size-1): queue + " is " + strconv.Itoa(size-1) + ", it must be " + strconv.Itoa(size) + " or more",
			"  # " + key:                "does not set " + queue,
			line + "many":               queue + " is not a number",
		} {
			config := filepath.Join(t.TempDir(), "local.yml")
			write(t, config, strings.Replace(local, line+strconv.Itoa(size), replacement, 1))
			r := entrypoint(t, with(ownSecrets(), "NAKAMA_CONFIG="+config))
			if r.exit != 1 || len(r.calls) > 0 || !strings.Contains(r.output, want) {
				t.Errorf("%q: exit code %d, it says %q, want %q", replacement, r.exit, r.output, want)
			}
			usable := !strings.Contains(want, "number")
			if r := entrypoint(t, with(ownSecrets(), "NAKAMA_CONFIG="+config, "SET3D_DEVELOPMENT=on")); r.started() != usable {
				t.Errorf("%q in development: started %t, it says %q", replacement, r.started(), r.output)
			}
		}
		config := filepath.Join(t.TempDir(), "local.yml")
		write(t, config, strings.Replace(local, line+strconv.Itoa(size), line+strconv.Itoa(size*10)+" # more", 1))
		if r := entrypoint(t, with(ownSecrets(), "NAKAMA_CONFIG="+config)); !r.started() || r.output != "" {
			t.Errorf("with a larger %s: exit code %d, it says %q", queue, r.exit, r.output)
		}
	}
}

func TestEntrypointOnlyChecks(t *testing.T) {
	r := entrypoint(t, ownSecrets(), "check")
	if r.exit != 0 || len(r.calls) > 0 || !strings.Contains(r.output, "in order") {
		t.Errorf("exit code %d, %d calls, it says %q", r.exit, len(r.calls), r.output)
	}
	r = entrypoint(t, defaultSecrets(), "check")
	if r.exit != 1 || len(r.calls) > 0 || strings.Count(r.output, "which everybody knows") != len(defaultSecrets()) {
		t.Errorf("exit code %d, %d calls, it says %q", r.exit, len(r.calls), r.output)
	}
	r = entrypoint(t, with(defaultSecrets(), "SET3D_DEVELOPMENT=on"), "check")
	if r.exit != 0 || len(r.calls) > 0 || strings.Contains(r.output, "in order") {
		t.Errorf("in development: exit code %d, %d calls, it says %q", r.exit, len(r.calls), r.output)
	}
}

func TestEntrypointStopsWhenTheMigrationFails(t *testing.T) {
	r := entrypoint(t, with(ownSecrets(), "FAIL=migrate"))
	if r.exit != 1 || len(r.calls) != 1 {
		t.Errorf("exit code %d, %d calls", r.exit, len(r.calls))
	}
}
