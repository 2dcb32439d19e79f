package local

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The states of a friendship, seen from one side.
const (
	friendMutual   = 0
	friendInvited  = 1 // by this user
	friendInviting = 2 // this user
	friendBlocked  = 3 // by this user
)

// edge is one side of a friendship.
type edge struct {
	State   int
	Updated int64
}

// edge is what one user has with another; nil is nothing.
func (t *tx) edge(from, to string) *edge { return t.friends[from][to] }

func (t *tx) setEdge(from, to string, state int) {
	t.putEdge(from, to, &edge{State: state, Updated: time.Now().Unix()})
}

// dropEdge removes what a user has with another, if it is not a block.
func (t *tx) dropEdge(from, to string) {
	if e := t.edge(from, to); e != nil && !blocks(e) {
		t.putEdge(from, to, nil)
	}
}

// addFriends invites users, or accepts their invitations. A blocked or unknown user is passed over silently.
func (s *store) addFriends(ctx context.Context, from string, others []user) error {
	return s.update(ctx, opFriends, func(t *tx) error {
		for _, o := range others {
			mine, theirs := t.edge(from, o.ID), t.edge(o.ID, from)
			switch {
			case o.ID == from || blocks(mine) || blocks(theirs):
			case mine == nil:
				t.setEdge(from, o.ID, friendInvited)
				t.setEdge(o.ID, from, friendInviting)
			case mine.State == friendInviting:
				t.setEdge(from, o.ID, friendMutual)
				t.setEdge(o.ID, from, friendMutual)
			}
		}
		return nil
	})
}

func blocks(e *edge) bool { return e != nil && e.State == friendBlocked }

// deleteFriends ends friendships, invitations and the user's own blocks; a block by the other side stays.
func (s *store) deleteFriends(ctx context.Context, from string, others []user) error {
	return s.update(ctx, opFriends, func(t *tx) error {
		for _, o := range others {
			if t.edge(from, o.ID) != nil {
				t.putEdge(from, o.ID, nil)
			}
			t.dropEdge(o.ID, from)
		}
		return nil
	})
}

// blockFriends blocks users; they do not learn it, and what they had with the user is gone.
func (s *store) blockFriends(ctx context.Context, from string, others []user) error {
	return s.update(ctx, opFriends, func(t *tx) error {
		for _, o := range others {
			if o.ID != from {
				t.setEdge(from, o.ID, friendBlocked)
				t.dropEdge(o.ID, from)
			}
		}
		return nil
	})
}

// listFriends returns a page of a user's friends by state, then id; a nil state means all states.
func (s *store) listFriends(ctx context.Context, userID string, limit int, state *int, cursor string, online func(string) bool) (out []*api.Friend, next string, err error) {
	from, err := decodeCursor[friendCursor](base64.URLEncoding, cursor)
	if err != nil || (from != nil && state != nil && from.State != int64(*state)) { // another filter had that cursor
		return nil, "", runtime.ErrFriendInvalidCursor
	}
	err = s.view(ctx, opFriends, func() error {
		all := s.friendIDsLocked(userID, state)
		begin := 0
		if from != nil {
			begin = int(min(max(from.Position, 0), int64(len(all))))
		}
		end := min(begin+limit, len(all))
		if end < len(all) {
			c := friendCursor{State: int64(s.friends[userID][all[end]].State), Position: int64(end)}
			if next, err = encodeCursor(base64.URLEncoding, c); err != nil {
				return err
			}
		}
		ids := all[begin:end]
		out = make([]*api.Friend, 0, len(ids))
		for _, id := range ids {
			e := s.friends[userID][id]
			out = append(out, &api.Friend{
				User: s.users[id].api(online(id)), State: wrapperspb.Int32(int32(e.State)),
				UpdateTime: &timestamppb.Timestamp{Seconds: e.Updated}, Metadata: "{}",
			})
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return out, next, nil
}

func (d *Database) friendIDsLocked(from string, state *int) []string {
	var ids []string
	for id, e := range d.friends[from] {
		if d.users[id] != nil && (state == nil || e.State == *state) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(d.friends[from][a].State, d.friends[from][b].State), strings.Compare(a, b))
	})
	return ids
}
