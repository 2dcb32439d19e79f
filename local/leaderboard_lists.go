package local

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"

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

// listRecords returns a page of a board, the records of the owners, and the number of all records.
func (s *store) listRecords(ctx context.Context, id string, owners []string, limit int, cursor string) (*api.LeaderboardRecordList, error) {
	return s.viewBoard(ctx, id, func(b *board) (*api.LeaderboardRecordList, error) {
		ordered := b.ordered()
		from, to, err := pageOf(id, cursor, limit, len(ordered))
		if err != nil {
			return nil, err
		}
		out := b.page(ordered, from, to)
		if limit == 0 {
			out.NextCursor, out.PrevCursor = "", ""
		}
		for _, r := range ordered {
			if slices.Contains(owners, r.Owner) {
				out.OwnerRecords = append(out.OwnerRecords, b.api(r, b.rank(r)))
			}
		}
		return out, nil
	})
}

// page returns records from one index to another, with cursors to what is before and after.
func (b *board) page(ordered []*record, from, to int) *api.LeaderboardRecordList {
	out := &api.LeaderboardRecordList{}
	if !b.Unranked {
		out.RankCount = int64(len(ordered))
	}
	for i := from; i < to; i++ {
		out.Records = append(out.Records, b.api(ordered[i], int64(i+1)))
	}
	if to < len(ordered) {
		out.NextCursor = pageCursor(b.ID, "next", to)
	}
	if from > 0 {
		out.PrevCursor = pageCursor(b.ID, "prev", from)
	}
	return out
}

var errInvalidCursor = errors.New("leaderboard cursor invalid")

// pageCursor names a page of a list: what begins (next) or ends (prev) at an index.
func pageCursor(list, direction string, index int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(direction + strconv.Itoa(index) + "@" + list))
}

// pageOf returns the indexes that a cursor stands for: a page that begins at the index, or one that ends there.
func pageOf(list, cursor string, limit, count int) (from, to int, err error) {
	if cursor == "" {
		return 0, min(limit, count), nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	position, of, _ := strings.Cut(string(raw), "@")
	if err != nil || of != list || len(position) < 5 {
		return 0, 0, errInvalidCursor
	}
	index, err := strconv.Atoi(position[4:])
	if err != nil || index < 0 {
		return 0, 0, errInvalidCursor
	}
	index = min(index, count) // records may have gone since
	if position[:4] == "prev" {
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
