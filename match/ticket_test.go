package match

import (
	"math"
	"strings"
	"testing"

	"github.com/heroiclabs/nakama-common/rtapi"
	"google.golang.org/protobuf/proto"
)

func ticketOf(lo, hi int32, strings map[string]string, numbers map[string]float64) *rtapi.Envelope {
	return &rtapi.Envelope{Message: &rtapi.Envelope_MatchmakerAdd{MatchmakerAdd: &rtapi.MatchmakerAdd{
		MinCount: lo, MaxCount: hi, Query: "+properties.rank:>9", StringProperties: strings, NumericProperties: numbers,
	}}}
}

func TestTicketsAreMadeEven(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	for _, c := range []struct {
		min, max int32
		strings  map[string]string
		numbers  map[string]float64
		want     string // of an error, or of the query
		lo, hi   int32
	}{
		{2, 4, nil, nil, "+properties.preset:classic", 2, 4},
		{2, 2, map[string]string{"preset": "fast"}, nil, "+properties.preset:fast", 2, 2},
		{2, 8, nil, map[string]float64{"seats": 3}, "+properties.preset:classic", 3, 3},
		{0, 0, nil, map[string]float64{"seats": 8}, "+properties.preset:classic", 8, 8},
		{2, 2, map[string]string{"preset": "practice"}, nil, `"UNKNOWN_PRESET"`, 0, 0},
		{2, 2, map[string]string{"preset": "classic +x"}, nil, `"UNKNOWN_PRESET"`, 0, 0},
		{2, 2, map[string]string{"preset": strings.Repeat("x", 10_000)}, nil, `"UNKNOWN_PRESET"`, 0, 0},
		{2, 2, map[string]string{"ranked": "T"}, nil, `{"reason":"UNKNOWN_FIELD","args":{"field":"string_properties.ranked"}}`, 0, 0},
		{2, 2, nil, map[string]float64{"elo": 3000}, `{"reason":"UNKNOWN_FIELD","args":{"field":"numeric_properties.elo"}}`, 0, 0},
		{2, 2, nil, map[string]float64{"seats": 2.5}, `"OUT_OF_RANGE"`, 0, 0},
		{2, 2, nil, map[string]float64{"seats": math.NaN()}, `"OUT_OF_RANGE"`, 0, 0},
		{2, 2, nil, map[string]float64{"seats": math.Inf(1)}, `"OUT_OF_RANGE"`, 0, 0},
		{2, 9, nil, nil, `"OUT_OF_RANGE"`, 0, 0},
		{1, 2, nil, nil, `"OUT_OF_RANGE"`, 0, 0},
		{4, 2, nil, nil, `"OUT_OF_RANGE"`, 0, 0},
	} {
		out, err := n.hooks["MatchmakerAdd"](ann.ctx, ticketOf(c.min, c.max, c.strings, c.numbers))
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || c.lo != 0 || len(err.Error()) > 400 {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		want := ticketOf(c.lo, c.hi, map[string]string{"preset": strings.TrimPrefix(c.want, "+properties.preset:")}, nil)
		want.GetMatchmakerAdd().Query = c.want
		if !proto.Equal(out, want) {
			t.Errorf("%+v: %v", c, out)
		}
	}
}

// A party's ticket is held to the same.
func TestPartyTickets(t *testing.T) {
	n := newFake(t)
	add := func(preset string) (*rtapi.Envelope, error) {
		return n.hooks["PartyMatchmakerAdd"](n.session("ann").ctx, &rtapi.Envelope{Message: &rtapi.Envelope_PartyMatchmakerAdd{
			PartyMatchmakerAdd: &rtapi.PartyMatchmakerAdd{
				PartyId: "p", MinCount: 2, MaxCount: 8, Query: "*", StringProperties: map[string]string{"preset": preset},
				NumericProperties: map[string]float64{"seats": 4},
			},
		}})
	}
	out, err := add("timed")
	want := &rtapi.PartyMatchmakerAdd{
		PartyId: "p", MinCount: 4, MaxCount: 4, Query: "+properties.preset:timed", StringProperties: map[string]string{"preset": "timed"},
	}
	if err != nil || !proto.Equal(out.GetPartyMatchmakerAdd(), want) {
		t.Fatalf("%v, %v", out, err)
	}
	if _, err := add("practice"); reasonOf(err) != "UNKNOWN_PRESET" {
		t.Fatal(err)
	}
}

func TestNoRelayedMatches(t *testing.T) {
	join := func(id string) *rtapi.Envelope {
		return &rtapi.Envelope{Message: &rtapi.Envelope_MatchJoin{MatchJoin: &rtapi.MatchJoin{Id: &rtapi.MatchJoin_MatchId{MatchId: id}}}}
	}
	token := &rtapi.Envelope{Message: &rtapi.Envelope_MatchJoin{MatchJoin: &rtapi.MatchJoin{Id: &rtapi.MatchJoin_Token{Token: "x.y.z"}}}}
	create := &rtapi.Envelope{Message: &rtapi.Envelope_MatchCreate{MatchCreate: &rtapi.MatchCreate{}}}
	const uuid = "5f0a2a3c-0000-4000-8000-000000000000"
	for _, setting := range []string{"off", "on"} {
		n := newFake(t, "SET3D_RELAYED_MATCHES="+setting)
		ann := n.session("ann")
		for _, c := range []struct {
			hook    string
			in      *rtapi.Envelope
			relayed bool
		}{
			{"MatchJoin", join(uuid + "."), true}, {"MatchJoin", token, true}, {"MatchCreate", create, true},
			{"MatchJoin", join(strings.ToUpper(uuid) + "."), true}, {"MatchJoin", join(uuid + ".node1"), false},
			{"MatchJoin", join(""), false}, {"MatchJoin", join("set3d"), false}, {"MatchJoin", join("."), false},
		} {
			out, err := n.hooks[c.hook](ann.ctx, c.in)
			refused := err != nil && reasonOf(err) == "UNKNOWN_MATCH"
			if refused != (c.relayed && setting == "off") || !refused && out != c.in {
				t.Errorf("%s, relayed matches %s: %v", c.in, setting, err)
			}
		}
	}
}
