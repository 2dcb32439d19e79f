package match

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"

	wire "set3d/proto/set3d/v1"
)

// Nakama accepts several spellings of a match id; each reaches the mailbox.
func TestSpellingsOfTheMatchID(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	id, node, _ := strings.Cut(g.m.id, ".")
	plain := strings.ReplaceAll(id, "-", "")
	ann := g.players[0]
	for _, spelling := range []string{
		id, strings.ToUpper(id), plain, "{" + id + "}", "{" + plain + "}", "urn:uuid:" + id, "urn:uuid:" + plain,
	} {
		in := &rtapi.Envelope{Message: &rtapi.Envelope_MatchDataSend{MatchDataSend: &rtapi.MatchDataSend{
			MatchId: spelling + "." + node, OpCode: opPing, Data: []byte{8, 5},
		}}}
		out, err := g.n.hook(ann.ctx, in)
		if err != nil || out.GetMatchDataSend().GetMatchId() != nowhere || len(out.GetMatchDataSend().Data) != 0 {
			t.Fatalf("%s: consumed as %v, %v", spelling, out, err)
		}
		g.m.settle()
		if p := one[*wire.Pong](t, ann.news()); p.ClientTimeMs != 5 {
			t.Fatalf("%s: %v", spelling, p)
		}
	}
}

func TestParseMatchID(t *testing.T) {
	const id = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	for _, bad := range []string{
		"", ".", id, id + ".", "." + id, "x" + id[1:] + ".n", id[:35] + ".n", id + "0.n", "{" + id + ".n", "(" + id + ").n",
		"urn:uuid;" + id + ".n", "6ba7b8109-dad-11d1-80b4-00c04fd430c8.n", "6ba7b810-9dad-11d1-80b4-00c04fd430cg.n",
		"6ba7b810+9dad-11d1-80b4-00c04fd430c8.n", "URN:UUID:" + id + ".n", strings.Repeat("-", 36) + ".n",
	} {
		if _, ok := parseMatchID(bad); ok {
			t.Errorf("%q is no match id of ours", bad)
		}
	}
	key, ok := parseMatchID(id + ".node.with.dots")
	if !ok || key.node != "node.with.dots" || key.uuid[0] != 0x6b || key.uuid[15] != 0xc8 {
		t.Fatalf("%v, %t", key, ok)
	}
}

// Messages that are not for a table of ours pass untouched.
func TestOthersPassUntouched(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	for _, id := range []string{"6ba7b810-9dad-11d1-80b4-00c04fd430c8.", "6ba7b810-9dad-11d1-80b4-00c04fd430c8.node1", "nonsense", ""} {
		in := &rtapi.Envelope{Message: &rtapi.Envelope_MatchDataSend{MatchDataSend: &rtapi.MatchDataSend{MatchId: id, OpCode: 1, Data: []byte("data")}}}
		out, err := g.n.hook(g.players[0].ctx, in)
		if err != nil || out != in || out.GetMatchDataSend().MatchId != id || string(out.GetMatchDataSend().Data) != "data" {
			t.Errorf("%q came out as %v, %v", id, out, err)
		}
	}
	odd := &rtapi.Envelope{Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}}
	if out, err := g.n.hook(g.players[0].ctx, odd); out != odd || err != nil {
		t.Errorf("a ping came out as %v, %v", out, err)
	}
}

// Who is not in the match is told so, costs the match nothing, and is cut off when it goes on.
func TestStrangersAreTurnedAway(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	eve := g.n.session("eve")
	signals := g.n.signals
	eve.claim(g.m, 1, setSA)
	wantRefused(t, eve.news(), wire.Reason_REASON_NOT_IN_MATCH)
	eve.put(g.m, opPing, nil)
	if e := one[*wire.Error](t, eve.news()); e.Reason != wire.Reason_REASON_NOT_IN_MATCH || e.OpCode != opPing {
		t.Fatalf("answered %v", e)
	}
	for i := range 500 {
		eve.put(g.m, opClaimSet, marshal(t, claimOf(uint64(i), setSA)))
	}
	if g.n.disconnected[eve.sessionID] != 1 {
		t.Fatal("eve is to be cut off, once")
	}
	if g.n.signals != signals {
		t.Fatalf("strangers caused %d signals", g.n.signals-signals)
	}
	wantQuiet(t, "ann", g.players[0].news())
	g.players[0].claim(g.m, 1, setSA)
	if !verdict(t, g.players[0].news()).Valid {
		t.Fatal("the honest claim was lost")
	}
}

// A session may send 20 messages a second with bursts of 10, and is told when it goes beyond; it is cut off only long after.
func TestRateLimit(t *testing.T) {
	for _, lane := range []string{"on", "off"} {
		g := startGame(newFake(t, "SET3D_FAST_LANE="+lane), deckRequest(""), "ann", "bob")
		ann := g.players[0]
		for i := range 15 {
			ann.put(g.m, opClaimSet, marshal(t, claimOf(uint64(i+1), "0000 1010 2020")))
		}
		g.m.settle()
		g.m.loop()
		limited := 0
		for _, r := range only[*wire.ClaimResult](t, ann.news()) {
			if r.GetRefused().Reason == wire.Reason_REASON_RATE_LIMITED {
				limited++
				if r.ClaimId <= 10 {
					t.Errorf("lane %s: claim %d of a burst of 10 was limited", lane, r.ClaimId)
				}
			}
		}
		if limited != 5 {
			t.Fatalf("lane %s: %d of 15 were limited", lane, limited)
		}
		g.pass(100 * time.Millisecond) // two tokens
		for i := range 3 {
			ann.sendRaw(g.m, opPing, []byte{8, byte(i)})
		}
		frames := ann.news()
		if pongs := only[*wire.Pong](t, frames); len(pongs) != 2 {
			t.Fatalf("lane %s: %d pongs after 100 ms", lane, len(pongs))
		}
		if e := one[*wire.Error](t, frames); e.Reason != wire.Reason_REASON_RATE_LIMITED {
			t.Fatalf("lane %s: %v", lane, e)
		}
		if g.n.disconnected[ann.sessionID] != 0 {
			t.Fatalf("lane %s: cut off for six messages too many", lane)
		}
		for range 200 {
			ann.put(g.m, opPing, nil)
		}
		g.m.loop()
		if g.n.disconnected[ann.sessionID] != 1 || g.n.disconnected[g.players[1].sessionID] != 0 {
			t.Fatalf("lane %s: disconnected %v", lane, g.n.disconnected)
		}
	}
}

func TestLimiterForgets(t *testing.T) {
	l := newLimiter(rate{perSecond: 20, burst: 10})
	for i := range 10_000 {
		l.take(fmt.Sprint("session", i), time.Duration(i)*time.Millisecond)
	}
	now := 10*time.Second + sweepEvery
	for i := range 1_000 { // every shard is touched
		l.take(fmt.Sprint("late", i), now)
	}
	left := 0
	for i := range l.shards {
		left += len(l.shards[i].sessions)
	}
	if left != 1_000 {
		t.Fatalf("%d sessions are remembered", left)
	}
}

// What comes before MatchJoin is parked and judged right after it, behind the WELCOME.
func TestParkedMessages(t *testing.T) {
	n := newFake(t, "SET3D_RATE_BURST=100")
	ann, bob := n.session("ann"), n.session("bob")
	m := ann.create(deckRequest(""))
	ann.join(m)
	if ok, _ := m.attempt(bob); !ok {
		t.Fatal("refused")
	}
	bob.put(m, opClaimSet, marshal(t, claimOf(1, setSA)))
	for i := range 20 {
		bob.put(m, opPing, []byte{8, byte(i)})
	}
	early := bob.news()
	if busy := only[*wire.Error](t, early); len(busy) != 5 || len(early) != 5 || busy[0].Reason != wire.Reason_REASON_BUSY {
		t.Fatalf("before MatchJoin:\n%s", story(t, early))
	}
	m.loop()
	wantQuiet(t, "bob", bob.news())
	m.join(bob)
	frames := bob.news()
	if _, ok := decode(t, frames[0]).(*wire.Welcome); !ok {
		t.Fatalf("the first frame is no WELCOME:\n%s", story(t, frames))
	}
	if v := verdict(t, frames); !v.Valid || v.Seat != 1 {
		t.Fatalf("verdict %v", v)
	}
	if pongs := only[*wire.Pong](t, frames); len(pongs) != 15 {
		t.Fatalf("%d pongs", len(pongs))
	}
}

// A session that was let in and never arrived: what it sent is answered in the end.
func TestParkedAndNeverArrived(t *testing.T) {
	n := newFake(t, "SET3D_EMPTY_TABLE_MS=600000")
	ann := n.session("ann")
	m := ann.create(`{}`)
	m.attempt(ann)
	ann.put(m, opClaimSet, marshal(t, claimOf(1, setSA)))
	m.pass(arrivalLimit)
	wantRefused(t, ann.news(), wire.Reason_REASON_NOT_IN_MATCH)
	m.attempt(ann)
	ann.put(m, opClaimSet, marshal(t, claimOf(2, setSA)))
	m.stop()
	eventually(t, func() bool { return ann.count() == 2 })
	wantRefused(t, ann.news(), wire.Reason_REASON_TABLE_CLOSED)
}

// Nakama stops a match without a callback: what is in the mailbox is answered, the match forgotten, the timer stopped.
func TestMatchIsStoppedFromOutside(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	ann := g.players[0]
	g.m.callback.Lock()
	ann.put(g.m, opClaimSet, marshal(t, claimOf(1, setSA)))
	g.m.stop()
	g.m.callback.Unlock()
	box := g.m.table().box
	eventually(t, func() bool { return box.module.tables.find(box.key) == nil })
	wantRefused(t, ann.news(), wire.Reason_REASON_TABLE_CLOSED)
	if n := g.n.clock.pendingAlarms(); n != 0 {
		t.Fatalf("%d alarms are set", n)
	}
	if n := box.module.tables.population(); n != 0 {
		t.Fatalf("%d entries are left in the registry", n)
	}
}

// A message in MatchLoop although the hook is there: handled, counted, and warned about once.
func TestMessagesPastTheHook(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	for i := range 3 {
		g.m.queue(g.players[0], opPing, []byte{8, byte(i)})
		g.m.loop()
	}
	if pongs := only[*wire.Pong](t, g.players[0].news()); len(pongs) != 3 {
		t.Fatalf("%d pongs", len(pongs))
	}
	warnings := 0
	for _, line := range g.n.logger.lines {
		if strings.Contains(line, "came past the hook") {
			warnings++
		}
	}
	if warnings != 1 || g.n.counter("set3d_messages_past_hook_total") != 3 {
		t.Fatalf("%d warnings, counted %d", warnings, g.n.counter("set3d_messages_past_hook_total"))
	}
}

// Nothing but the bell's own signal means anything.
func TestForeignSignals(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	before := g.revision()
	for _, data := range []string{"", "wake", `{"cmd":"close"}`, strings.Repeat("x", 10_000)} {
		if answer := g.m.signal(data); answer != "unknown" {
			t.Errorf("%q answered %q", shorten(data), answer)
		}
	}
	if g.revision() != before || g.m.isStopped() {
		t.Fatal("a foreign signal changed something")
	}
	wantQuiet(t, "ann", g.players[0].news())
}
