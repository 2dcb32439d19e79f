package match

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	wire "set3d/proto/set3d/v1"
)

// opening is a table that is being made, and who has been promised a seat there. Only the registry touches it, until it is done.
type opening struct {
	setup    tableSetup
	hold     time.Duration // of each promise
	promised []string
	box      *mailbox      // from MatchInit on
	resumed  bool          // its match was interrupted: nobody is sent there
	done     chan struct{} // closed when it is made, or err says why not
	matchID  string
	err      error
}

func (m *module) newOpening(s tableSetup, promised ...string) *opening {
	return &opening{setup: s, hold: m.config.reservation, promised: promised, done: make(chan struct{})}
}

// make makes the match of an opening that was begun. It is made although the caller goes away: others may wait for it.
func (m *module) make(ctx context.Context, o *opening) (err error) {
	err = reject(wire.Reason_REASON_INTERNAL, nil) // if something panics
	defer func() { err = m.tables.finish(o, err, m.clock.now()) }()
	if m.archive.Backlog() >= m.config.archive.backlog {
		return m.storageFailed(errBacklog)
	}
	if m.operator.isDraining() {
		return reject(wire.Reason_REASON_SHUTTING_DOWN, nil)
	}
	params, err := o.setup.params()
	if err != nil {
		return m.openFailed(err)
	}
	o.matchID, err = m.nk.MatchCreate(context.WithoutCancel(ctx), Name, params)
	if err != nil {
		return m.openFailed(err)
	}
	m.count("set3d_tables_opened_total", map[string]string{"preset": presetLabel(o.setup.rulesName())})
	return nil
}

var errBacklog = errors.New("too many finished matches wait to be stored")

// storageFailed is what a client hears of a database that does not do what it should.
func (m *module) storageFailed(err error) error {
	m.logger.Error("storage: %v", err)
	m.count("set3d_storage_failures_total", nil)
	return reject(wire.Reason_REASON_STORAGE_UNAVAILABLE, nil)
}

// openFailed maps Nakama's errors, which are plain text that would otherwise reach the client.
func (m *module) openFailed(err error) error {
	if strings.Contains(err.Error(), "shutdown in progress") {
		return reject(wire.Reason_REASON_SHUTTING_DOWN, nil)
	}
	m.logger.Error("cannot create a match: %v", err)
	return reject(wire.Reason_REASON_INTERNAL, nil)
}

// begin counts a table that is about to be made, and gives it its id and its code. false if its creator has too many.
func (r *registry) begin(o *opening, limit int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.beginLocked(o, limit)
}

func (r *registry) beginLocked(o *opening, limit int) bool {
	if creator := o.setup.Creator; creator != "" && r.open[creator] >= limit {
		return false
	}
	r.count(o.setup.Creator)
	o.setup.TableID, o.setup.Code = newTableID(), r.unusedCode()
	r.codes[o.setup.Code] = nil
	r.openings = append(r.openings, o)
	return true
}

// beginResume returns the mailbox of a table that is open; or the opening by which it is being resumed, which mine says is fresh: the caller has to
// finish it. With a nil fresh it only looks, and may find neither.
func (r *registry) beginResume(tableID string, fresh *opening) (o *opening, mine bool, b *mailbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.openings { // first: a table that is being made has its mailbox before Nakama knows the match
		if o.setup.TableID == tableID {
			return o, false, nil
		}
	}
	if b := r.ofTableLocked(tableID); b != nil {
		return nil, false, b
	}
	if fresh == nil {
		return nil, false, nil
	}
	fresh.resumed = true
	r.openings = append(r.openings, fresh)
	return fresh, true, nil
}

// adopt gives an opening the setup of the table that it resumes, with its code, unless another table has that by now.
func (r *registry) adopt(o *opening, s tableSetup) tableSetup {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, used := r.codes[s.Code]; used || s.Code == "" {
		s.Code = r.unusedCode()
	}
	r.codes[s.Code] = nil
	r.count(s.Creator)
	o.setup = s
	return s
}

func (r *registry) unusedCode() string {
	for {
		code := r.newCode()
		if _, used := r.codes[code]; !used {
			return code
		}
	}
}

// finish lists the table that was made, and starts its promises anew; or it gives everything back. Those who wait go on.
func (r *registry) finish(o *opening, err error, now time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer close(o.done)
	r.openings = slices.DeleteFunc(r.openings, func(other *opening) bool { return other == o })
	if err == nil && o.box == nil { // cannot be: a node makes its own matches
		err = reject(wire.Reason_REASON_INTERNAL, nil)
	}
	o.err = err
	switch {
	case err != nil && o.box != nil:
		r.removeLocked(o.box)
	case err != nil:
		delete(r.codes, o.setup.Code)
		r.release(o.setup.Creator)
	case r.boxes[o.box.key] == o.box: // it has not broken meanwhile
		r.codes[o.setup.Code] = o.box
		r.list(o.box)
		if kind, ok := o.setup.kind(); ok && !o.resumed {
			r.publishLocked(o.box, kind)
		}
		o.restartPromises(now)
	}
	return err
}

// keepPromises reserves the seats at the table itself.
func (o *opening) keepPromises(now time.Duration) {
	for _, userID := range o.promised {
		o.box.ledger.reserve(userID, now+o.hold, now)
	}
}

// restartPromises lets the promises begin when the table is there.
func (o *opening) restartPromises(now time.Duration) {
	for _, userID := range o.promised {
		o.box.ledger.restart(userID, now+o.hold, now)
	}
}
