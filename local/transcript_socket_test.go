package local

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"set3d/local/internal/conformance"
)

func (tr *transcript) sockets() {
	a := tr.user("soc")
	for _, path := range []string{"/ws", "/ws?token=x", "/ws?format=xml&token=" + a.token} {
		_, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(tr.url, "http")+path, nil)
		tr.line("%s: %d %v", strings.ReplaceAll(path, a.token, "T"), res.StatusCode, err)
	}
	_, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(tr.url, "http")+"/ws", http.Header{"Authorization": {"Bearer " + a.token}})
	tr.line("token in the header: %d %v", res.StatusCode, err)

	out := tr.user("out")
	tr.http("logout", "POST", "/v2/session/logout", "Bearer "+out.token, `{"token":"`+out.token+`"}`)
	_, res, err = websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(tr.url, "http")+"/ws?token="+out.token, nil)
	tr.line("logged out: %d %v", res.StatusCode, err)

	for _, f := range []format{formatJSON, formatProtobuf} {
		tr.line("format %d", f)
		c := tr.dial(a, f)
		send := func(cid string, e *rtapi.Envelope, until func(*rtapi.Envelope) bool) {
			e.Cid = cid
			c.send(e)
			if until == nil {
				until = isError
			}
			tr.frames(cid, c, until)
		}
		rpc := func(id, payload string) *rtapi.Envelope {
			return &rtapi.Envelope{Message: &rtapi.Envelope_Rpc{Rpc: &api.Rpc{Id: id, Payload: payload}}}
		}
		send("rpc", rpc("CONF_echo", "x"), isRPC)
		send("rpc error", rpc("conf_fail", `{"code":5}`), nil)
		send("rpc plain error", rpc("conf_fail", `{"how":"plain"}`), nil)
		send("rpc unknown", rpc("conf_nothing", ""), nil)
		send("rpc without id", rpc("", ""), nil)
		send("rpc context", rpc("conf_ctx", ""), isRPC)
		c.send(&rtapi.Envelope{Cid: "pong", Message: &rtapi.Envelope_Pong{Pong: &rtapi.Pong{}}})
		tr.frames("pong", c)
		send("status", &rtapi.Envelope{Message: &rtapi.Envelope_StatusUpdate{StatusUpdate: &rtapi.StatusUpdate{Status: wrapperspb.String("busy")}}}, isReply("status"))
		send("long status", &rtapi.Envelope{Message: &rtapi.Envelope_StatusUpdate{StatusUpdate: &rtapi.StatusUpdate{Status: wrapperspb.String(strings.Repeat("x", 2049))}}}, nil)
		c.send(&rtapi.Envelope{Cid: "empty"})
		c.awaitClosed()
	}
	for what, frame := range map[string]string{"garbage": "{", "unknown field": `{"nothing":{}}`, "bad base64": `{"match_data_send":{"match_id":"x","op_code":"1","data":"***"}}`} {
		c := tr.dial(a, formatJSON)
		c.sendRaw([]byte(frame))
		c.awaitClosed()
		_ = what
	}
	c := tr.dial(a, formatProtobuf)
	c.sendRaw([]byte{0xff})
	c.awaitClosed()
	c = tr.dial(a, formatJSON)
	c.format = formatProtobuf // the wrong frame type
	c.send(&rtapi.Envelope{Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}})
	c.awaitClosed()
	c = tr.dial(a, formatJSON)
	_ = c.conn.WriteMessage(websocket.BinaryMessage, []byte(`{"ping":{}}`))
	c.awaitClosed()
	c = tr.dial(a, formatJSON)
	c.sendRaw([]byte(`{"rpc":{"id":"conf_echo","payload":"` + strings.Repeat("x", 5000) + `"}}`))
	c.awaitClosed()
	tr.line("garbage, wrong frames and long ones close the socket")
}

// dial opens a socket and passes over its own status event.
func (tr *transcript) dial(a account, f format) *client {
	tr.Helper()
	c := a.dial(f)
	c.await("status", isStatus)
	return c
}

func leaveEnvelope(id string) *rtapi.Envelope {
	return &rtapi.Envelope{Message: &rtapi.Envelope_MatchLeave{MatchLeave: &rtapi.MatchLeave{MatchId: id}}}
}

func (tr *transcript) seen(a account, id string) {
	tr.rpc(a, "seen", "conf_signal", map[string]any{"id": id, "data": ""})
}

func (tr *transcript) joins() {
	a, b := tr.user("joa"), tr.user("job")
	id := tr.create(a, "match", map[string]any{"label": `{"l":1}`})
	ca, cb := tr.dial(a, formatJSON), tr.dial(b, formatProtobuf)
	ask := func(what string, c *client, e *rtapi.Envelope, until ...func(*rtapi.Envelope) bool) {
		e.Cid = what
		c.send(e)
		tr.frames(what, c, until...)
	}
	ask("garbage", ca, joinEnvelope("x", nil), isError)
	ask("no node", ca, joinEnvelope("8a6a1cc4-0b1c-4f0f-8b6a-111111111111", nil), isError)
	ask("not there", ca, joinEnvelope("8a6a1cc4-0b1c-4f0f-8b6a-111111111111.local", nil), isError)
	ask("elsewhere", ca, joinEnvelope("8a6a1cc4-0b1c-4f0f-8b6a-111111111111.x", nil), isError)
	ask("not relayed", ca, joinEnvelope("8a6a1cc4-0b1c-4f0f-8b6a-111111111111.", nil), isError)
	ask("nothing", ca, &rtapi.Envelope{Message: &rtapi.Envelope_MatchJoin{MatchJoin: &rtapi.MatchJoin{}}}, isError)
	ask("bad token", ca, &rtapi.Envelope{Message: &rtapi.Envelope_MatchJoin{MatchJoin: &rtapi.MatchJoin{Id: &rtapi.MatchJoin_Token{Token: "x"}}}}, isError)
	ask("refused", ca, joinEnvelope(id, map[string]string{"refuse": "1"}), isError)
	ask("refused with a reason", ca, joinEnvelope(id, map[string]string{"refuse": "1", "reason": `{"reason":"TABLE_FULL"}`}), isError)
	ask("context", ca, joinEnvelope(id, map[string]string{"describe": "1"}), isError)
	ask("join", ca, joinEnvelope(id, nil), isMatch, isData(100), isEvent)
	ask("join again", ca, joinEnvelope(id, nil), isMatch)
	ask("second", cb, joinEnvelope(id, map[string]string{"m": "v"}), isMatch, isData(100), isEvent)
	tr.frames("first hears", ca, isEvent)
	tr.seen(a, id)
	ask("leave garbage", cb, leaveEnvelope("x"), isError)
	ask("leave", cb, leaveEnvelope(id), isReply("leave"))
	tr.frames("first hears", ca, isEvent, isData(120))
	ask("leave again", cb, leaveEnvelope(id), isReply("leave again"))
	ask("join by another spelling", cb, joinEnvelope(strings.ToUpper(strings.TrimSuffix(id, ".local"))+".local", nil), isMatch, isData(100), isEvent)
	tr.frames("first hears", ca, isEvent)
	cb.conn.Close()
	tr.frames("first hears", ca, isEvent, isData(120))
	tr.seen(a, id)
	tr.rpc(a, "get", "conf_get", id)
}

func (tr *transcript) matchData() {
	a, b, z := tr.user("daa"), tr.user("dab"), tr.user("daz")
	id := tr.create(a, "match", nil)
	ca, cb, cz := tr.dial(a, formatJSON), tr.dial(b, formatProtobuf), tr.dial(z, formatJSON)
	ca.join(id)
	tr.frames("joined", ca, isData(100), isEvent)
	cb.join(id)
	tr.frames("joined", cb, isData(100), isEvent)
	tr.frames("joined", ca, isEvent)

	cz.send(dataEnvelope(id, conformance.OpEcho, "stranger"))
	tr.frames("stranger", cz)
	cz.send(dataEnvelope("x", conformance.OpEcho, "stranger"))
	tr.frames("garbage", cz, isError)
	cz.send(dataEnvelope("x.local", conformance.OpEcho, "stranger"))
	tr.frames("garbage", cz, isError)

	ca.send(dataEnvelope(id, conformance.OpEcho, "hello \x00\xff"))
	tr.frames("echo", ca, isData(101))
	tr.frames("echo", cb, isData(101))
	cb.send(dataEnvelope(id, conformance.OpTargets, ""))
	tr.frames("targets", cb, isData(102), isData(103), isData(104))
	tr.frames("targets", ca, isData(103), isData(104))
	ca.send(dataEnvelope(id, conformance.OpBadTarget, ""))
	tr.frames("bad targets", ca, isData(110), isData(111))
	tr.frames("bad targets", cb, isData(110))
	ca.send(dataEnvelope(id, conformance.OpDescribe, ""))
	tr.frames("loop context", ca, isData(108))
	ca.send(dataEnvelope(id, conformance.OpLabel, "new label"))
	tr.frames("label", ca, isData(107))
	ca.send(dataEnvelope(id, conformance.OpDescribe, ""))
	tr.frames("loop context", ca, isData(108))
	tr.rpc(a, "get", "conf_get", id)
	ca.send(dataEnvelope(id, 0, "no op code"))
	ca.send(dataEnvelope(id, conformance.OpKick, ""))
	tr.frames("kicked", ca, isData(105))
	tr.frames("other hears", cb, isData(107), isEvent, isData(120))
	ca.send(dataEnvelope(id, conformance.OpEcho, "after the kick"))
	tr.frames("after the kick", ca)
	ca.join(id)
	tr.frames("joined again", ca, isData(100), isEvent)
	tr.seen(a, id)
}

func (tr *transcript) hooks() {
	a := tr.user("hoo")
	for _, f := range []format{formatJSON, formatProtobuf} {
		id := tr.create(a, "match", nil)
		c := tr.dial(a, f)
		c.join(id)
		tr.frames("joined", c, isData(100), isEvent)
		e := dataEnvelope(id, conformance.OpHookError, "x")
		e.Cid = "7"
		c.send(e)
		tr.frames("error", c, isError)
		c.send(dataEnvelope(id, conformance.OpHookChange, "x"))
		tr.frames("changed", c, isData(101))
		c.send(dataEnvelope(id, conformance.OpHookNowhere, "x"))
		tr.frames("nowhere", c)
		c.send(dataEnvelope(id, conformance.OpHookRaw, "x"))
		tr.frames("raw", c, isData(156))
		c.send(dataEnvelope(id, conformance.OpHookNil, "x"))
		c.awaitClosed()
		tr.line("nil closes the socket")
	}
	id := tr.create(a, "match", nil)
	c := tr.dial(a, formatJSON)
	c.join(id)
	tr.frames("joined", c, isData(100), isEvent)
	c.send(dataEnvelope(id, conformance.OpHookType, "x"))
	c.send(&rtapi.Envelope{Cid: "unread", Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}})
	other := tr.dial(a, formatJSON)
	other.join(id)
	c.await("the other's joining", isEvent)
	tr.line("a changed type leaves a zombie that hears: answered %t", c.has(func(e *rtapi.Envelope) bool { return e.Cid == "unread" }))
}

func (tr *transcript) matchEnd() {
	a, b := tr.user("ena"), tr.user("enb")
	id := tr.create(a, "match", nil)
	ca, cb := tr.dial(a, formatJSON), tr.dial(b, formatProtobuf)
	ca.join(id)
	tr.frames("joined", ca, isData(100), isEvent)
	cb.join(id)
	tr.frames("joined", cb, isData(100), isEvent)
	tr.frames("joined", ca, isEvent)
	ca.send(dataEnvelope(id, conformance.OpEnd, ""))
	tr.frames("the end", ca, isData(106))
	tr.frames("the end", cb, isData(106))
	tr.rpc(a, "get", "conf_get", id)
	ca.send(dataEnvelope(id, conformance.OpEcho, "late"))
	tr.frames("late data", ca)
	e := leaveEnvelope(id)
	e.Cid = "late"
	ca.send(e)
	tr.frames("late leave", ca, isReply("late"))
	e = joinEnvelope(id, nil)
	e.Cid = "late"
	ca.send(e)
	tr.frames("late join", ca, isError)
}

func (tr *transcript) relayed() {
	a, b := tr.user("rea"), tr.user("reb")
	ca, cb := tr.dial(a, formatJSON), tr.dial(b, formatProtobuf)
	ca.send(&rtapi.Envelope{Cid: "c", Message: &rtapi.Envelope_MatchCreate{MatchCreate: &rtapi.MatchCreate{}}})
	id := ca.await("match", isMatch).GetMatch().MatchId
	tr.frames("created", ca, isEvent)
	cb.join(id)
	tr.frames("joined", cb, isEvent)
	tr.frames("joined", ca, isEvent)
	ca.send(dataEnvelope(id, 5, "to the others"))
	tr.frames("data", cb, isData(5))
	tr.frames("no echo", ca)
	status, body := a.do("GET", "/v2/match?authoritative=false&limit=100", "")
	tr.line("listed: %d %t", status, strings.Contains(body, id))
	ca.send(&rtapi.Envelope{Cid: "n", Message: &rtapi.Envelope_MatchCreate{MatchCreate: &rtapi.MatchCreate{Name: "named" + tr.run}}})
	tr.frames("named", ca, isMatch, isEvent)
	cb.send(&rtapi.Envelope{Cid: "n", Message: &rtapi.Envelope_MatchCreate{MatchCreate: &rtapi.MatchCreate{Name: "named" + tr.run}}})
	tr.frames("named again", cb, isMatch, isEvent)
	tr.frames("named again", ca, isEvent)
}

func addEnvelope(m *rtapi.MatchmakerAdd) *rtapi.Envelope {
	return &rtapi.Envelope{Cid: "add", Message: &rtapi.Envelope_MatchmakerAdd{MatchmakerAdd: m}}
}

func (tr *transcript) matchmaker() {
	a, b := tr.user("mma"), tr.user("mmb")
	ca, cb := tr.dial(a, formatJSON), tr.dial(b, formatProtobuf)
	for _, bad := range []*rtapi.MatchmakerAdd{
		{MinCount: 1, MaxCount: 2}, {MinCount: 3, MaxCount: 2}, {MinCount: 2, MaxCount: 2, CountMultiple: wrapperspb.Int32(0)},
		{MinCount: 3, MaxCount: 4, CountMultiple: wrapperspb.Int32(2)}, {MinCount: 2, MaxCount: 3, CountMultiple: wrapperspb.Int32(2)},
		{MinCount: 2, MaxCount: 2, Query: "+properties.x:"},
	} {
		ca.send(addEnvelope(bad))
		tr.frames("bad", ca, isError)
	}
	ticket := func(c *client, props map[string]string) string {
		c.send(addEnvelope(&rtapi.MatchmakerAdd{
			MinCount: 2, MaxCount: 2, Query: "+properties.run:" + tr.run, StringProperties: props, NumericProperties: map[string]float64{"skill": 1.5},
		}))
		return c.await("ticket", isTicket).GetMatchmakerTicket().Ticket
	}
	drop := func(what, id string, until func(*rtapi.Envelope) bool) {
		ca.send(&rtapi.Envelope{Cid: "drop", Message: &rtapi.Envelope_MatchmakerRemove{MatchmakerRemove: &rtapi.MatchmakerRemove{Ticket: id}}})
		tr.frames(what, ca, until)
	}
	one := ticket(ca, nil)
	ticket(ca, nil)
	ticket(ca, nil)
	ca.send(addEnvelope(&rtapi.MatchmakerAdd{MinCount: 2, MaxCount: 2}))
	tr.frames("fourth ticket", ca, isError)
	drop("remove", one, isReply("drop"))
	drop("remove again", one, isError)
	drop("remove nothing", "", isError)
	ca.conn.Close()
	for _, want := range []string{"match", "error", ""} {
		ca = tr.dial(a, formatJSON)
		ta := ticket(ca, map[string]string{"run": tr.run, "want": want})
		tb := ticket(cb, map[string]string{"run": tr.run, "want": want})
		ma, mb := ca.await("matched", isPaired).GetMatchmakerMatched(), cb.await("matched", isPaired).GetMatchmakerMatched()
		tr.line("want %q: own tickets %t %t, match %t, token %t, users %d, self %s", want, ma.Ticket == ta, mb.Ticket == tb,
			ma.GetMatchId() != "" && ma.GetMatchId() == mb.GetMatchId(), ma.GetToken() != "" && ma.GetToken() == mb.GetToken(), len(ma.Users), ma.Self.GetPresence().GetUsername())
		props, _ := json.Marshal([]any{mb.Self.StringProperties, mb.Self.NumericProperties})
		tr.line("properties %s", props)
		if want == "match" {
			ca.join(ma.GetMatchId())
			tr.seen(a, ma.GetMatchId())
		} else {
			ca.send(&rtapi.Envelope{Cid: "t", Message: &rtapi.Envelope_MatchJoin{MatchJoin: &rtapi.MatchJoin{Id: &rtapi.MatchJoin_Token{Token: ma.GetToken()}}}})
			tr.frames("by token", ca, isMatch, isEvent)
		}
		ca.conn.Close()
	}
}
