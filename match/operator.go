package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

const (
	// The operator's settings are one object in Nakama's storage, which only the module may read and write.
	operatorCollection = "set3d_operator"
	operatorKey        = "settings"
	// operatorEvery is how often they are looked at, for what another process has written.
	operatorEvery = 5 * time.Second
	// operatorTimeout bounds one call of the database.
	operatorTimeout = 5 * time.Second
	operatorTries   = 5 // of a write that met another one
)

// operatorSettings is what an operator has changed while the server runs. It outlives restarts.
type operatorSettings struct {
	Announcement *announcement  `json:"announcement,omitempty"`
	MinClient    string         `json:"min_client_version,omitempty"`
	RefuseOld    bool           `json:"refuse_old_clients,omitempty"` // else they are only told
	Presets      []presetChange `json:"presets,omitempty"`
}

// announcement is what players are told, until it is over.
type announcement struct {
	Text        string `json:"text"`
	AtUnixMs    int64  `json:"at_unix_ms,omitempty"`    // of what is announced
	UntilUnixMs int64  `json:"until_unix_ms,omitempty"` // when it is not shown any more; 0: never
}

// standsAt reports whether there is something to be told.
func (a *announcement) standsAt(now time.Time) bool {
	return a != nil && (a.UntilUnixMs == 0 || now.UnixMilli() < a.UntilUnixMs)
}

// policy is the operator's settings as they are used. It is never changed, only replaced.
type policy struct {
	settings operatorSettings
	presets  catalogue
}

// operator holds what an operator has decided.
type operator struct {
	module   *module
	draining atomic.Bool // no new tables in this process; not stored, since a new process is not to drain
	leaving  atomic.Bool // the process shuts down, which is for good
	current  atomic.Pointer[policy]

	mu      sync.Mutex // held while the settings are read or written
	version string     // of what is in use; "*": nothing is stored

	repair repair
}

func newOperator(m *module) *operator {
	o := &operator{module: m, version: "*"}
	o.current.Store(&policy{presets: builtInPresets()})
	return o
}

// start reads the settings. A database that does not answer must not keep the server from starting: they are read later.
func (o *operator) start() {
	o.refresh()
	o.module.clock.repeat(operatorEvery, operatorEvery, o.refresh)
}

func (o *operator) policy() *policy { return o.current.Load() }

// presets are those that are offered now.
func (m *module) presets() catalogue { return m.operator.policy().presets }

func (o *operator) refresh() {
	defer o.module.guard(atHousekeeper)
	o.mu.Lock()
	defer o.mu.Unlock()
	settings, version, err := o.read()
	switch {
	case err != nil:
		o.module.logger.Warn("cannot read the operator's settings, will try again: %v", err)
	case version != o.version:
		o.adopt(settings, version)
	}
}

// change changes the settings, here at once and elsewhere soon.
func (o *operator) change(f func(*operatorSettings) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for range operatorTries {
		settings, version, err := o.read()
		if err != nil {
			return o.module.storageFailed(err)
		}
		if err := f(&settings); err != nil {
			return err
		}
		version, err = o.write(&settings, version)
		if err == nil {
			o.adopt(settings, version)
			return nil
		}
		if !errors.Is(err, runtime.ErrStorageRejectedVersion) {
			return o.module.storageFailed(err)
		}
	}
	return reject(wire.Reason_REASON_BUSY, waitArgs(time.Second))
}

func (o *operator) read() (settings operatorSettings, version string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), operatorTimeout)
	defer cancel()
	objects, err := o.module.nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: operatorCollection, Key: operatorKey}})
	if err != nil || len(objects) == 0 {
		return settings, "*", err
	}
	if err := json.Unmarshal([]byte(objects[0].Value), &settings); err != nil {
		return settings, "", fmt.Errorf("the operator's settings: %w", err)
	}
	return settings, objects[0].Version, nil
}

func (o *operator) write(settings *operatorSettings, version string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), operatorTimeout)
	defer cancel()
	acks, err := o.module.nk.StorageWrite(ctx, []*runtime.StorageWrite{
		{Collection: operatorCollection, Key: operatorKey, Value: string(mustJSON(settings)), Version: version},
	})
	if err != nil || len(acks) == 0 {
		return "", err
	}
	return acks[0].Version, nil
}

// adopt puts settings to use. Tables that are open keep their rules, and hear of a new announcement.
func (o *operator) adopt(settings operatorSettings, version string) {
	before := o.policy().settings.Announcement
	presets, bad := builtInPresets().with(settings.Presets)
	if len(bad) > 0 {
		o.module.logger.Warn("the operator's presets %v are not allowed any more and not offered", bad)
	}
	o.version = version
	o.current.Store(&policy{settings: settings, presets: presets})
	if !sameAnnouncement(before, settings.Announcement) {
		o.module.tellTables(func(t *table) { t.tellAnnouncement(nil) })
	}
}

func sameAnnouncement(a, b *announcement) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// tellTables lets something run on the goroutine of every table.
func (m *module) tellTables(f func(*table)) {
	for _, b := range m.tables.all() {
		b.tell(func(t *table) {
			if !t.closing {
				f(t)
			}
		})
	}
}

// tellAnnouncement tells one session, or all, what the operator announces. All are told, too, that nothing is announced any more.
func (t *table) tellAnnouncement(to *visitor) {
	notice := &wire.Notice{Kind: wire.NoticeKind_NOTICE_KIND_MAINTENANCE}
	a := t.module.operator.policy().settings.Announcement
	if a.standsAt(t.module.clock.wall()) {
		notice.Text = a.Text
		if at := uint64(a.AtUnixMs); at != 0 {
			notice.AtUnixMs = &at
		}
	} else if to != nil {
		return
	}
	notice.Stamp = t.stampTold()
	t.sendNow(to, wire.OpCode_OP_CODE_NOTICE, notice)
}

// isDraining reports whether no new tables are opened, because the operator wants it or the process shuts down.
func (o *operator) isDraining() bool { return o.draining.Load() || o.leaving.Load() }

// setDraining says whether new tables are opened in this process.
func (o *operator) setDraining(on bool) {
	if o.draining.Swap(on) == on || !on {
		return
	}
	o.module.tellTables(func(t *table) {
		t.sendNow(nil, wire.OpCode_OP_CODE_NOTICE, &wire.Notice{Stamp: t.stampTold(), Kind: wire.NoticeKind_NOTICE_KIND_DRAINING})
	})
}
