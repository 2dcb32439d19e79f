package main

import (
	"context"
	"encoding/json"
	"sync"

	"set3d/client"
)

const (
	// idlePerPlayer is how many idle tables each player of a group makes: a server lets a user have 20 open. All players of the group
	// sit at all of them, each on one socket: an idle table costs the server a match with its players, not their sockets.
	idlePerPlayer = 20
	// idleRules keep a match for an hour in which nobody does anything, and end it soon when its players are gone.
	idleRules = `{"idle_limit_ms":3600000,"drop_hold_ms":1000}`
)

// socketsOfIdle is how many sockets idle tables need.
func socketsOfIdle(tables, players int) int {
	perGroup := players * idlePerPlayer
	return (tables + perGroup - 1) / perGroup * players
}

// idleGroup is players who sit at many tables and do nothing.
type idleGroup struct {
	loader  *loader
	tables  int
	sockets []*client.Socket
}

// open makes the tables, and has everybody join.
func (g *idleGroup) open(ctx context.Context) error {
	l := g.loader
	for range l.flags.players {
		user, err := l.client.AuthenticateDevice(ctx, client.RandomID(), "")
		if err != nil {
			return err
		}
		socket, err := l.client.OpenSocket(ctx, user, l.format)
		if err != nil {
			return err
		}
		l.tally.opened(socket)
		g.sockets = append(g.sockets, socket)
	}
	for i := range g.tables {
		if err := g.table(ctx, g.sockets[i%len(g.sockets)]); err != nil {
			return err
		}
		l.tally.idle.Add(1)
	}
	return nil
}

func (g *idleGroup) table(ctx context.Context, creator *client.Socket) error {
	l := g.loader
	var matchID string
	var err error
	if l.flags.echo != "" {
		matchID, err = createEcho(ctx, creator, l.flags.echo)
	} else {
		request := client.CreateMatch{Seats: l.flags.players}
		if err := json.Unmarshal([]byte(idleRules), &request.Rules); err != nil {
			return err
		}
		var made client.CreatedMatch
		made, err = creator.CreateMatch(ctx, request)
		matchID = made.MatchID
	}
	if err != nil {
		return err
	}
	for _, socket := range g.sockets {
		if _, err := socket.Join(ctx, matchID, client.JoinOptions{Tap: idleTap{l.tally}, TapOnly: true}); err != nil {
			return err
		}
	}
	return nil
}

// sit does nothing until ctx ends.
func (g *idleGroup) sit(ctx context.Context) {
	for _, socket := range g.sockets {
		select {
		case <-ctx.Done():
		case <-socket.Done():
			g.loader.tally.failed(client.ErrClosed)
		}
	}
	var closing sync.WaitGroup
	for _, socket := range g.sockets {
		closing.Go(func() { g.loader.tally.close(socket) })
	}
	closing.Wait()
}

// idleTap counts.
type idleTap struct{ tally *tally }

// Joined implements client.Tap.
func (t idleTap) Joined() {}

// Sent implements client.Tap.
func (t idleTap) Sent(client.Frame) { t.tally.messagesSent.Add(1) }

// Received implements client.Tap.
func (t idleTap) Received(client.Frame) { t.tally.messagesReceived.Add(1) }
