package match

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"set3d/domain"
)

// fullSnapshot is as long as a real one can be with the given players: late in a long timed match, the board grown to its
// most, everybody locked and penalized, a refill running.
func fullSnapshot(players int) domain.Snapshot {
	s := domain.Snapshot{
		Players: players, State: domain.RefillAnim, DeckCount: 60, Timed: true, ClockEndMs: domain.MaxTimeLimitMs, ClockRuns: true,
		Board: domain.NewBoard(),
	}
	for s.Board.SlotCount() < domain.MaxSlots {
		if err := s.Board.Expand(domain.ExpansionSize); err != nil {
			panic(err)
		}
	}
	for slot := range s.Board.SlotCount() {
		if err := s.Board.PlaceCard(slot, domain.MustCard(80-slot)); err != nil {
			panic(err)
		}
	}
	for seat := range players {
		s.ByPlayer[seat] = domain.PlayerSnapshot{
			Score: 6, LockedUntilMs: domain.MaxTimeLimitMs - 1, TimePenaltyMs: domain.MaxTimeLimitMs - 1, Forfeited: seat > 0,
		}
	}
	s.Animation = domain.Animation{
		Serial: 500, StartMs: domain.MaxTimeLimitMs - 300, EndMs: domain.MaxTimeLimitMs - 1, Claimed: true, Seat: players - 1,
		ClaimedCards: domain.Triple{domain.MustCard(0), domain.MustCard(1), domain.MustCard(2)},
		ClaimedSlots: [3]int{18, 19, 20}, Dealt: true, DealtSlots: [3]int{18, 19, 20},
	}
	return s
}

// A snapshot for four players has at most 110 bytes, in the worst case.
func TestSnapshotSize(t *testing.T) {
	s := fullSnapshot(4)
	var f snapshotFrame
	size := proto.Size(f.fill(&s))
	t.Logf("a full snapshot for 4 players has %d bytes", size)
	if size > 110 {
		t.Fatalf("%d bytes", size)
	}
}

// A frame that is filled again shows nothing of what was in it before.
func TestFrameIsReusable(t *testing.T) {
	full, bare := fullSnapshot(8), domain.Snapshot{Players: 1, State: domain.MatchEnd, Board: domain.NewBoard()}
	var used, fresh snapshotFrame
	used.fill(&full)
	if a, b := used.fill(&bare), fresh.fill(&bare); !proto.Equal(a, b) {
		t.Fatalf("used %v\nfresh %v", a, b)
	}
	if a := used.fill(&full); !proto.Equal(a, new(snapshotFrame).fill(&full)) {
		t.Fatalf("again %v", a)
	}
}

// An animation of an opening expansion, which is about no Set, says nothing of the Set before it; the cards and the slots
// of a claim are what they are called; an empty slot is no card.
func TestFrameOfAnAnimation(t *testing.T) {
	board := domain.NewBoard()
	if err := board.PlaceCard(1, domain.MustCard(7)); err != nil {
		t.Fatal(err)
	}
	claimed := domain.Snapshot{Players: 2, State: domain.ValidSetAnim, Board: board, Animation: domain.Animation{
		Serial: 1, Claimed: true, Seat: 1, ClaimedSlots: [3]int{9, 10, 11},
		ClaimedCards: domain.Triple{domain.MustCard(30), domain.MustCard(31), domain.MustCard(32)},
	}}
	var f snapshotFrame
	w := f.fill(&claimed)
	if a := w.Animation; string(a.ClaimedCards) != "\x1e\x1f\x20" || string(a.ClaimedSlots) != "\x09\x0a\x0b" || a.GetSeat() != 1 {
		t.Fatalf("animation %v", a)
	}
	if w.Board[0] != emptySlot || w.Board[1] != 7 {
		t.Fatalf("board %v", w.Board)
	}
	opening := domain.Snapshot{Players: 2, State: domain.ExpandBoardAnim, Board: board, Animation: domain.Animation{
		Serial: 2, Dealt: true, DealtSlots: [3]int{12, 13, 14},
	}}
	if a := f.fill(&opening).Animation; a.Seat != nil || a.ClaimedCards != nil || a.ClaimedSlots != nil || len(a.DealtSlots) != 3 {
		t.Fatalf("animation %v", a)
	}
}

// Every value of the domain's enums has a name on the wire, and no two share one.
func TestEnumsMapOneToOne(t *testing.T) {
	seen := map[string]bool{}
	check := func(name fmt.Stringer) {
		t.Helper()
		if strings.HasSuffix(name.String(), "_UNSPECIFIED") || strings.HasSuffix(name.String(), "_INTERNAL") || seen[name.String()] {
			t.Errorf("%v is not the name of one value", name)
		}
		seen[name.String()] = true
	}
	for r := domain.RefusedMalformed; r <= domain.RefusedNotOnBoard; r++ {
		check(reasonToWire(r))
	}
	for r := domain.EndNoSetsLeft; r <= domain.EndIdle; r++ {
		check(endReasonToWire(r))
	}
	for c := domain.DealInitial; c <= domain.DealExpansion; c++ {
		check(dealCauseToWire(c))
	}
	check(forfeitCauseToWire(domain.ForfeitRequested))
	check(forfeitCauseToWire(domain.ForfeitHoldExpired))
	check(forfeitCauseToWire(domain.ForfeitIdle))
	for _, s := range []domain.MatchState{domain.BoardIdle, domain.ValidSetAnim, domain.RefillAnim, domain.ExpandBoardAnim, domain.MatchEnd} {
		check(boardStateToWire(s))
	}
	for m := domain.PenaltyNone; m <= domain.PenaltyPoint; m++ {
		check(penaltyModeToWire(m))
	}
	check(refillPolicyToWire(domain.RefillAlways))
	check(refillPolicyToWire(domain.RefillToInitialSize))
}

// Only the codec's files know the domain's values and the wire's at once: elsewhere no composite literal of one holds a
// selector of the other. What is checked here is the simplest form of it: who builds wire snapshots, events and rules.
func TestOnlyTheCodecConverts(t *testing.T) {
	converted := map[string]bool{"Snapshot": true, "Animation": true, "Event": true, "Rules": true, "SetClaimed": true, "CardsDealt": true}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "codec_") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if s, ok := literal.Type.(*ast.SelectorExpr); ok && fmt.Sprint(s.X) == "wire" && converted[s.Sel.Name] && path != "table_close.go" {
				t.Errorf("%s builds a wire.%s", path, s.Sel.Name)
			}
			return true
		})
	}
}

func TestClaimIDOfWhatIsNoClaim(t *testing.T) {
	good := marshal(t, claimOf(5, setSA))
	for _, c := range []struct {
		op      int64
		payload []byte
		want    uint64
	}{
		{opClaimSet, good, 5}, {opPing, good, 0}, {opClaimSet, nil, 0}, {opClaimSet, []byte{0xff}, 0},
		{opClaimSet, make([]byte, messageMax+1), 0}, {1<<32 + 1, good, 0},
	} {
		if got := claimIDOf(c.op, c.payload); got != c.want {
			t.Errorf("op code %d, %x: id %d", c.op, c.payload[:min(8, len(c.payload))], got)
		}
	}
}
