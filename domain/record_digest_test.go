package domain

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every field of all that a match puts out is in the digest.
func TestDigestHasEveryField(t *testing.T) {
	placement := Placement{Slots: []int{1, 2, 3}, Cards: []Card{MustCard(3), MustCard(4), MustCard(5)}}
	verdict := SetClaimed{Seat: 1, ClaimID: 1 << 60, Cards: Triple{MustCard(1), MustCard(2), MustCard(3)}, Slots: [3]int{4, 5, 6}, Mixed: 3}
	events := []Event{
		MatchStarted{Rules: DefaultRules(), Players: 3, Commitment: [32]byte{5}, Committed: true},
		CardsDealt{Cause: DealRefill, Placement: placement}, BoardRefilled{placement}, BoardExpanded{placement}, verdict,
		ScoreChanged{Seat: 2, Score: 300}, PenaltyApplied{Seat: 1, Mode: PenaltyTime, Amount: 5000, Remaining: 70},
		PlayerForfeited{Seat: 3, Cause: ForfeitIdle},
		MatchEnded{Reason: EndIdle, Winners: []int{1, 2}, Table: []FinalScore{{Seat: 1, Score: 4}, {Seat: 2, Score: 4, Forfeited: true}}},
	}
	seen := map[string]string{}
	add := func(what string, encoding []byte) {
		require.NotContains(t, seen, string(encoding), "%s is digested like %s", what, seen[string(encoding)])
		seen[string(encoding)] = what
	}
	for _, event := range events {
		name := fmt.Sprintf("%T", event)
		add(name, appendEvent(nil, TimedEvent{AtMs: 7, Event: event}))
		add(name+" later", appendEvent(nil, TimedEvent{AtMs: 300, Event: event}))
		changed := reflect.New(reflect.TypeOf(event)).Elem()
		changed.Set(reflect.ValueOf(event))
		eachChange(changed, name, func(what string) {
			add(what, appendEvent(nil, TimedEvent{AtMs: 7, Event: changed.Interface().(Event)}))
		})
	}
	answer := Answer{Seat: 1, ClaimID: 5, Refusal: Refusal{Reason: RefusedNotOnBoard, Missing: Triple{MustCard(7)}, MissingCount: 1, RetryAtMs: 90}}
	add("an answer", appendAnswer(nil, answer))
	eachChange(reflect.ValueOf(&answer).Elem(), "Answer", func(what string) { add(what, appendAnswer(nil, answer)) })
	require.Greater(t, len(seen), 100)
}

// eachChange changes every part of a value in turn, calls changed, and changes it back.
func eachChange(v reflect.Value, name string, changed func(what string)) {
	if v.Type() == reflect.TypeFor[Card]() {
		old := v.Interface().(Card)
		v.Set(reflect.ValueOf(MustCard(old.ID() + 40)))
		changed(name)
		v.Set(reflect.ValueOf(old))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			eachChange(v.Field(i), name+"."+v.Type().Field(i).Name, changed)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachChange(v.Index(i), fmt.Sprintf("%s[%d]", name, i), changed)
		}
	case reflect.Bool:
		v.SetBool(!v.Bool())
		changed(name)
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 11)
		changed(name)
		v.SetInt(v.Int() - 11)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(v.Uint() + 9)
		changed(name)
		v.SetUint(v.Uint() - 9)
	default:
		panic("no change for a " + v.Kind().String())
	}
}

// The digest costs no allocation: a refused command and a deadline's step allocate what they did without it, here nothing.
func TestRecordingDoesNotAllocate(t *testing.T) {
	s := startTestMatch(t, "SETS", 2)
	var out Output
	var cmd Command = SelectCard{Seat: -1, Slot: 2}
	s.Apply(1, cmd, &out)
	s.record.buf = append(make([]byte, 0, 1<<16), s.record.buf...)
	require.Zero(t, testing.AllocsPerRun(1000, func() { s.Apply(1, cmd, &out) }))
	events := []TimedEvent{{1, ScoreChanged{Seat: 1, Score: 2}}, {1, SetClaimed{}}}
	require.Zero(t, testing.AllocsPerRun(1000, func() { s.record.put(events, nil) }))
}
