package match

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

const (
	// firstSweep is when what earlier processes have left is looked at first, and archiveSweepEvery how often then. The interval bounds for how long
	// a match that nobody comes back to has no result.
	firstSweep        = 2 * time.Second
	archiveSweepEvery = 5 * time.Minute
)

func (m *module) openArchive(node string) {
	settings := &m.config.archive
	every := settings.checkpoint
	if settings.durability == durabilitySafe {
		every = 0
	}
	m.archive = archive.New(archive.Config{
		Nakama: m.nk, Logger: m.logger, Node: node, Every: every, ResumeWithin: settings.resumeWithin,
		KeepRecords: time.Duration(settings.recordDays) * 24 * time.Hour,
		Superseded:  m.superseded,
		Panicked:    func(cause any, tableID string) { m.report(atArchive, cause, tableID, 0) },
	})
}

// superseded ends a table that another process has taken over.
func (m *module) superseded(tableID string) {
	if b := m.tables.ofTable(tableID); b != nil {
		b.tell((*table).superseded)
	}
}

// registerArchive registers what the archive needs of Nakama.
func (m *module) registerArchive(ctx context.Context, initializer runtime.Initializer) error {
	if err := initializer.RegisterShutdown(m.shutdown); err != nil {
		return fmt.Errorf("register the shutdown: %w", err)
	}
	if err := initializer.RegisterBeforeDeleteAccount(m.accountHook(m.archive.PrepareForget)); err != nil {
		return fmt.Errorf("register the hook before an account is deleted: %w", err)
	}
	if err := initializer.RegisterAfterDeleteAccount(m.accountHook(m.archive.FinishForget)); err != nil {
		return fmt.Errorf("register the hook after an account was deleted: %w", err)
	}
	if err := m.archive.CreateLeaderboards(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.config.archive.upgradeWithin)
	defer cancel()
	if err := m.archive.Upgrade(ctx); err != nil {
		return err
	}
	m.renewLease()
	m.clock.repeat(archive.LeaseEvery, archive.LeaseEvery, m.renewLease)
	m.clock.repeat(firstSweep, archiveSweepEvery, m.sweep)
	return nil
}

func (m *module) renewLease() {
	defer m.guard(atHousekeeper)
	if err := m.archive.Lease(); err != nil {
		m.logger.Warn("cannot tell other nodes that this one is alive: %v", err)
	}
}

func (m *module) sweep() {
	defer m.guard(atHousekeeper)
	if err := errors.Join(m.archive.FinishUpgrade(), m.archive.Sweep()); err != nil {
		m.logger.Warn("cannot sweep the archive, will try again: %v", err)
	}
}

type deleteAccountHook = func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule) error

// accountHook is what happens to a user's data around the deletion of an account. If it fails before, the account stays; after, the
// sweep does it.
func (m *module) accountHook(do func(userID string) error) deleteAccountHook {
	return func(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule) (err error) {
		defer func() {
			if cause := recover(); cause != nil {
				m.report(atAccount, cause, "", 0)
				err = reject(wire.Reason_REASON_INTERNAL, nil)
			}
		}()
		userID, err := userOf(ctx)
		if err != nil {
			return err
		}
		if err := do(userID); err != nil {
			return m.storageFailed(err)
		}
		return nil
	}
}
