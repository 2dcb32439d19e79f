package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a Driver's Run can end with, besides the end of its context.
var (
	ErrTableClosed = errors.New("the server closed the table, or this client's place at it")
	ErrLinkFailed  = errors.New("the connection was lost and could not be made again")
)

// Audience is told what happens to a driven client, on the driver's goroutine.
type Audience interface {
	// Message is called after the controller has taken the message.
	Message(m Message)
	// Resolved is called when a claim has been.
	Resolved(r Resolution)
}

// ConnectionAudience is an Audience that is also told how the connection does.
type ConnectionAudience interface {
	Audience
	// ConnectionLost is called when the connection is gone and another one is tried for.
	ConnectionLost()
	// ConnectionMade is called when one has joined the match, the first one too.
	ConnectionMade()
}

// Driver runs a controller, and a player if there is one, on a link: the loop that a game has in its update function.
type Driver struct {
	Link       *Link
	Controller *Controller
	Player     *Player  // or nil
	Audience   Audience // or nil
}

// NewDriver puts a controller and a player on a link, on the process's clock.
func NewDriver(link *Link, player PlayerConfig, audience Audience) *Driver {
	start := time.Now()
	controller := NewController(ControllerConfig{Transport: link, Clock: func() time.Duration { return time.Since(start) }})
	return &Driver{Link: link, Controller: controller, Player: NewPlayer(player, controller), Audience: audience}
}

// Run plays until the match has ended and no claim waits for its answer. Then it returns nil.
func (d *Driver) Run(ctx context.Context) error {
	return d.loop(ctx, func() bool { return d.Controller.Ended() == nil || d.Controller.WaitingForServer() })
}

// Drain plays no more, and waits until no claim waits for its answer and no lost connection to be made again. Use it after Run.
func (d *Driver) Drain(ctx context.Context) error {
	d.Player = nil
	return d.loop(ctx, func() bool { return d.Controller.WaitingForServer() || d.Controller.Reconnecting() })
}

func (d *Driver) loop(ctx context.Context, goesOn func() bool) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for goesOn() {
		d.arm(timer)
		select {
		case event, open := <-d.Link.Events():
			if !open {
				return ErrLinkFailed
			}
			if err := d.handle(event); err != nil {
				return err
			}
		case <-timer.C:
			d.Controller.Advance()
		case <-ctx.Done():
			return ctx.Err()
		}
		if d.Player != nil {
			d.Player.Act()
		}
	}
	return nil
}

// arm sets the timer to the earliest wake.
func (d *Driver) arm(timer *time.Timer) {
	wait := time.Hour
	if wake, ok := d.Controller.NextWake(); ok {
		wait = min(wait, wake-d.Controller.clock())
	}
	if d.Player != nil {
		if wake, ok := d.Player.NextWake(); ok {
			wait = min(wait, wake-d.Controller.clock())
		}
	}
	timer.Reset(max(0, wait))
}

func (d *Driver) handle(event LinkEvent) error {
	switch event.Kind {
	case LinkJoined:
		d.Controller.Joined()
		if audience, ok := d.Audience.(ConnectionAudience); ok {
			audience.ConnectionMade()
		}
	case LinkLost:
		if d.Controller.Closed() {
			return fmt.Errorf("%w: %w", ErrTableClosed, event.Err)
		}
		d.Controller.ConnectionLost()
		if audience, ok := d.Audience.(ConnectionAudience); ok {
			audience.ConnectionLost()
		}
	case LinkFailed:
		return fmt.Errorf("%w: %w", ErrLinkFailed, event.Err)
	case LinkMessage:
		resolution, resolved := d.Controller.Receive(event.Message)
		if d.Audience != nil {
			d.Audience.Message(event.Message)
			if resolved {
				d.Audience.Resolved(resolution)
			}
		}
		if d.Controller.Closed() && d.Controller.Ended() == nil {
			return ErrTableClosed
		}
	}
	return nil
}
