//go:build unix

package local

import (
	"path/filepath"
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
