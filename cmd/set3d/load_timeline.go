package main

import (
	"context"
	"time"
)

const (
	sampleEvery = time.Second
	maxSamples  = 600 // of a long run: the samples are then farther apart
)

// timeline looks at the load and at the server again and again.
type timeline struct {
	tally    *tally
	server   serverWatch
	every    time.Duration
	before   vitals // before the first table
	first    vitals // when measuring began
	last     vitals
	lastAt   time.Time
	lastMark mark
	begunAt  time.Time
	peakRSS  uint64
	samples  []sample
}

// sample is an interval of the run.
type sample struct {
	Seconds        float64 `json:"seconds"` // since measuring began, at the interval's end
	Answers        int64   `json:"answers"`
	P50            float64 `json:"p50_ms"`
	P99            float64 `json:"p99_ms"`
	FramesReceived float64 `json:"frames_received_per_second"`
	ClientCPU      float64 `json:"client_cpu_percent"` // of one core
	ServerCPU      float64 `json:"server_cpu_percent,omitempty"`
	ServerRSSMB    float64 `json:"server_rss_mb,omitempty"`
	ServerHeapMB   float64 `json:"server_heap_mb,omitempty"`
	Goroutines     uint64  `json:"server_goroutines,omitempty"`
}

func newTimeline(t *tally, server serverWatch, duration time.Duration) *timeline {
	line := &timeline{tally: t, server: server, every: max(sampleEvery, duration/maxSamples)}
	line.before = line.look()
	return line
}

// look is what can be seen now; a server that is gone is found out elsewhere.
func (l *timeline) look() vitals {
	v, _ := l.server.look()
	l.peakRSS = max(l.peakRSS, v.rssBytes)
	return v
}

func (l *timeline) begin() {
	l.first = l.look()
	l.last, l.lastMark = l.first, l.tally.mark()
	l.begunAt, l.lastAt = l.lastMark.at, l.lastMark.at
}

// record takes samples until ctx ends.
func (l *timeline) record(ctx context.Context) {
	for sleep(ctx, l.every) {
		l.sample()
	}
}

// end takes the last one, if something is left.
func (l *timeline) end() {
	if time.Since(l.lastAt) > l.every/10 {
		l.sample()
	}
}

func (l *timeline) sample() {
	v, m := l.look(), l.tally.mark()
	seconds := m.at.Sub(l.lastAt).Seconds()
	s := sample{
		Seconds:        m.at.Sub(l.begunAt).Seconds(),
		FramesReceived: float64(m.sockets.FramesReceived-l.lastMark.sockets.FramesReceived) / seconds,
		ClientCPU:      percent(m.work-l.lastMark.work, seconds),
		ServerCPU:      percent(v.work-l.last.work, seconds),
		ServerRSSMB:    megabytes(v.rssBytes), ServerHeapMB: megabytes(v.heapBytes), Goroutines: v.goroutines,
	}
	s.Answers, s.P50, s.P99 = l.tally.takeLately()
	l.last, l.lastMark, l.lastAt = v, m, m.at
	l.samples = append(l.samples, s)
}

// takeLately is how many answers there were since the last time, and how fast they were, in ms.
func (t *tally) takeLately() (answers int64, p50, p99 float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answers = t.lately.TotalCount()
	p50, p99 = float64(t.lately.ValueAtQuantile(50))/1000, float64(t.lately.ValueAtQuantile(99))/1000
	t.lately.Reset()
	return answers, p50, p99
}

// into puts what was seen into the result.
func (l *timeline) into(r *result) {
	r.Timeline = l.samples
	seconds := l.lastAt.Sub(l.begunAt).Seconds()
	if !l.server.watches() || seconds <= 0 {
		return
	}
	work := l.last.work - l.first.work
	r.Server = &serverResult{
		CPUSeconds: work.Seconds(), CPUPercent: percent(work, seconds),
		RSSBeforeMB: megabytes(l.before.rssBytes), RSSMB: megabytes(l.last.rssBytes), RSSPeakMB: megabytes(l.peakRSS),
		HeapBeforeMB: megabytes(l.before.heapBytes), HeapMB: megabytes(l.last.heapBytes),
		GoroutinesBefore: l.before.goroutines, Goroutines: l.last.goroutines,
	}
	if frames := r.PerSecond.FramesReceived * r.Seconds; frames > 0 {
		r.Server.CPUMsPerThousandFrames = work.Seconds() * 1000 / frames * 1000
	}
	if tables := r.Matches + r.IdleTables; tables > 0 && l.last.rssBytes > l.before.rssBytes {
		r.Server.KiBPerTable = float64(l.last.rssBytes-l.before.rssBytes) / 1024 / float64(tables)
	}
}

func percent(work time.Duration, seconds float64) float64 { return 100 * work.Seconds() / seconds }

func megabytes(bytes uint64) float64 { return float64(bytes) / 1e6 }
