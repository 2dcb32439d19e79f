package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"set3d/client"
)

// createdPerUser is how many tables a user makes before the load takes new users: a server limits the open ones, and those that are
// over stay open for a while.
const createdPerUser = 10

// loadTable keeps one group of players busy, at one match after the other.
type loadTable struct {
	loader *loader
	index  int
	opened func()      // the first match has begun, or failed
	lost   chan *place // whose connection is gone

	seats   []*seat
	created int // matches, by these users
	places  []*place
}

// seat is a user with a socket.
type seat struct {
	user   *client.User
	socket *client.Socket
	random *rand.Rand // of the place that is taken at the moment, under its lock
}

// run plays until ctx ends. After a failure it waits a little, so that a server in trouble is not made to suffer more.
func (t *loadTable) run(ctx context.Context) {
	defer t.opened()
	defer t.disconnect()
	for ctx.Err() == nil {
		if err := t.match(ctx); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.loader.tally.failed(err)
			}
			t.disconnect()
			t.opened()
			sleep(ctx, time.Second)
		}
	}
}

// match plays one match to its end, or until ctx ends.
func (t *loadTable) match(ctx context.Context) error {
	l := t.loader
	if t.created >= createdPerUser*len(t.seats) {
		t.disconnect()
	}
	if err := t.connect(ctx); err != nil {
		return err
	}
	matchID, err := t.create(ctx)
	if err != nil {
		return err
	}
	c := l.newContest()
	l.tally.begun()
	err = t.join(ctx, matchID, c)
	t.opened()
	if err == nil {
		err = t.play(ctx, c)
	}
	t.stop(err != nil)
	l.tally.over(err == nil && ctx.Err() == nil)
	return err
}

// connect signs the players in and opens their sockets, as far as that has not been done or a socket was lost between two matches.
func (t *loadTable) connect(ctx context.Context) error {
	l := t.loader
	for _, s := range t.seats {
		if s.socket.Err() == nil {
			continue
		}
		l.tally.close(s.socket)
		socket, err := l.client.OpenSocket(ctx, s.user, l.format)
		if err != nil {
			return err
		}
		s.socket = socket
		l.tally.opened(socket)
		l.tally.reconnected.Add(1)
	}
	for number := len(t.seats); number < l.flags.players; number++ {
		user, err := l.client.AuthenticateDevice(ctx, client.RandomID(), "")
		if err != nil {
			return err
		}
		socket, err := l.client.OpenSocket(ctx, user, l.format)
		if err != nil {
			return err
		}
		l.tally.opened(socket)
		random := rand.New(rand.NewPCG(l.plan.seed, uint64(t.index*maxSeats+number)))
		t.seats = append(t.seats, &seat{user: user, socket: socket, random: random})
	}
	return nil
}

const maxSeats = 8

// create has the next player make a match.
func (t *loadTable) create(ctx context.Context) (string, error) {
	l := t.loader
	creator := t.seats[t.created%len(t.seats)]
	t.created++
	if l.flags.echo != "" {
		return createEcho(ctx, creator.socket, l.flags.echo)
	}
	made, err := creator.socket.CreateMatch(ctx, l.plan.request(t.index))
	return made.MatchID, err
}

// createEcho has the echo module make a match.
func createEcho(ctx context.Context, socket *client.Socket, rpc string) (string, error) {
	answer, err := socket.RPC(ctx, rpc, "{}")
	if err != nil {
		return "", err
	}
	var made struct {
		MatchID string `json:"match_id"`
	}
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.MatchID == "" {
		return "", fmt.Errorf("%w: %s: want {\"match_id\":…}, not %s", client.ErrUnreadable, rpc, answer)
	}
	return made.MatchID, nil
}

func (t *loadTable) join(ctx context.Context, matchID string, c contest) error {
	l := t.loader
	var shared *client.Broadcasts
	if l.flags.verify && l.flags.echo == "" {
		shared = client.NewBroadcasts()
	}
	t.places = nil
	for _, s := range t.seats {
		p := newPlace(t, s, c, shared)
		t.places = append(t.places, p)
		match, err := s.socket.Join(ctx, matchID, client.JoinOptions{Tap: p, TapOnly: true})
		if err != nil {
			return err
		}
		p.sit(match)
	}
	return nil
}

// play looks after the connections until the match is over, or ctx ends, and no claim waits for its answer any more. A lost connection is
// made again even then: the server is to be found, or found to be gone.
func (t *loadTable) play(ctx context.Context, c contest) error {
	failed := make(chan error, len(t.places))
	var returning sync.WaitGroup
	defer returning.Wait()
	over, enough := c.over(), ctx.Done()
	var limit <-chan time.Time
	check := time.NewTicker(settleTick)
	check.Stop()
	defer check.Stop()
	for {
		select {
		case p := <-t.lost:
			if p.isOf(t.places) { // not of an earlier match
				returning.Go(func() {
					if err := p.comeBack(context.WithoutCancel(ctx)); err != nil {
						failed <- err
					}
				})
			}
			continue
		case err := <-failed:
			return err
		case <-over:
		case <-enough:
		case <-limit:
			return nil
		case <-check.C:
			if t.settled() {
				return nil
			}
			continue
		}
		over, enough = nil, nil
		t.rest()
		limit = time.After(drainTime)
		check.Reset(settleTick)
	}
}

const settleTick = 20 * time.Millisecond

func (t *loadTable) rest() {
	for _, p := range t.places {
		p.rest()
	}
}

func (t *loadTable) settled() bool {
	for _, p := range t.places {
		if !p.settled() {
			return false
		}
	}
	return true
}

// stop takes the players away from the match: what has no answer now will have none.
func (t *loadTable) stop(failed bool) {
	t.rest()
	for _, p := range t.places {
		p.leave(failed)
	}
	t.places = nil
}

// disconnect closes the players' sockets: the next match has other players.
func (t *loadTable) disconnect() {
	var closing sync.WaitGroup
	for _, s := range t.seats {
		closing.Go(func() { t.loader.tally.close(s.socket) })
	}
	closing.Wait()
	t.seats, t.created = nil, 0
}
