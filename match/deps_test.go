package match

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// The plugin may link nothing but these, at the server's exact versions: Nakama refuses a plugin that shares a package
// with it in another version.
var linked = map[string]string{
	"github.com/heroiclabs/nakama-common": "v1.47.0",
	"google.golang.org/protobuf":          "v1.36.11",
}

func TestPluginLinksOnlyWhatNakamaHas(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Module", "set3d").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	seen := map[string]bool{}
	for decoder.More() {
		var p struct {
			ImportPath string
			Standard   bool
			Module     *struct{ Path, Version string }
		}
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.Standard || p.Module == nil || p.Module.Path == "set3d" {
			continue
		}
		seen[p.Module.Path] = true
		if linked[p.Module.Path] != p.Module.Version {
			t.Errorf("the plugin links %s of %s %s", p.ImportPath, p.Module.Path, p.Module.Version)
		}
	}
	if len(seen) != len(linked) {
		t.Errorf("the plugin links %v, want %v", seen, linked)
	}
}

// This package, those below it and the domain are all of ours that the plugin links.
func TestPluginLinksOnlyItsOwn(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "set3d").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	allowed := " set3d set3d/match set3d/domain set3d/match/archive set3d/match/rating set3d/proto/set3d/v1 "
	for _, path := range strings.Fields(string(out)) {
		if (path == "set3d" || strings.HasPrefix(path, "set3d/")) && !strings.Contains(allowed, " "+path+" ") {
			t.Errorf("the plugin links %s", path)
		}
	}
}
