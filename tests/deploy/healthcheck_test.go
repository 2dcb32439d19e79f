package deploy_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

// health runs the healthcheck against a server, with a `nakama healthcheck` that is content.
func health(t *testing.T, address string, env ...string) result {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return script(t, root+"deploy/healthcheck.sh", with(map[string]string{"NAKAMA_PORT": port, "NAKAMA_HTTP_KEY": "key"}, env...))
}

func TestHealthIsAskedOfThePlugin(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs bash, which the image has")
	}
	answer := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/rpc/hello" || r.URL.Query().Get("http_key") != "key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(answer)
	}))
	defer server.Close()
	address := server.Listener.Addr().String()

	r := health(t, address)
	if r.exit != 0 || len(r.calls) != 1 || r.calls[0].Args[0] != "healthcheck" {
		t.Errorf("exit code %d, calls %v, it says %q", r.exit, r.calls, r.output)
	}
	if r := health(t, address, "FAIL=healthcheck"); r.exit == 0 {
		t.Error("healthy, although Nakama's own check fails")
	}
	if r := health(t, address, "NAKAMA_HTTP_KEY=other"); r.exit != 1 || !strings.Contains(r.output, "401") {
		t.Errorf("with a wrong key: exit code %d, it says %q", r.exit, r.output)
	}
	answer = http.StatusNotFound // what Nakama says without the plugin
	if r := health(t, address); r.exit != 1 || !strings.Contains(r.output, "404") {
		t.Errorf("without the plugin: exit code %d, it says %q", r.exit, r.output)
	}
}

func TestHealthIsNotWaitedForForever(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs bash, which the image has")
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the kernel, and never answers
	if err != nil {
		t.Fatal(err)
	}
	if r := health(t, silent.Addr().String()); r.exit != 1 || !strings.Contains(r.output, "no answer") {
		t.Errorf("exit code %d, it says %q", r.exit, r.output)
	}
	_ = silent.Close()
	if r := health(t, silent.Addr().String()); r.exit == 0 {
		t.Error("healthy, although nobody listens")
	}
}
