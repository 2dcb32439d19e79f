package local

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

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

// listRecords returns a page of a board (none with limit 0), the records of the owners, and the number of all records.
func (s *store) listRecords(ctx context.Context, id string, owners []string, limit int, cursor string) (*api.LeaderboardRecordList, error) {
	return s.viewBoard(ctx, id, func(b *board) (*api.LeaderboardRecordList, error) {
		out := &api.LeaderboardRecordList{}
		ordered := b.ordered()
		if limit > 0 {
			from, err := decodeCursor[recordCursor](base64.URLEncoding, cursor)
			if err != nil || (from != nil && (from.LeaderboardId != id || from.ExpiryTime != 0)) {
				return nil, errInvalidCursor
			}
			if out, err = b.page(ordered, from, limit); err != nil {
				return nil, err
			}
		}
		b.count(out)
		for _, r := range ordered {
			if slices.Contains(owners, r.Owner) {
				out.OwnerRecords = append(out.OwnerRecords, b.api(r, b.rank(r)))
			}
		}
		return out, nil
	})
}

func (b *board) count(list *api.LeaderboardRecordList) {
	if !b.Unranked {
		list.RankCount = int64(len(b.Records))
	}
}

// page returns the records before or after a cursor, or the first ones if it is nil. Their ranks count from the cursor's.
// There is a way back to where the cursor came from if there is a record to go back from.
func (b *board) page(ordered []*record, cursor *recordCursor, limit int) (*api.LeaderboardRecordList, error) {
	if cursor == nil {
		to := min(limit, len(ordered))
		return b.slice(ordered[:to], 1, false, to < len(ordered))
	}
	at := record{Owner: cursor.OwnerId, Score: cursor.Score, Subscore: cursor.Subscore}
	if cursor.IsNext {
		from := slices.IndexFunc(ordered, func(r *record) bool { return b.compare(r, &at) > 0 })
		if from < 0 {
			from = len(ordered)
		}
		to := min(from+limit, len(ordered))
		return b.slice(ordered[from:to], cursor.Rank+1, from < to, to < len(ordered))
	}
	to := slices.IndexFunc(ordered, func(r *record) bool { return b.compare(r, &at) >= 0 })
	if to < 0 {
		to = len(ordered)
	}
	from := max(0, to-limit)
	return b.slice(ordered[from:to], cursor.Rank-int64(to-from), from > 0, from < to)
}

// slice returns records that begin with a rank, with cursors to what is before and after them.
func (b *board) slice(records []*record, rank int64, before, after bool) (*api.LeaderboardRecordList, error) {
	out := &api.LeaderboardRecordList{}
	for i, r := range records {
		out.Records = append(out.Records, b.api(r, rank+int64(i)))
	}
	var prev, next error
	if before {
		out.PrevCursor, prev = b.cursor(false, out.Records[0])
	}
	if after {
		out.NextCursor, next = b.cursor(true, out.Records[len(records)-1])
	}
	return out, errors.Join(prev, next)
}

func (b *board) cursor(isNext bool, r *api.LeaderboardRecord) (string, error) {
	return encodeCursor(base64.URLEncoding, recordCursor{
		IsNext: isNext, LeaderboardId: b.ID, Score: r.Score, Subscore: r.Subscore, OwnerId: r.OwnerId, Rank: r.Rank,
	})
}

var errInvalidCursor = errors.New("leaderboard cursor invalid")

// recordsAround returns at most limit records around an owner's: as many above it as fit, but half of them below.
func (s *store) recordsAround(ctx context.Context, id, owner string, limit int, cursor string) (*api.LeaderboardRecordList, error) {
	if cursor != "" {
		return s.listRecords(ctx, id, nil, limit, cursor)
	}
	return s.viewBoard(ctx, id, func(b *board) (*api.LeaderboardRecordList, error) { return b.around(owner, limit) })
}

func (b *board) around(owner string, limit int) (*api.LeaderboardRecordList, error) {
	ordered := b.ordered()
	at := slices.IndexFunc(ordered, func(r *record) bool { return r.Owner == owner })
	if at < 0 {
		return &api.LeaderboardRecordList{}, nil
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
	to := min(from+limit, last+1)
	out, err := b.slice(ordered[from:to], int64(from)+1, from > 0, to < len(ordered))
	b.count(out)
	return out, err
}
