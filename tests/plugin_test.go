package tests

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// TestPlugin builds the file that Nakama loads, opens it in a program built with the same flags, runs its InitModule, and plays a match.
func TestPlugin(t *testing.T) {
	plugin, host := buildPlugin(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	t.Run("plays a match", func(t *testing.T) {
		s := &server{key: "defaultkey", httpKey: "defaulthttpkey"}
		if err := theLab.launch(ctx, s, exec.Command(host, plugin, hooksSetting, "SET3D_AFTER_END_MS=1000")); err != nil {
			t.Fatal(err)
		}
		defer func() {
			for _, problem := range s.stop() {
				t.Error(problem)
			}
		}()
		if s.limits.AfterEndMs != 1_000 || !s.hooks {
			t.Errorf("the plugin has not got its settings: %s", s)
		}
		request := client.CreateMatch{Seats: 2, TestDeck: boardEND, Rules: quick(nil)}
		x := open(t, s, request, asJSON, asProtobuf)
		a, b := x.players[0], x.players[1]
		a.wins(endS1)
		b.wins(endS2)
		if end := a.ended(); end.GetReason() != wire.EndReason_END_REASON_NO_SETS_LEFT {
			t.Errorf("end {%v}", end)
		}
		b.notice(wire.NoticeKind_NOTICE_KIND_CLOSED)
	})
	t.Run("refuses bad settings", func(t *testing.T) {
		for setting, want := range map[string]string{
			"SET3D_TICK_RATE=0":     `SET3D_TICK_RATE is "0", allowed is 1 to 60`,
			"SET3D_TICKRATE=5":      "unknown key SET3D_TICKRATE, the nearest known one is SET3D_TICK_RATE",
			"SET3D_DEVELOPMENT=off": "everybody knows Nakama's default of socket.server_key",
			"SET3D_FAST_LANE=":      `SET3D_FAST_LANE is "", allowed is on or off`,
		} {
			process := exec.CommandContext(ctx, host, plugin, setting)
			output, err := process.CombinedOutput()
			if err == nil || !strings.Contains(string(output), want) {
				t.Errorf("with %s it ends with %v and says %s, want %s", setting, err, output, want)
			}
		}
	})
}

// buildPlugin builds the plugin and its host. Both need a C compiler.
func buildPlugin(t *testing.T) (plugin, host string) {
	t.Helper()
	if testing.Short() {
		t.Skip("building a plugin takes a while")
	}
	cgo, err := exec.Command("go", "env", "CGO_ENABLED", "CC").Output()
	if err != nil {
		t.Fatal(err)
	}
	enabled, compiler, _ := strings.Cut(strings.TrimSpace(string(cgo)), "\n")
	if _, err := exec.LookPath(strings.Fields(compiler + " cc")[0]); err != nil || enabled != "1" {
		t.Skipf("a plugin needs cgo and a C compiler: CGO_ENABLED=%s, %v", enabled, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), buildLimit)
	defer cancel()
	folder := t.TempDir()
	plugin, host = filepath.Join(folder, "set3d.so"), filepath.Join(folder, "pluginhost")
	for _, args := range [][]string{
		{"build", "-trimpath", "-buildmode=plugin", "-o", plugin, "."},
		{"build", "-trimpath", "-o", host, "./tests/pluginhost"},
	} {
		command := exec.CommandContext(ctx, "go", args...)
		command.Dir = ".."
		begun := time.Now()
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, bytes.TrimSpace(output))
		}
		t.Logf("go %s: %v", strings.Join(args[:3], " "), time.Since(begun).Round(time.Millisecond))
	}
	return plugin, host
}
