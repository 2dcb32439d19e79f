package domain

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// playedRecord is the record of a short match with every kind of command, and the session it was taken from.
func playedRecord(t testing.TB, source DeckSource) (*Session, []byte) {
	t.Helper()
	s := NewSession()
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

// The record of one match is committed: another machine, and a later version, must replay it to the same bytes.
// `UPDATE_GOLDEN=1 go test ./domain -run GoldenRecord` writes it anew; that is a new version of the record.
func TestGoldenRecord(t *testing.T) {
	const path = "testdata/record-v1.bin"
	source, err := SeedSource(20_261_130)
	require.NoError(t, err)
	s, record := playedRecord(t, source)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(path, record, 0o600))
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, golden, record)
	replayed, err := Replay(golden, &Output{})
	require.NoError(t, err)
	require.Equal(t, s.Snapshot(), replayed.Snapshot())
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

// A changed byte is found, or makes the record of another match: it never passes for the same.
func TestReplayFindsDamage(t *testing.T) {
	s, record := playedRecord(t, KeySource([32]byte{9}))
	for i := range record {
		damaged := append([]byte(nil), record...)
		damaged[i] ^= 0x15
		other, err := Replay(damaged, &Output{})
		if err == nil {
			require.NotEqual(t, s.Record(), other.Record(), "byte %d", i)
		}
	}
	for n := range record {
		_, err := Replay(record[:n], &Output{})
		require.Error(t, err, "cut to %d bytes", n)
	}
	_, err := Replay(append(append([]byte(nil), record...), 0), &Output{})
	require.ErrorIs(t, err, ErrRecordCorrupt)

	var far recorder
	far.start(s.Setup())
	far.time(maxRecordMs)
	_, err = Replay(append(far.buf, tagEnd), &Output{})
	require.NoError(t, err)
	far.buf = append(far.buf, tagDrop, seatByte(1))
	far.time(maxRecordMs + 1)
	_, err = Replay(append(far.buf, tagEnd), &Output{})
	require.ErrorIs(t, err, ErrRecordCorrupt, "time beyond what a record may hold")
	for _, other := range []string{"", "S3R", "S3R\x02", "PNG1"} {
		_, err := Replay([]byte(other), &Output{})
		require.ErrorIs(t, err, ErrRecordVersion)
	}
}

// FuzzReplay: no record breaks the reader, and whatever it takes is in the one form that records have.
func FuzzReplay(f *testing.F) {
	for _, source := range []DeckSource{KeySource([32]byte{9}), orderOf(f, namedBoards["END"], false)} {
		s := NewSession()
		if err := s.StartMatch(Setup{Rules: DefaultRules(), Players: 2, Deck: source}, &Output{}); err != nil {
			f.Fatal(err)
		}
		s.Apply(100, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}}, &Output{})
		f.Add(s.Record())
	}
	_, played := playedRecord(f, KeySource([32]byte{9}))
	f.Add(played)
	f.Fuzz(func(t *testing.T, record []byte) {
		s, err := Replay(record, &Output{})
		if err == nil {
			require.Equal(t, record, s.Record())
		}
	})
}
