package deploy_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func git(t *testing.T, args ...string) (output string, exit int) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	command := exec.Command("git", args...)
	command.Dir = root
	raw, err := command.Output()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	return string(raw), command.ProcessState.ExitCode()
}

// TestCheckoutHasUnixLineEnds checks the files out as a clone with core.autocrlf=true does: a shell, a container and Nakama
// read them on Linux, whatever machine that clone is on.
func TestCheckoutHasUnixLineEnds(t *testing.T) {
	folder := t.TempDir() + "/"
	if _, exit := git(t, "-c", "core.autocrlf=true", "checkout-index", "--all", "--prefix="+folder); exit != 0 {
		t.Skip("needs the repository")
	}
	seen := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if seen++; bytes.Contains(raw, []byte("\r\n")) && !bytes.ContainsRune(raw, 0) {
			t.Errorf("%s has carriage returns", strings.TrimPrefix(path, folder))
		}
		return err
	})
	if err != nil || seen < 100 {
		t.Errorf("%d files, %v", seen, err)
	}
}

// TestGitNeverSeesSecrets names files with secrets and with players' data, and those beside them that git has.
func TestGitNeverSeesSecrets(t *testing.T) {
	if _, exit := git(t, "rev-parse"); exit != 0 {
		t.Skip("needs the repository")
	}
	for _, file := range []string{".env", ".env.old", ".env.2026-11-30", "deploy/.env", "nakama-2026-11-30.dump", "nakama-2026-11-30.dump.Ab3xYz", "backups/anything"} {
		if _, exit := git(t, "check-ignore", "--quiet", "--no-index", file); exit != 0 {
			t.Errorf("git would take %s", file)
		}
	}
	if _, exit := git(t, "check-ignore", "--quiet", "--no-index", ".env.example"); exit == 0 {
		t.Error("git would not take .env.example")
	}
	if lines := strings.Split(read(t, ".dockerignore"), "\n"); !slices.Contains(lines, "*") || slices.Contains(lines, "!.env") {
		t.Error(".dockerignore lets .env in")
	}
}
