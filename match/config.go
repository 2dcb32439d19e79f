package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settingPrefix begins every key of ours in Nakama's runtime.env; the keys of others are none of our business.
const settingPrefix = "SET3D_"

// Setting is one key of the configuration in Nakama's runtime.env.
type Setting struct {
	Name    string
	Default string
	Allowed string
	Meaning string

	apply func(c *config, value string) bool
}

// Settings is every key of the configuration, in the order in which an operator reads them.
func Settings() []Setting {
	return append([]Setting{
		onOff("SET3D_FAST_LANE", "on", "judge a claim when it arrives; off: at the next tick",
			func(c *config, on bool) { c.fastLane = on }),
		number("SET3D_TICK_RATE", "1, or 10 with SET3D_FAST_LANE=off", 1, 60, "ticks a second of a match: a safety net while the fast lane is on",
			func(c *config, n int) { c.tickRate = n }),
		number("SET3D_AFTER_END_MS", "60000", 0, 3_600_000, "how long a table stays open after its match has ended, in ms",
			func(c *config, n int) { c.afterEnd = ms(int64(n)) }),
		number("SET3D_EMPTY_TABLE_MS", "60000", 1_000, 3_600_000, "how long a table lives with nobody at it and no match running, in ms",
			func(c *config, n int) { c.emptyTable = ms(int64(n)) }),
		number("SET3D_MAX_TABLES_PER_USER", "20", 1, 10_000, "how many open tables one user may have created",
			func(c *config, n int) { c.maxTablesPerUser = n }),
		number("SET3D_MAX_SPECTATORS", "16", 0, 200, "how many may watch one table",
			func(c *config, n int) { c.maxSpectators = n }),
		number("SET3D_COUNTDOWN_MS", "3000", 0, 60_000, "how long the countdown is when all at a table are ready, in ms",
			func(c *config, n int) { c.countdown = ms(int64(n)) }),
		number("SET3D_IDLE_WARNING_MS", "120000", 0, 3_600_000, "after how long a player who does nothing while others play is warned, in ms; 0: never",
			func(c *config, n int) { c.idleWarning = ms(int64(n)) }),
		number("SET3D_IDLE_FORFEIT_MS", "30000", 1_000, 3_600_000, "how long after the warning an idle player forfeits, in ms",
			func(c *config, n int) { c.idleForfeit = ms(int64(n)) }),
		number("SET3D_RATE_PER_SECOND", "20", 1, 1_000, "match messages a second that one session may send",
			func(c *config, n int) { c.rate.perSecond = n }),
		number("SET3D_RATE_BURST", "10", 1, 1_000, "match messages that one session may send at once",
			func(c *config, n int) { c.rate.burst = n }),
		number("SET3D_RPC_PER_MINUTE", "120", 1, 100_000, "calls of RPCs a minute that one user may make, and as many joins",
			func(c *config, n int) { c.rpcPerMinute = n }),
		number("SET3D_WRONG_CODES_PER_MINUTE", "10", 1, 1_000, "wrong invitation codes a minute that one user may try",
			func(c *config, n int) { c.wrongCodesPerMinute = n }),
		number("SET3D_RESERVATION_MS", "15000", 1_000, 600_000, "how long a seat is kept for a user who was sent to a table, in ms",
			func(c *config, n int) { c.reservation = ms(int64(n)) }),
		onOff("SET3D_RELAYED_MATCHES", "off", "let clients use Nakama's relayed matches, which have no rules",
			func(c *config, on bool) { c.relayedMatches = on }),
		nakamaAPIs(),
		onOff("SET3D_DEVELOPMENT", "off", "start although everybody knows Nakama's default keys: never in production",
			func(c *config, on bool) { c.development = on }),
		onOff("SET3D_TEST_HOOKS", "off", "let create_match order decks and panics: for tests, never in production",
			func(c *config, on bool) { c.testHooks = on }),
	}, archiveSettings()...)
}

// config is the parsed configuration.
type config struct {
	fastLane         bool
	tickRate         int // a second; 0 until parseConfig has chosen the default
	afterEnd         time.Duration
	emptyTable       time.Duration
	maxTablesPerUser int
	maxSpectators    int
	countdown        time.Duration
	idleWarning      time.Duration // 0: nobody is idle
	idleForfeit      time.Duration
	rate             rate
	testHooks        bool
	development      bool

	rpcPerMinute        int
	wrongCodesPerMinute int
	reservation         time.Duration
	relayedMatches      bool
	apis                apiSet // Nakama's that the game does not use and that are on

	archive archiveConfig
}

// The tick rates when nobody asks for another one.
const (
	safetyTickRate = 1  // the timer makes deadlines exact, the tick only catches what went wrong
	slowTickRate   = 10 // without the fast lane a claim waits for the tick
)

// parseConfig reads the keys of ours. The error names key, value and what is allowed.
func parseConfig(env map[string]string) (config, error) {
	var c config
	settings := Settings()
	for _, s := range settings {
		s.apply(&c, strings.SplitN(s.Default, ",", 2)[0])
	}
	c.tickRate = 0
	for _, key := range sortedKeys(env) {
		if !strings.HasPrefix(key, settingPrefix) {
			continue
		}
		i := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == key })
		if i < 0 {
			return config{}, fmt.Errorf("runtime.env: unknown key %s, the nearest known one is %s", key, nearestSetting(key, settings))
		}
		if value := env[key]; !settings[i].apply(&c, value) {
			return config{}, fmt.Errorf("runtime.env: %s is %q, allowed is %s", key, value, settings[i].Allowed)
		}
	}
	if c.tickRate == 0 {
		c.tickRate = slowTickRate
		if c.fastLane {
			c.tickRate = safetyTickRate
		}
	}
	return c, nil
}

func onOff(name, byDefault, meaning string, set func(*config, bool)) Setting {
	return Setting{Name: name, Default: byDefault, Allowed: "on or off", Meaning: meaning,
		apply: func(c *config, value string) bool {
			if value != "on" && value != "off" {
				return false
			}
			set(c, value == "on")
			return true
		}}
}

func choice(name, byDefault string, allowed []string, meaning string, set func(*config, int)) Setting {
	return Setting{Name: name, Default: byDefault, Allowed: strings.Join(allowed, " or "), Meaning: meaning,
		apply: func(c *config, value string) bool {
			i := slices.Index(allowed, value)
			if i >= 0 {
				set(c, i)
			}
			return i >= 0
		}}
}

func number(name, byDefault string, lowest, highest int, meaning string, set func(*config, int)) Setting {
	return Setting{Name: name, Default: byDefault, Allowed: fmt.Sprintf("%d to %d", lowest, highest), Meaning: meaning,
		apply: func(c *config, value string) bool {
			n, err := strconv.Atoi(value)
			if err != nil || n < lowest || n > highest {
				return false
			}
			set(c, n)
			return true
		}}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func nearestSetting(key string, settings []Setting) string {
	nearest, least := "", len(key)+64
	for _, s := range settings {
		if d := editDistance(key, s.Name); d < least {
			nearest, least = s.Name, d
		}
	}
	return nearest
}

// editDistance is Levenshtein's: how many letters to insert, remove or change.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
