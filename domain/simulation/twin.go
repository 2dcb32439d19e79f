package simulation

import (
	"errors"
	"fmt"
	"reflect"

	"set3d/domain"
)

// twin is a session that was replayed from the record of another somewhere in the match, and has been given the same ever since: like
// a match that goes on after a restart. nil has nothing to compare.
type twin struct {
	session *domain.Session
	out     domain.Output
}

func (t *twin) advance(m *match, nowMs int64) error {
	if t == nil {
		return nil
	}
	t.out.Reset()
	t.session.Advance(nowMs, &t.out)
	return t.checkStep(m)
}

func (t *twin) apply(m *match, nowMs int64, cmd domain.Command, want domain.Result) error {
	if t == nil {
		return nil
	}
	t.out.Reset()
	if result := t.session.Apply(nowMs, cmd, &t.out); result != want {
		return fmt.Errorf("the twin answers %+v, not %+v", result, want)
	}
	return t.checkStep(m)
}

// checkStep compares what the two have just put out, and all the rest.
func (t *twin) checkStep(m *match) error {
	if !sameList(t.out.Events, m.out.Events) || !sameList(t.out.Answers, m.out.Answers) {
		return fmt.Errorf("the twin puts out %+v, not %+v", t.out, m.out)
	}
	return t.check(m)
}

// check compares all that can be seen of the two sessions.
func (t *twin) check(m *match) error {
	a, b := m.session, t.session
	wakeA, wakesA := a.NextWakeMs()
	wakeB, wakesB := b.NextWakeMs()
	endA, endedA := a.Ended()
	endB, endedB := b.Ended()
	switch {
	case a.Snapshot() != b.Snapshot() || a.Revision() != b.Revision() || a.NowMs() != b.NowMs():
		return fmt.Errorf("the twin is in another state: %+v", b.Snapshot())
	case wakeA != wakeB || wakesA != wakesB:
		return fmt.Errorf("the twin wakes at %d, %t, not at %d, %t", wakeB, wakesB, wakeA, wakesA)
	case endedA != endedB || !reflect.DeepEqual(endA, endB):
		return fmt.Errorf("the twin has ended otherwise: %+v", endB)
	}
	for seat := range m.setup.Players {
		if err := sameSeat(a, b, seat); err != nil {
			return err
		}
	}
	return nil
}

func sameSeat(a, b *domain.Session, seat int) error {
	heldA, holdsA := a.HeldUntilMs(seat)
	heldB, holdsB := b.HeldUntilMs(seat)
	verdictA, judgedA := a.LastVerdict(seat)
	verdictB, judgedB := b.LastVerdict(seat)
	switch {
	case !reflect.DeepEqual(a.Input(seat), b.Input(seat)):
		return errors.New("the twin has another selection")
	case heldA != heldB || holdsA != holdsB:
		return errors.New("the twin holds a seat otherwise")
	case verdictA != verdictB || judgedA != judgedB:
		return errors.New("the twin remembers another verdict")
	case a.BotMisses(seat) != b.BotMisses(seat):
		return errors.New("the twin's bots miss otherwise")
	}
	return nil
}

func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}
