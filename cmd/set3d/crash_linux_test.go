package main

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that has ended, and that nobody has waited for, does not run.
func TestCrashGroupLives(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 0.3 & sleep 0.1")
	ownGroup(cmd)
	require.NoError(t, cmd.Start())
	time.Sleep(200 * time.Millisecond)
	require.True(t, groupLives(cmd.Process), "what it has started runs")
	require.Eventually(t, func() bool { return !groupLives(cmd.Process) }, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, cmd.Wait())
	require.False(t, groupLives(cmd.Process))
}
