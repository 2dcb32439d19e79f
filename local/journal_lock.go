//go:build unix

package local

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile takes a file for this process, until the result is closed or the process dies. The lock is beside it, since
// the file itself is replaced now and then.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the state file %s cannot be written: %w", path, cause(err))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("the state file %s is in use by another host", path)
		}
		return nil, fmt.Errorf("locking the state file %s: %w", path, err)
	}
	return f, nil
}

// unlockFile gives the file back at once. To close it would not do: a process that is just being started holds all that
// its parent has open, until it runs its own program.
func unlockFile(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // if it fails, closing is all that can be done
	_ = f.Close()                                   // nothing was written
}
