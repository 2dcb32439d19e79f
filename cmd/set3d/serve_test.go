package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestServeKeepsTheShippedTiming: the development host notices a silent loss as fast as Nakama with the local.yml of this repository.
func TestServeKeepsTheShippedTiming(t *testing.T) {
	shipped, err := os.ReadFile("../../local.yml")
	require.NoError(t, err)
	config, err := serveFlags{addr: "127.0.0.1:0", logLevel: "warn"}.config(newServeCommand())
	require.NoError(t, err)
	for key, got := range map[string]time.Duration{"ping_period_ms": config.Timing.Ping, "pong_wait_ms": config.Timing.PongWait} {
		found := regexp.MustCompile(`(?m)^  ` + key + `: (\d+)$`).FindSubmatch(shipped)
		require.NotNil(t, found, key)
		want, err := strconv.Atoi(string(found[1]))
		require.NoError(t, err)
		require.Equal(t, int64(want), got.Milliseconds(), key)
	}
}

// TestServeStopsAtTheSecondSignal: the first lets a running match go on, the second does not. This process gets them.
func TestServeStopsAtTheSecondSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send itself an interrupt there")
	}
	first, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout, played lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(first, []string{"serve", "--addr", "127.0.0.1:0", "--grace", "600", "--state", filepath.Join(t.TempDir(), "s.json")}, &stdout, &stdout)
	}()
	eventually := func(what string, cond func() bool) {
		require.Eventually(t, cond, 30*time.Second, 5*time.Millisecond, what)
	}
	eventually("listening", func() bool { return listening.MatchString(stdout.String()) })
	url := listening.FindStringSubmatch(stdout.String())[1]
	player, leave := context.WithCancel(t.Context())
	left := make(chan int, 1)
	go func() {
		left <- run(player, []string{"play", "--url", url, "--pace", "1m", "--patience", "1ms"}, &played, &played)
	}()
	eventually("playing", func() bool { return strings.Contains(played.String(), "cards are dealt") })
	cancel()
	eventually("stopping", func() bool { return strings.Contains(stdout.String(), "Stopping: ") })
	select {
	case <-ended:
		t.Fatal("it does not wait for the match: " + stdout.String())
	case <-time.After(300 * time.Millisecond):
	}
	eventually("told", func() bool { return strings.Contains(played.String(), "shuts down in 600 s") })
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	require.NoError(t, self.Signal(os.Interrupt))
	select {
	case code := <-ended:
		require.Equal(t, exitOK, code, stdout.String())
	case <-time.After(30 * time.Second):
		t.Fatal("it waits although it was told twice")
	}
	leave()
	<-left
	require.Equal(t, 1, strings.Count(played.String(), "shuts down"), "told once: "+played.String())
}
