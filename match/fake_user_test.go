package match

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// frame is match data as a session gets it.
type frame struct {
	matchID string
	op      int64
	data    []byte
	all     bool // broadcast to everybody
	raw     bool // sent past the dispatcher
}

// fakeUser is one session of a user. It is its own presence.
type fakeUser struct {
	n                           *fakeNakama
	userID, sessionID, username string
	ctx                         context.Context

	mu     sync.Mutex
	frames []frame
	read   int
}

// session makes a new session of a user; ids follow from the names.
func (n *fakeNakama) session(username string) *fakeUser {
	n.mu.Lock()
	defer n.mu.Unlock()
	u := &fakeUser{
		n: n, username: username, userID: "user-" + username,
		sessionID: fmt.Sprintf("session-%s-%d", username, len(n.users)),
	}
	ctx := context.Background()
	for key, value := range map[string]string{
		runtime.RUNTIME_CTX_USER_ID: u.userID, runtime.RUNTIME_CTX_SESSION_ID: u.sessionID,
		runtime.RUNTIME_CTX_USERNAME: username, runtime.RUNTIME_CTX_NODE: fakeNode,
	} {
		ctx = context.WithValue(ctx, key, value) //nolint:staticcheck // Nakama's keys are strings
	}
	u.ctx = ctx
	n.users[u.sessionID] = u
	return u
}

func (u *fakeUser) GetUserId() string                 { return u.userID }
func (u *fakeUser) GetSessionId() string              { return u.sessionID }
func (u *fakeUser) GetNodeId() string                 { return fakeNode }
func (u *fakeUser) GetUsername() string               { return u.username }
func (u *fakeUser) GetHidden() bool                   { return false }
func (u *fakeUser) GetPersistence() bool              { return false }
func (u *fakeUser) GetStatus() string                 { return "" }
func (u *fakeUser) GetReason() runtime.PresenceReason { return runtime.PresenceReasonUnknown }

func (u *fakeUser) receive(f frame) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.frames = append(u.frames, f)
}

// rpc calls an RPC with a JSON text.
func (u *fakeUser) rpc(id, payload string) (string, error) {
	return u.n.rpcs[id](u.ctx, u.n.logger, nil, u.n, payload)
}

// create opens a match and returns it.
func (u *fakeUser) create(request string) *fakeMatch {
	u.n.t.Helper()
	answer, err := u.rpc("create_match", request)
	if err != nil {
		u.n.t.Fatalf("create_match %s: %v", request, err)
	}
	var made createResponse
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		u.n.t.Fatalf("create_match answered %s: %v", answer, err)
	}
	return u.n.match(made.MatchID)
}

// join joins as Nakama does it: attempt, then join.
func (u *fakeUser) join(m *fakeMatch) (reason string) {
	allow, reason := m.attempt(u)
	if allow {
		m.join(u)
	}
	return reason
}

// put sends a message and does not wait for what becomes of it.
func (u *fakeUser) put(m *fakeMatch, op int64, payload []byte) *rtapi.Envelope {
	in := &rtapi.Envelope{Message: &rtapi.Envelope_MatchDataSend{MatchDataSend: &rtapi.MatchDataSend{MatchId: m.id, OpCode: op, Data: payload}}}
	if u.n.hook == nil {
		m.queue(u, op, payload)
		return in
	}
	out, err := u.n.hook(u.ctx, in)
	if err != nil || out == nil {
		u.n.t.Errorf("the hook answered %v, %v: no envelope closes the socket", out, err)
	}
	return out
}

// send sends a message and waits until it has been judged.
func (u *fakeUser) send(m *fakeMatch, op wire.OpCode, message proto.Message) {
	u.n.t.Helper()
	u.sendRaw(m, int64(op), marshal(u.n.t, message))
}

func (u *fakeUser) sendRaw(m *fakeMatch, op int64, payload []byte) {
	u.put(m, op, payload)
	if u.n.hook == nil {
		m.loop()
	}
	m.settle()
}

// claim claims three cards by their codes, "0000 0001 0002".
func (u *fakeUser) claim(m *fakeMatch, id uint64, codes string) {
	u.n.t.Helper()
	u.send(m, wire.OpCode_OP_CODE_CLAIM_SET, claimOf(id, codes))
}

func claimOf(id uint64, codes string) *wire.ClaimSet {
	c := &wire.ClaimSet{ClaimId: id}
	for _, code := range strings.Fields(codes) {
		card, err := domain.ParseCard(code)
		if err != nil {
			panic(err)
		}
		c.Cards = append(c.Cards, byte(card.ID()))
	}
	return c
}

// count is how many frames have come in all.
func (u *fakeUser) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.frames)
}

// news are the frames since the last call.
func (u *fakeUser) news() []frame {
	u.mu.Lock()
	defer u.mu.Unlock()
	fresh := u.frames[u.read:]
	u.read = len(u.frames)
	return fresh
}

// queue is Nakama's own way for a message, to the next MatchLoop.
func (m *fakeMatch) queue(u *fakeUser, op int64, payload []byte) {
	m.callback.Lock()
	defer m.callback.Unlock()
	m.queued = append(m.queued, &fakeData{fakeUser: u, op: op, data: payload})
}

type fakeData struct {
	*fakeUser
	op   int64
	data []byte
}

func (d *fakeData) GetOpCode() int64      { return d.op }
func (d *fakeData) GetData() []byte       { return d.data }
func (d *fakeData) GetReliable() bool     { return true }
func (d *fakeData) GetReceiveTime() int64 { return time.Now().UnixMilli() }
