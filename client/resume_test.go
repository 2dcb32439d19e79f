package client

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// restart lets the table go on from a record in the next incarnation, with the time of the record.
func (n *fakeNetwork) restart(record []byte) {
	f := n.table
	session, err := domain.Replay(record, &domain.Output{})
	require.NoError(f.t, err)
	f.session, f.incarnation, f.rosters = session, f.incarnation+1, 0
	f.nowMs, f.sentTo = session.NowMs(), session.Revision()
	f.offsetMs = n.clock.now.Milliseconds() - f.nowMs
	for _, s := range n.seats {
		s.online = false
		s.controller.ConnectionLost()
	}
}

// A claim that waits when the server goes down is sent again, with its id, when the match goes on; match time may have gone back.
func TestClaimSurvivesARestart(t *testing.T) {
	net := newPlay(t, 2)
	me, other := net.seats[0], net.seats[1]
	checkpoint := net.table.session.Record()
	net.pass(5 * second)
	net.table.sendAll(wire.OpCode_OP_CODE_NOTICE, &wire.Notice{Stamp: net.table.stamp(), Kind: wire.NoticeKind_NOTICE_KIND_SHUTDOWN})
	net.loss = 100
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.loss = 0
	lost := other.claim(t, slotsOfSet(t, other.controller)) // the same one
	net.pass(100 * time.Millisecond)
	require.Equal(t, ResolvedValid, other.resolution(t, lost).Kind)
	net.table.refuse(0, id, &wire.ClaimRefused{Reason: wire.Reason_REASON_TABLE_CLOSED})
	net.table.send(0, wire.OpCode_OP_CODE_ERROR, &wire.Error{Stamp: net.table.stamp(), Reason: wire.Reason_REASON_TABLE_CLOSED})
	net.pass(time.Millisecond)
	require.True(t, me.controller.WaitingForServer(), "the table may be suspended")
	net.table.sendAll(wire.OpCode_OP_CODE_NOTICE, &wire.Notice{Stamp: net.table.stamp(), Kind: wire.NoticeKind_NOTICE_KIND_SUSPENDED})
	net.pass(time.Millisecond)
	require.True(t, me.controller.Reconnecting())
	require.False(t, me.controller.Closed())
	before := me.controller.MatchTimeMs()

	net.restart(checkpoint)
	net.pass(second)
	require.Equal(t, 1, me.reconnects)
	require.Less(t, me.controller.MatchTimeMs(), before)
	r := me.resolution(t, id)
	require.Equal(t, ResolvedValid, r.Kind)
	require.Equal(t, id, r.ClaimID)
	require.Equal(t, uint32(1), me.controller.here.Incarnation-1)
	state, _ := me.controller.Snapshot()
	require.Equal(t, [2]int{1, 0}, [2]int{state.ByPlayer[0].Score, state.ByPlayer[1].Score}, "the other's Set is taken back")
}

// A claim that was judged, and whose answer is lost, has its verdict in the Welcome after the restart.
func TestVerdictSurvivesARestart(t *testing.T) {
	net := newPlay(t, 1)
	me := net.seats[0]
	forward := net.table.deliver
	net.table.deliver = func(int, Frame) {}
	id := me.claim(t, slotsOfSet(t, me.controller))
	net.pass(time.Millisecond)
	net.table.deliver = forward
	require.True(t, net.table.verdicts[claimKey{0, id}])
	net.restart(net.table.session.Record())
	net.pass(second)
	r := me.resolution(t, id)
	require.Equal(t, ResolvedValid, r.Kind)
	require.Equal(t, 1, r.Sends)
}

// A lock that ended later than now belongs to the time before.
func TestRetryTimeDoesNotSurviveARestart(t *testing.T) {
	net := newPlay(t, 1)
	checkpoint := net.table.session.Record()
	me := net.seats[0]
	me.claim(t, slotsOfSet(t, me.controller))
	net.pass(100 * time.Millisecond)
	me.controller.retryMs = 100_000
	net.restart(checkpoint)
	net.pass(second)
	require.Zero(t, me.controller.RetryAtMs())
}

// What a restart takes back is no violation, and the deck that goes on is the one that was committed to.
func TestVerifierAcrossRestarts(t *testing.T) {
	for _, players := range []int{1, 3} {
		table := newFakeTable(t, players, testRules(), keyDeck(3))
		net := newFakeNetwork(table)
		verifier := NewVerifier(VerifierConfig{})
		forward := table.deliver
		table.deliver = func(seat int, frame Frame) {
			if seat == 0 {
				verifier.Received(frame)
			}
			forward(seat, frame)
		}
		me := net.seats[0]
		verifier.Joined()
		table.welcome(0)
		table.start()
		me.controller.transport = tappedTransport{me, &sentTap{verifier}}
		var auto []*Player
		for i, s := range net.seats {
			auto = append(auto, NewPlayer(PlayerConfig{Seed: uint64(i), Reaction: 900 * time.Millisecond, ErrorRate: 0.25}, s.controller))
		}
		checkpoint := table.session.Record()
		for step := 1; me.controller.Ended() == nil; step++ {
			require.Less(t, step, 100_000)
			for _, p := range auto {
				p.Act()
			}
			if step%400 == 200 {
				checkpoint = table.session.Record()
			}
			if step%400 == 0 && table.incarnation < 6 {
				net.restart(checkpoint)
				verifier.Joined()
			}
			net.pass(10 * time.Millisecond)
		}
		table.welcome(0)
		report := verifier.Report()
		require.Empty(t, report.Violations)
		require.True(t, report.Committed)
		require.True(t, report.DealProven)
		require.Equal(t, uint32(6), table.incarnation)
	}
}

// sentTap tells a verifier what is sent.
type sentTap struct{ verifier *Verifier }

func (s *sentTap) Sent(frame Frame) { s.verifier.Sent(frame) }
func (s *sentTap) Received(Frame)   {}
func (s *sentTap) Joined()          {}

// A claim that was held at the checkpoint is answered once more after the restart, and no more often.
func TestVerifierTakesAnAnswerAgain(t *testing.T) {
	net := newPlay(t, 1)
	v := NewVerifier(VerifierConfig{})
	receive := func(op wire.OpCode, body proto.Message) {
		data, err := proto.Marshal(body)
		require.NoError(t, err)
		v.Received(Frame{Op: int64(op), Data: data})
	}
	welcome := func() { receive(wire.OpCode_OP_CODE_WELCOME, net.table.newWelcome(0)) }
	answer := func() {
		receive(wire.OpCode_OP_CODE_CLAIM_RESULT, &wire.ClaimResult{Stamp: net.table.stamp(), ClaimId: 5, Result: &wire.ClaimResult_Refused{
			Refused: &wire.ClaimRefused{Reason: wire.Reason_REASON_ENDED},
		}})
	}
	v.Joined()
	welcome()
	data, err := proto.Marshal(&wire.ClaimSet{ClaimId: 5, Cards: []byte{1, 2, 3}})
	require.NoError(t, err)
	v.Sent(Frame{Op: int64(wire.OpCode_OP_CODE_CLAIM_SET), Data: data})
	answer()
	net.table.incarnation++
	v.Joined()
	welcome()
	require.Empty(t, v.Report().Violations, "it was answered before")
	answer()
	require.Empty(t, v.Report().Violations)
	answer()
	require.Len(t, v.Report().Violations, 1)
}

// The same without an incarnation that rises is found.
func TestTakingBackWithoutARestartIsFound(t *testing.T) {
	net := newPlay(t, 1)
	verifier := NewVerifier(VerifierConfig{})
	verifier.Joined()
	me := net.seats[0]
	welcome := func() {
		data, err := proto.Marshal(net.table.newWelcome(0))
		require.NoError(t, err)
		verifier.Received(Frame{Op: int64(wire.OpCode_OP_CODE_WELCOME), Data: data})
	}
	checkpoint := net.table.session.Record()
	me.claim(t, slotsOfSet(t, me.controller))
	net.pass(second)
	welcome()
	net.restart(checkpoint)
	net.table.incarnation--
	welcome()
	require.NotEmpty(t, verifier.Report().Violations)
}

// resuming is a server whose first match is gone after the first join: its table goes on in "n.node".
type resuming struct {
	mu      sync.Mutex
	joins   []string
	resumes int
	answer  func(s *fakeSocket, cid string, n int) // of resume_match, n from 1
}

func (r *resuming) envelope(t *testing.T) func(s *fakeSocket, e *rtapi.Envelope) {
	return func(s *fakeSocket, e *rtapi.Envelope) {
		r.mu.Lock()
		defer r.mu.Unlock()
		join, rpc := e.GetMatchJoin(), e.GetRpc()
		switch {
		case join != nil:
			r.joins = append(r.joins, join.GetMatchId())
			if len(r.joins) > 1 && join.GetMatchId() == "m.node" {
				s.refuse(e.GetCid(), int32(rtapi.Error_MATCH_NOT_FOUND), "Match not found")
				return
			}
			s.joined(e.GetCid(), join.GetMatchId())
			s.data(join.GetMatchId(), frameOf(t, wire.OpCode_OP_CODE_WELCOME, &wire.Welcome{
				Stamp: &wire.Stamp{Incarnation: uint32(len(r.joins)), Revision: 1}, TableId: "table",
			}))
		case rpc != nil:
			if rpc.GetId() != "resume_match" || rpc.GetPayload() != `{"table_id":"table"}` {
				t.Errorf("RPC %v", rpc)
			}
			r.resumes++
			r.answer(s, e.GetCid(), r.resumes)
		}
	}
}

func TestLinkResumesAMatchThatIsGone(t *testing.T) {
	for name, suspended := range map[string]bool{"killed": false, "suspended": true} {
		t.Run(name, func(t *testing.T) {
			server := newFakeServer(t)
			r := &resuming{answer: func(s *fakeSocket, cid string, n int) {
				if n == 1 {
					s.refuse(cid, 7, `{"reason":"STORAGE_UNAVAILABLE"}`)
					return
				}
				s.answerRPC(cid, `{"match_id":"n.node","table_id":"table"}`)
			}}
			server.envelope = r.envelope(t)
			link, err := server.client().OpenLink(t.Context(), server.user(), FormatProtobuf, "m.node", JoinOptions{})
			require.NoError(t, err)
			defer link.Close()
			require.Equal(t, LinkJoined, nextEvent(t, link).Kind)
			require.Equal(t, LinkMessage, nextEvent(t, link).Kind)
			if suspended {
				data, err := proto.Marshal(&wire.Notice{Kind: wire.NoticeKind_NOTICE_KIND_SUSPENDED})
				require.NoError(t, err)
				server.mu.Lock()
				first := server.sockets[0]
				server.mu.Unlock()
				first.data("m.node", Frame{Op: int64(wire.OpCode_OP_CODE_NOTICE), Data: data})
				require.Equal(t, LinkMessage, nextEvent(t, link).Kind)
			}
			link.Reconnect()
			require.Equal(t, LinkLost, nextEvent(t, link).Kind)
			require.Equal(t, LinkJoined, nextEvent(t, link).Kind)
			event := nextEvent(t, link)
			r.mu.Lock()
			defer r.mu.Unlock()
			require.Equal(t, uint32(len(r.joins)), event.Message.Body.GetStamp().GetIncarnation())
			require.Equal(t, "n.node", link.Match().ID())
			require.Equal(t, 2, r.resumes)
			tried := strings.Join(r.joins[1:len(r.joins)-1], " ")
			if suspended {
				require.Empty(t, tried, "a suspended match is not there")
			} else {
				require.Equal(t, "m.node m.node", tried)
			}
		})
	}
}

// The server is restarted once more, between the answer to resume_match and the join.
func TestLinkResumesAgain(t *testing.T) {
	server := newFakeServer(t)
	r := &resuming{answer: func(s *fakeSocket, cid string, n int) {
		s.answerRPC(cid, `{"match_id":"`+map[bool]string{true: "m.node", false: "n.node"}[n == 1]+`","table_id":"table"}`)
	}}
	server.envelope = r.envelope(t)
	link, err := server.client().OpenLink(t.Context(), server.user(), FormatJSON, "m.node", JoinOptions{TableID: "table"})
	require.NoError(t, err)
	defer link.Close()
	require.Equal(t, LinkJoined, nextEvent(t, link).Kind)
	require.Equal(t, LinkMessage, nextEvent(t, link).Kind)
	link.Reconnect()
	require.Equal(t, LinkLost, nextEvent(t, link).Kind)
	require.Equal(t, LinkJoined, nextEvent(t, link).Kind)
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Equal(t, 2, r.resumes)
	require.Equal(t, "n.node", link.Match().ID())
}

func TestLinkCannotResumeWhatIsOver(t *testing.T) {
	for _, reason := range []string{"MATCH_OVER", "UNKNOWN_MATCH"} {
		server := newFakeServer(t)
		r := &resuming{answer: func(s *fakeSocket, cid string, _ int) { s.refuse(cid, 7, `{"reason":"`+reason+`"}`) }}
		server.envelope = r.envelope(t)
		link, err := server.client().OpenLink(t.Context(), server.user(), FormatJSON, "m.node", JoinOptions{TableID: "table"})
		require.NoError(t, err)
		t.Cleanup(link.Close)
		require.Equal(t, LinkJoined, nextEvent(t, link).Kind)
		require.Equal(t, LinkMessage, nextEvent(t, link).Kind)
		link.Reconnect()
		require.Equal(t, LinkLost, nextEvent(t, link).Kind)
		failed := nextEvent(t, link)
		require.Equal(t, LinkFailed, failed.Kind)
		require.Equal(t, reason, ReasonOf(failed.Err))
		r.mu.Lock()
		require.Equal(t, 1, r.resumes)
		r.mu.Unlock()
	}
}

func TestWhatALinkTriesAgain(t *testing.T) {
	for _, test := range []struct {
		err     Error
		refusal bool
	}{
		{Error{Reason: "FORFEITED"}, true}, {Error{Reason: "UNKNOWN_MATCH"}, true}, {Error{Code: 4}, true}, {Error{Code: 16}, true}, {Error{Code: 401}, true},
		{Error{Reason: "BUSY"}, false}, {Error{Reason: "INTERNAL"}, false}, {Error{Reason: "SHUTTING_DOWN"}, false},
		{Error{Reason: "STORAGE_UNAVAILABLE"}, false}, {Error{Reason: "TOO_MANY_REQUESTS"}, false}, {Error{Reason: "TABLE_CLOSED"}, false},
		{Error{Code: 5}, false}, {Error{Code: 13}, false}, {Error{Code: 14}, false}, {Error{Code: 502, Foreign: true}, false},
	} {
		require.Equal(t, test.refusal, isRefusal(&test.err), "%+v", test.err)
	}
	require.False(t, isRefusal(ErrNoRoute))
}

func TestResultRPCs(t *testing.T) {
	server := newFakeServer(t)
	c, user := server.client(), server.user()
	for _, test := range []struct {
		answer, payload, id string
		call                func() (any, error)
		want                any
	}{
		{`{"match_id":"n.node","table_id":"T"}`, `{"table_id":"T"}`, "resume_match",
			func() (any, error) { return c.ResumeMatch(t.Context(), user, "T") }, ResumedMatch{"n.node", "T"}},
		{`{"status":"pending"}`, `{"result_id":"T"}`, "get_result",
			func() (any, error) { return c.GetResult(t.Context(), user, "T") }, GotResult{Status: "pending"}},
		{`{"result_id":"T","record":"AQI=","result":{"winners":[1]}}`, `{"result_id":"T"}`, "get_record",
			func() (any, error) { return c.GetRecord(t.Context(), user, "T") },
			GotRecord{ResultID: "T", Record: []byte{1, 2}, Result: &Result{Winners: []int{1}}}},
		{`{"results":[{"result_id":"T","players":[{"user_id":"u","score":3,"rating":{"change":-2}}]}],"cursor":"c"}`, `{"limit":5,"cursor":"b"}`, "match_history",
			func() (any, error) { return c.MatchHistory(t.Context(), user, 5, "b") },
			ResultPage{Results: []Result{{ResultID: "T", Players: []PlayerResult{{UserID: "u", Score: 3, Rating: &RatingChange{Change: -2}}}}}, Cursor: "c"}},
		{`{"user_id":"u","sets":7,"rating":1500}`, `{"user_id":"u"}`, "player_stats",
			func() (any, error) { return c.PlayerStats(t.Context(), user, "u") }, PlayerStats{UserID: "u", Sets: 7, Rating: 1500}},
		{`{"done":true}`, `{"result_id":"T","seat":1,"reason":"abuse"}`, "report_player",
			func() (any, error) {
				return nil, c.ReportPlayer(t.Context(), user, PlayerReport{ResultID: "T", Seat: 1, Reason: "abuse"})
			}, nil},
		{`{"done":true}`, `{"confirm":true}`, "delete_my_data", func() (any, error) { return nil, c.DeleteMyData(t.Context(), user) }, nil},
		{`{"user_id":"u","matches":[{"record":"AQI="}],"cursor":"d"}`, `{}`, "export_my_data",
			func() (any, error) { return c.ExportMyData(t.Context(), user, "") },
			ExportedData{UserID: "u", Matches: []ExportedMatch{{Record: []byte{1, 2}}}, Cursor: "d"}},
		{`{"matches":[{"table_id":"T","phase":"interrupted"}],"complete":true}`, `{}`, "my_matches",
			func() (any, error) { return c.MyMatches(t.Context(), user) },
			MyMatchList{Matches: []MyMatch{{Table: Table{TableID: "T", Phase: "interrupted"}}}, Complete: true}},
	} {
		var payload string
		server.rpc = func(p string) (int, string) {
			payload = p
			return http.StatusOK, `{"payload":` + strconv.Quote(test.answer) + `}`
		}
		got, err := test.call()
		require.NoError(t, err, test.id)
		require.Equal(t, test.want, got, test.id)
		require.JSONEq(t, test.payload, payload, test.id)
		server.mu.Lock()
		last := server.requests[len(server.requests)-1]
		server.mu.Unlock()
		require.Contains(t, last, "POST /v2/rpc/"+test.id+" ")
	}
}
