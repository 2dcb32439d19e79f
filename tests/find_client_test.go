package tests

import (
	"context"
	"sync"
	"testing"

	"set3d/client"
)

// TestFindWithTheClient goes every way to a table with our own client's socket, as a game does.
func TestFindWithTheClient(t *testing.T) {
	on := shared(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	sockets := make([]*client.Socket, 2)
	for i := range sockets {
		var err error
		if sockets[i], err = on.client().OpenSocket(ctx, signIn(t, on), bothFormats[i]); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = sockets[i].Close() })
	}
	var found [2]string
	var both sync.WaitGroup
	for i, s := range sockets {
		both.Go(func() {
			if _, err := s.AddTicket(ctx, client.Ticket{Preset: "tournament", Min: 2, Max: 2}); err != nil {
				t.Errorf("ticket: %v", err)
			}
			var err error
			if found[i], err = s.AwaitMatch(ctx); err != nil {
				t.Errorf("the matchmaker: %v", err)
			}
			if _, err := s.Join(ctx, found[i], client.JoinOptions{}); err != nil {
				t.Errorf("join: %v", err)
			}
		})
	}
	both.Wait()
	if found[0] != found[1] {
		t.Fatalf("two matches: %v", found)
	}
	var mine []client.MyMatch
	var err error
	if !eventually(func() bool { // the answer to a join may come before the match has noted it
		var list client.MyMatchList
		list, err = sockets[0].MyMatches(ctx)
		mine = list.Matches
		return err != nil || len(mine) > 0
	}) || err != nil || len(mine) != 1 || mine[0].MatchID != found[0] || !mine[0].Ranked {
		t.Errorf("my matches: %+v, %v", mine, err)
	}
	quick, err := sockets[0].QuickMatch(ctx, client.QuickMatch{Preset: "tournament", Seats: 8})
	if err != nil || quick.MatchID == "" {
		t.Fatalf("quick match: %+v, %v", quick, err)
	}
	if resolved, err := sockets[1].ResolveCode(ctx, quick.Code); err != nil || resolved.MatchID != quick.MatchID {
		t.Errorf("%s leads to %+v, %v", quick.Code, resolved, err)
	}
	list, err := sockets[1].ListMatches(ctx, client.ListMatches{Preset: "tournament", Limit: 100})
	listed := false
	for _, m := range list.Matches {
		listed = listed || m.MatchID == quick.MatchID
	}
	if err != nil || !listed {
		t.Errorf("the table is not listed: %v", err)
	}
}
