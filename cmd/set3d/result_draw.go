package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/guptarohit/asciigraph"
)

func (r result) writeTable(p *pen) error {
	r.writeHead(p)
	if r.Matches > 0 {
		p.printf("%s     p50      p90      p99    p99.9      max\n", p.bold.Render("Verdict latency, ms"))
		p.printf("%19s %7.2f  %7.2f  %7.2f  %7.2f  %7.2f\n\n", count(int(r.LatencyMs.Count), "answer"), r.LatencyMs.P50, r.LatencyMs.P90,
			r.LatencyMs.P99, r.LatencyMs.P999, r.LatencyMs.Max)
	}
	p.printf("%s           sent  received\n", p.bold.Render("Per second"))
	p.printf("  match messages %8.0f  %8.0f\n  socket frames  %8.0f  %8.0f\n  kilobytes      %8.1f  %8.1f\n\n", r.PerSecond.MessagesSent,
		r.PerSecond.MessagesReceived, r.PerSecond.FramesSent, r.PerSecond.FramesReceived, r.PerSecond.BytesSent/1000, r.PerSecond.BytesReceived/1000)
	r.writeCost(p)
	r.writeClaims(p)
	r.writePlots(p)
	if r.Interrupted {
		p.printf("\n%s\n", p.bold.Render("Interrupted: this is what was seen until then."))
	}
	return nil
}

func (r result) writeHead(p *pen) {
	if r.Matches > 0 {
		p.printf("%s of %s for %.1f s, a claim each %.1f s; %s played to the end\n", count(r.Matches, "match"), count(r.Players, "player"),
			r.Seconds, float64(r.PaceMs)/1000, count(int(r.MatchesOver), "match"))
	}
	if r.IdleTables > 0 {
		p.printf("%s of %s for %.1f s\n", count(r.IdleTables, "idle table"), count(r.Players, "player"), r.Seconds)
	}
	if r.Echo != "" {
		p.printf("an echo module, made by %s: no game\n", r.Echo)
	}
	p.printf("\n")
}

func (r result) writeCost(p *pen) {
	p.printf("%s       CPU, %% of a core   ms per 1000 frames   memory, MB\n", p.bold.Render("Cost"))
	p.printf("  this load  %16.1f  %19s\n", r.Client.CPUPercent, r.perFrames(r.Client.CPUMsPerThousandFrames))
	if s := r.Server; s != nil {
		p.printf("  the server %16.1f  %19s  %11.1f, %.1f before the load, at most %.1f\n", s.CPUPercent, r.perFrames(s.CPUMsPerThousandFrames), s.RSSMB,
			s.RSSBeforeMB, s.RSSPeakMB)
		if s.HeapMB > 0 {
			p.printf("    heap and stacks %.1f MB, %.1f before the load; %d goroutines, %d before\n", s.HeapMB, s.HeapBeforeMB, s.Goroutines,
				s.GoroutinesBefore)
		}
		if s.KiBPerTable > 0 && r.Matches+r.IdleTables >= tellingTables {
			p.printf("    %.1f KiB a table, its sockets and garbage included\n", s.KiBPerTable)
		}
	}
	p.printf("\n")
}

// perFrames says nothing when hardly a frame came.
func (r result) perFrames(ms float64) string {
	if r.Matches == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", ms)
}

func (r result) writeClaims(p *pen) {
	switch {
	case r.Matches == 0:
		p.printf("%s  none, ", p.bold.Render("Claims"))
	case r.Echo != "":
		p.printf("%s  %d: %d came back, ", p.bold.Render("Messages"), r.Claims.Sent, r.Claims.Valid)
	default:
		p.printf("%s  %d: %d Sets, %d wrong, %d refused, ", p.bold.Render("Claims"), r.Claims.Sent, r.Claims.Valid, r.Claims.Invalid, r.Claims.Refused)
	}
	unanswered := fmt.Sprintf("%d unanswered", r.Claims.Unanswered)
	if r.Claims.Unanswered > 0 {
		unanswered = p.bad.Render(unanswered)
	}
	p.printf("%s\n", unanswered)
	p.reasons("  refused", r.Refused)
	if r.Connections != (connections{}) {
		p.printf("%s  %d cut, %d made again\n", p.bold.Render("Connections"), r.Connections.Dropped, r.Connections.Reconnected)
	}
	p.reasons(p.bad.Render("Errors"), r.Errors)
	if r.Verified || r.Violations > 0 {
		p.printf("%s  %d\n", p.bold.Render("Violations"), r.Violations)
	}
	for _, detail := range r.Details {
		p.printf("  %s\n", detail)
	}
}

func (p *pen) reasons(title string, counts map[string]int) {
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		p.printf("%s  %s: %d\n", title, reason, counts[reason])
	}
}

// bucket counts the answers that came within a time, and not within that of the bucket before.
type bucket struct {
	WithinMs float64 `json:"within_ms"` // 0: slower than all others
	Answers  int64   `json:"answers"`
}

// bucketsMs are their ends.
func bucketsMs() []float64 {
	return []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000}
}

// buckets leaves out the empty ones before the first and after the last answer.
func buckets(h *hdrhistogram.Histogram) []bucket {
	var all []bucket
	for _, end := range bucketsMs() {
		all = append(all, bucket{WithinMs: end})
	}
	all = append(all, bucket{})
	for _, bar := range h.Distribution() {
		i := slices.IndexFunc(all, func(b bucket) bool { return b.WithinMs == 0 || float64(bar.From)/1000 < b.WithinMs })
		all[i].Answers += bar.Count
	}
	empty := func(b bucket) bool { return b.Answers == 0 }
	for len(all) > 0 && empty(all[0]) {
		all = all[1:]
	}
	for len(all) > 0 && empty(all[len(all)-1]) {
		all = all[:len(all)-1]
	}
	return all
}

const (
	// tellingTables are so many that the memory that they added, divided by their number, says something.
	tellingTables = 100

	barWidth   = 40
	plotHeight = 6
	plotMargin = 12 // of the numbers beside a plot
	leastPlot  = 3  // samples
)

// writePlots draws how the answers are distributed, and how it went over time.
func (r result) writePlots(p *pen) {
	most := int64(1)
	for _, b := range r.Buckets {
		most = max(most, b.Answers)
	}
	for i, b := range r.Buckets {
		if i == 0 {
			p.printf("\n%s\n", p.bold.Render("How long an answer took"))
		}
		within := "more    "
		if b.WithinMs > 0 {
			within = fmt.Sprintf("< %g ms", b.WithinMs)
		}
		line := strings.Repeat("█", int((b.Answers*barWidth+most-1)/most))
		share := 100 * float64(b.Answers) / float64(r.LatencyMs.Count)
		p.printf("%s\n", strings.TrimRight(fmt.Sprintf("%10s %8d %5.1f %%  %s", within, b.Answers, share, line), " "))
	}
	if len(r.Timeline) < leastPlot {
		return
	}
	if r.LatencyMs.Count > 0 {
		p.plot("p50 and p99 of the answers, ms", r.series(func(s sample) float64 { return s.P50 }), r.series(func(s sample) float64 { return s.P99 }))
	}
	if r.Server != nil {
		p.plot("CPU, % of a core: the server's and the load's", r.series(func(s sample) float64 { return s.ServerCPU }),
			r.series(func(s sample) float64 { return s.ClientCPU }))
		p.plot("the server's memory, MB", r.series(func(s sample) float64 { return s.ServerRSSMB }))
	}
}

func (r result) series(of func(sample) float64) []float64 {
	values := make([]float64, 0, len(r.Timeline))
	for _, s := range r.Timeline {
		values = append(values, of(s))
	}
	return values
}

// plot draws lines over the time of the run.
func (p *pen) plot(title string, lines ...[]float64) {
	graph := asciigraph.PlotMany(lines, asciigraph.Height(plotHeight), asciigraph.Width(p.width-plotMargin), asciigraph.Precision(1),
		asciigraph.LowerBound(0))
	p.printf("\n%s\n%s\n", p.bold.Render(title), strings.ReplaceAll(graph, "-0.0 ", " 0.0 "))
}
