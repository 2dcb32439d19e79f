package match

import (
	"context"
	"testing"
	"time"
)

// Nakama's listings, together, have a rate for each user; the server's own key has none.
func TestListingsHaveARate(t *testing.T) {
	n := newFake(t, "SET3D_RPC_PER_MINUTE=10")
	ann, bob := n.session("ann"), n.session("bob")
	if len(n.listings) != 5 {
		t.Fatalf("%d listings", len(n.listings))
	}
	for i := range 10 {
		if untouched, err := n.listings[i%5](ann.ctx); err != nil || !untouched {
			t.Fatalf("listing %d: %t, %v", i, untouched, err)
		}
	}
	for i, list := range n.listings {
		if _, err := list(ann.ctx); reasonOf(err) != "TOO_MANY_REQUESTS" {
			t.Errorf("listing %d: %v", i, err)
		}
		if untouched, err := list(bob.ctx); err != nil || !untouched {
			t.Errorf("another user's listing %d: %t, %v", i, untouched, err)
		}
		for range 20 {
			if untouched, err := list(context.Background()); err != nil || !untouched {
				t.Fatalf("the server's listing %d: %t, %v", i, untouched, err)
			}
		}
	}
	n.clock.next(n.clock.now() + 6*time.Second)
	if _, err := n.listings[0](ann.ctx); err != nil {
		t.Error(err)
	}
	n.module.listings = nil // so that it panics
	if _, err := n.listings[1](ann.ctx); reasonOf(err) != "INTERNAL" || n.counter("set3d_panics_total hook") != 1 {
		t.Errorf("a panic is answered %v", err)
	}
}
