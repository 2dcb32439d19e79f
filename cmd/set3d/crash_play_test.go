package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPlaySurvivesARestart: the person who watches is told, and the match is played to its end.
func TestPlaySurvivesARestart(t *testing.T) {
	flags := crashFlags{server: serverFlags{format: "protobuf"}, durability: "safe", checkpoint: 500 * time.Millisecond, resumeWithin: time.Minute}
	server, err := newVictim(&flags)
	require.NoError(t, err)
	t.Cleanup(server.close)
	require.NoError(t, server.start(t.Context()))
	var stdout, stderr lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(t.Context(), []string{"play", "--url", flags.server.url, "--pace", "200ms", "--rules", `{"valid_anim_ms":20,"refill_anim_ms":20}`}, &stdout, &stderr)
	}()
	require.Eventually(t, func() bool { return strings.Count(stdout.String(), " takes ") >= 3 }, 30*time.Second, 5*time.Millisecond, stderr.String())
	server.kill()
	require.Eventually(t, func() bool { return strings.Contains(stdout.String(), "The connection is lost, trying again") }, 30*time.Second, 5*time.Millisecond)
	require.NoError(t, server.start(t.Context()))
	select {
	case code := <-ended:
		require.Equal(t, exitOK, code, stdout.String()+stderr.String())
	case <-time.After(2 * time.Minute):
		t.Fatal("it does not end: " + stdout.String() + stderr.String())
	}
	require.Contains(t, stdout.String(), "The server was restarted, and the match goes on")
	require.True(t, strings.HasSuffix(stdout.String(), "All well.\n"), stdout.String())
}
