package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// transcript is what a Tap saw.
type transcript struct{ entries []transcriptEntry }

type transcriptEntry struct {
	kind  string // joined, sent, received
	frame Frame
}

func (r *transcript) Joined() { r.entries = append(r.entries, transcriptEntry{kind: "joined"}) }
func (r *transcript) Sent(frame Frame) {
	r.entries = append(r.entries, transcriptEntry{"sent", frame})
}
func (r *transcript) Received(frame Frame) {
	r.entries = append(r.entries, transcriptEntry{"received", frame})
}

func (r *transcript) replay(tap Tap) {
	for _, entry := range r.entries {
		switch entry.kind {
		case "joined":
			tap.Joined()
		case "sent":
			tap.Sent(entry.frame)
		default:
			tap.Received(entry.frame)
		}
	}
}

// record plays a match of automatic players and returns what the first one's tap saw.
func record(t *testing.T, players int, rules domain.Rules, deck domain.DeckSource) *transcript {
	table := newFakeTable(t, players, rules, deck)
	seen := &transcript{}
	net := newFakeNetwork(table)
	forward := table.deliver
	table.deliver = func(seat int, frame Frame) {
		if seat == 0 {
			seen.Received(frame)
		}
		forward(seat, frame)
	}
	seen.Joined()
	table.welcome(0)
	table.start()
	me := net.seats[0]
	me.controller.transport = tappedTransport{me, seen}
	var auto []*Player
	for i, s := range net.seats {
		auto = append(auto, NewPlayer(PlayerConfig{Seed: uint64(i), Reaction: 900 * time.Millisecond, ErrorRate: 0.25}, s.controller))
	}
	for step := 0; me.controller.Ended() == nil; step++ {
		require.Less(t, step, 100_000)
		for _, p := range auto {
			p.Act()
		}
		if step == 300 {
			table.welcome(0) // somebody asked for a snapshot
		}
		net.pass(10 * time.Millisecond)
	}
	table.welcome(0)
	return seen
}

type tappedTransport struct {
	Transport
	tap Tap
}

func (t tappedTransport) Send(op wire.OpCode, body proto.Message) {
	data, err := proto.Marshal(body)
	if err != nil {
		panic(err)
	}
	t.tap.Sent(Frame{Op: int64(op), Data: data})
	t.Transport.Send(op, body)
}

func verify(seen *transcript) Report {
	v := NewVerifier(VerifierConfig{Shared: NewBroadcasts()})
	seen.replay(v)
	return v.Report()
}

func pointRules() domain.Rules {
	rules := testRules()
	rules.PenaltyMode = domain.PenaltyPoint
	return rules
}

func instantRules() domain.Rules {
	rules := testRules()
	rules.ValidAnimMs, rules.RefillAnimMs, rules.ExpandAnimMs, rules.InvalidAnimMs = 0, 0, 0, 0
	return rules
}

func timeRules() domain.Rules {
	rules := testRules()
	rules.Timed, rules.TimeLimitMs, rules.PenaltyMode, rules.PenaltyTimeMs = true, 60_000, domain.PenaltyTime, 2_500
	return rules
}

func TestHonestServersHaveNoViolations(t *testing.T) {
	sparse := pointRules()
	sparse.RefillPolicy, sparse.InitialBoardSize = domain.RefillToInitialSize, 15
	for name, rules := range map[string]domain.Rules{
		"classic": testRules(), "points": pointRules(), "time": timeRules(), "sparse": sparse, "instant": instantRules(),
	} {
		for players := 1; players <= 3; players++ {
			for deck := range byte(4) {
				report := verify(record(t, players, rules, keyDeck(deck)))
				require.Empty(t, report.Violations, "%s, %d players, deck %d", name, players, deck)
				require.True(t, report.DealProven)
				require.True(t, report.Committed)
				require.Positive(t, report.Claims)
				require.GreaterOrEqual(t, report.Answers, report.Claims)
			}
		}
	}
	report := verify(record(t, 2, testRules(), seedDeck(t, 42)))
	require.Empty(t, report.Violations)
	require.True(t, report.DealProven)
	require.False(t, report.Committed, "a seed is not committed to")
}

// spoil is one lie of a server: it changes the first message that it finds to be changeable, and says what must be found.
type spoil struct {
	name  string
	rules domain.Rules
	lie   func(m Body) bool
	want  string
}

func inUpdate(lie func(u *wire.Update) bool) func(Body) bool {
	return func(m Body) bool {
		u, ok := m.(*wire.Update)
		return ok && lie(u)
	}
}

// inEvent lies in an event of one kind.
func inEvent[E any](get func(*wire.Event) *E, lie func(e *E) bool) func(Body) bool {
	return inUpdate(func(u *wire.Update) bool {
		for _, event := range u.GetEvents() {
			if e := get(event); e != nil && lie(e) {
				return true
			}
		}
		return false
	})
}

func always[E any](lie func(e *E)) func(*E) bool {
	return func(e *E) bool {
		lie(e)
		return true
	}
}

func spoils() []spoil {
	claimed := (*wire.Event).GetSetClaimed
	dealt := (*wire.Event).GetCardsDealt
	scored := (*wire.Event).GetScoreChanged
	punished := (*wire.Event).GetPenaltyApplied
	ended := (*wire.Event).GetMatchEnded
	refill := func(lie func(*wire.CardsDealt)) func(*wire.CardsDealt) bool {
		return func(e *wire.CardsDealt) bool {
			if e.GetCause() != wire.DealCause_DEAL_CAUSE_REFILL {
				return false
			}
			lie(e)
			return true
		}
	}
	snapshot := func(lie func(s *wire.Snapshot) bool) func(Body) bool {
		return inUpdate(func(u *wire.Update) bool { return u.GetStamp().GetRevision() > 5 && lie(u.GetSnapshot()) })
	}
	inWelcome := func(lie func(w *wire.Welcome) bool) func(Body) bool {
		return func(m Body) bool {
			w, ok := m.(*wire.Welcome)
			return ok && lie(w)
		}
	}
	return []spoil{
		{name: "no stamp", lie: inUpdate(always(func(u *wire.Update) { u.Stamp = nil })), want: "no stamp"},
		{name: "a revision back", lie: inUpdate(func(u *wire.Update) bool {
			back := u.GetStamp().GetRevision() > 9
			if back {
				u.Stamp.Revision, u.FromRevision = 3, 2
			}
			return back
		}), want: "an update of revision 3 comes after one of"},
		{name: "a gap", lie: inUpdate(func(u *wire.Update) bool {
			if u.GetFromRevision() < 4 {
				return false
			}
			u.FromRevision--
			return true
		}), want: "comes after one to"},
		{name: "an empty range", lie: inUpdate(always(func(u *wire.Update) { u.FromRevision = u.GetStamp().GetRevision() })), want: "covers nothing"},
		{name: "no snapshot", lie: inUpdate(always(func(u *wire.Update) { u.Snapshot = nil })), want: "without a snapshot"},
		{name: "time goes back", lie: inUpdate(func(u *wire.Update) bool {
			late := u.GetStamp().GetServerTimeMs() > 2000
			if late {
				u.Stamp.ServerTimeMs = 1
			}
			return late
		}), want: "time goes back"},
		{name: "a card twice", lie: snapshot(func(s *wire.Snapshot) bool { s.Board[0] = s.Board[1]; return true }), want: "card is on the board already"},
		{name: "a card vanishes", lie: snapshot(func(s *wire.Snapshot) bool { s.Board[0] = emptySlot; return true }), want: "the snapshot says"},
		{name: "the deck shrinks", lie: snapshot(func(s *wire.Snapshot) bool { s.DeckCount--; return true }), want: "for Sets"},
		{name: "the deck shrinks by three", lie: snapshot(func(s *wire.Snapshot) bool { s.DeckCount -= 3; return true }), want: "the events leave"},
		{name: "a score from nowhere", lie: snapshot(func(s *wire.Snapshot) bool { s.Scores[1]++; return true }), want: "the events make the scores"},
		{name: "a forfeit from nowhere", lie: snapshot(func(s *wire.Snapshot) bool { s.ForfeitedSeats = 1; return true }), want: "forfeits"},
		{name: "no animation", lie: snapshot(func(s *wire.Snapshot) bool { was := s.Animation != nil; s.Animation = nil; return was }), want: "there is an animation: false"},
		{name: "a long animation", lie: snapshot(func(s *wire.Snapshot) bool {
			if s.Animation == nil {
				return false
			}
			s.Animation.EndMs += 5
			return true
		}), want: "lasts"},
		{name: "an animation of the future", lie: snapshot(func(s *wire.Snapshot) bool {
			if s.Animation == nil {
				return false
			}
			s.Animation.StartMs += 5000
			s.Animation.EndMs += 5000
			return true
		}), want: "in the future"},
		{name: "another clock", rules: timeRules(), lie: snapshot(func(s *wire.Snapshot) bool { *s.ClockEndMs += 10; return true }), want: "the clock ends"},
		{name: "a stopped clock", rules: timeRules(), lie: snapshot(func(s *wire.Snapshot) bool { s.ClockRunning = false; return true }), want: "the clock runs: false"},
		{name: "a clock in an untimed match", lie: snapshot(func(s *wire.Snapshot) bool { end := uint64(9); s.ClockEndMs = &end; return true }), want: "a clock is true"},
		{name: "a penalty from nowhere", rules: timeRules(), lie: snapshot(func(s *wire.Snapshot) bool { s.TimePenaltiesMs[0]++; return true }), want: "time penalties"},
		{name: "idle without a Set", lie: snapshot(func(s *wire.Snapshot) bool {
			if s.GetState() != wire.BoardState_BOARD_STATE_IDLE {
				return false
			}
			for slot, code := range strings.Fields("0112 1011 1102 1202 1210 2010 2100 2102 2110 2111 2202 2222") {
				card, _ := domain.ParseCard(code)
				s.Board[slot] = byte(card.ID())
			}
			s.Board = s.Board[:12]
			return true
		}), want: "idle without a Set"},
		{name: "a wrong claim is right", lie: inEvent(claimed, func(e *wire.SetClaimed) bool {
			was := e.GetValid()
			e.Valid, e.MixedAttributes = true, 0
			return !was
		}), want: "is a Set: false"},
		{name: "a right claim is wrong", lie: inEvent(claimed, func(e *wire.SetClaimed) bool { was := e.GetValid(); e.Valid = false; return was }), want: "is a Set: true"},
		{name: "another attribute", lie: inEvent(claimed, func(e *wire.SetClaimed) bool { e.MixedAttributes ^= 3; return !e.GetValid() }), want: "the server says false"},
		{name: "cards from elsewhere", lie: inEvent(claimed, always(func(e *wire.SetClaimed) { e.Slots[0] = (e.Slots[0] + 1) % 12 })), want: "is not in slot"},
		{name: "a stranger claims", lie: inEvent(claimed, always(func(e *wire.SetClaimed) { e.Seat = 7 })), want: "which does not play"},
		{name: "a score too many", rules: pointRules(), lie: inEvent(scored, always(func(e *wire.ScoreChanged) { e.Score++ })), want: "the server says"},
		{name: "a score for another", lie: inEvent(scored, always(func(e *wire.ScoreChanged) { e.Seat = 1 - e.Seat })), want: "without a Set"},
		{name: "no score", lie: inUpdate(func(u *wire.Update) bool {
			return drop(u, func(e *wire.Event) bool { return e.GetScoreChanged() != nil })
		}), want: "without its consequence"},
		{name: "no penalty", rules: pointRules(), lie: inUpdate(func(u *wire.Update) bool {
			return drop(u, func(e *wire.Event) bool { return e.GetPenaltyApplied() != nil })
		}), want: "without its consequence"},
		{name: "a high penalty", rules: timeRules(), lie: inEvent(punished, always(func(e *wire.PenaltyApplied) { e.Amount++ })), want: "pays"},
		{name: "a penalty of another kind", rules: pointRules(), lie: inEvent(punished, always(func(e *wire.PenaltyApplied) { e.Mode = 2 })), want: "PENALTY_MODE_TIME"},
		{name: "a penalty for another", rules: pointRules(), lie: inEvent(punished, always(func(e *wire.PenaltyApplied) { e.Seat = 1 - e.Seat })), want: "without a wrong claim"},
		{name: "a card is dealt twice", lie: inEvent(dealt, refill(func(e *wire.CardsDealt) { e.Cards[0] = e.Cards[1] })), want: "a second time"},
		{name: "a full slot is dealt to", lie: inEvent(dealt, refill(func(e *wire.CardsDealt) { e.Slots[0] = (e.Slots[0] + 1) % 12 })), want: "which holds card"},
		{name: "a card too few", lie: inEvent(dealt, refill(func(e *wire.CardsDealt) { e.Cards = e.Cards[:2] })), want: "2 cards dealt to 3 slots"},
		{name: "refilled with others", lie: inEvent((*wire.Event).GetBoardRefilled, func(e *wire.BoardRefilled) bool { e.Cards[0] ^= 1; return len(e.Cards) == 3 }), want: "refilled: card"},
		{name: "an event of the future", lie: inUpdate(always(func(u *wire.Update) { u.Events = append(u.Events, &wire.Event{AtMs: 1 << 40}) })), want: "an event at"},
		{name: "an unknown event", lie: inUpdate(always(func(u *wire.Update) {
			u.Events = append(u.Events, &wire.Event{AtMs: u.GetStamp().GetServerTimeMs()})
		})), want: "of a kind that is not in protocol"},
		{name: "judged twice", lie: inUpdate(func(u *wire.Update) bool {
			for _, event := range u.GetEvents() {
				if c := event.GetSetClaimed(); c != nil && c.GetSeat() == 0 {
					u.Events = append(u.Events, proto.Clone(event).(*wire.Event))
					return true
				}
			}
			return false
		}), want: "is judged twice"},
		{name: "other cards than claimed", lie: inEvent(claimed, func(e *wire.SetClaimed) bool {
			slices.Reverse(e.Cards)
			slices.Reverse(e.Slots)
			return e.GetSeat() == 0
		}), want: "named the cards"},
		{name: "two cards claimed", lie: inEvent(claimed, always(func(e *wire.SetClaimed) { e.Cards = e.Cards[:2] })), want: "2 cards, want 3"},
		{name: "an event after the end", lie: inUpdate(func(u *wire.Update) bool {
			if endedIn(u) == nil {
				return false
			}
			u.Events = append(u.Events, &wire.Event{AtMs: u.GetStamp().GetServerTimeMs(), Kind: &wire.Event_BoardExpanded{}})
			return true
		}), want: "an event after the end"},
		{name: "no score, and on it goes", rules: instantRules(), lie: inUpdate(func(u *wire.Update) bool {
			return drop(u, func(e *wire.Event) bool { return e.GetScoreChanged() != nil })
		}), want: "without its consequence"},
		{name: "a slot 30 is dealt to", lie: inEvent(dealt, refill(func(e *wire.CardsDealt) { e.Slots[0] = 30 })), want: "dealt to slot 30"},
		{name: "a card too few is refilled", lie: inEvent((*wire.Event).GetBoardRefilled, func(e *wire.BoardRefilled) bool {
			e.Cards = e.Cards[1:]
			return len(e.Cards) == 2
		}), want: "refilled: 2 cards in 3 slots"},
		{name: "an end with Sets", lie: endsEarly, want: "and there is one on the board"},
		{name: "an end with a deck", lie: endsEarly, want: "in the deck and room on the board"},
		{name: "seed 0", lie: inEvent(ended, always(func(e *wire.MatchEnded) { e.Deck = &wire.MatchEnded_Seed{} })), want: "the revealed seed"},
		{name: "another's last verdict", lie: inWelcome(func(w *wire.Welcome) bool {
			if w.LastVerdict == nil {
				return false
			}
			w.LastVerdict.Seat = 1
			return true
		}), want: "the last verdict is of seat 1"},
		{name: "another winner", lie: inEvent(ended, always(func(e *wire.MatchEnded) { e.Winners = []uint32{7} })), want: "the winners are"},
		{name: "no winner", lie: inEvent(ended, func(e *wire.MatchEnded) bool { was := e.Winner != nil; e.Winner = nil; return was }), want: "the winner is"},
		{name: "another final score", lie: inEvent(ended, always(func(e *wire.MatchEnded) { e.Table[0].Score++ })), want: "the final table says"},
		{name: "a short table", lie: inEvent(ended, always(func(e *wire.MatchEnded) { e.Table = e.Table[:1] })), want: "a final table of 1 lines"},
		{name: "an internal error", lie: inEvent(ended, always(func(e *wire.MatchEnded) { e.Reason = wire.EndReason_END_REASON_INTERNAL_ERROR })), want: "something failed in the server"},
		{name: "another key", lie: inEvent(ended, always(func(e *wire.MatchEnded) { e.GetKey()[5] ^= 1 })), want: "not the one that was committed to"},
		{name: "half a key", lie: inEvent(ended, always(func(e *wire.MatchEnded) { e.Deck = &wire.MatchEnded_Key{Key: e.GetKey()[:16]} })), want: "has 16 bytes"},
		{name: "no key", lie: inEvent(ended, always(func(e *wire.MatchEnded) { e.Deck = nil })), want: "no key is revealed"},
		{name: "another seed", lie: inEvent(ended, always(func(e *wire.MatchEnded) { e.Deck = &wire.MatchEnded_Seed{Seed: 5} })), want: "was dealt"},
		{name: "two different ends", lie: inWelcome(func(w *wire.Welcome) bool { was := w.Ended != nil; w.Ended = &wire.MatchEnded{}; return was }), want: "the final table was"},
		{name: "another table", lie: inWelcome(func(w *wire.Welcome) bool { w.TableId = "x"; return w.Snapshot != nil }), want: "the table id changes"},
		{name: "other rules", lie: inWelcome(func(w *wire.Welcome) bool { w.Rules.ValidAnimMs++; return w.Snapshot != nil }), want: "the rules change"},
		{name: "rules that cannot be", lie: inWelcome(func(w *wire.Welcome) bool { w.Rules.InitialBoardSize = 13; return true }), want: "initial_board_size is 13"},
		{name: "another commitment", lie: inWelcome(func(w *wire.Welcome) bool { w.Commitment = make([]byte, 32); return w.Snapshot != nil }), want: "the commitment changes"},
		{name: "half a commitment", lie: inWelcome(func(w *wire.Welcome) bool { w.Commitment = make([]byte, 16); return true }), want: "a commitment of 16 bytes"},
		{name: "another version", lie: inWelcome(func(w *wire.Welcome) bool { w.ProtocolVersion = 2; return true }), want: "protocol version 2"},
		{name: "no timing", lie: inWelcome(func(w *wire.Welcome) bool { w.Timing = nil; return true }), want: "without timing advice"},
		{name: "no seat", lie: inWelcome(func(w *wire.Welcome) bool { w.Seat = nil; return true }), want: "do not agree"},
		{name: "another seat", lie: inWelcome(func(w *wire.Welcome) bool { *w.Seat = 1; return w.Snapshot != nil }), want: "the seat changes"},
		{name: "another last verdict", lie: inWelcome(func(w *wire.Welcome) bool {
			if w.LastVerdict == nil {
				return false
			}
			w.LastVerdict.Slots[0]++
			return true
		}), want: "had the verdict"},
		{name: "a Welcome of another state", lie: inWelcome(func(w *wire.Welcome) bool {
			if w.Snapshot == nil || w.Ended != nil {
				return false
			}
			w.Snapshot.Scores[0] += 2
			return true
		}), want: "the events make the scores"},
	}
}

// endsEarly ends the match while there is a Set.
func endsEarly(m Body) bool {
	u, ok := m.(*wire.Update)
	if !ok || u.GetSnapshot().GetState() != wire.BoardState_BOARD_STATE_IDLE {
		return false
	}
	u.Events = append(u.Events, &wire.Event{AtMs: u.GetStamp().GetServerTimeMs(), Kind: &wire.Event_MatchEnded{
		MatchEnded: &wire.MatchEnded{Reason: wire.EndReason_END_REASON_NO_SETS_LEFT},
	}})
	return true
}

func drop(u *wire.Update, which func(*wire.Event) bool) bool {
	i := slices.IndexFunc(u.GetEvents(), which)
	if i < 0 {
		return false
	}
	u.Events = slices.Delete(u.Events, i, i+1)
	return true
}

func TestLiesAreFound(t *testing.T) {
	honest := map[string]*transcript{}
	for _, s := range spoils() {
		t.Run(s.name, func(t *testing.T) {
			rules := s.rules
			if rules == (domain.Rules{}) {
				rules = testRules()
			}
			key := fmt.Sprint(rules)
			if honest[key] == nil {
				honest[key] = record(t, 2, rules, keyDeck(3))
			}
			report := verify(spoilFirst(t, honest[key], s.lie))
			require.NotEmpty(t, report.Violations)
			require.Contains(t, strings.Join(report.Violations, "\n"), s.want)
		})
	}
}

// spoilFirst is the transcript with one lie in it.
func spoilFirst(t *testing.T, honest *transcript, lie func(Body) bool) *transcript {
	spoiled := &transcript{entries: slices.Clone(honest.entries)}
	for i, entry := range spoiled.entries {
		if entry.kind != "received" {
			continue
		}
		message, _, err := ReadFrame(entry.frame)
		require.NoError(t, err)
		if lie(message.Body) {
			spoiled.entries[i].frame = frameOf(t, wire.OpCode(entry.frame.Op), message.Body)
			return spoiled
		}
	}
	t.Fatal("there was nothing to lie about")
	return nil
}

// received is a transcript that ends with one more message.
func (r *transcript) and(entries ...transcriptEntry) *transcript {
	return &transcript{entries: append(slices.Clone(r.entries), entries...)}
}

func TestAnswersAreCounted(t *testing.T) {
	honest := record(t, 2, pointRules(), keyDeck(3))
	const own = 0x5000
	stamp := &wire.Stamp{Incarnation: 1, Revision: 1 << 20, ServerTimeMs: 1 << 20}
	sent := func(id uint64) transcriptEntry {
		return transcriptEntry{"sent", frameOf(t, wire.OpCode_OP_CODE_CLAIM_SET, &wire.ClaimSet{ClaimId: id, Cards: []byte{1, 2, 3}})}
	}
	result := func(id uint64, refused *wire.ClaimRefused) transcriptEntry {
		r := &wire.ClaimResult{Stamp: stamp, ClaimId: id}
		if refused != nil {
			r.Result = &wire.ClaimResult_Refused{Refused: refused}
		}
		return transcriptEntry{"received", frameOf(t, wire.OpCode_OP_CODE_CLAIM_RESULT, r)}
	}
	over := &wire.ClaimRefused{Reason: wire.Reason_REASON_ENDED}
	for name, test := range map[string]struct {
		more []transcriptEntry
		want string
	}{
		"answered":          {[]transcriptEntry{sent(own), result(own, over)}, ""},
		"sent twice":        {[]transcriptEntry{sent(own), sent(own), result(own, over), result(own, over)}, ""},
		"never answered":    {[]transcriptEntry{sent(own), sent(own)}, "claim 5000 was sent 2 times and never answered"},
		"answered twice":    {[]transcriptEntry{sent(own), result(own, over), result(own, over)}, "claim 5000 was sent 1 times and answered 2 times"},
		"never sent":        {[]transcriptEntry{result(own+1, over)}, "claim 5001 is answered and was not sent"},
		"no answer in it":   {[]transcriptEntry{sent(own), result(own, nil)}, "neither a refusal nor a verdict"},
		"a retry for ever":  {[]transcriptEntry{sent(own), result(own, &wire.ClaimRefused{Reason: wire.Reason_REASON_BOARD_LOCK, RetryAtMs: 1 << 30})}, "is refused at"},
		"a retry long ago":  {[]transcriptEntry{sent(own), result(own, &wire.ClaimRefused{Reason: wire.Reason_REASON_OWN_LOCK, RetryAtMs: 7})}, "is refused at"},
		"a retry for what":  {[]transcriptEntry{sent(own), result(own, &wire.ClaimRefused{Reason: wire.Reason_REASON_ENDED, RetryAtMs: 7})}, "with a retry time"},
		"nothing missing":   {[]transcriptEntry{sent(own), result(own, &wire.ClaimRefused{Reason: wire.Reason_REASON_NOT_ON_BOARD})}, "no card is named"},
		"a stranger":        {[]transcriptEntry{sent(own), result(own, &wire.ClaimRefused{Reason: wire.Reason_REASON_NOT_ON_BOARD, MissingCards: []byte{9}})}, "misses card 9"},
		"missing and ended": {[]transcriptEntry{sent(own), result(own, &wire.ClaimRefused{Reason: wire.Reason_REASON_ENDED, MissingCards: []byte{1}})}, "with missing cards"},
	} {
		report := verify(honest.and(test.more...))
		if test.want == "" {
			require.Empty(t, report.Violations, name)
		} else {
			require.Contains(t, strings.Join(report.Violations, "\n"), test.want, name)
		}
	}
}

func TestOtherMessagesAreChecked(t *testing.T) {
	honest := record(t, 2, pointRules(), keyDeck(3))
	stamp := &wire.Stamp{Incarnation: 1, Revision: 1 << 20, RosterRevision: 3}
	received := func(op wire.OpCode, body proto.Message) transcriptEntry {
		return transcriptEntry{"received", frameOf(t, op, body)}
	}
	roster := received(wire.OpCode_OP_CODE_ROSTER, &wire.Roster{Stamp: stamp, Seats: []*wire.Seat{{}, {}}})
	for name, test := range map[string]struct {
		more []transcriptEntry
		want string
	}{
		"a roster":         {[]transcriptEntry{roster}, ""},
		"the same roster":  {[]transcriptEntry{roster, roster}, "the roster revision goes from 3 to 3"},
		"a short roster":   {[]transcriptEntry{received(wire.OpCode_OP_CODE_ROSTER, &wire.Roster{Stamp: stamp})}, "a roster of 0 seats"},
		"a pong":           {[]transcriptEntry{received(wire.OpCode_OP_CODE_PONG, &wire.Pong{Stamp: stamp, ClientTimeMs: 77})}, "answers no Ping"},
		"an error":         {[]transcriptEntry{received(wire.OpCode_OP_CODE_ERROR, &wire.Error{Stamp: stamp, Reason: 31})}, "UNKNOWN_OP_CODE"},
		"a late forfeit":   {[]transcriptEntry{received(wire.OpCode_OP_CODE_ERROR, &wire.Error{Stamp: stamp, Reason: 5, OpCode: 6})}, ""},
		"an unknown code":  {[]transcriptEntry{received(150, &wire.Pong{})}, "op code 150 is not in protocol"},
		"noise":            {[]transcriptEntry{{"received", Frame{Op: 102, Data: []byte{0xff}}}}, "op code 102"},
		"an old Welcome":   {[]transcriptEntry{{kind: "joined"}, received(101, &wire.Welcome{Stamp: &wire.Stamp{Incarnation: 1, Revision: 1}})}, "a Welcome of revision 1 comes after one of"},
		"a Welcome back":   {[]transcriptEntry{received(101, &wire.Welcome{Stamp: &wire.Stamp{Incarnation: 1, Revision: 1}})}, "a Welcome goes back"},
		"after the end":    {[]transcriptEntry{received(102, &wire.Update{Stamp: stamp, Snapshot: &wire.Snapshot{}, FromRevision: 1})}, "comes after one to"},
		"a strange answer": {[]transcriptEntry{received(103, &wire.ClaimResult{Stamp: stamp, ClaimId: 0x5000, Result: &wire.ClaimResult_RepeatedVerdict{}})}, "was not sent"},
	} {
		report := verify(honest.and(test.more...))
		if test.want == "" {
			require.Empty(t, report.Violations, name)
		} else {
			require.Contains(t, strings.Join(report.Violations, "\n"), test.want, name)
		}
	}
}

// A deck that is not dealt as the key says: the server reveals the right key and had dealt another card.
func TestAFalseDealIsFound(t *testing.T) {
	table := newFakeTable(t, 1, testRules(), keyDeck(3))
	table.start()
	honest := record(t, 1, testRules(), keyDeck(3))
	swapped := map[byte]byte{}
	last := honest.entries[0]
	for _, entry := range honest.entries {
		if entry.kind == "received" {
			last = entry
		}
	}
	message, _, _ := ReadFrame(last.frame)
	lying := message.Body.(*wire.Welcome).GetSnapshot().GetBoard()
	var two []byte
	for _, id := range lying {
		if id != emptySlot && len(two) < 2 {
			two = append(two, id)
		}
	}
	swapped[two[0]], swapped[two[1]] = two[1], two[0]
	report := verify(renamed(t, honest, swapped))
	require.False(t, report.DealProven)
	require.Contains(t, strings.Join(report.Violations, "\n"), "was dealt")
}

// A card that was never drawn, seen by a client that came late and knows no card's place in the deck.
func TestACardFromNowhereIsFound(t *testing.T) {
	rules := timeRules()
	rules.TimeLimitMs = 8000
	honest := record(t, 1, rules, keyDeck(3))
	last, _, err := ReadFrame(honest.entries[len(honest.entries)-1].frame)
	require.NoError(t, err)
	w := last.Body.(*wire.Welcome)
	require.Positive(t, w.GetSnapshot().GetDeckCount())
	late := func() Report {
		r := &transcript{}
		r.Joined()
		r.Received(frameOf(t, wire.OpCode_OP_CODE_WELCOME, w))
		return verify(r)
	}
	report := late()
	require.Empty(t, report.Violations)
	require.True(t, report.DealProven)

	deck, err := domain.NewDeck(keyDeck(3))
	require.NoError(t, err)
	drawn, err := deck.Draw(domain.DeckSize)
	require.NoError(t, err)
	w.Snapshot.Board[0] = byte(drawn[domain.DeckSize-1].ID())
	require.Contains(t, strings.Join(late().Violations, "\n"), "is not among the first")
}

// A repeat is for those who ask again.
func TestARepeatThatNobodyAskedFor(t *testing.T) {
	honest := record(t, 1, testRules(), keyDeck(3))
	last, _, _ := ReadFrame(honest.entries[len(honest.entries)-1].frame)
	verdict := last.Body.(*wire.Welcome).GetLastVerdict()
	report := verify(honest.and(transcriptEntry{"received", frameOf(t, wire.OpCode_OP_CODE_CLAIM_RESULT, &wire.ClaimResult{
		Stamp: last.Body.GetStamp(), ClaimId: verdict.GetClaimId(), Result: &wire.ClaimResult_RepeatedVerdict{RepeatedVerdict: verdict},
	})}))
	require.Contains(t, strings.Join(report.Violations, "\n"), "answered as a repeat and was sent once")
}

// renamed exchanges cards that stay on the board to the end wherever they are dealt or lie.
func renamed(t *testing.T, honest *transcript, other map[byte]byte) *transcript {
	exchange := func(ids []byte) {
		for i, id := range ids {
			if to, ok := other[id]; ok {
				ids[i] = to
			}
		}
	}
	r := &transcript{entries: slices.Clone(honest.entries)}
	for i, entry := range r.entries {
		if entry.kind != "received" {
			continue
		}
		message, _, err := ReadFrame(entry.frame)
		require.NoError(t, err)
		switch m := message.Body.(type) {
		case *wire.Welcome:
			exchange(m.GetSnapshot().GetBoard())
		case *wire.Update:
			exchange(m.GetSnapshot().GetBoard())
			for _, event := range m.GetEvents() {
				exchange(event.GetCardsDealt().GetCards())
				exchange(event.GetBoardRefilled().GetCards())
				exchange(event.GetBoardExpanded().GetCards())
			}
		}
		r.entries[i].frame = frameOf(t, wire.OpCode(entry.frame.Op), message.Body)
	}
	return r
}

// A client that comes back has not seen everything, and the rest must still be checked.
func TestComingBack(t *testing.T) {
	honest := record(t, 2, testRules(), keyDeck(3))
	gone := &transcript{}
	updates := 0
	for _, entry := range honest.entries {
		if entry.kind == "received" && entry.frame.Op == int64(wire.OpCode_OP_CODE_UPDATE) {
			updates++
			if updates >= 20 && updates < 30 {
				continue
			}
		}
		if updates == 30 && entry.kind == "received" && len(gone.entries) > 0 && gone.entries[len(gone.entries)-1].kind != "joined" {
			update, _, _ := ReadFrame(entry.frame)
			if u, ok := update.Body.(*wire.Update); ok {
				gone.Joined()
				w := started(t, honest)
				w.Stamp, w.Snapshot = u.GetStamp(), u.GetSnapshot()
				gone.Received(frameOf(t, wire.OpCode_OP_CODE_WELCOME, w))
				updates++
				continue
			}
		}
		gone.entries = append(gone.entries, entry)
	}
	report := verify(gone)
	for _, violation := range report.Violations {
		require.Contains(t, violation, "never answered", "claims whose answers were cut out")
	}
	require.True(t, report.DealProven)
}

// started is the first Welcome of a running match.
func started(t *testing.T, honest *transcript) *wire.Welcome {
	for _, entry := range honest.entries {
		if entry.kind != "received" {
			continue
		}
		message, _, err := ReadFrame(entry.frame)
		require.NoError(t, err)
		if w, ok := message.Body.(*wire.Welcome); ok && w.GetSnapshot() != nil && w.GetEnded() == nil {
			w.LastVerdict = nil
			return w
		}
	}
	t.Fatal("no Welcome of a running match")
	return nil
}

func TestBroadcastsAreTheSameForAll(t *testing.T) {
	shared := NewBroadcasts()
	honest := record(t, 2, testRules(), keyDeck(3))
	for range 2 {
		v := NewVerifier(VerifierConfig{Shared: shared})
		honest.replay(v)
		require.Empty(t, v.Report().Violations)
	}
	v := NewVerifier(VerifierConfig{Shared: shared})
	spoilFirst(t, honest, inUpdate(always(func(u *wire.Update) { u.Stamp.RosterRevision += 7 }))).replay(v)
	require.Contains(t, strings.Join(v.Report().Violations, "\n"), "not the same bytes for everybody")
}

func TestReportCanBeAskedTwice(t *testing.T) {
	v := NewVerifier(VerifierConfig{})
	v.Sent(frameOf(t, wire.OpCode_OP_CODE_CLAIM_SET, &wire.ClaimSet{ClaimId: 1, Cards: []byte{1, 2, 3}}))
	require.Len(t, v.Report().Violations, 1)
	require.Len(t, v.Report().Violations, 1)
	for range maxViolations + 5 {
		v.Received(Frame{Op: 150})
	}
	report := v.Report()
	require.Len(t, report.Violations, maxViolations)
	require.Positive(t, report.Suppressed)
}

// A claim that nothing answers is no violation of a server that cannot be reached any more.
func TestALostServerOwesNoAnswers(t *testing.T) {
	v := NewVerifier(VerifierConfig{})
	v.Sent(frameOf(t, wire.OpCode_OP_CODE_CLAIM_SET, &wire.ClaimSet{ClaimId: 5}))
	require.Len(t, v.Report().Violations, 1)
	v.Lost()
	require.Empty(t, v.Report().Violations)
}
