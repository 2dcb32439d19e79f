package conformance

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heroiclabs/nakama-common/runtime"
)

// users says which users are found.
func (s *scene) users(what string, ids ...string) {
	found, err := s.nk.UsersGetId(s.ctx, ids, nil)
	var names []string
	for _, u := range found {
		names = append(names, s.who(u.Id))
	}
	slices.Sort(names)
	s.add("users %s: %v %v", what, names, err)
}

// accountScene looks for users, and deletes one.
func accountScene(s *scene) {
	s.users("both", s.Ann, s.Bob)
	s.users("missing and twice", s.Ann, nobody, s.Ann)
	s.users("system's", systemID)
	s.users("bad", s.Ann, "x")
	s.users("none")
	board := "account" + s.Run
	s.add("board: %v", s.nk.LeaderboardCreate(s.ctx, board, true, "desc", "set", "", nil, true))
	for i, user := range []string{s.Ann, s.Bob} {
		_, err := s.nk.StorageWrite(s.ctx, []*runtime.StorageWrite{s.write("own", user, "")})
		s.add("write: %v", err)
		s.score(board, user, "", int64(10-i), 0, nil)
	}
	_, err := s.nk.StorageWrite(s.ctx, []*runtime.StorageWrite{s.write("about", "", "")})
	s.add("write: %v", err)
	s.add("delete: %v", s.nk.AccountDeleteId(s.ctx, s.Ann, true))
	s.add("again: %v", s.nk.AccountDeleteId(s.ctx, s.Ann, true))
	_, err = s.nk.AccountGetId(s.ctx, s.Ann)
	s.add("account: %v", err)
	s.users("one is gone", s.Ann, s.Bob)
	s.add("objects: %s, %s, %s", s.kept(s.Ann), s.kept(s.Bob), s.kept(systemID))
	s.list(board, 10, "", s.Ann, s.Bob)
	_, err = s.nk.StorageWrite(s.ctx, []*runtime.StorageWrite{s.write("late", s.Ann, "")})
	s.add("late write: %v", err)
	s.multi("late multi", nil, []*runtime.StorageWrite{s.write("late", s.Bob, ""), s.write("late", s.Ann, "")}, nil)
	s.score(board, s.Ann, "ann", 3, 0, nil)
	s.list(board, 10, "", s.Ann)
	s.add("record: %v", s.nk.LeaderboardRecordDelete(s.ctx, board, s.Ann))
}

// farewell is what the hooks of account deletion leave behind about a user, in a collection of the system's.
const farewell = "farewell"

// note writes down what a hook sees of the account that is deleted.
func note(ctx context.Context, nk runtime.NakamaModule, when string) error {
	user, _ := ctx.Value(runtime.RUNTIME_CTX_USER_ID).(string)
	found, err := nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: "conf", Key: "own", UserID: user}})
	if err != nil {
		return err
	}
	account, err := nk.AccountGetId(ctx, user)
	text, merr := json.Marshal(map[string]any{
		"name": ctx.Value(runtime.RUNTIME_CTX_USERNAME), "mode": ctx.Value(runtime.RUNTIME_CTX_MODE),
		"objects": len(found), "account": account.GetUser().GetUsername(), "error": fmt.Sprint(err),
	})
	if merr != nil {
		return merr
	}
	_, err = nk.StorageWrite(ctx, []*runtime.StorageWrite{{Collection: farewell, Key: when + user, Value: string(text)}})
	return err
}

func beforeDelete(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule) error {
	if err := note(ctx, nk, "before"); err != nil {
		return err
	}
	if name, _ := ctx.Value(runtime.RUNTIME_CTX_USERNAME).(string); strings.HasPrefix(name, "stays") {
		return runtime.NewError("not now", 9)
	}
	return nil
}

func afterDelete(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule) error {
	return errors.Join(note(ctx, nk, "after"), errors.New("too late"))
}

// farewells reads what the hooks have noted about a user.
func farewells(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, user string) (string, error) {
	var out lines
	for _, when := range []string{"before", "after"} {
		found, err := nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: farewell, Key: when + user}})
		out.add("%s: %s %v", when, values(found), err)
	}
	return out.json()
}
