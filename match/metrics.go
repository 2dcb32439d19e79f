package match

import (
	"maps"
	"slices"
	"strings"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// MetricKind is what a metric's number means.
type MetricKind string

// The kinds of metrics. A counter only grows, a gauge is what is the case now.
const (
	Counter MetricKind = "counter"
	Gauge   MetricKind = "gauge"
)

// Metric is one metric of this module. Nakama shows it as "nakama_custom_" with its name, and adds the label node_name.
type Metric struct {
	Name   string
	Kind   MetricKind
	Labels []MetricLabel
	Help   string
}

// MetricLabel is a label with all the values that it can have. There is none for a user, a match or a table: a label's
// values must stay few. Nakama replaces everything but letters, digits and underscores in them.
type MetricLabel struct {
	Name   string
	Values []string
}

// The labels of presets that are not built in.
const (
	operatorLabel = "operator" // any that an operator has added
	stoppedLabel  = "OPERATOR" // of a match that an operator has ended
)

// Metrics is every metric of this module, in the order of the documentation.
func Metrics() []Metric {
	return slices.Concat(tableMetrics(), claimMetrics(), accessMetrics(), troubleMetrics(), archiveMetrics())
}

func tableMetrics() []Metric {
	preset := MetricLabel{"preset", presetLabels()}
	return []Metric{
		gauge("set3d_info", "1 while the module runs; the version has underscores for dots", MetricLabel{"version", []string{versionLabel()}}),
		gauge("set3d_draining", "1 while no new tables are opened"),
		gauge("set3d_tables", "tables by preset and phase", preset, MetricLabel{"phase", phases()}),
		gauge("set3d_players", "humans who have a seat at a table whose match is not over", MetricLabel{"state", []string{playerConnected, playerAway}}),
		gauge("set3d_mailbox_depth", "the most messages that waited at one table at once, in the last five seconds; 256 is full"),
		counter("set3d_tables_opened_total", "tables made", preset),
		counter("set3d_matches_started_total", "matches begun", preset),
		counter("set3d_matches_ended_total", "matches over", MetricLabel{"reason", endLabels()}),
		counter("set3d_matches_suspended_total", "matches interrupted by a shutdown"),
		counter("set3d_matches_resumed_total", "matches that went on after a restart"),
		counter("set3d_quick_matches_total", "answers of quick_match", preset),
		counter("set3d_matchmaker_matches_total", "matches made by the matchmaker", preset),
		counter("set3d_matchmaker_failed_total", "groups of the matchmaker's that got no match"),
	}
}

func claimMetrics() []Metric {
	return []Metric{
		counter("set3d_claims_total", "claims judged, those of bots included", MetricLabel{"verdict", []string{verdictValid, verdictWrong}}),
		counter("set3d_claims_refused_total", "claims that were not judged, by reason", MetricLabel{"reason", reasonLabels(1, lastClaimReason)}),
		counter("set3d_verdict_microseconds_bucket", "claims by the time from their arrival until their verdict was sent, cumulative: a histogram. "+
			"Claims that the rules held back do not count", MetricLabel{"le", verdictBuckets()}),
		counter("set3d_reconnects_total", "players who came back to a match that they had dropped out of"),
		counter("set3d_takeovers_total", "seats that went to a newer session of the same user"),
	}
}

func accessMetrics() []Metric {
	reason, rpc := MetricLabel{"reason", reasonLabels(firstRequestReason, reasonsMax)}, MetricLabel{"rpc", rpcLabels()}
	return []Metric{
		counter("set3d_messages_refused_total", "match messages that were not taken, claims refused by the rules not among them",
			MetricLabel{"reason", reasonLabels(1, lastMessageReason)}),
		counter("set3d_joins_refused_total", "joins that were refused", reason),
		counter("set3d_rpcs_total", "RPCs called", rpc),
		counter("set3d_rpcs_refused_total", "RPCs that failed", reason),
		counter("set3d_rpcs_limited_total", "RPCs over a user's limit", rpc),
		counter("set3d_joins_limited_total", "joins over a user's limit"),
		counter("set3d_tables_limited_total", "tables that were not opened because their user has too many"),
		counter("set3d_codes_wrong_total", "wrong invitation codes"),
		counter("set3d_codes_limited_total", "invitation codes over a user's limit"),
		counter("set3d_sessions_cut_off_total", "sessions disconnected because they went on flooding"),
		counter("set3d_tickets_refused_total", "tickets of the matchmaker's that were refused"),
		counter("set3d_relayed_refused_total", "relayed matches that were refused"),
		counter("set3d_apis_refused_total", "requests to APIs of Nakama that are switched off", MetricLabel{"api", apiNames()}),
		counter("set3d_clients_outdated_total", "calls of hello by clients below the minimum version"),
		counter("set3d_reports_total", "reports of players about players", MetricLabel{"reason", reportReasons[:]}),
	}
}

func troubleMetrics() []Metric {
	return []Metric{
		counter("set3d_panics_total", "panics that were caught; each may have ended a match", MetricLabel{"at", panicLabels()}),
		counter("set3d_messages_past_hook_total", "ticks with messages that came past the hook: another module may have taken it"),
		counter("set3d_bell_retries_total", "signals that Nakama did not take at once"),
		counter("set3d_block_lists_unread_total", "block lists that could not be read"),
		counter("set3d_storage_failures_total", "requests that failed because of the database"),
	}
}

func archiveMetrics() []Metric {
	return []Metric{
		gauge("set3d_archive_queue", "tables with a state that is not stored yet"),
		gauge("set3d_archive_finished", "of these, matches that are over; at SET3D_BACKLOG_MAX no tables are opened"),
		gauge("set3d_archive_stuck", "of these, tried three times in a row or more"),
		gauge("set3d_archive_set_aside", "settlements, and parts of them, that cannot succeed as they are stored: see admin_queue"),
		gauge("set3d_archive_oldest_seconds", "how long the one that has waited longest has"),
		counter("set3d_archive_checkpoints_total", "checkpoints stored"),
		counter("set3d_archive_results_total", "results stored"),
		counter("set3d_archive_failures_total", "attempts to store something that failed"),
		counter("set3d_verdicts_unsafe_total", "times that a table with SET3D_DURABILITY=safe told verdicts unstored"),
	}
}

func gauge(name, help string, labels ...MetricLabel) Metric {
	return Metric{Name: name, Kind: Gauge, Help: help, Labels: labels}
}

func counter(name, help string, labels ...MetricLabel) Metric {
	return Metric{Name: name, Kind: Counter, Help: help, Labels: labels}
}

// presetLabel is a preset's value as a label: a name that an operator has thought of is none.
func presetLabel(name string) string {
	if slices.Contains(presetLabels(), name) {
		return name
	}
	return operatorLabel
}

func presetLabels() []string {
	return append(builtInPresets().names(), customPreset, operatorLabel)
}

func phases() []string { return []string{phaseLobby, phasePlaying, phaseEnded} }

// Of the reasons claims get those from 1 on, messages those of claims and of messages, and everything else those from firstRequestReason on.
const (
	lastClaimReason    = 29
	firstRequestReason = wire.Reason_REASON_BUSY
	lastMessageReason  = wire.Reason_REASON_TABLE_FULL
)

func reasonLabels(first, last wire.Reason) []string {
	var names []string
	for _, number := range slices.Sorted(maps.Keys(wire.Reason_name)) {
		if number >= int32(first) && number <= int32(last) {
			names = append(names, reasonName(wire.Reason(number)))
		}
	}
	return names
}

func endLabels() []string {
	var names []string
	for reason := domain.EndNoSetsLeft; reason <= domain.EndIdle; reason++ {
		names = append(names, endLabel(reason))
	}
	return append(names, stoppedLabel)
}

func endLabel(r domain.EndReason) string {
	return strings.TrimPrefix(endReasonToWire(r).String(), "END_REASON_")
}

func rpcLabels() []string { return sortedKeys((&module{}).rpcs()) }

func panicLabels() []string {
	names := []string{
		string(atMatchmaker), string(atShutdown), string(atArchive), string(atAccount), string(atHousekeeper),
	}
	for _, at := range entryPoints() {
		names = append(names, string(at))
	}
	slices.Sort(names)
	return names
}
