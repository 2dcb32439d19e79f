package local

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
	"github.com/stretchr/testify/require"
)

func withShutdownHook(s *scripted, hook func(ctx context.Context)) func(runtime.Initializer) error {
	return func(i runtime.Initializer) error {
		return errors.Join(s.register(i), i.RegisterShutdown(func(ctx context.Context, _ runtime.Logger, _ *sql.DB, _ runtime.NakamaModule) {
			hook(ctx)
		}))
	}
}

func TestShutdownWithoutGraceCallsNothing(t *testing.T) {
	var hooked atomic.Bool
	stopped := make(chan struct{})
	s := &scripted{}
	s.init = func(ctx context.Context, _ map[string]any) (any, int, string) {
		context.AfterFunc(ctx, func() { close(stopped) })
		return s, 30, ""
	}
	h := start(t, Config{}, withShutdownHook(s, func(context.Context) { hooked.Store(true) }))
	id := h.match(nil)
	c := h.login("ann").dial(formatJSON)
	c.join(id)
	require.NoError(t, h.srv.Shutdown(context.Background()))
	<-stopped
	c.awaitClosed()
	require.Empty(t, s.all("terminate"))
	require.Empty(t, s.all("leave"))
	require.False(t, hooked.Load())
}

// With a grace period: MatchTerminate once, then loops until nil; the API serves on; no new matches; the end is early.
func TestShutdownWithGrace(t *testing.T) {
	t.Parallel()
	hook := make(chan context.Context, 1)
	var finish atomic.Bool
	s := &scripted{}
	s.terminate = func(c callback, grace int) any {
		_ = c.d.BroadcastMessageDeferred(130, []byte{byte(grace)}, nil, nil, true)
		return c.state
	}
	s.loop = func(c callback, ms []runtime.MatchData) any {
		for _, m := range ms {
			_ = c.d.BroadcastMessage(m.GetOpCode()+100, nil, nil, nil, true)
		}
		if finish.Load() {
			_ = c.d.BroadcastMessageDeferred(140, nil, nil, nil, true)
			return nil
		}
		return c.state
	}
	h := start(t, Config{GraceSeconds: 60}, withShutdownHook(s, func(ctx context.Context) { hook <- ctx }))
	id := h.match(nil)
	c, late := h.login("ann").dial(formatJSON), h.login("bob").dial(formatJSON)
	c.join(id)
	done := make(chan error, 1)
	go func() { done <- h.srv.Shutdown(context.Background()) }()

	require.Equal(t, []byte{60}, c.awaitData(130).Data)
	deadline, ok := (<-hook).Deadline()
	require.True(t, ok)
	require.WithinDuration(t, time.Now().Add(time.Minute), deadline, 30*time.Second)
	_, err := h.srv.nk.MatchCreate(context.Background(), "echo", nil)
	require.EqualError(t, err, "error creating match: shutdown in progress")
	late.join(id)
	c.send(dataEnvelope(id, 5, ""))
	c.awaitData(105)
	status, _ := h.do("GET", "/healthcheck", "", "")
	require.Equal(t, 200, status)
	require.Len(t, s.all("terminate"), 1)

	finish.Store(true)
	c.awaitData(140)
	require.NoError(t, <-done)
	c.awaitClosed()
	require.Len(t, s.all("terminate"), 1)
}

func TestShutdownTerminateReturningNil(t *testing.T) {
	s := &scripted{terminate: func(callback, int) any { return nil }}
	h := start(t, Config{GraceSeconds: 60}, s.register)
	h.match(nil)
	h.match(nil)
	require.NoError(t, h.srv.Shutdown(context.Background()))
	require.Len(t, s.all("terminate"), 2)
}

// When the period is over matches are stopped in the middle of what they do, and the hook is not awaited.
func TestShutdownGraceExpires(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	s := &scripted{}
	h := start(t, Config{GraceSeconds: 1}, withShutdownHook(s, func(ctx context.Context) {
		<-ctx.Done()
		<-release
	}))
	id := h.match(nil)
	h.login("ann").dial(formatJSON).join(id)
	require.NoError(t, h.srv.Shutdown(context.Background()))
	require.Len(t, s.all("terminate"), 1)
	require.Empty(t, h.srv.matches.all())
}

// Without matches the grace period ends as soon as the hook has.
func TestShutdownAwaitsHook(t *testing.T) {
	var finished atomic.Bool
	s := &scripted{}
	h := start(t, Config{GraceSeconds: 60}, withShutdownHook(s, func(context.Context) {
		time.Sleep(20 * time.Millisecond)
		finished.Store(true)
	}))
	require.NoError(t, h.srv.Shutdown(context.Background()))
	require.True(t, finished.Load())
}

func TestShutdownCutShort(t *testing.T) {
	s := &scripted{}
	h := start(t, Config{GraceSeconds: 3600}, s.register)
	h.match(nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.srv.Shutdown(ctx) }()
	h.await(s, "terminate", 1)
	cancel()
	require.NoError(t, <-done)
}

// TestShutdownHookAndDatabase: what the hook writes in its time is kept, and what it writes later is refused.
func TestShutdownHookAndDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	release, late := make(chan struct{}), make(chan error, 1)
	var h *host
	write := func(key string) error {
		_, err := h.srv.nk.StorageWrite(context.Background(), []*runtime.StorageWrite{{Collection: "c", Key: key, Value: "{}"}})
		return err
	}
	s := &scripted{}
	h = start(t, Config{GraceSeconds: 60, StateFile: file}, withShutdownHook(s, func(context.Context) {
		if err := write("in time"); err != nil {
			late <- err
			return
		}
		go func() {
			<-release
			late <- write("late")
		}()
	}))
	require.NoError(t, h.srv.Shutdown(context.Background()))
	close(release)
	require.ErrorIs(t, <-late, errClosed)
	require.Equal(t, "in time{}", open(t, file).values(t))
}
