package domain

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestTranscripts plays the stories in testdata/transcripts: commands above the line, what came out below it.
// `go test ./domain -run Transcripts -rewrite` writes the output anew; read the diff.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		story := &transcript{session: NewSession()}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return story.run(t, d)
		})
		story.checkReplay(t)
	})
}

// transcript is one story: a session, and what it put out.
type transcript struct {
	session *Session
	out     Output
	all     Output
}

func (tr *transcript) run(t *testing.T, d *datadriven.TestData) string {
	tr.out.Reset()
	switch d.Cmd {
	case "start":
		if tr.session.Started() { // another match of the same story
			tr.checkReplay(t)
			*tr = transcript{session: NewSession()}
		}
		err := tr.session.StartMatch(setupFrom(t, d), &tr.out)
		return tr.report(Result{Outcome: Applied}, err)
	case "board":
		return grid(tr.session.Snapshot().Board)
	case "scores":
		return tr.scores()
	case "holds":
		return tr.holds()
	case "input":
		in := tr.session.Input(intArg(t, d, "seat", 0))
		return fmt.Sprintf("%v selected=%v", in.State, in.Selected)
	case "advance":
		tr.session.Advance(int64(intArg(t, d, "at", 0)), &tr.out)
		return tr.report(Result{}, nil)
	}
	before := tr.session.Snapshot()
	revision := tr.session.Revision()
	at := int64(intArg(t, d, "at", int(tr.session.NowMs())))
	tr.session.Advance(at, &tr.out)
	unchanged := tr.session.Snapshot()
	result := tr.session.Apply(at, commandFrom(t, d), &tr.out)
	if result.Outcome == Refused {
		require.Equal(t, unchanged, tr.session.Snapshot(), "%s: a refusal changed the state", d.Pos)
	}
	if before == tr.session.Snapshot() && len(tr.out.Events) == 0 {
		require.Equal(t, revision, tr.session.Revision(), "%s: the revision rose without a change", d.Pos)
	}
	return tr.report(result, nil)
}

// checkReplay replays the story's record and expects the same output and the same state.
func (tr *transcript) checkReplay(t *testing.T) {
	record := tr.session.Record()
	if record == nil {
		return
	}
	var again Output
	replayed, err := Replay(record, &again)
	require.NoError(t, err)
	require.Equal(t, describe(tr.all), describe(again))
	require.Equal(t, tr.session.Snapshot(), replayed.Snapshot())
	require.Equal(t, tr.session.Revision(), replayed.Revision())
	require.Equal(t, record, replayed.Record())
}

func (tr *transcript) report(result Result, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	tr.all.Events = append(tr.all.Events, tr.out.Events...)
	tr.all.Answers = append(tr.all.Answers, tr.out.Answers...)
	lines := describe(tr.out)
	if result.Outcome != 0 {
		lines = append(lines, "=> "+describeResult(result))
	}
	snapshot := tr.session.Snapshot()
	state := fmt.Sprintf("   %v, revision %d", snapshot.State, tr.session.Revision())
	if wake, ok := tr.session.NextWakeMs(); ok {
		state += fmt.Sprintf(", wake at %d", wake)
	}
	return strings.Join(append(lines, state), "\n")
}

func (tr *transcript) scores() string {
	var lines []string
	snapshot := tr.session.Snapshot()
	for seat := range snapshot.Players {
		p := snapshot.ByPlayer[seat]
		line := fmt.Sprintf("seat %d: %d", seat, p.Score)
		if p.LockedUntilMs > tr.session.NowMs() {
			line += fmt.Sprintf(", locked until %d", p.LockedUntilMs)
		}
		if snapshot.Timed {
			line += fmt.Sprintf(", %d ms left", snapshot.TimeLeftMs(seat, tr.session.NowMs()))
		}
		if p.Forfeited {
			line += ", forfeited"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// holds says of every player whether the seat is held, and until when.
func (tr *transcript) holds() string {
	var parts []string
	for seat := range tr.session.Snapshot().Players {
		if untilMs, held := tr.session.HeldUntilMs(seat); held {
			parts = append(parts, fmt.Sprintf("seat %d until %d", seat, untilMs))
		}
	}
	return strings.Join(parts, ", ")
}

func commandFrom(t *testing.T, d *datadriven.TestData) Command {
	seat := intArg(t, d, "seat", 0)
	switch d.Cmd {
	case "select":
		return SelectCard{Seat: seat, Slot: intArg(t, d, "slot", 0)}
	case "deselect":
		return DeselectCard{Seat: seat, Slot: intArg(t, d, "slot", 0)}
	case "claim-selected":
		return ClaimSelected{Seat: seat}
	case "claim":
		return ClaimSet{Seat: seat, ID: uint64(intArg(t, d, "id", 0)), Cards: claimBytes(t, d)}
	case "complete-board":
		return AnimationComplete{Seat: BoardLayer, Serial: uint32(intArg(t, d, "serial", 0))}
	case "complete":
		return AnimationComplete{Seat: seat, Serial: uint32(intArg(t, d, "serial", 0))}
	case "drop":
		return Drop{Seat: seat}
	case "return":
		return Return{Seat: seat}
	case "forfeit":
		return Forfeit{Seat: seat}
	}
	d.Fatalf(t, "no command %q", d.Cmd)
	return nil
}

// claimBytes reads cards=(0000,1111,2222) as codes, or raw=(81,255) as numbers.
func claimBytes(t *testing.T, d *datadriven.TestData) []byte {
	var ids []byte
	for _, arg := range d.CmdArgs {
		for _, val := range arg.Vals {
			switch arg.Key {
			case "cards":
				card, err := ParseCard(val)
				require.NoError(t, err)
				ids = append(ids, byte(card.ID()))
			case "raw":
				n, err := strconv.ParseUint(val, 10, 8)
				require.NoError(t, err)
				ids = append(ids, byte(n))
			}
		}
	}
	return ids
}

func setupFrom(t *testing.T, d *datadriven.TestData) Setup {
	rules := DefaultRules()
	number := func(key string, p *int64) { *p = int64(intArg(t, d, key, int(*p))) }
	number("valid", &rules.ValidAnimMs)
	number("invalid", &rules.InvalidAnimMs)
	number("refill", &rules.RefillAnimMs)
	number("expand", &rules.ExpandAnimMs)
	number("grace", &rules.ClaimGraceMs)
	number("idle", &rules.IdleLimitMs)
	number("hold", &rules.DropHoldMs)
	number("limit", &rules.TimeLimitMs)
	number("penalty-ms", &rules.PenaltyTimeMs)
	rules.Timed = rules.TimeLimitMs > 0
	rules.InitialBoardSize = intArg(t, d, "slots", 12)
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "tournament":
			rules.RefillPolicy = RefillToInitialSize
		case "on-command":
			rules.ClaimMode = ClaimOnCommand
		case "penalty":
			rules.PenaltyMode = map[string]PenaltyMode{"none": PenaltyNone, "time": PenaltyTime, "point": PenaltyPoint}[arg.Vals[0]]
		}
	}
	return Setup{Rules: rules, Players: intArg(t, d, "players", 1), Deck: deckFrom(t, d), Bots: botsFrom(t, d)}
}

// botsFrom reads bots=(human,hard:7): by seat, who plays there, a bot with its seed.
func botsFrom(t *testing.T, d *datadriven.TestData) (bots [MaxPlayers]Bot) {
	for _, arg := range d.CmdArgs {
		if arg.Key != "bots" {
			continue
		}
		for seat, val := range arg.Vals {
			level, seed, isBot := strings.Cut(val, ":")
			if !isBot {
				continue
			}
			n, err := strconv.ParseUint(seed, 10, 64)
			require.NoError(t, err)
			bots[seat] = Bot{Level: map[string]BotLevel{"easy": BotEasy, "medium": BotMedium, "hard": BotHard}[level], Seed: n}
		}
	}
	return bots
}

// deckFrom reads seed=N, or deck=(NAME or codes, …): a prefix that the other cards follow in the order of their ids;
// with only the prefix is all.
func deckFrom(t *testing.T, d *datadriven.TestData) DeckSource {
	if d.HasArg("seed") {
		src, err := SeedSource(int32(intArg(t, d, "seed", 0)))
		require.NoError(t, err)
		return src
	}
	var codes []string
	for _, arg := range d.CmdArgs {
		if arg.Key != "deck" {
			continue
		}
		for _, val := range arg.Vals {
			if named, ok := namedBoards[val]; ok {
				val = named
			}
			codes = append(codes, strings.Fields(val)...)
		}
	}
	return orderOf(t, strings.Join(codes, " "), !d.HasArg("only"))
}

// orderOf is a deck of the cards in codes, and if fill is set of all others behind them.
func orderOf(t testing.TB, codes string, fill bool) DeckSource {
	t.Helper()
	var cards []Card
	var in [DeckSize]bool
	for _, code := range strings.Fields(codes) {
		card, err := ParseCard(code)
		require.NoError(t, err)
		cards = append(cards, card)
		in[card.ID()] = true
	}
	for id := range DeckSize {
		if fill && !in[id] {
			cards = append(cards, MustCard(id))
		}
	}
	src, err := OrderSource(cards)
	require.NoError(t, err)
	return src
}

// namedBoards are boards with known properties: how many Sets they hold, where they come from and what they are for.
var namedBoards = map[string]string{
	"SETS": "0000 0001 0002 0010 0011 0012 0020 0021 0022 0100 0101 0200", // 14 Sets, the most of 12 cards
	"NONE": "0112 1011 1102 1202 1210 2010 2100 2102 2110 2111 2202 2222", // no Set
	"GROW": "1000 2022 1220 2212 2220 2011 1221 0210 0100 0122 0212 0010 2221 2111 2210 0012 1121 1011 1120 2122 0000",
	"END":  "0021 2201 0020 0221 1011 0222 0110 1101 2122 1110 0112 2111",
}

func intArg(t *testing.T, d *datadriven.TestData, key string, otherwise int) int {
	if d.HasArg(key) {
		d.ScanArgs(t, key, &otherwise)
	}
	return otherwise
}

func describe(out Output) []string {
	var lines []string
	for _, e := range out.Events {
		lines = append(lines, fmt.Sprintf("%d %s", e.AtMs, describeEvent(e.Event)))
	}
	for _, a := range out.Answers {
		lines = append(lines, fmt.Sprintf("answer to seat %d, claim %d: %s", a.Seat, a.ClaimID, describeRefusal(a.Refusal)))
	}
	return lines
}

func describeEvent(e Event) string {
	switch e := e.(type) {
	case MatchStarted:
		return fmt.Sprintf("MatchStarted players=%d committed=%v", e.Players, e.Committed)
	case CardsDealt:
		return fmt.Sprintf("CardsDealt %v %s", e.Cause, describePlacement(e.Placement))
	case BoardRefilled:
		return "BoardRefilled " + describePlacement(e.Placement)
	case BoardExpanded:
		return "BoardExpanded " + describePlacement(e.Placement)
	case SetClaimed:
		return describeVerdict(e)
	case ScoreChanged:
		return fmt.Sprintf("ScoreChanged seat=%d score=%d", e.Seat, e.Score)
	case PenaltyApplied:
		return fmt.Sprintf("PenaltyApplied seat=%d %v amount=%d remaining=%d", e.Seat, e.Mode, e.Amount, e.Remaining)
	case PlayerForfeited:
		return fmt.Sprintf("PlayerForfeited seat=%d %v", e.Seat, e.Cause)
	case MatchEnded:
		winner, one := e.Winner()
		return fmt.Sprintf("MatchEnded %v winners=%v winner=%d,%v table=%v", e.Reason, e.Winners, winner, one, e.Table)
	}
	panic(fmt.Sprintf("event %T is not described", e))
}

func describeVerdict(e SetClaimed) string {
	verdict := "valid"
	if !e.Valid() {
		verdict = "invalid, mixed: " + e.Mixed.String()
	}
	return fmt.Sprintf("SetClaimed seat=%d id=%d cards=%s slots=%v %s", e.Seat, e.ClaimID, codes(e.Cards[:]), e.Slots, verdict)
}

func describePlacement(p Placement) string {
	var parts []string
	for i, slot := range p.Slots {
		parts = append(parts, fmt.Sprintf("%d:%s", slot, p.Cards[i].Code()))
	}
	return strings.Join(parts, " ")
}

func describeResult(r Result) string {
	switch r.Outcome {
	case Applied:
		return "applied"
	case Refused:
		return describeRefusal(r.Refusal)
	case Repeated:
		return "repeated: " + describeVerdict(r.Verdict)
	case Held:
		return "held"
	case HeldAlready:
		return "held already"
	case Waiting:
		return "waiting"
	}
	return fmt.Sprintf("outcome %d", r.Outcome)
}

func describeRefusal(r Refusal) string {
	text := "refused: " + r.Reason.String()
	if r.MissingCount > 0 {
		text += ", missing " + codes(r.MissingCards())
	}
	if r.RetryAtMs > 0 {
		text += fmt.Sprintf(", retry at %d", r.RetryAtMs)
	}
	return text
}

func codes(cards []Card) string {
	var parts []string
	for _, c := range cards {
		parts = append(parts, c.Code())
	}
	return strings.Join(parts, " ")
}

func grid(b Board) string {
	var sb strings.Builder
	for slot := range b.SlotCount() {
		code := "----"
		if card, ok := b.CardAt(slot); ok {
			code = card.Code()
		}
		sb.WriteString(code)
		if slot%SlotsPerRow == SlotsPerRow-1 {
			sb.WriteString("\n")
		} else {
			sb.WriteString(" ")
		}
	}
	return strings.TrimSpace(sb.String())
}
