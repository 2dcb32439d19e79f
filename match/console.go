package match

import (
	"encoding/json"

	"set3d/domain"
	"set3d/match/archive"
)

// consoleView is what an operator sees of a match in Nakama's console. It holds nothing that a player may not know: no
// deck, no seed, no key.
type consoleView struct {
	Table       string        `json:"table"`
	Label       label         `json:"label"`
	State       string        `json:"state,omitempty"`
	TimeMs      int64         `json:"time_ms"`
	Revision    uint64        `json:"revision"`
	Incarnation uint32        `json:"incarnation"`
	DeckCount   int           `json:"deck_count"`
	Board       []string      `json:"board,omitempty"`
	Seats       []consoleSeat `json:"seats"`
	Spectators  int           `json:"spectators"`
	Draining    bool          `json:"draining,omitempty"`
	Closing     bool          `json:"closing,omitempty"`
	NextWakeMs  int64         `json:"next_wake_ms,omitempty"`
	RecordBytes int           `json:"record_bytes"`

	// Unstored is what of the match waits for the database; absent: nothing does.
	Unstored *archive.Waiting `json:"unstored,omitempty"`
	// HeldBack is how many messages wait for the database before they are told, with SET3D_DURABILITY=safe.
	HeldBack int `json:"held_back,omitempty"`
}

type consoleSeat struct {
	User      string `json:"user"`
	Name      string `json:"name"`
	Bot       string `json:"bot,omitempty"`
	Connected bool   `json:"connected"`
	Score     int    `json:"score"`
	Forfeited bool   `json:"forfeited,omitempty"`
	HeldUntil int64  `json:"held_until_ms,omitempty"`
}

// String is compact JSON. Nakama calls it on the match's goroutine.
func (t *table) String() (text string) {
	defer func() {
		if cause := recover(); cause != nil {
			t.module.report(atString, cause, t.box.id, t.sentRevision)
			text = "{}"
		}
	}()
	t.box.tripStarted(atString)
	raw, err := json.Marshal(t.view())
	if err != nil {
		return "{}"
	}
	return string(raw)
}

func (t *table) view() consoleView {
	view := consoleView{
		Table: t.setup.TableID, Label: t.currentLabel(), Revision: t.standing.revision, Incarnation: t.standing.incarnation,
		Spectators: t.spectators(), Unstored: t.module.archive.WaitingFor(t.setup.TableID), HeldBack: len(t.outbox.held),
		Draining: t.draining, Closing: t.closing, Seats: make([]consoleSeat, t.seats.count),
	}
	var snapshot domain.Snapshot
	if t.standing.started {
		snapshot = t.session.Snapshot()
		view.State, view.TimeMs, view.DeckCount = snapshot.State.String(), t.session.NowMs(), snapshot.DeckCount
		view.Board = boardCodes(&snapshot.Board)
		view.NextWakeMs, _ = t.session.NextWakeMs()
		view.RecordBytes = t.session.RecordSize()
	}
	for i := range view.Seats {
		s, p := &t.seats.seat[i], &snapshot.ByPlayer[i]
		view.Seats[i] = consoleSeat{
			User: s.userID, Name: s.name, Connected: s.visitor != nil, Score: p.Score, Forfeited: p.Forfeited,
		}
		if s.bot != 0 {
			view.Seats[i].Bot = s.bot.String()
		}
		view.Seats[i].HeldUntil, _ = t.session.HeldUntilMs(i)
	}
	return view
}

func boardCodes(b *domain.Board) []string {
	codes := make([]string, b.SlotCount())
	for slot := range codes {
		codes[slot] = "----"
		if card, occupied := b.CardAt(slot); occupied {
			codes[slot] = card.Code()
		}
	}
	return codes
}
