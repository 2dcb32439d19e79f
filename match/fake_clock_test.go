package match

import (
	"slices"
	"sync"
	"time"
)

// fakeClock stands still until a test moves it. Alarms go off in the goroutine that moves it, in the order of their times.
type fakeClock struct {
	mu     sync.Mutex
	at     time.Duration
	alarms []*fakeAlarm

	repeated []func()
}

type fakeAlarm struct {
	clock *fakeClock
	f     func()
	at    time.Duration
	set   bool
}

func (c *fakeClock) clock() clock {
	return clock{
		now: c.now, wall: func() time.Time { return time.UnixMilli(1_700_000_000_000) }, afterFunc: c.afterFunc,
		repeat: func(_, _ time.Duration, f func()) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.repeated = append(c.repeated, f)
		},
	}
}

// runRepeated runs once all that repeats.
func (c *fakeClock) runRepeated() {
	c.mu.Lock()
	repeated := slices.Clone(c.repeated)
	c.mu.Unlock()
	for _, f := range repeated {
		f()
	}
}

func (c *fakeClock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fakeClock) afterFunc(d time.Duration, f func()) alarm {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &fakeAlarm{clock: c, f: f, at: c.at + d, set: true}
	c.alarms = append(c.alarms, a)
	return a
}

func (a *fakeAlarm) Reset(d time.Duration) bool {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	was := a.set
	a.at, a.set = a.clock.at+d, true
	return was
}

func (a *fakeAlarm) Stop() bool {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	was := a.set
	a.set = false
	return was
}

// next moves the clock to the next alarm until the given time and returns what to run, or nil when there is none.
func (c *fakeClock) next(until time.Duration) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var first *fakeAlarm
	for _, a := range c.alarms {
		if a.set && a.at <= until && (first == nil || a.at < first.at) {
			first = a
		}
	}
	if first == nil {
		c.at = max(c.at, until)
		return nil
	}
	c.at = max(c.at, first.at)
	first.set = false
	return first.f
}

// pendingAlarms counts the alarms that are set.
func (c *fakeClock) pendingAlarms() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, a := range c.alarms {
		if a.set {
			n++
		}
	}
	return n
}
