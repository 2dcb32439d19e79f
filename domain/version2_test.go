package domain

import (
	"bufio"
	"encoding/hex"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// playedRecords are records that were made, by the simulation and by stories, with the last program that wrote version 2:
// of matches that the rules of today play otherwise.
func playedRecords(t *testing.T) [][]byte {
	file, err := os.Open("testdata/records/played.v2.hex")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	var records [][]byte
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		record, err := hex.DecodeString(lines.Text())
		require.NoError(t, err)
		records = append(records, record)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, records)
	return records
}

// A match whose record is of version 2 is replayed by the rules that it was played by, to the same bytes.
func TestVersion2IsReplayedAsItWasPlayed(t *testing.T) {
	for i, record := range playedRecords(t) {
		var then, today heard
		s, err := ReplayCommands(record, &then.out, then.hear)
		require.NoError(t, err, "record %d", i)
		require.EqualValues(t, recordVersion2, s.Record()[len(recordMagic)])
		asNew := append([]byte(nil), record...)
		asNew[len(recordMagic)] = recordVersion
		_, err = replay(asNew, &today.out, today.hear)
		require.NoError(t, err, "record %d", i)
		require.NotEqual(t, then, today, "record %d: the rules of today play it no otherwise", i)
	}
}

// heard is all that comes out of a replay.
type heard struct {
	out     Output
	results []Result
}

func (h *heard) hear(_ int64, _ Command, result Result) { h.results = append(h.results, result) }

// A match that is resumed from a record of version 2, at whatever command, goes on by the old rules, and its record
// keeps the version.
func TestVersion2GoesOnAsItBegan(t *testing.T) {
	for i, record := range playedRecords(t) {
		for at := range commandsOf(t, record) {
			var want, got Output
			early, err := Replay(recordUntil(t, record, at), &got)
			require.NoError(t, err, "record %d, command %d", i, at)
			goOn(t, early, record, at, &got)
			_, err = Replay(record, &want)
			require.NoError(t, err)
			require.Equal(t, describe(want), describe(got), "record %d, command %d", i, at)
			require.Equal(t, record, early.Record(), "record %d, command %d", i, at)
		}
	}
}

// recordUntil is the record that would have been taken before a command.
func recordUntil(t *testing.T, record []byte, at int) []byte {
	s, entries := openRecord(t, record, &Output{})
	for range at {
		nowMs, cmd, ok := entries.entry()
		require.True(t, ok)
		s.Apply(nowMs, cmd, &Output{})
	}
	return s.Record()
}

// goOn gives a session the commands of a record from one on, and its end.
func goOn(t *testing.T, s *Session, record []byte, from int, out *Output) {
	_, entries := openRecord(t, record, &Output{})
	for i := 0; ; i++ {
		nowMs, cmd, ok := entries.entry()
		require.True(t, ok)
		if cmd == nil {
			s.Advance(nowMs, out)
			return
		}
		if i >= from {
			s.Apply(nowMs, cmd, out)
		}
	}
}

func commandsOf(t *testing.T, record []byte) int {
	n := 0
	_, err := ReplayCommands(record, &Output{}, func(int64, Command, Result) { n++ })
	require.NoError(t, err)
	return n
}

// openRecord starts a session by a record, and reads its commands.
func openRecord(t *testing.T, record []byte, out *Output) (*Session, recordReader) {
	s, r := &Session{version: record[len(recordMagic)]}, recordReader{rest: record[len(recordMagic)+1:]}
	setup, err := r.setup()
	require.NoError(t, err)
	require.NoError(t, s.StartMatch(setup, out))
	return s, r
}
