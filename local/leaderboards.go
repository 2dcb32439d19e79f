package local

import (
	"cmp"
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

func (s *store) createBoard(b board) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.boards[b.ID] == nil { // an existing one stays as it is
		b.Created, b.Records = time.Now().Unix(), map[string]*record{}
		s.boards[b.ID] = &b
		s.changed()
	}
}

func (s *store) deleteBoard(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.boards, id)
	s.changed()
}

// recordWrite is one score. Metadata "" keeps what is there.
type recordWrite struct {
	board, owner, username string
	score, subscore        int64
	metadata, operator     string // operator "" is the board's
}

func (s *store) writeRecord(w recordWrite, authoritative bool) (*api.LeaderboardRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.boards[w.board]
	if b == nil {
		return nil, runtime.ErrLeaderboardNotFound
	}
	if b.Authoritative && !authoritative {
		return nil, fail(codePermissionDenied, "Leaderboard only allows authoritative score submissions.")
	}
	orDefault(&w.operator, b.Operator)
	now := time.Now().Unix()
	r := b.Records[w.owner]
	if r == nil {
		r = &record{Owner: w.owner, Username: w.username, Metadata: "{}", Created: now, Updated: now, Writes: 1}
		if w.operator != "decr" {
			r.Score, r.Subscore = w.score, w.subscore
		}
		if w.metadata != "" {
			r.Metadata = w.metadata
		}
		b.Records[w.owner] = r
		s.changed()
	} else if b.apply(r, w) {
		r.Writes++
		r.Updated = now
		orKeep(&r.Metadata, w.metadata)
		orKeep(&r.Username, w.username)
		s.changed()
	}
	ordered := b.ordered()
	return b.api(r, int64(slices.Index(ordered, r)+1)), nil
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
	slices.SortFunc(out, func(x, y *record) int {
		if !b.Ascending {
			x, y = y, x
		}
		return cmp.Or(cmp.Compare(x.Score, y.Score), cmp.Compare(x.Subscore, y.Subscore), strings.Compare(x.Owner, y.Owner))
	})
	return out
}

func (b *board) api(r *record, rank int64) *api.LeaderboardRecord {
	out := &api.LeaderboardRecord{
		LeaderboardId: b.ID, OwnerId: r.Owner, Score: r.Score, Subscore: r.Subscore, NumScore: r.Writes,
		Metadata: r.Metadata, Rank: rank,
		CreateTime: &timestamppb.Timestamp{Seconds: r.Created}, UpdateTime: &timestamppb.Timestamp{Seconds: r.Updated},
	}
	if r.Username != "" {
		out.Username = stringValue(r.Username)
	}
	return out
}

// listRecords returns a page of a board from a cursor on, and the records of the owners.
func (s *store) listRecords(id string, owners []string, limit int, cursor string) (page, owned []*api.LeaderboardRecord, next, prev string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.boards[id]
	if b == nil {
		return nil, nil, "", "", runtime.ErrLeaderboardNotFound
	}
	from := 0
	if cursor != "" {
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err == nil {
			from, err = strconv.Atoi(string(raw))
		}
		if err != nil || from < 0 {
			return nil, nil, "", "", fail(codeInvalidArgument, "Cursor is invalid or expired.")
		}
	}
	ordered := b.ordered()
	for i, r := range ordered {
		if i >= from && i < from+limit {
			page = append(page, b.api(r, int64(i+1)))
		}
		if slices.Contains(owners, r.Owner) {
			owned = append(owned, b.api(r, int64(i+1)))
		}
	}
	if limit > 0 && from+limit < len(ordered) {
		next = pageCursor(from + limit)
	}
	if limit > 0 && from > 0 {
		prev = pageCursor(max(0, from-limit))
	}
	return page, owned, next, prev, nil
}

func pageCursor(from int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(from)))
}

// recordsAround returns at most limit records with the owner's in the middle as far as the ends allow.
func (s *store) recordsAround(id, owner string, limit int) ([]*api.LeaderboardRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.boards[id]
	if b == nil {
		return nil, runtime.ErrLeaderboardNotFound
	}
	ordered := b.ordered()
	at := slices.IndexFunc(ordered, func(r *record) bool { return r.Owner == owner })
	if at < 0 || limit <= 0 {
		return nil, nil
	}
	from := max(0, min(at-limit/2, len(ordered)-limit))
	var out []*api.LeaderboardRecord
	for i := from; i < min(from+limit, len(ordered)); i++ {
		out = append(out, b.api(ordered[i], int64(i+1)))
	}
	return out, nil
}

func (s *store) deleteRecord(id, owner string, authoritative bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.boards[id]
	if b == nil {
		return runtime.ErrLeaderboardNotFound
	}
	if b.Authoritative && !authoritative {
		return fail(codePermissionDenied, "Leaderboard only allows authoritative score deletions.")
	}
	delete(b.Records, owner)
	s.changed()
	return nil
}
