package main

import (
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// ledger is what the players of a match were told, by whomever of them. A life is a run of the server: told in life n
// means between the nth kill and the next one.
type ledger struct {
	mu           sync.Mutex
	madeIn       int       // life
	began        time.Time // when the start was first told
	beganIn      int       // life
	commitment   []byte
	verdicts     map[toldKey]toldVerdict
	order        []toldKey // of verdicts, as they came
	standings    []toldStanding
	ends         []toldEnd
	forfeits     []toldForfeit
	incarnations map[int]uint32 // by life
}

type toldKey struct {
	life int
	seat uint32
	id   uint64
}

type toldVerdict struct {
	at    time.Time
	cards string
	valid bool
}

// toldStanding are scores, and the newest verdict that they include.
type toldStanding struct {
	at     time.Time
	after  toldKey
	exact  bool // nothing after that verdict is in them
	life   int
	scores []uint32
}

type toldEnd struct {
	at    time.Time
	life  int
	ended *wire.MatchEnded
}

type toldForfeit struct {
	at   time.Time
	life int
	seat uint32
}

func newLedger() ledger {
	return ledger{verdicts: map[toldKey]toldVerdict{}, incarnations: map[int]uint32{}}
}

// Joined implements client.Tap.
func (s *crashSeat) Joined() {
	s.verifier.Joined()
	life := s.match.crash.life()
	s.match.mu.Lock()
	defer s.match.mu.Unlock()
	s.joinedIn = life
}

// Sent implements client.Tap.
func (s *crashSeat) Sent(frame client.Frame) { s.verifier.Sent(frame) }

// Received implements client.Tap: it writes down what is told.
func (s *crashSeat) Received(frame client.Frame) {
	s.verifier.Received(frame)
	message, known, err := client.ReadFrame(frame)
	if err != nil || !known {
		return // the verifier complains
	}
	c, m := s.match.crash, s.match
	kills := c.killed()
	var points []crashPoint
	m.mu.Lock()
	life := m.lifeOf(message.Body.GetStamp().GetIncarnation(), s.joinedIn, frame.At, kills)
	switch body := message.Body.(type) {
	case *wire.Welcome:
		points = m.welcomed(s, body, frame.At, life)
	case *wire.Update:
		points = m.updated(body, frame.At, life)
	}
	m.mu.Unlock()
	for _, point := range points {
		c.happened(point)
		switch {
		case m.kind.ranked && point == atVerdict:
			c.happened(atRankedVerdict)
		case m.kind.ranked && point == atEnd:
			c.happened(atRankedEnd)
		}
	}
}

// lateFrame is how long after a kill a frame may be read that was sent before it.
const lateFrame = 5 * time.Second

// lifeOf is the life in which a frame was sent: that in which its connection joined, unless the answer to the join was
// late too. Then it may be the first frame of its life, if that is the one in which the match was made. It needs the
// lock, as all that follows.
func (m *crashMatch) lifeOf(incarnation uint32, joinedIn int, at time.Time, kills []time.Time) int {
	for life, killed := range kills[:joinedIn] {
		told, ok := m.incarnations[life]
		if !ok {
			ok = life == m.madeIn // with incarnation 0
		}
		if ok && told == incarnation && at.Sub(killed) < lateFrame {
			return life
		}
	}
	return joinedIn
}

func (m *crashMatch) welcomed(s *crashSeat, w *wire.Welcome, at time.Time, life int) (points []crashPoint) {
	if s.life < life {
		s.life = life
		points = append(points, atReturn)
	}
	if m.made.TableID == "" {
		m.made.TableID = w.GetTableId()
	}
	if w.GetSnapshot() == nil {
		return points
	}
	if w.GetRole() == wire.Role_ROLE_PLAYER {
		m.asks = s.user
	}
	points = append(points, m.begin(w.GetCommitment(), at, life)...)
	m.incarnation(w.GetStamp().GetIncarnation(), life)
	if before, ok := m.lastBefore(life); ok {
		m.standings = append(m.standings, toldStanding{at: at, after: before, life: life, scores: slices.Clone(w.GetSnapshot().GetScores())})
	}
	if w.GetEnded() != nil {
		points = append(points, m.end(w.GetEnded(), at, life)...)
	}
	return points
}

// lastBefore is the newest verdict of earlier lives: those of this one may be newer than a Welcome that was long on its
// way.
func (m *crashMatch) lastBefore(life int) (toldKey, bool) {
	for _, key := range slices.Backward(m.order) {
		if key.life < life {
			return key, true
		}
	}
	return toldKey{}, false
}

func (m *crashMatch) begin(commitment []byte, at time.Time, life int) []crashPoint {
	if !m.began.IsZero() {
		return nil
	}
	m.began, m.beganIn, m.commitment = at, life, slices.Clone(commitment)
	return []crashPoint{atStart}
}

func (m *crashMatch) updated(u *wire.Update, at time.Time, life int) (points []crashPoint) {
	m.incarnation(u.GetStamp().GetIncarnation(), life)
	var last *toldKey
	for _, event := range u.GetEvents() {
		switch {
		case event.GetMatchStarted() != nil:
			points = append(points, m.begin(event.GetMatchStarted().GetCommitment(), at, life)...)
		case event.GetSetClaimed() != nil:
			key, isNew := m.judged(event.GetSetClaimed(), at, life)
			if last = &key; isNew {
				points = append(points, atVerdict)
			}
		case event.GetPlayerForfeited() != nil:
			m.forfeited(toldForfeit{at, life, event.GetPlayerForfeited().GetSeat()})
		case event.GetMatchEnded() != nil:
			points = append(points, m.end(event.GetMatchEnded(), at, life)...)
		}
	}
	if last != nil {
		m.standings = append(m.standings, toldStanding{at: at, after: *last, exact: true, life: life, scores: slices.Clone(u.GetSnapshot().GetScores())})
	}
	return points
}

func (m *crashMatch) judged(v *wire.SetClaimed, at time.Time, life int) (toldKey, bool) {
	key := toldKey{life, v.GetSeat(), v.GetClaimId()}
	if _, told := m.verdicts[key]; told {
		return key, false
	}
	m.verdicts[key] = toldVerdict{at: at, cards: string(v.GetCards()), valid: v.GetValid()}
	m.order = append(m.order, key)
	return key, true
}

func (m *crashMatch) forfeited(f toldForfeit) {
	same := func(told toldForfeit) bool { return told.life == f.life && told.seat == f.seat }
	if !slices.ContainsFunc(m.forfeits, same) {
		m.forfeits = append(m.forfeits, f)
	}
}

func (m *crashMatch) end(e *wire.MatchEnded, at time.Time, life int) []crashPoint {
	for _, told := range m.ends {
		if told.life == life {
			if !proto.Equal(told.ended, e) {
				m.crash.failAt(m, "two ends were told, {%v} and {%v}", told.ended, e)
			}
			return nil
		}
	}
	m.ends = append(m.ends, toldEnd{at, life, proto.CloneOf(e)})
	return []crashPoint{atEnd}
}

// incarnation checks that it rises by at most one with a kill, and does not change between two.
func (m *crashMatch) incarnation(n uint32, life int) {
	if known, told := m.incarnations[life]; told {
		if known != n {
			m.crash.failAt(m, "incarnation %d and %d between two kills", known, n)
		}
		return
	}
	m.incarnations[life] = n
	for before, known := range m.incarnations {
		if before < life && (n <= known || int(n-known) > life-before) {
			m.crash.failAt(m, "incarnation %d after %d, with %d kills between", n, known, life-before)
		}
	}
}
