package local

import (
	"math"
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

func (s *store) edgeLocked(from, to string) *edge { return s.friends[from][to] }

func (s *store) setEdgeLocked(from, to string, state int) {
	if s.friends[from] == nil {
		s.friends[from] = map[string]*edge{}
	}
	s.friends[from][to] = &edge{State: state, Updated: time.Now().Unix()}
}

// addFriends invites users, or accepts their invitations. A blocked or unknown user is passed over silently.
func (s *store) addFriends(from string, others []user) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range others {
		mine, theirs := s.edgeLocked(from, o.ID), s.edgeLocked(o.ID, from)
		switch {
		case o.ID == from || blocks(mine) || blocks(theirs):
		case mine == nil:
			s.setEdgeLocked(from, o.ID, friendInvited)
			s.setEdgeLocked(o.ID, from, friendInviting)
		case mine.State == friendInviting:
			s.setEdgeLocked(from, o.ID, friendMutual)
			s.setEdgeLocked(o.ID, from, friendMutual)
		}
	}
	s.changed()
}

func blocks(e *edge) bool { return e != nil && e.State == friendBlocked }

// deleteFriends ends friendships, invitations and the user's own blocks; a block by the other side stays.
func (s *store) deleteFriends(from string, others []user) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range others {
		delete(s.friends[from], o.ID)
		if !blocks(s.edgeLocked(o.ID, from)) {
			delete(s.friends[o.ID], from)
		}
	}
	s.changed()
}

// blockFriends blocks users; they do not learn it, and what they had with the user is gone.
func (s *store) blockFriends(from string, others []user) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range others {
		if o.ID == from {
			continue
		}
		s.setEdgeLocked(from, o.ID, friendBlocked)
		if !blocks(s.edgeLocked(o.ID, from)) {
			delete(s.friends[o.ID], from)
		}
	}
	s.changed()
}

// listFriends returns a page of a user's friends by state, then id; a nil state means all states.
func (s *store) listFriends(from string, limit int, state *int, cursor string, online func(string) bool) ([]*api.Friend, string, error) {
	skip := 0
	if cursor != "" {
		from, _, err := pageOf(cursor, limit, math.MaxInt)
		if err != nil {
			return nil, "", runtime.ErrFriendInvalidCursor
		}
		skip = from
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for id, e := range s.friends[from] {
		if s.users[id] != nil && (state == nil || e.State == *state) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		if d := s.friends[from][a].State - s.friends[from][b].State; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	ids = ids[min(skip, len(ids)):]
	next := ""
	if len(ids) > limit {
		ids, next = ids[:limit], pageCursor("next", skip+limit)
	}
	out := make([]*api.Friend, 0, len(ids))
	for _, id := range ids {
		e := s.friends[from][id]
		out = append(out, &api.Friend{
			User: s.users[id].api(online(id)), State: wrapperspb.Int32(int32(e.State)),
			UpdateTime: &timestamppb.Timestamp{Seconds: e.Updated}, Metadata: "{}",
		})
	}
	return out, next, nil
}
