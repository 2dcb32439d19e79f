package match

import (
	"time"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// presence is when a player last did something that only a person does: claimed, showed an emote, asked for the state. Pings
// come by themselves and do not count. Only a claim that is judged makes others look idle: all else costs nothing.
type presence struct {
	activeAt time.Duration
	warnedAt time.Duration // 0: not since then
	playedAt time.Duration // of the last claim that was judged when it came
}

func (t *table) noteActive(userID string) {
	if i, sits := t.seats.of(userID); sits {
		t.seats.seat[i].activeAt, t.seats.seat[i].warnedAt = t.now, 0
	}
}

func (t *table) allActive() {
	for i := range t.seats.count {
		t.seats.seat[i].presence = presence{activeAt: t.now}
	}
}

// checkIdle warns the players who do nothing while others play, and in the end takes them out. A board over which everybody
// broods makes nobody idle, and who plays alone never is. A dropped player's seat has its own limit.
func (t *table) checkIdle() {
	warning := t.module.config.idleWarning
	if !t.standing.started || t.ended || warning == 0 {
		return
	}
	for i := range t.seats.count {
		s := &t.seats.seat[i]
		switch {
		case s.visitor == nil || t.now-s.activeAt < warning || !t.canPlay(i):
		case s.warnedAt == 0:
			if t.othersPlayed(i, s.activeAt) {
				t.warnIdle(s)
			}
		case t.now-s.warnedAt >= t.module.config.idleForfeit && t.othersPlayed(i, s.warnedAt):
			t.apply(domain.Forfeit{Seat: i, Idle: true})
			t.replyStamped(s.visitor, wire.OpCode_OP_CODE_NOTICE, func(stamp *wire.Stamp) stampedMessage { return seatForfeited(stamp, i) })
		}
	}
}

// canPlay reports whether a player could do something: neither forfeited nor out of time.
func (t *table) canPlay(seat int) bool {
	snapshot := t.session.Snapshot()
	return !snapshot.ByPlayer[seat].Forfeited && (!snapshot.Timed || snapshot.TimeLeftMs(seat, t.matchMs(t.now)) > 0)
}

// othersPlayed reports whether another person's claim was judged after a moment. Bots do not count.
func (t *table) othersPlayed(but int, after time.Duration) bool {
	for i := range t.seats.count {
		s := &t.seats.seat[i]
		if i != but && s.playedAt > after && !t.forfeited(i) {
			return true
		}
	}
	return false
}

func (t *table) warnIdle(s *seat) {
	s.warnedAt = t.now
	graceMs := uint32(t.module.config.idleForfeit.Milliseconds())
	t.sendTo(s.visitor, wire.OpCode_OP_CODE_NOTICE, &wire.Notice{
		Stamp: t.stamp(), Kind: wire.NoticeKind_NOTICE_KIND_IDLE, GraceMs: graceMs,
	})
}
