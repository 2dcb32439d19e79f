package local

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// metrics keeps what the module counts, and shows it at GET /metrics in Prometheus' text form, at once.
type metrics struct {
	mu       sync.Mutex
	counters map[string]int64 // by name and labels
	gauges   map[string]float64
	timers   map[string]timerSum
}

type timerSum struct {
	count int64
	sum   time.Duration
}

func newMetrics() *metrics {
	return &metrics{counters: map[string]int64{}, gauges: map[string]float64{}, timers: map[string]timerSum{}}
}

func series(name string, tags map[string]string) string {
	if len(tags) == 0 {
		return name
	}
	parts := make([]string, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		parts = append(parts, fmt.Sprintf("%s=%q", k, tags[k]))
	}
	return name + "{" + strings.Join(parts, ",") + "}"
}

func (m *metrics) count(name string, tags map[string]string, delta int64) {
	if delta < 0 {
		return // Nakama ignores these too
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counters[series(name, tags)] += delta
}

func (m *metrics) gauge(name string, tags map[string]string, value float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gauges[series(name, tags)] = value
}

func (m *metrics) timer(name string, tags map[string]string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.timers[series(name, tags)]
	m.timers[series(name, tags)] = timerSum{t.count + 1, t.sum + d}
}

// MetricPrefix is put before the names of the module's own metrics, as Nakama does.
const MetricPrefix = "nakama_custom_"

func (m *metrics) serve(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	for _, k := range slices.Sorted(maps.Keys(m.counters)) {
		fmt.Fprintf(w, "%s%s %d\n", MetricPrefix, k, m.counters[k])
	}
	for _, k := range slices.Sorted(maps.Keys(m.gauges)) {
		fmt.Fprintf(w, "%s%s %g\n", MetricPrefix, k, m.gauges[k])
	}
	for _, k := range slices.Sorted(maps.Keys(m.timers)) {
		name, tags, _ := strings.Cut(k, "{")
		if tags != "" {
			tags = "{" + tags
		}
		fmt.Fprintf(w, "%s%s_count%s %d\n", MetricPrefix, name, tags, m.timers[k].count)
		fmt.Fprintf(w, "%s%s_sum%s %g\n", MetricPrefix, name, tags, m.timers[k].sum.Seconds())
	}
}
