package match

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/heroiclabs/nakama-common/runtime"
)

// fakeConfig is the part of Nakama's configuration that the module reads: four secrets, each "changed" unless it is named.
type fakeConfig struct {
	runtime.Config
	runtime.SocketConfig
	runtime.SessionConfig
	runtime.RuntimeConfig
	values map[string]string
}

func (c fakeConfig) GetSocket() runtime.SocketConfig   { return c }
func (c fakeConfig) GetSession() runtime.SessionConfig { return c }
func (c fakeConfig) GetRuntime() runtime.RuntimeConfig { return c }

func (c fakeConfig) GetServerKey() string     { return c.value("socket.server_key") }
func (c fakeConfig) GetEncryptionKey() string { return c.value("session.encryption_key") }
func (c fakeConfig) GetRefreshEncryptionKey() string {
	return c.value("session.refresh_encryption_key")
}
func (c fakeConfig) GetHTTPKey() string { return c.value("runtime.http_key") }

func (c fakeConfig) value(key string) string {
	if value, ok := c.values[key]; ok {
		return value
	}
	return "changed"
}

func (*fakeInitializer) GetConfig() (runtime.Config, error) { return fakeConfig{}, nil }

// configuredInitializer is Nakama with another configuration.
type configuredInitializer struct {
	fakeInitializer
	config fakeConfig
	err    error
}

func (i *configuredInitializer) GetConfig() (runtime.Config, error) { return i.config, i.err }

// registerWith registers the module in a Nakama with the given configuration, and says what was logged.
func registerWith(t *testing.T, i *configuredInitializer, development string) (log string, err error) {
	t.Helper()
	n := newFake(t)
	n.logger = &fakeLogger{}
	i.n = n
	env := map[string]string{"SET3D_NAKAMA_APIS": "all"}
	if development != "" {
		env["SET3D_DEVELOPMENT"] = development
	}
	ctx := context.WithValue(t.Context(), runtime.RUNTIME_CTX_ENV, env) //nolint:staticcheck // Nakama's keys are strings
	err = register(ctx, n.logger, n, i, n.clock.clock())
	return strings.Join(n.logger.lines, "\n"), err
}

func TestEachInsecureDefaultIsRefused(t *testing.T) {
	defaults := map[string]string{
		"socket.server_key": "defaultkey", "session.encryption_key": "defaultencryptionkey",
		"session.refresh_encryption_key": "defaultrefreshencryptionkey", "runtime.http_key": "defaulthttpkey",
	}
	variables := map[string]string{
		"socket.server_key": "NAKAMA_SERVER_KEY", "session.encryption_key": "NAKAMA_ENCRYPTION_KEY",
		"session.refresh_encryption_key": "NAKAMA_REFRESH_ENCRYPTION_KEY", "runtime.http_key": "NAKAMA_HTTP_KEY",
	}
	for key, known := range defaults {
		for _, development := range []string{"", "off"} {
			_, err := registerWith(t, &configuredInitializer{config: fakeConfig{values: map[string]string{key: known}}}, development)
			if err == nil {
				t.Fatalf("%s=%s is let pass", key, known)
			}
			for _, want := range []string{key, variables[key], "make env", "SET3D_DEVELOPMENT=on"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: the error does not say %s: %v", key, want, err)
				}
			}
			for other := range defaults {
				if other != key && strings.Contains(err.Error(), other) {
					t.Errorf("%s: the error names %s: %v", key, other, err)
				}
			}
		}
	}
	_, err := registerWith(t, &configuredInitializer{config: fakeConfig{values: defaults}}, "")
	for key := range defaults {
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("four insecure values, and %s is not named: %v", key, err)
		}
	}
}

func TestDevelopmentIsWarnedOf(t *testing.T) {
	insecure := fakeConfig{values: map[string]string{"runtime.http_key": "defaulthttpkey"}}
	log, err := registerWith(t, &configuredInitializer{config: insecure}, "on")
	if err != nil || !strings.Contains(log, "SET3D_DEVELOPMENT is on: everybody knows runtime.http_key") {
		t.Errorf("register: %v, log %s", err, log)
	}
	// Nothing to warn of where the secrets are changed.
	for _, development := range []string{"", "off", "on"} {
		if log, err := registerWith(t, &configuredInitializer{}, development); err != nil || strings.Contains(log, "everybody knows") {
			t.Errorf("development %q: register: %v, log %s", development, err, log)
		}
	}
}

func TestUnreadableConfigurationStopsRegistering(t *testing.T) {
	_, err := registerWith(t, &configuredInitializer{err: errors.New("no configuration today")}, "on")
	if err == nil || !strings.Contains(err.Error(), "no configuration today") {
		t.Errorf("register: %v", err)
	}
}
