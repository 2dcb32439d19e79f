package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"

	"set3d/client"
)

const (
	drainTime       = 10 * time.Second // for the last answers
	progressEvery   = 2 * time.Second
	startsPerSecond = 200 // sign-ins
	idleOpeners     = 8   // groups of idle tables that are opened at once
	openingPatience = time.Minute
)

// loader keeps the tables busy.
type loader struct {
	client *client.Client
	format client.Format
	flags  loadFlags
	plan   loadPlan
	tally  *tally
	server serverWatch // or nil
}

// run opens the tables, measures for the time that was asked for, and waits for the last answers.
func (l *loader) run(ctx context.Context, progress *progress) result {
	running, stop := context.WithCancel(ctx)
	defer stop()
	timeline := newTimeline(l.tally, l.server, l.flags.duration)
	reporting, reported := l.report(running, progress)
	var parties sync.WaitGroup
	l.open(running, &parties, progress)
	timeline.begin()
	l.tally.begin()
	measured, enough := context.WithTimeout(running, l.flags.duration)
	defer enough()
	timeline.record(measured)
	end := l.tally.mark()
	timeline.end()
	reporting()
	<-reported
	progress.say("%s", "done; waiting for the last answers")
	stop()
	parties.Wait()
	progress.end()
	r := l.tally.result(l.flags, end)
	r.Seed = l.plan.seed
	timeline.into(&r)
	return r
}

// open starts all tables, idle ones first, and waits until they stand or have failed.
func (l *loader) open(ctx context.Context, parties *sync.WaitGroup, progress *progress) {
	l.openIdle(ctx, parties, progress)
	gap := time.Duration(l.flags.players) * time.Second / startsPerSecond
	if l.flags.ramp > 0 {
		gap = l.flags.ramp / time.Duration(max(1, l.flags.matches))
	}
	begun := time.Now()
	var opening sync.WaitGroup
	for i := range l.flags.matches {
		if !sleep(ctx, time.Until(begun.Add(time.Duration(i)*gap))) {
			break
		}
		opening.Add(1)
		t := &loadTable{loader: l, index: i, opened: sync.OnceFunc(opening.Done), lost: make(chan *place, 2*l.flags.players)}
		parties.Go(func() { t.run(ctx) })
	}
	waitFor(ctx, &opening, openingPatience)
}

// waitFor waits, but not for ever.
func waitFor(ctx context.Context, group *sync.WaitGroup, limit time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		group.Wait()
	}()
	select {
	case <-done:
	case <-time.After(limit):
	case <-ctx.Done():
	}
}

// openIdle opens the idle tables in groups of players, a few groups at a time.
func (l *loader) openIdle(ctx context.Context, parties *sync.WaitGroup, progress *progress) {
	perGroup := l.flags.players * idlePerPlayer
	groups := (l.flags.idle + perGroup - 1) / perGroup
	var next, opened atomic.Int64
	var openers sync.WaitGroup
	for range min(idleOpeners, groups) {
		openers.Go(func() {
			for g := int(next.Add(1)) - 1; g < groups && ctx.Err() == nil; g = int(next.Add(1)) - 1 {
				group := &idleGroup{loader: l, tables: min(perGroup, l.flags.idle-g*perGroup)}
				if err := group.open(ctx); err != nil {
					l.tally.failed(err)
				}
				parties.Go(func() { group.sit(ctx) })
				if n := opened.Add(1); n%8 == 0 {
					progress.say("%d of %d groups of idle tables are open", n, groups)
				}
			}
		})
	}
	openers.Wait()
}

// report tells how it goes until the returned function is called; the channel is closed when nothing more is told.
func (l *loader) report(ctx context.Context, progress *progress) (stop func(), stopped <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sleep(ctx, progressEvery) {
			progress.say("%s", l.tally.progress())
		}
	}()
	return cancel, done
}

// progress tells a person how it goes: a line each time, or on a terminal one line that changes.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
	live  bool
}

func newProgress(out io.Writer) *progress {
	file, ok := out.(*os.File)
	return &progress{out: out, start: time.Now(), live: ok && term.IsTerminal(file.Fd())}
}

func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf("%5.0f s  ", time.Since(p.start).Seconds()) + fmt.Sprintf(format, args...)
	if p.live {
		_, _ = fmt.Fprintf(p.out, "\r\x1b[K%s", line)
	} else {
		_, _ = fmt.Fprintln(p.out, line)
	}
}

// end leaves the line that changes.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		_, _ = fmt.Fprintln(p.out)
	}
}
