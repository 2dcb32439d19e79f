package match

import "time"

// clock is the module's time. It is injected, so that tests decide what time it is and when an alarm goes off.
type clock struct {
	// now is monotonic: the time since the process started.
	now func() time.Duration
	// wall is the calendar's time, only to be shown.
	wall func() time.Time
	// afterFunc runs f in its own goroutine after d.
	afterFunc func(d time.Duration, f func()) alarm
	// repeat runs f beside everything else for as long as the process lives: first after a while, then again and again, never twice at once. f
	// lets no panic out.
	repeat func(first, every time.Duration, f func())
}

// alarm is a *time.Timer made by afterFunc, or a test's.
type alarm interface {
	Reset(d time.Duration) bool
	Stop() bool
}

func systemClock() clock {
	start := time.Now()
	return clock{
		now:       func() time.Duration { return time.Since(start) },
		wall:      time.Now,
		afterFunc: func(d time.Duration, f func()) alarm { return time.AfterFunc(d, f) },
		repeat:    repeatForEver,
	}
}

func repeatForEver(first, every time.Duration, f func()) {
	time.AfterFunc(first, func() {
		f()
		repeatForEver(every, every, f)
	})
}
