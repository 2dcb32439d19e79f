//go:build !unix

package main

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no groups here.
func ownGroup(*exec.Cmd) {}

// killGroup kills a process.
func killGroup(process *os.Process) { _ = process.Kill() }
