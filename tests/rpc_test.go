package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"set3d/client"
)

// TestRPCErrors asks for what cannot be, over HTTP and over both kinds of socket: each error has its reason and says what was wrong.
func TestRPCErrors(t *testing.T) {
	t.Parallel()
	on := shared(t)
	cases := []struct {
		rpc, payload, want string
		status             int
	}{
		{"create_match", `{`, `"MALFORMED_REQUEST"`, 400},
		{"create_match", `[]`, `"MALFORMED_REQUEST"`, 400},
		{"create_match", `7`, `"MALFORMED_REQUEST"`, 400},
		{"create_match", `{} {}`, `"MALFORMED_REQUEST"`, 400},
		{"create_match", `{"seats":1,"seats":2}`, `"MALFORMED_REQUEST"`, 400},
		{"create_match", "{\"preset\":\"\xff\"}", ``, 400},
		{"create_match", `{"colour":1}`, `{"reason":"UNKNOWN_FIELD","args":{"field":"colour"}}`, 400},
		{"create_match", `{"Seats":2}`, `{"reason":"UNKNOWN_FIELD","args":{"field":"Seats"}}`, 400},
		{"create_match", `{"rules":{"claim_mode":"automatic"}}`, `{"reason":"UNKNOWN_FIELD","args":{"field":"rules.claim_mode"}}`, 400},
		{"create_match", `{"seats":"2"}`, `{"reason":"WRONG_TYPE","args":{"expected":"an integer","field":"seats"}}`, 400},
		{"create_match", `{"seats":2.5}`, `"WRONG_TYPE"`, 400},
		{"get_result", `{"result_id":"a\u0000"}`, `"OUT_OF_RANGE"`, 400}, // PostgreSQL takes no NUL
		{"get_record", `{"result_id":"\u0000"}`, `"OUT_OF_RANGE"`, 400},
		{"resume_match", `{"table_id":"a\u0000b"}`, `"OUT_OF_RANGE"`, 400},
		{"create_match", `{"seats":[2]}`, `"WRONG_TYPE"`, 400},
		{"create_match", `{"preset":1}`, `{"reason":"WRONG_TYPE","args":{"expected":"a string","field":"preset"}}`, 400},
		{"create_match", `{"rules":[]}`, `{"reason":"WRONG_TYPE","args":{"expected":"an object","field":"rules"}}`, 400},
		{"create_match", `{"rules":{"valid_anim_ms":true}}`, `"field":"rules.valid_anim_ms"`, 400},
		{"create_match", `{"seats":0}`, `{"reason":"OUT_OF_RANGE","args":{"allowed":"1 to 8","field":"seats","value":"0"}}`, 400},
		{"create_match", `{"seats":9}`, `"OUT_OF_RANGE"`, 400},
		{"create_match", `{"seats":99999999999999999999}`, `"OUT_OF_RANGE"`, 400},
		{"create_match", `{"seed":2147483648}`, `"OUT_OF_RANGE"`, 400},
		{"create_match", `{"seed":-2147483649}`, `"OUT_OF_RANGE"`, 400},
		{"create_match", `{"request_id":"` + strings.Repeat("x", 65) + `"}`, `"field":"request_id"`, 400},
		{"create_match", `{"rules":{"initial_board_size":13}}`, `"field":"rules.initial_board_size"`, 400},
		{"create_match", `{"rules":{"refill_policy":"never"}}`, `"field":"rules.refill_policy"`, 400},
		{"create_match", `{"rules":{"penalty_mode":"time"}}`, `"OUT_OF_RANGE"`, 400},
		{"create_match", `{"rules":{"penalty_time_ms":5}}`, `"field":"rules.penalty_time_ms"`, 400},
		{"create_match", `{"rules":{"time_limit_ms":999}}`, `"field":"rules.time_limit_ms"`, 400},
		{"create_match", `{"rules":{"claim_grace_ms":1001}}`, `"field":"rules.claim_grace_ms"`, 400},
		{"create_match", `{"rules":{"valid_anim_ms":-1}}`, `"field":"rules.valid_anim_ms"`, 400},
		{"create_match", `{"rules":{"invalid_anim_ms":10001}}`, `"field":"rules.invalid_anim_ms"`, 400},
		{"create_match", `{"rules":{"refill_anim_ms":10001}}`, `"field":"rules.refill_anim_ms"`, 400},
		{"create_match", `{"rules":{"expand_anim_ms":10001}}`, `"field":"rules.expand_anim_ms"`, 400},
		{"create_match", `{"rules":{"idle_limit_ms":999}}`, `"field":"rules.idle_limit_ms"`, 400},
		{"create_match", `{"rules":{"drop_hold_ms":600001}}`, `"field":"rules.drop_hold_ms"`, 400},
		{"create_match", `{"preset":"Classic"}`, `"UNKNOWN_PRESET"`, 400},
		{"create_match", `{"preset":""}`, `"UNKNOWN_PRESET"`, 400},
		{"create_match", `{"preset":"` + strings.Repeat("x", 4000) + `"}`, `"UNKNOWN_PRESET"`, 400},
		{"create_match", `{"test_deck":"0000 0000"}`, ``, 400}, // a card twice, or no such field
		{"create_match", `{"test_panic_at":"nowhere"}`, ``, 400},
		{"hello", `{"version":1}`, `{"reason":"UNKNOWN_FIELD","args":{"field":"version"}}`, 400},
		{"hello", `{"versions":1}`, `"WRONG_TYPE"`, 400},
		{"hello", `{"versions":["1"]}`, `"WRONG_TYPE"`, 400},
		{"hello", `{"versions":[2,3]}`, `{"reason":"UNSUPPORTED_VERSION","args":{"supported":[1]}}`, 400},
		{"hello", `{"versions":[]}`, `"UNSUPPORTED_VERSION"`, 400},
		{"hello", `{"client":1}`, `"WRONG_TYPE"`, 400},
		{"hello", `{"client":"` + strings.Repeat("x", 257) + `"}`, `"OUT_OF_RANGE"`, 400},
		{"hello", strings.Repeat("[", 3000), `"MALFORMED_REQUEST"`, 400},
	}
	json1, proto1 := connect(t, on, asJSON), connect(t, on, asProtobuf)
	for _, c := range cases {
		status, body := ask(t, on, http.MethodPost, "/v2/rpc/"+c.rpc, quoted(c.payload), bearer(json1.user))
		var answer struct {
			Message string `json:"message"`
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil || status != c.status || !strings.Contains(answer.Message, c.want) || !isReason(answer.Message) {
			t.Errorf("%s %.100s over HTTP is answered %d %s, want %d %s", c.rpc, c.payload, status, body, c.status, c.want)
		}
		for _, p := range []*peer{json1, proto1} {
			if strings.Contains(c.payload, "\xff") {
				continue // no socket carries it
			}
			_, refused := p.rpc(c.rpc, c.payload)
			if refused.GetCode() != 7 || !strings.Contains(refused.GetMessage(), c.want) || !isReason(refused.GetMessage()) {
				t.Errorf("%s %.100s over a %s socket is answered {%v}, want %s", c.rpc, c.payload, p.format, refused, c.want)
			}
		}
	}
	tooLarge := strings.Repeat(" ", on.limits.RequestBytesMax) + "{}" // fits into no socket frame
	if status, body := ask(t, on, http.MethodPost, "/v2/rpc/hello", quoted(tooLarge), bearer(json1.user)); status != 400 || !strings.Contains(body, "REQUEST_TOO_LARGE") {
		t.Errorf("a request too large is answered %d %s", status, body)
	}
	if _, refused := json1.rpc("no_such_rpc", "{}"); refused.GetCode() != 6 {
		t.Errorf("an unknown RPC is answered {%v}", refused)
	}
	if status, body := ask(t, on, http.MethodPost, "/v2/rpc/no_such_rpc", `"{}"`, bearer(json1.user)); status != http.StatusNotFound {
		t.Errorf("an unknown RPC over HTTP is answered %d %s", status, body)
	}
}

// isReason says whether an error's text is {"reason":…,"args":{…}}.
func isReason(message string) bool {
	var body struct {
		Reason string         `json:"reason"`
		Args   map[string]any `json:"args"`
	}
	return json.Unmarshal([]byte(message), &body) == nil && body.Reason != "" && body.Args != nil
}

// TestHello asks the server about itself, by all ways and by nobody in particular.
func TestHello(t *testing.T) {
	t.Parallel()
	on := shared(t)
	p := connect(t, on, asJSON)
	check := func(way, answer string) {
		t.Helper()
		var hello struct {
			Versions []int           `json:"protocol_versions"`
			OpCodes  map[string]int  `json:"op_codes"`
			TimeMs   int64           `json:"server_time_ms"`
			Presets  map[string]any  `json:"presets"`
			Limits   json.RawMessage `json:"limits"`
		}
		if err := json.Unmarshal([]byte(answer), &hello); err != nil {
			t.Errorf("%s: %v: %s", way, err, answer)
		}
		if fmt.Sprint(hello.Versions) != "[1]" || hello.OpCodes["CLAIM_SET"] != 1 || hello.OpCodes["ERROR"] != 107 || hello.TimeMs < 1.6e12 ||
			hello.Presets["classic"] == nil || len(hello.Limits) == 0 {
			t.Errorf("%s: %s", way, answer)
		}
	}
	inHTTP := func(way, path, body string, authorize func(*http.Request)) {
		t.Helper()
		status, answer := ask(t, on, http.MethodPost, path, body, authorize)
		var outer struct {
			Payload string `json:"payload"`
		}
		if err := json.Unmarshal([]byte(answer), &outer); err != nil || status != http.StatusOK {
			t.Errorf("%s is answered %d %s", way, status, answer)
			return
		}
		check(way, outer.Payload)
	}
	inHTTP("HTTP", "/v2/rpc/hello", `"{}"`, bearer(p.user))
	inHTTP("HTTP without a payload", "/v2/rpc/hello", `""`, bearer(p.user))
	inHTTP("HTTP in capitals", "/v2/rpc/HELLO", `"{\"client\":\"me\",\"versions\":[2,1]}"`, bearer(p.user))
	inHTTP("HTTP with the server's key", "/v2/rpc/hello?http_key="+on.httpKey, `"{}"`, nil)
	status, raw := ask(t, on, http.MethodPost, "/v2/rpc/hello?unwrap", `{"versions":[1]}`, bearer(p.user))
	if status != http.StatusOK {
		t.Errorf("unwrapped: %d %s", status, raw)
	}
	check("HTTP, unwrapped", raw)
	for _, payload := range []string{"", "{}", `{"versions":null,"client":null}`} {
		answer, refused := p.rpc("hello", payload)
		if refused != nil {
			t.Errorf("a socket, %q: {%v}", payload, refused)
		}
		check("a socket", answer)
	}
	for way, authorize := range map[string]func(*http.Request){
		"nobody": nil, "a false token": func(r *http.Request) { r.Header.Set("Authorization", "Bearer x.y.z") },
	} {
		if status, body := ask(t, on, http.MethodPost, "/v2/rpc/hello", `"{}"`, authorize); status != http.StatusUnauthorized {
			t.Errorf("%s is answered %d %s", way, status, body)
		}
	}
	if status, body := ask(t, on, http.MethodPost, "/v2/rpc/hello?http_key=false", `"{}"`, nil); status != http.StatusUnauthorized {
		t.Errorf("a false key is answered %d %s", status, body)
	}
}

// TestCreateMatchNeedsAUser: the server's own key opens no matches.
func TestCreateMatchNeedsAUser(t *testing.T) {
	t.Parallel()
	on := shared(t)
	status, body := ask(t, on, http.MethodPost, "/v2/rpc/create_match?http_key="+on.httpKey, `"{}"`, nil)
	if status != http.StatusForbidden || !strings.Contains(body, `NO_USER`) {
		t.Errorf("answered %d %s", status, body)
	}
}

// TestCreateMatchOnce: requests with one id are one request, however many come at once and whichever way.
func TestCreateMatchOnce(t *testing.T) {
	t.Parallel()
	on := shared(t)
	p := connect(t, on, asProtobuf)
	q := connectAs(t, on, p.user, asJSON)
	const request = `{"request_id":"the-same","seats":3,"preset":"fast"}`
	answers := make(chan string, 24)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			status, body := ask(t, on, http.MethodPost, "/v2/rpc/create_match", quoted(request), bearer(p.user))
			if status != http.StatusOK {
				t.Errorf("answered %d %s", status, body)
			}
			var outer struct {
				Payload string `json:"payload"`
			}
			_ = json.Unmarshal([]byte(body), &outer)
			answers <- outer.Payload
		})
		for _, way := range []*peer{p, q} {
			all.Go(func() {
				answer, refused := way.rpc("create_match", request)
				if refused != nil {
					t.Errorf("answered {%v}", refused)
				}
				answers <- answer
			})
		}
	}
	all.Wait()
	close(answers)
	one := matchOf(t, <-answers)
	for answer := range answers {
		if other := matchOf(t, answer); other.MatchID != one.MatchID || other.TableID != one.TableID {
			t.Fatalf("two matches of one request: %v and %v", one, other)
		}
	}
	if one.Seats != 3 || one.Preset != "fast" {
		t.Errorf("answer %+v", one)
	}
	if again, _ := p.rpc("create_match", ` {"preset":"fast", "seats":3, "request_id":"the-same"} `); matchOf(t, again).MatchID != one.MatchID {
		t.Error("the same request, written otherwise, is another one")
	}
	if _, refused := p.rpc("create_match", `{"request_id":"the-same","seats":2,"preset":"fast"}`); !strings.Contains(refused.GetMessage(), "REQUEST_ID_REUSED") {
		t.Errorf("another request under the same id is answered {%v}", refused)
	}
	other := connect(t, on, asJSON)
	if answer, _ := other.rpc("create_match", request); matchOf(t, answer).MatchID == one.MatchID {
		t.Error("two users share a request id")
	}
	first, _ := p.rpc("create_match", `{}`)
	second, _ := p.rpc("create_match", `{}`)
	if matchOf(t, first).MatchID == matchOf(t, second).MatchID {
		t.Error("two requests without an id are one")
	}
}

func matchOf(t *testing.T, answer string) client.CreatedMatch {
	t.Helper()
	var made client.CreatedMatch
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.MatchID == "" {
		t.Errorf("create_match is answered %q: %v", answer, err)
	}
	return made
}

// TestTooManyMatches: scenario 29. A user may open so many matches and no more.
func TestTooManyMatches(t *testing.T) {
	t.Parallel()
	on := shared(t)
	if on.limits.OpenMatchesMax > 50 {
		t.Skipf("the server allows %d matches", on.limits.OpenMatchesMax)
	}
	p := connect(t, on, asJSON)
	for i := range on.limits.OpenMatchesMax {
		if _, refused := p.rpc("create_match", `{}`); refused != nil {
			t.Fatalf("match %d: {%v}", i+1, refused)
		}
	}
	status, body := ask(t, on, http.MethodPost, "/v2/rpc/create_match", `"{}"`, bearer(p.user))
	if status != http.StatusTooManyRequests || !strings.Contains(body, "TOO_MANY_MATCHES") {
		t.Errorf("one too many is answered %d %s", status, body)
	}
	create(t, on, client.CreateMatch{Seats: 2}, connect(t, on, asJSON)) // others may
}
