package domain

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is changed in a record is found, in its last byte too.
func TestReplayFindsDamage(t *testing.T) {
	_, humans := playedRecord(t, KeySource([32]byte{9}))
	_, order := playedRecord(t, orderOf(t, namedBoards["SETS"], true))
	for name, record := range map[string][]byte{"humans": humans, "order": order, "bots": playedWithBots(t).Record()} {
		masks := []byte{0x01, 0x15, 0x80, 0xff}
		if name == "humans" {
			masks = []byte{1, 2, 4, 8, 16, 32, 64, 128}
		}
		for i := range record {
			for _, mask := range masks {
				damaged := append([]byte(nil), record...)
				damaged[i] ^= mask
				_, err := Replay(damaged, &Output{})
				require.True(t, isRecordError(err), "%s: byte %d changed by %#x: %v", name, i, mask, err)
			}
		}
		for n := range record {
			_, err := Replay(record[:n], &Output{})
			require.True(t, isRecordError(err), "%s: cut to %d bytes: %v", name, n, err)
		}
		_, err := Replay(append(append([]byte(nil), record...), 0), &Output{})
		require.ErrorIs(t, err, ErrRecordCorrupt)
	}
	for _, other := range []string{"", "S3R", "S3R\x01", "S3R\x04", "PNG2"} {
		_, err := Replay([]byte(other), &Output{})
		require.ErrorIs(t, err, ErrRecordVersion)
	}
}

func isRecordError(err error) bool {
	for _, known := range []error{ErrRecordVersion, ErrRecordCorrupt, ErrRecordDiffers} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func TestTimeInARecordIsBounded(t *testing.T) {
	s, _ := playedRecord(t, KeySource([32]byte{9}))
	s.Advance(maxRecordMs, &Output{})
	_, err := Replay(s.Record(), &Output{})
	require.NoError(t, err)
	s.Advance(maxRecordMs+1, &Output{})
	_, err = Replay(s.Record(), &Output{})
	require.ErrorIs(t, err, ErrRecordCorrupt)
}

// A match that the rules of today would have played otherwise is found, though every byte of its record can be read: here the session
// that was recorded had a fault that the one that replays has not.
func TestReplayFindsOtherRules(t *testing.T) {
	rules := DefaultRules()
	rules.ClaimGraceMs, rules.PenaltyMode = 250, PenaltyPoint
	for name, fault := range map[string]func(*Session){
		"nothing":                  func(*Session) {},
		"a score":                  func(s *Session) { s.shared.ByPlayer[0].Score++ },
		"the deal":                 func(s *Session) { s.deck.cards[14], s.deck.cards[15] = s.deck.cards[15], s.deck.cards[14] },
		"a penalty":                func(s *Session) { s.setup.Rules.PenaltyMode = PenaltyNone },
		"a time":                   func(s *Session) { s.setup.Rules.RefillAnimMs++ },
		"a held claim's answer":    func(s *Session) { s.setup.Rules.ClaimGraceMs = 0 },
		"a refusal":                func(s *Session) { s.setup.Rules.InvalidAnimMs = 1 },
		"when a dropped seat goes": func(s *Session) { s.setup.Rules.DropHoldMs++ },
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSession()
			var out Output
			require.NoError(t, s.StartMatch(Setup{Rules: rules, Players: 3, Deck: orderOf(t, namedBoards["SETS"], true)}, &out))
			fault(s)
			s.Apply(1000, ClaimSet{Seat: 1, ID: 1, Cards: []byte{0, 1, 3}}, &out) // wrong
			require.Equal(t, name == "a refusal", applyAt(t, s, 1100, ClaimSet{Seat: 1, ID: 2, Cards: []byte{0, 1, 4}}).Outcome != Refused)
			s.Apply(2000, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}}, &out)
			s.Apply(2100, ClaimSet{Seat: 1, ID: 3, Cards: []byte{2, 1, 0}}, &out) // held, in vain
			s.Apply(6000, Drop{Seat: 2}, &out)
			s.Advance(200_000, &out)
			_, err := Replay(s.Record(), &Output{})
			if name == "nothing" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, ErrRecordDiffers)
			}
		})
	}
}

// Taking a record changes nothing, however often.
func TestTakingARecordChangesNothing(t *testing.T) {
	play := func(take bool) []byte {
		s := startTestMatch(t, "SETS", 2)
		for i := range 200 {
			if take {
				record := s.Record()
				require.Equal(t, record, s.Record())
				_, err := Replay(record, &Output{})
				require.NoError(t, err)
			}
			s.Apply(int64(40*i), ClaimSet{Seat: i % 2, ID: uint64(i), Cards: []byte{byte(i % 81), byte(i / 3), byte(i / 2)}}, &Output{})
		}
		return s.Record()
	}
	require.Equal(t, play(false), play(true))
}

// Commands that change nothing do not fill the memory, whichever way they change nothing, and the record without them gives the same match.
func TestRecordIsBounded(t *testing.T) {
	rules := DefaultRules()
	rules.ClaimGraceMs = 250
	s := NewSession()
	require.NoError(t, s.StartMatch(Setup{Rules: rules, Players: 2, Deck: orderOf(t, namedBoards["SETS"], true)}, &Output{}))
	var want Output
	flood := func(s *Session, out *Output, from, n int) {
		for i := from; i < from+n; i++ {
			at := s.NowMs() + int64(i%7)
			switch i % 4 {
			case 0:
				s.Apply(at, ClaimSet{Seat: 1, ID: uint64(i), Cards: []byte{80, 79, 78, 77, 1, 2, 3}}, out) // malformed
			case 1:
				s.Apply(at, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}}, out) // judged before
			case 2:
				s.Apply(at, Return{Seat: 1}, out)
			case 3:
				s.Apply(at, SelectCard{Seat: -7, Slot: 3}, out)
			}
		}
	}
	s.Apply(10, ClaimSet{Seat: 0, ID: 1, Cards: []byte{0, 1, 2}}, &Output{})
	s.Advance(10_000, &Output{})
	before := len(s.Record())
	flood(s, &want, 0, 5000)
	require.Greater(t, len(s.Record()), before+40_000, "the first ones are kept")
	flood(s, &want, 5000, 100_000)
	record := s.Record()
	require.InDelta(t, before+maxIdleBytes, len(record), 20)
	require.Empty(t, want.Events)

	replayed, err := Replay(record, &Output{})
	require.NoError(t, err)
	require.Equal(t, s.Snapshot(), replayed.Snapshot())
	require.Equal(t, s.NowMs(), replayed.NowMs())
	for _, s := range []*Session{s, replayed} {
		flood(s, &Output{}, 0, 100)
		require.Equal(t, Applied, s.Apply(s.NowMs(), ClaimSet{Seat: 1, ID: 7, Cards: []byte{3, 4, 5}}, &Output{}).Outcome)
		require.Equal(t, Held, s.Apply(s.NowMs(), ClaimSet{Seat: 0, ID: 8, Cards: []byte{6, 7, 8}}, &Output{}).Outcome)
		flood(s, &Output{}, 100, 1000)
	}
	require.Equal(t, 2, s.Snapshot().ByPlayer[0].Score, "the held claim was judged")
	require.Greater(t, len(s.Record()), len(record)+30, "what changes the match is always kept")
	require.Less(t, len(s.Record()), len(record)+40)
	require.Equal(t, s.Record(), replayed.Record())
	again, err := Replay(s.Record(), &Output{})
	require.NoError(t, err)
	require.Equal(t, s.Snapshot(), again.Snapshot())
}
