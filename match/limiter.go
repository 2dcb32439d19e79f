package match

import (
	"hash/maphash"
	"sync"
	"time"
)

// rate is how many messages a session may send.
type rate struct {
	perSecond int
	burst     int
}

const (
	limiterShards = 16
	// patienceBurst is how many messages beyond its rate a session may send before it is cut off; they come back at the
	// session's rate. A client that resends in panic is far below it, a flood is not.
	patienceBurst = 100
	// sweepEvery is how often a shard forgets sessions whose buckets are full again. Nobody tells us reliably that a
	// session has ended, so they are forgotten by time.
	sweepEvery = 30 * time.Second
)

// socialRate is how many of the messages that everybody hears a session may send beside its claims: every one of them is a frame
// for the whole table.
func socialRate() rate { return rate{perSecond: 2, burst: 2} }

// isSocial reports whether socialRate counts an op code.
func isSocial(opCode int64) bool {
	switch opCode {
	case opSetReady, opTakeSeat, opVoteRematch, opEmote:
		return true
	}
	return false
}

// pace is what a session's message got.
type pace uint8

const (
	paceFine pace = iota + 1
	paceTooFast
	paceHopeless // cut the session off: said once
	paceCutOff   // it has been: what still comes is not worth a word
)

// limiter holds two token buckets for each session: one for messages, one for refused messages.
type limiter struct {
	seed   maphash.Seed
	fill   time.Duration // one token
	burst  time.Duration // a full first bucket
	shards [limiterShards]limiterShard
}

type limiterShard struct {
	mu       sync.Mutex
	sessions map[string]buckets
	sweptAt  time.Duration
}

// buckets are the moments at which the two buckets will be full again: a bucket is as empty as that is far away.
type buckets struct {
	fullAt, patienceAt time.Duration
	cutOff             bool
}

func newLimiter(r rate) *limiter {
	fill := time.Second / time.Duration(r.perSecond)
	l := &limiter{seed: maphash.MakeSeed(), fill: fill, burst: fill * time.Duration(r.burst)}
	for i := range l.shards {
		l.shards[i].sessions = make(map[string]buckets)
	}
	return l
}

// take spends one token of the session's.
func (l *limiter) take(sessionID string, now time.Duration) pace {
	shard := &l.shards[maphash.String(l.seed, sessionID)%limiterShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	shard.sweep(now)
	b := shard.sessions[sessionID]
	result := paceFine
	if !spend(&b.fullAt, now, l.fill, l.burst) {
		result = paceTooFast
		if !spend(&b.patienceAt, now, l.fill, l.fill*patienceBurst) {
			result = paceHopeless
			if b.cutOff {
				result = paceCutOff
			}
			b.cutOff = true
		}
	}
	shard.sessions[sessionID] = b
	return result
}

func spend(fullAt *time.Duration, now, token, size time.Duration) bool {
	next := max(*fullAt, now) + token
	if next-now > size {
		return false
	}
	*fullAt = next
	return true
}

func (s *limiterShard) sweep(now time.Duration) {
	if now-s.sweptAt < sweepEvery {
		return
	}
	s.sweptAt = now
	for id, b := range s.sessions {
		if b.fullAt <= now && b.patienceAt <= now {
			delete(s.sessions, id)
		}
	}
}
