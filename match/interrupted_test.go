package match

import (
	"strings"
	"testing"
	"time"
)

// An operator sees the matches that wait for their players after a crash, until they come back, and why they cannot.
func TestAdminInterrupted(t *testing.T) {
	g := quickGame(t, deckRequest(""), "ann", "bob")
	g.players[1].claim(g.m, 1, setSA)
	g.n.waitStored()
	list := func(n *fakeNakama) (answer adminInterruptedResponse) {
		t.Helper()
		n.mustAdmin("admin_interrupted", `{}`, &answer)
		return answer
	}
	if alive := list(g.n); len(alive.Tables) != 0 {
		t.Fatalf("a live match is listed: %+v", alive)
	}
	n, id := g.crash()
	got := list(n)
	if len(got.Tables) != 1 || got.Cursor != "" {
		t.Fatalf("listed %+v", got)
	}
	w := got.Tables[0]
	if w.TableID != id || w.Phase != phaseInterrupted || w.Code != g.m.table().setup.Code || w.Incarnation != 0 || w.Error != "" ||
		w.AbandonedUnixMs-w.SavedUnixMs != time.Hour.Milliseconds() || len(w.Players) != 2 || w.Players[1] != (adminSeat{Seat: 1, UserID: "user-bob", Score: 1}) {
		t.Fatalf("listed as %+v", w)
	}
	n.comeBack(id, "ann")
	if back := list(n); len(back.Tables) != 0 {
		t.Fatalf("still listed: %+v", back)
	}
	for payload, reason := range map[string]string{`{"cursor":"zz"}`: "OUT_OF_RANGE", `{"limit":3}`: "UNKNOWN_FIELD"} {
		if _, err := n.admin("admin_interrupted", payload); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", payload, err)
		}
	}
	if _, err := n.session("ann").rpc("admin_interrupted", `{}`); err == nil || !strings.Contains(err.Error(), "OPERATOR_ONLY") {
		t.Errorf("a user may list: %v", err)
	}
}

// A checkpoint that cannot be read is listed with the reason.
func TestAdminInterruptedUnreadable(t *testing.T) {
	n, id := quickGame(t, deckRequest(""), "ann", "bob").crash()
	n.storage.mu.Lock()
	stored := n.storage.objects[keyOf("set3d_tables", id, "")]
	stored.Value = strings.Replace(stored.Value, `"record":"`, `"record":"AAAA`, 1)
	n.storage.mu.Unlock()
	var got adminInterruptedResponse
	n.mustAdmin("admin_interrupted", `{}`, &got)
	if len(got.Tables) != 1 || got.Tables[0].TableID != id || got.Tables[0].Error == "" || len(got.Tables[0].Players) != 2 {
		t.Fatalf("listed %+v", got)
	}
}
