package local

import (
	"encoding/json"
	"errors"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/proto"
)

func boardError(err error) error {
	if errors.Is(err, runtime.ErrLeaderboardNotFound) {
		return fail(codeNotFound, "Leaderboard not found.")
	}
	return err
}

func (s *Server) listLeaderboard(c *call) (proto.Message, error) {
	owners, err := canonical(c.query["owner_ids"])
	if err != nil {
		return nil, fail(codeInvalidArgument, "One or more owner IDs are invalid.")
	}
	dflt := 10
	if len(owners) != 0 {
		dflt = 0 // only the owners' records were asked for
	}
	limit, err := c.limitParam(dflt, 1000)
	if err != nil {
		return nil, err
	}
	list, err := s.store.listRecords(c.PathValue("board"), owners, limit, c.query.Get("cursor"))
	if err != nil {
		return nil, boardError(err)
	}
	return list, nil
}

func (s *Server) aroundOwner(c *call) (proto.Message, error) {
	limit, err := c.limitParam(1, 100)
	if err != nil {
		return nil, err
	}
	owner, err := uuid.FromString(c.PathValue("owner"))
	if err != nil {
		return nil, fail(codeInvalidArgument, "Invalid owner ID provided.")
	}
	list, err := s.store.recordsAround(c.PathValue("board"), owner.String(), limit, c.query.Get("cursor"))
	if err != nil {
		return nil, boardError(err)
	}
	return list, nil
}

func (s *Server) writeLeaderboard(c *call) (proto.Message, error) {
	in := &api.WriteLeaderboardRecordRequest_LeaderboardRecordWrite{}
	if err := c.body(in); err != nil {
		return nil, err
	}
	text := in.Metadata
	if text != "" {
		if !json.Valid([]byte(text)) {
			return nil, fail(codeInvalidArgument, "Metadata value must be JSON, if provided.")
		}
		normal, err := normalizeJSON(text)
		if err != nil {
			return nil, fail(codeInternal, "Error writing score to leaderboard.")
		}
		text = normal
	}
	operator, err := operatorName(in.Operator)
	if err != nil {
		return nil, fail(codeInvalidArgument, err.Error())
	}
	r, err := s.store.writeRecord(recordWrite{
		board: c.PathValue("board"), owner: c.who.userID.String(), username: c.who.username,
		score: in.Score, subscore: in.Subscore, metadata: text, operator: operator,
	}, false)
	if err != nil {
		return nil, boardError(err)
	}
	return r, nil
}

func (s *Server) deleteLeaderboardRecord(c *call) (proto.Message, error) {
	return nil, boardError(s.store.deleteRecord(c.PathValue("board"), c.who.userID.String(), false))
}
