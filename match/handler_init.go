package match

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
)

// MatchInit makes a table. Nakama does not know the match yet: nothing can be sent to it, and no signal finds it.
func (h *handler) MatchInit(ctx context.Context, logger runtime.Logger, _ *sql.DB, _ runtime.NakamaModule, params map[string]any) (state any, tickRate int, text string) {
	matchID, _ := ctx.Value(runtime.RUNTIME_CTX_MATCH_ID).(string)
	defer func() {
		if cause := recover(); cause != nil {
			h.module.report(atMatchInit, cause, matchID, 0)
			state, tickRate, text = nil, 0, ""
		}
	}()
	logger = h.module.logger.over(logger)
	t, err := newTable(h.module, logger, matchID, params)
	if err != nil {
		logger.Error("cannot make a match: %v", err)
		return nil, 0, ""
	}
	t.box.trip(atMatchInit)
	h.module.tables.add(t.box)
	// Nakama tells nobody that a match has stopped, but it cancels this context.
	context.AfterFunc(ctx, t.box.stopped)
	return t, h.module.config.tickRate, t.label.String()
}

func newTable(m *module, logger runtime.Logger, matchID string, params map[string]any) (*table, error) {
	setup, err := readSetup(params)
	if err != nil {
		return nil, err
	}
	key, ok := parseMatchID(matchID)
	if !ok {
		return nil, fmt.Errorf("match id %q is not a UUID and a node", matchID)
	}
	box := &mailbox{
		module: m, id: matchID, key: key, tableID: setup.TableID, creator: setup.Creator, code: setup.Code, rules: setup.Rules,
		panicAt:  setup.PanicAt,
		admitted: map[string]*admission{}, met: map[string]bool{},
	}
	now := m.clock.now()
	box.ledger = newLedger(setup.Seats, setup.Reserved, now+ms(setup.ReservedMs))
	t := &table{
		module: m, setup: setup, box: box, logger: logger, seats: seats{count: setup.Seats},
		session: domain.NewSession(), abort: newAbort(), now: now, emptySince: now,
	}
	if interrupted, ok := params[resumeParam].(string); ok {
		if err := t.resume(interrupted); err != nil {
			return nil, err
		}
	} else {
		t.seatBots()
	}
	t.label = t.currentLabel()
	t.publishFacts()
	return t, nil
}

func (t *table) seatBots() {
	for i, level := range t.setup.Bots {
		if level != 0 {
			t.seatBot(level, i)
		}
	}
}

// stopped runs when Nakama has stopped the match, for whatever reason, perhaps in the middle of a callback. It touches
// nothing that belongs to the match's goroutine.
func (b *mailbox) stopped() {
	defer b.guard(atAfterFunc)
	defer b.module.tables.remove(b)
	left := b.close()
	b.module.archive.Suspend(b.tableID, b.where().incarnation)
	b.trip(atAfterFunc)
	b.refuseAll(left, tableClosed)
}
