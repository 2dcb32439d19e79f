package conformance

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// nobody is a user who does not exist.
const nobody = "8a6a1cc4-0b1c-4f0f-8b6a-111111111111"

// systemID is the user who owns what no player does.
const systemID = "00000000-0000-0000-0000-000000000000"

// scene is what a probe of the database works with: its users, and a suffix that no other one has.
type scene struct {
	lines
	ctx      context.Context
	nk       runtime.NakamaModule
	Run      string
	Ann, Bob string
}

// playScene makes an RPC of a probe.
func playScene(play func(*scene)) rpc {
	return func(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, payload string) (string, error) {
		s := &scene{ctx: ctx, nk: nk}
		if err := json.Unmarshal([]byte(payload), s); err != nil {
			return "", err
		}
		play(s)
		return s.json()
	}
}

func (s *scene) write(key, user, version string) *runtime.StorageWrite {
	return &runtime.StorageWrite{Collection: "scene" + s.Run, Key: key, UserID: user, Value: `{"k":"` + key + `"}`, Version: version}
}

func (s *scene) drop(key, user, version string) *runtime.StorageDelete {
	return &runtime.StorageDelete{Collection: "scene" + s.Run, Key: key, UserID: user, Version: version}
}

func writes(w ...*runtime.StorageWrite) []*runtime.StorageWrite { return w }

func drops(d ...*runtime.StorageDelete) []*runtime.StorageDelete { return d }

// kept says which of a user's objects there are.
func (s *scene) kept(user string) string {
	found, _, err := s.nk.StorageList(s.ctx, "", user, "scene"+s.Run, 100, "")
	return keys(found) + " " + fmt.Sprint(err)
}

func keys(found []*api.StorageObject) string {
	var out []string
	for _, o := range found {
		out = append(out, o.Key)
	}
	return fmt.Sprint(out)
}

func (s *scene) read(what string, ids ...*runtime.StorageRead) {
	for _, id := range ids {
		id.Collection = "scene" + s.Run
	}
	found, err := s.nk.StorageRead(s.ctx, ids)
	slices.SortFunc(found, func(a, b *api.StorageObject) int { return strings.Compare(a.Key, b.Key) }) // no order is promised
	s.add("read %s: %s %v", what, keys(found), err)
}

// multi runs a transaction and says what came of it.
func (s *scene) multi(what string, updates []*runtime.AccountUpdate, writes []*runtime.StorageWrite, drops []*runtime.StorageDelete) {
	acks, results, err := s.nk.MultiUpdate(s.ctx, updates, writes, drops, nil, false)
	var out []string
	for _, a := range acks {
		out = append(out, a.Key)
	}
	s.add("%s: %v %t %d %v", what, out, acks == nil, len(results), err)
	s.add("  then %s", s.kept(s.Ann))
}

// storageScene reads, writes and deletes several objects at once.
func storageScene(s *scene) {
	rejected := func(err error) bool { return errors.Is(err, runtime.ErrStorageRejectedVersion) }
	acks, err := s.nk.StorageWrite(s.ctx, writes(s.write("z", s.Ann, "*"), s.write("a", s.Ann, ""), s.write("s", "", ""), s.write("z", s.Bob, "")))
	for _, a := range acks {
		s.add("ack %s %s", a.Key, a.Version)
	}
	s.add("writes: %v", err)
	again, err := s.nk.StorageWrite(s.ctx, writes(s.write("z", s.Ann, "")))
	s.add("the same again: time stays %t %v", again[0].UpdateTime.AsTime().Equal(acks[0].UpdateTime.AsTime()), err)
	_, err = s.nk.StorageWrite(s.ctx, writes(s.write("z", s.Ann, "*")))
	s.add("there already: %t %v", rejected(err), err)
	_, err = s.nk.StorageWrite(s.ctx, writes(s.write("y", s.Ann, acks[0].Version)))
	s.add("not there: %t %v", rejected(err), err)
	_, err = s.nk.StorageWrite(s.ctx, writes(s.write("y", s.Ann, ""), s.write("a", s.Ann, "*")))
	s.add("one of two: %t %v, %s", rejected(err), err, s.kept(s.Ann))
	_, err = s.nk.StorageWrite(s.ctx, writes(s.write("y", s.Ann, "wrong"), s.write("b", nobody, "")))
	s.add("first by key: %t %v", rejected(err), err)
	_, err = s.nk.StorageWrite(s.ctx, writes(s.write("y", nobody, "x")))
	s.add("nobody's version: %t %v", rejected(err), err)
	_, err = s.nk.StorageWrite(s.ctx, nil)
	s.add("nothing: %v", err)
	s.reads()
	s.deletes(acks[0].Version, acks[1].Version)
	s.multis(acks[0].Version)
}

func (s *scene) reads() {
	key := func(key, user string) *runtime.StorageRead { return &runtime.StorageRead{Key: key, UserID: user} }
	s.read("one user's", key("z", s.Ann), key("missing", s.Ann), key("a", s.Ann))
	s.read("one user's twice", key("z", s.Ann), key("a", s.Ann), key("z", s.Ann))
	s.read("many users'", key("z", s.Ann), key("s", ""), key("missing", s.Bob), key("a", nobody))
	s.read("many users' twice", key("z", s.Ann), key("s", ""), key("z", s.Ann))
	s.read("missing", key("missing", s.Ann))
	s.read("nothing")
}

// deletes tries deletions with the versions of z and a.
func (s *scene) deletes(z, a string) {
	s.add("delete some: %v", s.nk.StorageDelete(s.ctx, drops(s.drop("a", s.Ann, ""), s.drop("z", s.Ann, "wrong"))))
	s.add("  then %s", s.kept(s.Ann))
	s.add("delete missing: %v", s.nk.StorageDelete(s.ctx, drops(s.drop("missing", s.Ann, ""))))
	s.add("delete missing version: %v", s.nk.StorageDelete(s.ctx, drops(s.drop("missing", s.Ann, z))))
	s.add("delete nobody's: %v", s.nk.StorageDelete(s.ctx, drops(s.drop("z", nobody, ""))))
	s.add("delete twice: %v", s.nk.StorageDelete(s.ctx, drops(s.drop("a", s.Ann, a), s.drop("a", s.Ann, ""))))
	s.add("delete nothing: %v", s.nk.StorageDelete(s.ctx, nil))
	s.add("  then %s", s.kept(s.Ann))
}

// multis runs transactions; z is the version of what is left.
func (s *scene) multis(z string) {
	name := []*runtime.AccountUpdate{{UserID: s.Ann, DisplayName: "Ann"}}
	s.multi("empty", nil, nil, nil)
	s.multi("works", name, writes(s.write("n", s.Ann, "*"), s.write("m", s.Ann, "")), drops(s.drop("z", s.Ann, z), s.drop("missing", s.Ann, "")))
	s.multi("a user who does not exist", name, writes(s.write("o", s.Ann, ""), s.write("p", nobody, "")), drops(s.drop("n", s.Ann, "")))
	s.multi("there already", nil, writes(s.write("o", s.Ann, ""), s.write("n", s.Ann, "*")), nil)
	s.multi("a version", nil, writes(s.write("o", s.Ann, ""), s.write("n", s.Ann, "wrong")), nil)
	s.multi("delete a version", nil, writes(s.write("o", s.Ann, "")), drops(s.drop("n", s.Ann, "wrong")))
	s.multi("delete a missing version", nil, writes(s.write("o", s.Ann, "")), drops(s.drop("o2", s.Ann, "wrong")))
	s.multi("write and delete", nil, writes(s.write("o", s.Ann, "")), drops(s.drop("o", s.Ann, "")))
	s.multi("delete only", nil, nil, drops(s.drop("m", s.Ann, "")))
	s.multi("nobody's account", []*runtime.AccountUpdate{{UserID: nobody, DisplayName: "x"}}, writes(s.write("q", s.Ann, "")), nil)
	s.multi("an account's nothing", []*runtime.AccountUpdate{{UserID: s.Ann}}, writes(s.write("r", s.Ann, "")), nil)
	s.multi("no key", nil, writes(s.write("t", s.Ann, ""), s.write("", s.Ann, "")), nil)
	s.multi("no json", nil, []*runtime.StorageWrite{{Collection: "c", Key: "k", Value: "[]"}}, nil)
	s.multi("system's", nil, writes(s.write("u", "", "*")), drops(s.drop("s", "", "")))
	s.add("system's: %s", s.kept(systemID))
}

// listScene pages through collections.
func listScene(s *scene) {
	var all []*runtime.StorageWrite
	for _, key := range []string{"k05", "k01", "k04", "k02", "k03"} {
		all = append(all, s.write(key, "", ""), s.write(key, s.Ann, ""))
	}
	_, err := s.nk.StorageWrite(s.ctx, all)
	s.add("writes: %v", err)
	for _, user := range []string{systemID, s.Ann} {
		cursor := ""
		for {
			found, next, err := s.nk.StorageList(s.ctx, "", user, "scene"+s.Run, 2, cursor)
			s.add("page: %s more %t %v", keys(found), next != "", err)
			if next == "" {
				break
			}
			cursor = next
			s.add("delete: %v", s.nk.StorageDelete(s.ctx, []*runtime.StorageDelete{s.drop(found[1].Key, user, "")}))
		}
	}
	found, next, err := s.nk.StorageList(s.ctx, "", "", "scene"+s.Run, 4, "")
	s.add("everybody's: %s more %t %v", keys(found), next != "", err)
	found, next, err = s.nk.StorageList(s.ctx, "", "", "scene"+s.Run, 100, next)
	s.add("the rest: %s more %t %v", keys(found), next != "", err)
	found, next, err = s.nk.StorageList(s.ctx, "", nobody, "scene"+s.Run, 100, "")
	s.add("nobody's: %s more %t %v", keys(found), next != "", err)
}

// cancelledScene calls the database with a context that is done.
func cancelledScene(s *scene) {
	board := "cancelled" + s.Run
	s.add("board: %v", s.nk.LeaderboardCreate(s.ctx, board, true, "desc", "set", "", nil, true))
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	say := func(what string, err error) { s.add("%s: %t", what, errors.Is(err, context.Canceled)) }
	_, err := s.nk.StorageWrite(ctx, []*runtime.StorageWrite{s.write("k", s.Ann, "")})
	say("write", err)
	_, err = s.nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: "scene" + s.Run, Key: "k", UserID: s.Ann}})
	say("read", err)
	say("delete", s.nk.StorageDelete(ctx, []*runtime.StorageDelete{s.drop("k", s.Ann, "")}))
	_, _, err = s.nk.StorageList(ctx, "", s.Ann, "scene"+s.Run, 10, "")
	say("list", err)
	_, _, err = s.nk.MultiUpdate(ctx, nil, []*runtime.StorageWrite{s.write("k", s.Ann, "")}, nil, nil, false)
	say("multi", err)
	_, err = s.nk.UsersGetId(ctx, []string{s.Ann}, nil)
	say("users", err)
	_, err = s.nk.AccountGetId(ctx, s.Ann)
	say("account", err)
	say("update", s.nk.AccountUpdateId(ctx, s.Ann, "", nil, "x", "", "", "", ""))
	say("delete account", s.nk.AccountDeleteId(ctx, s.Ann, false))
	_, err = s.nk.LeaderboardRecordWrite(ctx, board, s.Ann, "", 1, 0, nil, nil)
	say("score", err)
	_, _, _, _, err = s.nk.LeaderboardRecordsList(ctx, board, nil, 10, "", 0)
	say("scores", err)
	say("delete score", s.nk.LeaderboardRecordDelete(ctx, board, s.Ann))
	_, _, err = s.nk.FriendsList(ctx, s.Ann, 10, nil, "")
	say("friends", err)
	s.add("then %s", s.kept(s.Ann))
}
