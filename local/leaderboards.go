package local

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// board is a leaderboard. It is never reset: the host has no schedules.
type board struct {
	ID            string
	Authoritative bool
	Ascending     bool
	Operator      string // best, set, incr, decr
	Metadata      string
	Created       int64
	Records       map[string]*record // by owner
}

// record is one owner's entry.
type record struct {
	Owner, Username  string
	Score, Subscore  int64
	Writes           int32
	Metadata         string
	Created, Updated int64
}

func (s *store) createBoard(ctx context.Context, b board) error {
	return s.update(ctx, opLeaderboard, func(t *tx) error {
		if t.boards[b.ID] == nil { // an existing one stays as it is
			b.Created = time.Now().Unix()
			t.Boards = append(t.Boards, entry[string, board]{b.ID, &b})
		}
		return nil
	})
}

func (s *store) deleteBoard(ctx context.Context, id string) error {
	return s.update(ctx, opLeaderboard, func(t *tx) error {
		if t.boards[id] != nil {
			t.Boards = append(t.Boards, entry[string, board]{Key: id})
		}
		return nil
	})
}

// recordWrite is one score. Metadata "" keeps what is there.
type recordWrite struct {
	board, owner, username string
	score, subscore        int64
	metadata, operator     string // operator "" is the board's
}

func (s *store) writeRecord(ctx context.Context, w recordWrite, authoritative bool) (out *api.LeaderboardRecord, err error) {
	err = s.update(ctx, opLeaderboard, func(t *tx) error {
		b := t.boards[w.board]
		if b == nil {
			return runtime.ErrLeaderboardNotFound
		}
		if b.Authoritative && !authoritative {
			return fail(codePermissionDenied, "Leaderboard only allows authoritative score submissions.")
		}
		r, changed := b.write(w)
		if changed {
			t.putRecord(w.board, w.owner, r)
		}
		out = b.api(r, b.rank(r))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// write returns the record that a score makes of what is there, and whether it differs.
func (b *board) write(w recordWrite) (*record, bool) {
	orDefault(&w.operator, b.Operator)
	now := time.Now().Unix()
	old := b.Records[w.owner]
	if old == nil {
		r := &record{Owner: w.owner, Username: w.username, Metadata: "{}", Created: now, Updated: now, Writes: 1}
		if w.operator != "decr" {
			r.Score, r.Subscore = w.score, w.subscore
		}
		orKeep(&r.Metadata, w.metadata)
		return r, true
	}
	r := *old
	if !b.apply(&r, w) {
		return old, false
	}
	r.Writes++
	r.Updated = now
	orKeep(&r.Metadata, w.metadata)
	orKeep(&r.Username, w.username)
	return &r, true
}

// rank is the place that a record has or would have, from 1.
func (b *board) rank(r *record) int64 {
	rank := int64(1)
	for owner, o := range b.Records {
		if owner != r.Owner && b.compare(o, r) < 0 {
			rank++
		}
	}
	return rank
}

func orKeep(to *string, v string) {
	if v != "" {
		*to = v
	}
}

// apply changes the scores by the operator. It is false, and nothing else is to change either, if they stay the same.
func (b *board) apply(r *record, w recordWrite) bool {
	score, subscore := w.score, w.subscore
	switch w.operator {
	case "incr":
		score, subscore = r.Score+score, r.Subscore+subscore
	case "decr":
		score, subscore = max(r.Score-score, 0), max(r.Subscore-subscore, 0)
	case "set":
	default:
		if b.Ascending {
			score, subscore = min(r.Score, score), min(r.Subscore, subscore)
		} else {
			score, subscore = max(r.Score, score), max(r.Subscore, subscore)
		}
	}
	same := score == r.Score && subscore == r.Subscore
	r.Score, r.Subscore = score, subscore
	return !same
}

func (b *board) ordered() []*record {
	out := make([]*record, 0, len(b.Records))
	for _, r := range b.Records {
		out = append(out, r)
	}
	slices.SortFunc(out, b.compare)
	return out
}

func (b *board) compare(x, y *record) int {
	if !b.Ascending {
		x, y = y, x
	}
	return cmp.Or(cmp.Compare(x.Score, y.Score), cmp.Compare(x.Subscore, y.Subscore), strings.Compare(x.Owner, y.Owner))
}

func (b *board) api(r *record, rank int64) *api.LeaderboardRecord {
	out := &api.LeaderboardRecord{
		LeaderboardId: b.ID, OwnerId: r.Owner, Score: r.Score, Subscore: r.Subscore, NumScore: r.Writes,
		MaxNumScore: 1_000_000, Metadata: r.Metadata, Rank: rank,
		CreateTime: &timestamppb.Timestamp{Seconds: r.Created}, UpdateTime: &timestamppb.Timestamp{Seconds: r.Updated},
	}
	if r.Username != "" {
		out.Username = stringValue(r.Username)
	}
	return out
}

// viewBoard reads one board.
func (s *store) viewBoard(ctx context.Context, id string, f func(*board) (*api.LeaderboardRecordList, error)) (out *api.LeaderboardRecordList, err error) {
	err = s.view(ctx, opLeaderboard, func() error {
		b := s.boards[id]
		if b == nil {
			return runtime.ErrLeaderboardNotFound
		}
		out, err = f(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// listRecords returns a page of a board, the records of the owners, and the number of all records.
func (s *store) listRecords(ctx context.Context, id string, owners []string, limit int, cursor string) (*api.LeaderboardRecordList, error) {
	return s.viewBoard(ctx, id, func(b *board) (*api.LeaderboardRecordList, error) {
		ordered := b.ordered()
		from, to, err := pageOf(cursor, limit, len(ordered))
		if err != nil {
			return nil, err
		}
		out := b.page(ordered, from, to)
		if limit == 0 {
			out.NextCursor, out.PrevCursor = "", ""
		}
		for i, r := range ordered {
			if slices.Contains(owners, r.Owner) {
				out.OwnerRecords = append(out.OwnerRecords, b.api(r, int64(i+1)))
			}
		}
		return out, nil
	})
}

// page returns records from one index to another, with cursors to what is before and after.
func (b *board) page(ordered []*record, from, to int) *api.LeaderboardRecordList {
	out := &api.LeaderboardRecordList{RankCount: int64(len(ordered))}
	for i := from; i < to; i++ {
		out.Records = append(out.Records, b.api(ordered[i], int64(i+1)))
	}
	if to < len(ordered) {
		out.NextCursor = pageCursor("next", to)
	}
	if from > 0 {
		out.PrevCursor = pageCursor("prev", from)
	}
	return out
}

func pageCursor(direction string, index int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(direction + strconv.Itoa(index)))
}

// pageOf returns the indexes that a cursor stands for: a page that begins at the index, or one that ends there.
func pageOf(cursor string, limit, count int) (from, to int, err error) {
	if cursor == "" {
		return 0, min(limit, count), nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	var index int
	if err == nil && len(raw) > 4 {
		index, err = strconv.Atoi(string(raw[4:]))
	}
	if err != nil || len(raw) < 5 || index < 0 {
		return 0, 0, fail(codeInvalidArgument, "Cursor is invalid or expired.")
	}
	index = min(index, count) // records may have gone since
	if string(raw[:4]) == "prev" {
		return max(0, index-limit), index, nil
	}
	return index, min(index+limit, count), nil
}

// recordsAround returns at most limit records around an owner's: as many above it as fit, but half of them below.
func (s *store) recordsAround(ctx context.Context, id, owner string, limit int, cursor string) (*api.LeaderboardRecordList, error) {
	if cursor != "" {
		return s.listRecords(ctx, id, nil, limit, cursor)
	}
	return s.viewBoard(ctx, id, func(b *board) (*api.LeaderboardRecordList, error) { return b.around(owner, limit), nil })
}

func (b *board) around(owner string, limit int) *api.LeaderboardRecordList {
	ordered := b.ordered()
	at := slices.IndexFunc(ordered, func(r *record) bool { return r.Owner == owner })
	if at < 0 {
		return &api.LeaderboardRecordList{}
	}
	above := min(at, limit)
	below := limit / 2
	if above < below {
		below = limit - above
	}
	last := min(at+below, len(ordered)-1)
	from := max(at-above, last+1-limit)
	if above < below {
		from = at - above
	}
	return b.page(ordered, from, min(from+limit, last+1))
}

func (s *store) deleteRecord(ctx context.Context, id, owner string, authoritative bool) error {
	return s.update(ctx, opLeaderboard, func(t *tx) error {
		b := t.boards[id]
		if b == nil {
			return runtime.ErrLeaderboardNotFound
		}
		if b.Authoritative && !authoritative {
			return fail(codePermissionDenied, "Leaderboard only allows authoritative score deletions.")
		}
		if b.Records[owner] != nil {
			t.putRecord(id, owner, nil)
		}
		return nil
	})
}
