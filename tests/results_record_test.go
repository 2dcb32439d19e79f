package tests

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"set3d/client"
	"set3d/domain"
)

// TestRecord: the record replays, to what was seen, and by the key to which the server had committed itself; a changed byte is found.
func TestRecord(t *testing.T) {
	t.Parallel()
	on := shared(t)
	a, b := connect(t, on, asProtobuf), connect(t, on, asJSON)
	x := create(t, on, client.CreateMatch{Rules: unlocked(nil)}, a, b)
	x.seat(a)
	x.seat(b)
	commitment := hex.EncodeToString(a.start().GetCommitment())
	b.start()
	a.takesASet()
	b.errs()
	b.takesASet()
	a.takesASet()
	b, w := b.again()
	if hex.EncodeToString(w.GetCommitment()) != commitment {
		t.Fatalf("a WELCOME with the commitment %x, the match began with %s", w.GetCommitment(), commitment)
	}
	b.forfeit()
	id := x.end(a)
	want := result(t, on, a.user, id)
	got, err := on.client().GetRecord(t.Context(), a.user, id)
	if err != nil || got.ResultID != id || fmt.Sprint(got.Result.RecordSHA256) != want.RecordSHA256 {
		t.Fatalf("get_record: %+v, %v", got, err)
	}
	if sum := sha256.Sum256(got.Record); hex.EncodeToString(sum[:]) != want.RecordSHA256 || len(got.Record) != want.RecordBytes {
		t.Errorf("%d bytes with the hash %x, the result says %d with %s", len(got.Record), sum, want.RecordBytes, want.RecordSHA256)
	}
	sum, err := domain.Summarize(got.Record)
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	key, _ := hex.DecodeString(want.Key)
	bound := sha256.Sum256(key)
	if hex.EncodeToString(bound[:]) != commitment || hex.EncodeToString(sum.Commitment[:]) != commitment || want.Commitment != commitment ||
		!slices.Equal(key, a.ended().GetKey()) {
		t.Errorf("committed to %s; the key %s binds to %x, the record to %x, the result says %s", commitment, want.Key, bound, sum.Commitment, want.Commitment)
	}
	for seat, s := range sum.Seats {
		if p := want.Players[seat]; p.Score != s.Score || p.Claims != s.Claims || p.Wrong != s.Wrong || p.Forfeited != s.Forfeited ||
			uint32(s.Score) != a.ended().GetTable()[seat].GetScore() {
			t.Errorf("seat %d: the record gives %+v, the result has %+v, the end {%v}", seat, s, p, a.ended().GetTable()[seat])
		}
	}
	for _, at := range []int{4, len(got.Record) / 2, len(got.Record) - 1} {
		forged := slices.Clone(got.Record)
		forged[at] ^= 1
		if _, err := domain.Replay(forged, &domain.Output{}); err == nil {
			t.Errorf("byte %d is changed, and nobody notices", at)
		}
	}
	if _, err := on.client().GetRecord(t.Context(), signIn(t, on), id); client.ReasonOf(err) != "UNKNOWN_RESULT" {
		t.Errorf("a stranger is answered %v", err)
	}
}
