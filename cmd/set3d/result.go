package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// result is what load measured. Its JSON is read by programs: names are not changed.
type result struct {
	Matches     int            `json:"matches"`
	Players     int            `json:"players"`
	PaceMs      int64          `json:"pace_ms"`
	Seconds     float64        `json:"seconds"`
	MatchesOver int64          `json:"matches_over"`
	Claims      claimCounts    `json:"claims"`
	LatencyMs   latencies      `json:"verdict_latency_ms"`
	PerSecond   rates          `json:"per_second"`
	Refused     map[string]int `json:"refused_by_reason"`
	Errors      map[string]int `json:"errors_by_reason"`
	Verified    bool           `json:"verified"`
	Violations  int            `json:"violations"`
	Details     []string       `json:"violation_details,omitempty"`
	Interrupted bool           `json:"interrupted,omitempty"` // cut short
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

func (t *tally) result(flags loadFlags, elapsed time.Duration, carried traffic) result {
	t.mu.Lock()
	defer t.mu.Unlock()
	ms := func(us int64) float64 { return float64(us) / 1000 }
	seconds := elapsed.Seconds()
	r := result{
		Matches: flags.matches, Players: flags.players, PaceMs: flags.pace.Milliseconds(), Seconds: seconds, MatchesOver: t.ended.Load(),
		Claims: claimCounts{Sent: t.claims, Valid: t.valid, Invalid: t.invalid, Unanswered: t.unanswered},
		LatencyMs: latencies{
			Count: t.latency.TotalCount(), Mean: t.latency.Mean() / 1000, Max: ms(t.latency.Max()),
			P50: ms(t.latency.ValueAtQuantile(50)), P90: ms(t.latency.ValueAtQuantile(90)),
			P99: ms(t.latency.ValueAtQuantile(99)), P999: ms(t.latency.ValueAtQuantile(99.9)),
		},
		PerSecond: rates{
			MessagesSent: float64(carried.messagesSent) / seconds, MessagesReceived: float64(carried.messagesReceived) / seconds,
			FramesSent: float64(carried.sockets.FramesSent) / seconds, FramesReceived: float64(carried.sockets.FramesReceived) / seconds,
			BytesSent: float64(carried.sockets.BytesSent) / seconds, BytesReceived: float64(carried.sockets.BytesReceived) / seconds,
		},
		Refused: maps.Clone(t.refused), Errors: maps.Clone(t.errors),
		Verified: flags.verify, Violations: t.wrong, Details: slices.Clone(t.violations),
	}
	for _, n := range t.refused {
		r.Claims.Refused += n
	}
	return r
}

func (r result) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

func (r result) writeTable(p *pen) error {
	p.printf("%s of %s for %.1f s, a claim each %.1f s; %s played to the end\n\n", count(r.Matches, "match"), count(r.Players, "player"),
		r.Seconds, float64(r.PaceMs)/1000, count(int(r.MatchesOver), "match"))
	p.printf("%s     p50      p90      p99    p99.9      max\n", p.bold.Render("Verdict latency, ms"))
	p.printf("%19s %7.2f  %7.2f  %7.2f  %7.2f  %7.2f\n\n", count(int(r.LatencyMs.Count), "answer"), r.LatencyMs.P50, r.LatencyMs.P90,
		r.LatencyMs.P99, r.LatencyMs.P999, r.LatencyMs.Max)
	p.printf("%s           sent  received\n", p.bold.Render("Per second"))
	p.printf("  match messages %8.0f  %8.0f\n  socket frames  %8.0f  %8.0f\n  kilobytes      %8.1f  %8.1f\n\n", r.PerSecond.MessagesSent,
		r.PerSecond.MessagesReceived, r.PerSecond.FramesSent, r.PerSecond.FramesReceived, r.PerSecond.BytesSent/1000, r.PerSecond.BytesReceived/1000)
	p.printf("%s  %d: %d Sets, %d wrong, %d refused, ", p.bold.Render("Claims"), r.Claims.Sent, r.Claims.Valid, r.Claims.Invalid, r.Claims.Refused)
	unanswered := fmt.Sprintf("%d unanswered", r.Claims.Unanswered)
	if r.Claims.Unanswered > 0 {
		unanswered = p.bad.Render(unanswered)
	}
	p.printf("%s\n", unanswered)
	p.reasons("  refused", r.Refused)
	p.reasons(p.bad.Render("Errors"), r.Errors)
	if r.Verified {
		p.printf("%s  %d\n", p.bold.Render("Violations"), r.Violations)
	}
	for _, detail := range r.Details {
		p.printf("  %s\n", detail)
	}
	if r.Interrupted {
		p.printf("\n%s\n", p.bold.Render("Interrupted: this is what was seen until then."))
	}
	return nil
}

func (p *pen) reasons(title string, counts map[string]int) {
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		p.printf("%s  %s: %d\n", title, reason, counts[reason])
	}
}

// judge is the exit code: a server under load may refuse, but it answers, and what it says is right.
func (r result) judge() error {
	switch {
	case r.Violations > 0:
		return exit(exitWrong, "%s found", count(r.Violations, "violation"))
	case r.Errors[connectionLost]+r.Errors[noConnection] > 0:
		return exit(exitNoRoute, "the server was lost and could not be reached again (%s: %d, %s: %d)", connectionLost, r.Errors[connectionLost],
			noConnection, r.Errors[noConnection])
	case r.Interrupted:
		return exit(exitStopped, "interrupted after %.1f s", r.Seconds)
	case r.Claims.Unanswered > 0:
		return exit(exitWrong, "%s without an answer", count(r.Claims.Unanswered, "claim"))
	case r.LatencyMs.Count == 0:
		return exit(exitWrong, "no claim was answered: the time was too short, or %v", r.Errors)
	}
	return nil
}
