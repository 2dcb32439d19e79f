package domain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// newTestReplica is a replica of a running match on the board SETS, and that match.
func newTestReplica(t *testing.T) (*Replica, *Session) {
	t.Helper()
	server := startTestMatch(t, "SETS", 2)
	replica, err := NewReplica(server.Setup().Rules, 2)
	require.NoError(t, err)
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

func sync(t *testing.T, replica *Replica, server *Session, answered int) {
	t.Helper()
	require.NoError(t, replica.Sync(server.Snapshot(), server.NowMs(), answered))
	require.Equal(t, server.Snapshot(), replica.Snapshot())
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
		require.Equal(t, Applied, replica.Select(10, 0, slot).Outcome)
	}
	waiting := replica.Select(10, 0, 2)
	require.Equal(t, Waiting, waiting.Outcome)
	require.Equal(t, "0000 0001 0002", codes(waiting.Verdict.Cards[:]))
	require.Equal(t, [3]int{0, 1, 2}, waiting.Verdict.Slots)
	require.Equal(t, Validating, replica.Input(0).State)

	// No time, nothing else that is selected, and no state of others resolves it.
	replica.Advance(1_000_000)
	require.Equal(t, RefusedWaiting, replica.Select(0, 0, 3).Refusal.Reason)
	require.Equal(t, RefusedWaiting, replica.Deselect(0, 0, 0).Refusal.Reason)
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
		replica.Select(10, 0, slot)
	}
	require.Equal(t, Waiting, replica.Select(10, 0, 3).Outcome)
	applyAt(t, server, 100, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 3}})
	sync(t, replica, server, 0)
	require.Equal(t, InvalidSetAnim, replica.Input(0).State)
	require.Equal(t, BoardIdle, replica.Input(1).State)
	locked := replica.Select(499, 0, 0)
	require.Equal(t, RefusedOwnLock, locked.Refusal.Reason)
	require.EqualValues(t, 500, locked.Refusal.RetryAtMs)
	require.Equal(t, Applied, replica.Select(500, 0, 0).Outcome)
}

// The own Set's verdict comes with a board that moves, and releases the selection.
func TestReplicaIsAnsweredWhileTheBoardMoves(t *testing.T) {
	replica, server := newTestReplica(t)
	for slot := range 3 {
		replica.Select(10, 0, slot)
	}
	applyAt(t, server, 100, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}})
	sync(t, replica, server, 0)
	require.Equal(t, Input{State: ValidSetAnim}, replica.Input(0))
	server.Advance(2000, &Output{})
	sync(t, replica, server, NobodyAnswered)
	require.Equal(t, Applied, replica.Select(2000, 0, 0).Outcome)
}

// When cards leave the board a replica's selection loses just those slots, unless it waits for its own answer.
func TestReplicaLosesTakenCards(t *testing.T) {
	replica, server := newTestReplica(t)
	for _, slot := range []int{0, 9} {
		replica.Select(10, 1, slot)
	}
	applyAt(t, server, 100, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}})
	server.Advance(2000, &Output{})
	sync(t, replica, server, 0)
	require.Equal(t, Input{State: CardSelected1, Selected: []int{9}}, replica.Input(1))
}

// A resumed match may go back in time; the replica believes the server.
func TestReplicaTakesTheServersTime(t *testing.T) {
	replica, server := newTestReplica(t)
	replica.Advance(90_000)
	server.Advance(5000, &Output{})
	sync(t, replica, server, NobodyAnswered)
	require.EqualValues(t, 5000, replica.NowMs())
}

// A replica selects by the rules of the session, for seats that play.
func TestReplicaRefuses(t *testing.T) {
	replica, server := newTestReplica(t)
	for _, seat := range []int{-1, 2, MaxPlayers, 99} {
		require.Equal(t, RefusedNotAPlayer, replica.Select(0, seat, 0).Refusal.Reason, "seat %d", seat)
		require.Equal(t, RefusedNotAPlayer, replica.Deselect(0, seat, 0).Refusal.Reason, "seat %d", seat)
	}
	for _, slot := range []int{-1, MinSlots, MaxSlots} {
		require.Equal(t, RefusedNoSuchSlot, replica.Select(0, 0, slot).Refusal.Reason, "slot %d", slot)
		require.Equal(t, RefusedNoSuchSlot, replica.Deselect(0, 0, slot).Refusal.Reason, "slot %d", slot)
	}
	require.Equal(t, RefusedSlotNotSelected, replica.Deselect(0, 0, 3).Refusal.Reason)
	require.Equal(t, Applied, replica.Select(0, 0, 3).Outcome)
	require.Equal(t, RefusedSlotSelected, replica.Select(0, 0, 3).Refusal.Reason)
	require.Equal(t, Applied, replica.Deselect(0, 0, 3).Outcome)

	applyAt(t, server, 100, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}})
	sync(t, replica, server, NobodyAnswered)
	locked := replica.Select(100, 1, 0)
	require.Equal(t, RefusedBoardLock, locked.Refusal.Reason)
	require.EqualValues(t, 1000, locked.Refusal.RetryAtMs)
	applyAt(t, server, 200, Forfeit{Seat: 1})
	sync(t, replica, server, NobodyAnswered)
	require.Equal(t, RefusedNotAPlayer, replica.Select(200, 1, 0).Refusal.Reason)
	require.Equal(t, RefusedEnded, replica.Select(200, 0, 0).Refusal.Reason)
}

func TestReplicaOfOtherNumbersOfPlayers(t *testing.T) {
	for _, players := range []int{-1, 0, MaxPlayers + 1} {
		_, err := NewReplica(DefaultRules(), players)
		require.ErrorIs(t, err, ErrPlayerCount, "%d players", players)
	}
	replica, server := newTestReplica(t)
	for _, players := range []int{0, MaxPlayers + 1} {
		require.ErrorIs(t, replica.Sync(Snapshot{Players: players}, 7, 0), ErrPlayerCount, "%d players", players)
	}
	require.Equal(t, server.Snapshot(), replica.Snapshot())
	require.Zero(t, replica.NowMs())
}
