package tests

import (
	"strings"
	"syscall"
	"testing"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// comesBack resumes a table as a user, on a new socket.
func comesBack(t *testing.T, on *server, user *client.User, tableID string) (*peer, *wire.Welcome) {
	t.Helper()
	resumed, err := on.client().ResumeMatch(t.Context(), user, tableID)
	if err != nil {
		t.Fatal(err)
	}
	p := connectAs(t, on, user, asProtobuf)
	return p, p.join(resumed.MatchID, nil)
}

// TestLobbyIsRemembered: who was removed in the lobby stays out after a crash, and the host is who it was.
func TestLobbyIsRemembered(t *testing.T) {
	t.Parallel()
	r := startWithState(t, "SET3D_DURABILITY=safe")
	a, b, c := connect(t, r.server, asProtobuf), connect(t, r.server, asProtobuf), connect(t, r.server, asProtobuf)
	x := create(t, r.server, client.CreateMatch{Start: "ready", Seats: 4}, a)
	for _, p := range []*peer{a, b, c} {
		x.seat(p)
	}
	a.send(wire.OpCode_OP_CODE_KICK, &wire.Kick{Seat: 1})
	b.notice(wire.NoticeKind_NOTICE_KIND_KICKED)
	a.mark()
	a.send(wire.OpCode_OP_CODE_TAKE_SEAT, &wire.TakeSeat{Seat: seatNumber(3)})
	a.welcome()
	a.ready(true)
	c.ready(true)
	a.start()
	c.start()
	r.end(t, syscall.SIGKILL)
	r.again(t)
	back, w := comesBack(t, r.server, c.user, x.made.TableID)
	if w.GetStamp().GetIncarnation() != 1 || w.GetSeat() != 0 || w.GetRoster().GetHostSeat() != 0 {
		t.Errorf("c comes back to {%v}", w)
	}
	if _, w := comesBack(t, r.server, a.user, x.made.TableID); w.GetSeat() != 1 || w.GetRoster().GetHostSeat() != 1 {
		t.Errorf("the host comes back to {%v}", w)
	}
	if reason := connectAs(t, r.server, b.user, asJSON).refusedJoin(back.match).GetMessage(); !strings.Contains(reason, "KICKED") {
		t.Errorf("the removed one comes back: %s", reason)
	}
}

// TestLostRankIsRemembered: a table of the matchmaker's to which one did not come is not ranked, after a crash neither.
func TestLostRankIsRemembered(t *testing.T) {
	t.Parallel()
	r := startWithState(t, "SET3D_DURABILITY=safe", "SET3D_RESERVATION_MS=1000")
	a, away, c := connect(t, r.server, asProtobuf), connect(t, r.server, asProtobuf), connect(t, r.server, asProtobuf)
	a.ticket("timed", 2)
	away.ticket("timed", 2)
	if w := a.join(a.matched(), nil); !w.GetSettings().GetRanked() {
		t.Fatalf("WELCOME {%v}", w)
	}
	var found client.QuickMatched
	if !eventually(func() bool {
		var err error
		found, err = r.client().QuickMatch(t.Context(), c.user, client.QuickMatch{Preset: "timed", Seats: 2})
		return err == nil && found.MatchID == a.match
	}) {
		t.Fatalf("c is sent to %+v", found)
	}
	if w := c.join(found.MatchID, nil); w.GetSettings().GetRanked() {
		t.Errorf("WELCOME {%v}", w)
	}
	a.start()
	c.start()
	r.end(t, syscall.SIGKILL)
	r.again(t)
	for _, user := range []*client.User{a.user, c.user} {
		_, w := comesBack(t, r.server, user, found.TableID)
		if w.GetStamp().GetIncarnation() != 1 || w.GetRole() != wire.Role_ROLE_PLAYER || w.GetSettings().GetRanked() {
			t.Errorf("WELCOME {%v}", w)
		}
	}
}
