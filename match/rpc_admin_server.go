package match

import (
	"context"

	"set3d/match/archive"
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
	Waiting     int               `json:"waiting"`
	Finished    int               `json:"finished"`
	Stuck       int               `json:"stuck"`
	OldestMs    int64             `json:"oldest_ms"`
	Checkpoints int64             `json:"checkpoints"`
	Results     int64             `json:"results"`
	Failures    int64             `json:"failures"`
	Queue       []archive.Waiting `json:"queue"`
}

// adminQueue shows what waits to be stored, what has waited longest first.
func (m *module) adminQueue(_ context.Context, r *request) (any, error) {
	limit := int64(adminQueueNormal)
	if n, ok := r.number("limit", 0, adminQueueMax); ok {
		limit = n
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	c := m.archive.Counters()
	return adminQueueResponse{
		Waiting: c.Waiting, Finished: c.Finished, Stuck: c.Stuck, OldestMs: c.Oldest.Milliseconds(),
		Checkpoints: c.Checkpoints, Results: c.Results, Failures: c.Failures, Queue: m.archive.Queue(int(limit)),
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
