package domain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// newTestReplica is a replica of a running match on the board SETS, and that match.
func newTestReplica(t *testing.T) (replica, server *Session) {
	t.Helper()
	server = startTestMatch(t, "SETS", 2)
	replica = NewReplica(server.Setup().Rules, 2)
	sync(t, replica, server, NobodyAnswered)
	return replica, server
}

func startTestMatch(t testing.TB, board string, players int) *Session {
	t.Helper()
	s := NewSession()
	var out Output
	setup := Setup{Rules: DefaultRules(), Players: players, Deck: orderOf(t, namedBoards[board], true)}
	require.NoError(t, s.StartMatch(setup, &out))
	return s
}

func sync(t *testing.T, replica, server *Session, answered int) {
	t.Helper()
	var out Output
	result := replica.Apply(0, ApplyServerState{State: server.Snapshot(), NowMs: server.NowMs(), Answered: answered}, &out)
	require.Equal(t, Applied, result.Outcome)
	require.Equal(t, server.Snapshot(), replica.Snapshot())
	require.Empty(t, out.Events)
}

func applyAt(t testing.TB, s *Session, nowMs int64, cmd Command) Result {
	t.Helper()
	var out Output
	return s.Apply(nowMs, cmd, &out)
}

// Ruling 13: the third selection of a replica waits in Validating; only the server's answer resolves it.
func TestReplicaWaitsForTheServer(t *testing.T) {
	replica, server := newTestReplica(t)
	for _, slot := range []int{0, 1} {
		require.Equal(t, Applied, applyAt(t, replica, 10, SelectCard{Slot: slot}).Outcome)
	}
	waiting := applyAt(t, replica, 10, SelectCard{Slot: 2})
	require.Equal(t, Waiting, waiting.Outcome)
	require.Equal(t, "0000 0001 0002", codes(waiting.Verdict.Cards[:]))
	require.Equal(t, [3]int{0, 1, 2}, waiting.Verdict.Slots)
	require.Equal(t, Validating, replica.Input(0).State)

	// No deadline, no other command, and no state of others resolves it.
	replica.Advance(1_000_000, &Output{})
	_, wakes := replica.NextWakeMs()
	require.False(t, wakes)
	for _, cmd := range []Command{SelectCard{Slot: 3}, DeselectCard{Slot: 0}} {
		require.Equal(t, RefusedWaiting, applyAt(t, replica, 0, cmd).Refusal.Reason)
	}
	sync(t, replica, server, NobodyAnswered)
	require.Equal(t, Validating, replica.Input(0).State)

	// Not even when somebody else has taken its cards: they stay highlighted until the answer is there.
	applyAt(t, server, 100, ClaimSet{Seat: 1, ID: 1, Cards: []byte{0, 1, 2}})
	server.Advance(1000, &Output{})
	sync(t, replica, server, 1)
	require.Equal(t, Validating, replica.Input(0).State)
	require.Equal(t, []int{0, 1, 2}, replica.Input(0).Selected)
	sync(t, replica, server, 0)
	require.Equal(t, Input{}, replica.Input(0))
}

// A wrong claim's verdict puts the replica's player into InvalidSetAnim until the lock's time is over.
func TestReplicaIsLockedByTheServersTimes(t *testing.T) {
	replica, server := newTestReplica(t)
	for slot := range 2 {
		applyAt(t, replica, 10, SelectCard{Slot: slot})
	}
	require.Equal(t, Waiting, applyAt(t, replica, 10, SelectCard{Slot: 3}).Outcome)
	applyAt(t, server, 100, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 3}})
	sync(t, replica, server, 0)
	require.Equal(t, InvalidSetAnim, replica.Input(0).State)
	require.Equal(t, BoardIdle, replica.Input(1).State)
	locked := applyAt(t, replica, 499, SelectCard{Slot: 0})
	require.Equal(t, RefusedOwnLock, locked.Refusal.Reason)
	require.EqualValues(t, 500, locked.Refusal.RetryAtMs)
	require.Equal(t, Applied, applyAt(t, replica, 500, SelectCard{Slot: 0}).Outcome)
}

// When cards leave the board a replica's selection loses just those slots, unless it waits for its own answer.
func TestReplicaLosesTakenCards(t *testing.T) {
	replica, server := newTestReplica(t)
	for _, slot := range []int{0, 9} {
		applyAt(t, replica, 10, SelectCard{Seat: 1, Slot: slot})
	}
	applyAt(t, server, 100, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}})
	server.Advance(2000, &Output{})
	sync(t, replica, server, 0)
	require.Equal(t, Input{State: CardSelected1, Selected: []int{9}}, replica.Input(1))
}

// A resumed match may go back in time; the replica believes the server.
func TestReplicaTakesTheServersTime(t *testing.T) {
	replica, server := newTestReplica(t)
	replica.Advance(90_000, &Output{})
	server.Advance(5000, &Output{})
	sync(t, replica, server, NobodyAnswered)
	require.EqualValues(t, 5000, replica.NowMs())
}

func TestReplicaLeavesTheRestToTheServer(t *testing.T) {
	replica, server := newTestReplica(t)
	commands := []Command{
		ClaimSet{ID: 1, Cards: []byte{0, 1, 2}}, ClaimSelected{}, AnimationComplete{Seat: BoardLayer, Serial: 1},
		Drop{}, Return{}, Forfeit{},
	}
	for _, cmd := range commands {
		require.Equal(t, RefusedReplica, applyAt(t, replica, 0, cmd).Refusal.Reason, "%T", cmd)
	}
	require.Equal(t, server.Snapshot(), replica.Snapshot())
	require.ErrorIs(t, replica.StartMatch(server.Setup(), &Output{}), ErrStarted)
	require.Nil(t, replica.Record())
	require.Equal(t, RefusedNoReplica, applyAt(t, server, 0, ApplyServerState{}).Refusal.Reason)
}
