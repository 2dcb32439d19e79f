package archive

import (
	"bytes"
	"encoding/json"
	"slices"
)

// State is where a table stands.
type State string

// The states of a table. Settled is what remains for a moment of a finished match whose result is stored.
const (
	Running   State = "running"
	Suspended State = "suspended" // its process has stopped in peace
	Ended     State = "ended"
	Abandoned State = "abandoned" // interrupted, and nobody came back in time
	Aborted   State = "aborted"   // something broke: the match ends as it stood at its last checkpoint, and counts for nothing
	Stopped   State = "stopped"   // an operator has ended it: as it stands, and it counts for nothing
	settled   State = "settled"
)

// over reports whether nothing more will happen at the table.
func (s State) over() bool { return s != "" && s != Running && s != Suspended }

// Table is a match as its table hands it over: enough to go on with it, and to settle it when it has ended.
type Table struct {
	Progress
	Terms
}

// Progress is what changes from one checkpoint to the next.
type Progress struct {
	ID          string `json:"table_id"`
	MatchID     string `json:"match_id"` // Nakama's, of this incarnation
	Incarnation uint32 `json:"incarnation"`
	State       State  `json:"state"`
	SavedUnixMs int64  `json:"saved_unix_ms"` // when this was handed over; of a finished match: when it ended
	Record      []byte `json:"record"`
}

// Terms are what stays as it is at the start, but for the players' names. They are most of a table's bytes, and stored
// only when they have changed.
type Terms struct {
	// Setup is what the table was made from. Only package match reads it.
	Setup  json.RawMessage `json:"setup,omitempty"`
	Preset string          `json:"preset"`
	Rules  json.RawMessage `json:"rules,omitempty"` // as RPCs show them
	Ranked bool            `json:"ranked"`
	// Counts says that the match goes into its players' statistics.
	Counts        bool   `json:"counts"`
	StartedUnixMs int64  `json:"started_unix_ms"`
	Seats         []Seat `json:"seats"`
}

func (t *Terms) equal(other *Terms) bool {
	return bytes.Equal(t.Setup, other.Setup) && t.Preset == other.Preset && bytes.Equal(t.Rules, other.Rules) && t.Ranked == other.Ranked &&
		t.Counts == other.Counts && t.StartedUnixMs == other.StartedUnixMs && slices.Equal(t.Seats, other.Seats)
}

// Seat is who sits at a table.
type Seat struct {
	UserID string `json:"user_id,omitempty"` // empty: a bot
	Name   string `json:"name"`
	Avatar string `json:"avatar,omitempty"`
	Bot    string `json:"bot,omitempty"` // its level
}

// SeatOf is the seat of a user, or false.
func (t *Terms) SeatOf(userID string) (int, bool) {
	for i := range t.Seats {
		if userID != "" && t.Seats[i].UserID == userID {
			return i, true
		}
	}
	return 0, false
}

// forgetUser takes a user's name out of the table, and all that the table was made from, which names users too and is
// not needed for settling.
func (t *Terms) forgetUser(userID string) {
	if seat, sits := t.SeatOf(userID); sits {
		t.Seats[seat] = Seat{Name: deletedName}
	}
	t.Setup = nil
}

// humans are the users at the table.
func (t *Terms) humans() []string {
	var users []string
	for i := range t.Seats {
		if id := t.Seats[i].UserID; id != "" {
			users = append(users, id)
		}
	}
	return users
}

// owner is the process that has a table.
type owner struct {
	Node string `json:"node"`
	Boot string `json:"boot"`
}

// checkpoint is a table as it is stored.
type checkpoint = stored[Table]

// stored is what one object keeps of a table: its progress. Its terms have an object of their own, or were in the same
// one, by earlier versions.
type stored[T Progress | Table] struct {
	Format int    `json:"format"`
	Owner  owner  `json:"owner"`
	Serial uint64 `json:"serial"` // rises with each write: storage's versions are hashes of the content, which must not come back
	Table  T      `json:"table"`
}

// checkpointFormat is raised when what is stored changes in a way that an older process would misread.
const checkpointFormat = 2
