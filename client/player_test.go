package client

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// playOut runs a match of automatic players to its end, and returns the network.
func playOut(t testing.TB, players int, errorRate float64, seed uint64) (*fakeNetwork, *wire.MatchEnded) {
	net := newFakeNetwork(newFakeTable(t, players, testRules(), keyDeck(byte(seed))))
	net.table.start()
	var auto []*Player
	for i, s := range net.seats {
		config := PlayerConfig{Seed: seed + uint64(i), Reaction: 2 * time.Second, ErrorRate: errorRate}
		auto = append(auto, NewPlayer(config, s.controller))
	}
	for range 100_000 {
		for _, p := range auto {
			p.Act()
		}
		if net.seats[0].controller.Ended() != nil {
			return net, net.seats[0].controller.Ended()
		}
		net.pass(10 * time.Millisecond)
	}
	t.Fatal("the match does not end")
	return nil, nil
}

func TestPlayersFinishAMatch(t *testing.T) {
	for players := 1; players <= 4; players++ {
		net, ended := playOut(t, players, 0.1, 7)
		require.Equal(t, wire.EndReason_END_REASON_NO_SETS_LEFT, ended.GetReason())
		sum, right := 0, 0
		for _, line := range ended.GetTable() {
			sum += int(line.GetScore())
		}
		for _, s := range net.seats {
			for _, resolutions := range s.resolutions {
				require.Len(t, resolutions, 1)
				if resolutions[0].Kind == ResolvedValid {
					right++
				}
			}
		}
		require.Equal(t, sum, right)
		require.Greater(t, sum, 20)
	}
}

func TestPlayersRepeatThemselves(t *testing.T) {
	_, first := playOut(t, 2, 0.2, 3)
	_, second := playOut(t, 2, 0.2, 3)
	require.Equal(t, first.GetTable(), second.GetTable())
}

func TestErrorRate(t *testing.T) {
	for _, rate := range []float64{0, 0.5} {
		wrong, all := 0, 0
		for seed := range uint64(10) {
			net, _ := playOut(t, 1, rate, seed)
			for _, resolutions := range net.seats[0].resolutions {
				all++
				if resolutions[0].Kind == ResolvedInvalid {
					wrong++
				}
			}
		}
		require.InDelta(t, rate, float64(wrong)/float64(all), 0.08)
	}
}

func TestPace(t *testing.T) {
	net, _ := playOut(t, 1, 0, 5)
	claims := len(net.seats[0].resolutions)
	perClaim := net.clock.now / time.Duration(claims)
	require.InDelta(t, 2*time.Second, perClaim, float64(time.Second)/2)
}

// A player that is locked claims again as soon as it may, however fast it is.
func TestLockedPlayersWait(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	p := NewPlayer(PlayerConfig{Seed: 1, Reaction: time.Millisecond, ErrorRate: 1}, me.controller)
	for range 1000 {
		p.Act()
		net.pass(time.Millisecond)
	}
	require.Equal(t, 3, me.count(wire.OpCode_OP_CODE_CLAIM_SET), "a mistake each 400 ms and a little")
	wake, ok := p.NextWake()
	require.True(t, ok)
	require.Greater(t, wake, net.clock.now)
}

func TestMistakesAreNoSets(t *testing.T) {
	p := NewPlayer(PlayerConfig{Seed: 1}, NewController(ControllerConfig{}))
	deck, err := domain.NewDeck(keyDeck(9))
	require.NoError(t, err)
	cards, _ := deck.Draw(domain.DeckSize)
	for n := 4; n < len(cards); n++ {
		require.False(t, domain.ValidateTriple(p.mistake(slices.Clone(cards[:n]))).IsValid())
	}
	set := domain.Triple{cards[0], cards[1], domain.Third(cards[0], cards[1])}
	require.Equal(t, domain.SetResult{}, domain.ValidateTriple(p.mistake(set[:])), "three cards leave no mistake to make")
}
