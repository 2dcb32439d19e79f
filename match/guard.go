package match

import (
	"runtime/debug"
)

// entryPoint is where Nakama, or a goroutine of ours, enters this package. Nakama recovers no panic: one that escaped
// from any of them would end the process, and every match in it.
type entryPoint string

const (
	atMatchInit   entryPoint = "match_init"
	atJoinAttempt entryPoint = "join_attempt"
	atJoin        entryPoint = "join"
	atLeave       entryPoint = "leave"
	atLoop        entryPoint = "loop"
	atSignal      entryPoint = "signal"
	atTerminate   entryPoint = "terminate"
	atString      entryPoint = "string"
	atHook        entryPoint = "hook"
	atTimer       entryPoint = "timer"
	atBell        entryPoint = "bell"
	atAfterFunc   entryPoint = "after_func"
	atRPC         entryPoint = "rpc"
	atLookUp      entryPoint = "look_up"
	atRematch     entryPoint = "rematch"
	atMatchmaker  entryPoint = "matchmaker"
	atShutdown    entryPoint = "shutdown"
	atArchive     entryPoint = "archive"
	atAccount     entryPoint = "account"
	atHousekeeper entryPoint = "housekeeping"
)

// entryPoints are all of them, in the order in which an error message lists them.
func entryPoints() []entryPoint {
	return []entryPoint{
		atMatchInit, atJoinAttempt, atJoin, atLeave, atLoop, atSignal, atTerminate, atString, atHook, atTimer, atBell,
		atAfterFunc, atRPC, atLookUp, atRematch,
	}
}

// report logs and counts a recovered panic. It must not panic itself, whatever the logger and the metrics do.
func (m *module) report(at entryPoint, cause any, matchID string, revision uint64) {
	defer func() { _ = recover() }()
	m.logger.Error("panic in %s of match %q at revision %d: %v\n%s", string(at), matchID, revision, cause, debug.Stack())
	m.count("set3d_panics_total", map[string]string{"at": string(at)})
}

// guard is deferred by what belongs to no match.
func (m *module) guard(at entryPoint) {
	if cause := recover(); cause != nil {
		m.report(at, cause, "", 0)
	}
}

// guard is deferred by every callback of a match: a panic ends the table, and nothing else.
func (t *table) guard(at entryPoint) {
	if cause := recover(); cause != nil {
		t.module.report(at, cause, t.box.id, t.sentRevision)
		t.die()
	}
}

// guard is deferred by what runs beside the match's goroutine: a panic there marks the table, whose next callback, a tick
// at the latest, ends it.
func (b *mailbox) guard(at entryPoint) {
	if cause := recover(); cause != nil {
		b.poison()
		b.module.report(at, cause, b.id, b.where().revision)
	}
}

// trip panics where a test has asked for it, once.
func (b *mailbox) trip(at entryPoint) {
	if b.panicAt == at && b.tripped.CompareAndSwap(false, true) {
		panic("ordered by test_panic_at: " + string(at))
	}
}

// alone runs one of several parts that must all run, whatever happens in the others.
func alone(part func()) {
	defer func() { _ = recover() }()
	part()
}
