package main

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSoak is the short form of a soak: after some hundred tables the host is what it was before.
func TestSoak(t *testing.T) {
	url := startServer(t, "SET3D_AFTER_END_MS=0", "SET3D_EMPTY_TABLE_MS=1000", "SET3D_RESERVATION_MS=1000")
	tables := []string{"soak", "--url", url, "--workers", "12", "--play", "40ms", "--settle", "20s", "--tables"}
	first := execute(t, append(tables, "60")...) // what is made once: pools, caches, connections
	require.Equal(t, exitOK, first.code, first.stdout+first.stderr)
	goroutines, heap := atRest(t, 0)
	second := execute(t, append(tables, "300")...)
	require.Equal(t, exitOK, second.code, second.stdout+second.stderr)
	require.Contains(t, second.stdout, "300 tables in")
	require.Contains(t, second.stdout, "0 failed; 0 are still open")
	goroutinesAfter, heapAfter := atRest(t, goroutines)
	t.Logf("goroutines %d, then %d; heap %d KB, then %d KB", goroutines, goroutinesAfter, heap>>10, heapAfter>>10)
	require.LessOrEqual(t, goroutinesAfter, goroutines+10, "goroutines")
	// The host keeps its users, about 900 more of them, and Nakama's index its labels for a while.
	require.Less(t, heapAfter, heap+300*24<<10, "heap in bytes, it was %d", heap)
}

// atRest waits until there are no more goroutines than wanted, or some seconds, and returns what there is.
func atRest(t *testing.T, wanted int) (goroutines int, heap uint64) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if runtime.NumGoroutine() <= wanted {
			break
		}
	}
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return runtime.NumGoroutine(), stats.HeapAlloc
}

func TestSoakUsage(t *testing.T) {
	for flag, want := range map[string]string{"--tables=0": "--tables is 0", "--workers=501": "--workers is 501", "--play=-1s": "not negative"} {
		got := execute(t, "soak", flag)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%s ends with %d: %s", flag, got.code, got.stderr)
		}
	}
	if got := execute(t, "soak", "--url", "http://127.0.0.1:1"); got.code != exitNoRoute {
		t.Errorf("without a server: %d %s", got.code, got.stderr)
	}
}
