//go:build !unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup does nothing: there are no groups here.
func ownGroup(*exec.Cmd) {}

// groupLives reports nothing: there are no groups here.
func groupLives(*os.Process) bool { return false }

// signalGroup kills a process, whatever the signal: there are no others here.
func signalGroup(process *os.Process, _ syscall.Signal) { _ = process.Kill() }
