package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// dieTogether lets a child be killed when this process dies, however it does.
func dieTogether(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }

// groupLives reports whether a process or another one of its group runs. One that has ended counts for nothing,
// although init may take a while to notice.
func groupLives(process *os.Process) bool {
	if syscall.Kill(-process.Pid, 0) != nil {
		return false
	}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range all {
		text, _ := os.ReadFile(file) // it may have ended meanwhile
		_, fields, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		of := strings.Fields(fields) // state, parent, group
		if len(of) > 2 && of[0] != "Z" && of[0] != "X" && of[2] == strconv.Itoa(process.Pid) {
			return true
		}
	}
	return false
}
