package match

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// ledgerOfTold is what the players of a table were told, by claim id.
type ledgerOfTold map[uint64]bool

func (l ledgerOfTold) read(t *testing.T, frames []frame) {
	for _, update := range only[*wire.Update](t, frames) {
		for _, e := range update.Events {
			if verdict := e.GetSetClaimed(); verdict != nil {
				l[verdict.ClaimId] = verdict.Valid
			}
		}
	}
	for _, welcome := range only[*wire.Welcome](t, frames) {
		if verdict := welcome.GetLastVerdict(); verdict != nil {
			l[verdict.ClaimId] = verdict.Valid
		}
	}
}

// storedVerdicts are the verdicts in what is stored of a table now, by claim id.
func (n *fakeNakama) storedVerdicts(tableID string) map[uint64]bool {
	n.t.Helper()
	n.storage.mu.Lock()
	objects := n.storage.objects
	n.storage.mu.Unlock()
	var record []byte
	for key, o := range objects {
		var stored struct {
			ResultID string `json:"result_id"`
			Record   []byte `json:"record"`
			Table    struct {
				ID     string `json:"table_id"`
				Record []byte `json:"record"`
			} `json:"table"`
		}
		if key.collection != "set3d_tables" && key.collection != "set3d_records" {
			continue
		}
		if err := json.Unmarshal([]byte(o.Value), &stored); err != nil {
			n.t.Fatal(err)
		}
		if stored.ResultID == tableID {
			record = stored.Record
			break
		}
		if stored.Table.ID == tableID && len(stored.Table.Record) > 0 {
			record = stored.Table.Record
		}
	}
	verdicts := map[uint64]bool{}
	if record == nil {
		return verdicts
	}
	out := &domain.Output{}
	if _, err := domain.Replay(record, out); err != nil {
		n.t.Fatal(err)
	}
	for _, e := range out.Events {
		if verdict, ok := e.Event.(domain.SetClaimed); ok {
			verdicts[verdict.ClaimID] = verdict.Valid()
		}
	}
	return verdicts
}

// Under SET3D_DURABILITY=safe nothing that was told is missing in what is stored, at whatever moment the server is
// killed: while claims wait, sessions take seats over, leave and come back, the database hangs or refuses, its wait
// ends, and the server shuts down. Told unstored, because the database did not answer in time, is only what the metric
// counts.
func TestNothingToldIsMissing(t *testing.T) {
	verdicts := 0
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 11))
		settings := []string{"SET3D_DURABILITY=safe", "SET3D_SAFE_WAIT_MS=60000"}
		if seed%5 == 0 {
			settings[1] = "SET3D_SAFE_WAIT_MS=3000"
		}
		g := startSafe(newFake(t, settings...), `{"preset":"fast","rules":{"invalid_anim_ms":100}}`, "ann", "bob")
		id, told := g.m.table().setup.TableID, ledgerOfTold{}
		sessions := append([]*fakeUser(nil), g.players...)
		open := func() {}
		for step := range 60 {
			switch action := random.IntN(20); {
			case action < 10:
				g.claimSomething(random, uint64(step+1))
			case action == 10:
				open()
				open = g.n.storage.block("write", "multi")
			case action == 11:
				open()
				open = func() { g.n.storage.setFault(nil) }
				g.n.storage.setFault(func(string) error { return errNoDatabase })
			case action < 14:
				open()
				open = func() {}
			case action == 14:
				seat := random.IntN(2)
				newer := g.n.session([]string{"ann", "bob"}[seat])
				sessions = append(sessions, newer)
				if newer.join(g.m) == "" {
					g.players[seat] = newer
				}
			case action == 15:
				g.m.leave(g.players[random.IntN(2)])
			case action == 16 && step > 40:
				g.m.terminate(30)
			default:
				g.pass(time.Duration(random.IntN(2_000)) * time.Millisecond)
			}
			for _, u := range sessions {
				told.read(t, u.news())
			}
			unsafe := g.n.counter("set3d_verdicts_unsafe_total") > 0
			for claimID, valid := range told {
				if stored, there := g.n.storedVerdicts(id)[claimID]; (!there || stored != valid) && !unsafe {
					t.Fatalf("seed %d, step %d: claim %d was told as %t and is not stored", seed, step, claimID, valid)
				}
			}
			if g.m.isStopped() || !g.m.isStopped() && g.m.table().closing {
				break
			}
		}
		open()
		verdicts += len(told)
	}
	if verdicts < 500 {
		t.Errorf("only %d verdicts were told: the test sees too little", verdicts)
	}
}

// claimSomething lets a player claim a Set of the board, or three cards that are none.
func (g *game) claimSomething(random *rand.Rand, id uint64) {
	g.m.callback.Lock()
	board := g.m.table().session.Snapshot().Board
	g.m.callback.Unlock()
	cards := board.AppendCards(nil)
	sets := domain.FindAllSets(cards)
	claim := &wire.ClaimSet{ClaimId: id}
	if len(sets) > 0 && random.IntN(4) > 0 {
		set := sets[random.IntN(len(sets))]
		claim.Cards = []byte{byte(set[0].ID()), byte(set[1].ID()), byte(set[2].ID())}
	} else {
		claim.Cards = []byte{byte(cards[0].ID()), byte(cards[1].ID()), byte(cards[2].ID())}
	}
	g.players[random.IntN(2)].send(g.m, wire.OpCode_OP_CODE_CLAIM_SET, claim)
}

// An end that is not stored yet shows nowhere: not in answers, nor in the review, the lists, the label, nor as a
// rematch.
func TestUnstoredEndShowsNowhere(t *testing.T) {
	g := newSafeGame(t, endDeck, "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	ann.claim(g.m, 1, "0110 1101 2122")
	g.waitTold()
	g.read()
	open := g.n.storage.block("multi", "write")
	ann.claim(g.m, 2, "1110 0112 2111")
	bob.send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	ann.send(g.m, wire.OpCode_OP_CODE_VOTE_REMATCH, &wire.VoteRematch{Wants: true})
	bob.send(g.m, wire.OpCode_OP_CODE_VOTE_REMATCH, &wire.VoteRematch{Wants: true})
	g.m.loop()
	wantQuiet(t, "ann", ann.news())
	wantQuiet(t, "bob", bob.news())
	if _, err := ann.rpc("match_review", `{"match_id":"`+g.m.id+`"}`); err == nil {
		t.Error("the review is there")
	}
	if mine := ann.mine(t); len(mine) != 1 || mine[0].Score != 1 || mine[0].Phase != phasePlaying {
		t.Errorf("ann's tables: %+v", mine)
	}
	if l := g.m.table().label; l.Phase != phasePlaying {
		t.Errorf("label %v", l)
	}
	if g.m.table().rematch.isMaking {
		t.Error("a rematch is made")
	}
	open()
	g.waitTold()
	if got := ops(bob.news()); got[:6] != "UPDATE" {
		t.Errorf("bob was told %s", got)
	}
	if _, err := ann.rpc("match_review", `{"match_id":"`+g.m.id+`"}`); err != nil {
		t.Errorf("the review: %v", err)
	}
	g.m.loop()
	mine := ann.mine(t) // with the rematch before it
	if old := mine[len(mine)-1]; old.MatchID != g.m.id || old.Score != 2 || g.m.table().label.Phase != phaseEnded {
		t.Errorf("ann's tables: %+v, label %v", mine, g.m.table().label)
	}
}

// A match that an operator ends is told as ended when that is stored, after the verdicts before it. Until then nothing
// more is judged.
func TestStopIsStoredBeforeItIsTold(t *testing.T) {
	g := newSafeGame(t, deckRequest(""), "ann", "bob")
	ann, bob := g.players[0], g.players[1]
	open := g.n.storage.block("multi", "write")
	ann.claim(g.m, 1, setSA)
	var answer adminEndResponse
	g.n.mustAdmin("admin_end", `{"match_id":"`+g.m.id+`"}`, &answer)
	wantQuiet(t, "ann", ann.news())
	bob.claim(g.m, 2, notSet)
	bob.send(g.m, wire.OpCode_OP_CODE_PING, &wire.Ping{})
	g.m.loop()
	if got := ops(bob.news()); got != "CLAIM_RESULT ERROR" {
		t.Errorf("bob was told %s", got)
	}
	if mine := g.n.another().session("ann").mine(t); len(mine) != 1 || mine[0].Score != 0 {
		t.Errorf("after a kill ann has %+v", mine)
	}
	open()
	eventually(t, func() bool { g.m.loop(); return g.m.isStopped() })
	news := ann.news()
	if got := ops(news); got != "UPDATE UPDATE NOTICE" {
		t.Fatalf("ann was told %s", got)
	}
	last := uint64(0)
	for _, f := range news {
		revision := decode(t, f).(interface{ GetStamp() *wire.Stamp }).GetStamp().Revision
		if revision < last {
			t.Errorf("revision %d after %d", revision, last)
		}
		last = revision
	}
	if r := g.n.result(t, answer.ResultID); r == nil || r.Reason != "OPERATOR" {
		t.Errorf("result %+v", r)
	}
}

// A table that breaks tells no verdict that is not stored.
func TestBrokenTableTellsNothingUnstored(t *testing.T) {
	g := newSafeGame(t, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	open := g.n.storage.block("multi", "write")
	defer open()
	ann.claim(g.m, 1, setSA)
	g.m.callback.Lock()
	func() {
		defer g.m.table().guard(atLoop)
		panic("ordered")
	}()
	g.m.callback.Unlock()
	news := ann.news()
	for _, update := range only[*wire.Update](t, news) {
		if update.Snapshot != nil || len(update.Events) != 1 || update.Events[0].GetMatchEnded() == nil {
			t.Errorf("told %v", update)
		}
	}
	if got := ops(news); got != "UPDATE NOTICE" {
		t.Errorf("ann was told %s", got)
	}
}

// An end by an operator that a shutdown without a database overtakes is not told: the match is suspended.
func TestStopThatCannotBeStored(t *testing.T) {
	g := newSafeGame(t, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	open := g.n.storage.block("multi", "write")
	defer open()
	g.n.mustAdmin("admin_end", `{"match_id":"`+g.m.id+`"}`, nil)
	g.m.terminate(30)
	g.pass(28 * time.Second)
	news := ann.news()
	notices := only[*wire.Notice](t, news)
	if len(only[*wire.Update](t, news)) != 0 || notices[len(notices)-1].Kind != wire.NoticeKind_NOTICE_KIND_SUSPENDED {
		t.Fatalf("ann was told:\n%s", story(t, news))
	}
	if g.m.loop() {
		t.Fatal("goes on")
	}
}
