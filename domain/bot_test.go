package domain

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startBots starts a match on the board SETS with these levels by seat, 0 for a human; the seed of a bot is its seat + 1.
func startBots(t testing.TB, rules Rules, levels ...BotLevel) *Session {
	t.Helper()
	s := NewSession()
	require.NoError(t, s.StartMatch(botSetup(rules, orderOf(t, namedBoards["SETS"], true), levels...), &Output{}))
	return s
}

func botSetup(rules Rules, deck DeckSource, levels ...BotLevel) Setup {
	setup := Setup{Rules: rules, Players: len(levels), Deck: deck}
	for seat, level := range levels {
		if level != 0 {
			setup.Bots[seat] = Bot{Level: level, Seed: uint64(seat) + 1}
		}
	}
	return setup
}

func TestStartMatchRefusesBotsThatDoNotFit(t *testing.T) {
	good := botSetup(DefaultRules(), KeySource([32]byte{1}), 0, BotEasy, BotMedium, BotHard)
	for name, spoil := range map[string]func(*Setup){
		"seed without a level":   func(s *Setup) { s.Bots[0].Seed = 1 },
		"level beyond hard":      func(s *Setup) { s.Bots[1].Level = BotHard + 1 },
		"seat beyond the last":   func(s *Setup) { s.Bots[4] = Bot{Level: BotEasy} },
		"seat beyond the last 7": func(s *Setup) { s.Bots[7] = Bot{Level: BotEasy} },
		"pass and play":          func(s *Setup) { s.Rules.ClaimMode = ClaimOnCommand },
	} {
		bad := good
		spoil(&bad)
		s := NewSession()
		err := s.StartMatch(bad, &Output{})
		require.ErrorIs(t, err, ErrBots, name)
		require.NotEqual(t, ErrBots.Error(), err.Error(), name)
		require.False(t, s.Started(), name)
	}
	s := NewSession()
	require.NoError(t, s.StartMatch(good, &Output{}))
	require.Equal(t, good, s.Setup())
}

func TestBotLevelsPrintTheirNames(t *testing.T) {
	assert.Equal(t, "human easy medium hard BotLevel(4)", fmt.Sprint(BotLevel(0), BotEasy, BotMedium, BotHard, BotLevel(4)))
}

// A bot does not know the deck: with the cards to come in another order it does the same until one of them shows.
func TestBotsDoNotKnowTheDeck(t *testing.T) {
	source := KeySource([32]byte{5})
	deck, err := NewDeck(source)
	require.NoError(t, err)
	cards, err := deck.Draw(DeckSize)
	require.NoError(t, err)
	play := func(cards []Card) []TimedEvent {
		order, err := OrderSource(cards)
		require.NoError(t, err)
		s := NewSession()
		var out Output
		require.NoError(t, s.StartMatch(botSetup(DefaultRules(), order, BotHard, BotMedium, 0, BotEasy), &out))
		s.Advance(3_600_000, &out)
		require.NotNil(t, s.end)
		return out.Events
	}
	want := play(cards)
	for kept := MinSlots; kept < DeckSize; kept += ExpansionSize {
		other := append([]Card(nil), cards...)
		for i, j := kept, DeckSize-1; i < j; i, j = i+1, j-1 {
			other[i], other[j] = other[j], other[i]
		}
		dealt := 0
		for i, event := range play(other) {
			if dealing, ok := event.Event.(CardsDealt); ok {
				dealt += len(dealing.Cards)
			}
			if dealt > kept {
				break
			}
			require.Equal(t, want[i], event, "%d cards are the same", kept)
		}
	}
}

// Of bots that are due at once the one with the lower seat is first; the others' claims come within the grace, and the
// command of a player at the same time is last.
func TestBotsAreDueBySeat(t *testing.T) {
	rules := DefaultRules()
	rules.ClaimGraceMs = 250
	s := startBots(t, rules, 0, BotHard, BotHard)
	for seat := 1; seat <= 2; seat++ {
		s.players[seat].bot.atMs = 700
		s.players[seat].bot.next = Sighting{Claims: true, Cards: Triple(parseCards("0010 0011 0012"))}
	}
	var out Output
	result := s.Apply(700, ClaimSet{ID: 1, Cards: []byte{0, 1, 2}}, &out)
	require.Equal(t, Held, result.Outcome)
	require.Equal(t, ScoreChanged{Seat: 1, Score: 1}, out.Events[1].Event)
	require.Equal(t, []heldClaim{
		{seat: 2, id: botClaimID(2, 1), cards: Triple(parseCards("0010 0011 0012"))},
		{seat: 0, id: 1, cards: Triple(parseCards("0000 0001 0002"))},
	}, s.held)
	s.Advance(1600, &out)
	require.Equal(t, 1, s.Snapshot().ByPlayer[0].Score)
	require.Empty(t, out.Answers, "a bot asks for no answer")
}

// At one instant the board's animation, the players' and the match's clocks and held claims come before any bot.
func TestBotsAreLastOfTheDeadlines(t *testing.T) {
	rules := DefaultRules()
	rules.Timed, rules.TimeLimitMs = true, 5000
	s := startBots(t, rules, 0, BotHard)
	s.players[1].bot.atMs = 5000
	var out Output
	s.Advance(5000, &out)
	require.Len(t, out.Events, 1)
	require.Equal(t, EndTimeUp, out.Events[0].Event.(MatchEnded).Reason)

	rules = DefaultRules()
	rules.ClaimGraceMs = 250
	s = startBots(t, rules, 0, 0, BotHard)
	applyAt(t, s, 100, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}})
	require.Equal(t, Held, applyAt(t, s, 101, ClaimSet{Seat: 1, ID: 2, Cards: []byte{3, 4, 5}}).Outcome)
	s.Advance(999, &Output{})
	s.nowMs = 1000
	s.step(&Output{}, s.completeBoardAnimation) // at the unlock a bot begins to look: none is as quick as the one below
	require.Equal(t, BoardIdle, s.Snapshot().State)
	s.players[2].bot = botPlayer{scanner: s.players[2].bot.scanner, thinks: true, atMs: 1000,
		next: Sighting{Claims: true, Cards: Triple(parseCards("0010 0011 0012"))}}
	s.Advance(1000, &Output{})
	require.Equal(t, 1, s.Snapshot().ByPlayer[1].Score, "a held claim is judged before a bot's")
}

// A miss is nothing that anybody sees, and the bot looks again: a match of bots ends.
func TestAMissIsScannedAgain(t *testing.T) {
	s := startBots(t, DefaultRules(), 0, BotEasy)
	b := &s.players[1].bot
	b.atMs, b.next = 100, Sighting{AfterMs: 100}
	revision, before := s.Revision(), s.Snapshot()
	var out Output
	s.Advance(100, &out)
	require.Empty(t, out)
	require.Equal(t, revision, s.Revision())
	require.Equal(t, before, s.Snapshot())
	require.Equal(t, 1, s.BotMisses(1))
	require.Zero(t, s.BotMisses(0))
	require.Zero(t, s.BotMisses(-1))
	require.True(t, b.thinks)
	require.Greater(t, b.atMs, int64(100+2500))

	// During a lock there is nothing to look at; the unlock makes it look.
	applyAt(t, s, 200, ClaimSet{ID: 1, Cards: []byte{0, 1, 2}})
	b.atMs, b.next = 300, Sighting{AfterMs: 100}
	s.Advance(1099, &out)
	require.False(t, b.thinks)
	s.Advance(1100, &out)
	require.True(t, b.thinks)
	require.Equal(t, 2, s.BotMisses(1))
}

func TestMatchesOfBotsEnd(t *testing.T) {
	for key := range byte(20) {
		s := NewSession()
		var out Output
		setup := botSetup(DefaultRules(), KeySource([32]byte{key}), BotLevel(1+key%3), BotLevel(1+key/3%3))
		require.NoError(t, s.StartMatch(setup, &out))
		wakes := 0
		for wakeMs, ok := s.NextWakeMs(); ok; wakeMs, ok = s.NextWakeMs() {
			s.Advance(wakeMs, &out)
			wakes++
			require.Less(t, wakes, 1000)
		}
		end, ended := s.Ended()
		require.True(t, ended)
		require.Equal(t, EndNoSetsLeft, end.Reason)
		// Whoever replays the record, or wakes the session at other times, sees the same.
		var again, jump Output
		replayed, err := Replay(s.Record(), &again)
		require.NoError(t, err)
		require.Equal(t, out, again)
		require.Equal(t, s.Snapshot(), replayed.Snapshot())
		other := NewSession()
		require.NoError(t, other.StartMatch(setup, &jump))
		other.Advance(s.NowMs(), &jump)
		require.Equal(t, out, jump)
	}
}

// A bot that is out of time thinks no more.
func TestABotOutOfTimeIsStill(t *testing.T) {
	rules := DefaultRules()
	rules.Timed, rules.TimeLimitMs, rules.PenaltyMode, rules.PenaltyTimeMs = true, 60_000, PenaltyTime, 60_000
	s := startBots(t, rules, 0, BotHard)
	b := &s.players[1].bot
	b.atMs, b.next = 100, Sighting{Claims: true, Cards: Triple(parseCards("0000 0001 0010"))}
	s.Advance(100, &Output{})
	require.True(t, s.isOutOfTime(1))
	require.False(t, b.thinks)
	applyAt(t, s, 200, ClaimSet{ID: 1, Cards: []byte{0, 1, 2}})
	s.Advance(59_999, &Output{})
	require.False(t, b.thinks)
	require.Zero(t, s.Snapshot().ByPlayer[1].Score)
}

// Waiting costs nothing, and a look no memory.
func TestIdleBotsDoNotAllocate(t *testing.T) {
	s := startBots(t, DefaultRules(), 0, BotHard, BotEasy, BotMedium)
	var out Output
	require.Zero(t, testing.AllocsPerRun(100, func() {
		s.Advance(s.nowMs, &out)
		_, _ = s.NextWakeMs()
		s.look(1)
	}))
}

// A match without bots has no deadlines of theirs.
func TestHumansAreNotBots(t *testing.T) {
	s := startTestMatch(t, "SETS", 2)
	for seat := -1; seat <= MaxPlayers; seat++ {
		require.False(t, s.isBot(seat))
	}
	wakeMs, _ := s.NextWakeMs()
	require.EqualValues(t, 600_000, wakeMs)
}
