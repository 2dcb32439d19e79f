package main

import (
	"os"
	"regexp"
	"strconv"
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
