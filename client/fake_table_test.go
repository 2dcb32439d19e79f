package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// fakeTable is a server in memory: a domain.Session behind the protocol, one visitor a seat. It answers at once; what makes
// frames late or lost is the fakeNetwork.
type fakeTable struct {
	t       testing.TB
	session *domain.Session
	setup   domain.Setup
	nowMs   int64
	sentTo  uint64 // revision
	rosters uint32
	// offsetMs is when match time 0 was, on the network's clock.
	offsetMs    int64
	incarnation uint32
	// deliver is where the frames go: to a seat, or to everybody.
	deliver  func(seat int, frame Frame)
	verdicts map[claimKey]bool // judged claims: valid?
	refusals map[claimKey]int
	// busy, if set, says which claims meet a full table.
	busy func() bool
}

func testRules() domain.Rules {
	rules := domain.DefaultRules()
	rules.ClaimGraceMs = 250
	rules.IdleLimitMs = domain.MaxIdleLimitMs
	return rules
}

func newFakeTable(t testing.TB, players int, rules domain.Rules, deck domain.DeckSource) *fakeTable {
	f := &fakeTable{
		t: t, session: domain.NewSession(), setup: domain.Setup{Rules: rules, Players: players, Deck: deck}, incarnation: 1,
		deliver: func(int, Frame) {}, verdicts: map[claimKey]bool{}, refusals: map[claimKey]int{},
	}
	return f
}

func seedDeck(t testing.TB, seed int32) domain.DeckSource {
	source, err := domain.SeedSource(seed)
	require.NoError(t, err)
	return source
}

func keyDeck(first byte) domain.DeckSource { return domain.KeySource([32]byte{first, 2, 3}) }

func (f *fakeTable) start() {
	var out domain.Output
	require.NoError(f.t, f.session.StartMatch(f.setup, &out))
	f.flush(&out)
}

func (f *fakeTable) stamp() *wire.Stamp {
	return &wire.Stamp{ServerTimeMs: uint64(f.nowMs), Incarnation: f.incarnation, Revision: f.session.Revision(), RosterRevision: f.rosters}
}

func (f *fakeTable) send(seat int, op wire.OpCode, body proto.Message) {
	data, err := proto.Marshal(body)
	require.NoError(f.t, err)
	f.deliver(seat, Frame{Op: int64(op), Data: data})
}

func (f *fakeTable) sendAll(op wire.OpCode, body proto.Message) {
	for seat := range f.setup.Players {
		f.send(seat, op, body)
	}
}

// advance moves the network's clock, and the match's with it.
func (f *fakeTable) advance(nowMs int64) {
	f.nowMs = max(f.nowMs, nowMs-f.offsetMs)
	if !f.session.Started() {
		return
	}
	var out domain.Output
	f.session.Advance(f.nowMs, &out)
	f.flush(&out)
}

// receive takes a client's frame.
func (f *fakeTable) receive(seat int, frame Frame) {
	switch wire.OpCode(frame.Op) {
	case wire.OpCode_OP_CODE_CLAIM_SET:
		var claim wire.ClaimSet
		require.NoError(f.t, proto.Unmarshal(frame.Data, &claim))
		f.claim(seat, &claim)
	case wire.OpCode_OP_CODE_REQUEST_SNAPSHOT:
		f.welcome(seat)
	case wire.OpCode_OP_CODE_PING:
		var ping wire.Ping
		require.NoError(f.t, proto.Unmarshal(frame.Data, &ping))
		f.send(seat, wire.OpCode_OP_CODE_PONG, &wire.Pong{Stamp: f.stamp(), ClientTimeMs: ping.GetClientTimeMs()})
	case wire.OpCode_OP_CODE_FORFEIT:
		var out domain.Output
		f.session.Apply(f.nowMs, domain.Forfeit{Seat: seat}, &out)
		f.flush(&out)
	default:
		f.t.Errorf("the client sent op code %d", frame.Op)
	}
}

func (f *fakeTable) claim(seat int, claim *wire.ClaimSet) {
	if f.busy != nil && f.busy() {
		f.refuse(seat, claim.GetClaimId(), &wire.ClaimRefused{Reason: wire.Reason_REASON_BUSY})
		return
	}
	var out domain.Output
	result := f.session.Apply(f.nowMs, domain.ClaimSet{Seat: seat, ID: claim.GetClaimId(), Cards: claim.GetCards()}, &out)
	f.flush(&out)
	switch result.Outcome {
	case domain.Refused:
		f.refusals[claimKey{uint32(seat), claim.GetClaimId()}]++
		f.refuse(seat, claim.GetClaimId(), refusedToWire(result.Refusal))
	case domain.Repeated:
		f.send(seat, wire.OpCode_OP_CODE_CLAIM_RESULT, &wire.ClaimResult{
			Stamp: f.stamp(), ClaimId: claim.GetClaimId(), Result: &wire.ClaimResult_RepeatedVerdict{RepeatedVerdict: verdictToWire(result.Verdict)},
		})
	}
}

func (f *fakeTable) refuse(seat int, id uint64, refused *wire.ClaimRefused) {
	f.send(seat, wire.OpCode_OP_CODE_CLAIM_RESULT, &wire.ClaimResult{
		Stamp: f.stamp(), ClaimId: id, Result: &wire.ClaimResult_Refused{Refused: refused},
	})
}

// flush broadcasts what happened.
func (f *fakeTable) flush(out *domain.Output) {
	update := &wire.Update{Stamp: f.stamp(), FromRevision: f.sentTo, Snapshot: snapshotToWire(f.session.Snapshot())}
	for _, event := range out.Events {
		update.Events = append(update.Events, f.event(event))
		if verdict, ok := event.Event.(domain.SetClaimed); ok {
			f.verdicts[claimKey{uint32(verdict.Seat), verdict.ClaimID}] = verdict.Valid()
		}
	}
	if f.session.Revision() > f.sentTo {
		f.sentTo = f.session.Revision()
		f.sendAll(wire.OpCode_OP_CODE_UPDATE, update)
	} else if len(out.Events) > 0 {
		f.t.Errorf("events without a new revision: %v", out.Events)
	}
	for _, a := range out.Answers {
		f.refusals[claimKey{uint32(a.Seat), a.ClaimID}]++
		f.refuse(a.Seat, a.ClaimID, refusedToWire(a.Refusal))
	}
}

func (f *fakeTable) welcome(seat int) { f.send(seat, wire.OpCode_OP_CODE_WELCOME, f.newWelcome(seat)) }

func (f *fakeTable) newWelcome(seat int) *wire.Welcome {
	number := uint32(seat)
	w := &wire.Welcome{
		Stamp: f.stamp(), ProtocolVersion: 1, TableId: "table", Role: wire.Role_ROLE_PLAYER, Seat: &number,
		Rules: rulesToWire(f.setup.Rules), Timing: &wire.Timing{ResendAfterMs: 1500, GiveUpAfterMs: 5000, ReconnectAfterMs: 3000, PingEveryMs: 10000},
		Roster: &wire.Roster{},
	}
	for range f.setup.Players {
		w.Roster.Seats = append(w.Roster.Seats, &wire.Seat{Connected: true})
	}
	if !f.session.Started() {
		return w
	}
	w.Snapshot = snapshotToWire(f.session.Snapshot())
	if commitment, ok := f.setup.Deck.Commitment(); ok {
		w.Commitment = commitment[:]
	}
	if verdict, ok := f.session.LastVerdict(seat); ok {
		w.LastVerdict = verdictToWire(verdict)
	}
	if ended, ok := f.session.Ended(); ok {
		w.Ended = f.ended(ended)
	}
	return w
}

func (f *fakeTable) event(e domain.TimedEvent) *wire.Event {
	w := &wire.Event{AtMs: uint64(e.AtMs)}
	switch e := e.Event.(type) {
	case domain.MatchStarted:
		started := &wire.MatchStarted{Rules: rulesToWire(e.Rules), SeatCount: uint32(e.Players)}
		if e.Committed {
			started.Commitment = e.Commitment[:]
		}
		w.Kind = &wire.Event_MatchStarted{MatchStarted: started}
	case domain.CardsDealt:
		slots, cards := placementToWire(e.Placement)
		w.Kind = &wire.Event_CardsDealt{CardsDealt: &wire.CardsDealt{Cause: wire.DealCause(e.Cause), Slots: slots, Cards: cards}}
	case domain.BoardRefilled:
		slots, cards := placementToWire(e.Placement)
		w.Kind = &wire.Event_BoardRefilled{BoardRefilled: &wire.BoardRefilled{Slots: slots, Cards: cards}}
	case domain.BoardExpanded:
		slots, cards := placementToWire(e.Placement)
		w.Kind = &wire.Event_BoardExpanded{BoardExpanded: &wire.BoardExpanded{Slots: slots, Cards: cards}}
	case domain.SetClaimed:
		w.Kind = &wire.Event_SetClaimed{SetClaimed: verdictToWire(e)}
	case domain.ScoreChanged:
		w.Kind = &wire.Event_ScoreChanged{ScoreChanged: &wire.ScoreChanged{Seat: uint32(e.Seat), Score: uint32(e.Score)}}
	case domain.PenaltyApplied:
		w.Kind = &wire.Event_PenaltyApplied{PenaltyApplied: &wire.PenaltyApplied{
			Seat: uint32(e.Seat), Mode: wire.PenaltyMode(e.Mode), Amount: uint32(e.Amount), Remaining: uint32(e.Remaining),
		}}
	case domain.PlayerForfeited:
		w.Kind = &wire.Event_PlayerForfeited{PlayerForfeited: &wire.PlayerForfeited{Seat: uint32(e.Seat), Cause: wire.ForfeitCause(e.Cause)}}
	case domain.MatchEnded:
		w.Kind = &wire.Event_MatchEnded{MatchEnded: f.ended(e)}
	default:
		f.t.Fatalf("event %T", e)
	}
	return w
}

func (f *fakeTable) ended(e domain.MatchEnded) *wire.MatchEnded {
	w := &wire.MatchEnded{Reason: wire.EndReason(e.Reason)}
	for _, seat := range e.Winners {
		w.Winners = append(w.Winners, uint32(seat))
	}
	if seat, ok := e.Winner(); ok {
		number := uint32(seat)
		w.Winner = &number
	}
	for _, line := range e.Table {
		w.Table = append(w.Table, &wire.FinalScore{Seat: uint32(line.Seat), Score: uint32(line.Score), Forfeited: line.Forfeited})
	}
	switch f.setup.Deck.Kind() {
	case domain.SourceKey:
		key := f.setup.Deck.Key()
		w.Deck = &wire.MatchEnded_Key{Key: key[:]}
	case domain.SourceSeed:
		w.Deck = &wire.MatchEnded_Seed{Seed: f.setup.Deck.Seed()}
	}
	return w
}

func rulesToWire(r domain.Rules) *wire.Rules {
	return &wire.Rules{
		InitialBoardSize: uint32(r.InitialBoardSize), RefillPolicy: wire.RefillPolicy(r.RefillPolicy), PenaltyMode: wire.PenaltyMode(r.PenaltyMode),
		PenaltyTimeMs: uint32(r.PenaltyTimeMs), TimeLimitMs: uint32(r.TimeLimitMs), ClaimGraceMs: uint32(r.ClaimGraceMs),
		ValidAnimMs: uint32(r.ValidAnimMs), InvalidAnimMs: uint32(r.InvalidAnimMs), RefillAnimMs: uint32(r.RefillAnimMs),
		ExpandAnimMs: uint32(r.ExpandAnimMs), IdleLimitMs: uint32(r.IdleLimitMs), DropHoldMs: uint32(r.DropHoldMs),
	}
}

func snapshotToWire(s domain.Snapshot) *wire.Snapshot {
	w := &wire.Snapshot{DeckCount: uint32(s.DeckCount), ClockRunning: s.ClockRuns}
	for slot := range s.Board.SlotCount() {
		id := byte(emptySlot)
		if card, ok := s.Board.CardAt(slot); ok {
			id = byte(card.ID())
		}
		w.Board = append(w.Board, id)
	}
	for seat := range s.Players {
		p := s.ByPlayer[seat]
		w.Scores = append(w.Scores, uint32(p.Score))
		w.LockedUntilMs = append(w.LockedUntilMs, uint64(p.LockedUntilMs))
		w.TimePenaltiesMs = append(w.TimePenaltiesMs, uint32(p.TimePenaltyMs))
		if p.Forfeited {
			w.ForfeitedSeats |= 1 << seat
		}
	}
	w.State = map[domain.MatchState]wire.BoardState{
		domain.BoardIdle: wire.BoardState_BOARD_STATE_IDLE, domain.ValidSetAnim: wire.BoardState_BOARD_STATE_VALID_SET_ANIM,
		domain.RefillAnim: wire.BoardState_BOARD_STATE_REFILL_ANIM, domain.ExpandBoardAnim: wire.BoardState_BOARD_STATE_EXPAND_BOARD_ANIM,
		domain.MatchEnd: wire.BoardState_BOARD_STATE_MATCH_END,
	}[s.State]
	if s.Timed {
		end := uint64(s.ClockEndMs)
		w.ClockEndMs = &end
	}
	if s.Animation.Serial != 0 {
		w.Animation = animationToWire(s.Animation)
	}
	return w
}

func animationToWire(a domain.Animation) *wire.Animation {
	w := &wire.Animation{Serial: a.Serial, StartMs: uint64(a.StartMs), EndMs: uint64(a.EndMs)}
	if a.Claimed {
		seat := uint32(a.Seat)
		w.Seat = &seat
		w.ClaimedCards = tripleToWire(a.ClaimedCards)
		w.ClaimedSlots = slotsToWire(a.ClaimedSlots[:])
	}
	if a.Dealt {
		w.DealtSlots = slotsToWire(a.DealtSlots[:])
	}
	return w
}

func verdictToWire(v domain.SetClaimed) *wire.SetClaimed {
	return &wire.SetClaimed{
		Seat: uint32(v.Seat), ClaimId: v.ClaimID, Cards: tripleToWire(v.Cards), Slots: slotsToWire(v.Slots[:]), Valid: v.Valid(),
		MixedAttributes: uint32(v.Mixed),
	}
}

func refusedToWire(r domain.Refusal) *wire.ClaimRefused {
	w := &wire.ClaimRefused{RetryAtMs: uint64(r.RetryAtMs), Reason: map[domain.Reason]wire.Reason{
		domain.RefusedMalformed: wire.Reason_REASON_MALFORMED_CLAIM, domain.RefusedNotAPlayer: wire.Reason_REASON_NOT_A_PLAYER,
		domain.RefusedNotStarted: wire.Reason_REASON_NOT_STARTED, domain.RefusedClaimIDReused: wire.Reason_REASON_CLAIM_ID_REUSED,
		domain.RefusedEnded: wire.Reason_REASON_ENDED, domain.RefusedOutOfTime: wire.Reason_REASON_OUT_OF_TIME,
		domain.RefusedOwnLock: wire.Reason_REASON_OWN_LOCK, domain.RefusedBoardLock: wire.Reason_REASON_BOARD_LOCK,
		domain.RefusedNotOnBoard: wire.Reason_REASON_NOT_ON_BOARD,
	}[r.Reason]}
	for _, card := range r.MissingCards() {
		w.MissingCards = append(w.MissingCards, byte(card.ID()))
	}
	return w
}

func placementToWire(p domain.Placement) (slots, cards []byte) {
	for _, card := range p.Cards {
		cards = append(cards, byte(card.ID()))
	}
	return slotsToWire(p.Slots), cards
}

func tripleToWire(t domain.Triple) []byte {
	return []byte{byte(t[0].ID()), byte(t[1].ID()), byte(t[2].ID())}
}

func slotsToWire(slots []int) []byte {
	var w []byte
	for _, slot := range slots {
		w = append(w, byte(slot))
	}
	return w
}
