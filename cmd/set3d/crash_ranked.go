package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

const (
	// seekLimit is how long the matchmaker may take; the next players of the kind wait as long.
	seekLimit = 15 * time.Second
	// quitAfter is after how many verdicts the first player forfeits, and after how many more each of the others that
	// do.
	quitAfter = 2
)

// people are the users of ranked matches. Each plays one at a time, until its result is known: so the order of the ends
// is that of the ratings.
type people struct {
	mu   sync.Mutex
	all  []*client.User
	free []*client.User
}

// borrow takes n users who are in no ranked match, and signs in those who are missing.
func (p *people) borrow(ctx context.Context, c *client.Client, n int, random *rand.Rand) ([]*client.User, error) {
	p.mu.Lock()
	random.Shuffle(len(p.free), func(i, j int) { p.free[i], p.free[j] = p.free[j], p.free[i] })
	taken := append([]*client.User(nil), p.free[:min(n, len(p.free))]...)
	p.free = p.free[len(taken):]
	p.mu.Unlock()
	for len(taken) < n {
		user, err := c.AuthenticateDevice(ctx, client.RandomID(), "")
		if err != nil {
			p.giveBack(taken)
			return nil, err
		}
		p.mu.Lock()
		p.all = append(p.all, user)
		p.mu.Unlock()
		taken = append(taken, user)
	}
	return taken, nil
}

func (p *people) giveBack(users []*client.User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, users...)
}

func (p *people) everybody() []*client.User {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*client.User(nil), p.all...)
}

// seek lets Nakama's matchmaker bring the players of a ranked match together. It returns nil if the server went away
// meanwhile.
func (c *crasher) seek(ctx context.Context, kind int, random *rand.Rand) *crashMatch {
	c.seeking[kind].Lock() // the tickets of two matches of a kind would be mixed
	defer c.seeking[kind].Unlock()
	m := &crashMatch{crash: c, kind: crashKinds[kind], ledger: newLedger()}
	ctx, cancel := context.WithTimeout(ctx, seekLimit)
	defer cancel()
	var err error
	if m.users, err = c.ranked.borrow(ctx, c.client, m.kind.request.Seats, random); err == nil {
		var matchID string
		if matchID, err = c.matchmake(ctx, m); err == nil {
			return c.begin(m, client.CreatedMatch{MatchID: matchID, Preset: m.kind.request.Preset, Seats: len(m.users)})
		}
		c.ranked.giveBack(m.users) // a match that nobody joins never begins
	}
	if reason := client.ReasonOf(err); reason != "" && reason != "SHUTTING_DOWN" {
		c.fail("the matchmaker takes no ticket for %s: %v", m.kind.request.Preset, err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(createRetry):
	}
	return nil
}

// matchmake makes a ticket for each player, and returns the match in which all of them are to meet.
func (c *crasher) matchmake(ctx context.Context, m *crashMatch) (matchID string, err error) {
	n := len(m.users)
	sockets := make([]*client.Socket, n)
	defer func() {
		for _, socket := range sockets {
			if socket != nil {
				_ = socket.Close()
			}
		}
	}()
	for i, user := range m.users {
		if sockets[i], err = c.client.OpenSocket(ctx, user, c.format); err != nil {
			return "", err
		}
		ticket := client.Ticket{Preset: m.kind.request.Preset, Min: n, Max: n}
		if _, err = sockets[i].AddTicket(ctx, ticket); err != nil {
			return "", err
		}
	}
	for i, socket := range sockets {
		id, err := socket.AwaitMatch(ctx)
		switch {
		case err != nil:
			return "", err
		case i > 0 && id != matchID:
			return "", fmt.Errorf("the matchmaker made two matches of them")
		}
		matchID = id
	}
	return matchID, nil
}

// isNoMatch reports whether a match could not be joined because it is not there.
func isNoMatch(refused *client.Error) bool {
	return refused.Reason == "" && refused.Code == int(rtapi.Error_MATCH_NOT_FOUND) || refused.Reason == "TABLE_CLOSED"
}

// neverSat is about a player of a ranked match that was gone before anybody had been welcomed: it had not begun.
func (s *crashSeat) neverSat(err error) error {
	s.match.mu.Lock()
	defer s.match.mu.Unlock()
	s.left = true
	return err
}

func (m *crashMatch) tableID() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made.TableID
}

// awaitFinal asks for the result of a ranked match until it is there, keeps it, and lets the players look for another
// match. Those of a match that has none are not used again.
func (c *crasher) awaitFinal(ctx context.Context, m *crashMatch) {
	for m.tableID() != "" {
		if got, err := c.client.GetResult(ctx, m.asking(), m.tableID()); err == nil && got.Result != nil {
			m.mu.Lock()
			m.final = got.Result
			m.mu.Unlock()
			c.ranked.giveBack(m.users)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(resultsPoll):
		}
	}
}

// asking is who asks for the result.
func (m *crashMatch) asking() *client.User {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asks
}

// quitter forfeits after some verdicts. A forfeit that was lost with its connection is sent again on the next one.
type quitter struct {
	link  *client.Link
	after int
	fresh bool // the connection has not been welcomed
	plays bool // and has not forfeited on this connection
}

func (q *quitter) ConnectionLost()            {}
func (q *quitter) ConnectionMade()            { q.fresh = true }
func (q *quitter) Resolved(client.Resolution) {}

func (q *quitter) Message(m client.Message) {
	switch body := m.Body.(type) {
	case *wire.Welcome:
		if q.fresh {
			q.fresh, q.plays = false, body.GetRole() == wire.Role_ROLE_PLAYER
		}
	case *wire.Update:
		for _, event := range body.GetEvents() {
			q.after -= oneIf(event.GetSetClaimed() != nil)
		}
		if q.after <= 0 && q.plays {
			q.plays = false
			q.link.Send(wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
		}
	}
}
