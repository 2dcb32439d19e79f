package archive_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/match/archive"
)

// forge writes an object that a user owns, as Nakama's API lets every client do.
func (c *cluster) forge(userID, collection, key, value string) {
	c.t.Helper()
	_, err := c.nk.StorageWrite(context.Background(), []*runtime.StorageWrite{
		{Collection: collection, Key: key, UserID: userID, Value: value, PermissionRead: 2, PermissionWrite: 1},
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// forgeEverything writes, as a user, all that earlier versions believed, and the same under the names and keys of
// today.
func (c *cluster) forgeEverything(userID, resultID, tableID string) {
	stats := `{"matches":10000,"wins":9999,"sets":5,"mu":90,"sigma":0.5,"ranked_matches":500}`
	kept := fmt.Sprintf(`{"stats":%s,"seats":[%q],"recent":[{"result_id":%q,"ended_unix_ms":1}],"pages":3}`, stats, tableID, resultID)
	for _, key := range []string{"stats", userID} {
		c.forge(userID, "set3d_stats", key, stats)
		c.forge(userID, "set3d_players", key, kept)
	}
	c.forge(userID, "set3d_history", "x", fmt.Sprintf(`{"result_id":%q}`, resultID))
	c.forge(userID, "set3d_pages", userID+".000000", fmt.Sprintf(`{"results":[{"result_id":%q}]}`, resultID))
	c.forge(userID, "set3d_seats", tableID, fmt.Sprintf(`{"table_id":%q}`, tableID))
	c.forge(userID, "set3d_tables", tableID, `{"format":2,"table":{"state":"ended"}}`)
	c.forge(userID, "set3d_terms", tableID, `{"ranked":true,"counts":true}`)
	c.forge(userID, "set3d_results", resultID, `{"players":"many"}`)
	c.forge(userID, "set3d_records", "20260101."+resultID, `{}`)
	c.forge(userID, "set3d_set_aside", tableID, `{}`)
	c.forge(userID, "set3d_forget", c.users[0], fmt.Sprintf(`{"user_id":%q,"unix_ms":1}`, c.users[0]))
	c.forge(userID, "set3d_meta", "format", `{"format":99}`)
	c.forge(userID, "set3d_nodes", "n", `{"boot":"x","until_unix_ms":99999999999999}`)
}

// Objects that users own are never read as the server's.
func TestWhatUsersOwnIsNotBelieved(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	p.Put(c.newGame("before").claim(0).end().state(archive.Ended), nil)
	p.Put(c.newGame("running").claim(0).state(archive.Running), nil)
	p.waitStored()
	eve := c.user("eve")
	for _, userID := range append([]string{eve}, c.users...) {
		c.forgeEverything(userID, "before", "running")
	}
	p = c.process("n")
	if err := errors.Join(p.Upgrade(context.Background()), p.FinishUpgrade()); err != nil {
		t.Fatal(err)
	}
	if s, err := p.Stats(eve); err != nil || s.Matches != 0 || s.Rating() != 1000 {
		t.Errorf("statistics %+v, %v", s, err)
	}
	if results, next, err := p.History(eve, 10, ""); err != nil || len(results) != 0 || next != "" {
		t.Errorf("history %v, %q, %v", results, next, err)
	}
	if tables, err := p.Interrupted(eve); err != nil || len(tables) != 0 {
		t.Errorf("interrupted %v, %v", tables, err)
	}
	if _, err := p.Claim("running", eve); !errors.Is(err, archive.ErrUnknownTable) {
		t.Errorf("claim: %v", err)
	}
	if tables, err := p.Interrupted(c.users[0]); err != nil || len(tables) != 1 {
		t.Errorf("the players' own: %v, %v", tables, err)
	}
	if n, err := p.RepairLeaderboards(); err != nil || n != 2 || c.score("set3d_wins", eve) != -1 {
		t.Errorf("repair of %d, %v", n, err)
	}
	if err := p.Sweep(); err != nil {
		t.Error(err)
	}
	table, err := p.Claim("running", c.users[1])
	if err != nil {
		t.Fatal(err)
	}
	p.Put(c.goOn(table).end().state(archive.Ended), nil)
	p.waitStored()
	if n := p.Counters().SetAside; n != 0 || p.panics() != 0 {
		t.Errorf("%d set aside, %d panics", n, p.panics())
	}
	for _, userID := range c.users {
		if s, err := p.Stats(userID); err != nil || s.Matches != 2 || s.Ranked != 2 {
			t.Errorf("statistics %+v, %v", s, err)
		}
	}
	for _, collection := range []string{"set3d_stats", "set3d_history", "set3d_seats"} {
		if left := c.stored(collection, ""); len(left) != 0 {
			t.Errorf("%s has %v after a sweep", collection, left)
		}
	}
}

// A history shows only results that name the user.
func TestHistoryShowsOwnResultsOnly(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	c.settled(p, "T")
	eve := c.user("eve")
	c.write("set3d_players", eve, `{"stats":{"mu":25,"sigma":8},"recent":[{"result_id":"T","ended_unix_ms":1}]}`)
	if results, _, err := p.History(eve, 10, ""); err != nil || len(results) != 0 {
		t.Fatalf("%v, %v", results, err)
	}
}

// A user whom the console has deleted, where no hook runs, is forgotten by a sweep, in whatever page of players.
func TestSweepForgetsMissingUsers(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	for i := range 30 { // more than the newest results hold
		p.Put(c.newGame(fmt.Sprintf("T%02d", i)).claim(1).end().state(archive.Ended), nil)
	}
	p.waitStored()
	for i := range 150 {
		c.write("set3d_players", fmt.Sprintf("00000000-0000-4000-8000-%012d", i), `{"stats":{"mu":25,"sigma":8},"seats":["gone"]}`)
	}
	for _, key := range []string{"not an id", "abc", "00000000-0000-4000-8000-00000000000g", "00000000-0000-4000-8000-0000000000000"} {
		c.write("set3d_players", key, `{"stats":{"mu":25,"sigma":8},"seats":["gone"]}`)
	}
	c.deleteAccount(c.users[1])
	if err := p.Sweep(); err != nil {
		t.Fatal(err)
	}
	c.wantNothingOf(c.users[1], "player1", "swept")
	if left := fmt.Sprint(c.stored("set3d_players", "")); !strings.Contains(left, c.users[0]) || strings.Contains(left, "-000000000149") {
		t.Errorf("players %s", left)
	}
	if pages := c.stored("set3d_pages", ""); len(pages) != 1 {
		t.Errorf("pages %v", pages)
	}
	if r, err := p.Result("T07"); err != nil || !r.Players[1].Deleted {
		t.Errorf("%+v, %v", r, err)
	}
	if err := c.process("n").Sweep(); err != nil {
		t.Fatal(err)
	}
}

// A long history is paged by numbers that stay right while matches are added.
func TestLongHistory(t *testing.T) {
	c := newCluster(t, 1)
	p := c.process("n")
	const matches = 60
	end := func(i int) {
		state := c.newGame(fmt.Sprintf("T%03d", i)).claim(0).end().state(archive.Ended)
		state.SavedUnixMs = int64(1_700_000_000_000 + i)
		p.Put(state, nil)
		p.waitStored()
	}
	for i := range matches {
		end(i)
	}
	if pages := c.stored("set3d_pages", ""); len(pages) != 2 {
		t.Fatalf("pages %v", pages)
	}
	for _, limit := range []int{1, 7, 25, 26, 60, 100} {
		want, cursor := len(c.stored("set3d_results", ""))-1, ""
		for page := 0; page == 0 || cursor != ""; page++ {
			results, next, err := p.History(c.users[0], limit, cursor)
			if err != nil || len(results) == 0 {
				t.Fatalf("limit %d: %v, %v", limit, results, err)
			}
			for _, r := range results {
				if r.ResultID != fmt.Sprintf("T%03d", want) {
					t.Fatalf("limit %d: %s, want T%03d", limit, r.ResultID, want)
				}
				want--
			}
			if page == 0 && limit == 7 {
				end(matches) // between two pages
			}
			cursor = next
		}
		if want != -1 {
			t.Fatalf("limit %d: %d are missing", limit, want+1)
		}
	}
	for _, bad := range []string{"0", "-1", "x", "1.5", "99999999999999999999"} {
		if _, _, err := p.History(c.users[0], 10, bad); !archive.IsBadCursor(err) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
	c.write("set3d_pages", c.users[0]+".000001", `{"results":"none"}`)
	if results, _, err := p.History(c.users[0], 100, ""); err != nil || len(results) != matches+1-25 {
		t.Errorf("without a page: %d, %v", len(results), err)
	}
}

// Matches of the same user that end together, and begin together, all get their seats and are all in the history.
func TestSeatsOfOneUserAtManyTables(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n", func(config *archive.Config) { config.Every = 20 * time.Millisecond })
	games := map[string]*game{}
	for i := range 20 {
		id := fmt.Sprintf("T%02d", i)
		games[id] = c.newGame(id).claim(0)
		p.Put(games[id].state(archive.Running), nil)
	}
	p.waitStored()
	if n := len(c.player(c.users[0]).Seats); n != 20 {
		t.Fatalf("%d seats", n)
	}
	if tables, err := c.process("n").Interrupted(c.users[1]); err != nil || len(tables) != 20 {
		t.Fatalf("%d interrupted tables, %v", len(tables), err)
	}
	var ids []string
	for id, g := range games {
		ids = append(ids, id)
		p.Put(g.end().state(archive.Ended), nil)
	}
	p.waitStored()
	c.wantSettled(ids...)
}

// A sweep looks at so many players, and the next one goes on behind them.
func TestSweepOfPlayersGoesOnWhereItStopped(t *testing.T) {
	c := newCluster(t, 1)
	p := c.process("n")
	for i := range 1_000 {
		c.write("set3d_players", c.user(fmt.Sprintf("many%d", i)), `{"stats":{"mu":25,"sigma":8},"seats":["there"]}`)
	}
	last := "ffffffff-ffff-4fff-bfff-ffffffffffff"
	c.write("set3d_players", last, `{"stats":{"mu":25,"sigma":8},"seats":["gone"]}`)
	for sweep, want := range []bool{true, false} {
		if err := p.Sweep(); err != nil {
			t.Fatal(err)
		}
		if there := len(c.player(last).Seats) == 1; there != want {
			t.Fatalf("after sweep %d the last player is there: %t", sweep+1, there)
		}
	}
}
