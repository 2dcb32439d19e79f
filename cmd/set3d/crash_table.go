package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"set3d/client"
)

// crashKind is a kind of match that is played.
type crashKind struct {
	request client.CreateMatch
	ranked  bool // made by the matchmaker, by the preset's own rules
	quits   int  // how many players forfeit, one after the other
}

// crashKinds are the matches that are played, in turn. Most take a few seconds. A ranked match cannot be shortened by
// its rules: one by "fast" takes some seconds, the others end by forfeits.
var crashKinds = [...]crashKind{
	created(2, "classic", map[string]any{"idle_limit_ms": 60_000}),
	ranked(2, "fast", 0),
	created(2, "timed", map[string]any{"time_limit_ms": 4_000, "penalty_time_ms": 200}),
	ranked(2, "timed", 1),
	created(2, "classic", map[string]any{"idle_limit_ms": 60_000}, "hard"),
	ranked(3, "fast", 1),
	created(3, "tournament", map[string]any{"penalty_mode": "point", "idle_limit_ms": 60_000}),
	created(1, "timed", map[string]any{"time_limit_ms": 2_000, "penalty_time_ms": 100}),
	ranked(4, "classic", 3),
	created(4, "fast", map[string]any{"time_limit_ms": 6_000}, "easy"),
}

func created(seats int, preset string, rules map[string]any, bots ...string) crashKind {
	return crashKind{request: client.CreateMatch{Seats: seats, Preset: preset, Rules: rules, Bots: bots}}
}

func ranked(seats int, preset string, quits int) crashKind {
	return crashKind{request: client.CreateMatch{Seats: seats, Preset: preset}, ranked: true, quits: quits}
}

// crashRules are those of all of them: short animations, and seats that are not held for long.
func crashRules(own map[string]any) map[string]any {
	rules := map[string]any{"valid_anim_ms": 20, "refill_anim_ms": 15, "expand_anim_ms": 15, "invalid_anim_ms": 100, "drop_hold_ms": 3_000}
	for field, value := range own {
		rules[field] = value
	}
	return rules
}

// createRetry is how long is waited for a server that is away.
const createRetry = 100 * time.Millisecond

// crashMatch is one match, with what was told of it.
type crashMatch struct {
	ledger

	crash *crasher
	kind  crashKind
	made  client.CreatedMatch // ledger.mu guards the table's id: of a ranked match it is empty until a player was told
	users []*client.User
	seats []*crashSeat

	// Guarded by ledger.mu.
	done  bool           // all who wanted to have played to the end
	asks  *client.User   // who asks for the result: a player
	final *client.Result // of a ranked match, as it was told while others were played
}

// crashSeat is one player of a match.
type crashSeat struct {
	match    *crashMatch
	user     *client.User
	quits    int // after so many verdicts it forfeits; 0: never
	verifier *client.Verifier
	stop     context.CancelFunc

	// Guarded by the ledger's mutex.
	joinedIn int  // life of the connection
	life     int  // in which the player was last welcomed
	left     bool // on purpose
	ended    bool // Run has returned
	err      error
}

// table plays one match after the other, until no more are to be begun.
func (c *crasher) table(ctx context.Context, place int) {
	random := rand.New(rand.NewPCG(c.flags.seed, uint64(place)))
	for i := place; ctx.Err() == nil; i += c.flags.matches {
		c.mu.Lock()
		over := c.over
		c.mu.Unlock()
		if over {
			return
		}
		kind := i % len(crashKinds)
		if !crashKinds[kind].ranked {
			if m := c.open(ctx, crashKinds[kind], random); m != nil {
				m.play(ctx, random.Uint64())
			}
		} else if m := c.seek(ctx, kind, random); m != nil {
			m.play(ctx, random.Uint64())
			c.background.Go(func() { c.awaitFinal(ctx, m) })
		}
	}
}

// open makes a match, or nil if the server went away meanwhile.
func (c *crasher) open(ctx context.Context, kind crashKind, random *rand.Rand) *crashMatch {
	request := kind.request
	request.Rules = crashRules(request.Rules)
	m := &crashMatch{crash: c, kind: kind, ledger: newLedger()}
	first := random.IntN(len(c.users))
	for i := range request.Seats - len(request.Bots) {
		m.users = append(m.users, c.users[(first+i)%len(c.users)])
	}
	made, err := c.client.CreateMatch(ctx, m.users[0], request)
	if err != nil {
		if client.ReasonOf(err) != "" && client.ReasonOf(err) != "SHUTTING_DOWN" && client.ReasonOf(err) != "INTERNAL" {
			c.fail("no match could be made: %v", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(createRetry):
		}
		return nil
	}
	return c.begin(m, made)
}

// begin lets a match that was made be played.
func (c *crasher) begin(m *crashMatch, made client.CreatedMatch) *crashMatch {
	m.made, m.madeIn = made, c.life() // if the server was killed before it answered, the table is gone, and nobody is told anything
	for i, user := range m.users {
		s := &crashSeat{match: m, user: user, verifier: client.NewVerifier(client.VerifierConfig{}), stop: func() {}}
		if i < m.kind.quits {
			s.quits = quitAfter * (i + 1)
		}
		m.seats = append(m.seats, s)
	}
	m.asks = m.users[0]
	c.mu.Lock()
	c.matches = append(c.matches, m)
	c.mu.Unlock()
	return m
}

// play plays the match with all of its players, and returns when all of them have ended or left.
func (m *crashMatch) play(ctx context.Context, seed uint64) {
	var all sync.WaitGroup
	for i, s := range m.seats {
		playing, stop := context.WithCancel(ctx)
		m.mu.Lock()
		s.stop = stop
		m.mu.Unlock()
		all.Go(func() {
			defer stop()
			err := s.play(playing, seed+uint64(i))
			m.mu.Lock()
			defer m.mu.Unlock()
			s.ended, s.err = true, err
		})
	}
	all.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = true
}

func (s *crashSeat) play(ctx context.Context, seed uint64) error {
	link, err := s.join(ctx)
	if err != nil {
		return err
	}
	defer link.Close()
	config := client.PlayerConfig{Seed: seed, Reaction: s.match.crash.flags.pace, ErrorRate: 0.15}
	var audience client.Audience
	if s.quits > 0 {
		audience = &quitter{link: link, after: s.quits}
	}
	return client.NewDriver(link, config, audience).Run(ctx)
}

// join joins the match, however often the server goes away meanwhile.
func (s *crashSeat) join(ctx context.Context) (*client.Link, error) {
	c, matchID := s.match.crash, s.match.made.MatchID
	for {
		tableID := s.match.tableID()
		link, err := c.client.OpenLink(ctx, s.user, c.format, matchID, client.JoinOptions{Tap: s, TableID: tableID})
		if err == nil {
			return link, nil
		}
		var refused *client.Error
		if errors.As(err, &refused) {
			if tableID == "" && isNoMatch(refused) {
				return nil, s.neverSat(err)
			}
			resumed, err := c.client.ResumeMatch(ctx, s.user, tableID)
			if client.ReasonOf(err) == "UNKNOWN_MATCH" || client.ReasonOf(err) == "MATCH_OVER" {
				return nil, err
			}
			if err == nil {
				matchID = resumed.MatchID
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(createRetry):
		}
	}
}

// missing counts the players of a match that has begun who want to be there and were not welcomed since the server was
// last started.
func (m *crashMatch) missing(life int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, s := range m.seats {
		if !m.began.IsZero() && !s.ended && !s.left && s.life < life {
			n++
		}
	}
	return n
}

func (m *crashMatch) isDone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done
}

// leave lets one player leave for ever, or with -1 all. It returns how many did.
func (m *crashMatch) leave(seat int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for i, s := range m.seats {
		if (seat < 0 || seat == i) && !s.left && !s.ended {
			s.left = true
			s.stop()
			n++
		}
	}
	return n
}

// complainOfSeats says who did not come back, or does not come to an end.
func (m *crashMatch) complainOfSeats(c *crasher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, s := range m.seats {
		if !s.ended && !s.left {
			c.failAt(m, "player %d does not come to the end; began %v, last welcomed after %d kills of %d", i,
				!m.began.IsZero(), s.life, c.life())
		}
	}
}
