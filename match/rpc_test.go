package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// TestRequestErrors is every way to ask for something that cannot be.
func TestRequestErrors(t *testing.T) {
	cases := []struct {
		rpc, payload, want string
		code               int
	}{
		{"create_match", `{`, `{"reason":"MALFORMED_REQUEST","args":{"detail":"at byte 1: unexpected end of JSON input"}}`, 3},
		{"create_match", `[]`, `{"reason":"MALFORMED_REQUEST","args":{"detail":"an object is expected"}}`, 3},
		{"create_match", `"x"`, `"MALFORMED_REQUEST"`, 3},
		{"create_match", `{} {}`, `{"reason":"MALFORMED_REQUEST","args":{"detail":"at byte 4: invalid character '{' after top-level value"}}`, 3},
		{"create_match", `{"seats":2,}`, `{"reason":"MALFORMED_REQUEST","args":{"detail":"at byte 12: invalid character '}' looking for beginning of objec…"}}`, 3},
		{"create_match", `{"seats":1,"seats":2}`, `{"reason":"MALFORMED_REQUEST","args":{"detail":"the field \"seats\" is there twice"}}`, 3},
		{"create_match", `{"rules":{"time_limit_ms":1,"time_limit_ms":1}}`, `the field \"rules.time_limit_ms\" is there twice`, 3},
		{"create_match", `{"preset":"\ud800"`, `"MALFORMED_REQUEST"`, 3},
		{"create_match", strings.Repeat(" ", requestMax) + `{}`, `{"reason":"REQUEST_TOO_LARGE","args":{"allowed":8192}}`, 3},
		{"create_match", `{"colour":1}`, `{"reason":"UNKNOWN_FIELD","args":{"field":"colour"}}`, 3},
		{"create_match", `{"Seats":1}`, `{"reason":"UNKNOWN_FIELD","args":{"field":"Seats"}}`, 3},
		{"create_match", `{"rules":{"claim_mode":"automatic"}}`, `{"reason":"UNKNOWN_FIELD","args":{"field":"rules.claim_mode"}}`, 3},
		{"create_match", `{"` + strings.Repeat("x", 500) + `":1}`, `{"reason":"UNKNOWN_FIELD","args":{"field":"` + strings.Repeat("x", 64) + `…"}}`, 3},
		{"create_match", `{"seats":"2"}`, `{"reason":"WRONG_TYPE","args":{"expected":"an integer","field":"seats"}}`, 3},
		{"create_match", `{"seats":2.5}`, `{"reason":"WRONG_TYPE","args":{"expected":"an integer","field":"seats"}}`, 3},
		{"create_match", `{"seats":true}`, `{"reason":"WRONG_TYPE","args":{"expected":"an integer","field":"seats"}}`, 3},
		{"create_match", `{"preset":3}`, `{"reason":"WRONG_TYPE","args":{"expected":"a string","field":"preset"}}`, 3},
		{"create_match", `{"rules":[]}`, `{"reason":"WRONG_TYPE","args":{"expected":"an object","field":"rules"}}`, 3},
		{"create_match", `{"rules":{"drop_hold_ms":{}}}`, `{"reason":"WRONG_TYPE","args":{"expected":"an integer","field":"rules.drop_hold_ms"}}`, 3},
		{"create_match", `{"seats":0}`, `{"reason":"OUT_OF_RANGE","args":{"allowed":"1 to 8","field":"seats","value":"0"}}`, 3},
		{"create_match", `{"seats":9}`, `{"reason":"OUT_OF_RANGE","args":{"allowed":"1 to 8","field":"seats","value":"9"}}`, 3},
		{"create_match", `{"seats":99999999999999999999}`, `{"reason":"OUT_OF_RANGE","args":{"allowed":"1 to 8","field":"seats","value":"99999999999999999999"}}`, 3},
		{"create_match", `{"seed":2147483648}`, `{"reason":"OUT_OF_RANGE","args":{"allowed":"-2147483648 to 2147483647","field":"seed","value":"2147483648"}}`, 3},
		{"create_match", `{"request_id":"` + strings.Repeat("é", 65) + `"}`, `{"reason":"OUT_OF_RANGE","args":{"allowed":"at most 64 characters","field":"request_id","value":"65 characters"}}`, 3},
		{"get_result", `{"result_id":"a\u0000"}`, `"allowed":"text without NUL characters","field":"result_id"`, 3},
		{"create_match", `{"rules":{"initial_board_size":13}}`, `{"reason":"OUT_OF_RANGE","args":{"allowed":"12, 15 or 18","field":"rules.initial_board_size","value":"13"}}`, 3},
		{"create_match", `{"rules":{"refill_policy":"never"}}`, `{"reason":"OUT_OF_RANGE","args":{"allowed":["always","to_initial_size"],"field":"rules.refill_policy","value":"never"}}`, 3},
		{"create_match", `{"rules":{"penalty_mode":"time","penalty_time_ms":1}}`, `"field":"rules.penalty_mode"`, 3},
		{"create_match", `{"rules":{"time_limit_ms":999}}`, `"field":"rules.time_limit_ms"`, 3},
		{"create_match", `{"rules":{"invalid_anim_ms":99}}`, `{"allowed":"100 to 10000 with penalty_mode none","field":"rules.invalid_anim_ms","value":"99"}`, 3},
		{"create_match", `{"preset":"timed","rules":{"invalid_anim_ms":0,"penalty_mode":"none","penalty_time_ms":0}}`, `"field":"rules.invalid_anim_ms"`, 3},
		{"create_match", `{"preset":"blitz"}`, `{"reason":"UNKNOWN_PRESET","args":{"allowed":["classic","tournament","timed","fast","practice"],"preset":"blitz"}}`, 3},
		{"create_match", `{"test_panic_at":"lunch"}`, `"reason":"OUT_OF_RANGE"`, 3},
		{"create_match", `{"test_deck":"0000 0000"}`, `"reason":"OUT_OF_RANGE"`, 3},
		{"create_match", `{"test_deck":"0003"}`, `"reason":"OUT_OF_RANGE"`, 3},
		{"hello", `{"versions":[2,3]}`, `{"reason":"UNSUPPORTED_VERSION","args":{"supported":[1]}}`, 9},
		{"hello", `{"versions":1}`, `{"reason":"WRONG_TYPE","args":{"expected":"a list of integers","field":"versions"}}`, 3},
		{"hello", `{"versions":["1"]}`, `{"reason":"WRONG_TYPE","args":{"expected":"a list of integers","field":"versions"}}`, 3},
		{"hello", `{"version":1}`, `{"reason":"UNKNOWN_FIELD","args":{"field":"version"}}`, 3},
	}
	n := newFake(t)
	ann := n.session("ann")
	for _, c := range cases {
		t.Run(shorten(c.payload), func(t *testing.T) {
			answer, err := ann.rpc(c.rpc, c.payload)
			wantError(t, answer, err, c.want, c.code)
		})
	}
	if n.made != 0 {
		t.Fatalf("%d matches were made", n.made)
	}
}

func wantError(t *testing.T, answer string, err error, want string, code int) {
	t.Helper()
	var refused *runtime.Error
	if !errors.As(err, &refused) || answer != "" {
		t.Fatalf("answered %q, %v", answer, err)
	}
	if !strings.Contains(refused.Message, want) || refused.Code != code {
		t.Fatalf("error %d %s\nwant  %d %s", refused.Code, refused.Message, code, want)
	}
	if !json.Valid([]byte(refused.Message)) {
		t.Fatalf("not JSON: %s", refused.Message)
	}
}

// The test hooks are unknown fields unless they are switched on.
func TestHooksAreOffByDefault(t *testing.T) {
	n := newFake(t, "SET3D_TEST_HOOKS=off")
	ann := n.session("ann")
	for _, field := range []string{"test_deck", "test_panic_at"} {
		answer, err := ann.rpc("create_match", `{"`+field+`":"rpc"}`)
		wantError(t, answer, err, `{"reason":"UNKNOWN_FIELD","args":{"field":"`+field+`"}}`, 3)
	}
	if !newFake(t).logger.has("WARN", "SET3D_TEST_HOOKS") || n.logger.has("WARN", "SET3D_TEST_HOOKS") {
		t.Fatal("the test hooks are to be warned about exactly when they are on")
	}
}

func TestRulesOverrideAPreset(t *testing.T) {
	n := newFake(t)
	answer, err := n.session("ann").rpc("create_match",
		`{"preset":"timed","rules":{"time_limit_ms":90000,"claim_grace_ms":null,"refill_policy":"to_initial_size"},"seats":3}`)
	if err != nil {
		t.Fatal(err)
	}
	var made createResponse
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		t.Fatal(err)
	}
	timed, _ := builtInPresets().find("timed")
	want := viewRules(timed.rules)
	want.TimeLimitMs, want.RefillPolicy = 90_000, "to_initial_size"
	if made.Rules != want || made.Seats != 3 || made.Preset != "custom" || made.TableID == "" || n.match(made.MatchID) == nil {
		t.Fatalf("made %+v", made)
	}
}

func TestPresetsAreValid(t *testing.T) {
	for _, p := range builtInPresets() {
		if err := p.rules.Validate(); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

func TestHello(t *testing.T) {
	n := newFake(t)
	for _, payload := range []string{"", "{}", `{"client":"unity 1.2","versions":[3,1]}`, `{"client":null}`} {
		answer, err := n.rpcs["hello"](context.Background(), n.logger, nil, n, payload)
		if err != nil {
			t.Fatalf("%s: %v", payload, err)
		}
		var hello helloResponse
		if err := json.Unmarshal([]byte(answer), &hello); err != nil {
			t.Fatal(err)
		}
		if hello.ServerTimeMs != 1_700_000_000_000 || len(hello.Presets) != len(builtInPresets()) || hello.ProtocolVersions[0] != 1 ||
			hello.Limits.SeatsMax != 8 || hello.OpCodes["CLAIM_SET"] != 1 || hello.Presets["timed"].Rules.PenaltyMode != "time" {
			t.Fatalf("%s: %s", payload, answer)
		}
	}
}

func TestCreateNeedsAUser(t *testing.T) {
	n := newFake(t)
	answer, err := n.rpcs["create_match"](context.Background(), n.logger, nil, n, "{}")
	wantError(t, answer, err, `{"reason":"NO_USER","args":{}}`, 7)
}

func TestNakamaCannotCreate(t *testing.T) {
	for text, want := range map[string]struct {
		reason string
		code   int
	}{
		"error creating match: shutdown in progress": {"SHUTTING_DOWN", 14},
		"secret internals":                           {"INTERNAL", 13},
	} {
		n := newFake(t)
		n.createError = errors.New(text)
		answer, err := n.session("ann").rpc("create_match", "")
		wantError(t, answer, err, `{"reason":"`+want.reason+`","args":{}}`, want.code)
	}
}

// Scenario 29: a limit on the open matches of a user. It comes back when they close.
func TestTooManyMatches(t *testing.T) {
	n := newFake(t, "SET3D_MAX_TABLES_PER_USER=3", "SET3D_EMPTY_TABLE_MS=1000")
	ann, bob := n.session("ann"), n.session("bob")
	var last *fakeMatch
	for range 3 {
		last = ann.create(`{}`)
	}
	answer, err := ann.rpc("create_match", `{}`)
	wantError(t, answer, err, `{"reason":"TOO_MANY_MATCHES","args":{"limit":3}}`, 8)
	bob.create(`{}`)
	last.pass(2 * time.Second)
	last.loop()
	eventually(t, func() bool { _, err := ann.rpc("create_match", `{}`); return err == nil })
	_, err = ann.rpc("create_match", `{}`)
	if err == nil {
		t.Fatal("a fourth match")
	}
}

// A request that comes twice is done once, however close together.
func TestRequestIDIsIdempotent(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	answers := make([]string, 20)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			answer, err := ann.rpc("create_match", `{"request_id":"r1","seats":3}`)
			if err != nil {
				t.Error(err)
			}
			answers[i] = answer
		})
	}
	wg.Wait()
	for _, a := range answers {
		if a != answers[0] {
			t.Fatalf("answers %s and %s", a, answers[0])
		}
	}
	if n.made != 1 {
		t.Fatalf("%d matches were made", n.made)
	}
	if again, _ := ann.rpc("create_match", `{ "seats": 3, "preset": "classic", "request_id": "r1" }`); again != answers[0] {
		t.Fatal("the same request, written otherwise, is another one")
	}
	answer, err := ann.rpc("create_match", `{"request_id":"r1","seats":4}`)
	wantError(t, answer, err, `"REQUEST_ID_REUSED"`, 3)
	if other, _ := n.session("bob").rpc("create_match", `{"request_id":"r1","seats":3}`); other == answers[0] || other == "" {
		t.Fatal("ids of two users are one")
	}
	n.clock.next(n.clock.now() + rememberFor)
	if later, _ := ann.rpc("create_match", `{"request_id":"r1","seats":4}`); later == answers[0] || later == "" {
		t.Fatalf("after a minute: %s", later)
	}
}

// A failed request is tried again.
func TestFailedRequestIsForgotten(t *testing.T) {
	n := newFake(t)
	ann := n.session("ann")
	n.createError = errors.New("database is away")
	if _, err := ann.rpc("create_match", `{"request_id":"r"}`); err == nil {
		t.Fatal("no error")
	}
	n.createError = nil
	if _, err := ann.rpc("create_match", `{"request_id":"r"}`); err != nil {
		t.Fatal(err)
	}
}

func TestRequestsAreForgotten(t *testing.T) {
	n := newFake(t, "SET3D_MAX_TABLES_PER_USER=1000")
	ann := n.session("ann")
	var made *module
	for i := range 100 {
		made = ann.create(fmt.Sprintf(`{"request_id":"r%d"}`, i)).table().module
	}
	n.clock.next(n.clock.now() + rememberFor)
	ann.create(`{"request_id":"last"}`)
	if held := len(made.requests.byKey) + len(made.requests.order); held != 2 {
		t.Fatalf("%d are remembered", held)
	}
}
