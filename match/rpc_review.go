package match

import (
	"context"
	"sync"

	"github.com/heroiclabs/nakama-common/runtime"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

const (
	matchIDMax = 128 // characters
	// metMax bounds how many users a table remembers as having been there. Those who have a seat do not need that.
	metMax = 1_000
)

// review is a match that is over. It is looked through when somebody asks for the first time, in that one's goroutine.
type review struct {
	record []byte
	names  [domain.MaxPlayers]string
	once   sync.Once
	boards []domain.BoardReview
	err    error
}

// look returns the boards of the match.
func (r *review) look() ([]domain.BoardReview, error) {
	r.once.Do(func() { r.boards, r.err = domain.Review(r.record) })
	return r.boards, r.err
}

// keepReview lets the match be looked at once its end is told.
func (t *table) keepReview() {
	if _, ended := t.session.Ended(); ended && !t.reviewed {
		t.reviewed = true
		t.box.keepReview(t.session.Record(), t.seats.names())
	}
}

// keepReview lets the match be looked at until the table closes.
func (b *mailbox) keepReview(record []byte, names [domain.MaxPlayers]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.review = &review{record: record, names: names}
}

// reviewFor is the review for a user who has been at the table, or why there is none.
func (b *mailbox) reviewFor(userID string) (*review, wire.Reason) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.met[userID] && !b.facts.sits(userID):
		return nil, wire.Reason_REASON_NOT_IN_MATCH
	case b.review == nil:
		return nil, wire.Reason_REASON_NOT_ENDED
	}
	return b.review, 0
}

type reviewResponse struct {
	MatchID string       `json:"match_id"`
	TableID string       `json:"table_id"`
	Boards  []boardReply `json:"boards"`
}

type boardReply struct {
	FromMs int64     `json:"from_ms"`
	ToMs   int64     `json:"to_ms"`
	Cards  []int     `json:"cards"` // by slot
	Sets   int       `json:"sets"`
	Taken  *takenSet `json:"taken,omitempty"`
	Missed [][]int   `json:"missed,omitempty"`
}

type takenSet struct {
	Seat        int    `json:"seat"`
	DisplayName string `json:"display_name"`
	AfterMs     int64  `json:"after_ms"`
	Cards       []int  `json:"cards"`
}

// matchReview tells those who were there what they could have had.
func (m *module) matchReview(ctx context.Context, r *request) (any, error) {
	userID, _ := ctx.Value(runtime.RUNTIME_CTX_USER_ID).(string)
	if userID == "" {
		return nil, reject(wire.Reason_REASON_NO_USER, nil)
	}
	matchID, named := r.text("match_id", matchIDMax)
	missed, _ := r.flag("missed")
	if err := r.done(); err != nil {
		return nil, err
	}
	if !named {
		return nil, reject(wire.Reason_REASON_MISSING_FIELD, args{"field": "match_id"})
	}
	key, ok := parseMatchID(matchID)
	box := m.tables.find(key)
	if !ok || box == nil {
		return nil, reject(wire.Reason_REASON_UNKNOWN_MATCH, nil)
	}
	found, why := box.reviewFor(userID)
	if found == nil {
		return nil, reject(why, nil)
	}
	boards, err := found.look()
	if err != nil {
		m.logger.Error("table %s: cannot look back on its match: %v", box.tableID, err)
		return nil, reject(wire.Reason_REASON_INTERNAL, nil)
	}
	answer := reviewResponse{MatchID: box.id, TableID: box.tableID, Boards: []boardReply{}}
	for i := range boards {
		answer.Boards = append(answer.Boards, viewBoard(&boards[i], &found.names, missed))
	}
	return answer, nil
}

func viewBoard(b *domain.BoardReview, names *[domain.MaxPlayers]string, missed bool) boardReply {
	view := boardReply{FromMs: b.FromMs, ToMs: b.ToMs, Cards: make([]int, b.Board.SlotCount()), Sets: len(b.Sets)}
	for slot := range view.Cards {
		view.Cards[slot] = emptySlot
		if card, occupied := b.Board.CardAt(slot); occupied {
			view.Cards[slot] = card.ID()
		}
	}
	if b.IsTaken {
		view.Taken = &takenSet{
			Seat: b.Taken.Seat, DisplayName: names[b.Taken.Seat], AfterMs: b.ToMs - b.FromMs, Cards: cardIDs(b.Taken.Cards),
		}
	}
	if missed {
		for _, set := range b.Missed() {
			view.Missed = append(view.Missed, cardIDs(set))
		}
	}
	return view
}

func cardIDs(cards domain.Triple) []int { return []int{cards[0].ID(), cards[1].ID(), cards[2].ID()} }
