package archive

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// goneDatabase refuses all.
type goneDatabase struct{ runtime.NakamaModule }

func (goneDatabase) StorageWrite(context.Context, []*runtime.StorageWrite) ([]*api.StorageObjectAck, error) {
	return nil, errors.New("gone")
}

func (goneDatabase) UsersGetId(context.Context, []string, []string) ([]*api.User, error) {
	return nil, errors.New("gone")
}

func (goneDatabase) StorageRead(context.Context, []*runtime.StorageRead) ([]*api.StorageObject, error) {
	return nil, errors.New("gone")
}

type noLog struct{ runtime.Logger }

func (noLog) Warn(string, ...any) {}

// With the database gone the queue holds one entry for a table, and of those who wait for it a few, however often it is
// handed over and tried.
func TestWaitersAreBounded(t *testing.T) {
	a := New(Config{Nakama: goneDatabase{}, Logger: noLog{}})
	most := func() (waiters, failures int) {
		a.mu.Lock()
		defer a.mu.Unlock()
		e := a.entries["T"]
		e.due = time.Time{} // no patience
		a.scheduleLocked(e)
		return len(e.waiting), e.failures
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		a.Put(Table{Progress: Progress{ID: "T", State: Running}, Terms: Terms{Seats: []Seat{{UserID: "u"}}}}, func() {})
		n, failures := most()
		if n > 2 {
			t.Fatalf("%d wait for one table", n)
		}
		if failures > 50 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d attempts", failures)
		}
	}
}

// At shutdown nothing waits longer for its next attempt than there is time for.
func TestNoPatienceAtShutdown(t *testing.T) {
	a := New(Config{Nakama: goneDatabase{}, Logger: noLog{}})
	a.Put(Table{Progress: Progress{ID: "T", State: Running}}, nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entries["T"]
	for a.draining = true; e.failures < 20; {
		now := time.Now()
		if a.failedLocked(e, errors.New("gone"), now); e.due.Sub(now) > 2*drainBackoff {
			t.Fatalf("after %d failures it waits for %v", e.failures, e.due.Sub(now))
		}
	}
}
