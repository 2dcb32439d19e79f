package deploy_test

import (
	"debug/buildinfo"
	"regexp"
	"testing"
)

// What belongs together: a plugin loads only into the server that was built with the same of each. To move to another Nakama,
// look these up in its release and change them here; the test then names every place that still says otherwise.
const (
	nakamaVersion   = "3.40.0"
	commonVersion   = "1.47.0"
	protobufVersion = "1.36.11"
	goVersion       = "1.26.5"
)

const (
	commonModule   = "github.com/heroiclabs/nakama-common"
	protobufModule = "google.golang.org/protobuf"
)

func TestVersionsAgree(t *testing.T) {
	for _, place := range []struct{ file, text, want string }{
		{"Dockerfile", `(?m)^ARG NAKAMA_VERSION=(\S+)$`, nakamaVersion},
		{"docker-compose.yml", `(?m)^    image: set3d-nakama:(\S+)$`, nakamaVersion},
		{"README.md", `Nakama (\d+\.\d+\.\d+)`, nakamaVersion},
		{"docs/operations.md", `Nakama (\d+\.\d+\.\d+)`, nakamaVersion},
		{"docs/operations.md", "nakama-common` \\| v([0-9.]+)", commonVersion},
		{"docs/operations.md", "protobuf` \\| v([0-9.]+)", protobufVersion},
		{"docs/operations.md", `\| Go \| (\S+) \|`, goVersion},
		{"README.md", `Go (\d+\.\d+\.\d+) or newer`, goVersion},
		{"go.mod", `(?m)^go (\S+)$`, goVersion},
		{"go.mod", `(?m)^\s*github.com/heroiclabs/nakama-common v(\S+)`, commonVersion},
		{"go.mod", `(?m)^\s*google.golang.org/protobuf v(\S+)`, protobufVersion},
		{"Makefile", `(?m)^PROTOC_GEN_GO\s*:= v(\S+)$`, protobufVersion},
		{"proto/set3d/v1/wire.pb.go", `(?m)^//\s+protoc-gen-go v(\S+)$`, protobufVersion},
		{"match/deps_test.go", `nakama-common":\s+"v([^"]+)"`, commonVersion},
		{"match/deps_test.go", `protobuf":\s+"v([^"]+)"`, protobufVersion},
	} {
		found := regexp.MustCompile(place.text).FindAllStringSubmatch(read(t, place.file), -1)
		if len(found) == 0 {
			t.Errorf("%s has nothing like %s", place.file, place.text)
		}
		for _, m := range found {
			if m[1] != place.want {
				t.Errorf("%s says %q, want version %s", place.file, m[0], place.want)
			}
		}
	}
}

// TestOneVersionForBothStages: a plugin of one version in a server of another does not load. No toolchain line makes Go fetch
// another compiler than the builder's, and no platform is named, so that the image is built for the machine that builds it.
func TestOneVersionForBothStages(t *testing.T) {
	for _, place := range []struct {
		file, text string
		times      int
	}{
		{"Dockerfile", `(?m)^FROM .*$`, 2},
		{"Dockerfile", `(?m)^FROM heroiclabs/nakama-pluginbuilder:\$\{NAKAMA_VERSION\} AS builder$`, 1},
		{"Dockerfile", `(?m)^FROM heroiclabs/nakama:\$\{NAKAMA_VERSION\}$`, 1},
		{"Dockerfile", `(?m)^ENV GOTOOLCHAIN=local$`, 1},
		{"Dockerfile", `(?m)^RUN go build -trimpath -buildmode=plugin `, 1},
		{"Dockerfile", `--platform|GOARCH|GOOS`, 0},
		{"docker-compose.yml", `platform:`, 0},
		{"docker-compose.prod.yml", `platform:`, 0},
		{"go.mod", `(?m)^toolchain `, 0},
	} {
		if found := len(regexp.MustCompile(place.text).FindAllString(read(t, place.file), -1)); found != place.times {
			t.Errorf("%s has %d times %s, want %d", place.file, found, place.text, place.times)
		}
	}
}

// TestVersionsOfTheRealServer reads what a program of Nakama was built with.
func TestVersionsOfTheRealServer(t *testing.T) {
	if *nakamaProgram == "" {
		t.Skip("needs -nakama PATH")
	}
	built, err := buildinfo.ReadFile(*nakamaProgram)
	if err != nil {
		t.Fatal(err)
	}
	if want := "go" + goVersion; built.GoVersion != want {
		t.Errorf("%s was built with %s, the plugin with %s", *nakamaProgram, built.GoVersion, want)
	}
	want := map[string]string{commonModule: "v" + commonVersion, protobufModule: "v" + protobufVersion}
	for _, dep := range built.Deps {
		if version, ok := want[dep.Path]; ok && dep.Version != version {
			t.Errorf("%s has %s %s, the plugin %s", *nakamaProgram, dep.Path, dep.Version, version)
		}
		delete(want, dep.Path)
	}
	if len(want) > 0 {
		t.Errorf("%s does not say its version of %v", *nakamaProgram, want)
	}
}
