package simulation

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"set3d/domain"
)

// human plays a human's seat with a bot's eyes: its claims are commands, and in the record.
type human struct {
	scanner domain.Scanner
	atMs    int64
	next    domain.Sighting
}

// playHumans plays a match of humans under the rules of the public tables to its end, and returns it with its number of claims.
func playHumans(t *testing.T, seats int, seed uint64) (*domain.Session, int) {
	rules := domain.DefaultRules()
	rules.ClaimGraceMs, rules.InvalidAnimMs = 250, 2000
	r := rand.New(rand.NewPCG(seed, 7))
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], r.Uint64())
	s := domain.NewSession()
	var out domain.Output
	require.NoError(t, s.StartMatch(domain.Setup{Rules: rules, Players: seats, Deck: domain.KeySource(key)}, &out))
	var humans []*human
	for seat := range seats {
		bot := domain.Bot{Level: domain.BotLevel(1 + r.IntN(3)), Seed: r.Uint64()}
		scanner, err := domain.NewScanner(bot, seat)
		require.NoError(t, err)
		humans = append(humans, &human{scanner: scanner})
	}
	claims := 0
	for wasIdle := false; ; {
		snapshot := s.Snapshot()
		if _, ended := s.Ended(); ended {
			return s, claims
		}
		isIdle := snapshot.State == domain.BoardIdle
		first := -1
		for seat, h := range humans {
			if isIdle && (!wasIdle || h.atMs <= s.NowMs()) {
				h.next = h.scanner.Scan(domain.BoardView{Board: snapshot.Board})
				h.atMs = max(s.NowMs(), snapshot.ByPlayer[seat].LockedUntilMs) + h.next.AfterMs
			}
			if h.atMs > s.NowMs() && (first < 0 || h.atMs < humans[first].atMs) {
				first = seat
			}
		}
		wasIdle = isIdle
		if wake, wakes := s.NextWakeMs(); wakes && (first < 0 || wake <= humans[first].atMs) {
			s.Advance(wake, &out)
			continue
		}
		h := humans[first]
		s.Advance(h.atMs, &out)
		if h.next.Claims {
			claims++
			s.Apply(h.atMs, domain.ClaimSet{Seat: first, ID: r.Uint64() | 1, Cards: ids(h.next.Cards[:])}, &out)
		}
	}
}

// How large records are, as docs/protocol.md says. A claim has 16 bytes, 17 after more than 16 seconds of silence.
func TestSizeOfRecords(t *testing.T) {
	for _, seats := range []int{1, 2, 4, 8} {
		var sizes, claims []int
		for seed := range uint64(200) {
			s, n := playHumans(t, seats, seed)
			sizes, claims = append(sizes, len(s.Record())), append(claims, n)
			require.LessOrEqual(t, len(s.Record()), 128+17*n)
			require.GreaterOrEqual(t, len(s.Record()), 100+15*n)
		}
		slices.Sort(sizes)
		slices.Sort(claims)
		t.Logf("%d players: median %d bytes, at most %d; median %d claims, at most %d", seats, sizes[len(sizes)/2], sizes[len(sizes)-1],
			claims[len(claims)/2], claims[len(claims)-1])
		require.Less(t, sizes[len(sizes)-1], 1500)
	}
}
