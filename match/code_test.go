package match

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// resolve asks for the table behind a code.
func (u *fakeUser) resolve(t *testing.T, code string) (resolveResponse, error) {
	t.Helper()
	payload, _ := json.Marshal(map[string]string{"code": code})
	answer, err := u.rpc("resolve_code", string(payload))
	var found resolveResponse
	if err == nil {
		err = json.Unmarshal([]byte(answer), &found)
	}
	return found, err
}

func TestCodesAreDrawnFairly(t *testing.T) {
	seen := map[byte]int{}
	for range 5_000 {
		code := newCode()
		if len(code) != codeLength || cleanCode(code) != code {
			t.Fatalf("code %q", code)
		}
		for i := range len(code) {
			seen[code[i]]++
		}
	}
	if strings.ContainsAny(codeLetters, "01OILU") || len(seen) != len(codeLetters) {
		t.Fatalf("%d letters of %q", len(seen), codeLetters)
	}
	for letter, n := range seen {
		if n < 800 || n > 1_200 {
			t.Errorf("%c comes %d times in 30000, not about 1000", letter, n)
		}
	}
}

func TestCleanCode(t *testing.T) {
	for typed, want := range map[string]string{
		"ABC234": "ABC234", "abc234": "ABC234", " abc-234\t": "ABC234", "a-b-c 2 3 4": "ABC234", "": "", "ABC23": "", "ABC2345": "",
		"ABC23O": "", "ÀBC234": "", "ABC23\x00": "", "ſBC234": "", strings.Repeat(" ", 27) + "ABC234": "", "\xff\xfe": "",
	} {
		if got := cleanCode(typed); got != want {
			t.Errorf("%q is taken for %q", typed, got)
		}
	}
}

// A code that is in use, by a table or by one that is being made, is not given out again; when its table is gone it may be.
func TestCodesDoNotCollide(t *testing.T) {
	n := newFake(t, "SET3D_MAX_TABLES_PER_USER=100", "SET3D_EMPTY_TABLE_MS=1000")
	ann := n.session("ann")
	drawn := 0
	tablesOf(n).newCode = func() string {
		drawn++
		return fmt.Sprintf("ABC2%02d", 22+drawn/10%5) // each ten times in a row, then round again
	}
	codes := map[string]*fakeMatch{}
	var all sync.WaitGroup
	var mu sync.Mutex
	for range 5 {
		all.Go(func() {
			m := ann.create(`{}`)
			mu.Lock()
			defer mu.Unlock()
			codes[m.table().setup.Code] = m
		})
	}
	all.Wait()
	if len(codes) != 5 {
		t.Fatalf("five tables have %d codes", len(codes))
	}
	for code, m := range codes {
		if found, err := ann.resolve(t, code); err != nil || found.MatchID != m.id {
			t.Fatalf("%s leads to %v, %v", code, found.MatchID, err)
		}
		m.stop()
		eventually(t, func() bool { return tablesOf(n).byCode(code) == nil })
		again := ann.create(`{}`)
		if again.table().setup.Code != code {
			t.Fatalf("code %s is lost, %s was given", code, again.table().setup.Code)
		}
	}
}

func TestResolveCode(t *testing.T) {
	n := newFake(t)
	ann, bob := n.session("ann"), n.session("bob")
	m := ann.create(`{"private":true,"preset":"timed","seats":3,"rules":{"time_limit_ms":60000}}`)
	ann.join(m)
	code := m.table().setup.Code
	for _, typed := range []string{code, strings.ToLower(code), code[:3] + "-" + code[3:], " " + code[:2] + " " + code[2:] + " "} {
		found, err := bob.resolve(t, typed)
		if err != nil || found.MatchID != m.id || found.TableID != m.table().setup.TableID || found.Code != code || !found.Private ||
			found.Phase != "lobby" || found.Open || found.Seats != 3 || found.Taken != 1 || found.Preset != "custom" || found.Rules.TimeLimitMs != 60_000 {
			t.Fatalf("%q leads to %+v, %v", typed, found, err)
		}
	}
	for payload, want := range map[string]string{
		`{}`: `{"reason":"MISSING_FIELD","args":{"field":"code"}}`, `{"code":1}`: `"WRONG_TYPE"`,
		`{"code":"` + strings.Repeat(" ", 33) + `"}`: `"OUT_OF_RANGE"`,
	} {
		answer, err := bob.rpc("resolve_code", payload)
		wantError(t, answer, err, want, 3)
	}
	answer, err := bob.rpc("resolve_code", `{"code":"ZZZZZZ"}`)
	wantError(t, answer, err, `{"reason":"UNKNOWN_CODE","args":{}}`, 5)
}

// Wrong codes are limited, however many come at once; right ones cost nothing, but tell nothing either once the limit is reached.
func TestWrongCodesAreLimited(t *testing.T) {
	for range 100 {
		n := newFake(t)
		ann, eve := n.session("ann"), n.session("eve")
		code := ann.create(`{"private":true}`).table().setup.Code
		for range 30 {
			if _, err := eve.resolve(t, code); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		heard := map[string]int{}
		for range 25 {
			all.Go(func() {
				_, err := eve.resolve(t, "222222")
				mu.Lock()
				defer mu.Unlock()
				heard[reasonOf(err)]++
			})
		}
		all.Wait()
		if heard["UNKNOWN_CODE"] != 10 || heard["TOO_MANY_REQUESTS"] != 15 {
			t.Fatalf("answers %v", heard)
		}
		answer, err := eve.rpc("resolve_code", `{"code":"`+code+`"}`)
		wantError(t, answer, err, `{"reason":"TOO_MANY_REQUESTS","args":{"retry_after_ms":6001}}`, 8)
		if _, err := ann.resolve(t, "222222"); reasonOf(err) != "UNKNOWN_CODE" {
			t.Fatalf("another user hears %v", err)
		}
		n.clock.next(n.clock.now() + 6001*time.Millisecond)
		if _, err := eve.resolve(t, code); err != nil {
			t.Fatalf("after the wait: %v", err)
		}
	}
}

// reasonOf is the reason in an error of ours.
func reasonOf(err error) string {
	var body struct{ Reason string }
	if err == nil || json.Unmarshal([]byte(err.Error()), &body) != nil {
		return ""
	}
	return body.Reason
}

// A private table lets in who has its code, a seat, or the promise of one, and whoever opened it.
func TestPrivateTable(t *testing.T) {
	n := newFake(t)
	ann, bob, eve, dan := n.session("ann"), n.session("bob"), n.session("eve"), n.session("dan")
	m := ann.create(`{"private":true,"seats":4}`)
	code := m.table().setup.Code
	if reason := ann.join(m); reason != "" {
		t.Fatalf("who opened it hears %s", reason)
	}
	for _, metadata := range []map[string]string{nil, {}, {"Code": code}, {"code": ""}, {"code": "222222"}, {"code": "\xff"}, {"code": strings.Repeat("x", 10_000)}} {
		if reason := bob.joinWith(m, metadata); reason != `{"reason":"PRIVATE_TABLE","args":{}}` {
			t.Fatalf("%.50q: %s", metadata, reason)
		}
	}
	if reason := bob.joinWith(m, map[string]string{"code": strings.ToLower(code)}); reason != "" {
		t.Fatal(reason)
	}
	m.table().box.reserveSeat(eve.userID, n.clock.now()+time.Minute)
	if reason := eve.join(m); reason != "" {
		t.Fatalf("who was promised a seat hears %s", reason)
	}
	m.leave(eve)
	if reason := n.session("eve").join(m); !strings.Contains(reason, "PRIVATE_TABLE") {
		t.Fatalf("who has left the lobby hears %q", reason)
	}
	for i := range 11 {
		reason := dan.joinWith(m, map[string]string{"code": "222222"})
		if want := map[bool]string{true: "PRIVATE_TABLE", false: "TOO_MANY_REQUESTS"}[i < 10]; !strings.Contains(reason, want) {
			t.Fatalf("wrong code %d: %s", i+1, reason)
		}
	}
	if strings.Contains(m.label, code) || strings.Contains(m.label, ann.userID) {
		t.Fatalf("the label tells too much: %s", m.label)
	}
}

// joinWith is join with metadata.
func (u *fakeUser) joinWith(m *fakeMatch, metadata map[string]string) (reason string) {
	allow, reason := m.attemptWith(u, metadata)
	if allow {
		m.join(u)
	}
	return reason
}
