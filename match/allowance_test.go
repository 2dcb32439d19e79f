package match

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
)

func TestAllowance(t *testing.T) {
	a := newAllowance(60)
	now := time.Hour
	for i := range 60 {
		if _, ok := a.take("ann", now); !ok {
			t.Fatalf("call %d is refused", i+1)
		}
	}
	if wait, ok := a.take("ann", now); ok || wait != time.Second {
		t.Fatalf("call 61: %t, wait %v", ok, wait)
	}
	if _, ok := a.take("bob", now); !ok {
		t.Fatal("another user is refused")
	}
	if wait, ok := a.take("ann", now+300*time.Millisecond); ok || wait != 700*time.Millisecond {
		t.Fatalf("wait %v", wait)
	}
	if _, ok := a.take("ann", now+time.Second); !ok {
		t.Fatal("the wait was not enough")
	}
	a.take("eve", now+2*time.Minute)
	if len(a.users) != 1 {
		t.Fatalf("%d users are remembered", len(a.users))
	}
}

// An attempt that succeeds costs nothing and leaves nothing behind.
func TestAllowanceOfAttempts(t *testing.T) {
	a := newAllowance(2)
	tried := 0
	attempt := func(succeeds bool) func() bool {
		return func() bool { tried++; return succeeds }
	}
	for range 10 {
		if _, ok := a.try("ann", time.Hour, attempt(true)); !ok || len(a.users) != 0 {
			t.Fatal("a success costs something")
		}
	}
	a.try("ann", time.Hour, attempt(false))
	a.try("ann", time.Hour, attempt(true))
	a.try("ann", time.Hour, attempt(false))
	if wait, ok := a.try("ann", time.Hour, attempt(true)); ok || wait != 30*time.Second || tried != 13 {
		t.Fatalf("after two failures: %t, wait %v, %d attempts", ok, wait, tried)
	}
}

// A user's calls are limited over all RPCs and sessions; others, and servers, are not touched.
func TestCallsAreLimited(t *testing.T) {
	n := newFake(t, "SET3D_RPC_PER_MINUTE=30")
	ids := sortedKeys(n.rpcs)
	for i := range 30 {
		if _, err := n.session("ann").rpc(ids[i%len(ids)], `{}`); reasonOf(err) == "TOO_MANY_REQUESTS" {
			t.Fatalf("call %d: %v", i+1, err)
		}
	}
	for _, id := range ids {
		answer, err := n.session("ann").rpc(id, `{}`)
		wantError(t, answer, err, `{"reason":"TOO_MANY_REQUESTS","args":{"retry_after_ms":2001}}`, 8)
		if _, err := n.session("bob").rpc(id, `{}`); reasonOf(err) == "TOO_MANY_REQUESTS" {
			t.Fatal("bob is limited")
		}
	}
	for range 100 {
		if _, err := n.rpcs["hello"](t.Context(), n.logger, nil, n, "{}"); err != nil {
			t.Fatal(err)
		}
	}
	if n.counter("set3d_rpcs_limited_total") != int64(len(ids)) || n.counter("set3d_rpcs_limited_total quick_match") != 1 {
		t.Fatalf("counters %v", n.counters)
	}
}

// A storm of joins is stopped before it reaches a match.
func TestJoinsAreLimited(t *testing.T) {
	n := newFake(t, "SET3D_RPC_PER_MINUTE=20")
	ann := n.session("ann")
	in := &rtapi.Envelope{Message: &rtapi.Envelope_MatchJoin{MatchJoin: &rtapi.MatchJoin{Id: &rtapi.MatchJoin_MatchId{MatchId: "x"}}}}
	passed := 0
	for range 50 {
		if _, err := n.hooks["MatchJoin"](ann.ctx, in); err == nil {
			passed++
		} else if !strings.Contains(err.Error(), `{"reason":"TOO_MANY_REQUESTS","args":{"retry_after_ms":3001}}`) {
			t.Fatal(err)
		}
	}
	if _, err := ann.rpc("hello", ""); passed != 20 || err != nil {
		t.Fatalf("%d joins passed, an RPC: %v", passed, err)
	}
}

// Names that were made to break things break nothing.
func TestHostileNames(t *testing.T) {
	n := newFake(t)
	for i, name := range []string{"", "\x00\x1b[31m\u202e", "\xff\xfe", strings.Repeat("é", 5_000), `"}],"x":{`} {
		u, other := n.session(fmt.Sprint("hostile", i)), n.session(fmt.Sprint("other", i))
		u.username = name
		m := u.create(`{}`)
		if reason := u.join(m); reason != "" {
			t.Fatalf("%.20q: %s", name, reason)
		}
		other.join(m)
		for _, id := range []string{"list_matches", "my_matches"} {
			if answer, err := u.rpc(id, "{}"); err != nil || !strings.Contains(answer, m.id) {
				t.Fatalf("%s of %.20q: %v", id, name, err)
			}
		}
		if !m.table().standing.started || n.counter("set3d_panics_total") != 0 {
			t.Fatalf("%.20q: started %t", name, m.table().standing.started)
		}
	}
}
