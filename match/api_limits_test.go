package match

import (
	"context"
	"testing"
	"time"
)

// Calls of Nakama's API that it logs have a rate for each user, all together; the server's own key has none.
func TestAPICallsHaveARate(t *testing.T) {
	n := newFake(t, "SET3D_RPC_PER_MINUTE=10")
	ann, bob := n.session("ann"), n.session("bob")
	if len(n.apiCalls) != 6 {
		t.Fatalf("%d calls", len(n.apiCalls))
	}
	for i := range 10 {
		if untouched, err := n.apiCalls[i%6](ann.ctx); err != nil || !untouched {
			t.Fatalf("call %d: %t, %v", i, untouched, err)
		}
	}
	for i, list := range n.apiCalls {
		if _, err := list(ann.ctx); reasonOf(err) != "TOO_MANY_REQUESTS" {
			t.Errorf("call %d: %v", i, err)
		}
		if untouched, err := list(bob.ctx); err != nil || !untouched {
			t.Errorf("another user's call %d: %t, %v", i, untouched, err)
		}
		for range 20 {
			if untouched, err := list(context.Background()); err != nil || !untouched {
				t.Fatalf("the server's call %d: %t, %v", i, untouched, err)
			}
		}
	}
	n.clock.next(n.clock.now() + 6*time.Second)
	if _, err := n.apiCalls[0](ann.ctx); err != nil {
		t.Error(err)
	}
	n.module.apiCalls = nil // so that it panics
	if _, err := n.apiCalls[1](ann.ctx); reasonOf(err) != "INTERNAL" || n.counter("set3d_panics_total hook") != 1 {
		t.Errorf("a panic is answered %v", err)
	}
}
