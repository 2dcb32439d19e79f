package match

import (
	"strings"
	"time"

	"set3d/match/archive"
)

// measureEvery is how often Nakama gets the gauges and what was tallied.
const measureEvery = 5 * time.Second

// observations are what measure needs of the last time.
type observations struct{ archive archive.Counters }

// startMeasuring shows every metric with all its labels at once, so that the first increase of a counter is seen as one: Prometheus sees no
// increase of what it does not know.
func (m *module) startMeasuring() {
	for _, metric := range Metrics() {
		metric.each(map[string]string{}, func(labels map[string]string) {
			if metric.Kind == Counter {
				m.nk.MetricsCounterAdd(metric.Name, labels, 0)
			}
		})
	}
	m.measure()
	m.clock.repeat(measureEvery, measureEvery, m.measure)
}

// each calls f with every combination of labels.
func (x *Metric) each(chosen map[string]string, f func(labels map[string]string)) {
	if len(chosen) == len(x.Labels) {
		labels := make(map[string]string, len(chosen))
		for name, value := range chosen {
			labels[name] = value
		}
		f(labels)
		return
	}
	label := x.Labels[len(chosen)]
	for _, value := range label.Values {
		chosen[label.Name] = value
		x.each(chosen, f)
		delete(chosen, label.Name)
	}
}

// measure runs beside everything else. It takes no lock of a table's for longer than a reader does.
func (m *module) measure() {
	defer m.guard(atHousekeeper)
	m.logger.lines.tell()
	m.tallies.handOver(m)
	m.measureTables()
	m.measureArchive()
	m.set("set3d_info", map[string]string{"version": versionLabel()}, 1)
	draining := 0
	if m.operator.isDraining() {
		draining = 1
	}
	m.set("set3d_draining", nil, draining)
}

func (m *module) measureTables() {
	type kind struct{ preset, phase string }
	tables, connected, away, depth := map[kind]int{}, 0, 0, 0
	for _, b := range m.tables.all() {
		f := b.known()
		tables[kind{presetLabel(f.label.Preset), f.label.Phase}]++
		for i := range f.seats {
			switch s := &f.seats[i]; {
			case s.userID == "" || s.forfeited || f.label.Phase == phaseEnded:
			case s.connected:
				connected++
			default:
				away++
			}
		}
		depth = max(depth, b.deepest())
	}
	for _, preset := range presetLabels() {
		for _, phase := range phases() {
			m.set("set3d_tables", map[string]string{"preset": preset, "phase": phase}, tables[kind{preset, phase}])
		}
	}
	m.set("set3d_players", map[string]string{"state": playerConnected}, connected)
	m.set("set3d_players", map[string]string{"state": playerAway}, away)
	m.set("set3d_mailbox_depth", nil, depth)
}

func (m *module) measureArchive() {
	now, before := m.archive.Counters(), m.observed.archive
	m.observed.archive = now
	m.nk.MetricsCounterAdd("set3d_archive_checkpoints_total", nil, now.Checkpoints-before.Checkpoints)
	m.nk.MetricsCounterAdd("set3d_archive_results_total", nil, now.Results-before.Results)
	m.nk.MetricsCounterAdd("set3d_archive_failures_total", nil, now.Failures-before.Failures)
	m.set("set3d_archive_queue", nil, now.Waiting)
	m.set("set3d_archive_finished", nil, now.Finished)
	m.set("set3d_archive_stuck", nil, now.Stuck)
	m.set("set3d_archive_set_aside", nil, now.SetAside)
	m.nk.MetricsGaugeSet("set3d_archive_oldest_seconds", nil, now.Oldest.Seconds())
}

func (m *module) set(name string, labels map[string]string, value int) {
	m.nk.MetricsGaugeSet(name, labels, float64(value))
}

// all are the mailboxes of all tables.
func (r *registry) all() []*mailbox {
	r.mu.RLock()
	defer r.mu.RUnlock()
	boxes := make([]*mailbox, 0, len(r.boxes))
	for _, b := range r.boxes {
		boxes = append(boxes, b)
	}
	return boxes
}

// deepest is the most that has waited at once since it was asked last.
func (b *mailbox) deepest() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.depth
	b.depth = len(b.queue)
	return n
}

func versionLabel() string { return strings.ReplaceAll(serverVersion, ".", "_") }
