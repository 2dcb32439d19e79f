//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts what a command starts into a group of its own, so that all of it can be killed. Where the system can do
// that, it dies with this process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieTogether(cmd.SysProcAttr)
}

// signalGroup sends a signal to a process with its group.
func signalGroup(process *os.Process, signal syscall.Signal) { _ = syscall.Kill(-process.Pid, signal) }
