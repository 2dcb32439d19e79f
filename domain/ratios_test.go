package domain

import (
	"testing"
	"time"
)

// BenchmarkRatios prints how many times faster than the specification's triple loop the fast methods are, from one run,
// and fails where that is less than what was asked for:
//
//	go test ./domain -run '^$' -bench Ratios
//
// Both methods get the same boards in turns, and of each the best turn counts: what else the machine does meanwhile
// disturbs some turns, never all.
func BenchmarkRatios(b *testing.B) {
	triples := randomBoards(benchTriples, 3)
	random12, random21 := randomBoards(benchBoards, 12), randomBoards(benchBoards, 21)
	none12, cap20 := shuffledBoards(benchBoards, boardNone), shuffledBoards(benchBoards, boardCap20)
	for _, c := range []struct {
		name         string
		wanted       float64
		boards       [][]Card
		fast, oracle func(boards [][]Card) int
	}{
		{"Validate", 4, triples, countValid, oracleCountValid},
		{"AnySetExists/random12", 20, random12, countBoardsWithSets, oracleCountBoardsWithSets},
		{"AnySetExists/none12", 45, none12, countBoardsWithSets, oracleCountBoardsWithSets},
		{"AnySetExists/cap20", 75, cap20, countBoardsWithSets, oracleCountBoardsWithSets},
		{"FindAllSets/random21", 40, random21, countSets, oracleCountSets},
		{"FindAllSets/cap20", 100, cap20, countSets, oracleCountSets},
	} {
		b.Run(c.name, func(b *testing.B) {
			fast, oracle := turn{count: c.fast}, turn{count: c.oracle}
			for b.Loop() {
				for range 5 {
					fast.take(c.boards)
				}
				oracle.take(c.boards)
			}
			if fast.found != oracle.found {
				b.Fatalf("the methods disagree: %d and %d", fast.found, oracle.found)
			}
			ratio := float64(oracle.best) / float64(fast.best)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(fast.best)/float64(len(c.boards)), "fast-ns")
			b.ReportMetric(float64(oracle.best)/float64(len(c.boards)), "oracle-ns")
			b.ReportMetric(ratio, "ratio")
			b.ReportMetric(c.wanted, "wanted")
			if ratio < c.wanted {
				b.Errorf("only %.1f times as fast as the oracle, wanted is %.0f", ratio, c.wanted)
			}
		})
	}
}

// turn measures the best of several turns.
type turn struct {
	count func(boards [][]Card) int
	best  time.Duration
	found int // what the last turn counted
}

func (t *turn) take(boards [][]Card) {
	start := time.Now()
	t.found = t.count(boards)
	if took := time.Since(start); t.best == 0 || took < t.best {
		t.best = took
	}
}

func countValid(boards [][]Card) (n int) {
	for _, cards := range boards {
		if verdict, _ := Validate(cards); verdict.IsValid() {
			n++
		}
	}
	return n
}

func oracleCountValid(boards [][]Card) (n int) {
	for _, cards := range boards {
		if isValid, _ := oracleValidate(cards); isValid {
			n++
		}
	}
	return n
}

func countBoardsWithSets(boards [][]Card) (n int) {
	for _, cards := range boards {
		if AnySetExists(cards) {
			n++
		}
	}
	return n
}

func oracleCountBoardsWithSets(boards [][]Card) (n int) {
	for _, cards := range boards {
		if oracleAnySetExists(cards) {
			n++
		}
	}
	return n
}

func countSets(boards [][]Card) (n int) {
	buffer := make([]Triple, 0, 64)
	for _, cards := range boards {
		n += len(appendAllSets(buffer[:0], cards))
	}
	return n
}

func oracleCountSets(boards [][]Card) (n int) {
	for _, cards := range boards {
		n += len(oracleFindAllSets(cards))
	}
	return n
}
