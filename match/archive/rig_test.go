package archive_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
	"set3d/local"
	"set3d/match/archive"
)

// cluster is a database, as the local host imitates Nakama's, that several processes share.
type cluster struct {
	t     testing.TB
	nk    runtime.NakamaModule
	users []string // by seat
	names []string
}

func newCluster(t testing.TB, players int) *cluster {
	t.Helper()
	c := &cluster{t: t}
	database, err := local.OpenDatabase("")
	if err != nil {
		t.Fatal(err)
	}
	server, err := local.New(local.Config{Database: database, Logger: &log{}}, func(_ context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, _ runtime.Initializer) error {
		c.nk = nk
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	for i := range players {
		name := fmt.Sprintf("player%d", i)
		c.users, c.names = append(c.users, c.user(name)), append(c.names, name)
	}
	admin := archive.New(archive.Config{Nakama: c.nk, Logger: &log{}})
	if err := errors.Join(admin.CreateLeaderboards(), admin.Upgrade(context.Background())); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cluster) user(name string) string {
	c.t.Helper()
	id, _, _, err := c.nk.AuthenticateDevice(context.Background(), "device-of-"+name, name, true)
	if err != nil {
		c.t.Fatal(err)
	}
	return id
}

// process is an archive with its own connection to the database.
type process struct {
	*archive.Archive
	t    testing.TB
	link *link
	log  *log
	told int // claims that are stored, as it believes

	mu       sync.Mutex
	lost     []string // tables that other processes have taken over
	panicked int
}

func (c *cluster) process(node string, change ...func(*archive.Config)) *process {
	p := &process{t: c.t, link: &link{NakamaModule: c.nk}, log: &log{}}
	config := archive.Config{
		Nakama: p.link, Logger: p.log, Node: node, ResumeWithin: time.Hour,
		Superseded: func(id string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.lost = append(p.lost, id)
		},
		Panicked: func(any, string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.panicked++
		},
	}
	for _, f := range change {
		f(&config)
	}
	p.Archive = archive.New(config)
	return p
}

func (p *process) losses() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.lost...)
}

func (p *process) panics() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.panicked
}

// waitStored waits until nothing waits to be stored.
func (p *process) waitStored() {
	p.t.Helper()
	eventually(p.t, func() bool { return p.Counters().Waiting == 0 }, func() any { return p.Queue(10) })
}

func eventually(t testing.TB, ok func() bool, why ...func() any) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			for _, f := range why {
				t.Logf("%+v", f())
			}
			t.Fatal("it does not come to that")
		}
	}
}

// log keeps lines.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(level, format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, level+" "+fmt.Sprintf(format, v...))
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

func (l *log) Debug(format string, v ...any)            { l.add("DEBUG", format, v...) }
func (l *log) Info(format string, v ...any)             { l.add("INFO", format, v...) }
func (l *log) Warn(format string, v ...any)             { l.add("WARN", format, v...) }
func (l *log) Error(format string, v ...any)            { l.add("ERROR", format, v...) }
func (l *log) WithField(string, any) runtime.Logger     { return l }
func (l *log) WithFields(map[string]any) runtime.Logger { return l }
func (l *log) Fields() map[string]any                   { return nil }

// stored are the keys of a collection, of one user or ("") of all.
func (c *cluster) stored(collection, userID string) []string {
	c.t.Helper()
	objects, next, err := c.nk.StorageList(context.Background(), "", userID, collection, 1_000, "")
	if err != nil || next != "" {
		c.t.Fatal(err, next)
	}
	keys := []string{}
	for _, o := range objects {
		keys = append(keys, o.Key)
	}
	return keys
}

// player is what is kept about a user.
type player struct {
	Stats  archive.Stats `json:"stats"`
	Seats  []string      `json:"seats"`
	Recent []any         `json:"recent"`
	Pages  int           `json:"pages"`
}

// player reads what is kept about a user; the zero value if nothing is.
func (c *cluster) player(userID string) (p player) {
	c.t.Helper()
	c.read("set3d_players", userID, &p)
	return p
}

// seats are the seats that lead users back to tables, by user.
func (c *cluster) seats() (all []string) {
	c.t.Helper()
	for _, userID := range c.users {
		for _, id := range c.player(userID).Seats {
			all = append(all, userID+" at "+id)
		}
	}
	return all
}

// score is what a leaderboard shows of a user; -1: nothing.
func (c *cluster) score(board, userID string) int64 {
	c.t.Helper()
	_, own, _, _, err := c.nk.LeaderboardRecordsList(context.Background(), board, []string{userID}, 1, "", 0)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(own) == 0 {
		return -1
	}
	return own[0].Score
}

// read reads one of the system's objects; false if it is not there.
func (c *cluster) read(collection, key string, into any) bool {
	c.t.Helper()
	objects, err := c.nk.StorageRead(context.Background(), []*runtime.StorageRead{{Collection: collection, Key: key}})
	if err != nil {
		c.t.Fatal(err)
	}
	if len(objects) == 0 {
		return false
	}
	if err := json.Unmarshal([]byte(objects[0].Value), into); err != nil {
		c.t.Fatal(err)
	}
	return true
}

// wantSettled fails unless so many matches of all players have left exactly what they should.
func (c *cluster) wantSettled(results ...string) {
	c.t.Helper()
	p := c.process("reader")
	if got := c.stored("set3d_results", ""); fmt.Sprint(got) != fmt.Sprint(sorted(results)) {
		c.t.Fatalf("results %v, want %v", got, results)
	}
	if tables, terms, seats := c.stored("set3d_tables", ""), c.stored("set3d_terms", ""), c.seats(); len(tables)+len(terms)+len(seats) != 0 {
		c.t.Fatalf("left behind: tables %v, terms %v, seats %v", tables, terms, seats)
	}
	if aside := c.stored("set3d_set_aside", ""); len(aside) != 0 {
		c.t.Fatalf("set aside: %v", aside)
	}
	if records := c.stored("set3d_records", ""); len(records) != len(results) {
		c.t.Fatalf("records %v", records)
	}
	var sets, wins, rated [8]int
	for _, id := range results {
		r, err := p.Result(id)
		if err != nil {
			c.t.Fatal(err)
		}
		record, err := p.Record(r)
		if err != nil {
			c.t.Fatal(err)
		}
		if _, err := domain.Replay(record, &domain.Output{}); err != nil {
			c.t.Fatalf("the record of %s: %v", id, err)
		}
		for i := range r.Players {
			sets[i] += r.Players[i].Claims - r.Players[i].Wrong
			if r.Players[i].Rating != nil {
				rated[i]++
			}
		}
		for _, seat := range r.Winners {
			wins[seat]++
		}
	}
	for i, userID := range c.users {
		s, err := p.Stats(userID)
		if err != nil {
			c.t.Fatal(err)
		}
		if s.Matches != len(results) || s.Ranked != rated[i] || s.Wins != wins[i] || s.Sets != sets[i] {
			c.t.Fatalf("player %d has %+v, of %d matches, %d wins, %d Sets, %d rated", i, s, len(results), wins[i], sets[i], rated[i])
		}
		if own := c.player(userID); len(own.Recent)+25*own.Pages != len(results) {
			c.t.Fatalf("player %d has a history of %d and %d pages", i, len(own.Recent), own.Pages)
		}
		shown := int64(s.Rating())
		if rated[i] == 0 {
			shown = -1
		}
		if w, n, r := c.score("set3d_wins", userID), c.score("set3d_sets", userID), c.score("set3d_rating", userID); w != int64(s.Wins) || n != int64(s.Sets) || r != shown {
			c.t.Fatalf("player %d: boards show %d wins, %d Sets, %d, want %+v, %d", i, w, n, r, s, shown)
		}
	}
}
