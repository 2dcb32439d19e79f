//go:build unix && !linux

package main

import (
	"os"
	"syscall"
)

// dieTogether does nothing: a child outlives this process here, if this process is killed.
func dieTogether(*syscall.SysProcAttr) {}

// groupLives reports whether a process or another one of its group is there.
func groupLives(process *os.Process) bool { return syscall.Kill(-process.Pid, 0) == nil }
