//go:build unix && !linux

package main

import "syscall"

// dieTogether does nothing: a child outlives this process here, if this process is killed.
func dieTogether(*syscall.SysProcAttr) {}
