package match

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/api"
	"google.golang.org/protobuf/proto"

	"set3d/domain"
	"set3d/match/archive"
	wire "set3d/proto/set3d/v1"
)

// twin is a table and everybody who has to do with it, seen before an interruption or after the resume.
type twin struct {
	*game // its players are those who are connected
	watch []*fakeUser
	names []string // users who are looked at beside them: strangers, kicked and dropped users
}

// fork is another process, on a copy of what is stored now.
func (n *fakeNakama) fork(settings ...string) *fakeNakama {
	n.t.Helper()
	n.waitStored()
	next := newFake(n.t, append(slices.Clone(settings), quickCheckpoints)...)
	n.storage.mu.Lock()
	defer n.storage.mu.Unlock()
	next.storage.mu.Lock()
	defer next.storage.mu.Unlock()
	next.storage.objects = map[fakeKey]*api.StorageObject{}
	for key, o := range n.storage.objects {
		next.storage.objects[key] = proto.Clone(o).(*api.StorageObject)
	}
	for board, scores := range n.storage.scores {
		next.storage.scores[board] = maps.Clone(scores)
	}
	next.made, next.blocked = 100, n.blocked
	next.clock.at = n.clock.now() + time.Hour
	return next
}

// resumed is the twin in another process. The error says who could not come back.
func (w *twin) resumed(n *fakeNakama) (*twin, error) {
	id, code := w.m.table().setup.TableID, w.m.table().setup.Code
	next := &twin{game: &game{n: n}, names: w.names}
	for _, u := range w.players {
		back := n.session(u.username)
		matchID, err := back.resume(id)
		if err != nil {
			return nil, fmt.Errorf("%s cannot resume: %w", u.username, err)
		}
		next.m = n.match(matchID)
		if reason := back.join(next.m); reason != "" {
			return nil, fmt.Errorf("%s cannot join: %s", u.username, reason)
		}
		next.players = append(next.players, back)
	}
	for _, u := range w.watch {
		back := n.session(u.username)
		if reason := back.joinWith(next.m, map[string]string{codeKey: code}); reason != "" {
			return nil, fmt.Errorf("%s cannot watch: %s", u.username, reason)
		}
		next.watch = append(next.watch, back)
	}
	return next, nil
}

// view is everything that anybody is told about the table and allowed at it, by what was asked. No time passes.
func (w *twin) view(t *testing.T) map[string]string {
	t.Helper()
	view := map[string]string{}
	for _, u := range slices.Concat(w.players, w.watch) {
		u.news()
		u.send(w.m, wire.OpCode_OP_CODE_REQUEST_SNAPSHOT, &wire.RequestSnapshot{})
		welcome := one[*wire.Welcome](t, u.news())
		welcome.Stamp = &wire.Stamp{ServerTimeMs: welcome.Stamp.ServerTimeMs} // revisions count anew in an incarnation
		view["WELCOME of "+u.username] = welcome.String()
		u.send(w.m, wire.OpCode_OP_CODE_REQUEST_HINT, &wire.RequestHint{Cards: 3})
		for _, f := range u.news() {
			view["hint for "+u.username] = answerTo(t, f)
		}
	}
	tb := w.m.table()
	for _, name := range w.everybody() {
		for _, code := range []string{"", tb.setup.Code} {
			metadata := map[string]string{}
			if code != "" {
				metadata[codeKey] = code
			}
			allowed, reason := w.m.attemptWith(w.n.session(name), metadata)
			view[fmt.Sprintf("join of %s, code %t", name, code != "")] = fmt.Sprint(allowed, reason)
		}
		mine := slices.DeleteFunc(w.n.session(name).mine(t), func(v mineView) bool { return v.TableID != tb.setup.TableID })
		for i := range mine {
			mine[i].MatchID = ""
		}
		view["my_matches of "+name] = string(mustJSON(mine))
		if _, sits := tb.seats.of("user-" + name); sits || !slices.Contains(w.names, name) { // spectators have to come back
			_, view["match_review of "+name] = w.n.session(name).review(t, `{"match_id":"`+w.m.id+`"}`)
		}
	}
	w.viewTable(view)
	return view
}

func (w *twin) everybody() []string {
	names := slices.Clone(w.names)
	for _, u := range slices.Concat(w.players, w.watch) {
		names = append(names, u.username)
	}
	return names
}

// answerTo is a message to one session, without its stamp.
func answerTo(t *testing.T, f frame) string {
	t.Helper()
	switch m := decode(t, f).(type) {
	case *wire.Hint:
		return fmt.Sprint("cards ", m.Cards)
	case *wire.Error:
		return m.Reason.String()
	default:
		return fmt.Sprintf("%T", m)
	}
}

// viewTable is what is said about the table itself.
func (w *twin) viewTable(view map[string]string) {
	tb := w.m.table()
	view["label"] = w.m.label
	var inspected consoleView
	w.n.mustAdmin("admin_inspect", `{"table_id":"`+tb.setup.TableID+`"}`, &inspected)
	inspected.Revision, inspected.Incarnation, inspected.RecordBytes, inspected.Unstored = 0, 0, 0, nil
	view["admin_inspect"] = string(mustJSON(inspected))
	var listed adminListResponse
	w.n.mustAdmin("admin_list", `{}`, &listed)
	for _, l := range listed.Tables {
		if l.TableID == tb.setup.TableID {
			l.MatchID = ""
			view["admin_list"] = string(mustJSON(l))
		}
	}
	tb.box.mu.Lock()
	view["test hook"] = string(tb.box.panicAt)
	tb.box.mu.Unlock()
	w.m.callback.Lock()
	defer w.m.callback.Unlock()
	before := tb.seats
	for i := range tb.seats.count {
		tb.seats.seat[i].wants = true
	}
	view["rematch"] = string(mustJSON(tb.rematchSetup()))
	tb.seats = before
}

// differences are what two views do not agree on.
func differences(before, after map[string]string) (all []string) {
	keys := slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if before[key] != after[key] {
			all = append(all, fmt.Sprintf("%s: %s", key, contrast(before[key], after[key])))
		}
	}
	return all
}

// contrast is where two texts begin to differ.
func contrast(before, after string) string {
	at := 0
	for at < min(len(before), len(after)) && before[at] == after[at] {
		at++
	}
	part := func(s string) string { return s[max(0, at-40):min(len(s), at+60)] }
	return fmt.Sprintf("before …%q, after …%q", part(before), part(after))
}

// consequences is what the result of a table says of the match that does not depend on how it went.
func (w *twin) consequences() string {
	tb := w.m.table()
	return fmt.Sprintf("ranked %t, counted %t, preset %s", tb.setup.Ranked, tb.counts(), tb.setup.rulesName())
}

// end lets everybody wait until the match is over, and returns its result without what differs between incarnations, and
// its consequences.
func (w *twin) end(t *testing.T) (full, consequences string) {
	t.Helper()
	id := w.m.table().setup.TableID
	for range 1_000 {
		if w.m.table().ended {
			break
		}
		w.pass(10 * time.Second)
	}
	r := *w.n.result(t, id)
	r.MatchID, r.Incarnation, r.RecordSHA256, r.RecordBytes = "", 0, "", 0
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), fmt.Sprintf("ranked %t, counted %t, preset %s", r.Ranked, r.Counted, r.Preset)
}

// damage changes what is stored of a table.
func (n *fakeNakama) damage(t *testing.T, tableID string, change func(*archive.Table)) {
	t.Helper()
	n.storage.mu.Lock()
	defer n.storage.mu.Unlock()
	progress := n.storage.objects[keyOf("set3d_tables", tableID, "")]
	terms := n.storage.objects[keyOf("set3d_terms", tableID, "")]
	var c archive.Table
	var stored map[string]any
	for _, err := range []error{
		json.Unmarshal([]byte(progress.Value), &stored),
		json.Unmarshal(mustJSON(stored["table"]), &c.Progress), json.Unmarshal([]byte(terms.Value), &c.Terms),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	change(&c)
	stored["table"] = c.Progress
	progress.Value, terms.Value = string(mustJSON(stored)), string(mustJSON(c.Terms))
}

// forgetField removes a field from what is stored of the table itself.
func forgetField(t *testing.T, n *fakeNakama, tableID, field string) {
	t.Helper()
	n.damage(t, tableID, func(c *archive.Table) {
		var saved map[string]json.RawMessage
		if err := json.Unmarshal(c.Setup, &saved); err != nil {
			t.Fatal(err)
		}
		delete(saved, field)
		c.Setup = mustJSON(saved)
	})
}

// takeSet lets a player claim the first Set on the board, or three cards that are none.
func (g *game) takeSet(u *fakeUser, id uint64, right bool) {
	g.n.t.Helper()
	snapshot := g.m.table().session.Snapshot()
	cards := snapshot.Board.AppendCards(nil)
	for a := range cards {
		for b := range a {
			for c := range b {
				triple := domain.Triple{cards[c], cards[b], cards[a]}
				if domain.ValidateTriple(triple).IsValid() == right {
					u.claim(g.m, id, triple[0].Code()+" "+triple[1].Code()+" "+triple[2].Code())
					return
				}
			}
		}
	}
	g.n.t.Fatal("there is none")
}
