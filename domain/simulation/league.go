package simulation

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"set3d/domain"
)

// Standing is how a bot has done in a league.
type Standing struct {
	Level  domain.BotLevel
	Wins   int // games won alone
	Ties   int // games won with others
	Sets   int
	Wrong  int   // claims that were no Set
	Misses int   // looks that saw no Set
	SeenMs int64 // from the board's becoming idle to the bot's Set, all of them together
}

// MeanSeenMs is how long the bot needed on average for a Set that it got; 0 if it got none.
func (s Standing) MeanSeenMs() int64 {
	if s.Sets == 0 {
		return 0
	}
	return s.SeenMs / int64(s.Sets)
}

// LeagueTable is what a league came to. Its standings are in the order of the levels that it was asked for.
type LeagueTable struct {
	Games     int
	PlayedMs  int64 // match time of all games together
	Standings []Standing
}

// League plays whole matches by the default rules, one bot of each level in each, two to eight of them; the seats go
// round. The table follows from the seed. It fails with the first thing that did not hold in a match.
func League(levels []domain.BotLevel, games int, seed uint64) (LeagueTable, error) {
	table := LeagueTable{Standings: make([]Standing, len(levels))}
	for i, level := range levels {
		table.Standings[i].Level = level
	}
	for game := range games {
		if err := table.play(rand.New(rand.NewPCG(seed, uint64(game))), game); err != nil {
			return table, fmt.Errorf("game %d of seed %d: %w", game, seed, err)
		}
	}
	return table, nil
}

// play plays one game; bot i of the table sits in seat (i + game) modulo the bots.
func (t *LeagueTable) play(r *rand.Rand, game int) error {
	m := newMatch(domain.Setup{Rules: domain.DefaultRules(), Players: len(t.Standings)})
	var key [32]byte
	for i := 0; i < len(key); i += 8 {
		binary.LittleEndian.PutUint64(key[i:], r.Uint64())
	}
	m.setup.Deck = domain.KeySource(key)
	bySeat := make([]*Standing, len(t.Standings))
	for i := range t.Standings {
		seat := (i + game) % len(bySeat)
		bySeat[seat] = &t.Standings[i]
		m.setup.Bots[seat%domain.MaxPlayers] = domain.Bot{Level: t.Standings[i].Level, Seed: r.Uint64()}
	}
	if err := m.start(); err != nil {
		return err
	}
	end, err := m.playAlone(bySeat)
	if err != nil {
		return err
	}
	for _, seat := range end.Winners {
		if len(end.Winners) == 1 {
			bySeat[seat].Wins++
		} else {
			bySeat[seat].Ties++
		}
	}
	for seat := range bySeat {
		bySeat[seat].Misses += m.session.BotMisses(seat)
	}
	t.Games++
	t.PlayedMs += m.session.NowMs()
	return nil
}

// playAlone lets the bots play to the end.
func (m *match) playAlone(bySeat []*Standing) (domain.MatchEnded, error) {
	idleSinceMs := int64(0)
	for {
		wasIdle := m.session.Snapshot().State == domain.BoardIdle
		woke, err := m.wake()
		if err != nil {
			return domain.MatchEnded{}, err
		}
		if !woke {
			break
		}
		for _, e := range m.out.Events {
			if claim, ok := e.Event.(domain.SetClaimed); ok && claim.Valid() {
				bySeat[claim.Seat].Sets++
				bySeat[claim.Seat].SeenMs += e.AtMs - idleSinceMs
			} else if ok {
				bySeat[claim.Seat].Wrong++
			}
		}
		if !wasIdle && m.session.Snapshot().State == domain.BoardIdle {
			idleSinceMs = m.session.NowMs()
		}
	}
	end, ended := m.session.Ended()
	if !ended {
		return end, fmt.Errorf("the match has no deadline and goes on")
	}
	return end, nil
}
