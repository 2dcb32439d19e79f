package domain

// BoardReview is what could be seen on one board of a match, from the moment when it could be claimed from until a Set was
// taken, or the match ended.
type BoardReview struct {
	FromMs  int64
	ToMs    int64
	Board   Board
	Sets    []Triple // all that it held, in the order of FindAllSets
	IsTaken bool     // false for the board on which the match ended
	Taken   SetClaimed
}

// Missed are the Sets that nobody took from this board.
func (b *BoardReview) Missed() []Triple {
	var missed []Triple
	for _, set := range b.Sets {
		if !b.IsTaken || !sameCards(set, b.Taken.Cards) {
			missed = append(missed, set)
		}
	}
	return missed
}

// Review looks back on a match from its record, board by board. A board that was over while it was still moving is left out,
// as is one without a Set. It fails as Replay does.
func Review(record []byte) ([]BoardReview, error) {
	var out Output
	s, err := Replay(record, &out)
	if err != nil {
		return nil, err
	}
	r := reviewer{idleMs: s.idleMs[:s.idles], board: NewBoard()}
	for _, e := range out.Events {
		r.see(e.AtMs, e.Event)
	}
	return r.boards, nil
}

// reviewer follows a match by its events.
type reviewer struct {
	idleMs []int64 // when the board became idle, by how many Sets had been taken
	sets   int     // that have been taken
	board  Board
	boards []BoardReview
}

func (r *reviewer) see(atMs int64, event Event) {
	switch e := event.(type) {
	case CardsDealt:
		r.deal(e.Placement)
	case SetClaimed:
		if !e.Valid() {
			return
		}
		r.keep(atMs, BoardReview{IsTaken: true, Taken: e})
		r.sets++
		for _, slot := range e.Slots {
			must(r.board.RemoveCard(slot))
		}
	case MatchEnded:
		if r.sets < len(r.idleMs) {
			r.keep(atMs, BoardReview{})
		}
	}
}

func (r *reviewer) keep(toMs int64, b BoardReview) {
	b.FromMs, b.ToMs, b.Board = r.idleMs[r.sets], toMs, r.board
	if b.Sets = FindAllSets(r.board.AppendCards(nil)); len(b.Sets) > 0 {
		r.boards = append(r.boards, b)
	}
}

func (r *reviewer) deal(p Placement) {
	for i, slot := range p.Slots {
		for slot >= r.board.SlotCount() {
			must(r.board.Expand(ExpansionSize))
		}
		must(r.board.PlaceCard(slot, p.Cards[i]))
	}
}
