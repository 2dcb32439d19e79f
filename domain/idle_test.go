package domain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A forfeit for idling says so, and is replayed as one.
func TestForfeitForIdling(t *testing.T) {
	s := NewSession()
	var out Output
	require.NoError(t, s.StartMatch(Setup{Rules: DefaultRules(), Players: 3, Deck: KeySource([32]byte{1})}, &out))
	s.Apply(100, Forfeit{Seat: 0, Idle: true}, &out)
	s.Apply(200, Forfeit{Seat: 1}, &out)
	var replayed Output
	_, err := Replay(s.Record(), &replayed)
	require.NoError(t, err)
	require.Equal(t, out.Events, replayed.Events)
	var causes []ForfeitCause
	for _, e := range replayed.Events {
		if f, ok := e.Event.(PlayerForfeited); ok {
			causes = append(causes, f.Cause)
		}
	}
	require.Equal(t, []ForfeitCause{ForfeitIdle, ForfeitRequested}, causes)
	require.Equal(t, "idle", ForfeitIdle.String())
}
