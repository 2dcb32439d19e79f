package tests

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// The flooder in a match is TestHostileLimited: every honest claim has its verdict meanwhile.

// blurt claims without a pacer: as fast as it is called.
func (p *peer) blurt(cards []byte) uint64 {
	p.t.Helper()
	id := newClaimID()
	data := marshal(p.t, claimOf(id, cards))
	p.mu.Lock()
	p.verifier.Sent(client.Frame{Op: opClaim, Data: data, At: time.Now()})
	p.mu.Unlock()
	p.put(dataOf(p.match, opClaim, data))
	return id
}

// TestFullBursts: eight players send all that they may at once, again and again at the full rate. Each claim is answered once, and each wrong one
// is told to all eight; no socket is lost.
func TestFullBursts(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	if on.limits.MessagesBurst > 20 {
		t.Skipf("the server allows %d messages at once: more than a socket's queue holds the answers of", on.limits.MessagesBurst)
	}
	x := open(t, on, client.CreateMatch{TestDeck: deckOf(boardMAX), Rules: unlocked(nil)},
		asJSON, asProtobuf, asProtobuf, asProtobuf, asJSON, asProtobuf, asProtobuf, asProtobuf)
	const bursts = 5
	pause := time.Second * time.Duration(on.limits.MessagesBurst) / time.Duration(on.limits.MessagesPerSecond)
	board := ids(boardMAX)
	claims := make([][]uint64, len(x.players))
	var all sync.WaitGroup
	for seat, p := range x.players {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(seat)))
			rhythm := time.NewTicker(pause)
			defer rhythm.Stop()
			for range bursts {
				for range on.limits.MessagesBurst {
					cards := slices.Clone(board[:3])
					for third(cards[0], cards[1]) == cards[2] {
						for i, place := range random.Perm(len(board))[:3] {
							cards[i] = board[place]
						}
					}
					claims[seat] = append(claims[seat], p.blurt(cards))
				}
				<-rhythm.C // their rate, not a wait for anything
			}
		})
	}
	all.Wait()
	limited := 0
	for seat, p := range x.players {
		for i, id := range claims[seat] {
			o := p.outcome(id)
			switch reason := o.refused.GetReason(); {
			case o.judged != nil:
			case reason == wire.Reason_REASON_RATE_LIMITED && i >= on.limits.MessagesBurst: // bunched on the way
				limited++
			default:
				t.Fatalf("player %d, claim %d: %v", seat, i, o)
			}
		}
	}
	total := len(x.players) * bursts * on.limits.MessagesBurst
	t.Logf("%d claims, %d of them limited", total, limited)
	if limited*4 > total {
		t.Errorf("%d of %d claims at the allowed rate are limited", limited, total)
	}
	for seat, p := range x.players {
		p.alive()
		p.sync()
		for _, id := range claims[seat] {
			if told := outcomesOf(p.since(), id); len(told) != 1 {
				t.Fatalf("player %d: a claim is answered %v", seat, told)
			}
		}
	}
	x.players[7].wins(setSA)
	x.sameScores(0, 0, 0, 0, 0, 0, 0, 1)
}

// calm is a match of two in which claims are made all the time, while elsewhere something happens.
type calm struct {
	x     *table
	stop  atomic.Bool
	ended sync.WaitGroup

	claims int
	worst  time.Duration
}

// playOn begins to claim. The claims are wrong, and cost no time, so that it can go on.
func playOn(t *testing.T, on *server) *calm {
	t.Helper()
	c := &calm{x: maxTable(t, on, unlocked(nil))}
	c.ended.Go(func() {
		for turn := 0; turn < 10 || !c.stop.Load(); turn++ {
			p, begun := c.x.players[turn%2], time.Now()
			p.mark()
			if p.verdict(notSet).GetValid() {
				t.Error("no Set, and valid")
			}
			c.claims++
			c.worst = max(c.worst, time.Since(begun))
		}
	})
	return c
}

// unharmed fails if a claim got its verdict too late, or the match suffered.
func (c *calm) unharmed(t *testing.T) {
	t.Helper()
	const inTime = 3 * time.Second // generous: the tests share the machine with their server
	c.stop.Store(true)
	c.ended.Wait()
	t.Logf("%d honest claims meanwhile, the slowest took %v", c.claims, c.worst.Round(time.Millisecond))
	if c.worst > inTime {
		t.Errorf("an honest claim took %v", c.worst)
	}
	for _, p := range c.x.players {
		p.alive()
	}
	c.x.players[0].wins(setSA)
	c.x.sameScores(1, 0)
}

// TestHundredTables: scenario 29. A user asks for a hundred tables at once, by socket and by HTTP, and gets as many as a user may have. Others get
// theirs, and a running match notices nothing.
func TestHundredTables(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	const asked = 100
	if on.limits.OpenMatchesMax >= asked/2 || on.limits.RPCsPerMinute < asked {
		t.Skipf("the server allows %d matches and %d calls a minute", on.limits.OpenMatchesMax, on.limits.RPCsPerMinute)
	}
	match := playOn(t, on)
	greedy := connect(t, on, asProtobuf)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var mu sync.Mutex
	answers := map[string]int{}
	count := func(answer string) {
		mu.Lock()
		defer mu.Unlock()
		answers[answer]++
	}
	var all sync.WaitGroup
	all.Go(func() {
		for range asked / 2 {
			_, refused := greedy.rpc("create_match", `{}`)
			switch {
			case refused == nil:
				count("made")
			case strings.Contains(refused.GetMessage(), `"TOO_MANY_MATCHES"`):
				count("TOO_MANY_MATCHES")
			default:
				count(refused.GetMessage())
			}
		}
	})
	for range 5 {
		all.Go(func() {
			for range asked / 10 {
				_, err := on.client().CreateMatch(ctx, greedy.user, client.CreateMatch{Seats: 2})
				switch reason := client.ReasonOf(err); {
				case err == nil:
					count("made")
				case reason == "TOO_MANY_MATCHES":
					count(reason)
				default:
					count(err.Error())
				}
			}
		})
	}
	all.Wait()
	if most := on.limits.OpenMatchesMax; answers["made"] != most || answers["TOO_MANY_MATCHES"] != asked-most {
		t.Errorf("a hundred requests are answered %v", answers)
	}
	create(t, on, client.CreateMatch{Seats: 2}, connect(t, on, asJSON))
	match.unharmed(t)
	greedy.alive()
}

// TestJoinStorm: a user joins hundreds of times in a second. It is let in as often as a user may, and told how long to wait for more; the match
// that it storms goes on as if nothing were.
func TestJoinStorm(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	const joins, together = 300, 15 // what comes of so many joins and leaves fits into a socket's queue
	if on.limits.RPCsPerMinute > joins/2 {
		t.Skipf("the server allows %d joins a minute", on.limits.RPCsPerMinute)
	}
	for name, sessions := range map[string]int{"one session": 1, "four sessions": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			match := playOn(t, on)
			user := signIn(t, on)
			begun := time.Now()
			var mu sync.Mutex
			answers := map[string]int{}
			var all sync.WaitGroup
			for range sessions {
				p := connectAs(t, on, user, asProtobuf)
				all.Go(func() {
					for range joins / sessions / together {
						var cids []string
						for range together {
							cids = append(cids, p.request(joinOf(match.x.made.MatchID)))
							p.put(leaveOf(match.x.made.MatchID))
						}
						for _, cid := range cids {
							what := kindOfJoin(p.answer(cid))
							mu.Lock()
							answers[what]++
							mu.Unlock()
						}
					}
					p.alive()
				})
			}
			all.Wait()
			took := time.Since(begun)
			t.Logf("%d joins in %v: %v", joins, took.Round(time.Millisecond), answers)
			allowed := on.limits.RPCsPerMinute
			later := int(took.Seconds()*float64(allowed)/60) + 1
			if limited := answers["TOO_MANY_REQUESTS"]; limited > joins-allowed || limited < joins-allowed-later {
				t.Errorf("%d joins are limited, want %d, or up to %d fewer", limited, joins-allowed, later)
			}
			if answers["joined"] == 0 {
				t.Error("no join")
			}
			other := connect(t, on, asJSON)
			if w := other.join(match.x.made.MatchID, nil); w.GetRole() != wire.Role_ROLE_SPECTATOR {
				t.Errorf("another one who joins gets {%v}", w)
			}
			match.unharmed(t)
		})
	}
}

// kindOfJoin is how a join was answered.
func kindOfJoin(answer *rtapi.Envelope) string {
	refused := answer.GetError()
	switch message := refused.GetMessage(); {
	case refused == nil:
		return "joined"
	case strings.Contains(message, `"TOO_MANY_REQUESTS"`) && strings.Contains(message, "retry_after_ms"):
		return "TOO_MANY_REQUESTS"
	default:
		return message
	}
}

// TestStrangersStorm: more strangers than may watch join a running match at once. As many as fit in watch it, each other one is told why not, and
// the players notice nothing.
func TestStrangersStorm(t *testing.T) {
	t.Parallel()
	on := hooked(t)
	if on.limits.SpectatorsMax > 50 {
		t.Skipf("the server allows %d spectators", on.limits.SpectatorsMax)
	}
	match := playOn(t, on)
	strangers := make([]*peer, on.limits.SpectatorsMax+20)
	for i := range strangers {
		strangers[i] = connect(t, on, bothFormats[i%2])
	}
	answers := make([]string, len(strangers))
	var all sync.WaitGroup
	for i, p := range strangers {
		all.Go(func() { answers[i] = kindOfJoin(p.call(joinOf(match.x.made.MatchID))) })
	}
	all.Wait()
	joined := 0
	for i, answer := range answers {
		strangers[i].alive()
		if answer == "joined" {
			joined++
		} else if !strings.Contains(answer, `"TABLE_CROWDED"`) {
			t.Errorf("a stranger's join is answered %s", answer)
		}
	}
	if joined != on.limits.SpectatorsMax {
		t.Errorf("%d strangers watch, want %d", joined, on.limits.SpectatorsMax)
	}
	match.unharmed(t)
}
