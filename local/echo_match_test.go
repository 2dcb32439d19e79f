package local

import (
	"context"
	"testing"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/stretchr/testify/require"
)

func TestEchoInBothFormats(t *testing.T) {
	for name, f := range bothFormats {
		t.Run(name, func(t *testing.T) {
			s := &scripted{label: `{"open":1}`}
			h := start(t, Config{}, s.register)
			id := h.match(nil)
			c := h.login("ann").dial(f)
			m := c.join(id)
			require.True(t, m.Authoritative)
			require.Equal(t, id, m.MatchId)
			require.Equal(t, `{"open":1}`, m.Label.Value)
			require.Empty(t, m.Presences)
			require.Equal(t, "ann", m.Self.Username)
			joined := c.await("own join event", func(e *rtapi.Envelope) bool { return e.GetMatchPresenceEvent() != nil })
			require.Len(t, joined.GetMatchPresenceEvent().Joins, 1)

			c.send(dataEnvelope(id, 7, "hello"))
			d := c.awaitData(107)
			require.Equal(t, "hello", string(d.Data))
			require.Equal(t, m.Self.SessionId, d.Presence.SessionId)
			require.True(t, d.Reliable)
			c.ping()

			answer, err := h.srv.nk.MatchSignal(context.Background(), id, "x")
			require.NoError(t, err)
			require.Equal(t, "echo:x", answer)
		})
	}
}
