package match

import (
	"cmp"
	"errors"
	"sync"
)

// repair is the leaderboards' being set anew, which takes long and runs beside everything else.
type repair struct {
	mu      sync.Mutex
	running bool
	runs    int
	players int // of the last one that has ended
	fault   string
}

type repairView struct {
	Running bool   `json:"running"`
	Runs    int    `json:"runs"` // since the server started
	Players int    `json:"players"`
	Error   string `json:"error,omitempty"` // of the last one
}

// begin reports whether a repair is to be started: one at a time is enough.
func (r *repair) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	begin := !r.running
	r.running = true
	return begin
}

func (r *repair) end(players int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running, r.players, r.fault = false, players, ""
	r.runs++
	if err != nil {
		r.fault = cmp.Or(err.Error(), "failed")
	}
}

func (r *repair) view() repairView {
	r.mu.Lock()
	defer r.mu.Unlock()
	return repairView{Running: r.running, Runs: r.runs, Players: r.players, Error: r.fault}
}

// repairLeaderboards runs on a goroutine of its own.
func (o *operator) repairLeaderboards() {
	players, err := 0, errors.New("it broke")
	defer func() { o.repair.end(players, err) }()
	defer o.module.guard(atHousekeeper)
	players, err = o.module.archive.RepairLeaderboards()
	o.module.logger.Info("the leaderboards of %d players were set anew: %v", players, err)
}
