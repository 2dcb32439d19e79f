package match

import (
	"math/rand/v2"
	"slices"
	"testing"

	"set3d/domain"
)

// Strangers meet by presets under which guessing does not pay, and under which no claim is lost on its way.
func TestPublicPresets(t *testing.T) {
	for _, p := range builtInPresets() {
		if p.public && (p.rules.InvalidAnimMs < 2_000 || p.rules.ClaimGraceMs == 0) {
			t.Errorf("%s locks a wrong claim for %d ms and has a grace of %d ms", p.name, p.rules.InvalidAnimMs, p.rules.ClaimGraceMs)
		}
		if p.ranked && !p.public {
			t.Errorf("%s is ranked and not public", p.name)
		}
	}
	if practice, _ := builtInPresets().find("practice"); practice.ranked || practice.public {
		t.Error("practice is ranked or public")
	}
	if !slices.Contains(builtInPresets().publicNames(), defaultPreset) {
		t.Error("the default preset is not public")
	}
}

// The sum in docs/decisions.md: how long somebody who tries the triples of a board of twelve at random, none twice, needs for a
// Set, when each wrong one costs a lock. With the spec's lock it is less than half a minute, with ours more than two.
func TestGuessingTakesLong(t *testing.T) {
	const boards = 4_000
	random := rand.New(rand.NewPCG(1, 2))
	wrong, counted := 0.0, 0.0
	for range boards {
		var board []domain.Card
		for _, id := range random.Perm(81)[:12] {
			card, err := domain.CardFromID(id)
			if err != nil {
				t.Fatal(err)
			}
			board = append(board, card)
		}
		if sets := len(domain.FindAllSets(board)); sets > 0 { // else the board grows
			counted++
			wrong += 221/float64(sets+1) - 1 // of 220 triples in random order, the place of the first Set, less one
		}
	}
	wrong /= counted
	t.Logf("%.1f wrong claims before the first Set: %.0f s at 0.4 s each, %.0f s at %d ms", wrong, 0.4*wrong, wrong*publicLockMs/1_000, publicLockMs)
	if wrong < 60 || wrong > 66 {
		t.Errorf("%.1f wrong claims, docs/decisions.md says about 63", wrong)
	}
}
