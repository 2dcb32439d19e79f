package match

import (
	"strings"
	"testing"
	"time"
)

func TestConfigDefaults(t *testing.T) {
	c, err := parseConfig(map[string]string{"OTHER_MODULE": "x"})
	if err != nil {
		t.Fatal(err)
	}
	want := config{
		fastLane: true, tickRate: 1, afterEnd: time.Minute, emptyTable: time.Minute, maxTablesPerUser: 20,
		maxSpectators: 16, countdown: 3 * time.Second, idleWarning: 2 * time.Minute, idleForfeit: 30 * time.Second,
		rate:         rate{perSecond: 20, burst: 10},
		rpcPerMinute: 120, wrongCodesPerMinute: 10, reservation: 15 * time.Second,
		archive: archiveConfig{
			durability: durabilityFast, checkpoint: time.Second, safeWait: 5 * time.Second, resumeWithin: time.Hour, recordDays: 90, upgradeWithin: 10 * time.Minute,
			backlog: 5_000,
		},
	}
	if c != want {
		t.Fatalf("defaults %+v", c)
	}
}

func TestTickRateFollowsTheLane(t *testing.T) {
	for _, c := range []struct {
		lane, rate string
		want       int
	}{{"on", "", 1}, {"off", "", 10}, {"on", "7", 7}, {"off", "7", 7}} {
		env := map[string]string{"SET3D_FAST_LANE": c.lane}
		if c.rate != "" {
			env["SET3D_TICK_RATE"] = c.rate
		}
		if got, err := parseConfig(env); err != nil || got.tickRate != c.want {
			t.Errorf("lane %s, rate %q: %d, %v", c.lane, c.rate, got.tickRate, err)
		}
	}
}

// A bad value stops the server with a message that names the key, the value and what is allowed.
func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"SET3D_FAST_LANE", "yes", `runtime.env: SET3D_FAST_LANE is "yes", allowed is on or off`},
		{"SET3D_TICK_RATE", "0", `runtime.env: SET3D_TICK_RATE is "0", allowed is 1 to 60`},
		{"SET3D_TICK_RATE", "61", "allowed is 1 to 60"},
		{"SET3D_TICK_RATE", "ten", `"ten"`},
		{"SET3D_TICK_RATE", "", `""`},
		{"SET3D_AFTER_END_MS", "1.5", "allowed is 0 to 3600000"},
		{"SET3D_TICKRATE", "10", "unknown key SET3D_TICKRATE, the nearest known one is SET3D_TICK_RATE"},
		{"SET3D_FASTLANE", "on", "the nearest known one is SET3D_FAST_LANE"},
		{"SET3D_NAKAMA_APIS", "", "allowed is none or all or chat,friend_imports,groups,purchases,storage,tournaments"},
		{"SET3D_NAKAMA_APIS", ",", "allowed is none or all"},
		{"SET3D_NAKAMA_APIS", "chat none", "allowed is none or all"},
		{"SET3D_NAKAMA_APIS", "friends", "allowed is none or all"},
		{"SET3D_", "on", "the nearest known one is SET3D_"},
	} {
		_, err := parseConfig(map[string]string{c.key: c.value})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v, want %s", c.key, c.value, err, c.want)
		}
	}
}

func TestBadConfigStopsRegistering(t *testing.T) {
	n := newFake(t)
	n.env["SET3D_TICK_RATE"] = "fast"
	if err := n.register(); err == nil || !strings.Contains(err.Error(), "SET3D_TICK_RATE") {
		t.Fatalf("register: %v", err)
	}
}

// Each setting's limits are tried at both ends, so that the table and the parser cannot drift apart.
func TestEverySettingIsParsed(t *testing.T) {
	for _, s := range Settings() {
		if s.Name == "" || s.Default == "" || s.Allowed == "" || s.Meaning == "" {
			t.Errorf("%+v is incomplete", s)
		}
		good := strings.Split(strings.ReplaceAll(s.Allowed, " or ", " to "), " to ")
		for _, value := range good {
			if _, err := parseConfig(map[string]string{s.Name: value}); err != nil {
				t.Errorf("%s=%s: %v", s.Name, value, err)
			}
		}
		if _, err := parseConfig(map[string]string{s.Name: "nonsense"}); err == nil {
			t.Errorf("%s takes nonsense", s.Name)
		}
	}
}

func TestFastLaneOff(t *testing.T) {
	n := newFake(t, "SET3D_FAST_LANE=off")
	if n.hook != nil {
		t.Fatal("the hook is registered")
	}
	g := startGame(n, deckRequest(""), "ann", "bob")
	if g.m.rate != 10 {
		t.Fatalf("%d ticks", g.m.rate)
	}
	g.players[0].claim(g.m, 1, setSA)
	if v := verdict(t, g.players[1].news()); !v.Valid {
		t.Fatalf("verdict %v", v)
	}
	if n.signals != 0 || n.clock.pendingAlarms() != 0 {
		t.Fatalf("%d signals, %d alarms without the fast lane", n.signals, n.clock.pendingAlarms())
	}
	g.pass(time.Second)
	if s := g.m.table().session.Snapshot().State.String(); s != "BoardIdle" {
		t.Fatalf("state %s", s)
	}
}
