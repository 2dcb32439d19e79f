package match

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
)

const fakeNode = "node1"

// fakeNakama is as much of Nakama as a match sees: it makes matches, runs their callbacks one at a time, and delivers
// what they send. A signal runs in the goroutine that rings, as soon as no other callback of the match runs.
type fakeNakama struct {
	runtime.NakamaModule
	t      testing.TB
	clock  *fakeClock
	logger *fakeLogger
	env    map[string]string

	make func(context.Context, runtime.Logger) (runtime.Match, error)
	rpcs map[string]nakamaRPC
	hook func(ctx context.Context, in *rtapi.Envelope) (*rtapi.Envelope, error) // before MatchDataSend

	hooks    map[string]func(ctx context.Context, in *rtapi.Envelope) (*rtapi.Envelope, error) // before all else
	apiCalls []func(context.Context) (untouched bool, err error)
	after    map[string]func(ctx context.Context, out, in *rtapi.Envelope) error // behind successes
	matched  func(entries []runtime.MatchmakerEntry) (string, error)
	module   *module
	storage  *fakeStorage

	mu           sync.Mutex
	matches      map[string]*fakeMatch
	users        map[string]*fakeUser // by session id
	made         int
	counters     map[string]int64
	metrics      map[string]Metric
	gauges       map[string]float64
	disconnected map[string]int
	createError  error
	createFault  func(n int) error   // what the n-th MatchCreate meets, from 1
	afterInit    func()              // runs in MatchCreate when MatchInit is over
	blocked      map[string][]string // by user id: whom they have blocked
	friendsError error
	signalFault  func(n int) signalFault // what the n-th signal meets, from 1
	signals      int
	accounts     map[string]fakeAccount // by user id
	accountError error
}

type fakeAccount struct{ name, avatar string }

// signalFault is how Nakama can fail a signal.
type signalFault uint8

const (
	signalFine     signalFault = iota
	signalNotRun               // the queue was full
	signalRunsLate             // the caller has given up, the callback runs all the same
	signalRan                  // the callback ran and the answer got lost
	signalPanics
)

// newFake registers the module with the given settings, "KEY=value" each.
func newFake(t testing.TB, settings ...string) *fakeNakama {
	t.Helper()
	n := &fakeNakama{
		t: t, clock: &fakeClock{at: time.Hour}, logger: &fakeLogger{}, env: map[string]string{"SET3D_TEST_HOOKS": "on", "SET3D_NAKAMA_APIS": "all"},
		rpcs: map[string]nakamaRPC{}, matches: map[string]*fakeMatch{}, users: map[string]*fakeUser{},
		counters: map[string]int64{}, gauges: map[string]float64{}, metrics: map[string]Metric{}, disconnected: map[string]int{},
		accounts: map[string]fakeAccount{}, blocked: map[string][]string{},
		hooks:   map[string]func(context.Context, *rtapi.Envelope) (*rtapi.Envelope, error){},
		after:   map[string]func(ctx context.Context, out, in *rtapi.Envelope) error{},
		storage: newFakeStorage(t),
	}
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		n.env[key] = value
	}
	for _, metric := range Metrics() {
		n.metrics[metric.Name] = metric
	}
	if err := n.register(); err != nil {
		t.Fatalf("register: %v", err)
	}
	return n
}

func (n *fakeNakama) register() error {
	ctx := context.WithValue(context.Background(), runtime.RUNTIME_CTX_ENV, n.env) //nolint:staticcheck // Nakama's keys are strings
	return register(ctx, n.logger, n, &fakeInitializer{n: n}, n.clock.clock())
}

func (n *fakeNakama) MatchCreate(_ context.Context, module string, params map[string]any) (string, error) {
	if module != Name {
		return "", fmt.Errorf("no module %q", module)
	}
	n.mu.Lock()
	fault := n.createError
	n.made++
	if n.createFault != nil {
		fault = n.createFault(n.made)
	}
	id := fmt.Sprintf("00000000-0000-4000-8000-%012x.%s", n.made, fakeNode)
	n.mu.Unlock()
	if fault != nil {
		return "", fault
	}
	m, err := newFakeMatch(n, id, params)
	if err != nil {
		return "", err
	}
	if n.afterInit != nil {
		n.afterInit()
	}
	n.mu.Lock()
	n.matches[id] = m
	n.mu.Unlock()
	return id, nil
}

func (n *fakeNakama) match(id string) *fakeMatch {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.matches[id]
}

func (n *fakeNakama) MatchSignal(_ context.Context, id, data string) (string, error) {
	n.mu.Lock()
	n.signals++
	fault := signalFine
	if n.signalFault != nil {
		fault = n.signalFault(n.signals)
	}
	n.mu.Unlock()
	m := n.match(id)
	if m == nil {
		return "", runtime.ErrMatchNotFound
	}
	switch fault {
	case signalNotRun:
		return "", runtime.ErrMatchBusy
	case signalRunsLate:
		go m.signal(data)
		return "", runtime.ErrMatchBusy
	case signalRan:
		m.signal(data)
		return "", runtime.ErrMatchBusy
	case signalPanics:
		panic("the signal panics")
	case signalFine:
	}
	return m.signal(data), nil
}

func (n *fakeNakama) StreamSendRaw(mode uint8, _, _, _ string, e *rtapi.Envelope, presences []runtime.Presence, _ bool) error {
	if mode != 6 || len(presences) != 1 {
		n.t.Errorf("StreamSendRaw(mode %d) to %d presences: with none it would go to the whole stream", mode, len(presences))
		return errors.New("bad call")
	}
	data := e.GetMatchData()
	n.deliver(presences[0].GetSessionId(), frame{matchID: data.MatchId, op: data.OpCode, data: append([]byte(nil), data.Data...), raw: true})
	return nil
}

func (n *fakeNakama) UsersGetId(_ context.Context, ids []string, _ []string) ([]*api.User, error) {
	if err := n.storage.meet("users"); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var users []*api.User
	for _, id := range ids {
		account := n.accounts[id]
		users = append(users, &api.User{Id: id, DisplayName: account.name, AvatarUrl: account.avatar})
	}
	return users, n.accountError
}

func (n *fakeNakama) deliver(sessionID string, f frame) {
	n.mu.Lock()
	u := n.users[sessionID]
	n.mu.Unlock()
	if u != nil {
		u.receive(f)
	}
}

func (n *fakeNakama) SessionDisconnect(_ context.Context, sessionID string, _ ...runtime.PresenceReason) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.disconnected[sessionID]++
	return nil
}

func (n *fakeNakama) MetricsCounterAdd(name string, tags map[string]string, delta int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.checkMetric(name, Counter, tags)
	n.counters[name] += delta
	for _, v := range tags {
		n.counters[name+" "+v] += delta
	}
}

func (n *fakeNakama) MetricsGaugeSet(name string, tags map[string]string, value float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.checkMetric(name, Gauge, tags)
	for _, label := range sortedKeys(tags) {
		name += " " + tags[label]
	}
	n.gauges[name] = value
}

// checkMetric lets every test of this package see that no metric is unknown, and that no label has a value that was not foreseen.
func (n *fakeNakama) checkMetric(name string, kind MetricKind, tags map[string]string) {
	metric, known := n.metrics[name]
	if !known || metric.Kind != kind || len(metric.Labels) != len(tags) {
		n.t.Errorf("the %s %s with %v is not in Metrics", kind, name, tags)
		return
	}
	for _, label := range metric.Labels {
		if !slices.Contains(label.Values, tags[label.Name]) {
			n.t.Errorf("%s: the label %s has the value %q, which is not in Metrics", name, label.Name, tags[label.Name])
		}
	}
}

// counter is a counter after all that was tallied; "name value" asks for one with a label.
func (n *fakeNakama) counter(name string) int64 {
	n.module.tallies.handOver(n.module)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counters[name]
}

// fakeInitializer keeps what the module registers.
type fakeInitializer struct {
	runtime.Initializer
	n *fakeNakama
}

func (i *fakeInitializer) RegisterMatch(_ string, fn nakamaMatchMaker) error {
	i.n.make = func(ctx context.Context, l runtime.Logger) (runtime.Match, error) { return fn(ctx, l, nil, i.n) }
	core, err := i.n.make(context.Background(), i.n.logger)
	if err == nil {
		i.n.module = core.(*handler).module
	}
	return err
}

func (i *fakeInitializer) RegisterRpc(id string, fn nakamaRPC) error {
	i.n.rpcs[id] = fn
	return nil
}

func (i *fakeInitializer) RegisterBeforeRt(id string, fn nakamaBeforeRt) error {
	hook := func(ctx context.Context, in *rtapi.Envelope) (*rtapi.Envelope, error) {
		return fn(ctx, i.n.logger, nil, i.n, in)
	}
	if i.n.hooks[id] = hook; id == "MatchDataSend" {
		i.n.hook = hook
	}
	return nil
}

func (i *fakeInitializer) RegisterAfterRt(id string, fn afterRt) error {
	i.n.after[id] = func(ctx context.Context, out, in *rtapi.Envelope) error {
		return fn(ctx, i.n.logger, nil, i.n, out, in)
	}
	return nil
}

func (i *fakeInitializer) RegisterMatchmakerMatched(fn nakamaMatched) error {
	i.n.matched = func(entries []runtime.MatchmakerEntry) (string, error) {
		return fn(context.Background(), i.n.logger, nil, i.n, entries)
	}
	return nil
}

func (n *fakeNakama) FriendsList(ctx context.Context, userID string, limit int, state *int, cursor string) ([]*api.Friend, string, error) {
	if err := n.storage.meet("friends"); err != nil {
		return nil, "", err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, bounded := ctx.Deadline(); !bounded {
		n.t.Error("a list of friends is read without a time limit")
	}
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	if n.friendsError != nil || limit != 1000 || *state != 3 || cursor != "" {
		return nil, "", errors.Join(errors.New("no list"), n.friendsError)
	}
	var list []*api.Friend
	for _, id := range n.blocked[userID] {
		list = append(list, &api.Friend{User: &api.User{Id: id}})
	}
	return list, "", nil
}
