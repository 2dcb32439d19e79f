package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"set3d/match/archive"
)

// A mark that cannot be read stops neither deletions nor settlements.
func TestDamagedMark(t *testing.T) {
	c := newCluster(t, 3)
	p := c.process("n")
	c.settled(p, "T")
	c.write("set3d_set_aside", "X", `{"table_id":7}`)
	if err := p.Forget(c.users[0]); err != nil {
		t.Errorf("forget: %v", err)
	}
	c.deleteAccount(c.users[1])
	if err := p.Sweep(); err != nil {
		t.Errorf("sweep: %v", err)
	}
	c.wantNothingOf(c.users[1], "player1", "swept")
	c.settled(p, "U") // with a player who is gone
	if aside, err := p.SetAside(); err != nil || len(aside) != 1 || aside[0].ID != "X" || aside[0].Reason == "" {
		t.Errorf("%+v, %v", aside, err)
	}
}

// Keys and ids that are no user's stop nobody else: Nakama refuses a whole request for them.
func TestIDsThatAreNoUsers(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	c.settled(p, "T")
	c.write("set3d_players", "abc", `{"stats":{"mu":25,"sigma":8}}`)
	c.write("set3d_results", "R", `{"result_id":"R","players":[{"seat":0,"user_id":"abc"}]}`)
	c.write("set3d_results", "S", fmt.Sprintf(`{"result_id":"S","players":[{"seat":0,"user_id":%q}]}`, strings.Repeat("x", 200)))
	c.remove("set3d_meta", "format")
	for _, userID := range c.users {
		if err := c.nk.LeaderboardRecordDelete(context.Background(), "set3d_wins", userID); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(p.Upgrade(context.Background()), p.FinishUpgrade()); err != nil {
		t.Fatal(err)
	}
	if c.score("set3d_wins", c.users[0]) < 0 || c.score("set3d_wins", c.users[1]) < 0 {
		t.Error("the repair stopped")
	}
	state := c.newGame("U").claim(0).end().state(archive.Ended)
	state.Seats[0].UserID = "abc"
	p.Put(state, nil)
	p.waitStored()
	if r, err := p.Result("U"); err != nil || !r.Players[0].Deleted {
		t.Errorf("%+v, %v", r, err)
	}
	c.write("set3d_forget", "0", `{"user_id":"abc","unix_ms":1}`)
	c.write("set3d_forget", c.users[0], fmt.Sprintf(`{"user_id":%q,"unix_ms":1}`, c.users[0]))
	c.deleteAccount(c.users[0])
	if err := p.Sweep(); err != nil || fmt.Sprint(c.stored("set3d_forget", "")) != "[0]" {
		t.Errorf("%v left, %v", c.stored("set3d_forget", ""), err)
	}
}

// An object under another key than its own is not believed: a copy of a result would count twice.
func TestCopiedResult(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	c.settled(p, "T")
	var raw json.RawMessage
	c.read("set3d_results", "T", &raw)
	c.write("set3d_results", "copy", string(raw))
	c.remove("set3d_meta", "format")
	if err := p.Upgrade(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.remove("set3d_results", "copy")
	c.wantSettled("T")
}

// Results whose numbers cannot be are shown to nobody, and crash nobody.
func TestDamagedResults(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	seats := fmt.Sprintf(`{"seat":0,"user_id":%q},{"seat":1}`, c.users[0])
	for name, rest := range map[string]string{
		"winners": `"winners":[2],"players":[` + seats + `]`, "many winners": `"winners":[0,1,0],"players":[` + seats + `]`,
		"negative winner": `"winners":[-1],"players":[` + seats + `]`, "wrong": fmt.Sprintf(`"players":[{"seat":0,"user_id":%q,"wrong":1}]`, c.users[0]),
		"nine": `"players":[` + strings.Repeat(`{},`, 8) + `{}]`, "late": `"ended_unix_ms":9000000000000000,"players":[` + seats + `]`,
		"text": fmt.Sprintf(`"reason":%q,"players":[%s]`, strings.Repeat("x", 2_000), seats),
	} {
		c.write("set3d_results", "T", `{"result_id":"T",`+rest+`}`)
		if r, err := p.Result("T"); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
		c.write("set3d_players", c.users[0], `{"stats":{"mu":25,"sigma":8},"recent":[{"result_id":"T","ended_unix_ms":1}]}`)
		if results, _, err := p.History(c.users[0], 10, ""); err != nil || len(results) != 0 {
			t.Errorf("%s: history %v, %v", name, results, err)
		}
	}
}

// A checkpoint whose terms are gone says nobody sat there: it is set aside, and not settled as that.
func TestTableWithoutItsTerms(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	p.Put(c.newGame("T").claim(0).state(archive.Suspended), nil)
	p.waitStored()
	var terms json.RawMessage
	c.read("set3d_terms", "T", &terms)
	c.remove("set3d_terms", "T")
	sweeper := c.process("m", func(config *archive.Config) { config.ResumeWithin = -time.Hour })
	if err := sweeper.Sweep(); err != nil {
		t.Fatal(err)
	}
	sweeper.waitStored()
	if r, err := sweeper.Result("T"); err != nil || r != nil || fmt.Sprint(c.stored("set3d_set_aside", "")) != "[T]" {
		t.Fatalf("%+v, %v, set aside %v", r, err, c.stored("set3d_set_aside", ""))
	}
	c.write("set3d_terms", "T", string(terms))
	if err := sweeper.Retry("T"); err != nil {
		t.Fatal(err)
	}
	sweeper.waitStored()
	c.wantSettled("T")
}

// A match whose end was told and could not be stored does not go on.
func TestNobodyResumesWhatIsSetAside(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	g := c.newGame("T").claim(0)
	p.Put(g.state(archive.Running), nil)
	p.waitStored()
	state := g.end().state(archive.Ended)
	state.Rules = json.RawMessage(`{"broken`)
	p.Put(state, nil)
	p.waitStored()
	again := c.process("n")
	if tables, err := again.Interrupted(c.users[0]); err != nil || len(tables) != 0 {
		t.Errorf("interrupted %v, %v", tables, err)
	}
	if _, err := again.Claim("T", c.users[0]); !errors.Is(err, archive.ErrOver) {
		t.Errorf("claim: %v", err)
	}
	if tables, _, err := again.AllInterrupted(""); err != nil || len(tables) != 0 {
		t.Errorf("all interrupted %v, %v", tables, err)
	}
}

// A table that is set aside does not name a deleted player, whether the deletion came before or after.
func TestSetAsideAndDeletion(t *testing.T) {
	for _, before := range []bool{false, true} {
		c := newCluster(t, 2)
		p := c.process("n")
		c.write("set3d_results", "T", `{"result_id":"T","players":[{"seat":1}]}`)
		gone := c.users[0]
		leave := func() {
			c.deleteAccount(gone)
			if err := errors.Join(p.PrepareForget(gone), p.FinishForget(gone)); err != nil {
				t.Fatal(err)
			}
		}
		g := c.newGame("T").claim(0).end()
		g.table.Setup = json.RawMessage(fmt.Sprintf(`{"creator":%q}`, gone))
		if before {
			leave()
		}
		p.Put(g.state(archive.Ended), nil)
		p.waitStored()
		var terms archive.Terms
		if !c.read("set3d_terms", "T", &terms) || len(terms.Seats) != 2 {
			t.Fatalf("terms %+v", terms)
		}
		if !before {
			leave()
		}
		c.wantNothingOf(gone, "player0", fmt.Sprintf("before %t", before))
	}
}

// The pages of a player whose object is damaged go with the rest.
func TestDeletionOfADamagedPlayer(t *testing.T) {
	c := newCluster(t, 1)
	p := c.process("n")
	for i := range 55 {
		c.settled(p, fmt.Sprintf("T%02d", i))
	}
	c.write("set3d_players", c.users[0], `{"stats":7}`)
	c.deleteAccount(c.users[0])
	if err := errors.Join(p.PrepareForget(c.users[0]), p.FinishForget(c.users[0])); err != nil {
		t.Fatal(err)
	}
	c.wantNothingOf(c.users[0], "player0", "deleted")
	if left := c.stored("set3d_pages", ""); len(left) != 0 {
		t.Errorf("pages %v", left)
	}
}

// More marks than are listed are all seen by what has to see them.
func TestManyMarks(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	for i := range 1_005 {
		c.write("set3d_set_aside", fmt.Sprintf("A%04d", i), fmt.Sprintf(`{"table_id":"A%04d","unix_ms":1}`, i))
	}
	c.write("set3d_players", c.users[0], `{"stats":7}`)
	c.settled(p, "T")
	if aside, err := p.SetAside(); err != nil || len(aside) != 1_000 || p.Counters().SetAside != 1_006 {
		t.Fatalf("%d of %d, %v", len(aside), p.Counters().SetAside, err)
	}
	c.remove("set3d_meta", "format")
	if err := p.Upgrade(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := p.Retry("T." + c.users[0]); !errors.Is(err, archive.ErrNotAside) {
		t.Fatalf("the part is still set aside: %v", err)
	}
	c.write("set3d_set_aside", "T."+c.users[0], fmt.Sprintf(`{"table_id":"T","user_id":%q,"unix_ms":1}`, c.users[0]))
	if err := p.Retry("T." + c.users[0]); err != nil {
		t.Fatal(err)
	}
	if s, err := p.Stats(c.users[0]); err != nil || s.Matches != 1 {
		t.Fatalf("a part that an upgrade has counted counts again: %+v, %v", s, err)
	}
}

// A process that was paused in the middle of an upgrade writes nothing once another one has done it.
func TestUpgradeIsFenced(t *testing.T) {
	c := newCluster(t, 2)
	c.settled(c.process("n"), "T")
	c.old()
	first := c.process("first")
	reached, held, once := make(chan struct{}), newGate(), false
	first.link.set(func(call call) error {
		if call.op == "write" && strings.Contains(call.keys, "set3d_players") && !once {
			once = true
			close(reached)
			<-held.open
		}
		return nil
	}, nil)
	done := make(chan error)
	go func() { done <- first.Upgrade(context.Background()) }()
	<-reached
	c.write("set3d_meta", "format", `{"upgraded_by":"first","until_unix_ms":1}`) // it is late
	second := c.process("second")
	if err := second.Upgrade(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.settled(second, "U")
	close(held.open)
	if err := <-done; !errors.Is(err, archive.ErrUpgrading) {
		t.Errorf("the first: %v", err)
	}
	c.wantSettled("T", "U")
}

// A repair after an upgrade that fails because of the database is repeated, whatever else cannot be used.
func TestFinishUpgradeIsRepeated(t *testing.T) {
	c := newCluster(t, 2)
	p := c.process("n")
	c.settled(p, "T")
	if err := c.nk.LeaderboardRecordDelete(context.Background(), "set3d_wins", c.users[1]); err != nil {
		t.Fatal(err)
	}
	c.write("set3d_players", "00000000-0000-4000-8000-000000000000", `{"stats":7}`)
	c.write("set3d_meta", "format", `{"format":2,"rating_formula":1}`)
	p.link.set(func(call call) error { return unless(call.op != "board") }, nil)
	if err := p.FinishUpgrade(); !errors.Is(err, errDead) {
		t.Errorf("without leaderboards: %v", err)
	}
	p.link.set(nil, nil)
	if err := p.FinishUpgrade(); err != nil || c.score("set3d_wins", c.users[1]) < 0 {
		t.Errorf("%v, score %d", err, c.score("set3d_wins", c.users[1]))
	}
}

// A player who cannot be forgotten keeps no other from being forgotten.
func TestSweepOfMissingUsersGoesOn(t *testing.T) {
	c := newCluster(t, 3)
	p := c.process("n")
	c.settled(p, "T")
	gone := sorted(c.users)[:2]
	for _, userID := range gone {
		c.deleteAccount(userID)
	}
	p.link.set(func(call call) error {
		return unless(call.op != "read" || !strings.HasSuffix(call.keys, "set3d_players/"+gone[0]+" "))
	}, nil)
	if err := p.Sweep(); !errors.Is(err, errDead) {
		t.Errorf("sweep: %v", err)
	}
	if left := fmt.Sprint(c.stored("set3d_players", "")); strings.Contains(left, gone[1]) || !strings.Contains(left, gone[0]) {
		t.Errorf("players %s", left)
	}
}
