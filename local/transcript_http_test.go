package local

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

func basic(key string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(key+":"))
}

func (tr *transcript) authentication() {
	key := basic("defaultkey")
	const device, custom, email = "/v2/account/authenticate/device", "/v2/account/authenticate/custom", "/v2/account/authenticate/email"
	id := func(s string) string { return `{"id":"` + s + `"}` }
	tr.http("no key", "POST", device, "", id("0123456789"))
	tr.http("wrong key", "POST", device, basic("x"), id("0123456789"))
	tr.http("no basic", "POST", device, "Bearer x", id("0123456789"))
	tr.http("no id", "POST", device, key, `{}`)
	tr.http("no body", "POST", device, key, ``)
	tr.http("short id", "POST", device, key, id("012345678"))
	tr.http("blank in id", "POST", device, key, id("0123 456789"))
	tr.http("no such field", "POST", device, key, `{"id":"short","other":1}`)
	tr.http("do not create", "POST", device+"?create=false", key, id("nobody-"+tr.run))
	tr.http("bad create", "POST", device+"?create=maybe", key, id("nobody-"+tr.run))
	tr.http("create", "POST", device+"?username=dev"+tr.run, key, id("device-"+tr.run))
	tr.http("again", "POST", device+"?username=other"+tr.run, key, id("device-"+tr.run))
	tr.http("name in use", "POST", device+"?username=dev"+tr.run, key, id("device2-"+tr.run))
	tr.http("long name", "POST", device+"?username="+strings.Repeat("x", 129), key, id("device3-"+tr.run))
	tr.http("tab in name", "POST", device+"?username=a%09b", key, id("device3-"+tr.run))
	tr.http("short custom", "POST", custom, key, id("12345"))
	tr.http("custom", "POST", custom+"?create=true&username=cus"+tr.run, key, `{"id":"custom-`+tr.run+`","vars":{"k":"v"}}`)
	tr.http("no email", "POST", email, key, `{"password":"long enough"}`)
	tr.http("bad email", "POST", email, key, `{"email":"nowhere.example","password":"long enough"}`)
	tr.http("short email", "POST", email, key, `{"email":"a@b.c","password":"long enough"}`)
	tr.http("short password", "POST", email, key, `{"email":"ann@example.com","password":"short"}`)
	mail := `{"email":"Ann` + tr.run + `@example.com","password":"long enough"}`
	tr.http("email", "POST", email+"?username=ann"+tr.run, key, mail)
	tr.http("email again", "POST", email, key, strings.ToLower(mail))
	tr.http("wrong password", "POST", email, key, strings.Replace(mail, "enough", "enuogh", 1))
	tr.http("by name", "POST", email+"?username=ann"+tr.run, key, `{"password":"long enough"}`)

	a := tr.user("session")
	const refresh, logout = "/v2/account/session/refresh", "/v2/session/logout"
	tr.http("refresh nothing", "POST", refresh, key, `{}`)
	tr.http("refresh garbage", "POST", refresh, key, `{"token":"x"}`)
	tr.http("refresh with a session token", "POST", refresh, key, `{"token":"`+a.token+`"}`)
	tr.http("refresh", "POST", refresh, key, `{"token":"`+a.refresh+`","vars":{"a":"b"}}`)
	tr.http("logout garbage", "POST", logout, "Bearer "+a.token, `{"token":"x"}`)
	tr.http("logout", "POST", logout, "Bearer "+a.token, `{"token":"`+a.token+`","refresh_token":"`+a.refresh+`"}`)
	tr.http("after logout", "GET", "/v2/account", "Bearer "+a.token, "")
	tr.http("refresh after logout", "POST", refresh, key, `{"token":"`+a.refresh+`"}`)
	tr.http("health", "GET", "/healthcheck", "", "")
	tr.http("root", "GET", "/", "", "")
}

func (tr *transcript) accounts() {
	a, b := tr.user("acc"), tr.user("acd")
	tr.http("no token", "GET", "/v2/account", "", "")
	tr.http("bad token", "GET", "/v2/account", "Bearer x", "")
	tr.http("basic", "GET", "/v2/account", basic("defaultkey"), "")
	tr.http("account", "GET", "/v2/account", "Bearer "+a.token, "")
	tr.http("update nothing", "PUT", "/v2/account", "Bearer "+a.token, `{}`)
	tr.http("update", "PUT", "/v2/account", "Bearer "+a.token, `{"display_name":"Ann A","avatar_url":"http://x","location":"here","timezone":"UTC"}`)
	tr.http("camel case", "PUT", "/v2/account", "Bearer "+a.token, `{"langTag":"de"}`)
	tr.http("name in use", "PUT", "/v2/account", "Bearer "+a.token, `{"username":"acd`+tr.run+`"}`)
	tr.http("long name", "PUT", "/v2/account", "Bearer "+a.token, `{"username":"`+strings.Repeat("x", 129)+`"}`)
	tr.http("empty name", "PUT", "/v2/account", "Bearer "+a.token, `{"username":""}`)
	tr.http("garbage", "PUT", "/v2/account", "Bearer "+a.token, `{"username":1}`)
	tr.http("after it", "GET", "/v2/account", "Bearer "+a.token, "")
	tr.http("users", "GET", "/v2/user?ids="+a.id+"&usernames=acc"+tr.run, "Bearer "+b.token, "")
	tr.http("bad user", "GET", "/v2/user?ids=x", "Bearer "+b.token, "")
	tr.http("no users", "GET", "/v2/user", "Bearer "+b.token, "")
	tr.http("delete", "DELETE", "/v2/account", "Bearer "+a.token, "")
	tr.http("deleted user", "GET", "/v2/user?ids="+a.id, "Bearer "+b.token, "")
}

func (tr *transcript) rpcErrors() {
	a := tr.user("rpc")
	for _, how := range []string{"", "wrapped"} {
		for _, code := range []int{-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 99} {
			tr.rpc(a, fmt.Sprintf("%s %d", how, code), "conf_fail", map[string]any{"code": code, "how": how})
		}
	}
	tr.rpc(a, "plain", "conf_fail", map[string]any{"how": "plain"})
	tr.rpc(a, "unknown", "conf_nothing", "")
	req, err := http.NewRequest("POST", tr.url+"/v2/rpc/conf_panic", strings.NewReader(`""`))
	require.NoError(tr, err)
	req.Header.Set("Authorization", "Bearer "+a.token)
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		res.Body.Close()
	}
	tr.line("panic: answer %t", err == nil)
}

func (tr *transcript) rpcs() {
	a := tr.user("rpd")
	auth := "Bearer " + a.token
	tr.http("no auth", "POST", "/v2/rpc/conf_echo", "", `""`)
	tr.http("bad token", "POST", "/v2/rpc/conf_echo", "Bearer x", `""`)
	tr.http("bad key", "POST", "/v2/rpc/conf_echo?http_key=x", "", `""`)
	tr.http("bad basic key", "POST", "/v2/rpc/conf_echo", basic("x"), `""`)
	tr.http("basic key", "POST", "/v2/rpc/conf_echo", basic("defaulthttpkey"), `"k"`)
	tr.http("no id", "POST", "/v2/rpc/", auth, `""`)
	tr.http("case", "POST", "/v2/rpc/CONF_Echo", auth, `"c"`)
	tr.http("object body", "POST", "/v2/rpc/conf_echo", auth, `{"a":1}`)
	tr.http("garbage body", "POST", "/v2/rpc/conf_echo", auth, `{`)
	tr.http("empty body", "POST", "/v2/rpc/conf_echo", auth, ``)
	tr.http("unwrapped", "POST", "/v2/rpc/conf_echo?unwrap", auth, `{"a":1}`)
	tr.http("unwrapped error", "POST", "/v2/rpc/conf_fail?unwrap=true", auth, `{"code":5}`)
	tr.http("get", "GET", "/v2/rpc/conf_echo?payload=x", auth, ``)
	tr.http("ctx of a user", "GET", "/v2/rpc/conf_ctx?q=1&q=2", auth, ``)
	tr.http("ctx of a key", "GET", "/v2/rpc/conf_ctx?http_key=defaulthttpkey&q=1", "", ``)
	status, _ := tr.do("POST", "/v2/rpc/conf_echo?unwrap", auth, strings.Repeat("x", 300_000))
	tr.line("too large: %d", status)
}

func (tr *transcript) moduleAPI() { tr.rpc(tr.user("api"), "errors", "conf_api", "") }

func (tr *transcript) create(a account, what string, params map[string]any) string {
	return tr.rpc(a, what, "conf_create", map[string]any{"module": "conf", "params": params})
}

func (tr *transcript) matchCreation() {
	a := tr.user("mat")
	tr.rpc(a, "no module", "conf_create", map[string]any{})
	tr.rpc(a, "unknown module", "conf_create", map[string]any{"module": "CONF"})
	tr.rpc(a, "refused", "conf_create", map[string]any{"module": "conf_refused"})
	tr.rpc(a, "bad parameters", "conf_create", map[string]any{"module": "conf", "bad": true})
	tr.create(a, "rate 0", map[string]any{"rate": 0})
	tr.create(a, "rate 61", map[string]any{"rate": 61})
	tr.create(a, "long label", map[string]any{"long": 2049})
	tr.create(a, "longest label", map[string]any{"long": 2048})
	tr.create(a, "nil state", map[string]any{"nil": true})
	id := tr.create(a, "good", map[string]any{"label": "plain"})
	tr.rpc(a, "get", "conf_get", id)
	tr.rpc(a, "get upper case", "conf_get", strings.ToUpper(strings.TrimSuffix(id, ".local"))+".local")
	tr.rpc(a, "get nothing", "conf_get", "8a6a1cc4-0b1c-4f0f-8b6a-111111111111.local")
	tr.rpc(a, "get elsewhere", "conf_get", "8a6a1cc4-0b1c-4f0f-8b6a-111111111111.x")
	tr.rpc(a, "get relayed", "conf_get", "8a6a1cc4-0b1c-4f0f-8b6a-111111111111.")
	tr.rpc(a, "get garbage", "conf_get", "x")
	tr.rpc(a, "signal", "conf_signal", map[string]any{"id": id, "data": "d"})
	tr.rpc(a, "signal that ends it", "conf_signal", map[string]any{"id": id, "data": "end"})
	tr.rpc(a, "signal after it", "conf_signal", map[string]any{"id": id, "data": "d"})
	tr.rpc(a, "get after it", "conf_get", id)
}

// labelQueries are asked about labels that only differ in one value from each other.
var labelQueries = []string{
	"*", "", "+label.open:T", "+label.flag:F", "+label.seats:4", "+label.seats:>=4", "+label.seats:<4", "+label.seats:>4",
	"+label.mode:rated", "+label.mode:rat*", "+label.mode:/rat.*/", "+label.mode:Rated", "+label.tags:x", "+label.nested.k:1",
	`+label.id:A\-b\ c`, `+label.id:A-b`, `+label.id:"A-b c"`, "+label.day:2026-01-01", "mode:rated", "+label.open:true",
	"label.open:true", "+handler_name:conf", "+tick_rate:11", "+label.open:", `label.day:>="2026-01-01"`, `label.day:>"2025-01-01"`,
	"-label.mode:casual", "* -label.mode:casual", `+label.seats:"4"`, "+label.mode:rated +label.seats:2", "+node:local",
	"+label.mode:rated -label.seats:2", "label.mode:rated label.seats:2", "+label.mode:(rated casual)", "+label_string:word",
	"+label.mode:rated label.seats:2^5", "(", `"`, "+create_time:>1000", "label.mode:rated^2 label.mode:casual",
	"+label.mode:ratd~1", "+label.missing:1", "+label.seats:+4",
}

func (tr *transcript) labels() {
	a := tr.user("lab")
	group := `,"run":"` + tr.run + `"`
	first := tr.create(a, "first", map[string]any{"rate": 11, "label": `{"open":true,"flag":false,"seats":4,"mode":"rated","id":"A-b c","day":"2026-01-01","tags":["x","y"],"nested":{"k":1},"none":null` + group + `}`})
	tr.create(a, "second", map[string]any{"rate": 12, "label": `{"open":false,"flag":true,"seats":2,"mode":"rated"` + group + `}`})
	tr.create(a, "third", map[string]any{"rate": 13, "label": `{"open":true,"seats":3.5,"mode":"casual","tags":[]` + group + `}`})
	tr.create(a, "word", map[string]any{"rate": 14, "label": "word" + tr.run})
	tr.waitListed(a, "word"+tr.run)
	list := func(what, params string) { tr.http(what, "GET", "/v2/match?"+params, "Bearer "+a.token, "") }
	for _, q := range labelQueries {
		status, body := a.do("GET", "/v2/match?limit=100&authoritative=true&query="+url.QueryEscape(q), "")
		tr.line("query %s: %s", q, tr.found(status, body))
	}
	list("label", "label=word"+tr.run)
	list("label and relayed", "label=word&authoritative=false")
	list("query and relayed", "query=x&authoritative=false")
	list("limit 0", "limit=0")
	list("limit 101", "limit=101")
	list("limit x", "limit=x")
	list("min above max", "min_size=2&max_size=1")
	list("negative", "min_size=-1")
	list("negative", "max_size=-1")
	list("too small", "min_size=1&query="+url.QueryEscape("+label.run:"+tr.run))
	list("not authoritative", "authoritative=maybe")
	tr.rpc(a, "from the module", "conf_list", map[string]any{"limit": 10, "query": "+label.run:" + tr.run + " +tick_rate:11"})
	tr.rpc(a, "from the module, bad", "conf_list", map[string]any{"limit": 10, "query": "+label.open:"})
	c := a.dial(formatJSON)
	c.join(first)
	var found string
	eventually(tr.T, "the member", func() bool { // the join is answered before the match counts it
		found = tr.found(a.do("GET", "/v2/match?min_size=1&max_size=1&query="+url.QueryEscape("+label.run:"+tr.run), ""))
		return found != ""
	})
	tr.line("with a member: %s", found)
}

// waitListed waits for a label that was made last: then the index has seen those before it.
func (tr *transcript) waitListed(a account, label string) {
	eventually(tr.T, "the listing", func() bool {
		_, body := a.do("GET", "/v2/match?label="+url.QueryEscape(label), "")
		return strings.Contains(body, label)
	})
}

// found lists the tick rates of this run's matches in a listing, which is what tells them apart.
func (tr *transcript) found(status int, body string) string {
	var list struct {
		Matches []struct {
			Label    string `json:"label"`
			TickRate int    `json:"tick_rate"`
			Size     int    `json:"size"`
		}
	}
	if status != 200 || json.Unmarshal([]byte(body), &list) != nil {
		return fmt.Sprint(status, " ", sorted(body))
	}
	var out []string
	for _, m := range list.Matches {
		if strings.Contains(m.Label, tr.run) {
			out = append(out, fmt.Sprintf("%d(%d)", m.TickRate, m.Size))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// jsonTexts are values whose normalised form and version are written down.
var jsonTexts = []string{
	`{"b": 1.0e2, "a": 1, "a": 2}`, `{}`, ` {"a":1} `, `{"bb":1,"a":2,"ab":3,"":4}`, `{"n":[1.50,-0,0.0,-0.0,1E3,1e-3,1.5e1,12345678901234567890.123,0e5,1.0]}`,
	`{"s":"a\u0001\b\f\n\r\t\"\\\/ \u00e9é\ud83d\ude00<>&\u2028"}`, `{"é":1,"z":2,"zz":3}`, `{"x":[],"y":{},"z":null,"t":true,"f":false}`,
	`{"deep":{"b":{"y":1,"x":[{"q":1}]},"a":1}}`, `[1]`, `1`, `"s"`, ``, `{`, `{"a":"\u0000"}`, `{"a":1}{}`, `{"big":1e400}`, `{"aa":1,"b":2}`, `{"big":1e140000}`, `{"small":1e-17000}`,
}

func (tr *transcript) storage() {
	a := tr.user("sto")
	type op map[string]any
	for _, v := range jsonTexts {
		tr.rpc(a, "store "+v, "conf_store", []op{{"op": "write", "key": "k", "user": a.id, "value": v, "read": 1, "write": 1}, {"op": "read", "key": "k", "user": a.id}})
	}
	const md5Of1 = "48bebcfab0ca8e4f4f3b5f0b40b4b6b1"
	tr.rpc(a, "versions", "conf_store", []op{
		{"op": "write", "key": "v", "user": a.id, "value": `{"v":1}`, "version": "x"},
		{"op": "write", "key": "v", "user": a.id, "value": `{"v":1}`, "version": "*"},
		{"op": "write", "key": "v", "user": a.id, "value": `{"v":2}`, "version": "*"},
		{"op": "write", "key": "v", "user": a.id, "value": `{"v":2}`, "version": md5Of1},
		{"op": "write", "key": "v", "user": a.id, "value": `{"v":2}`, "version": md5Hex(`{"v":1}`)},
		{"op": "write", "key": "v", "user": a.id, "value": `{"v":1}`},
		{"op": "write", "key": "v", "user": a.id, "value": `{"v":3}`, "version": md5Hex(`{"v":1}`)},
		{"op": "read", "key": "v", "user": a.id},
		{"op": "delete", "key": "v", "user": a.id, "version": "x"},
		{"op": "delete", "key": "v", "user": a.id, "version": md5Hex(`{"v":3}`)},
		{"op": "delete", "key": "v", "user": a.id, "version": md5Hex(`{"v":3}`)},
		{"op": "delete", "key": "v", "user": a.id},
		{"op": "read", "key": "v", "user": a.id},
	})
	tr.rpc(a, "arguments", "conf_store", []op{
		{"op": "write", "key": "", "value": `{}`}, {"op": "write", "key": "k", "user": "x", "value": `{}`},
		{"op": "read", "key": ""}, {"op": "read", "key": "k", "user": "x"}, {"op": "delete", "key": ""},
		{"op": "write", "key": "k", "user": "8a6a1cc4-0b1c-4f0f-8b6a-111111111111", "value": `{}`},
		{"op": "list", "limit": -1}, {"op": "list", "user": "x", "limit": 1}, {"op": "list", "limit": 1, "cursor": "%"},
		{"op": "write", "key": "system" + tr.run, "value": `{"s":1}`}, {"op": "read", "key": "system" + tr.run},
		{"op": "delete", "key": "system" + tr.run},
	})
	b := tr.user("stp")
	w := func(key string, read int) op {
		return op{"op": "write", "key": key, "user": b.id, "value": `{}`, "read": read, "write": 1}
	}
	tr.rpc(a, "lists", "conf_store", []op{
		w("l3", 0), w("l1", 1), w("l2", 2), w("l0", 2),
		{"op": "list", "user": b.id, "limit": 10}, {"op": "list", "user": b.id, "limit": 2}, {"op": "list", "user": b.id, "limit": 4},
		{"op": "list", "user": b.id, "limit": 0},
		{"op": "list", "user": b.id, "limit": 10, "caller": b.id}, {"op": "list", "user": b.id, "limit": 10, "caller": a.id},
	})
	tr.rpc(a, "multi", "conf_multi", a.id)
}

func md5Hex(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) }

func (tr *transcript) clientStorage() {
	a, b := tr.user("cst"), tr.user("csu")
	auth, other := "Bearer "+a.token, "Bearer "+b.token
	object := func(rest string) string { return `{"objects":[{"collection":"conf","key":"c",` + rest + `}]}` }
	tr.http("write", "PUT", "/v2/storage", auth, object(`"value":"{\"a\":  1}"`))
	tr.http("no key", "PUT", "/v2/storage", auth, `{"objects":[{"collection":"conf","value":"{}"}]}`)
	tr.http("no object", "PUT", "/v2/storage", auth, object(`"value":"[]"`))
	tr.http("read 3", "PUT", "/v2/storage", auth, object(`"value":"{}","permission_read":3`))
	tr.http("write 2", "PUT", "/v2/storage", auth, object(`"value":"{}","permission_write":2`))
	tr.http("version", "PUT", "/v2/storage", auth, object(`"value":"{}","version":"*"`))
	tr.http("read", "POST", "/v2/storage", auth, `{"object_ids":[{"collection":"conf","key":"c","user_id":"`+a.id+`"}]}`)
	tr.http("other reads", "POST", "/v2/storage", other, `{"object_ids":[{"collection":"conf","key":"c","user_id":"`+a.id+`"}]}`)
	tr.http("public", "PUT", "/v2/storage", auth, object(`"value":"{}","permission_read":2,"permission_write":0`))
	tr.http("other reads public", "POST", "/v2/storage", other, `{"object_ids":[{"collection":"conf","key":"c","user_id":"`+a.id+`"}]}`)
	tr.http("write protected", "PUT", "/v2/storage", auth, object(`"value":"{}"`))
	tr.http("delete protected", "PUT", "/v2/storage/delete", auth, `{"object_ids":[{"collection":"conf","key":"c"}]}`)
	tr.http("bad user", "POST", "/v2/storage", auth, `{"object_ids":[{"collection":"conf","key":"c","user_id":"x"}]}`)
	tr.http("read nothing", "POST", "/v2/storage", auth, `{}`)
	tr.http("list own", "GET", "/v2/storage/conf?limit=10&user_id="+a.id, auth, "")
	tr.http("list of other", "GET", "/v2/storage/conf/"+a.id+"?limit=10", other, "")
	tr.http("list limit", "GET", "/v2/storage/conf?limit=101&user_id="+a.id, auth, "")
	tr.http("list user", "GET", "/v2/storage/conf?user_id=x", auth, "")
}

func (tr *transcript) leaderboards() {
	a, b, c := tr.user("lea"), tr.user("leb"), tr.user("lec")
	score := func(board string, who account, name string, score, sub int) {
		tr.rpc(a, fmt.Sprintf("%s %s %d.%d", board, name, score, sub), "conf_score", map[string]any{"board": board, "owner": who.id, "name": name, "score": score, "subscore": sub})
	}
	score("conf_best", a, "a", 10, 1)
	score("conf_best", a, "a", 5, 9)
	score("conf_best", a, "a", 10, 9)
	score("conf_best", b, "b", 20, 0)
	score("conf_best", c, "", 10, 5)
	score("conf_incr", a, "a", 3, 1)
	score("conf_incr", a, "", 4, 0)
	score("conf_incr", a, "a2", 0, 0)
	auth := "Bearer " + a.token
	tr.http("list", "GET", "/v2/leaderboard/conf_best?limit=2", auth, "")
	tr.http("list owners", "GET", "/v2/leaderboard/conf_best?owner_ids="+a.id+"&owner_ids="+c.id, auth, "")
	tr.http("around", "GET", "/v2/leaderboard/conf_best/owner/"+a.id+"?limit=2", auth, "")
	tr.http("unknown", "GET", "/v2/leaderboard/conf_none", auth, "")
	tr.http("limit", "GET", "/v2/leaderboard/conf_best?limit=1001", auth, "")
	tr.http("bad owner", "GET", "/v2/leaderboard/conf_best?owner_ids=x", auth, "")
	tr.http("bad around", "GET", "/v2/leaderboard/conf_best/owner/x", auth, "")
	tr.http("client writes", "POST", "/v2/leaderboard/conf_best", auth, `{"score":"99"}`)
	tr.http("client deletes", "DELETE", "/v2/leaderboard/conf_best", auth, "")
}

func (tr *transcript) friends() {
	a, b, c := tr.user("fra"), tr.user("frb"), tr.user("frc")
	call := func(what string, who account, method, path string) {
		tr.http(what, method, path, "Bearer "+who.token, "")
	}
	call("none", a, "GET", "/v2/friend?limit=10")
	call("invite", a, "POST", "/v2/friend?ids="+b.id)
	call("inviter sees", a, "GET", "/v2/friend?limit=10")
	call("invited sees", b, "GET", "/v2/friend?limit=10")
	call("accept", b, "POST", "/v2/friend?usernames=fra"+tr.run)
	call("mutual", a, "GET", "/v2/friend?limit=10&state=0")
	call("block", a, "POST", "/v2/friend/block?ids="+b.id)
	call("blocker sees", a, "GET", "/v2/friend?limit=10&state=3")
	call("blocked sees", b, "GET", "/v2/friend?limit=10")
	call("blocked invites", b, "POST", "/v2/friend?ids="+a.id)
	call("blocked sees still", b, "GET", "/v2/friend?limit=10")
	call("bad state", a, "GET", "/v2/friend?state=4")
	call("bad limit", a, "GET", "/v2/friend?limit=1001")
	call("invite one", c, "POST", "/v2/friend?ids="+a.id)
	call("delete", a, "DELETE", "/v2/friend?ids="+c.id)
	call("after deletion", c, "GET", "/v2/friend?limit=10")
	call("block back", b, "POST", "/v2/friend/block?ids="+a.id)
	call("both block", b, "GET", "/v2/friend?limit=10")
	call("unblock", a, "DELETE", "/v2/friend?ids="+b.id)
	call("after unblocking", a, "GET", "/v2/friend?limit=10")
	call("the other's block stays", b, "GET", "/v2/friend?limit=10")
}

// database asks for what a module that keeps results relies on.
func (tr *transcript) database() {
	for _, name := range []string{"storage", "list", "account", "board", "cancelled"} {
		a, b := tr.user(name+"a"), tr.user(name+"b")
		if a.id > b.id { // ties are ordered by id
			a, b = b, a
		}
		tr.rpc(b, name, "conf_"+name+"_scene", map[string]string{"Run": tr.run + name, "Ann": a.id, "Bob": b.id})
	}
}

// deletion deletes accounts as clients do, with hooks around it.
func (tr *transcript) deletion() {
	// A token of the second in which its user is deleted stays valid, an older one does not: all of it happens in one second.
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	stays, goes := tr.user("stays"), tr.user("goes")
	witness := tr.user("witness")
	for _, who := range []account{stays, goes} {
		auth := "Bearer " + who.token
		tr.http("own", "PUT", "/v2/storage", auth, `{"objects":[{"collection":"conf","key":"own","value":"{}"}]}`)
		tr.http("delete", "DELETE", "/v2/account", auth, "")
		tr.rpc(witness, "hooks", "conf_farewells", who.id)
		tr.rpc(witness, "own", "conf_store", []map[string]any{{"op": "read", "key": "own", "user": who.id}})
		tr.http("account", "GET", "/v2/account", auth, "")
		tr.http("delete again", "DELETE", "/v2/account", auth, "")
		tr.rpc(witness, "hooks", "conf_farewells", who.id)
	}
	tr.http("log in", "POST", "/v2/account/authenticate/device?create=false", basic("defaultkey"), `{"id":"device-of-goes`+tr.run+`"}`)
}
