package local

import (
	"encoding/json"
	"errors"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/proto"
)

// boardError is the client's view of a failed operation on a leaderboard.
func boardError(err error, otherwise string) error {
	var status *statusError
	switch {
	case errors.Is(err, runtime.ErrLeaderboardNotFound):
		return fail(codeNotFound, "Leaderboard not found.")
	case err == nil || errors.As(err, &status):
		return err
	}
	return fail(codeInternal, otherwise)
}

func (s *Server) listLeaderboard(c *call) (proto.Message, error) {
	owners, err := canonical(c.query["owner_ids"])
	if err != nil {
		return nil, fail(codeInvalidArgument, "One or more owner IDs are invalid.")
	}
	cursor := c.query.Get("cursor")
	dflt := 1
	if len(owners) != 0 && cursor == "" {
		dflt = 0 // only the owners' records were asked for
	}
	limit, err := c.limitParam(dflt, 1000)
	if err != nil {
		return nil, err
	}
	list, err := s.store.listRecords(c.Context(), c.PathValue("board"), owners, limit, cursor)
	if errors.Is(err, errInvalidCursor) {
		return nil, fail(codeInvalidArgument, "Cursor is invalid or expired.")
	}
	if err != nil {
		return nil, boardError(err, "Error listing records from leaderboard.")
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
	list, err := s.store.recordsAround(c.Context(), c.PathValue("board"), owner.String(), limit, c.query.Get("cursor"))
	if err != nil {
		return nil, boardError(err, "Error querying records from leaderboard.")
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
	r, err := s.store.writeRecord(c.Context(), recordWrite{
		board: c.PathValue("board"), owner: c.who.userID.String(), username: c.who.username,
		score: in.Score, subscore: in.Subscore, metadata: text, operator: operator,
	}, false)
	if err != nil {
		return nil, boardError(err, "Error writing score to leaderboard.")
	}
	return r, nil
}

func (s *Server) deleteLeaderboardRecord(c *call) (proto.Message, error) {
	return nil, boardError(s.store.deleteRecord(c.Context(), c.PathValue("board"), c.who.userID.String(), false), "Error deleting score from leaderboard.")
}
