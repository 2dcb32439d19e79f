package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// vitals are what can be seen of the server's process at a moment. What is not known is 0.
type vitals struct {
	work       time.Duration // CPU time since it was started
	rssBytes   uint64        // resident memory
	heapBytes  uint64        // Go's heap and stacks in use
	goroutines uint64
}

// serverWatch looks at the server's process. The zero value sees nothing.
type serverWatch struct {
	pid     int
	metrics string
	http    *http.Client
}

func newServerWatch(pid int, metrics string) (serverWatch, error) {
	w := serverWatch{pid: pid, metrics: metrics, http: &http.Client{Timeout: 5 * time.Second}}
	if _, err := w.look(); err != nil {
		return w, exit(exitUsage, "--server-pid, --metrics: %w", err)
	}
	return w, nil
}

func (w serverWatch) watches() bool { return w.pid != 0 || w.metrics != "" }

// look reads the metrics first: the process knows its own CPU time and memory better than they do, which are up to a reporting period
// old.
func (w serverWatch) look() (vitals, error) {
	var v vitals
	var failed error
	if w.metrics != "" {
		failed = w.scrape(&v)
	}
	if w.pid != 0 {
		failed = errors.Join(failed, readProcess(w.pid, &v))
	}
	return v, failed
}

func (w serverWatch) scrape(v *vitals) error {
	answer, err := w.http.Get(w.metrics)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: HTTP status %s", w.metrics, answer.Status)
	}
	found := readMetrics(answer.Body, v)
	if !found {
		return fmt.Errorf("%s has none of the metrics of a Go process", w.metrics)
	}
	return nil
}

// readMetrics takes the metrics of a Go process from Prometheus's text.
func readMetrics(text io.Reader, v *vitals) (found bool) {
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		name, number, _ := strings.Cut(lines.Text(), " ")
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			continue
		}
		switch name {
		case "process_cpu_seconds_total":
			v.work = time.Duration(value * float64(time.Second))
		case "process_resident_memory_bytes":
			v.rssBytes = uint64(value)
		case "go_memstats_heap_inuse_bytes", "go_memstats_stack_inuse_bytes":
			v.heapBytes += uint64(value)
		case "go_goroutines":
			v.goroutines = uint64(value)
		default:
			continue
		}
		found = true
	}
	return found
}

// clockTick is the unit of the times in /proc: Linux shows them to programs at 100 a second on every machine.
const clockTick = 10 * time.Millisecond

// readProcess reads Linux's /proc.
func readProcess(pid int, v *vitals) error {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	// The second field is the name in brackets, which may hold anything; utime and stime are the 12th and 13th after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 22 {
		return fmt.Errorf("process %d: /proc/%d/stat is unreadable", pid, pid)
	}
	var numbers [3]uint64
	for i, at := range []int{11, 12, 21} {
		if numbers[i], err = strconv.ParseUint(fields[at], 10, 64); err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
	}
	v.work = time.Duration(numbers[0]+numbers[1]) * clockTick
	v.rssBytes = numbers[2] * uint64(os.Getpagesize())
	return nil
}
