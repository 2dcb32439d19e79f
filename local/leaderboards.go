package local

import (
	"cmp"
	"context"
	"slices"
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
	Unranked      bool   // its records have no rank but by their place in a list
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
	if b.Unranked {
		return 0
	}
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
