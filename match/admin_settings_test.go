package match

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	wire "set3d/proto/set3d/v1"
)

// An announcement reaches who is at a table, who comes later, who asks hello, and another process; and it ends.
func TestAnnouncements(t *testing.T) {
	g := newGame(t, deckRequest(""), "ann", "bob")
	n, ann := g.n, g.players[0]
	wall := n.module.clock.wall().UnixMilli()
	n.mustAdmin("admin_announce", fmt.Sprintf(`{"text":"Maintenance","at_unix_ms":%d,"until_unix_ms":%d}`, wall+5000, wall+9000), nil)
	g.m.settle()
	if got := notices(ann.news(), wire.NoticeKind_NOTICE_KIND_MAINTENANCE); len(got) != 1 || got[0].Text != "Maintenance" || *got[0].AtUnixMs != uint64(wall+5000) {
		t.Fatalf("%v", got)
	}
	cid := n.session("cid")
	cid.join(g.m)
	frames := cid.news()
	if frames[0].op != int64(wire.OpCode_OP_CODE_WELCOME) || len(notices(frames, wire.NoticeKind_NOTICE_KIND_MAINTENANCE)) != 1 {
		t.Fatal("a newcomer is told nothing, or before WELCOME")
	}
	if a := n.hello("").Announcement; a == nil || a.Text != "Maintenance" || a.AtUnixMs != wall+5000 {
		t.Fatalf("%+v", a)
	}
	ann.news()
	other := otherProcess(t, n)
	if a := other.hello("").Announcement; a == nil || a.Text != "Maintenance" {
		t.Fatal("a restarted server has forgotten it")
	}
	other.mustAdmin("admin_announce", `{"withdraw":true}`, nil)
	n.module.operator.refresh()
	g.m.settle()
	if got := notices(ann.news(), wire.NoticeKind_NOTICE_KIND_MAINTENANCE); len(got) != 1 || got[0].Text != "" || n.hello("").Announcement != nil {
		t.Fatalf("what another process has withdrawn: %v", got)
	}
	n.module.operator.refresh()
	g.m.settle()
	if got := notices(ann.news(), wire.NoticeKind_NOTICE_KIND_MAINTENANCE); len(got) != 0 {
		t.Fatalf("said again: %v", got)
	}
	if err := n.module.operator.change(func(s *operatorSettings) error {
		s.Announcement = &announcement{Text: "over", UntilUnixMs: wall}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	eve := n.session("eve")
	eve.join(g.m)
	if n.hello("").Announcement != nil || len(notices(eve.news(), wire.NoticeKind_NOTICE_KIND_MAINTENANCE)) != 0 {
		t.Fatal("what is over is still told")
	}
	if _, err := n.admin("admin_announce", `{}`); reasonOf(err) != "MISSING_FIELD" {
		t.Fatal(err)
	}
}

func TestAnnouncementsThatMakeNoSense(t *testing.T) {
	n := newFake(t)
	wall := n.module.clock.wall().UnixMilli()
	n.mustAdmin("admin_announce", fmt.Sprintf(`{"text":"stays","at_unix_ms":%d,"until_unix_ms":%d}`, wall+1, wall+1), nil)
	for payload, field := range map[string]string{
		fmt.Sprintf(`{"text":"x","until_unix_ms":%d}`, wall):                           "until_unix_ms",
		fmt.Sprintf(`{"text":"x","at_unix_ms":%d,"until_unix_ms":%d}`, wall+9, wall+8): "until_unix_ms",
		`{"text":"x","withdraw":true}`:                                                 "withdraw",
		fmt.Sprintf(`{"until_unix_ms":%d,"withdraw":true}`, wall+9):                    "withdraw",
	} {
		if _, err := n.admin("admin_announce", payload); reasonOf(err) != "OUT_OF_RANGE" || !strings.Contains(err.Error(), `"field":"`+field+`"`) {
			t.Errorf("%s: %v", payload, err)
		}
	}
	if a := n.hello("").Announcement; a == nil || a.Text != "stays" {
		t.Errorf("%+v", a)
	}
}

// otherProcess is another server with the same database.
func otherProcess(t *testing.T, n *fakeNakama) *fakeNakama {
	t.Helper()
	other := newFake(t)
	other.storage = n.storage
	other.module.operator.refresh()
	return other
}

func TestMinimumClientVersion(t *testing.T) {
	n := newFake(t)
	n.mustAdmin("admin_settings", `{"min_client_version":"1.4"}`, nil)
	for client, outdated := range map[string]bool{
		"": false, "set3d-unity": false, "set3d-unity 1.3.9": true, "set3d-unity 1.4.0": false, "game/1.3-beta (iOS 18.1)": true,
		"unity/2.0": false, "1.10": false, "0.9.9": true, "v1.4.": false, "1.3.9.9": false, "x 99999999999.1": false,
	} {
		request := string(mustJSON(map[string]string{"client": client}))
		if got := n.hello(request); got.ClientOutdated != outdated || got.MinClientVersion != "1.4" {
			t.Errorf("%q: %t", client, got.ClientOutdated)
		}
	}
	n.mustAdmin("admin_settings", `{"refuse_old_clients":true}`, nil)
	if _, err := n.session("ann").rpc("hello", `{"client":"x 1.3"}`); reasonOf(err) != "CLIENT_TOO_OLD" || !strings.Contains(err.Error(), `"minimum":"1.4"`) {
		t.Error(err)
	}
	n.hello(`{"client":"x 1.4"}`)
	for _, bad := range []string{"1", "1.x", "1.2.3.4", "-1.2"} {
		if _, err := n.admin("admin_settings", `{"min_client_version":"`+bad+`"}`); reasonOf(err) != "OUT_OF_RANGE" {
			t.Errorf("%s: %v", bad, err)
		}
	}
	n.mustAdmin("admin_settings", `{"min_client_version":""}`, nil)
	n.hello(`{"client":"x 0.1"}`)
}

// Two operators at once lose nothing, and a database that is down is said to be.
func TestSettingsAreWrittenInTurn(t *testing.T) {
	n := newFake(t)
	other := otherProcess(t, n)
	n.mustAdmin("admin_settings", `{"preset":{"name":"a1"}}`, nil)
	other.mustAdmin("admin_settings", `{"preset":{"name":"b1"}}`, nil)
	raced := false
	n.storage.setFault(func(op string) error {
		if op == "write" && !raced {
			raced = true
			other.mustAdmin("admin_settings", `{"min_client_version":"1.2"}`, nil)
		}
		return nil
	})
	n.mustAdmin("admin_settings", `{"refuse_old_clients":true}`, nil)
	var settings adminSettingsResponse
	n.mustAdmin("admin_settings", `{}`, &settings)
	if len(settings.Presets) != 2 || settings.MinClientVersion != "1.2" || !settings.RefuseOldClients {
		t.Errorf("%+v", settings)
	}
	n.storage.setFault(func(string) error { return errors.New("down") })
	if _, err := n.admin("admin_settings", `{"min_client_version":"1.3"}`); reasonOf(err) != "STORAGE_UNAVAILABLE" {
		t.Error(err)
	}
	n.module.operator.refresh()
	if n.hello("").MinClientVersion != "1.2" {
		t.Error("what could not be stored is in use, or what was is not")
	}
}
