package tests

import (
	"strings"
	"testing"

	"github.com/heroiclabs/nakama-common/rtapi"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// joinWith is a join with metadata.
func joinWith(matchID string, metadata map[string]string) *rtapi.Envelope {
	in := joinOf(matchID)
	in.GetMatchJoin().Metadata = metadata
	return in
}

// TestFindByCode: a private table is listed nowhere, is shown by its code, and lets in who has it.
func TestFindByCode(t *testing.T) {
	on := shared(t)
	host, guest, stranger := connect(t, on, asJSON), connect(t, on, asProtobuf), connect(t, on, asJSON)
	x := create(t, on, client.CreateMatch{Seats: 2, Rules: quick(nil), Private: true}, host)
	code := x.made.Code
	if len(code) != 6 || strings.ContainsAny(code, "01OILU") || !x.made.Private {
		t.Fatalf("create_match is answered %+v", x.made)
	}
	if w := x.seat(host); w.GetSettings().GetCode() != code || !w.GetSettings().GetPrivate() {
		t.Errorf("the host's WELCOME has the settings {%v}", w.GetSettings())
	}
	c := on.client()
	for _, typed := range []string{code, strings.ToLower(code), code[:3] + "-" + code[3:], " " + code + " "} {
		found, err := c.ResolveCode(t.Context(), guest.user, typed)
		if err != nil || found.MatchID != x.made.MatchID || found.TableID != x.made.TableID || found.Code != code || found.Seats != 2 || found.Taken != 1 ||
			found.Phase != "lobby" || found.Preset != "custom" || !found.Private || len(found.Rules) == 0 {
			t.Errorf("%q leads to %+v, %v", typed, found, err)
		}
	}
	for _, metadata := range []map[string]string{nil, {"code": "222222"}, {"code": ""}, {"code": "\x00\u202e"}} {
		answer := stranger.call(joinWith(x.made.MatchID, metadata))
		if refused := answer.GetError(); refused.GetCode() != 5 || refused.GetMessage() != `{"reason":"PRIVATE_TABLE","args":{}}` {
			t.Errorf("a join with %q is answered {%v}", metadata, answer)
		}
	}
	list, err := c.ListMatches(t.Context(), guest.user, client.ListMatches{Limit: 100})
	for _, m := range list.Matches {
		if err != nil || m.MatchID == x.made.MatchID {
			t.Errorf("the private table is listed: %v", err)
		}
	}
	wantUnlisted(t, on, guest.user, x.made.MatchID, "+label.open:T")
	wantUnlisted(t, on, guest.user, x.made.MatchID, "+label.private:F")
	if text := listing(t, on, guest.user, ""); strings.Contains(text, code) {
		t.Error("Nakama's listing shows the code")
	}
	guest.attend(x.made.MatchID, x.verify(guest))
	if answer := guest.call(joinWith(x.made.MatchID, map[string]string{"code": strings.ToLower(code)})); answer.GetMatch() == nil {
		t.Fatalf("a join with the code is answered {%v}", answer)
	}
	if w := guest.welcome(); w.GetRole() != wire.Role_ROLE_PLAYER || w.GetSettings().GetCode() != code {
		t.Errorf("the guest's WELCOME {%v}", w)
	}
}

// TestFindWrongCodes: whoever guesses is stopped, and learns nothing of right codes then.
func TestFindWrongCodes(t *testing.T) {
	on := shared(t)
	host, guesser := signIn(t, on), signIn(t, on)
	c := on.client()
	made, err := c.CreateMatch(t.Context(), host, client.CreateMatch{Private: true})
	if err != nil {
		t.Fatal(err)
	}
	heard := map[string]int{}
	for range 12 {
		_, err := c.ResolveCode(t.Context(), guesser, "ZZZZZZ")
		heard[client.ReasonOf(err)]++
	}
	if heard["UNKNOWN_CODE"] < 10 || heard["TOO_MANY_REQUESTS"] == 0 || len(heard) != 2 {
		t.Errorf("twelve wrong codes are answered %v", heard)
	}
	if _, err := c.ResolveCode(t.Context(), guesser, made.Code); client.ReasonOf(err) != "TOO_MANY_REQUESTS" {
		t.Errorf("the right code is answered %v", err)
	}
	if _, err := c.ResolveCode(t.Context(), host, made.Code); err != nil {
		t.Errorf("another user: %v", err)
	}
}

// TestFindHostileMetadata: what is sent along with a join to break things breaks nothing.
func TestFindHostileMetadata(t *testing.T) {
	on := shared(t)
	host, p := connect(t, on, asJSON), connect(t, on, asProtobuf)
	x := create(t, on, client.CreateMatch{Seats: 2, Private: true}, host)
	for _, metadata := range []map[string]string{
		{"code": strings.Repeat("x", 3_000)}, {strings.Repeat("k", 3_000): "v"}, {"code": "\u0000\u001b[31m\u202e"}, {"": ""},
	} {
		if answer := p.call(joinWith(x.made.MatchID, metadata)); !strings.Contains(answer.GetError().GetMessage(), "PRIVATE_TABLE") {
			t.Errorf("%.20q is answered {%v}", metadata, answer)
		}
	}
	x.seat(host)
	host.sync()
}
