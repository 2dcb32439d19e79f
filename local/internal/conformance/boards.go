package conformance

import (
	"fmt"

	"github.com/heroiclabs/nakama-common/api"
)

// score writes a score with an operator, nil for the board's.
func (s *scene) score(board, owner, name string, score, sub int64, operator *int) {
	s.scoreWith(board, owner, name, score, sub, nil, operator)
}

func (s *scene) scoreWith(board, owner, name string, score, sub int64, metadata map[string]any, operator *int) {
	r, err := s.nk.LeaderboardRecordWrite(s.ctx, board, owner, name, score, sub, metadata, operator)
	s.add("score %d.%d: %s %v", score, sub, s.record(r), err)
}

func (s *scene) record(r *api.LeaderboardRecord) string {
	if r == nil {
		return "none"
	}
	return fmt.Sprintf("[%s #%d %d.%d %q %s x%d]", s.who(r.OwnerId), r.Rank, r.Score, r.Subscore, r.Username.GetValue(), r.Metadata, r.NumScore)
}

func (s *scene) who(id string) string {
	switch id {
	case s.Ann:
		return "A"
	case s.Bob:
		return "B"
	case nobody:
		return "N"
	case systemID:
		return "system"
	}
	return "?"
}

// list lists a page of a board and returns its cursors.
func (s *scene) list(board string, limit int, cursor string, owners ...string) (next, prev string) {
	records, own, next, prev, err := s.nk.LeaderboardRecordsList(s.ctx, board, owners, limit, cursor, 0)
	var out, mine string
	for _, r := range records {
		out += s.record(r)
	}
	for _, r := range own {
		mine += s.record(r)
	}
	s.add("list %d: %s own %s next %t prev %t %v", limit, out, mine, next != "", prev != "", err)
	return next, prev
}

// boardScene writes, lists and deletes scores of boards with every order.
func boardScene(s *scene) {
	operators := map[string]int{
		"none": int(api.Operator_NO_OVERRIDE), "best": int(api.Operator_BEST), "set": int(api.Operator_SET),
		"incr": int(api.Operator_INCREMENT), "decr": int(api.Operator_DECREMENT), "bad": 9,
	}
	with := func(name string) *int { o := operators[name]; return &o }
	for _, order := range []string{"asc", "desc"} {
		board := order + s.Run
		s.add("create %s: %v", order, s.nk.LeaderboardCreate(s.ctx, board, true, order, "set", "", nil, true))
		s.add("create again: %v", s.nk.LeaderboardCreate(s.ctx, board, false, "desc", "incr", "", map[string]any{"x": 1}, true))
		s.list(board, 10, "")
		s.scoreWith(board, s.Ann, "ann", 10, 1, map[string]any{"b": 1, "a": 2}, nil)
		s.scoreWith(board, s.Ann, "other", 10, 1, map[string]any{"c": 1}, nil)
		s.score(board, s.Ann, "", 9, 1, with("none"))
		s.score(board, s.Bob, "bob", 9, 1, nil)
		s.score(board, nobody, "", 20, 0, nil)
		for _, o := range []string{"best", "incr", "decr", "set", "bad"} {
			s.add("%s", o)
			s.score(board, s.Ann, "", 8, 2, with(o))
		}
		s.score(board, s.Ann, "", 100, 0, with("decr"))
		s.score(board, s.Bob, "", 0, 0, with("incr"))
		s.list(board, 10, "")
		next, _ := s.list(board, 1, "")
		next, _ = s.list(board, 1, next, s.Ann)
		_, prev := s.list(board, 1, next, nobody, s.Ann)
		_, _ = s.list(board, 1, prev)
		s.list(board, 0, "", s.Bob, s.Ann, systemID)
		s.list(board, 10, "%")
		s.list("asc"+s.Run, 10, next)
		s.add("delete record: %v", s.nk.LeaderboardRecordDelete(s.ctx, board, s.Bob))
		s.add("delete record again: %v", s.nk.LeaderboardRecordDelete(s.ctx, board, s.Bob))
		s.list(board, 10, "", s.Bob)
	}
	none := "none" + s.Run
	s.add("no such record: %v", s.nk.LeaderboardRecordDelete(s.ctx, none, s.Ann))
	s.add("no such board: %v", s.nk.LeaderboardDelete(s.ctx, none))
	s.add("without ranks: %v", s.nk.LeaderboardCreate(s.ctx, none, true, "desc", "set", "", nil, false))
	s.score(none, s.Ann, "", 1, 0, nil)
	s.score(none, s.Bob, "", 2, 0, nil)
	s.list(none, 10, "", s.Ann)
	s.add("delete board: %v", s.nk.LeaderboardDelete(s.ctx, none))
	s.list(none, 10, "")
	s.add("made anew: %v", s.nk.LeaderboardCreate(s.ctx, none, true, "asc", "best", "", nil, true))
	s.list(none, 10, "")
}
