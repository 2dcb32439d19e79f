package tests

import (
	"context"
	"encoding/hex"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"set3d/client"
	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// restartable is a server with a state file, which can be ended and started again where it was.
type restartable struct {
	*server
	args []string
}

func startWithState(t *testing.T, settings ...string) *restartable {
	t.Helper()
	if theLab.program == "" {
		t.Skip("needs a server of its own, to end it")
	}
	args := []string{"--grace", "1", "--state", filepath.Join(t.TempDir(), "state.json"), "--env", hooksSetting}
	for _, setting := range settings {
		args = append(args, "--env", setting)
	}
	r := &restartable{args: args}
	r.launch(t, "127.0.0.1:0")
	return r
}

func (r *restartable) launch(t *testing.T, addr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := &server{key: "defaultkey", httpKey: "defaulthttpkey"}
	if err := theLab.launch(ctx, s, exec.Command(theLab.program, append([]string{"serve", "--addr", addr}, r.args...)...)); err != nil {
		t.Fatal(err)
	}
	r.server = s
	t.Cleanup(func() {
		for _, problem := range s.stop() {
			t.Error(problem)
		}
	})
}

// end ends the process with a signal, and waits until it is gone.
func (r *restartable) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	r.stopping.Store(true)
	_ = r.process.Process.Signal(signal)
	select {
	case <-r.exited:
	case <-time.After(patience):
		t.Fatalf("the server does not end:\n%s", r.log.text())
	}
	for _, problem := range r.complaints() {
		t.Error(problem)
	}
}

func (r *restartable) again(t *testing.T) { r.launch(t, strings.TrimPrefix(r.url, "http://")) }

// witness keeps what one player was told.
type witness struct {
	mu       sync.Mutex
	notices  []wire.NoticeKind
	last     *wire.Snapshot // of the newest state
	welcomes []*wire.Welcome
}

func (w *witness) Resolved(client.Resolution) {}

func (w *witness) Message(m client.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch body := m.Body.(type) {
	case *wire.Notice:
		w.notices = append(w.notices, body.GetKind())
	case *wire.Update:
		w.last = body.GetSnapshot()
	case *wire.Welcome:
		w.welcomes = append(w.welcomes, body)
		if len(w.welcomes) == 1 || body.GetStamp().GetIncarnation() == w.welcomes[0].GetStamp().GetIncarnation() {
			w.last = body.GetSnapshot()
		}
	}
}

func (w *witness) sets() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, score := range w.last.GetScores() {
		n += int(score)
	}
	return n
}

// returned is the first WELCOME after the nth restart.
func (w *witness) returned(n uint32) *wire.Welcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.welcomes, func(welcome *wire.Welcome) bool { return welcome.GetStamp().GetIncarnation() == n })
	if i < 0 {
		return nil
	}
	return w.welcomes[i]
}

// TestMatchSurvivesARestart: the players of a match that a restart interrupts come back by themselves, to the same seats, board, scores and clock, and
// play it to its one result. A server that is stopped in peace loses nothing; one that is killed, nothing that anybody was told.
func TestMatchSurvivesARestart(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"stopped": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startWithState(t, "SET3D_DURABILITY=safe")
			x := openLinks(t, r, client.CreateMatch{
				Preset: "timed", Seats: 3, Bots: []string{"easy"},
				Rules: map[string]any{"valid_anim_ms": 40, "refill_anim_ms": 30, "expand_anim_ms": 20, "invalid_anim_ms": 100},
			})
			x.play()
			if !eventually(func() bool { return x.witnesses[0].sets() >= 3 }) {
				t.Fatal("nobody takes a Set")
			}
			r.end(t, signal)
			told := make([]*wire.Snapshot, len(x.witnesses))
			for i, w := range x.witnesses {
				w.mu.Lock()
				told[i] = proto.CloneOf(w.last)
				w.mu.Unlock()
			}
			time.Sleep(300 * time.Millisecond) // for the clients there is no server for a while
			r.again(t)
			for i, w := range x.witnesses {
				if !eventually(func() bool { return w.returned(1) != nil }) {
					t.Fatalf("player %d does not come back; %v\n%s", i, w.notices, r.log.text())
				}
				x.sameMatch(w, told[i], i, signal == syscall.SIGTERM)
			}
			x.finish()
			x.oneResult(r)
		})
	}
}

// linked is a match that is played over links.
type linked struct {
	t         *testing.T
	made      client.CreatedMatch
	users     []*client.User
	witnesses []*witness
	verifiers []*client.Verifier
	drivers   []*client.Driver
	ended     []chan error
}

func openLinks(t *testing.T, r *restartable, request client.CreateMatch) *linked {
	t.Helper()
	x := &linked{t: t}
	for range request.Seats - len(request.Bots) {
		x.users = append(x.users, signIn(t, r.server))
	}
	var err error
	if x.made, err = r.client().CreateMatch(t.Context(), x.users[0], request); err != nil {
		t.Fatal(err)
	}
	for i, user := range x.users {
		verifier := client.NewVerifier(client.VerifierConfig{})
		link, err := r.client().OpenLink(t.Context(), user, bothFormats[i%2], x.made.MatchID, client.JoinOptions{Tap: verifier, GiveUpAfter: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(link.Close)
		w := &witness{}
		x.witnesses, x.verifiers = append(x.witnesses, w), append(x.verifiers, verifier)
		x.drivers = append(x.drivers, client.NewDriver(link, client.PlayerConfig{Seed: uint64(i), Reaction: 300 * time.Millisecond, ErrorRate: 0.1}, w))
	}
	return x
}

// play lets the players play, until the end of the match or of the test.
func (x *linked) play() {
	for _, driver := range x.drivers {
		ended := make(chan error, 1)
		x.ended = append(x.ended, ended)
		go func() { ended <- driver.Run(x.t.Context()) }()
	}
}

// sameMatch compares the state after the restart with what was told before it.
func (x *linked) sameMatch(w *witness, told *wire.Snapshot, player int, peaceful bool) {
	x.t.Helper()
	back, first := w.returned(1), w.returned(0)
	if back.GetSeat() != first.GetSeat() || back.GetRole() != wire.Role_ROLE_PLAYER || back.GetTableId() != x.made.TableID ||
		!proto.Equal(back.GetRules(), first.GetRules()) {
		x.t.Errorf("player %d comes back as {%v}, was {%v}", player, back, first)
	}
	bot := slices.IndexFunc(back.GetRoster().GetSeats(), func(s *wire.Seat) bool { return s.GetBotLevel() == wire.BotLevel_BOT_LEVEL_EASY })
	if len(back.GetRoster().GetSeats()) != 3 || bot < 0 || back.GetRoster().GetSeats()[first.GetSeat()].GetUserId() != x.users[player].ID {
		x.t.Errorf("the seats are {%v}", back.GetRoster())
	}
	state := back.GetSnapshot()
	if state.GetClockEndMs() != told.GetClockEndMs() || !state.GetClockRunning() {
		x.t.Errorf("the clock ends at %d, was %d", state.GetClockEndMs(), told.GetClockEndMs())
	}
	for seat, score := range told.GetScores() {
		if state.GetScores()[seat] < score {
			x.t.Errorf("seat %d has %d points, and was told %d", seat, state.GetScores()[seat], score)
		}
	}
	atRest := told.GetState() == wire.BoardState_BOARD_STATE_IDLE && state.GetState() == told.GetState()
	if atRest && slices.Equal(state.GetScores(), told.GetScores()) && !slices.Equal(state.GetBoard(), told.GetBoard()) {
		x.t.Errorf("the board is %v, was %v", state.GetBoard(), told.GetBoard())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !peaceful {
		return
	}
	suspended := slices.Index(w.notices, wire.NoticeKind_NOTICE_KIND_SUSPENDED)
	if at := slices.Index(w.notices, wire.NoticeKind_NOTICE_KIND_SHUTDOWN); at < 0 || suspended < at {
		x.t.Errorf("player %d was told %v", player, w.notices)
	}
}

func (x *linked) finish() {
	x.t.Helper()
	for i, ended := range x.ended {
		select {
		case err := <-ended:
			if err != nil {
				x.t.Fatalf("player %d: %v", i, err)
			}
		case <-time.After(wholeMatchLimit):
			x.t.Fatalf("the match does not end for player %d", i)
		}
		if report := x.verifiers[i].Report(); len(report.Violations) > 0 || !report.Committed || !report.DealProven {
			x.t.Errorf("player %d: %+v", i, report)
		}
	}
}

// oneResult checks that the match has one result, which is what its record says and what the players were told.
func (x *linked) oneResult(r *restartable) {
	x.t.Helper()
	c, told := r.client(), x.drivers[0].Controller.Ended()
	for _, user := range x.users {
		var got client.GotResult
		var err error
		if !eventually(func() bool {
			got, err = c.GetResult(x.t.Context(), user, x.made.TableID)
			return err != nil || got.Status == "final"
		}) || err != nil {
			x.t.Fatalf("the result: %+v, %v", got, err)
		}
		page, err := c.MatchHistory(x.t.Context(), user, 0, "")
		if err != nil || len(page.Results) != 1 || page.Results[0].ResultID != told.GetResultId() {
			x.t.Errorf("the history: %+v, %v", page, err)
		}
		if mine, err := c.MyMatches(x.t.Context(), user); err != nil || !mine.Complete || len(mine.Matches) > 1 {
			x.t.Errorf("my matches: %+v, %v", mine, err)
		}
	}
	got, err := c.GetRecord(x.t.Context(), x.users[0], x.made.TableID)
	if err != nil {
		x.t.Fatal(err)
	}
	sum, err := domain.Summarize(got.Record)
	if err != nil {
		x.t.Fatal(err)
	}
	if first := x.witnesses[0].welcomes[1]; got.Result.Commitment != hex.EncodeToString(first.GetCommitment()) || !sum.Committed {
		x.t.Errorf("the commitment was %x, the result has %s", first.GetCommitment(), got.Result.Commitment)
	}
	for seat, line := range told.GetTable() {
		if p := got.Result.Players[seat]; p.Score != int(line.GetScore()) || sum.Seats[seat].Score != p.Score || p.Claims != sum.Seats[seat].Claims {
			x.t.Errorf("seat %d was told {%v}, the result says %+v, the record %+v", seat, line, p, sum.Seats[seat])
		}
	}
	if got.Result.Incarnation != 1 {
		x.t.Errorf("the incarnation is %d", got.Result.Incarnation)
	}
}
