package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

const (
	firstBackoff = 250 * time.Millisecond
	longBackoff  = 8 * time.Second
	attemptLimit = 10 * time.Second // of one try to connect and join
)

// LinkEventKind is what happened on a link.
type LinkEventKind uint8

// The kinds of link event.
const (
	LinkMessage LinkEventKind = 1 + iota // Message came
	LinkJoined                           // a connection has joined; a Welcome follows
	LinkLost                             // the connection is gone; Reconnect makes another
	LinkFailed                           // no connection will be made: Err says why. The last event
)

// LinkEvent is what happened on a link, in order.
type LinkEvent struct {
	Kind    LinkEventKind
	Message Message
	Err     error
}

// Link keeps a match joined across sockets: the Transport of a Controller. It is safe for concurrent use.
type Link struct {
	client *Client
	user   *User
	format Format
	match  *Match
	stop   context.CancelFunc
	events chan LinkEvent
	again  chan struct{} // Reconnect was asked for
	ended  chan struct{} // run has returned
}

// OpenLink connects the user and joins a match. The first event is LinkJoined. The link lives until Close, or the end of ctx.
func (c *Client) OpenLink(ctx context.Context, user *User, format Format, matchID string, options JoinOptions) (*Link, error) {
	socket, err := c.OpenSocket(ctx, user, format)
	if err != nil {
		return nil, err
	}
	match, err := socket.Join(ctx, matchID, options)
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	l := &Link{
		client: c, user: user, format: format, match: match, stop: stop,
		events: make(chan LinkEvent, 16), again: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go l.run(running)
	return l, nil
}

// Events are what happens. They must be read; the channel is closed after Close and after LinkFailed.
func (l *Link) Events() <-chan LinkEvent { return l.events }

// Match is the joined match, for those who want to send something of their own.
func (l *Link) Match() *Match { return l.match }

// Send implements Transport. A message that cannot be sent is lost.
func (l *Link) Send(op wire.OpCode, body proto.Message) { _ = l.match.Send(op, body) }

// Reconnect implements Transport.
func (l *Link) Reconnect() {
	select {
	case l.again <- struct{}{}:
	default:
	}
	if socket := l.match.Socket(); socket != nil {
		go func() { _ = socket.Abort() }() // not here: Abort waits for the reader
	}
}

// Close closes the socket and ends the link.
func (l *Link) Close() {
	socket := l.match.Socket()
	l.stop()
	if socket != nil {
		_ = socket.Close()
	}
	<-l.ended
}

func (l *Link) run(ctx context.Context) {
	defer close(l.ended)
	defer close(l.events)
	l.emit(ctx, LinkEvent{Kind: LinkJoined})
	for ctx.Err() == nil {
		message, err := l.match.Next(ctx)
		if err == nil {
			l.emit(ctx, LinkEvent{Kind: LinkMessage, Message: message})
			continue
		}
		l.emit(ctx, LinkEvent{Kind: LinkLost, Err: err})
		select {
		case <-l.again:
		case <-ctx.Done():
			return
		}
		if err := l.rejoin(ctx); err != nil {
			l.emit(ctx, LinkEvent{Kind: LinkFailed, Err: err})
			return
		}
		l.emit(ctx, LinkEvent{Kind: LinkJoined})
	}
}

func (l *Link) emit(ctx context.Context, event LinkEvent) {
	select {
	case l.events <- event:
	case <-ctx.Done():
	}
}

// rejoin tries until it succeeds, the server refuses, patience or ctx ends. The waits grow and are spread, so that a server that comes back
// is not met by everybody at once.
func (l *Link) rejoin(ctx context.Context) error {
	if patience := l.match.options.GiveUpAfter; patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	backoff := firstBackoff
	for {
		err := l.attempt(ctx)
		var refused *Error
		if err == nil || ctx.Err() != nil || errors.As(err, &refused) {
			return err
		}
		wait := time.NewTimer(backoff/2 + rand.N(backoff))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return err // says more than that the time is over
		}
		backoff = min(2*backoff, longBackoff)
	}
}

func (l *Link) attempt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	socket, err := l.client.OpenSocket(ctx, l.user, l.format)
	if err != nil {
		return err
	}
	if err := l.match.Rejoin(ctx, socket); err != nil {
		_ = socket.Close()
		return fmt.Errorf("rejoin: %w", err)
	}
	return nil
}
