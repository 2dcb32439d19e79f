package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

const second = time.Second

// newPlay starts a match of the given number of players on a perfect network.
func newPlay(t testing.TB, players int) *fakeNetwork {
	net := newFakeNetwork(newFakeTable(t, players, testRules(), seedDeck(t, 42)))
	net.pass(10 * time.Millisecond)
	net.table.start()
	net.pass(second)
	return net
}

// slotsOfSet finds a Set on the seat's own replica.
func slotsOfSet(t testing.TB, c *Controller) [3]int {
	state, ok := c.Snapshot()
	require.True(t, ok)
	sets := domain.FindAllSets(state.Board.AppendCards(nil))
	require.NotEmpty(t, sets)
	return slotsOf(t, state, sets[0])
}

func slotsOfMistake(t testing.TB, c *Controller) [3]int {
	state, _ := c.Snapshot()
	cards := state.Board.AppendCards(nil)
	triple := domain.Triple(cards[:3])
	if domain.ValidateTriple(triple).IsValid() {
		triple[2] = cards[3]
	}
	return slotsOf(t, state, triple)
}

func slotsOf(t testing.TB, state domain.Snapshot, triple domain.Triple) [3]int {
	var slots [3]int
	for i, card := range triple {
		slot, lies := state.Board.SlotOf(card)
		require.True(t, lies)
		slots[i] = slot
	}
	return slots
}

// claim selects the slots, and returns the claim's id.
func (s *fakeSeat) claim(t testing.TB, slots [3]int) uint64 {
	for i, slot := range slots {
		result := s.controller.SelectCard(slot)
		want := domain.Applied
		if i == 2 {
			want = domain.Waiting
		}
		require.Equal(t, want, result.Outcome, "slot %d: %v", slot, result.Refusal.Reason)
	}
	require.True(t, s.controller.WaitingForServer())
	require.Equal(t, domain.Validating, s.controller.State())
	return s.controller.claim.id
}

func (s *fakeSeat) resolution(t testing.TB, id uint64) Resolution {
	require.Len(t, s.resolutions[id], 1, "claim %x", id)
	return s.resolutions[id][0]
}

func (s *fakeSeat) count(op wire.OpCode) int {
	n := 0
	for _, sent := range s.sent {
		if sent == op {
			n++
		}
	}
	return n
}

func TestSelectionIsLocal(t *testing.T) {
	net := newPlay(t, 2)
	c := net.seats[0].controller
	require.Equal(t, domain.BoardIdle, c.State())
	require.Equal(t, domain.Applied, c.SelectCard(0).Outcome)
	require.Equal(t, domain.CardSelected1, c.State())
	require.Equal(t, domain.RefusedSlotSelected, c.SelectCard(0).Refusal.Reason)
	require.Equal(t, domain.Applied, c.SelectCard(1).Outcome)
	require.Equal(t, domain.CardSelected2, c.State())
	require.Equal(t, domain.Applied, c.DeselectCard(0).Outcome)
	require.Equal(t, []int{1}, c.Selected())
	require.Empty(t, net.seats[0].sent, "selections are nobody else's business")
	require.Equal(t, domain.BoardIdle, net.seats[1].controller.State())
}

func TestVerdictComesInAnUpdate(t *testing.T) {
	net := newPlay(t, 2)
	me := net.seats[0]
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.pass(time.Millisecond)
	r := me.resolution(t, id)
	require.Equal(t, ResolvedValid, r.Kind)
	require.Equal(t, 1, r.Sends)
	require.Equal(t, domain.ValidSetAnim, me.controller.State())
	require.Empty(t, me.controller.Selected())
	state, _ := net.seats[1].controller.Snapshot()
	require.Equal(t, 1, state.ByPlayer[0].Score)
	net.pass(second)
	require.Equal(t, domain.BoardIdle, me.controller.State())
}

func TestMistakeLocksOnlyItsPlayer(t *testing.T) {
	net := newPlay(t, 2)
	me := net.seats[0]
	id := me.claim(t, slotsOfMistake(t, me.controller))
	net.pass(time.Millisecond)
	r := me.resolution(t, id)
	require.Equal(t, ResolvedInvalid, r.Kind)
	require.NotZero(t, r.Mixed)
	require.Equal(t, domain.InvalidSetAnim, me.controller.State())
	require.Equal(t, domain.RefusedOwnLock, me.controller.SelectCard(0).Refusal.Reason)
	require.Equal(t, domain.BoardIdle, net.seats[1].controller.State())
	require.Greater(t, me.controller.RetryAtMs(), me.controller.MatchTimeMs())
	net.pass(400 * time.Millisecond) // no message says that the lock is over
	require.Equal(t, domain.BoardIdle, me.controller.State())
	require.LessOrEqual(t, me.controller.RetryAtMs(), me.controller.MatchTimeMs())
}

func TestRefusalReleasesTheSelection(t *testing.T) {
	net := newPlay(t, 2)
	ada, ben := net.seats[0], net.seats[1]
	slots := slotsOfSet(t, ben.controller)
	net.late, net.choose = 50, func(n int) int { return n - 1 }
	first := ada.claim(t, slots)
	second := ben.claim(t, slots)
	net.pass(time.Millisecond * 200)
	require.Equal(t, ResolvedValid, ada.resolution(t, first).Kind)
	require.True(t, ben.controller.WaitingForServer(), "held until the unlock")
	require.Len(t, ben.controller.Selected(), 3, "the cards stay highlighted while the claim waits")
	net.pass(2 * time.Second)
	r := ben.resolution(t, second)
	require.Equal(t, ResolvedRefused, r.Kind)
	require.Equal(t, wire.Reason_REASON_NOT_ON_BOARD, r.Reason)
	require.Len(t, r.MissingCards, 3)
	require.Equal(t, domain.BoardIdle, ben.controller.State())
	require.Empty(t, ben.controller.Selected())
}

func TestBoardLockHasARetryTime(t *testing.T) {
	rules := testRules()
	rules.ClaimGraceMs = 0
	net := newFakeNetwork(newFakeTable(t, 2, rules, seedDeck(t, 42)))
	net.table.start()
	net.pass(second)
	ada, ben := net.seats[0], net.seats[1]
	slots := slotsOfSet(t, ben.controller)
	ada.claim(t, slots)
	id := ben.claim(t, slots)
	net.pass(time.Millisecond)
	r := ben.resolution(t, id)
	require.Equal(t, wire.Reason_REASON_BOARD_LOCK, r.Reason)
	require.Equal(t, int64(1000+600+300), r.RetryAtMs)
	require.Equal(t, r.RetryAtMs, ben.controller.RetryAtMs())
}

func TestLostClaimIsSentAgain(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	net.loss = 100
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.pass(1499 * time.Millisecond)
	require.Equal(t, 1, me.count(wire.OpCode_OP_CODE_CLAIM_SET))
	net.loss = 0
	net.pass(2 * time.Millisecond)
	require.Equal(t, 2, me.count(wire.OpCode_OP_CODE_CLAIM_SET))
	r := me.resolution(t, id)
	require.Equal(t, ResolvedValid, r.Kind)
	require.Equal(t, 2, r.Sends)
	require.Zero(t, me.count(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT))
}

// The claim was judged, its verdict is lost: the resend gets it as a repeat, and the score counts once.
func TestLostVerdictComesAsARepeat(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.loss = 100 // the claim is on its way already
	net.pass(1400 * time.Millisecond)
	require.True(t, me.controller.WaitingForServer())
	require.Len(t, net.table.verdicts, 1)
	net.loss = 0
	net.pass(200 * time.Millisecond)
	require.Equal(t, ResolvedValid, me.resolution(t, id).Kind)
	require.Len(t, net.table.verdicts, 1)
	require.Empty(t, me.controller.Selected())
	require.NotEqual(t, domain.Validating, me.controller.State())
}

// Nothing is answered for long: the snapshot is asked for, and its last verdict is the answer.
func TestWelcomeHasTheLostVerdict(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.loss = 100
	net.pass(4900 * time.Millisecond)
	require.Equal(t, 4, me.count(wire.OpCode_OP_CODE_CLAIM_SET))
	require.Zero(t, me.count(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT))
	net.loss = 0
	net.pass(200 * time.Millisecond)
	require.Equal(t, 1, me.count(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT))
	r := me.resolution(t, id)
	require.Equal(t, ResolvedValid, r.Kind)
	require.Zero(t, me.reconnects)
	state, _ := me.controller.Snapshot()
	require.Equal(t, net.table.session.Snapshot(), state)
}

// The Welcome has no verdict: the claim never came, and is sent again.
func TestWelcomeWithoutVerdictSendsAgain(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	net.loss = 100
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.pass(4900 * time.Millisecond)
	net.loss = 0
	net.pass(200 * time.Millisecond)
	r := me.resolution(t, id)
	require.Equal(t, ResolvedValid, r.Kind)
	require.Equal(t, 5, r.Sends)
}

// After such a Welcome everything begins anew: resends first.
func TestClaimThatIsLostAgainIsSentAgain(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	net.loss = 100
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.pass(4900 * time.Millisecond)
	net.loss = 0
	net.table.busy = func() bool { return true }
	net.pass(200 * time.Millisecond)
	net.table.busy = nil
	require.Equal(t, 5, me.count(wire.OpCode_OP_CODE_CLAIM_SET))
	net.pass(1500 * time.Millisecond)
	require.Equal(t, 6, me.count(wire.OpCode_OP_CODE_CLAIM_SET))
	require.Equal(t, ResolvedValid, me.resolution(t, id).Kind)
	require.Equal(t, 1, me.count(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT))
}

// Verdicts of others, and of claims that are settled, are no answer, even when the numbers agree.
func TestOnlyTheOwnVerdictIsTheAnswer(t *testing.T) {
	net := newPlay(t, 2)
	me := net.seats[0]
	net.loss = 100
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.loss = 0
	for i, other := range []domain.SetClaimed{{Seat: 1, ClaimID: id}, {Seat: 0, ClaimID: id + 1}} {
		stamp := net.table.stamp()
		stamp.Revision += uint64(i) + 1
		me.receive(frameOf(t, wire.OpCode_OP_CODE_UPDATE, &wire.Update{
			Stamp: stamp, Snapshot: snapshotToWire(net.table.session.Snapshot()),
			Events: []*wire.Event{{Kind: &wire.Event_SetClaimed{SetClaimed: verdictToWire(other)}}},
		}))
		require.True(t, me.controller.WaitingForServer())
		require.Equal(t, domain.Validating, me.controller.State())
	}
	me.receive(frameOf(t, wire.OpCode_OP_CODE_CLAIM_RESULT, &wire.ClaimResult{
		Stamp: net.table.stamp(), ClaimId: id + 1, Result: &wire.ClaimResult_Refused{Refused: &wire.ClaimRefused{Reason: wire.Reason_REASON_ENDED}},
	}))
	require.True(t, me.controller.WaitingForServer())
}

// A newer stamp shows that an update was lost, but not a roster's: the update of the same moment follows it.
func TestOnlyALostUpdateIsAskedFor(t *testing.T) {
	net := newPlay(t, 2)
	me := net.seats[0]
	newer := func() *wire.Stamp {
		stamp := net.table.stamp()
		stamp.Revision++
		stamp.RosterRevision++
		return stamp
	}
	me.receive(frameOf(t, wire.OpCode_OP_CODE_ROSTER, &wire.Roster{Stamp: newer()}))
	require.Zero(t, me.count(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT), "the update is on its way")
	me.receive(frameOf(t, wire.OpCode_OP_CODE_PONG, &wire.Pong{Stamp: newer()}))
	require.Equal(t, 1, me.count(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT), "the update would have come before")
}

func TestMatchTime(t *testing.T) {
	var clock matchTime
	require.Zero(t, clock.at(time.Hour))
	at := func(ms uint64, incarnation uint32) *wire.Stamp {
		return &wire.Stamp{ServerTimeMs: ms, Incarnation: incarnation}
	}
	clock.observe(5*time.Second, at(0, 1))
	require.Zero(t, clock.at(9*time.Second), "the match has not begun")
	clock.observe(10*time.Second, at(900, 1)) // 100 ms on its way
	require.Equal(t, int64(1900), clock.at(11*time.Second))
	clock.observe(12*time.Second, at(2990, 1)) // only 10 ms
	require.Equal(t, int64(2990), clock.at(12*time.Second))
	clock.observe(13*time.Second, at(3700, 1)) // 300 ms: that tells nothing new
	require.Equal(t, int64(3990), clock.at(13*time.Second))
	clock.observe(20*time.Second, at(4000, 2)) // resumed: downtime does not count
	require.Equal(t, int64(4000), clock.at(20*time.Second))
	clock.observe(21*time.Second, at(90_000, 1)) // a late one of the time before
	require.Equal(t, int64(5000), clock.at(21*time.Second))
}

func TestSilenceMakesANewConnection(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	net.loss = 100
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.pass(7900 * time.Millisecond)
	require.Zero(t, me.reconnects)
	net.pass(200 * time.Millisecond)
	require.Equal(t, 1, me.reconnects)
	net.loss = 0
	net.pass(4 * time.Second)
	require.Equal(t, ResolvedValid, me.resolution(t, id).Kind)
}

// A connection that lives but did not answer is asked again.
func TestLostQuestionIsAskedAgain(t *testing.T) {
	net := newPlay(t, 2)
	ada, ben := net.seats[0], net.seats[1]
	net.loss = 100
	id := ada.claim(t, slotsOfSet(t, ada.controller))
	net.pass(6 * time.Second)
	require.Equal(t, 1, ada.count(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT))
	net.loss = 0
	ben.claim(t, slotsOfMistake(t, ben.controller)) // its update shows that the connection lives
	net.pass(3 * time.Second)
	require.Equal(t, 2, ada.count(wire.OpCode_OP_CODE_REQUEST_SNAPSHOT))
	require.Zero(t, ada.reconnects)
	ada.resolution(t, id)
}

func TestBusyIsNoAnswer(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	full := true
	net.table.busy = func() bool { return full }
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.pass(time.Second)
	require.True(t, me.controller.WaitingForServer())
	full = false
	net.pass(time.Second)
	require.Equal(t, ResolvedValid, me.resolution(t, id).Kind)
}

func TestLostConnectionIsReplaced(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	id := me.claim(t, slotsOfSet(t, me.controller))
	me.online = false // the verdict finds nobody
	me.controller.ConnectionLost()
	me.controller.ConnectionLost()
	require.Equal(t, 1, me.reconnects)
	net.pass(time.Second)
	require.Equal(t, ResolvedValid, me.resolution(t, id).Kind, "by the Welcome's last verdict")
}

// A claim made while there is no connection waits for the next one.
func TestClaimWithoutConnectionWaits(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	me.controller.ConnectionLost()
	id := me.claim(t, slotsOfSet(t, me.controller))
	require.Zero(t, me.count(wire.OpCode_OP_CODE_CLAIM_SET))
	net.pass(time.Second)
	r := me.resolution(t, id)
	require.Equal(t, ResolvedValid, r.Kind)
	require.Equal(t, 1, r.Sends)
}

func TestJoinWithoutWelcomeIsTriedAgain(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	net.loss = 100
	me.controller.ConnectionLost()
	net.pass(7 * time.Second)
	require.Equal(t, 3, me.reconnects)
	net.loss = 0
	net.pass(4 * time.Second)
	require.True(t, me.controller.link.up())
}

func TestPingKeepsAQuietConnection(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	net.pass(25 * time.Second)
	require.Equal(t, 2, me.count(wire.OpCode_OP_CODE_PING))
	require.Zero(t, me.reconnects)
	net.loss = 100
	net.pass(14 * time.Second)
	require.Positive(t, me.reconnects, "a Ping without an answer means that the connection is dead")
}

func TestBeingReplacedEndsIt(t *testing.T) {
	for _, kind := range []wire.NoticeKind{
		wire.NoticeKind_NOTICE_KIND_REPLACED, wire.NoticeKind_NOTICE_KIND_KICKED, wire.NoticeKind_NOTICE_KIND_CLOSED,
		wire.NoticeKind_NOTICE_KIND_CONTESTED,
	} {
		net := newPlay(t, 1)
		me := net.seats[0]
		net.loss = 100
		id := me.claim(t, slotsOfSet(t, me.controller))
		net.loss = 0
		net.table.send(0, wire.OpCode_OP_CODE_NOTICE, &wire.Notice{Stamp: net.table.stamp(), Kind: kind})
		net.pass(time.Millisecond)
		require.Equal(t, ResolvedAbandoned, me.resolution(t, id).Kind)
		require.True(t, me.controller.Closed())
		me.controller.ConnectionLost()
		net.pass(time.Minute)
		require.Zero(t, me.reconnects, "%v: never reconnect by yourself", kind)
		require.Equal(t, domain.Refused, me.controller.SelectCard(0).Outcome)
	}
}

func TestNotInMatchRejoins(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	net.table.send(0, wire.OpCode_OP_CODE_ERROR, &wire.Error{Stamp: net.table.stamp(), Reason: wire.Reason_REASON_NOT_IN_MATCH, OpCode: 1})
	net.pass(time.Second)
	require.Equal(t, 1, me.reconnects)
	require.True(t, me.controller.link.up())
}

// A server of the future: kinds of result, event and reason that this client does not know.
func TestUnknownAnswers(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	net.loss = 100
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.loss = 0
	net.table.send(0, wire.OpCode_OP_CODE_CLAIM_RESULT, &wire.ClaimResult{Stamp: net.table.stamp(), ClaimId: id})
	net.table.send(0, wire.OpCode_OP_CODE_ERROR, &wire.Error{Stamp: net.table.stamp(), Reason: 999})
	net.table.send(0, wire.OpCode_OP_CODE_NOTICE, &wire.Notice{Stamp: net.table.stamp(), Kind: 999})
	net.pass(time.Millisecond)
	require.True(t, me.controller.WaitingForServer())
	net.table.refuse(0, id, &wire.ClaimRefused{Reason: 999})
	net.pass(time.Millisecond)
	r := me.resolution(t, id)
	require.Equal(t, ResolvedRefused, r.Kind)
	require.Equal(t, "REASON 999", ReasonName(r.Reason))
}

// Another player's Set takes cards off the board: a selection loses those slots, and only those.
func TestSelectionFollowsTheBoard(t *testing.T) {
	net := newPlay(t, 2)
	ada, ben := net.seats[0], net.seats[1]
	slots := slotsOfSet(t, ben.controller)
	other := 0
	for other == slots[0] || other == slots[1] || other == slots[2] {
		other++
	}
	require.Equal(t, domain.Applied, ada.controller.SelectCard(other).Outcome)
	require.Equal(t, domain.Applied, ada.controller.SelectCard(slots[0]).Outcome)
	ben.claim(t, slots)
	net.pass(2 * time.Second)
	require.Equal(t, []int{other}, ada.controller.Selected())
	require.Equal(t, domain.CardSelected1, ada.controller.State())
}

// Whatever the network drops, delays and doubles, every claim is resolved once, and in the end all agree.
func TestEveryClaimIsAnswered(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		players := rapid.IntRange(1, 3).Draw(rt, "players")
		rules := testRules()
		rules.InvalidAnimMs = int64(rapid.SampledFrom([]int{0, 400, 2000}).Draw(rt, "invalid anim"))
		table := newFakeTable(t, players, rules, seedDeck(t, int32(rapid.IntRange(1, 1000).Draw(rt, "deck"))))
		net := newFakeNetwork(table)
		table.start()
		net.pass(second)
		net.choose = chooser(rapid.SliceOfN(rapid.Byte(), 1, 400).Draw(rt, "fates"))
		net.loss = rapid.SampledFrom([]int{0, 10, 30, 60}).Draw(rt, "loss")
		net.double = rapid.SampledFrom([]int{0, 20}).Draw(rt, "double")
		net.late = rapid.SampledFrom([]int{0, 30, 400, 3000}).Draw(rt, "late")
		if rapid.Bool().Draw(rt, "busy") {
			table.busy = func() bool { return net.choose(4) == 0 }
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			s := net.seats[rapid.IntRange(0, players-1).Draw(rt, "seat")]
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				s.online = false
				s.controller.ConnectionLost()
			case 1, 2, 3:
				tryClaim(s, slotsAt(rt, s))
			default:
				tryClaim(s, anySet(s))
			}
			net.pass(time.Duration(rapid.IntRange(0, 1500).Draw(rt, "ms")) * time.Millisecond)
		}
		net.loss, net.double, net.late, table.busy = 0, 0, 0, nil
		net.pass(time.Minute)
		settled(rt, net)
	})
}

// chooser gives numbers from a tape, over and over, spread so that small tapes choose everything.
func chooser(tape []byte) func(int) int {
	at, state := 0, uint64(1)
	return func(n int) int {
		state = state*6364136223846793005 + uint64(tape[at%len(tape)]) + 1
		at++
		return int(state>>33) % n
	}
}

func tryClaim(s *fakeSeat, slots []int) {
	for _, slot := range slots {
		s.controller.SelectCard(slot)
	}
	if !s.controller.WaitingForServer() {
		for _, slot := range s.controller.Selected() {
			s.controller.DeselectCard(slot)
		}
	}
}

func slotsAt(rt *rapid.T, s *fakeSeat) []int {
	state, ok := s.controller.Snapshot()
	if !ok {
		return nil
	}
	return rapid.SliceOfNDistinct(rapid.IntRange(0, state.Board.SlotCount()-1), 3, 3, rapid.ID[int]).Draw(rt, "slots")
}

func anySet(s *fakeSeat) []int {
	state, ok := s.controller.Snapshot()
	if !ok {
		return nil
	}
	sets := domain.FindAllSets(state.Board.AppendCards(nil))
	if len(sets) == 0 {
		return nil
	}
	var slots []int
	for _, card := range sets[len(sets)-1] {
		slot, _ := state.Board.SlotOf(card)
		slots = append(slots, slot)
	}
	return slots
}

func settled(rt *rapid.T, net *fakeNetwork) {
	for _, s := range net.seats {
		if s.controller.WaitingForServer() {
			rt.Fatalf("seat %d: claim %x still waits", s.seat, s.controller.claim.id)
		}
		for id := range s.claimed {
			key := claimKey{uint32(s.seat), id}
			valid, judged := net.table.verdicts[key]
			if len(s.resolutions[id]) != 1 {
				rt.Fatalf("seat %d: claim %x is resolved %d times", s.seat, id, len(s.resolutions[id]))
			}
			switch r := s.resolutions[id][0]; r.Kind {
			case ResolvedValid, ResolvedInvalid:
				if !judged || valid != (r.Kind == ResolvedValid) {
					rt.Fatalf("seat %d: claim %x is resolved as %v, judged %v, valid %v", s.seat, id, r.Kind, judged, valid)
				}
			case ResolvedRefused:
				if net.table.refusals[key] == 0 {
					rt.Fatalf("seat %d: claim %x is resolved as refused, and was not", s.seat, id)
				}
			default:
				rt.Fatalf("seat %d: claim %x is resolved as %v", s.seat, id, r.Kind)
			}
		}
		if state, _ := s.controller.Snapshot(); state != net.table.session.Snapshot() {
			rt.Fatalf("seat %d: the replica is not what the server has:\n%+v\n%+v", s.seat, state, net.table.session.Snapshot())
		}
	}
}
