// Package deploy_test checks what an operator runs: that the versions of the server, of its libraries and of Go are the same
// everywhere, that the configuration says what the plugin relies on and nothing that Nakama does not know, and that the
// scripts of the image and of `make env` do what they say, with a Nakama that only notes how it was called.
//
// With -nakama PATH, the program of a real Nakama of the same version, it also compares with that.
package deploy_test

import (
	"flag"
	"os"
	"testing"

	"gopkg.in/yaml.v3"
)

var (
	nakamaProgram = flag.String("nakama", "", "compare with this program of Nakama, too")
	update        = flag.Bool("update", false, "with -nakama: rewrite testdata/nakama-config.txt")
)

// root is the repository.
const root = "../../"

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(root + file)
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
