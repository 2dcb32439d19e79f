//go:build unix

package local

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDatabaseIsOpenOnce: a host that still drains keeps the next one out, and one that is gone does not.
func TestDatabaseIsOpenOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	s := open(t, file)
	for range 2 {
		_, err := OpenDatabase(file)
		require.EqualError(t, err, "the state file "+file+" is in use by another host")
	}
	s.write(t, "k", `{}`)
	require.NoError(t, s.Close())
	require.Equal(t, "k{}", open(t, file).values(t))
}

// TestDatabaseIsFreeOnceClosed also while a process is being started, which has a copy of the lock for a moment.
func TestDatabaseIsFreeOnceClosed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	s := open(t, file)
	child, err := syscall.Dup(int(s.journal.lock.Fd()))
	require.NoError(t, err)
	defer func() { _ = syscall.Close(child) }()
	require.NoError(t, s.Close())
	require.NoError(t, open(t, file).Close())
}
