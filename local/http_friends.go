package local

import (
	"github.com/heroiclabs/nakama-common/api"
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
	found, next, err := s.store.listFriends(c.who.userID.String(), limit, state, c.query.Get("cursor"), s.online)
	if err != nil {
		return nil, fail(codeInvalidArgument, err.Error())
	}
	return &api.FriendList{Friends: found, Cursor: next}, nil
}

// changeFriends applies a change to the users that the call names.
func (s *Server) changeFriends(c *call, change func(from string, others []user)) (proto.Message, error) {
	ids, err := canonical(c.query["ids"])
	if err != nil {
		return nil, fail(codeInvalidArgument, "Invalid user ID '"+firstBad(c.query["ids"])+"'.")
	}
	change(c.who.userID.String(), s.store.usersByIDOrName(ids, c.query["usernames"]))
	return nil, nil
}

func (s *Server) addFriends(c *call) (proto.Message, error) {
	return s.changeFriends(c, s.store.addFriends)
}

func (s *Server) deleteFriends(c *call) (proto.Message, error) {
	return s.changeFriends(c, s.store.deleteFriends)
}

func (s *Server) blockFriends(c *call) (proto.Message, error) {
	return s.changeFriends(c, s.store.blockFriends)
}
