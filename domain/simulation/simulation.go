// Package simulation plays whole matches against a domain.Session with random and hostile players, and checks after
// every step what must hold in every match. All of a run follows from one seed, so a failure is replayed by its seed.
package simulation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"

	"set3d/domain"
)

// Stats say what a run has seen, so that a test can tell that the runs were not all the same dull match.
type Stats struct {
	Steps, Valid, Invalid, Refused, Repeated, Held, LateAnswers, Ended int
	BotClaims                                                          int     // judged ones; they are among Valid and Invalid
	WaitingHolds                                                       int     // steps after which an ended hold waits
	Reasons                                                            [64]int // refusals by domain.Reason
	Ends                                                               [16]int // ends by domain.EndReason
}

// Add adds the counts of another run.
func (s *Stats) Add(o Stats) {
	s.Steps += o.Steps
	s.Valid += o.Valid
	s.Invalid += o.Invalid
	s.Refused += o.Refused
	s.Repeated += o.Repeated
	s.Held += o.Held
	s.LateAnswers += o.LateAnswers
	s.Ended += o.Ended
	s.BotClaims += o.BotClaims
	s.WaitingHolds += o.WaitingHolds
	for i, n := range o.Reasons {
		s.Reasons[i] += n
	}
	for i, n := range o.Ends {
		s.Ends[i] += n
	}
}

// maxSteps bounds a run; most matches end before.
const maxSteps = 600

// Run plays one match from a seed. It fails with the first thing that did not hold, and then also says at which step.
func Run(seed uint64) (Stats, error) {
	stats, err := run(rand.NewPCG(seed, 0x5e7), func() bool { return false })
	if err != nil {
		return stats, fmt.Errorf("seed %d, %w", seed, err)
	}
	return stats, nil
}

// RunChoices plays one match in which the bytes choose what happens next, and which is left to run out when there are
// no more of them: a fuzzer that changes a byte changes a choice.
func RunChoices(choices []byte) (Stats, error) {
	source := newChoices(choices)
	return run(source, source.made)
}

// run plays one match until it is over or nothing is left to choose. A panic fails it like anything else.
func run(source rand.Source, chosen func() bool) (stats Stats, err error) {
	random := rand.New(source)
	m := newMatch(randomSetup(random))
	m.random, m.chosen, m.flaky = random, chosen, random.IntN(4) == 0
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("panic: %v\n%s", broken, debug.Stack())
		}
		if stats = m.stats; err != nil {
			err = fmt.Errorf("step %d, at %d ms: %w", stats.Steps, m.session.NowMs(), err)
		}
	}()
	return stats, m.play()
}

// match is one run.
type match struct {
	random  *rand.Rand
	chosen  func() bool // whether all is chosen: then the match runs out
	flaky   bool        // connections are lost often
	session *domain.Session
	setup   domain.Setup
	out     domain.Output
	all     domain.Output
	view    *view
	claims  claimBook
	stats   Stats
	twin    *twin
}

func newMatch(setup domain.Setup) *match {
	return &match{session: domain.NewSession(), setup: setup}
}

func (m *match) play() error {
	if err := m.beforeStart(); err != nil {
		return err
	}
	if err := m.start(); err != nil {
		return err
	}
	for m.stats.Steps < maxSteps && !m.chosen() {
		m.stats.Steps++
		if err := m.step(); err != nil {
			return err
		}
		if _, ended := m.session.Ended(); ended && m.random.IntN(8) == 0 {
			break
		}
	}
	return m.finish()
}

func (m *match) start() error {
	if err := m.session.StartMatch(m.setup, &m.out); err != nil {
		return err
	}
	m.view = newView(m.setup)
	return m.check(domain.Snapshot{}, 0)
}

// beforeStart checks that nothing can be done before the start.
func (m *match) beforeStart() error {
	result := m.session.Apply(0, domain.ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}}, &m.out)
	if result.Refusal.Reason != domain.RefusedNotStarted || m.session.Record() != nil {
		return fmt.Errorf("a claim before the start: %v", result.Refusal.Reason)
	}
	return nil
}

// step advances the clock, then gives one command or none.
func (m *match) step() error {
	nowMs := m.nextTime()
	before, revision := m.session.Snapshot(), m.session.Revision()
	if err := m.advance(nowMs); err != nil {
		return fmt.Errorf("advancing to %d: %w", nowMs, err)
	}
	if err := m.check(before, revision); err != nil {
		return fmt.Errorf("advancing to %d: %w", nowMs, err)
	}
	if m.random.IntN(6) == 0 {
		return nil
	}
	before, revision = m.session.Snapshot(), m.session.Revision()
	inputs := m.inputs()
	cmd := m.command()
	result, err := m.apply(nowMs, cmd)
	if err != nil {
		return fmt.Errorf("%T%+v: %w", cmd, cmd, err)
	}
	if err := m.checkResult(cmd, result, before, inputs); err != nil {
		return fmt.Errorf("%T%+v: %w", cmd, cmd, err)
	}
	if err := m.check(before, revision); err != nil {
		return fmt.Errorf("%T%+v: %w", cmd, cmd, err)
	}
	if m.random.IntN(50) == 0 {
		return m.checkReplay()
	}
	return nil
}

// wake advances to the next deadline, or reports that there is none.
func (m *match) wake() (bool, error) {
	wakeMs, ok := m.session.NextWakeMs()
	if !ok {
		return false, nil
	}
	before, revision := m.session.Snapshot(), m.session.Revision()
	if err := m.advance(wakeMs); err != nil {
		return false, err
	}
	if err := m.check(before, revision); err != nil {
		return false, fmt.Errorf("waking at %d ms: %w", wakeMs, err)
	}
	return true, nil
}

// finish lets the match run out and replays it.
func (m *match) finish() error {
	for {
		if woke, err := m.wake(); err != nil {
			return err
		} else if !woke {
			break
		}
	}
	if open := m.claims.open(); open > 0 {
		return fmt.Errorf("%d held claims were never answered", open)
	}
	m.stats.Ended++
	if m.twin != nil && !bytes.Equal(m.twin.session.Record(), m.session.Record()) {
		return fmt.Errorf("a twin from a replay has another record in the end")
	}
	return m.checkReplay()
}

// nextTime is often now, often around the next deadline, at times far away.
func (m *match) nextTime() int64 {
	nowMs := m.session.NowMs()
	wakeMs, waits := m.session.NextWakeMs()
	switch choice := m.random.IntN(10); {
	case choice < 3:
		return nowMs
	case choice < 6:
		return nowMs + m.random.Int64N(300)
	case choice < 9 && waits && wakeMs-nowMs < 20_000:
		return max(0, wakeMs-1+m.random.Int64N(3))
	case choice == 9 && m.random.IntN(20) == 0:
		return nowMs + m.random.Int64N(200_000)
	case choice == 9 && m.random.IntN(3) == 0:
		return max(0, nowMs-m.random.Int64N(1000)) // late by the clock: counts as now
	}
	return nowMs + m.random.Int64N(2000)
}

func (m *match) inputs() []domain.Input {
	var inputs []domain.Input
	for seat := range m.setup.Players {
		inputs = append(inputs, m.session.Input(seat))
	}
	return inputs
}

// advance lets the session, and its twin, run until nowMs.
func (m *match) advance(nowMs int64) error {
	m.out.Reset()
	m.session.Advance(nowMs, &m.out)
	return m.twin.advance(m, nowMs)
}

// apply gives the session, and its twin, a command.
func (m *match) apply(nowMs int64, cmd domain.Command) (domain.Result, error) {
	m.out.Reset()
	result := m.session.Apply(nowMs, cmd, &m.out)
	return result, m.twin.apply(m, nowMs, cmd, result)
}

// checkReplay replays the record and compares everything. What was replayed goes on as the session's twin.
func (m *match) checkReplay() error {
	record := m.session.Record()
	var out domain.Output
	replayed, err := domain.Replay(record, &out)
	if err != nil {
		return err
	}
	switch {
	case !bytes.Equal(record, replayed.Record()):
		return fmt.Errorf("the replay has another record")
	case replayed.Snapshot() != m.session.Snapshot() || replayed.Revision() != m.session.Revision():
		return fmt.Errorf("the replay ends in another state: %+v", replayed.Snapshot())
	case !reflect.DeepEqual(out, m.all):
		return fmt.Errorf("the replay puts out something else")
	}
	m.twin = &twin{session: replayed}
	return m.twin.check(m)
}
