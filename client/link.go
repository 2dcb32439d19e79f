package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
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

// Link keeps a match joined across sockets, and across restarts of the server: the Transport of a Controller. It is safe for concurrent
// use.
type Link struct {
	client *Client
	user   *User
	format Format
	match  *Match
	stop   context.CancelFunc
	events chan LinkEvent
	again  chan struct{} // Reconnect was asked for
	ended  chan struct{} // run has returned

	// Only run touches these.
	tableID   string // empty until it is known
	suspended bool   // the match is not there any more, its table goes on in another one
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
		events: make(chan LinkEvent, 16), again: make(chan struct{}, 1), ended: make(chan struct{}), tableID: options.TableID,
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
			l.note(message)
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

// note takes from a message what is needed to find the table again.
func (l *Link) note(message Message) {
	switch body := message.Body.(type) {
	case *wire.Welcome:
		if body.GetTableId() != "" {
			l.tableID = body.GetTableId()
		}
	case *wire.Notice:
		l.suspended = l.suspended || body.GetKind() == wire.NoticeKind_NOTICE_KIND_SUSPENDED
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
		again := l.tableID != "" && isGone(err) // what was found by the table's id is gone already: the server was restarted again
		if err == nil || ctx.Err() != nil || isRefusal(err) && !again {
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
	if err := l.join(ctx, socket); err != nil {
		_ = socket.Close()
		return fmt.Errorf("rejoin: %w", err)
	}
	return nil
}

// join joins the match, or the one in which its table goes on.
func (l *Link) join(ctx context.Context, socket *Socket) error {
	if !l.suspended || l.tableID == "" {
		err := l.match.Rejoin(ctx, socket)
		if !isGone(err) || l.tableID == "" {
			return err
		}
	}
	resumed, err := socket.ResumeMatch(ctx, l.tableID)
	if err != nil {
		return err
	}
	l.match.goOn(resumed.MatchID)
	l.suspended = false
	return l.match.Rejoin(ctx, socket)
}

// isGone reports whether a match could not be joined because it is not there, or just closes.
func isGone(err error) bool {
	var refused *Error
	if !errors.As(err, &refused) {
		return false
	}
	return refused.Reason == "" && refused.Code == int(rtapi.Error_MATCH_NOT_FOUND) || refused.Reason == reasonTableClosed
}

const reasonTableClosed = "TABLE_CLOSED"

// isNakamaBusy is about refusals without a reason, which are not the module's.
func isNakamaBusy(code int) bool {
	switch {
	case code == int(rtapi.Error_MATCH_JOIN_REJECTED): // the match was too slow to answer
		return true
	case code == 13 || code == 14: // gRPC's internal and unavailable: its database is gone, for one
		return true
	}
	return code >= http.StatusInternalServerError // of a proxy before a server that just starts
}

// isRefusal reports whether an error is a server's no that will not become a yes by itself: not that of a server which is shutting down, has just
// started or is too busy.
func isRefusal(err error) bool {
	var refused *Error
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.Reason {
	case "":
		return !isNakamaBusy(refused.Code)
	case "BUSY", "INTERNAL", "SHUTTING_DOWN", "STORAGE_UNAVAILABLE", "TOO_MANY_REQUESTS", reasonTableClosed:
		return false
	}
	return true
}
