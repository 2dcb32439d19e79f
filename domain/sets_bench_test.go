package domain

import (
	"math/rand/v2"
	"testing"
)

// The benchmarks compare the fast methods with the oracle in one run, on the same cards. Random boards are many, so that
// the processor cannot learn them by heart.

const benchBoards = 1024 // a power of two

// benchTriples is far more triples than benchBoards: a triple is so little to remember that the processor would.
const benchTriples = 1 << 14

func BenchmarkValidate(b *testing.B) {
	triples := randomBoards(benchTriples, 3)
	b.Run("fast", func(b *testing.B) {
		b.ReportAllocs()
		valid := 0
		for i := 0; b.Loop(); i++ {
			if verdict, _ := Validate(triples[i&(benchTriples-1)]); verdict.IsValid() {
				valid++
			}
		}
	})
	b.Run("oracle", func(b *testing.B) {
		b.ReportAllocs()
		valid := 0
		for i := 0; b.Loop(); i++ {
			if isValid, _ := oracleValidate(triples[i&(benchTriples-1)]); isValid {
				valid++
			}
		}
	})
}

func BenchmarkAnySetExists(b *testing.B) {
	for _, on := range []struct {
		name   string
		boards [][]Card
	}{
		{"random12", randomBoards(benchBoards, 12)},
		{"none12", shuffledBoards(benchBoards, boardNone)},
		{"random21", randomBoards(benchBoards, 21)},
		{"cap20", shuffledBoards(benchBoards, boardCap20)},
	} {
		b.Run(on.name+"/fast", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				AnySetExists(on.boards[i&(benchBoards-1)])
			}
		})
		b.Run(on.name+"/oracle", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				oracleAnySetExists(on.boards[i&(benchBoards-1)])
			}
		})
	}
}

func BenchmarkFindAllSets(b *testing.B) {
	for _, on := range []struct {
		name   string
		boards [][]Card
	}{
		{"random12", randomBoards(benchBoards, 12)},
		{"random21", randomBoards(benchBoards, 21)},
		{"cap20", shuffledBoards(benchBoards, boardCap20)},
	} {
		b.Run(on.name+"/fast", func(b *testing.B) {
			b.ReportAllocs()
			buffer := make([]Triple, 0, 64)
			for i := 0; b.Loop(); i++ {
				buffer = appendAllSets(buffer[:0], on.boards[i&(benchBoards-1)])
			}
		})
		b.Run(on.name+"/oracle", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				oracleFindAllSets(on.boards[i&(benchBoards-1)])
			}
		})
	}
}

func randomBoards(count, size int) [][]Card {
	random := rand.New(rand.NewPCG(1, uint64(size)))
	boards := make([][]Card, count)
	for i := range boards {
		for _, id := range random.Perm(DeckSize)[:size] {
			boards[i] = append(boards[i], MustCard(id))
		}
	}
	return boards
}

func shuffledBoards(count int, codes string) [][]Card {
	random := rand.New(rand.NewPCG(2, 2))
	boards := make([][]Card, count)
	for i := range boards {
		boards[i] = parseCards(codes)
		random.Shuffle(len(boards[i]), func(a, b int) { boards[i][a], boards[i][b] = boards[i][b], boards[i][a] })
	}
	return boards
}
