//go:build unix

package main

import (
	"syscall"
	"time"
)

// ownWork is the CPU time that this process has used.
func ownWork() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// spareFiles are the files that a process needs besides its sockets.
const spareFiles = 64

// checkOpenFiles sees that this process may open so many sockets.
func checkOpenFiles(sockets int) error {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || uint64(sockets+spareFiles) <= uint64(limit.Cur) {
		return nil
	}
	return exit(exitUsage, "%d sockets are too many for this process's limit of %d open files: raise it (ulimit -n %d)", sockets, limit.Cur,
		sockets+spareFiles)
}
