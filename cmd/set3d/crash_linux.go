package main

import "syscall"

// dieTogether lets a child be killed when this process dies, however it does.
func dieTogether(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
