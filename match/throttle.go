package match

import (
	"sync"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// How many lines a minute of one kind, which is one format, are written. Clients can cause most kinds, and a disk
// that is full, or a log that was rotated away, helps nobody. INFO is the ordinary course of matches.
const (
	infosPerMinute    = 600
	troublesPerMinute = 60 // warnings, and as many errors
)

// throttle is a logger that leaves out what is more than that, and says how many lines it left out. Those that are
// made of it with fields share its counts. Debug lines pass: an operator who turns them on wants them all.
type throttle struct {
	runtime.Logger
	lines *lineCounts
}

// lineCounts are the lines of the running minute. It has an entry for each format in the program, at most.
type lineCounts struct {
	now func() time.Duration
	to  runtime.Logger // hears how many lines were left out

	mu    sync.Mutex
	kinds map[string]*lineCount // by format
	said  map[string]bool       // subjects of errorOnce
}

// saidMax bounds how many subjects errorOnce remembers. Nothing is written about further ones.
const saidMax = 1_000

// lineCount is the running minute of one kind.
type lineCount struct {
	level   lineLevel
	since   time.Duration
	written int
	omitted int
}

type lineLevel uint8

const (
	infoLine lineLevel = iota
	warnLine
	errorLine
)

func (l lineLevel) most() int {
	if l == infoLine {
		return infosPerMinute
	}
	return troublesPerMinute
}

func (l lineLevel) write(to runtime.Logger, format string, v ...any) {
	switch l {
	case infoLine:
		to.Info(format, v...)
	case warnLine:
		to.Warn(format, v...)
	case errorLine:
		to.Error(format, v...)
	}
}

func newThrottle(to runtime.Logger, now func() time.Duration) *throttle {
	return &throttle{to, &lineCounts{now: now, to: to, kinds: map[string]*lineCount{}, said: map[string]bool{}}}
}

// over is the throttle for another logger of Nakama's.
func (t *throttle) over(to runtime.Logger) runtime.Logger { return &throttle{to, t.lines} }

// Info implements runtime.Logger.
func (t *throttle) Info(format string, v ...any) { t.write(infoLine, format, v) }

// Warn implements runtime.Logger.
func (t *throttle) Warn(format string, v ...any) { t.write(warnLine, format, v) }

// Error implements runtime.Logger.
func (t *throttle) Error(format string, v ...any) { t.write(errorLine, format, v) }

// errorOnce writes an error about a subject once in the life of the process, however often clients cause it.
func (t *throttle) errorOnce(subject, format string, v ...any) {
	if t.lines.isFirst(subject) {
		t.Error(format, v...)
	}
}

func (c *lineCounts) isFirst(subject string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.said[subject] || len(c.said) >= saidMax {
		return false
	}
	c.said[subject] = true
	return true
}

// WithField implements runtime.Logger.
func (t *throttle) WithField(key string, v any) runtime.Logger {
	return t.over(t.Logger.WithField(key, v))
}

// WithFields implements runtime.Logger.
func (t *throttle) WithFields(fields map[string]any) runtime.Logger {
	return t.over(t.Logger.WithFields(fields))
}

func (t *throttle) write(level lineLevel, format string, v []any) {
	if t.lines.take(level, format) {
		level.write(t.Logger, format, v...)
	}
}

// take counts a line, and reports whether it is to be written.
func (c *lineCounts) take(level lineLevel, format string) bool {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kinds[format]
	if k == nil || now-k.since >= time.Minute {
		c.closeLocked(format)
		k = &lineCount{level: level, since: now}
		c.kinds[format] = k
	}
	if k.written >= level.most() {
		k.omitted++
		return false
	}
	k.written++
	return true
}

// tell closes the minutes that are over. Somebody has to call it now and then: perhaps there is never another line of
// the kind.
func (c *lineCounts) tell() {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for format, k := range c.kinds {
		if now-k.since >= time.Minute {
			c.closeLocked(format)
		}
	}
}

// closeLocked forgets the minute of a kind, and says what was left out.
func (c *lineCounts) closeLocked(format string) {
	if k := c.kinds[format]; k != nil && k.omitted > 0 {
		k.level.write(c.to, "%d lines more of this kind were left out within a minute: %q", k.omitted, format)
	}
	delete(c.kinds, format)
}
