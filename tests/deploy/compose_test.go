package deploy_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// service is the part of a compose service that matters here.
type service struct {
	Image       string
	Build       string
	DependsOn   map[string]dependency `yaml:"depends_on"`
	EnvFile     []map[string]any      `yaml:"env_file"`
	Environment map[string]string
	Ports       yaml.Node
	Entrypoint  []string
	Command     []string
	Restart     string
	Healthcheck struct {
		Test    []string
		Timeout string
	}
	StopGrace  string `yaml:"stop_grace_period"`
	StopSignal string `yaml:"stop_signal"`
	Logging    struct{ Options map[string]string }
	Deploy     struct {
		Resources struct{ Limits map[string]any }
	}
	SwapLimit string   `yaml:"memswap_limit"`
	ReadOnly  bool     `yaml:"read_only"`
	CapDrop   []string `yaml:"cap_drop"`
}

type dependency struct {
	Condition string
	Restart   bool
}

func services(t *testing.T, file string) (postgres, nakama service) {
	t.Helper()
	compose := load[struct {
		Name     string
		Services map[string]service
	}](t, file)
	if compose.Name != "set3d" {
		t.Errorf("%s is project %q: another one has other volumes", file, compose.Name)
	}
	return compose.Services["postgres"], compose.Services["nakama"]
}

func ports(t *testing.T, s service) []any {
	t.Helper()
	var list []any
	if s.Ports.IsZero() {
		return nil
	}
	if err := s.Ports.Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestComposeStartsInOrder(t *testing.T) {
	postgres, nakama := services(t, "docker-compose.yml")
	if got := nakama.DependsOn["postgres"].Condition; got != "service_healthy" {
		t.Errorf("nakama waits for postgres to be %q, want service_healthy", got)
	}
	// The temporary server that initializes a database listens on the Unix socket only.
	if want := []string{"CMD", "pg_isready", "-h", "127.0.0.1", "-U", "postgres", "-d", "nakama"}; !slices.Equal(postgres.Healthcheck.Test, want) {
		t.Errorf("postgres is healthy by %q, want %q", postgres.Healthcheck.Test, want)
	}
	if want := []string{"CMD", "/nakama/healthcheck.sh"}; !slices.Equal(nakama.Healthcheck.Test, want) {
		t.Errorf("nakama is healthy by %q, want %q", nakama.Healthcheck.Test, want)
	}
	if len(nakama.Entrypoint)+len(nakama.Command) > 0 {
		t.Errorf("nakama starts by %q %q, want the image's entrypoint", nakama.Entrypoint, nakama.Command)
	}
	for name, s := range map[string]service{"postgres": postgres, "nakama": nakama} {
		if s.Restart != "unless-stopped" {
			t.Errorf("%s restarts %q, want unless-stopped", name, s.Restart)
		}
	}
}

func TestImageStarts(t *testing.T) {
	dockerfile := read(t, "Dockerfile")
	for _, line := range []string{
		"COPY --chmod=755 deploy/entrypoint.sh deploy/healthcheck.sh /nakama/\n",
		"RUN test -s /nakama/data/modules/set3d.so && /nakama/nakama check --runtime.path /nakama/data/modules\n",
		`CMD ["/nakama/healthcheck.sh"]` + "\n",
		`ENTRYPOINT ["tini", "--", "/nakama/entrypoint.sh"]` + "\n",
		"USER 65534:65534\n",
	} {
		if strings.Count(dockerfile, line) != 1 {
			t.Errorf("the Dockerfile has not once %q", line)
		}
	}
}

// TestComposeStopsGently wants Nakama to outlive its matches, PostgreSQL to outlive Nakama also where both are stopped
// at once, and Docker to be done before systemd kills it: 90 s by default, of which Docker takes 5 s for itself.
func TestComposeStopsGently(t *testing.T) {
	postgres, nakama := services(t, "docker-compose.yml")
	grace := time.Duration(shipped()["shutdown_grace_sec"].(int)) * time.Second
	if stop := seconds(t, nakama.StopGrace); grace <= 0 || stop < grace+10*time.Second {
		t.Errorf("matches get %v to end, and Docker kills after %v: want more than 0, and 10 s more", grace, stop)
	}
	if stop, least := seconds(t, postgres.StopGrace), seconds(t, nakama.StopGrace)+20*time.Second; stop < least || stop > 80*time.Second {
		t.Errorf("Docker kills PostgreSQL after %v, want %v to 80 s", stop, least)
	}
	// A smart shutdown. The image's own SIGINT cuts connections off.
	if postgres.StopSignal != "SIGTERM" || nakama.StopSignal != "" {
		t.Errorf("PostgreSQL is stopped by %q, Nakama by %q, want SIGTERM and the image's own", postgres.StopSignal, nakama.StopSignal)
	}
	// A smart shutdown waits for Nakama, so that has to be stopped first when PostgreSQL is changed.
	if !nakama.DependsOn["postgres"].Restart {
		t.Error("nakama is not restarted with postgres")
	}
}

func seconds(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("stop_grace_period: %v", err)
	}
	return d
}

func TestWhatIsPublished(t *testing.T) {
	// Only this machine reaches a server with the development values.
	game := map[string]any{"target": 7350, "published": "7350", "host_ip": "${NAKAMA_BIND:-127.0.0.1}"}
	for file, want := range map[string][]any{
		"docker-compose.yml":      {game, "127.0.0.1:7351:7351"},
		"docker-compose.prod.yml": {game},
	} {
		postgres, nakama := services(t, file)
		if got := ports(t, postgres); got != nil {
			t.Errorf("%s: postgres publishes %v, want nothing", file, got)
		}
		if got := ports(t, nakama); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: nakama publishes %v, want %v", file, got, want)
		}
		if override := file != "docker-compose.yml"; override && nakama.Ports.Tag != "!override" {
			t.Errorf("%s: ports is tagged %q: without !override they are added to those of development", file, nakama.Ports.Tag)
		}
	}
}

var variable = regexp.MustCompile(`\$\{(\w+)(:[-?])([^}]*)\}`)

// TestDevelopmentIsAskedForByName: without an .env every secret is the one that everybody knows, and the file says so.
func TestDevelopmentIsAskedForByName(t *testing.T) {
	_, nakama := services(t, "docker-compose.yml")
	if got := nakama.Environment["SET3D_DEVELOPMENT"]; got != "${SET3D_DEVELOPMENT:-on}" {
		t.Errorf("SET3D_DEVELOPMENT is %q", got)
	}
	for name, known := range defaultSecrets() {
		if got, want := nakama.Environment[name], "${"+name+":-"+known+"}"; got != want {
			t.Errorf("docker-compose.yml: %s is %q, want %q", name, got, want)
		}
	}
	want := []map[string]any{{"path": ".env", "required": false}}
	if !reflect.DeepEqual(nakama.EnvFile, want) {
		t.Errorf("settings come from %v, want .env, which need not be there", nakama.EnvFile)
	}
}

// TestProductionHasNoDefaults: with the production file a missing secret stops the start, and development is off.
func TestProductionHasNoDefaults(t *testing.T) {
	postgres, nakama := services(t, "docker-compose.prod.yml")
	if got := nakama.Environment["SET3D_DEVELOPMENT"]; got != "off" {
		t.Errorf("SET3D_DEVELOPMENT is %q, want off", got)
	}
	for name := range defaultSecrets() {
		if m := variable.FindStringSubmatch(nakama.Environment[name]); m == nil || m[1] != name || m[2] != ":?" || m[3] == "" {
			t.Errorf("docker-compose.prod.yml: nakama's %s is %q, want it required", name, nakama.Environment[name])
		}
	}
	if got, want := postgres.Environment["POSTGRES_PASSWORD"], nakama.Environment["POSTGRES_PASSWORD"]; got != want {
		t.Errorf("docker-compose.prod.yml: the password is %q for postgres, %q for nakama", got, want)
	}
	if !nakama.ReadOnly || !slices.Equal(nakama.CapDrop, []string{"ALL"}) {
		t.Errorf("nakama may write: %t, and has all rights but %q", !nakama.ReadOnly, nakama.CapDrop)
	}
	for name, s := range map[string]service{"postgres": postgres, "nakama": nakama} {
		if s.Logging.Options["max-size"] == "" || s.Logging.Options["max-file"] == "" || s.Deploy.Resources.Limits["memory"] == nil {
			t.Errorf("%s: logs %v, limits %v", name, s.Logging.Options, s.Deploy.Resources.Limits)
		}
		if memory := s.Deploy.Resources.Limits["memory"]; memory != s.SwapLimit {
			t.Errorf("%s: memory %v, with swap %v: want them equal, which is no swap", name, memory, s.SwapLimit)
		}
	}
}

// TestImageIsReadableByNobody wants every file of the checkout that the image keeps to have a mode of its own: Nakama
// runs as nobody, and a checkout may be readable by its owner alone.
func TestImageIsReadableByNobody(t *testing.T) {
	_, last, found := strings.Cut(read(t, "Dockerfile"), "FROM heroiclabs/nakama:")
	if !found {
		t.Fatal("the Dockerfile has no second stage")
	}
	copies := 0
	for line := range strings.Lines(last) {
		if !strings.HasPrefix(line, "COPY ") || strings.HasPrefix(line, "COPY --from") {
			continue
		}
		copies++
		if !strings.HasPrefix(line, "COPY --chmod=644 ") && !strings.HasPrefix(line, "COPY --chmod=755 ") {
			t.Errorf("%q has the mode of the checkout", line)
		}
	}
	if copies == 0 {
		t.Error("the image keeps nothing of the checkout")
	}
}

// TestBuildContext wants .dockerignore to let in what the Dockerfile copies, and nothing else.
func TestBuildContext(t *testing.T) {
	var copied, let []string
	for line := range strings.Lines(read(t, "Dockerfile")) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "COPY" || strings.HasPrefix(words[1], "--from") {
			continue
		}
		for _, word := range words[1 : len(words)-1] {
			if !strings.HasPrefix(word, "--") {
				copied = append(copied, word)
			}
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
