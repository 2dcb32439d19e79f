package archive

import "encoding/json"

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
	ID          string `json:"table_id"`
	MatchID     string `json:"match_id"` // Nakama's, of this incarnation
	Incarnation uint32 `json:"incarnation"`
	State       State  `json:"state"`

	// Setup is what the table was made from. Only package match reads it.
	Setup  json.RawMessage `json:"setup,omitempty"`
	Preset string          `json:"preset"`
	Rules  json.RawMessage `json:"rules,omitempty"` // as RPCs show them
	Ranked bool            `json:"ranked"`
	// Counts says that the match goes into its players' statistics.
	Counts bool `json:"counts"`

	StartedUnixMs int64  `json:"started_unix_ms"`
	SavedUnixMs   int64  `json:"saved_unix_ms"` // when this was handed over; of a finished match: when it ended
	Seats         []Seat `json:"seats"`
	Record        []byte `json:"record"`
}

// Seat is who sits at a table.
type Seat struct {
	UserID string `json:"user_id,omitempty"` // empty: a bot
	Name   string `json:"name"`
	Avatar string `json:"avatar,omitempty"`
	Bot    string `json:"bot,omitempty"` // its level
}

// SeatOf is the seat of a user, or false.
func (t *Table) SeatOf(userID string) (int, bool) {
	for i := range t.Seats {
		if userID != "" && t.Seats[i].UserID == userID {
			return i, true
		}
	}
	return 0, false
}

// humans are the users at the table.
func (t *Table) humans() []string {
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
type checkpoint struct {
	Format int    `json:"format"`
	Owner  owner  `json:"owner"`
	Serial uint64 `json:"serial"` // rises with each write: storage's versions are hashes of the content, which must not come back
	Table  Table  `json:"table"`
}

// checkpointFormat is raised when what is stored changes in a way that an older process would misread.
const checkpointFormat = 1
