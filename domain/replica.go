package domain

// NewReplica returns a client's copy of a running match of 1–8 players: it has no deck and no deadlines, its state comes
// by ApplyServerState, and a third selection waits in Validating for the server's verdict (design ruling 13). Players'
// commands other than selecting are for the server.
//
// spec: session-lifecycle, Online Multiplayer
func NewReplica(rules Rules, players int) *Session {
	s := &Session{setup: Setup{Rules: rules, Players: players}, replica: true, started: true}
	s.shared.Players = players
	return s
}

// applyServerState replaces the shared state. Selections lose the slots whose card has changed; a claim that waits keeps
// its cards highlighted until its answer comes.
func (s *Session) applyServerState(c ApplyServerState) Result {
	if !s.replica {
		return refused(RefusedNoReplica)
	}
	if s.seated(c.Answered) && s.players[c.Answered].waiting {
		s.players[c.Answered].waiting = false
		s.players[c.Answered].selection.clear()
	}
	if s.shared != c.State {
		s.revision++
	}
	before := s.shared.Board
	s.shared, s.nowMs = c.State, c.NowMs
	for slot := range before.SlotCount() {
		old, was := before.CardAt(slot)
		card, is := s.shared.Board.CardAt(slot)
		if !was || (is && card == old) {
			continue
		}
		for seat := range s.shared.Players {
			if !s.players[seat].waiting {
				s.players[seat].selection.drop(slot)
			}
		}
	}
	return Result{Outcome: Applied}
}

// replicaTakes reports whether a replica handles the command itself: selecting is the client's own business.
func replicaTakes(cmd Command) bool {
	switch cmd.(type) {
	case SelectCard, DeselectCard:
		return true
	}
	return false
}
