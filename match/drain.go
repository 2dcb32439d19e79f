package match

import (
	"context"
	"database/sql"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
)

const (
	// A running match is suspended so long before the server is gone: a third of the grace, but no less and no more than this. The
	// writer needs the rest.
	leastMargin = 500 * time.Millisecond
	mostMargin  = 5 * time.Second
	// drainPoll is how often the shutdown looks whether the tables have closed.
	drainPoll = 20 * time.Millisecond
)

// drain begins the end of this process, which is gone after the grace. Matches that can end until shortly before do; the others are suspended.
func (t *table) drain(grace time.Duration) {
	t.draining = true
	t.module.operator.leaving.Store(true)
	margin := min(max(grace/3, leastMargin), mostMargin)
	t.suspendAt = t.now + max(0, grace-margin)
	t.lastCall = t.suspendAt + margin/3
}

// dropAbsent lets the players of a resumed match who are not back in time drop, where the rules would have them forfeit at once.
func (t *table) dropAbsent() {
	if t.returnBy == 0 || t.now < t.returnBy || t.ended {
		return
	}
	t.returnBy = 0
	for i := range t.seats.count {
		if s := &t.seats.seat[i]; s.userID != "" && s.visitor == nil {
			t.apply(domain.Drop{Seat: i})
		}
	}
}

// shutdown waits until all that the tables hand over is stored. It starts together with MatchTerminate, and nobody waits for it once the
// grace is over.
func (m *module) shutdown(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule) {
	defer m.guard(atShutdown)
	m.operator.leaving.Store(true)
	ticker := time.NewTicker(drainPoll)
	defer ticker.Stop()
	for {
		quiet := m.tables.playing() == 0 // asked first: a table hands over what it has before it closes
		if err := m.archive.Drain(ctx); err == nil && quiet {
			m.logger.Info("all matches are stored")
			return
		}
		select {
		case <-ctx.Done():
			m.logger.Warn("%d matches are not stored as they are now: they go on from their last checkpoints", m.archive.Counters().Waiting+m.tables.playing())
			return
		case <-ticker.C:
		}
	}
}
