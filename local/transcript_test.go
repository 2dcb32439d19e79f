package local

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/stretchr/testify/require"

	"set3d/local/internal/conformance"
)

// The transcript is what clients of the conformance module see. testdata/nakama.txt was recorded from a real Nakama
// 3.40.0 with node name "local", a fresh database and the plugin of local/internal/conformance:
//
//	go test ./local -run TestTranscript -record http://127.0.0.1:7350
var recordFrom = flag.String("record", "", "record the transcript from the Nakama at this URL instead of comparing")

const transcriptFile = "testdata/nakama.txt"

func TestTranscript(t *testing.T) {
	t.Parallel()
	tr := &transcript{run: fmt.Sprintf("r%x", time.Now().UnixNano())}
	if *recordFrom != "" {
		tr.host = &host{T: t, url: *recordFrom}
		tr.play()
		require.NoError(t, os.WriteFile(transcriptFile, []byte(tr.String()), 0o644))
		return
	}
	tr.host = start(t, Config{Timing: Timing{LabelInterval: 100 * time.Millisecond, MatchmakerInterval: 300 * time.Millisecond}}, nil, conformance.InitModule)
	tr.play()
	want, err := os.ReadFile(transcriptFile)
	require.NoError(t, err)
	compareLines(t, strings.Split(string(want), "\n"), strings.Split(tr.String(), "\n"))
}

// compareLines reports the first lines that differ, with the section they are in.
func compareLines(t *testing.T, want, got []string) {
	t.Helper()
	section := ""
	for i := range max(len(want), len(got)) {
		w, g := "nothing", "nothing"
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if strings.HasPrefix(w, "== ") {
			section = w
		}
		if w != g {
			t.Fatalf("%s, line %d of %s:\nNakama: %s\nlocal:  %s", section, i+1, transcriptFile, w, g)
		}
	}
}

// transcript writes down what happens, without what differs from run to run.
type transcript struct {
	*host
	run string // in every name, so that a host can be asked twice
	b   strings.Builder
}

func (tr *transcript) String() string { return tr.b.String() }

func (tr *transcript) play() {
	for _, section := range []struct {
		name string
		play func()
	}{
		{"authentication", tr.authentication}, {"accounts", tr.accounts}, {"rpc errors", tr.rpcErrors},
		{"rpc", tr.rpcs}, {"module api", tr.moduleAPI}, {"match creation", tr.matchCreation}, {"labels", tr.labels},
		{"storage", tr.storage}, {"client storage", tr.clientStorage}, {"leaderboards", tr.leaderboards},
		{"sockets", tr.sockets}, {"joins", tr.joins}, {"match data", tr.matchData}, {"hooks", tr.hooks},
		{"match end", tr.matchEnd}, {"relayed", tr.relayed}, {"matchmaker", tr.matchmaker}, {"friends", tr.friends},
		{"database", tr.database}, {"account deletion", tr.deletion},
	} {
		tr.line("== %s", section.name)
		section.play()
	}
}

var unstable = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`), "<token>"},
	{regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uuid>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "<time>"},
	{regexp.MustCompile(`"(next|prev)_cursor":"[^"]+"`), `"${1}_cursor":"<cursor>"`},
	{regexp.MustCompile(`proto:[\s\x{a0}]`), "proto: "}, // protobuf varies the blank on purpose
}

func (tr *transcript) clean(s string) string {
	s = strings.ReplaceAll(s, tr.run, "")
	for _, u := range unstable {
		s = u.find.ReplaceAllString(s, u.put)
	}
	return s
}

func (tr *transcript) line(format string, v ...any) {
	tr.b.WriteString(tr.clean(fmt.Sprintf(format, v...)) + "\n")
}

// sorted rewrites JSON with sorted keys; other text stays as it is.
func sorted(s string) string {
	var v any
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	if dec.Decode(&v) != nil || dec.More() {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return s
	}
	return strings.TrimSpace(b.String())
}

func (tr *transcript) http(what, method, path, auth, body string) string {
	status, answer := tr.do(method, path, auth, body)
	tr.line("%s: %d %s", what, status, sorted(answer))
	return answer
}

func (tr *transcript) user(name string) account { return tr.login(name + tr.run) }

// rpc calls an RPC and writes down its answer, a list line by line.
func (tr *transcript) rpc(a account, what, id string, payload any) string {
	text, ok := payload.(string)
	if !ok {
		b, err := json.Marshal(payload)
		require.NoError(tr, err)
		text = string(b)
	}
	quoted, err := json.Marshal(text)
	require.NoError(tr, err)
	status, body := a.do("POST", "/v2/rpc/"+id, string(quoted))
	var answer struct{ Payload string }
	var list []string
	if json.Unmarshal([]byte(body), &answer) != nil || status != 200 {
		tr.line("%s: %d %s", what, status, sorted(body))
		return ""
	}
	if json.Unmarshal([]byte(answer.Payload), &list) != nil {
		tr.line("%s: %s", what, answer.Payload)
		return answer.Payload
	}
	tr.line("%s:", what)
	for _, l := range list {
		tr.line("  %s", l)
	}
	return answer.Payload
}

// frames waits for frames that match all the given conditions, then writes down all frames that are there, sorted:
// their order is not promised.
func (tr *transcript) frames(what string, c *client, until ...func(*rtapi.Envelope) bool) {
	tr.Helper()
	var got []*rtapi.Envelope
	for _, u := range until {
		got = append(got, c.await(what, u))
	}
	c.send(&rtapi.Envelope{Cid: "settle", Message: &rtapi.Envelope_Ping{Ping: &rtapi.Ping{}}})
	c.await(what+", then pong", func(e *rtapi.Envelope) bool { return e.Cid == "settle" })
	c.mu.Lock()
	got = append(got, c.frames...)
	c.frames = nil
	c.mu.Unlock()
	var out []string
	for _, e := range got {
		if isStatus(e) {
			continue // comes whenever it likes
		}
		if d := e.GetMatchData(); d != nil {
			d.Data = []byte(tr.clean(string(d.Data)))
		}
		b, err := formatJSON.marshal(e)
		require.NoError(tr, err)
		out = append(out, tr.clean(sorted(string(b))))
	}
	slices.Sort(out)
	tr.line("%s:", what)
	for _, l := range out {
		tr.line("  %s", l)
	}
}

func anyOf[T any](get func(*rtapi.Envelope) *T) func(*rtapi.Envelope) bool {
	return func(e *rtapi.Envelope) bool { return get(e) != nil }
}

var (
	isError  = anyOf((*rtapi.Envelope).GetError)
	isMatch  = anyOf((*rtapi.Envelope).GetMatch)
	isEvent  = anyOf((*rtapi.Envelope).GetMatchPresenceEvent)
	isRPC    = anyOf((*rtapi.Envelope).GetRpc)
	isTicket = anyOf((*rtapi.Envelope).GetMatchmakerTicket)
	isPaired = anyOf((*rtapi.Envelope).GetMatchmakerMatched)
	isStatus = anyOf((*rtapi.Envelope).GetStatusPresenceEvent)
)

func isReply(cid string) func(*rtapi.Envelope) bool {
	return func(e *rtapi.Envelope) bool { return e.Cid == cid && e.Message == nil }
}
