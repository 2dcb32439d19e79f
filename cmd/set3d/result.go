package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// result is what load measured. Its JSON is read by programs: names are not changed.
type result struct {
	Matches     int            `json:"matches"`
	IdleTables  int            `json:"idle_tables,omitempty"`
	Players     int            `json:"players"`
	Echo        string         `json:"echo,omitempty"`
	Presets     string         `json:"presets,omitempty"`
	PaceMs      int64          `json:"pace_ms"`
	RampSeconds float64        `json:"ramp_seconds,omitempty"`
	Seed        uint64         `json:"seed,omitempty"`
	Seconds     float64        `json:"seconds"`
	MatchesOver int64          `json:"matches_over"`
	Claims      claimCounts    `json:"claims"`
	LatencyMs   latencies      `json:"verdict_latency_ms"`
	PerSecond   rates          `json:"per_second"`
	Refused     map[string]int `json:"refused_by_reason"`
	Errors      map[string]int `json:"errors_by_reason"`
	Connections connections    `json:"connections"`
	Client      clientResult   `json:"client"`
	Server      *serverResult  `json:"server,omitempty"`
	Verified    bool           `json:"verified"`
	Violations  int            `json:"violations"`
	Details     []string       `json:"violation_details,omitempty"`
	Interrupted bool           `json:"interrupted,omitempty"` // cut short
	Buckets     []bucket       `json:"latency_buckets,omitempty"`
	Timeline    []sample       `json:"timeline,omitempty"`

	refusal string // the first of the server's, in words
	gone    bool   // the server, at the end
}

type claimCounts struct {
	Sent       int `json:"sent"`
	Valid      int `json:"valid"`
	Invalid    int `json:"invalid"`
	Refused    int `json:"refused"`
	Unanswered int `json:"unanswered"`
}

type latencies struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99_9"`
	Max   float64 `json:"max"`
	Mean  float64 `json:"mean"`
}

type rates struct {
	MessagesSent     float64 `json:"messages_sent"`
	MessagesReceived float64 `json:"messages_received"`
	FramesSent       float64 `json:"frames_sent"`
	FramesReceived   float64 `json:"frames_received"`
	BytesSent        float64 `json:"bytes_sent"`
	BytesReceived    float64 `json:"bytes_received"`
}

// connections are those that were cut by --drop-every, and those that were made again for whatever reason.
type connections struct {
	Dropped     int64 `json:"dropped"`
	Reconnected int64 `json:"reconnected"`
}

// clientResult is what the load itself cost: it may share the machine with the server.
type clientResult struct {
	CPUSeconds             float64 `json:"cpu_seconds"`
	CPUPercent             float64 `json:"cpu_percent"` // of one core
	CPUMsPerThousandFrames float64 `json:"cpu_ms_per_1000_frames_received"`
}

type serverResult struct {
	CPUSeconds             float64 `json:"cpu_seconds"`
	CPUPercent             float64 `json:"cpu_percent"` // of one core
	CPUMsPerThousandFrames float64 `json:"cpu_ms_per_1000_frames_received"`
	RSSBeforeMB            float64 `json:"rss_mb_before"` // before the first table
	RSSMB                  float64 `json:"rss_mb"`        // at the end
	RSSPeakMB              float64 `json:"rss_mb_peak"`
	KiBPerTable            float64 `json:"rss_kib_per_table,omitempty"` // what was added, sockets and garbage included
	HeapBeforeMB           float64 `json:"heap_mb_before,omitempty"`
	HeapMB                 float64 `json:"heap_mb,omitempty"`
	GoroutinesBefore       uint64  `json:"goroutines_before,omitempty"`
	Goroutines             uint64  `json:"goroutines,omitempty"`
}

// result sums up what was counted from begin to end.
func (t *tally) result(flags loadFlags, end mark) result {
	t.mu.Lock()
	defer t.mu.Unlock()
	ms := func(us int64) float64 { return float64(us) / 1000 }
	seconds := end.at.Sub(t.start.at).Seconds()
	rate := func(from, to uint64) float64 { return float64(to-from) / seconds }
	from, to := t.start.sockets, end.sockets
	r := result{
		Matches: flags.matches, IdleTables: flags.idle, Players: flags.players, Echo: flags.echo, Presets: flags.presets,
		PaceMs: flags.pace.Milliseconds(), RampSeconds: flags.ramp.Seconds(), Seconds: seconds, MatchesOver: t.ended.Load(),
		Claims: claimCounts{Sent: t.claims, Valid: t.valid, Invalid: t.invalid, Unanswered: t.unanswered},
		LatencyMs: latencies{
			Count: t.latency.TotalCount(), Mean: t.latency.Mean() / 1000, Max: ms(t.latency.Max()),
			P50: ms(t.latency.ValueAtQuantile(50)), P90: ms(t.latency.ValueAtQuantile(90)),
			P99: ms(t.latency.ValueAtQuantile(99)), P999: ms(t.latency.ValueAtQuantile(99.9)),
		},
		PerSecond: rates{
			MessagesSent: rate(t.start.messagesSent, end.messagesSent), MessagesReceived: rate(t.start.messagesReceived, end.messagesReceived),
			FramesSent: rate(from.FramesSent, to.FramesSent), FramesReceived: rate(from.FramesReceived, to.FramesReceived),
			BytesSent: rate(from.BytesSent, to.BytesSent), BytesReceived: rate(from.BytesReceived, to.BytesReceived),
		},
		Refused: maps.Clone(t.refused), Errors: maps.Clone(t.errors),
		Connections: connections{t.dropped.Load(), t.reconnected.Load()},
		Verified:    flags.verify && flags.echo == "", Violations: t.wrong, Details: slices.Clone(t.violations),
		Buckets: buckets(t.latency), refusal: t.refusal, gone: t.gone,
	}
	for _, n := range t.refused {
		r.Claims.Refused += n
	}
	work := (end.work - t.start.work).Seconds()
	r.Client = clientResult{CPUSeconds: work, CPUPercent: 100 * work / seconds}
	if frames := to.FramesReceived - from.FramesReceived; frames > 0 {
		r.Client.CPUMsPerThousandFrames = work * 1000 / float64(frames) * 1000
	}
	return r
}

func (r result) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// judge is the exit code: a server under load may refuse, but it answers, and what it says is right.
func (r result) judge() error {
	switch {
	case r.Violations > 0:
		return exit(exitWrong, "%s found", count(r.Violations, "violation"))
	case r.Errors[connectionLost]+r.Errors[noConnection] > 0:
		again := "was reached again"
		if r.gone {
			again = "could not be reached again"
		}
		return exit(exitNoRoute, "the server was lost and %s (%s: %d, %s: %d)", again, connectionLost, r.Errors[connectionLost], noConnection,
			r.Errors[noConnection])
	case r.Interrupted:
		return exit(exitStopped, "interrupted after %.1f s", r.Seconds)
	case r.Claims.Unanswered > 0:
		return exit(exitWrong, "%s without an answer", count(r.Claims.Unanswered, "claim"))
	case r.LatencyMs.Count == 0 && (r.Matches > 0 || r.IdleTables == 0):
		return r.nothing("no claim was answered", "the time was too short")
	case r.Matches == 0 && len(r.Errors) > 0:
		return r.nothing("not all idle tables were opened", "")
	}
	return nil
}

// nothing is for a load that did not come about: because the server refused, or because of other errors, or else for the reason given.
func (r result) nothing(what, otherwise string) error {
	if r.refusal != "" {
		return exit(exitRefused, "%s: %s", what, r.refusal)
	}
	var why []string
	for _, name := range slices.Sorted(maps.Keys(r.Errors)) {
		why = append(why, fmt.Sprintf("%s: %d", name, r.Errors[name]))
	}
	if len(why) == 0 {
		why = append(why, otherwise)
	}
	return exit(exitWrong, "%s: %s", what, strings.Join(why, ", "))
}
