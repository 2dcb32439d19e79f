package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

const (
	resendAfter  = 2 * time.Second  // an unanswered claim, as the protocol advises
	abandonAfter = 30 * time.Second // a claim that nobody will answer
	leaveWait    = 5 * time.Second
	firstReturn  = 250 * time.Millisecond // after a lost connection; the waits grow
	lastReturn   = 8 * time.Second
	thinkSigma   = 0.6 // of the logarithm of a think time: a person is now and then three times as slow, seldom three times as fast
	longestThink = 10  // times the mean
)

// place is one player's part in one match: the Tap of its messages, and the claims it makes. It has no goroutine of its own: the socket's
// reader brings what comes, a timer makes it act.
type place struct {
	table    *loadTable
	seat     *seat
	contest  contest
	verifier *client.Verifier // or nil

	mu     sync.Mutex
	match  *client.Match // once it has joined
	timer  *time.Timer   // the next act
	drop   *time.Timer   // the next lost connection, or nil
	state  placeState
	number int // of its seat in the match, once it was welcomed
	down   bool
	cut    bool           // the connection is being lost on purpose, and down soon
	claim  *claim         // that waits for its answer
	owed   map[uint64]int // answers that are to come, by claim id
}

// placeState is how far a place is.
type placeState uint8

const (
	placeNew    placeState = iota
	placePlays             // acts whenever its timer says so
	placeRests             // waits for answers only
	placeIsOver            // hears nothing any more
)

// claim is a message that waits for its answer.
type claim struct {
	id          uint64
	op          wire.OpCode
	data        []byte
	cards       []byte
	valid       bool // by the rules
	first, last time.Time
	interrupted bool // the connection was lost meanwhile: its time says nothing about the server
}

func newPlace(t *loadTable, s *seat, c contest, shared *client.Broadcasts) *place {
	p := &place{table: t, seat: s, contest: c, owed: map[uint64]int{}}
	if shared != nil {
		p.verifier = client.NewVerifier(client.VerifierConfig{Shared: shared})
	}
	return p
}

func (p *place) isOf(places []*place) bool { return slices.Contains(places, p) }

// sit begins to play.
func (p *place) sit(match *client.Match) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.match = match
	if p.state != placeNew {
		return
	}
	p.state = placePlays
	p.timer = time.AfterFunc(p.think(), p.act)
	if every := p.table.loader.flags.dropEvery; every > 0 {
		p.drop = time.AfterFunc(p.exponential(every), p.loseConnection)
	}
}

// think is a time that a player thinks: log-normal, with the pace as its mean.
func (p *place) think() time.Duration {
	pace := float64(p.table.loader.flags.pace)
	times := math.Exp(thinkSigma*p.seat.random.NormFloat64() - thinkSigma*thinkSigma/2)
	return time.Duration(pace * min(times, longestThink))
}

func (p *place) exponential(mean time.Duration) time.Duration {
	return time.Duration(float64(mean) * p.seat.random.ExpFloat64())
}

// upTo is a random part of d.
func (p *place) upTo(d time.Duration) time.Duration {
	return time.Duration(p.seat.random.Float64() * float64(d))
}

// act claims, or sends a claim again that has no answer. The message is sent without the lock: the reader needs it.
func (p *place) act() {
	if match, op, data := p.next(); match != nil {
		_ = match.SendData(int64(op), data) // a lost connection is noticed by the reader
	}
}

func (p *place) next() (*client.Match, wire.OpCode, []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != placePlays && p.state != placeRests || p.down {
		return nil, 0, nil
	}
	now := time.Now()
	switch {
	case p.claim == nil && p.state == placeRests:
		return nil, 0, nil
	case p.claim == nil:
		made, wait := p.contest.claim(p)
		if made == nil {
			p.timer.Reset(max(wait, time.Millisecond))
			return nil, 0, nil
		}
		made.first = now
		p.claim = made
	case now.Sub(p.claim.first) >= abandonAfter:
		p.table.loader.tally.unansweredClaim()
		p.claim = nil
		p.timer.Reset(p.think())
		return nil, 0, nil
	case !p.claim.interrupted:
		p.table.loader.tally.count("claims sent again")
	}
	p.claim.last = now
	p.owed[p.claim.id]++
	p.timer.Reset(resendAfter)
	return p.match, p.claim.op, p.claim.data
}

// rest makes no more claims.
func (p *place) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == placePlays {
		p.state = placeRests
	}
	if p.drop != nil {
		p.drop.Stop()
	}
}

// settled reports whether nothing is waited for: neither an answer nor a connection.
func (p *place) settled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state == placeIsOver || p.claim == nil && !p.down && !p.cut
}

// leave ends the place, and tells the server that nobody need wait for this player.
func (p *place) leave(failed bool) {
	match := p.end(failed)
	if match == nil || match.Socket() == nil {
		return
	}
	if p.contest.wantsForfeit() {
		_ = match.Send(wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveWait)
	defer cancel()
	_ = match.Leave(ctx) // the socket may be gone
}

func (p *place) end(failed bool) *client.Match {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.table.loader.tally
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.drop != nil {
		p.drop.Stop()
	}
	if p.claim != nil {
		p.claim = nil
		t.unansweredClaim()
	}
	p.back()
	p.state = placeIsOver
	if p.verifier != nil {
		if failed {
			p.verifier.Lost()
		}
		t.verified(p.verifier.Report(), p.match)
	}
	return p.match
}

// loseConnection is what a bad network does.
func (p *place) loseConnection() {
	p.mu.Lock()
	match, plays := p.match, p.state == placePlays && !p.down
	p.cut = plays
	p.mu.Unlock()
	if !plays {
		return
	}
	p.table.loader.tally.dropped.Add(1)
	if socket := match.Socket(); socket != nil { // else it was lost by itself just now
		_ = socket.Abort()
	}
}

// comeBack connects and joins again. It tries until it succeeds, the server refuses, or patience ends; the waits grow and are spread.
func (p *place) comeBack(ctx context.Context) error {
	l := p.table.loader
	ctx, cancel := context.WithTimeout(ctx, l.flags.patience)
	defer cancel()
	l.tally.close(p.seat.socket)
	for backoff := firstReturn; ; backoff = min(2*backoff, lastReturn) {
		if !sleep(ctx, backoff/2+rand.N(backoff)) {
			return client.ErrLinkFailed
		}
		err := p.connect(ctx)
		var refused *client.Error
		if err == nil || errors.As(err, &refused) {
			return err
		}
	}
}

func (p *place) connect(ctx context.Context) error {
	l := p.table.loader
	socket, err := l.client.OpenSocket(ctx, p.seat.user, l.format)
	if err != nil {
		return err
	}
	l.tally.opened(socket)
	p.seat.socket = socket
	err = p.match.Rejoin(ctx, socket)
	var refused *client.Error
	switch {
	case err == nil:
	case errors.As(err, &refused) && p.contest.ended():
		p.missedTheEnd()
	default:
		l.tally.close(socket)
		return fmt.Errorf("rejoin: %w", err)
	}
	l.tally.reconnected.Add(1)
	return nil
}

// missedTheEnd is for a player who comes back to a table that is no more: the next match goes on without a word.
func (p *place) missedTheEnd() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.back()
	if p.claim != nil {
		p.claim = nil
		p.table.loader.tally.unansweredClaim()
	}
}

// back notes that there is a connection again.
func (p *place) back() {
	if p.down {
		p.down = false
		p.table.loader.tally.reconnecting.Add(-1)
	}
}
