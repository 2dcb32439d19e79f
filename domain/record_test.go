package domain

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// playedRecord is the record of a short match with every kind of command, and the session it was taken from.
func playedRecord(t testing.TB, source DeckSource) (*Session, []byte) {
	t.Helper()
	return playRecord(t, NewSession(), source)
}

func playRecord(t testing.TB, s *Session, source DeckSource) (*Session, []byte) {
	t.Helper()
	var out Output
	rules := DefaultRules()
	rules.ClaimGraceMs, rules.Timed, rules.TimeLimitMs = 250, true, 90_000
	require.NoError(t, s.StartMatch(Setup{Rules: rules, Players: 3, Deck: source}, &out))
	commands := []Command{
		SelectCard{Seat: 0, Slot: 1}, DeselectCard{Seat: 0, Slot: 1}, ClaimSelected{Seat: 1},
		ClaimSet{Seat: 1, ID: 1 << 63, Cards: []byte{1, 2, 3, 4, 5, 6}}, ClaimSet{Seat: -5, ID: 2},
		AnimationComplete{Seat: BoardLayer, Serial: 300}, Drop{Seat: 2}, Return{Seat: 2}, SelectCard{Seat: 99, Slot: -1},
		Forfeit{Seat: 2},
	}
	for i, cmd := range commands {
		s.Apply(int64(100*i), cmd, &out)
	}
	for i := range uint64(6) {
		board := s.Snapshot().Board
		sets := FindAllSets(board.AppendCards(nil))
		require.NotEmpty(t, sets)
		cards := []byte{byte(sets[0][0].ID()), byte(sets[0][1].ID()), byte(sets[0][2].ID())}
		s.Apply(s.NowMs()+400, ClaimSet{Seat: int(i % 2), ID: i + 10, Cards: cards}, &out)
		s.Apply(s.NowMs()+20, ClaimSet{Seat: int(1 - i%2), ID: i + 50, Cards: cards}, &out)
		s.Advance(s.NowMs()+2000, &out)
	}
	return s, s.Record()
}

// goldenRecords are matches whose records are committed: by file, how they are played. The seeds at the ends of their
// range, and those next to 0, are where a generator goes wrong first.
func goldenRecords(t *testing.T, version byte) []goldenRecord {
	records := []goldenRecord{
		{"key", func(s *Session) *Session { playRecord(t, s, KeySource([32]byte{1, 2, 3})); return s }},
		{"bots", func(s *Session) *Session { return playWithBots(t, s) }},
	}
	if version != recordVersion2 {
		records = append(records, goldenRecord{"holds", func(s *Session) *Session { return playHolds(t, s) }})
	}
	for _, seed := range []int32{20_261_130, 1, -1, math.MaxInt32, math.MinInt32} {
		source, err := SeedSource(seed)
		require.NoError(t, err)
		name := fmt.Sprintf("seed%+d", seed)
		records = append(records, goldenRecord{name, func(s *Session) *Session { playRecord(t, s, source); return s }})
	}
	return records
}

type goldenRecord struct {
	name string
	play func(*Session) *Session
}

// playHolds is a match of what version 3 plays in its own way: holds that wait, and ends that fall together.
func playHolds(t testing.TB, s *Session) *Session {
	rules := DefaultRules()
	rules.DropHoldMs, rules.IdleLimitMs, rules.InvalidAnimMs = 5000, 30_000, 0
	deck := orderOf(t, namedBoards["SETS"], true)
	var out Output
	require.NoError(t, s.StartMatch(Setup{Rules: rules, Players: 5, Deck: deck}, &out))
	wrong := ClaimSet{Seat: 1, Cards: []byte{0, 1, 3}}
	for id := range uint64(maxWrong + 1) {
		wrong.ID = 1 + id
		s.Apply(5, wrong, &out)
	}
	wrong.ID = 1 // forgotten, and judged anew
	s.Apply(5, wrong, &out)
	for _, step := range []struct {
		atMs int64
		cmd  Command
	}{
		{1000, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}}}, {1100, ClaimSelected{Seat: 0}},
		{2000, Drop{Seat: 0}}, {2000, Drop{Seat: 1}}, {7000, Drop{Seat: 2}}, // the first two holds end together
		{8000, Drop{Seat: 3}}, {9000, Drop{Seat: 4}}, {12_500, Return{Seat: 2}}, // in time, though the hold ended at 12,000
		{13_000, Drop{Seat: 2}}, {13_500, Return{Seat: 4}}, {15_000, Drop{Seat: 4}}, {15_000, ClaimSelected{Seat: 4}},
		{20_000, AnimationComplete{Seat: 2, Serial: 3}}, {20_000, Return{Seat: 4}},
	} {
		s.Apply(step.atMs, step.cmd, &out)
	}
	require.Equal(t, EndAbandoned, s.end.Reason)
	require.Empty(t, s.end.Winners)
	return s
}

// playedWithBots is a match of a human and a bot of every level, to its end.
func playedWithBots(t testing.TB) *Session { return playWithBots(t, NewSession()) }

func playWithBots(t testing.TB, s *Session) *Session {
	rules := DefaultRules()
	rules.ClaimGraceMs, rules.PenaltyMode, rules.RefillPolicy = 250, PenaltyPoint, RefillToInitialSize
	setup := Setup{Rules: rules, Players: 4, Deck: KeySource([32]byte{0xb0, 0x75})}
	for seat, level := range []BotLevel{0, BotEasy, BotMedium, BotHard} {
		if level != 0 {
			setup.Bots[seat] = Bot{Level: level, Seed: math.MaxUint64 / uint64(seat)}
		}
	}
	var out Output
	require.NoError(t, s.StartMatch(setup, &out))
	for id := uint64(1); s.end == nil; id++ {
		var cards []byte
		if sets := FindAllSets(s.shared.Board.AppendCards(nil)); len(sets) > 0 {
			for _, card := range sets[0] {
				cards = append(cards, byte(card.ID()))
			}
		}
		s.Apply(s.nowMs+4321, ClaimSet{Seat: 0, ID: id, Cards: cards}, &out)
	}
	return s
}

// Another machine, and a later version, must replay the committed records to the same bytes, and put out the same on
// the way: digests.v3.txt has its SHA-256. `UPDATE_GOLDEN=1 go test ./domain -run GoldenRecords` writes those of the
// newest version anew; once that is released, a change is a new version of the record.
func TestGoldenRecords(t *testing.T) {
	const dir = "testdata/records/"
	update := os.Getenv("UPDATE_GOLDEN") != ""
	for version, digestsFile := range map[byte]string{recordVersion2: "digests.txt", recordVersion: "digests.v3.txt"} {
		var digests strings.Builder
		for _, golden := range goldenRecords(t, version) {
			path := fmt.Sprintf("%s%s.v%d", dir, golden.name, version)
			s := golden.play(&Session{version: version})
			if update && version == recordVersion {
				require.NoError(t, os.WriteFile(path, s.Record(), 0o600))
			}
			record, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, record, s.Record(), path)
			var out Output
			replayed, err := Replay(record, &out)
			require.NoError(t, err, path)
			require.Equal(t, s.Snapshot(), replayed.Snapshot(), path)
			require.Equal(t, record, replayed.Record(), path)
			state := fmt.Sprintf("\n%+v, revision %d\n", replayed.Snapshot(), replayed.Revision())
			text := strings.Join(describe(out), "\n") + state
			fmt.Fprintf(&digests, "%x  %s\n", sha256.Sum256([]byte(text)), golden.name)
		}
		if update && version == recordVersion {
			require.NoError(t, os.WriteFile(dir+digestsFile, []byte(digests.String()), 0o600))
		}
		want, err := os.ReadFile(dir + digestsFile)
		require.NoError(t, err)
		require.Equal(t, string(want), digests.String())
	}
}

func TestReplayedSessionGoesOn(t *testing.T) {
	for name, source := range map[string]DeckSource{
		"key": KeySource([32]byte{9}), "order": orderOf(t, namedBoards["SETS"], true),
	} {
		t.Run(name, func(t *testing.T) {
			s, record := playedRecord(t, source)
			replayed, err := Replay(record, &Output{})
			require.NoError(t, err)
			require.Equal(t, s.Setup(), replayed.Setup())
			var want, got Output
			s.Advance(1_000_000, &want)
			replayed.Advance(1_000_000, &got)
			require.Equal(t, want, got)
			require.Equal(t, s.Record(), replayed.Record())
		})
	}
}

// Whoever replays hears of every command what its sender heard, at its time.
func TestReplayCommands(t *testing.T) {
	s := startTestMatch(t, "SETS", 2)
	type step struct {
		atMs   int64
		cmd    Command
		result Result
		events int
	}
	var want, got []step
	var out, replayed Output
	require.NoError(t, NewSession().StartMatch(s.Setup(), &out))
	for i, cmd := range []Command{
		Drop{Seat: 1}, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 3}}, ClaimSet{Seat: 0, ID: 2, Cards: []byte{0, 1, 2}}, Return{Seat: 1},
		ClaimSet{Seat: 1, ID: 1, Cards: []byte{0, 1, 2}}, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 3}}, Forfeit{Seat: 1},
	} {
		atMs := int64(300 * i)
		result := s.Apply(atMs, cmd, &out)
		want = append(want, step{atMs, cmd, result, len(out.Events)})
	}
	_, err := ReplayCommands(s.Record(), &replayed, func(nowMs int64, cmd Command, result Result) {
		got = append(got, step{nowMs, cmd, result, len(replayed.Events)})
	})
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// FuzzReplay: no record breaks the reader, and whatever it takes is in the one form that records have. The fuzzer does not have to
// find digests: what it makes up is a record without one.
func FuzzReplay(f *testing.F) {
	add := func(record []byte) { f.Add(record[:len(record)-sha256.Size]) }
	for _, source := range []DeckSource{KeySource([32]byte{9}), orderOf(f, namedBoards["END"], false)} {
		s := NewSession()
		if err := s.StartMatch(Setup{Rules: DefaultRules(), Players: 2, Deck: source}, &Output{}); err != nil {
			f.Fatal(err)
		}
		s.Apply(100, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}}, &Output{})
		add(s.Record())
	}
	_, played := playedRecord(f, KeySource([32]byte{9}))
	add(played)
	add(playedWithBots(f).Record())
	f.Fuzz(func(t *testing.T, body []byte) {
		bare := append(append([]byte(nil), body...), make([]byte, sha256.Size)...)
		s, err := replay(bare, &Output{}, func(int64, Command, Result) {})
		if err != nil {
			return
		}
		record := s.Record()
		_, err = Replay(record, &Output{})
		require.NoError(t, err)
		_, err = Replay(bare, &Output{})
		if string(record[:len(record)-sha256.Size]) == string(body) {
			require.ErrorIs(t, err, ErrRecordDiffers)
		} else {
			require.ErrorIs(t, err, ErrRecordCorrupt)
		}
	})
}
