package match

import (
	"context"
	"errors"

	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

type adminDrainResponse struct {
	Draining bool `json:"draining"`
	Tables   int  `json:"tables"` // that are open
	Playing  int  `json:"playing"`
}

// adminDrain lets this process open no new tables, or does so again. What runs goes on.
func (m *module) adminDrain(_ context.Context, r *request) (any, error) {
	on, given := r.flag("on")
	if err := r.done(); err != nil {
		return nil, err
	}
	if given {
		m.logger.Warn("an operator sets draining to %t", on)
		m.operator.setDraining(on)
	}
	answer := adminDrainResponse{Draining: m.operator.isDraining()}
	for _, b := range m.tables.listed() {
		answer.Tables++
		if b.known().label.Phase == phasePlaying {
			answer.Playing++
		}
	}
	return answer, nil
}

type adminQueueResponse struct {
	Waiting     int                `json:"waiting"`
	Finished    int                `json:"finished"`
	Stuck       int                `json:"stuck"`
	OldestMs    int64              `json:"oldest_ms"`
	Checkpoints int64              `json:"checkpoints"`
	Results     int64              `json:"results"`
	Failures    int64              `json:"failures"`
	Queue       []archive.Waiting  `json:"queue"`
	SetAside    []archive.SetAside `json:"set_aside"` // null: the database does not answer
}

// retryIDMax is how long the id of what is set aside may be, in characters.
const retryIDMax = 128

// adminQueue shows what waits to be stored, what has waited longest first, and what is set aside because it cannot be
// settled. With "retry" it first tries one of these again.
func (m *module) adminQueue(_ context.Context, r *request) (any, error) {
	limit := int64(adminQueueNormal)
	if n, ok := r.number("limit", 0, adminQueueMax); ok {
		limit = n
	}
	again, given := r.text("retry", retryIDMax)
	if err := r.done(); err != nil {
		return nil, err
	}
	if given {
		m.logger.Info("an operator lets %s be settled again", again)
		switch err := m.archive.Retry(again); {
		case errors.Is(err, archive.ErrNotAside):
			return nil, reject(wire.Reason_REASON_UNKNOWN_RESULT, args{"retry": shorten(again)})
		case err != nil:
			return nil, reject(wire.Reason_REASON_NOT_SETTLED, args{"retry": shorten(again), "error": err.Error()})
		}
	}
	aside, err := m.archive.SetAside()
	if err != nil {
		aside = nil // the queue is what an operator asks for when the database is away
	}
	c := m.archive.Counters()
	return adminQueueResponse{
		Waiting: c.Waiting, Finished: c.Finished, Stuck: c.Stuck, OldestMs: c.Oldest.Milliseconds(),
		Checkpoints: c.Checkpoints, Results: c.Results, Failures: c.Failures, Queue: m.archive.Queue(int(limit)), SetAside: aside,
	}, nil
}

// adminRepair sets the leaderboards anew, unless that is going on; or only says how far it is.
func (m *module) adminRepair(_ context.Context, r *request) (any, error) {
	start, given := r.flag("start")
	if err := r.done(); err != nil {
		return nil, err
	}
	if (start || !given) && m.operator.repair.begin() {
		m.logger.Info("an operator lets the leaderboards be set anew")
		go m.operator.repairLeaderboards()
	}
	return m.operator.repair.view(), nil
}
