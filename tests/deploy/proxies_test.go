package deploy_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// example is the proxy configuration of docs/operations.md in this language.
func example(t *testing.T, language string) string {
	t.Helper()
	_, rest, begins := strings.Cut(read(t, "docs/operations.md"), "```"+language+"\n")
	text, _, ends := strings.Cut(rest, "```\n")
	if !begins || !ends {
		t.Fatalf("docs/operations.md has no example in %s", language)
	}
	return text
}

// TestProxyExamplesKeepTokensOut wants no proxy to log the address of a socket, which has a session token: also when Nakama does not
// answer.
func TestProxyExamplesKeepTokensOut(t *testing.T) {
	nginx := example(t, "nginx")
	for text, want := range map[string]int{
		`location /ws \{[^}]*\n        error_log /dev/null;`:      1,
		`log_format without_query '[^']*"\$request_method \$uri"`: 1,
		`access_log `: 1, `access_log \S+ without_query;`: 1, `\$request\b|\$request_uri|\$args[^ ]|\$query_string`: 0,
	} {
		if got := len(regexp.MustCompile(text).FindAllString(nginx, -1)); got != want {
			t.Errorf("the example for nginx has %d times %s, want %d", got, text, want)
		}
	}
	caddy := example(t, "caddyfile")
	if begins, site := strings.Index(caddy, "request>uri query {\n\t\t\t\t\treplace token "), strings.Index(caddy, "game.example.com"); begins < 0 || begins > site {
		t.Error("the example for Caddy does not take the token out of the default log")
	}
}

// TestProxyExampleLimitsByAddress wants every limit of nginx to count whole IPv6 networks, and Nakama to hear the address of the client,
// whatever that says itself.
func TestProxyExampleLimitsByAddress(t *testing.T) {
	nginx := example(t, "nginx")
	zones := regexp.MustCompile(`(?m)^limit_(?:req|conn)_zone\s+(\S+)\s+zone=(\w+):`).FindAllStringSubmatch(nginx, -1)
	for _, zone := range zones {
		if used := regexp.MustCompile(`limit_(req zone=|req  zone=|conn )` + zone[2] + `\b`); zone[1] != "$client_network" || !used.MatchString(nginx) {
			t.Errorf("zone %s counts %s, or is not used", zone[2], zone[1])
		}
	}
	if len(zones) != 4 || !strings.Contains(nginx, "proxy_set_header X-Forwarded-For $remote_addr;") {
		t.Errorf("%d zones, or X-Forwarded-For is not overwritten", len(zones))
	}
}

// TestProxyExamplesAreValid has the proxies read them, where they are installed.
func TestProxyExamplesAreValid(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "config")
	t.Run("nginx", func(t *testing.T) {
		text := regexp.MustCompile(`(?m)^    (ssl_|access_log).*\n`).ReplaceAllString(strings.ReplaceAll(example(t, "nginx"), "443 ssl", "8443"), "")
		write(t, file, "pid "+folder+"/pid; error_log stderr; events {}\nhttp {\n"+text+"}\n")
		valid(t, "nginx", "-t", "-e", "stderr", "-c", file)
	})
	t.Run("caddy", func(t *testing.T) {
		write(t, file, example(t, "caddyfile"))
		valid(t, "caddy", "validate", "--adapter", "caddyfile", "--config", file)
	})
}

func valid(t *testing.T, program string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("needs %s", program)
	}
	command := exec.Command(program, args...)
	command.Env = append(command.Environ(), "HOME="+t.TempDir())
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
