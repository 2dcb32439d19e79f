package local

import (
	"context"
	"errors"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
)

func (n *nakama) LeaderboardCreate(ctx context.Context, id string, authoritative bool, sortOrder, operator, resetSchedule string, metadata map[string]any, enableRanks bool) error {
	if id == "" {
		return errors.New("expects a leaderboard ID string")
	}
	b := board{ID: id, Authoritative: authoritative, Unranked: !enableRanks, Metadata: "{}"}
	switch sortOrder {
	case "desc", "descending":
	case "asc", "ascending":
		b.Ascending = true
	default:
		return errors.New("expects sort order to be 'asc' or 'desc'")
	}
	switch operator {
	case "best", "set":
		b.Operator = operator
	case "incr", "increment":
		b.Operator = "incr"
	case "decr", "decrement":
		b.Operator = "decr"
	default:
		return errors.New("expects operator to be 'best', 'set', 'incr' or 'decr'")
	}
	text, err := metadataText(metadata)
	if err != nil {
		return err
	}
	orKeep(&b.Metadata, text)
	if resetSchedule != "" {
		n.srv.cfg.Logger.Warn("Leaderboard %s is never reset: schedules are not in the local host", id)
	}
	return n.srv.store.createBoard(ctx, b)
}

func (n *nakama) LeaderboardDelete(ctx context.Context, id string) error {
	if id == "" {
		return errors.New("expects a leaderboard ID string")
	}
	return n.srv.store.deleteBoard(ctx, id)
}

func (n *nakama) LeaderboardRecordWrite(ctx context.Context, id, ownerID, username string, score, subscore int64, metadata map[string]any, overrideOperator *int) (*api.LeaderboardRecord, error) {
	if id == "" {
		return nil, errors.New("expects a leaderboard ID string")
	}
	owner, err := uuid.FromString(ownerID)
	if err != nil {
		return nil, errors.New("expects owner ID to be a valid identifier")
	}
	if score < 0 {
		return nil, errors.New("expects score to be >= 0")
	}
	if subscore < 0 {
		return nil, errors.New("expects subscore to be >= 0")
	}
	text, err := metadataText(metadata)
	if err != nil {
		return nil, err
	}
	w := recordWrite{board: id, owner: owner.String(), username: username, score: score, subscore: subscore, metadata: text}
	if overrideOperator != nil {
		if w.operator, err = operatorName(api.Operator(*overrideOperator)); err != nil {
			return nil, err
		}
	}
	return n.srv.store.writeRecord(ctx, w, true)
}

func operatorName(o api.Operator) (string, error) {
	switch o {
	case api.Operator_NO_OVERRIDE:
		return "", nil
	case api.Operator_BEST:
		return "best", nil
	case api.Operator_SET:
		return "set", nil
	case api.Operator_INCREMENT:
		return "incr", nil
	case api.Operator_DECREMENT:
		return "decr", nil
	}
	return "", errors.New("invalid operator")
}

func (n *nakama) LeaderboardRecordsList(ctx context.Context, id string, ownerIDs []string, limit int, cursor string, expiry int64) (records, ownerRecords []*api.LeaderboardRecord, nextCursor, prevCursor string, err error) {
	if id == "" {
		return nil, nil, "", "", errors.New("expects a leaderboard ID string")
	}
	owners, err := canonical(ownerIDs)
	if err != nil {
		return nil, nil, "", "", errors.New("expects each owner ID to be a valid identifier")
	}
	if limit < 0 || limit > 10000 {
		return nil, nil, "", "", errors.New("expects limit to be 0-10000")
	}
	if expiry < 0 {
		return nil, nil, "", "", errors.New("expects expiry to equal or greater than 0")
	}
	list, err := n.srv.store.listRecords(ctx, id, owners, limit, cursor)
	if err != nil {
		return nil, nil, "", "", err
	}
	return list.Records, list.OwnerRecords, list.NextCursor, list.PrevCursor, nil
}

func (n *nakama) LeaderboardRecordDelete(ctx context.Context, id, ownerID string) error {
	if id == "" {
		return errors.New("expects a leaderboard ID string")
	}
	owner, err := uuid.FromString(ownerID)
	if err != nil {
		return errors.New("expects owner ID to be a valid identifier")
	}
	return n.srv.store.deleteRecord(ctx, id, owner.String(), true)
}
