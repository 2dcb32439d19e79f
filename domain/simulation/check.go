package simulation

import (
	"errors"
	"fmt"
	"reflect"

	"set3d/domain"
)

// check looks at everything that must hold after a step that began in the given state.
func (m *match) check(before domain.Snapshot, revision uint64) error {
	abandoned, holdEnded := false, false
	for _, e := range m.out.Events {
		if err := m.view.apply(e); err != nil {
			return err
		}
		switch event := e.Event.(type) {
		case domain.SetClaimed:
			if err := m.countVerdict(event); err != nil {
				return err
			}
		case domain.MatchEnded:
			m.stats.Ends[event.Reason]++
			abandoned = event.Reason == domain.EndAbandoned
		case domain.PlayerForfeited:
			holdEnded = holdEnded || event.Cause == domain.ForfeitHoldExpired
		}
	}
	for _, a := range m.out.Answers {
		m.stats.LateAnswers++
		if err := m.claims.late(a.Seat, a.ClaimID, turnedDown); err != nil {
			return err
		}
	}
	m.all.Events = append(m.all.Events, m.out.Events...)
	m.all.Answers = append(m.all.Answers, m.out.Answers...)
	after := m.session.Snapshot()
	if changed := after != before || len(m.out.Events) > 0; changed != (m.session.Revision() > revision) {
		return fmt.Errorf("revision %d, then %d, and changed is %v", revision, m.session.Revision(), changed)
	}
	if wakeMs, ok := m.session.NextWakeMs(); ok && wakeMs <= m.session.NowMs() {
		return fmt.Errorf("a deadline at %d ms has not fired", wakeMs)
	}
	return errors.Join(m.checkPeople(&after, abandoned), m.checkHolds(&after, holdEnded), m.checkState(&after))
}

// countVerdict enters verdicts of held claims; those of the running command are entered with its result.
func (m *match) countVerdict(claim domain.SetClaimed) error {
	if m.isBot(claim.Seat) {
		m.stats.BotClaims++
	}
	if claim.Valid() {
		m.stats.Valid++
	} else {
		m.stats.Invalid++
	}
	if i, known := m.claims.find(claim.Seat, claim.ClaimID); known && m.claims.answers[i] == held {
		return m.claims.late(claim.Seat, claim.ClaimID, judged)
	}
	return nil
}

func (m *match) isBot(seat int) bool {
	return seat >= 0 && seat < domain.MaxPlayers && m.setup.Bots[seat].Level != 0
}

// checkPeople checks who must be left: a human in a match that began with one, anybody in any other, and else the match
// was abandoned just now. It is abandoned, too, when all holds of the humans who are left have ended.
func (m *match) checkPeople(s *domain.Snapshot, abandoned bool) error {
	humans, humansIn, playersIn := 0, 0, 0
	for seat := range m.setup.Players {
		if !m.isBot(seat) {
			humans++
		}
		if s.ByPlayer[seat].Forfeited {
			continue
		}
		playersIn++
		if !m.isBot(seat) {
			humansIn++
		}
	}
	gone := playersIn == 0 || humans > 0 && humansIn == 0
	deserted := humansIn > 0 && m.heldOpen(s) == 0
	if abandoned && !gone && !deserted || (gone || deserted) && s.State != domain.MatchEnd {
		return fmt.Errorf("%d of %d humans and %d players are in: %v, abandoned is %v",
			humansIn, humans, playersIn, s.State, abandoned)
	}
	end, ended := m.session.Ended()
	if abandoned && ended && !gone && len(end.Winners) > 0 {
		return fmt.Errorf("nobody was there, and %v win", end.Winners)
	}
	return nil
}

// heldOpen counts the humans who have not left: who are connected, or whose holds have not ended.
func (m *match) heldOpen(s *domain.Snapshot) int {
	n := 0
	for seat := range m.setup.Players {
		untilMs, dropped := m.session.HeldUntilMs(seat)
		if !m.isBot(seat) && !s.ByPlayer[seat].Forfeited && (!dropped || untilMs > m.session.NowMs()) {
			n++
		}
	}
	return n
}

// checkHolds checks that holds end if and only if somebody is connected.
func (m *match) checkHolds(s *domain.Snapshot, ended bool) error {
	connected, over := 0, 0
	for seat := range m.setup.Players {
		untilMs, dropped := m.session.HeldUntilMs(seat)
		switch {
		case m.isBot(seat) || s.ByPlayer[seat].Forfeited:
		case !dropped:
			connected++
		case untilMs <= m.session.NowMs():
			over++
		}
	}
	if over > 0 && connected == 0 && s.State != domain.MatchEnd {
		m.stats.WaitingHolds++
	}
	if ended && connected == 0 || over > 0 && connected > 0 && s.State != domain.MatchEnd {
		return fmt.Errorf("%d humans are connected, %d holds are over, and one has just ended: %v", connected, over, ended)
	}
	return nil
}

func (m *match) checkState(s *domain.Snapshot) error {
	if err := m.checkCards(s); err != nil {
		return err
	}
	switch s.State {
	case domain.BoardIdle:
		if !domain.AnySetExists(s.Board.AppendCards(nil)) {
			return fmt.Errorf("the board is idle and holds no Set")
		}
		return m.checkView(s)
	case domain.MatchEnd:
		if !m.view.ended || s.ClockRuns || s.Animation != (domain.Animation{}) {
			return fmt.Errorf("the match is over without a word, or goes on: %+v", s.Animation)
		}
		return m.checkView(s)
	default:
		if s.Animation.Serial == 0 || s.Animation.EndMs <= m.session.NowMs() {
			return fmt.Errorf("in %v at %d ms with animation %+v", s.State, m.session.NowMs(), s.Animation)
		}
	}
	return nil
}

// checkCards finds every card of the first deck in exactly one place: the deck, the board, or with a player.
func (m *match) checkCards(s *domain.Snapshot) error {
	var places [domain.DeckSize]int
	rest := m.view.deck
	if rest.Remaining() != s.DeckCount {
		return fmt.Errorf("the deck has %d cards, not %d", s.DeckCount, rest.Remaining())
	}
	inDeck, err := rest.Draw(rest.Remaining())
	if err != nil {
		return err
	}
	seen := append(inDeck, s.Board.AppendCards(nil)...)
	for _, card := range m.view.taken {
		// Claimed cards belong to the board until RefillAnim.
		if _, lies := s.Board.SlotOf(card); s.State != domain.ValidSetAnim || !lies {
			seen = append(seen, card)
		}
	}
	for _, card := range seen {
		places[card.ID()]++
	}
	for _, card := range m.view.all {
		places[card.ID()]--
	}
	for id, n := range places {
		if n != 0 {
			return fmt.Errorf("card %d is in %d places too many", id, n)
		}
	}
	return nil
}

// checkView compares the state with the one that was rebuilt from events.
func (m *match) checkView(s *domain.Snapshot) error {
	if s.Board != m.view.board {
		return fmt.Errorf("the events give another board: %+v and %+v", s.Board, m.view.board)
	}
	for seat := range m.setup.Players {
		p := s.ByPlayer[seat]
		if p.Score != m.view.scores[seat] || p.TimePenaltyMs != m.view.losses[seat] || p.Forfeited != m.view.forfeit[seat] {
			return fmt.Errorf("the events give another seat %d than %+v", seat, p)
		}
	}
	return nil
}

// checkResult checks what a command came to: a refusal changed nothing, and every claim has its one answer.
func (m *match) checkResult(cmd domain.Command, result domain.Result, before domain.Snapshot, inputs []domain.Input) error {
	m.count(result)
	claim, isClaim := cmd.(domain.ClaimSet)
	if isClaim {
		if err := m.claims.record(claim, result); err != nil {
			return err
		}
	}
	if result.Outcome == domain.Applied {
		return m.checkOrders(cmd)
	}
	if m.session.Snapshot() != before || !reflect.DeepEqual(inputs, m.inputs()) || len(m.out.Events)+len(m.out.Answers) > 0 {
		return fmt.Errorf("outcome %d (%v) changed something", result.Outcome, result.Refusal.Reason)
	}
	retryAtMs := result.Refusal.RetryAtMs
	isLock := result.Refusal.Reason == domain.RefusedOwnLock || result.Refusal.Reason == domain.RefusedBoardLock
	if isLock != (retryAtMs > m.session.NowMs()) {
		return fmt.Errorf("refused for %v at %d ms, retry at %d", result.Refusal.Reason, m.session.NowMs(), retryAtMs)
	}
	return nil
}

// checkOrders finds that no command did what only a bot may do itself.
func (m *match) checkOrders(cmd domain.Command) error {
	seat := noSeat
	switch c := cmd.(type) {
	case domain.SelectCard:
		seat = c.Seat
	case domain.DeselectCard:
		seat = c.Seat
	case domain.ClaimSet:
		seat = c.Seat
	case domain.ClaimSelected:
		seat = c.Seat
	case domain.Drop:
		seat = c.Seat
	case domain.Return:
		seat = c.Seat
	}
	if m.isBot(seat) {
		return fmt.Errorf("the bot of seat %d took an order", seat)
	}
	return nil
}

// noSeat is the seat of commands that are no player's.
const noSeat = -1

func (m *match) count(result domain.Result) {
	switch result.Outcome {
	case domain.Refused:
		m.stats.Refused++
		m.stats.Reasons[result.Refusal.Reason]++
	case domain.Repeated:
		m.stats.Repeated++
	case domain.Held:
		m.stats.Held++
	}
}
