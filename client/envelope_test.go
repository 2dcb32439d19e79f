package client

import (
	"testing"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// TestScanMatchDataReadsWhatProtobufDoes compares with the generated code, on whole envelopes and on ones that were cut or changed.
func TestScanMatchDataReadsWhatProtobufDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := &rtapi.MatchData{
			MatchId: rapid.StringN(1, 60, -1).Draw(t, "match id"), OpCode: rapid.Int64().Draw(t, "op"),
			Data: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "data"), Reliable: rapid.Bool().Draw(t, "reliable"),
		}
		if rapid.Bool().Draw(t, "with presence") {
			sent.Presence = &rtapi.UserPresence{UserId: "u", SessionId: rapid.String().Draw(t, "session")}
		}
		raw, err := proto.Marshal(&rtapi.Envelope{Message: &rtapi.Envelope_MatchData{MatchData: sent}})
		require.NoError(t, err)
		data, ok := scanMatchData(raw)
		require.True(t, ok)
		require.Equal(t, sent.GetMatchId(), string(data.matchID))
		require.Equal(t, sent.GetOpCode(), data.op)
		require.Equal(t, sent.GetData(), append([]byte{}, data.payload...))

		raw = raw[:rapid.IntRange(0, len(raw)).Draw(t, "cut")]
		if len(raw) > 0 {
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "where")] = rapid.Byte().Draw(t, "byte")
		}
		if data, ok := scanMatchData(raw); ok {
			var envelope rtapi.Envelope
			if proto.Unmarshal(raw, &envelope) == nil {
				require.Equal(t, envelope.GetMatchData().GetMatchId(), string(data.matchID))
				require.Equal(t, envelope.GetMatchData().GetOpCode(), data.op)
			}
		}
	})
}

func TestScanMatchDataLeavesTheRest(t *testing.T) {
	withCid := &rtapi.Envelope{Cid: "1", Message: &rtapi.Envelope_MatchData{MatchData: &rtapi.MatchData{MatchId: "m"}}}
	for _, envelope := range []*rtapi.Envelope{
		{}, withCid, {Cid: "2", Message: &rtapi.Envelope_Match{Match: &rtapi.Match{MatchId: "m"}}},
		{Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}}, {Message: &rtapi.Envelope_MatchPresenceEvent{MatchPresenceEvent: &rtapi.MatchPresenceEvent{MatchId: "m"}}},
		{Message: &rtapi.Envelope_MatchData{MatchData: &rtapi.MatchData{}}},
	} {
		raw, err := proto.Marshal(envelope)
		require.NoError(t, err)
		_, ok := scanMatchData(raw)
		require.False(t, ok, "%v", envelope)
	}
	// A cid that follows the data, which no server of Google's library writes, and data that ends before it should.
	raw, err := proto.Marshal(&rtapi.Envelope{Message: &rtapi.Envelope_MatchData{MatchData: &rtapi.MatchData{MatchId: "m", OpCode: 7}}})
	require.NoError(t, err)
	for _, wrong := range [][]byte{append(raw[:len(raw):len(raw)], 10, 1, '5'), raw[:len(raw)-1]} {
		_, ok := scanMatchData(wrong)
		require.False(t, ok, "%x", wrong)
	}
}
