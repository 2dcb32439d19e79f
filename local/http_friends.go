package local

import (
	"context"
	"errors"
	"slices"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/proto"
)

func (s *Server) listFriends(c *call) (proto.Message, error) {
	limit, err := c.limitParam(1, 1000)
	if err != nil {
		return nil, err
	}
	var state *int
	if n, ok, err := c.number("state"); err != nil {
		return nil, err
	} else if ok {
		if n < friendMutual || n > friendBlocked {
			return nil, fail(codeInvalidArgument, "Invalid state - state must be between 0 and 3.")
		}
		v := int(n)
		state = &v
	}
	found, next, err := s.store.listFriends(c.Context(), c.who.userID.String(), limit, state, c.query.Get("cursor"), s.online)
	if errors.Is(err, runtime.ErrFriendInvalidCursor) {
		return nil, fail(codeInvalidArgument, "Cursor is invalid.")
	}
	if err != nil {
		return nil, fail(codeInternal, "Error while trying to list friends.")
	}
	return &api.FriendList{Friends: found, Cursor: next}, nil
}

// changeFriends applies a change to the users that the call names.
func (s *Server) changeFriends(c *call, verb string, change func(ctx context.Context, from string, others []user) error) (proto.Message, error) {
	ids, err := canonical(c.query["ids"])
	if err != nil {
		return nil, fail(codeInvalidArgument, "Invalid user ID '"+firstBad(c.query["ids"])+"'.")
	}
	others, err := s.store.usersByIDOrName(c.Context(), ids, c.query["usernames"])
	others = slices.DeleteFunc(others, func(u user) bool { return u.ID == systemUser })
	if err == nil {
		err = change(c.Context(), c.who.userID.String(), others)
	}
	if err != nil {
		return nil, fail(codeInternal, "Error while trying to "+verb+" friends.")
	}
	return nil, nil
}

func (s *Server) addFriends(c *call) (proto.Message, error) {
	return s.changeFriends(c, "add", s.store.addFriends)
}

func (s *Server) deleteFriends(c *call) (proto.Message, error) {
	return s.changeFriends(c, "delete", s.store.deleteFriends)
}

func (s *Server) blockFriends(c *call) (proto.Message, error) {
	return s.changeFriends(c, "block", s.store.blockFriends)
}
