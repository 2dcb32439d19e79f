package match

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// Who blocked whom does not matter: the two are not seated together. Others are.
func TestBlockedAreApart(t *testing.T) {
	for round := range 100 {
		n := newFake(t)
		ann, bob := n.session("ann"), n.session("bob")
		n.blocked[[]string{ann.userID, bob.userID}[round%2]] = []string{[]string{bob.userID, ann.userID}[round%2]}
		var a, b quickResponse
		if round%4 < 2 {
			a, b = mustQuick(t, ann, `{"seats":3}`), mustQuick(t, bob, `{"seats":3}`)
		} else {
			var all sync.WaitGroup
			all.Go(func() { a = mustQuick(t, ann, `{"seats":3}`) })
			all.Go(func() { b = mustQuick(t, bob, `{"seats":3}`) })
			all.Wait()
		}
		if a.MatchID == b.MatchID {
			t.Fatalf("round %d: seated together", round)
		}
		if c := mustQuick(t, n.session("eve"), `{"seats":3}`); c.Created {
			t.Fatalf("eve %+v", c)
		}
	}
}

// Whoever sat down without quick_match has a block list too.
func TestBlockListOfOneWhoJoined(t *testing.T) {
	n := newFake(t)
	ann, bob := n.session("ann"), n.session("bob")
	n.blocked[ann.userID] = []string{bob.userID}
	m := ann.create(`{}`)
	ann.join(m)
	if found := mustQuick(t, bob, `{}`); found.MatchID == m.id {
		t.Fatal("bob is sent to ann, who has blocked him")
	}
	n.friendsError = errors.New("the database is away")
	n.clock.next(n.clock.now() + blocksFor)
	if found := mustQuick(t, bob, `{}`); found.MatchID == m.id || found.MatchID == "" {
		t.Fatalf("what was known of the list is forgotten when it cannot be read: %+v", found)
	}
	if found := mustQuick(t, n.session("eve"), `{"seats":3}`); found.MatchID == "" {
		t.Fatal("no table without block lists")
	}
}

// A caller who hangs up keeps nobody's list from being read.
func TestBlockListsAreReadForEverybody(t *testing.T) {
	n := newFake(t)
	n.blocked["ann"] = []string{"bob"}
	gone, cancel := context.WithCancel(n.session("bob").ctx)
	cancel()
	if _, err := n.rpcs["quick_match"](gone, n.logger, nil, n, `{}`); err != nil {
		t.Log(err) // nobody hears it
	}
	n.module.blocks.load([]string{"ann", "eve", "joe"})
	if !n.module.blocks.apart("bob", "ann") || n.module.blocks.apart("eve", "ann") {
		t.Fatal("the list was not read")
	}
}
