package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Of each kind of line so many a minute are written, and then how many were left out.
func TestThrottle(t *testing.T) {
	now, to := time.Hour, &fakeLogger{}
	log := newThrottle(to, func() time.Duration { return now })
	other := log.WithField("mid", 1).WithFields(nil)
	count := func(what string) int {
		n := 0
		for _, line := range to.lines {
			if strings.HasPrefix(line, what) {
				n++
			}
		}
		return n
	}
	for i := range 1_000 {
		log.Warn("warned of %d", i)
		other.Warn("warned of %d", i)
		other.Error("lost %d", i)
		log.Info("began %d", i)
		log.Debug("thought %d", i)
		now += 10 * time.Millisecond
	}
	wanted := map[string]int{"WARN warned": 60, "ERROR lost": 60, "INFO began": 600, "DEBUG thought": 1_000}
	for what, want := range wanted {
		if n := count(what); n != want {
			t.Errorf("%d lines %s", n, what)
		}
	}
	if to.lines = nil; count("") != 0 {
		t.Fatal("lines")
	}
	log.lines.tell() // the minute is not over
	if len(to.lines) != 0 {
		t.Fatalf("lines %q", to.lines)
	}
	now += time.Minute
	log.Warn("warned of %d", -1)
	for range 2 {
		log.lines.tell()
	}
	slices.Sort(to.lines)
	want := []string{
		`ERROR 940 lines more of this kind were left out within a minute: "lost %d"`,
		`INFO 400 lines more of this kind were left out within a minute: "began %d"`,
		`WARN 1940 lines more of this kind were left out within a minute: "warned of %d"`,
		`WARN warned of -1`,
	}
	if !slices.Equal(to.lines, want) {
		t.Fatalf("lines %q", to.lines)
	}
	now += time.Minute
	if log.lines.tell(); len(log.lines.kinds) != 0 || len(to.lines) != 4 {
		t.Fatalf("%d kinds are left, lines %q", len(log.lines.kinds), to.lines)
	}
}

// A client that comes back after each time it was cut off does not fill the log.
func TestFloodsAreLoggedAtARate(t *testing.T) {
	n := newFake(t)
	m := n.session("ann").create(`{}`)
	for i := range 500 {
		n.module.cutOff(senderOf(n.session(fmt.Sprint("u", i)).ctx))
		m.table().logger.Warn("table %s: something with a match", "T")
	}
	n.clock.next(n.clock.now() + 2*time.Minute)
	n.module.measure()
	floods, others, omitted := 0, 0, 0
	for _, line := range n.logger.lines {
		switch {
		case strings.Contains(line, "floods its match: disconnecting it") && !strings.Contains(line, "left out"):
			floods++
		case strings.Contains(line, "something with a match") && !strings.Contains(line, "left out"):
			others++
		case strings.HasPrefix(line, "WARN 440 lines more of this kind were left out"):
			omitted++
		}
	}
	cutOff := n.counter("set3d_sessions_cut_off_total")
	if floods != troublesPerMinute || others != troublesPerMinute || omitted != 2 || cutOff != 500 {
		t.Fatalf("%d and %d lines, and %d of what was left out", floods, others, omitted)
	}
}
