package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	startPoll = 50 * time.Millisecond
	groupPoll = 5 * time.Millisecond
	logTail   = 4_000 // bytes of a program's output that are shown when it ends by itself
	// outputWait is how long is waited for the rest of the output of a process that has ended: what it has left behind
	// may keep it open.
	outputWait = time.Second
)

// errGone says that a program ended by itself.
var errGone = errors.New("ended by itself")

// process is a program that runs until it is ended.
type process struct {
	name    string // for messages
	command func() *exec.Cmd

	cmd    *exec.Cmd
	output *tail
	gone   chan struct{} // closed when the process has ended, and what it had started in its group
	goneAt time.Time     // when that was; valid after gone
}

// launch starts the program. It does not wait until the program is of use.
func (p *process) launch() error {
	output, writer, err := os.Pipe()
	if err != nil {
		return exit(exitWrong, "%w", err)
	}
	p.cmd, p.gone, p.output = p.command(), make(chan struct{}), &tail{}
	p.cmd.Stdout, p.cmd.Stderr = writer, writer
	ownGroup(p.cmd)
	err = p.cmd.Start()
	_ = writer.Close()
	if err != nil {
		_ = output.Close()
		p.cmd = nil
		return exit(exitNoRoute, "%s does not start: %w", p.name, err)
	}
	go p.watch(output)
	return nil
}

// watch reads the output, and waits for the end.
func (p *process) watch(output io.ReadCloser) {
	read, text := make(chan struct{}), p.output
	go func() { _, _ = io.Copy(text, output); close(read) }()
	_ = p.cmd.Wait()
	for groupLives(p.cmd.Process) { // a shell is gone before the program that it has started
		time.Sleep(groupPoll)
	}
	p.goneAt = time.Now()
	select {
	case <-read:
	case <-time.After(outputWait):
	}
	_ = output.Close()
	close(p.gone)
}

// kill ends the process, and all that it has started, at once.
func (p *process) kill() {
	if p.cmd != nil {
		signalGroup(p.cmd.Process, syscall.SIGKILL)
		<-p.gone
	}
}

// stop sends a signal that asks the process to end, and kills it if it has not ended when the grace is over. It reports
// whether it has.
func (p *process) stop(signal syscall.Signal, grace time.Duration) bool {
	signalGroup(p.cmd.Process, signal)
	select {
	case <-p.gone:
		return true
	case <-time.After(grace):
		p.kill()
		return false
	}
}

// died says that the process has ended by itself, or nil.
func (p *process) died() error {
	select {
	case <-p.gone:
		return exit(exitWrong, "%s %w\n%s", p.name, errGone, p.output)
	default:
		return nil
	}
}

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 2*logTail {
		t.text = bytes.Clone(t.text[len(t.text)-logTail:])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text[max(0, len(t.text)-logTail):])
}
