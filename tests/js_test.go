package tests

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestJavaScriptClient plays matches with Nakama's official JavaScript client, in JSON and with its protobuf adapter.
func TestJavaScriptClient(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node, 20 or newer, and then `npm ci` in tests/js")
	}
	if _, err := os.Stat(filepath.Join("js", "node_modules", "@heroiclabs", "nakama-js")); err != nil {
		t.Skip("needs `npm ci` in tests/js")
	}
	on := shared(t)
	for _, formats := range [][]string{{"json", "json"}, {"protobuf", "protobuf"}, {"json", "protobuf"}} {
		t.Run(strings.Join(formats, " against "), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*wholeMatchLimit)
			defer cancel()
			process := exec.CommandContext(ctx, node, "play.mjs", on.url, on.key, formats[0], formats[1])
			process.Dir = "js"
			output, err := process.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			t.Logf("%s", strings.TrimSpace(string(output)))
		})
	}
}
