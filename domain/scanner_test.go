package domain

import (
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// viewOf is what a bot sees of a board with these cards.
func viewOf(t require.TestingT, cards []Card) BoardView {
	var view BoardView
	for view.Board.SlotCount() < len(cards) {
		require.NoError(t, view.Board.Expand(ExpansionSize))
	}
	for slot, card := range cards {
		require.NoError(t, view.Board.PlaceCard(slot, card))
	}
	return view
}

var botLevels = []BotLevel{BotEasy, BotMedium, BotHard}

// A bot cannot see more than a player, because what it is given holds no more.
func TestABotSeesTheBoardAndNothingElse(t *testing.T) {
	view := reflect.TypeFor[BoardView]()
	require.Equal(t, 1, view.NumField())
	require.Equal(t, reflect.TypeFor[Board](), view.Field(0).Type)
	scan, ok := reflect.TypeFor[*Scanner]().MethodByName("Scan")
	require.True(t, ok)
	require.Equal(t, []reflect.Type{reflect.TypeFor[*Scanner](), view}, []reflect.Type{scan.Type.In(0), scan.Type.In(1)})
	require.Equal(t, 2, scan.Type.NumIn())
}

// Whatever the board: a claim is of three different cards that lie there, wrong only as an error, and never too quick.
func TestSightingsAreOfTheBoard(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.IntRange(0, DeckSize-1), 0, MaxSlots, rapid.ID[int]).Draw(rt, "cards")
		var cards []Card
		for _, id := range ids {
			cards = append(cards, MustCard(id))
		}
		bot := Bot{Level: rapid.SampledFrom(botLevels).Draw(rt, "level"), Seed: rapid.Uint64().Draw(rt, "seed")}
		scanner, again := newScanner(rt, bot, 3), newScanner(rt, bot, 3)
		view := viewOf(rt, cards)
		for range 20 {
			sighting := scanner.Scan(view)
			require.Equal(rt, sighting, again.Scan(view))
			require.GreaterOrEqual(rt, sighting.AfterMs, skills[bot.Level].leastMs)
			if !AnySetExists(cards) {
				require.False(rt, sighting.Claims)
			}
			if !sighting.Claims {
				continue
			}
			for i, card := range sighting.Cards {
				require.Contains(rt, cards, card)
				require.NotEqual(rt, card, sighting.Cards[(i+1)%3])
			}
		}
	})
}

// newScanner is NewScanner of a bot that there can be.
func newScanner(t require.TestingT, bot Bot, seat int) Scanner {
	scanner, err := NewScanner(bot, seat)
	require.NoError(t, err)
	return scanner
}

func TestNewScannerRefusesOtherLevels(t *testing.T) {
	for _, level := range []BotLevel{0, BotHard + 1, 9, 255} {
		_, err := NewScanner(Bot{Level: level, Seed: 1}, 0)
		require.ErrorIs(t, err, ErrBots, "%d", level)
	}
}

func TestScannersOfOtherSeatsAndSeedsLookOtherwise(t *testing.T) {
	view := viewOf(t, parseCards(boardMax))
	looks := func(bot Bot, seat int) (looks []Sighting) {
		scanner := newScanner(t, bot, seat)
		for range 5 {
			looks = append(looks, scanner.Scan(view))
		}
		return looks
	}
	first := looks(Bot{BotHard, 1}, 0)
	require.Equal(t, first, looks(Bot{BotHard, 1}, 0))
	require.NotEqual(t, first, looks(Bot{BotHard, 1}, 1))
	require.NotEqual(t, first, looks(Bot{BotHard, 2}, 0))
}

// scans are many looks of a level at random boards of so many cards that hold so many Sets, 0 for any number.
func scans(t *testing.T, level BotLevel, looks, cards, sets int) (times []int64, missed, wrong int) {
	random := rand.New(rand.NewPCG(uint64(cards), uint64(sets)))
	scanner := newScanner(t, Bot{Level: level, Seed: 7}, 0)
	deck := allCards()
	for len(times) < looks {
		random.Shuffle(DeckSize, func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		n := len(FindAllSets(deck[:cards]))
		if n == 0 || sets != 0 && n != sets {
			continue
		}
		sighting := scanner.Scan(viewOf(t, deck[:cards]))
		times = append(times, sighting.AfterMs)
		switch {
		case !sighting.Claims:
			missed++
		case !ValidateTriple(sighting.Cards).IsValid():
			wrong++
		}
	}
	slices.Sort(times)
	return times, missed, wrong
}

// The levels differ in all that they are for: the time, the misses and the errors. The sample is fixed.
func TestLevelsDiffer(t *testing.T) {
	const looks = 4000
	medians := map[BotLevel]int64{}
	for _, level := range botLevels {
		times, missed, wrong := scans(t, level, looks, 12, 0)
		medians[level] = times[looks/2]
		t.Logf("%v: first decile %d ms, median %d ms, last decile %d ms, missed %d, wrong %d of %d looks", level,
			times[looks/10], times[looks/2], times[looks*9/10], missed, wrong, looks)
		skill := skills[level]
		assert.InDelta(t, looks*int(skill.missPerMille)/1000, missed, looks*0.02, level)
		claims := looks - missed
		assert.InDelta(t, claims*int(skill.wrongPerMille)/1000, wrong, looks*0.01, level)
		assert.GreaterOrEqual(t, times[0], int64(1000), level)
		assert.Greater(t, times[looks*9/10], 3*times[looks/10], "%v has a long tail", level)
	}
	assert.Greater(t, medians[BotEasy], 5*medians[BotMedium]/4)
	assert.Greater(t, medians[BotMedium], 5*medians[BotHard]/4)
}

// One Set is harder to find than four, and among eighteen cards than among nine.
func TestWhatIsHarderTakesLonger(t *testing.T) {
	median := func(cards, sets int) int64 {
		times, _, _ := scans(t, BotMedium, 1000, cards, sets)
		return times[500]
	}
	assert.Greater(t, median(12, 1), 3*median(12, 4)/2)
	assert.Greater(t, median(15, 1), 5*median(9, 1)/4)
	other := func(differs string) int64 {
		scanner := newScanner(t, Bot{Level: BotMedium, Seed: 7}, 0)
		view := viewOf(t, parseCards(differs))
		var times []int64
		for range 1000 {
			times = append(times, scanner.Scan(view).AfterMs)
		}
		slices.Sort(times)
		return times[500]
	}
	one, two, three, four := other("0000 0001 0002"), other("0000 0011 0022"), other("0000 0111 0222"), other("0000 1111 2222")
	assert.IsIncreasing(t, []int64{one, two, three, four})
}

// An error is a near-Set: two cards of a Set, and in place of the third the one that looks most like it.
func TestErrorsAreNearSets(t *testing.T) {
	for _, board := range []struct {
		cards string
		mixed int // attributes that are mixed in the error
	}{
		{"0000 0001 0002 1000", 1}, {"0000 0001 0002 1100 1111", 2}, {"0000 1111 2222 0001 1110 2220", 1},
	} {
		cards := parseCards(board.cards)
		scanner := newScanner(t, Bot{Level: BotHard, Seed: 3}, 0)
		least := 4
		for range 200 {
			near := scanner.nearSet(Triple(cards[:3]), cards)
			result := ValidateTriple(near)
			require.False(t, result.IsValid(), "%v", near)
			least = min(least, bits.OnesCount8(uint8(result.Mixed)))
			kept := 0
			for i := range near {
				if near[i] == cards[i] {
					kept++
					continue
				}
				for _, other := range cards[3:] {
					mixed := bits.OnesCount8(uint8(result.Mixed))
					require.LessOrEqual(t, mixed, differing(other, cards[i]), "%v looks more like %v", other, cards[i])
				}
			}
			require.Equal(t, 2, kept)
		}
		assert.Equal(t, board.mixed, least, board.cards)
	}
	only := Triple(parseCards("0000 0001 0002"))
	scanner := newScanner(t, Bot{Level: BotEasy}, 0)
	assert.Equal(t, only, scanner.nearSet(only, only[:]), "there is no other card to mistake it for")
}

func TestDifferingCountsAttributes(t *testing.T) {
	for a := range DeckSize {
		for b := range DeckSize {
			x, y := MustCard(a).Attributes(), MustCard(b).Attributes()
			want := 0
			for _, differs := range []bool{x.Number != y.Number, x.Shape != y.Shape, x.Color != y.Color, x.Shading != y.Shading} {
				if differs {
					want++
				}
			}
			require.Equal(t, want, differing(MustCard(a), MustCard(b)))
		}
	}
}

// The reaction's deciles are those of the table.
func TestReactionsFollowTheirDeciles(t *testing.T) {
	scanner := newScanner(t, Bot{Level: BotHard, Seed: 11}, 0)
	const draws = 100_000
	var times []int64
	for range draws {
		times = append(times, scanner.reaction())
	}
	slices.Sort(times)
	assert.GreaterOrEqual(t, times[0], int64(reactions[0]))
	assert.LessOrEqual(t, times[draws-1], int64(reactions[len(reactions)-1]))
	for decile := 1; decile < 10; decile++ {
		assert.InEpsilon(t, reactions[decile], times[draws*decile/10], 0.03, "decile %d", decile)
	}
}

// What never happens does not happen now and then.
func TestChancesOfNothingAndOfEverything(t *testing.T) {
	scanner := newScanner(t, Bot{Level: BotHard, Seed: 2}, 0)
	for range 20_000 {
		require.False(t, scanner.happens(0))
		require.True(t, scanner.happens(1000))
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	view := viewOf(t, parseCards(boardMax))
	scanner := newScanner(t, Bot{Level: BotEasy, Seed: 1}, 0)
	require.Zero(t, testing.AllocsPerRun(200, func() { scanner.Scan(view) }))
}
