// Package archive keeps what outlives the process that a match runs in: a checkpoint of every running match, from which
// it goes on after a restart, and of every finished one its result, its record, and what it means for its players'
// statistics.
//
// Nothing here runs on a match's goroutine. A table hands over its newest state with Put, which only takes a mutex;
// workers carry it to Nakama's storage, in one transaction for all that belongs together, and try again until it is
// there. What is stored is guarded by versions: of two processes that believe they own a table one finds out that it
// does not, and a result is written once, whoever tries how often.
package archive

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// The collections in Nakama's storage. The system owns all of their objects, and permissions keep clients from reading
// them: what users own they can write and delete themselves. Hooks refuse clients' writes to collections that begin
// with Prefix on top.
const (
	// Prefix begins the name of every collection of this module.
	Prefix = "set3d_"

	tablesCollection  = "set3d_tables"    // by table id: checkpoints
	termsCollection   = "set3d_terms"     // by table id: what is the same in all of them
	resultsCollection = "set3d_results"   // by table id, which is the result's id too: a table plays one match
	recordsCollection = "set3d_records"   // by day and table id, so that the oldest come first
	reportsCollection = "set3d_reports"   // by the record's key
	playersCollection = "set3d_players"   // by user id: statistics, seats, the newest results
	pagesCollection   = "set3d_pages"     // by user id and number: older results
	nodesCollection   = "set3d_nodes"     // by node: until when its process is surely alive
	forgetCollection  = "set3d_forget"    // by user id: whose account is being deleted
	asideCollection   = "set3d_set_aside" // by table id, and perhaps user id: what cannot be settled
	metaCollection    = "set3d_meta"      // one object: the format of the data
)

const (
	// callTimeout bounds one call of the database.
	callTimeout = 10 * time.Second
	// batchMax is how many checkpoints are written in one transaction: beyond it the gain is small and a failure
	// repeats much.
	batchMax = 64
)

// Config is what an Archive works with.
type Config struct {
	Nakama runtime.NakamaModule
	Logger runtime.Logger
	Node   string // of this process; unique among those that share the database
	// Every is how long a checkpoint may wait for others to be written with it: what a crash can lose at most, besides
	// the write itself. 0: it is written at once.
	Every time.Duration
	// ResumeWithin is how long the players of an interrupted match have to come back to it.
	ResumeWithin time.Duration
	// KeepRecords is how long records are kept; 0: for ever.
	KeepRecords time.Duration
	// Superseded is called when another process has taken a table over. It must not block.
	Superseded func(tableID string)
	// Panicked is called with what a worker has recovered.
	Panicked func(cause any, tableID string)
}

// Archive keeps the matches of one process. It is safe for concurrent use.
type Archive struct {
	config Config
	boot   string // names this process among all that ever ran

	start time.Time

	mu       sync.Mutex
	entries  map[string]*entry
	claims   map[string]bool // tables that this process is just trying to get
	timer    *time.Timer
	wakeAt   time.Time // when the timer goes off; zero: it is not set
	workers  [lanes]int
	failures int // in a row, of whatever
	draining bool
	idle     chan struct{} // closed when the queue becomes empty; nil: nobody waits
	stats    Counters
	aside    int    // objects that are set aside, as far as this process knows
	sweepAt  string // cursor of the players that are swept next; Sweep's alone

	complained map[string]bool      // objects about which something was logged
	settling   map[string]time.Time // users of the matches that are just being settled, and since when
	leased     time.Time            // until when others believe that this process is alive
}

// New returns an archive that has nothing to do. Sweep finds what earlier processes have left.
func New(config Config) *Archive {
	return &Archive{
		config: config, boot: rand.Text(), start: time.Now(),
		entries: map[string]*entry{}, claims: map[string]bool{}, settling: map[string]time.Time{},
		complained: map[string]bool{},
	}
}

func (a *Archive) nk() runtime.NakamaModule { return a.config.Nakama }

func callContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), callTimeout)
}

// guard is deferred by every goroutine of the archive.
func (a *Archive) guard(tableID string) {
	if cause := recover(); cause != nil {
		a.config.Panicked(cause, tableID)
	}
}

// encode is a value as storage takes it.
func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("archive: cannot encode %T: %v", v, err))
	}
	return string(raw)
}
