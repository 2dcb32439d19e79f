package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fakeDocker plays pg_dump and pg_restore: it writes a dump, and fails after half of it or when it reads it if $BREAK says so.
const fakeDocker = `#!/bin/sh
case "$*" in
  'compose exec -T postgres pg_dump -U postgres -Fc nakama')
    printf 'half of a dump'
    [ "${BREAK:-}" != dump ] || exit 1
    printf ', and the rest' ;;
  'compose exec -T postgres pg_restore --list')
    [ "$(cat)" = 'half of a dump, and the rest' ] || exit 2
    [ "${BREAK:-}" != list ] || exit 1 ;;
  *) echo "unknown: $*" >&2; exit 3 ;;
esac
`

// backup runs deploy/backup.sh with that docker in a copy of the repository, and returns what lies in the folder afterwards.
func backup(t *testing.T, folder string, env map[string]string, args ...string) (result, []os.DirEntry) {
	t.Helper()
	copied := t.TempDir()
	if err := os.Mkdir(filepath.Join(copied, "deploy"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(copied, "deploy/backup.sh"), read(t, "deploy/backup.sh"))
	write(t, filepath.Join(copied, "docker"), fakeDocker)
	r := script(t, filepath.Join(copied, "deploy/backup.sh"), with(env, "PATH="+copied+":"+os.Getenv("PATH")), args...)
	if folder == "" {
		folder = filepath.Join(copied, "backups")
		if state, err := os.Stat(folder); err != nil {
			t.Error(err)
		} else if state.Mode().Perm() != 0o700 {
			t.Errorf("the folder that it makes is %v, want 0700", state.Mode())
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatalf("%v, it says %q", err, r.output)
	}
	return r, entries
}

func TestBackup(t *testing.T) {
	given := t.TempDir()
	for folder, args := range map[string][]string{"": nil, given: {given}} {
		r, entries := backup(t, folder, map[string]string{}, args...)
		if r.exit != 0 || len(entries) != 1 {
			t.Fatalf("exit code %d, %v, it says %q", r.exit, entries, r.output)
		}
		name := entries[0].Name()
		if !regexp.MustCompile(`^nakama-\d{4}-\d\d-\d\dT\d{6}Z\.dump$`).MatchString(name) || !strings.HasSuffix(r.output, "/"+name+"\n") {
			t.Errorf("the dump is %q, it says %q", name, r.output)
		}
		info, err := entries[0].Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v: want 0600, since it has the players' data", info.Mode(), err)
		}
		if raw, err := os.ReadFile(strings.TrimSuffix(r.output, "\n")); string(raw) != "half of a dump, and the rest" {
			t.Errorf("the dump has %q, %v", raw, err)
		}
	}
}

// TestBrokenBackup wants no file left that could be taken for a backup.
func TestBrokenBackup(t *testing.T) {
	for _, step := range []string{"dump", "list"} {
		if r, entries := backup(t, "", map[string]string{"BREAK": step}); r.exit == 0 || len(entries) != 0 {
			t.Errorf("%s breaks: exit code %d, it leaves %v", step, r.exit, entries)
		}
	}
}
