package client

import (
	"container/heap"
	"time"

	"google.golang.org/protobuf/proto"

	wire "set3d/proto/set3d/v1"
)

// fakeClock is a clock that a test moves.
type fakeClock struct{ now time.Duration }

func (c *fakeClock) read() time.Duration { return c.now }

// fakeNetwork carries frames between controllers and a table, late, doubled or not at all, on a clock of its own. Frames of one
// connection keep their order; those of an old one may come after those of the new.
type fakeNetwork struct {
	clock  fakeClock
	table  *fakeTable
	seats  []*fakeSeat
	queue  deliveries
	order  uint64
	choose func(n int) int // a number below n: what happens to a frame
	loss   int             // in 100
	double int             // in 100, of frames to the server
	late   int             // up to so many ms
}

// fakeSeat is a client: its controller, and its end of the network.
type fakeSeat struct {
	net         *fakeNetwork
	seat        int
	controller  *Controller
	inbox       Inbox
	connection  int           // number of the connection
	online      bool          // joined
	toServer    time.Duration // arrival of the last frame of this connection
	toClient    time.Duration
	resolutions map[uint64][]Resolution
	claimed     map[uint64]bool
	reconnects  int
	sent        []wire.OpCode
}

type delivery struct {
	at    time.Duration
	order uint64
	run   func()
}

type deliveries []delivery

func (d deliveries) Len() int { return len(d) }
func (d deliveries) Less(i, j int) bool {
	return d[i].at < d[j].at || d[i].at == d[j].at && d[i].order < d[j].order
}
func (d deliveries) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *deliveries) Push(x any)   { *d = append(*d, x.(delivery)) }
func (d *deliveries) Pop() any {
	old := *d
	last := old[len(old)-1]
	*d = old[:len(old)-1]
	return last
}

// newFakeNetwork connects a controller to each seat of the table. Nothing is lost or late until the test says so.
func newFakeNetwork(table *fakeTable) *fakeNetwork {
	n := &fakeNetwork{table: table, choose: func(int) int { return 0 }}
	for seat := range table.setup.Players {
		s := &fakeSeat{net: n, seat: seat, resolutions: map[uint64][]Resolution{}, claimed: map[uint64]bool{}}
		ids := uint64(seat) << 32
		s.controller = NewController(ControllerConfig{Transport: s, Clock: n.clock.read, ClaimIDs: func() uint64 {
			ids++
			s.claimed[ids] = true
			return ids
		}})
		n.seats = append(n.seats, s)
	}
	table.deliver = func(seat int, frame Frame) { n.seats[seat].fromServer(frame) }
	for _, s := range n.seats {
		s.join()
	}
	return n
}

func (n *fakeNetwork) at(when time.Duration, run func()) {
	n.order++
	heap.Push(&n.queue, delivery{when, n.order, run})
}

// Send implements Transport.
func (s *fakeSeat) Send(op wire.OpCode, body proto.Message) {
	s.sent = append(s.sent, op)
	if !s.online {
		return
	}
	data, err := proto.Marshal(body)
	if err != nil {
		panic(err)
	}
	n := s.net
	copies := 1
	if n.choose(100) < n.loss {
		copies = 0
	} else if n.choose(100) < n.double {
		copies = 2
	}
	for range copies {
		s.toServer = max(s.toServer, n.clock.now+time.Duration(n.choose(n.late+1))*time.Millisecond)
		n.at(s.toServer, func() { n.table.receive(s.seat, Frame{Op: int64(op), Data: data}) })
	}
}

// fromServer takes a frame for the connection that the seat has now. When that is another one on arrival, the frame comes all the
// same: a client may be that careless.
func (s *fakeSeat) fromServer(frame Frame) {
	if !s.online {
		return
	}
	n := s.net
	if n.choose(100) < n.loss {
		return
	}
	s.toClient = max(s.toClient, n.clock.now+time.Duration(n.choose(n.late+1))*time.Millisecond)
	n.at(s.toClient, func() { s.receive(frame) })
}

func (s *fakeSeat) receive(frame Frame) {
	frame.At = time.Time{}.Add(s.net.clock.now)
	for _, message := range s.inbox.Push(frame) {
		if r, resolved := s.controller.Receive(message); resolved {
			s.resolutions[r.ClaimID] = append(s.resolutions[r.ClaimID], r)
		}
	}
}

// Reconnect implements Transport: some time later there is another connection.
func (s *fakeSeat) Reconnect() {
	s.reconnects++
	s.online = false
	n := s.net
	n.at(n.clock.now+time.Duration(20+n.choose(200))*time.Millisecond, s.join)
}

func (s *fakeSeat) join() {
	s.connection++
	s.online = true
	s.toServer, s.toClient = s.net.clock.now, s.net.clock.now
	s.inbox.Connected()
	s.controller.Joined()
	s.net.table.welcome(s.seat)
}

// run moves the clock to a time, and does on the way what is due.
func (n *fakeNetwork) run(until time.Duration) {
	for {
		next := until
		if len(n.queue) > 0 {
			next = min(next, n.queue[0].at)
		}
		if wake, ok := n.table.session.NextWakeMs(); ok {
			next = min(next, max(n.clock.now, time.Duration(wake+n.table.offsetMs)*time.Millisecond))
		}
		for _, s := range n.seats {
			if wake, ok := s.controller.NextWake(); ok {
				next = min(next, max(n.clock.now, wake))
			}
		}
		n.clock.now = max(n.clock.now, next)
		n.table.advance(n.clock.now.Milliseconds())
		for _, s := range n.seats {
			s.controller.Advance()
		}
		for len(n.queue) > 0 && n.queue[0].at <= n.clock.now {
			heap.Pop(&n.queue).(delivery).run()
		}
		if next >= until {
			return
		}
	}
}

func (n *fakeNetwork) pass(d time.Duration) { n.run(n.clock.now + d) }
