package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// rosterWith waits for a roster that is as wanted.
func (p *peer) rosterWith(what string, isIt func(*wire.Roster) bool) *wire.Roster {
	p.t.Helper()
	return first(p, what, isIt)
}

func (p *peer) ready(ready bool) {
	p.t.Helper()
	time.Sleep(500 * time.Millisecond) // two a second
	p.send(wire.OpCode_OP_CODE_SET_READY, &wire.SetReady{Ready: ready})
}

// TestLobbyOfReadyTable: players move, bots come and go, somebody is removed, the host passes on, a countdown is stopped and runs, seats
// close up, and the one who comes late watches.
func TestLobbyOfReadyTable(t *testing.T) {
	on := shared(t)
	a, b, c := connect(t, on, asJSON), connect(t, on, asProtobuf), connect(t, on, asJSON)
	x := create(t, on, client.CreateMatch{Start: "ready", Seats: 6, Rules: quick(nil)}, a)
	w := x.seat(a)
	if w.GetSettings().GetStartMode() != wire.StartMode_START_MODE_READY || w.GetSettings().GetMinPlayers() != 2 || w.GetSettings().GetPreset() != "custom" {
		t.Errorf("settings {%v}", w.GetSettings())
	}
	x.seat(b)
	x.seat(c)
	b.rude = true
	a.send(wire.OpCode_OP_CODE_ADD_BOT, &wire.AddBot{Level: wire.BotLevel_BOT_LEVEL_HARD, Seat: seatNumber(5)})
	b.rosterWith("a bot", func(r *wire.Roster) bool { return r.GetSeats()[5].GetBotLevel() == wire.BotLevel_BOT_LEVEL_HARD })
	b.send(wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: 5})
	b.error(int64(wire.OpCode_OP_CODE_KICK), wire.Reason_REASON_NOT_HOST)
	c.mark()
	c.send(wire.OpCode_OP_CODE_TAKE_SEAT, &wire.TakeSeat{Seat: seatNumber(4)})
	if w := c.welcome(); w.GetSeat() != 4 {
		t.Errorf("c sits on %d", w.GetSeat())
	}
	a.send(wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: 1})
	b.notice(wire.NoticeKind_NOTICE_KIND_KICKED)
	// On another session: Nakama may still count the removed one as joined, and then asks the match nothing.
	if reason := connectAs(t, on, b.user, asJSON).refusedJoin(x.made.MatchID).GetMessage(); !strings.Contains(reason, "KICKED") {
		t.Errorf("b comes back: %s", reason)
	}
	c.mark()
	a.ready(true)
	c.ready(true)
	c.rosterWith("a countdown", func(r *wire.Roster) bool { return r.CountdownEndsUnixMs != nil })
	a.mark()
	c.ready(false)
	a.rosterWith("the countdown's end", func(r *wire.Roster) bool { return r.CountdownEndsUnixMs == nil && !r.GetSeats()[4].GetReady() })
	a.mark()
	c.mark()
	c.ready(true)
	if seats := c.start().GetSeatCount(); seats != 3 {
		t.Errorf("%d seats play", seats)
	}
	if w := c.welcome(); w.GetSeat() != 1 || len(w.GetRoster().GetSeats()) != 3 {
		t.Errorf("c was told {%v}", w)
	}
	a.start()
	late := connect(t, on, asProtobuf)
	if w := late.join(x.made.MatchID, nil); w.GetRole() != wire.Role_ROLE_SPECTATOR || w.GetRoster().GetSeats()[2].GetBotLevel() == 0 {
		t.Errorf("the late one gets {%v}", w)
	}
	a.send(wire.OpCode_OP_CODE_EMOTE, &wire.ShowEmote{Emote: wire.EmoteKind_EMOTE_KIND_GOOD_LUCK})
	if e := first(late, "an emote", any1[*wire.EmoteShown]); e.GetSeat() != 0 || e.GetEmote() != wire.EmoteKind_EMOTE_KIND_GOOD_LUCK {
		t.Errorf("shown {%v}", e)
	}
	late.send(wire.OpCode_OP_CODE_EMOTE, &wire.ShowEmote{Emote: wire.EmoteKind_EMOTE_KIND_WOW})
	late.error(int64(wire.OpCode_OP_CODE_EMOTE), wire.Reason_REASON_NOT_A_PLAYER)
}

func seatNumber(n uint32) *uint32 { return &n }

// TestHostPassesOn: when the host goes the one who has sat longest is the host.
func TestHostPassesOn(t *testing.T) {
	on := shared(t)
	a, b, c := connect(t, on, asJSON), connect(t, on, asProtobuf), connect(t, on, asJSON)
	x := create(t, on, client.CreateMatch{Start: "ready", Seats: 4}, a)
	for _, p := range []*peer{a, b, c} {
		x.seat(p)
	}
	c.mark()
	a.call(leaveOf(a.match))
	c.rosterWith("another host", func(r *wire.Roster) bool { return r.HostSeat != nil && r.GetHostSeat() == 1 })
	b.send(wire.OpCode_OP_CODE_ADD_BOT, &wire.AddBot{Level: wire.BotLevel_BOT_LEVEL_EASY})
	c.rosterWith("a bot", func(r *wire.Roster) bool { return r.GetSeats()[0].GetBotLevel() != 0 })
}

// TestBotsFillUp: who waits long enough plays against bots.
func TestBotsFillUp(t *testing.T) {
	on := shared(t)
	a := connect(t, on, asProtobuf)
	x := create(t, on, client.CreateMatch{Seats: 3, Bots: []string{"hard"}, FillWithBotsAfterMs: 300, FillLevel: "hard", Rules: quick(nil)}, a)
	x.seat(a)
	if a.start().GetSeatCount() != 3 {
		t.Error("not three seats")
	}
	if r := every[*wire.Roster](a); len(r) == 0 || r[len(r)-1].GetSeats()[1].GetBotLevel() != wire.BotLevel_BOT_LEVEL_HARD {
		t.Errorf("rosters %v", r)
	}
	a.forfeit()
	if end := a.ended(); end.GetReason() != wire.EndReason_END_REASON_ABANDONED {
		t.Errorf("end {%v}", end)
	}
}

// TestScenario27: both players want a rematch at the same moment, and meet in one new match, again and again.
func TestScenario27(t *testing.T) {
	on := hooked(t)
	x := endTable(t, on)
	a, b := x.players[0], x.players[1]
	a.wins(endS1)
	b.wins(endS2)
	a.ended()
	b.ended()
	a.mark()
	b.mark()
	for _, p := range x.players {
		p.send(wire.OpCode_OP_CODE_VOTE_REMATCH, &wire.VoteRematch{Wants: true})
	}
	to, other := first(a, "a rematch", any1[*wire.Rematch]), first(b, "a rematch", any1[*wire.Rematch])
	if to.GetMatchId() != other.GetMatchId() || to.GetMatchId() == x.made.MatchID || to.GetReservedMs() == 0 {
		t.Fatalf("a is sent to {%v}, b to {%v}", to, other)
	}
	thief := connect(t, on, asJSON)
	if w := thief.join(to.GetMatchId(), nil); w.GetRole() != wire.Role_ROLE_SPECTATOR {
		t.Errorf("a stranger gets {%v}", w)
	}
	b2, a2 := connectAs(t, on, b.user, asJSON), connectAs(t, on, a.user, asProtobuf)
	if w := b2.join(to.GetMatchId(), nil); w.GetSeat() != 1 || w.GetTableId() != to.GetTableId() {
		t.Errorf("b gets {%v}", w)
	}
	a2.join(to.GetMatchId(), nil)
	if commitment := a2.start().GetCommitment(); len(commitment) != 32 {
		t.Errorf("the rematch's deck is not a fresh one: commitment %x", commitment)
	}
}

// TestMatchReview: after the end those who were there see what each board held, and nobody else does.
func TestMatchReview(t *testing.T) {
	on := hooked(t)
	x := endTable(t, on)
	a, b := x.players[0], x.players[1]
	ask := fmt.Sprintf(`{"match_id":%q,"missed":true}`, x.made.MatchID)
	if _, refused := a.rpc("match_review", ask); !strings.Contains(refused.GetMessage(), "NOT_ENDED") {
		t.Errorf("before the end: {%v}", refused)
	}
	a.wins(endS1)
	b.wins(endS2)
	a.ended()
	text, refused := b.rpc("match_review", ask)
	var review client.MatchReview
	if err := json.Unmarshal([]byte(text), &review); refused != nil || err != nil {
		t.Fatalf("{%v}, %v", refused, err)
	}
	if len(review.Boards) != 2 || review.Boards[0].Sets != 2 || len(review.Boards[0].Missed) != 1 || review.Boards[1].Taken.Seat != 1 {
		t.Errorf("%+v", review)
	}
	stranger := connect(t, on, asJSON)
	if _, refused := stranger.rpc("match_review", ask); !strings.Contains(refused.GetMessage(), "NOT_IN_MATCH") {
		t.Errorf("a stranger gets {%v}", refused)
	}
}

// TestHintsInPractice: the cards of a hint are a Set.
func TestHintsInPractice(t *testing.T) {
	on := shared(t)
	a := connect(t, on, asJSON)
	x := openFor(t, on, client.CreateMatch{Preset: "practice", Seats: 1, Seed: 7, Rules: quick(nil)}, a)
	a.mark()
	a.send(wire.OpCode_OP_CODE_REQUEST_HINT, &wire.RequestHint{Cards: 3})
	cards := first(a, "a hint", any1[*wire.Hint]).GetCards()
	id := newClaimID()
	a.send(wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, cards))
	if v := a.verdictOf(id); !v.GetValid() {
		t.Errorf("the hint %v is judged {%v}", cards, v)
	}
	x.sameScores(1)
}

// TestNamesOfAccounts: the table shows the account's display name and picture.
func TestNamesOfAccounts(t *testing.T) {
	on := shared(t)
	a := connect(t, on, asProtobuf)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := updateAccount(ctx, on, a.user, `{"display_name":"Ada L.","avatar_url":"https://example.com/ada.png"}`); err != nil {
		t.Fatal(err)
	}
	x := create(t, on, client.CreateMatch{Seats: 2}, a)
	w := x.seat(a)
	named := func(r *wire.Roster) bool {
		return r.GetSeats()[0].GetDisplayName() == "Ada L." && r.GetSeats()[0].GetAvatarUrl() == "https://example.com/ada.png"
	}
	if !named(w.GetRoster()) {
		a.rosterWith("the name", named)
	}
}

func updateAccount(ctx context.Context, on *server, user *client.User, account string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, on.url+"/v2/account", strings.NewReader(account))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+user.Token())
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("update the account: %s", answer.Status)
	}
	return nil
}

// TestIdlePlayerForfeits: who does nothing while the others play is warned, and out in the end.
func TestIdlePlayerForfeits(t *testing.T) {
	on := ownServer(t, "SET3D_IDLE_WARNING_MS=1500", "SET3D_IDLE_FORFEIT_MS=1000")
	x := open(t, on, client.CreateMatch{Seats: 3, Rules: quick(nil), TestDeck: deckOf(boardMAX)}, asJSON, asProtobuf, asProtobuf)
	a := x.players[0]
	stop := time.Now().Add(20 * time.Second)
	for !a.has(wire.NoticeKind_NOTICE_KIND_SEAT_FORFEITED) && time.Now().Before(stop) {
		for _, p := range x.players[1:] {
			p.outcome(p.claim(notSet))
		}
		time.Sleep(200 * time.Millisecond)
	}
	if notice := a.notice(wire.NoticeKind_NOTICE_KIND_IDLE); notice.GetGraceMs() != 1_000 {
		t.Errorf("notice {%v}", notice)
	}
	a.notice(wire.NoticeKind_NOTICE_KIND_SEAT_FORFEITED)
	x.players[1].sync()
	if s := x.players[1].state(); s.GetForfeitedSeats() != 1 {
		t.Errorf("state {%v}", s)
	}
}

func (p *peer) has(kind wire.NoticeKind) bool {
	for _, notice := range every[*wire.Notice](p) {
		if notice.GetKind() == kind {
			return true
		}
	}
	return false
}
