package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/heroiclabs/nakama-common/rtapi"
	"google.golang.org/protobuf/proto"

	"set3d/client"
)

// requestsOf is one request of each API of Nakama's that the game does not use, by the name that switches it on.
func requestsOf() map[string][]string {
	const id = "/6f1b1a52-0000-4000-8000-000000000000"
	return map[string][]string{
		"chat": {"GET /v2/channel/2...room"},
		"groups": {
			"POST /v2/group", "PUT /v2/group" + id, "DELETE /v2/group" + id, "POST /v2/group" + id + "/join", "POST /v2/group" + id + "/leave",
			"POST /v2/group" + id + "/add", "POST /v2/group" + id + "/ban", "POST /v2/group" + id + "/kick", "POST /v2/group" + id + "/promote",
			"POST /v2/group" + id + "/demote", "GET /v2/group" + id + "/user", "GET /v2/user" + id + "/group", "GET /v2/group",
		},
		"tournaments": {
			"GET /v2/tournament", "POST /v2/tournament/t/join", "GET /v2/tournament/t", "GET /v2/tournament/t/owner" + id, "POST /v2/tournament/t",
			"DELETE /v2/tournament/t",
		},
		"purchases": {
			"POST /v2/iap/purchase/apple", "POST /v2/iap/purchase/google", "POST /v2/iap/purchase/huawei", "POST /v2/iap/purchase/facebookinstant",
			"POST /v2/iap/purchase/samsung", "POST /v2/iap/subscription/apple", "POST /v2/iap/subscription/google", "POST /v2/iap/subscription",
			"GET /v2/iap/subscription/p",
		},
		"friend_imports": {"POST /v2/friend/facebook", "POST /v2/friend/steam"},
	}
}

// refusedAPI says which API an error message says is switched off; "" if it is another message.
func refusedAPI(message string) string {
	var refusal struct {
		Reason string
		Args   struct{ API string }
	}
	if json.Unmarshal([]byte(message), &refusal) != nil || refusal.Reason != "API_DISABLED" {
		return ""
	}
	return refusal.Args.API
}

// TestUnusedAPIsAreRefused asks for everything that the game does not use. The development host does not have what is asked for by
// HTTP anyway.
func TestUnusedAPIsAreRefused(t *testing.T) {
	t.Parallel()
	on := shared(t)
	user := signIn(t, on)
	for api, requests := range requestsOf() {
		for _, request := range requests {
			var method, path, body string
			_, _ = fmt.Sscan(request, &method, &path)
			if method != http.MethodGet {
				body = "{}"
			}
			status, answer := ask(t, on, method, path, body, bearer(user))
			var problem struct{ Message string }
			_ = json.Unmarshal([]byte(answer), &problem)
			if theLab.program != "" && status == http.StatusNotImplemented {
				continue
			}
			if status != http.StatusForbidden || refusedAPI(problem.Message) != api {
				t.Errorf("%s is answered %d %s", request, status, answer)
			}
		}
	}
}

// chatRequests is one of each message of chat.
func chatRequests() []*rtapi.Envelope {
	return []*rtapi.Envelope{
		{Message: &rtapi.Envelope_ChannelJoin{ChannelJoin: &rtapi.ChannelJoin{Target: "room", Type: 1}}},
		{Message: &rtapi.Envelope_ChannelMessageSend{ChannelMessageSend: &rtapi.ChannelMessageSend{ChannelId: "2...room", Content: "{}"}}},
		{Message: &rtapi.Envelope_ChannelMessageUpdate{ChannelMessageUpdate: &rtapi.ChannelMessageUpdate{ChannelId: "2...room", Content: "{}"}}},
		{Message: &rtapi.Envelope_ChannelMessageRemove{ChannelMessageRemove: &rtapi.ChannelMessageRemove{ChannelId: "2...room"}}},
		{Message: &rtapi.Envelope_ChannelLeave{ChannelLeave: &rtapi.ChannelLeave{ChannelId: "2...room"}}},
	}
}

// TestChatIsRefused: on a socket of each format, which stays open.
func TestChatIsRefused(t *testing.T) {
	t.Parallel()
	for _, format := range []client.Format{client.FormatJSON, client.FormatProtobuf} {
		p := connect(t, shared(t), format)
		for _, request := range chatRequests() {
			answer := p.call(proto.Clone(request).(*rtapi.Envelope)).GetError()
			if answer.GetCode() != int32(rtapi.Error_RUNTIME_FUNCTION_EXCEPTION) || refusedAPI(answer.GetMessage()) != "chat" {
				t.Errorf("%v is answered %v", request, answer)
			}
		}
		p.ping()
	}
}

// TestAPIsCanBeSwitchedOn: then Nakama answers, which in the development host means that it says that it has no chat.
func TestAPIsCanBeSwitchedOn(t *testing.T) {
	t.Parallel()
	p := connect(t, ownServer(t, "SET3D_NAKAMA_APIS=groups,chat"), client.FormatJSON)
	answer := p.call(chatRequests()[0])
	if message := answer.GetError().GetMessage(); refusedAPI(message) != "" || message == "" {
		t.Errorf("with chat switched on it is answered %v", answer)
	}
	p.ping()
}
