package local

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Everything at once, for the race detector: joins, data, signals, kicks, labels, listings, endings, dying sockets.
// Afterwards nothing may be left over.
func TestManyAtOnce(t *testing.T) {
	s := &scripted{}
	s.loop = func(c callback, ms []runtime.MatchData) any {
		for _, m := range ms {
			switch m.GetOpCode() {
			case 2:
				_ = c.d.MatchKick([]runtime.Presence{m})
			case 3:
				_ = c.d.MatchLabelUpdate(fmt.Sprintf(`{"n":%d}`, c.tick))
			default:
				_ = c.d.BroadcastMessage(101, m.GetData(), nil, m, true)
			}
		}
		return c.state
	}
	s.signal = func(c callback, data string) (any, string) {
		if data == "end" {
			return nil, ""
		}
		return c.state, data
	}
	h := start(t, Config{}, s.register)
	var wg sync.WaitGroup
	for worker := range 12 {
		account := h.login(fmt.Sprintf("worker%d", worker))
		wg.Go(func() { h.beBusy(account, format(worker%2), rand.New(rand.NewPCG(uint64(worker), 1))) })
	}
	wg.Wait()
	for _, m := range h.srv.matches.all() {
		_, _ = h.signal(m.id.String(), "end")
	}
	eventually(t, "all sessions to end", func() bool { return len(h.srv.sessions.all()) == 0 })
	require.Empty(t, h.srv.matches.all())
	h.srv.tracker.mu.RLock()
	defer h.srv.tracker.mu.RUnlock()
	require.Empty(t, h.srv.tracker.bySession)
	require.Empty(t, h.srv.tracker.byStream)
}

func (h *host) beBusy(a account, f format, r *rand.Rand) {
	for range 4 {
		id := h.match(nil)
		if all := h.srv.matches.all(); len(all) > 0 {
			id = all[r.IntN(len(all))].id.String()
		}
		c := a.dial(f)
		c.send(joinEnvelope(id, nil))
		for range 15 {
			switch r.IntN(8) {
			case 0:
				_, _ = h.srv.nk.MatchSignal(context.Background(), id, "x")
			case 1:
				_, _ = h.srv.nk.MatchList(context.Background(), 10, true, "", nil, nil, "+label.n:>1")
			case 2:
				c.send(leaveEnvelope(id))
			case 3:
				c.send(joinEnvelope(id, nil))
			default:
				c.send(dataEnvelope(id, int64(1+r.IntN(3)), "x"))
			}
		}
		c.send(&rtapi.Envelope{Cid: "last", Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}})
		if r.IntN(2) == 0 {
			_, _ = c.find(func(e *rtapi.Envelope) bool { return e.Cid == "last" })
		}
		if r.IntN(3) == 0 {
			_, _ = h.srv.nk.MatchSignal(context.Background(), id, "end")
		}
		c.conn.Close()
	}
}

// A number keeps its value and loses its exponent.
func TestNumericKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`-?(0|[1-9][0-9]{0,12})(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		out, err := numeric(in)
		require.NoError(t, err)
		require.False(t, strings.ContainsAny(out, "eE+"), out)
		want, ok := new(big.Rat).SetString(in)
		require.True(t, ok)
		got, ok := new(big.Rat).SetString(out)
		require.True(t, ok, out)
		require.Zero(t, want.Cmp(got), "%s became %s", in, out)
	})
}
