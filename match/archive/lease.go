package archive

import (
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// node is until when a process is surely alive.
type node struct {
	Boot        string `json:"boot"`
	UntilUnixMs int64  `json:"until_unix_ms"`
}

const (
	// leaseTime is for how long a process says that it is alive; three renewals may be lost.
	leaseTime = 40 * time.Second
	// LeaseEvery is how often Lease should be called.
	LeaseEvery = 10 * time.Second
)

// Lease says that this process is alive, so that no other takes its tables over. If it has not said so for too long, it
// looks whether they are still its own.
func (a *Archive) Lease() error {
	ctx, cancel := callContext()
	defer cancel()
	until := time.Now().Add(leaseTime)
	value := encode(node{Boot: a.boot, UntilUnixMs: until.UnixMilli()})
	_, err := a.nk().StorageWrite(ctx, []*runtime.StorageWrite{{Collection: nodesCollection, Key: a.config.Node, Value: value}})
	if err == nil {
		a.renewed(until)
	}
	return err
}

// renewed notes the lease. After a gap every table is stored anew, which fails if another process has it.
func (a *Archive) renewed(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	late := !a.leased.IsZero() && time.Now().Round(0).After(a.leased.Round(0)) // by the calendar: it runs on while a machine sleeps
	a.leased = until
	if !late {
		return
	}
	for _, e := range a.entries {
		if e.latest.State == Running && !e.isDirty() {
			a.putLocked(e, e.latest)
		}
	}
}

// isAlive reports whether another process that owns a table may still play it. Of two processes with the same node's
// name the older one is gone: the name is part of every match id, and Nakama needs it to be unique.
func (a *Archive) isAlive(o owner) (bool, error) {
	if o.Node == a.config.Node {
		return false, nil
	}
	stored, err := a.readOne(nodesCollection, o.Node)
	if err != nil || stored == nil {
		return false, err
	}
	var n node // one that cannot be read is soon written anew, if its process is alive
	readable := decode(stored.value, &n) == nil
	return readable && n.Boot == o.Boot && time.Now().UnixMilli() < n.UntilUnixMs, nil
}
