package domain

// heldClaim waits for the unlock (design ruling 11).
type heldClaim struct {
	seat  int
	id    uint64
	cards Triple
}

// claimSet looks for the first reason not to judge the claim, in the order of design ruling 10.
func (s *Session) claimSet(c ClaimSet) Result {
	cards, wellFormed := parseClaim(c.Cards)
	switch {
	case !wellFormed || c.ID == 0:
		return refused(RefusedMalformed)
	case !s.plays(c.Seat):
		return refused(RefusedNotAPlayer)
	case !s.started:
		return refused(RefusedNotStarted)
	case s.setup.Rules.ClaimMode != ClaimAutomatic:
		return refused(RefusedWrongClaimMode)
	}
	return s.claim(c.Seat, c.ID, cards)
}

// claim goes on with a well-formed claim of a player in a running match; bots' claims begin here.
func (s *Session) claim(seat int, id uint64, cards Triple) Result {
	if verdict, judged := s.players[seat].verdicts[id]; judged {
		if !sameCards(verdict.Cards, cards) {
			return refused(RefusedClaimIDReused)
		}
		return Result{Outcome: Repeated, Verdict: verdict}
	}
	waiting, waits := s.heldBy(seat)
	if waits && waiting.id == id {
		if !sameCards(waiting.cards, cards) {
			return refused(RefusedClaimIDReused)
		}
		return Result{Outcome: HeldAlready}
	}
	if reason := s.lockReason(seat); reason == RefusedBoardLock && !waits && s.canHold(seat, cards) {
		s.held = append(s.held, heldClaim{seat: seat, id: id, cards: cards})
		return Result{Outcome: Held}
	} else if reason != 0 {
		return s.refusal(seat, reason)
	}
	return s.judge(seat, id, cards)
}

// parseClaim reads three distinct cards.
func parseClaim(ids []byte) (Triple, bool) {
	var cards Triple
	if len(ids) != len(cards) {
		return cards, false
	}
	for i, id := range ids {
		card, err := CardFromID(int(id))
		if err != nil {
			return cards, false
		}
		cards[i] = card
	}
	return cards, cards[0] != cards[1] && cards[0] != cards[2] && cards[1] != cards[2]
}

// sameCards reports whether two triples of distinct cards hold the same cards, in whatever order.
func sameCards(a, b Triple) bool {
	for _, card := range a {
		if card != b[0] && card != b[1] && card != b[2] {
			return false
		}
	}
	return true
}

// plays reports whether the seat may send a player's commands; a bot's may not, nobody acts for it. Before the start
// every possible seat may: who sits there is not the session's business yet.
func (s *Session) plays(seat int) bool {
	if !s.started {
		return seat >= 0 && seat < MaxPlayers
	}
	return s.seated(seat) && !s.shared.ByPlayer[seat].Forfeited && !s.isBot(seat)
}

func (s *Session) heldBy(seat int) (heldClaim, bool) {
	for _, h := range s.held {
		if h.seat == seat {
			return h, true
		}
	}
	return heldClaim{}, false
}

// canHold reports whether the claim was in flight when another player's Set locked the board: within the grace, and all
// of its cards lay on the board then.
func (s *Session) canHold(seat int, cards Triple) bool {
	grace := s.setup.Rules.ClaimGraceMs
	if grace == 0 || s.lock.seat == seat || s.nowMs-s.lock.startMs > grace {
		return false
	}
	for _, card := range cards {
		if _, lay := s.lock.board.SlotOf(card); !lay {
			return false
		}
	}
	return true
}

// judgeHeld judges the claim that has waited longest. What follows it goes on waiting if its Set locks the board again.
func (s *Session) judgeHeld() {
	h := s.held[0]
	s.held = s.held[1:]
	if reason := s.lockReason(h.seat); reason != 0 {
		s.answer(h, Refusal{Reason: reason})
	} else if result := s.judge(h.seat, h.id, h.cards); result.Outcome == Refused {
		s.answer(h, result.Refusal)
	}
}

// answer tells the claimant; a bot asks for no answer.
func (s *Session) answer(h heldClaim, refusal Refusal) {
	if s.isBot(h.seat) {
		return
	}
	s.out.Answers = append(s.out.Answers, Answer{Seat: h.seat, ClaimID: h.id, Refusal: refusal})
}

// judge decides a claim of a player whom nothing locks. An id of 0 is a claim by selection, which is not remembered.
//
// spec: session-lifecycle, Scoring and Penalties
func (s *Session) judge(seat int, id uint64, cards Triple) Result {
	verdict := SetClaimed{Seat: seat, ClaimID: id, Cards: cards}
	var absent Refusal
	for i, card := range cards {
		slot, lies := s.shared.Board.SlotOf(card)
		if !lies {
			absent.Missing[absent.MissingCount] = card
			absent.MissingCount++
		}
		verdict.Slots[i] = slot
	}
	if absent.MissingCount > 0 {
		absent.Reason = RefusedNotOnBoard
		return Result{Outcome: Refused, Refusal: absent}
	}
	verdict.Mixed = ValidateTriple(cards).Mixed
	s.remember(verdict)
	s.selectionOf(seat).clear()
	s.judged = true
	s.emit(verdict)
	if verdict.Valid() {
		s.award(verdict)
	} else {
		s.enterInvalidSetAnim(seat)
	}
	return Result{Outcome: Applied}
}

// maxWrong is how many wrong claims of a player are remembered, the last ones. Nobody waits for an answer to an earlier
// one, and rules with neither lock nor penalty would let them fill the memory.
const maxWrong = 1000

func (s *Session) remember(verdict SetClaimed) {
	if verdict.ClaimID == 0 {
		return
	}
	p := &s.players[verdict.Seat]
	if p.verdicts == nil {
		p.verdicts = make(map[uint64]SetClaimed)
	}
	p.verdicts[verdict.ClaimID], p.last = verdict, verdict.ClaimID
	if verdict.Valid() || s.version == recordVersion2 {
		return
	}
	if len(p.wrong) < maxWrong {
		p.wrong = append(p.wrong, verdict.ClaimID)
		return
	}
	delete(p.verdicts, p.wrong[p.oldest])
	p.wrong[p.oldest], p.oldest = verdict.ClaimID, (p.oldest+1)%maxWrong
}

func (s *Session) award(verdict SetClaimed) {
	public := &s.shared.ByPlayer[verdict.Seat]
	public.Score++
	s.lastValidMs = s.nowMs
	s.emit(ScoreChanged{Seat: verdict.Seat, Score: public.Score})
	s.enterValidSetAnim(verdict)
}

// enterInvalidSetAnim locks only the player who was wrong, and takes the penalty.
func (s *Session) enterInvalidSetAnim(seat int) {
	if length := s.setup.Rules.InvalidAnimMs; length > 0 {
		s.serial++
		s.hands[seat].lockSerial = s.serial
		s.shared.ByPlayer[seat].LockedUntilMs = s.nowMs + length
	}
	s.penalize(seat)
	if s.isBot(seat) {
		s.look(seat)
	}
}

// penalize takes what there is to take: a score and a clock stop at zero (design ruling 8).
func (s *Session) penalize(seat int) {
	public := &s.shared.ByPlayer[seat]
	switch mode := s.setup.Rules.PenaltyMode; mode {
	case PenaltyPoint:
		taken := min(1, public.Score)
		public.Score -= taken
		s.emit(PenaltyApplied{Seat: seat, Mode: mode, Amount: int64(taken), Remaining: int64(public.Score)})
	case PenaltyTime:
		left := s.shared.TimeLeftMs(seat, s.nowMs)
		taken := min(s.setup.Rules.PenaltyTimeMs, left)
		public.TimePenaltyMs += taken
		s.emit(PenaltyApplied{Seat: seat, Mode: mode, Amount: taken, Remaining: left - taken})
		s.players[seat].outOfTime = left == taken
		s.ends.players = true
	case PenaltyNone:
	}
}
