package conformance

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// lines collects an answer of several lines.
type lines []string

func (l *lines) add(format string, v ...any) { *l = append(*l, fmt.Sprintf(format, v...)) }

func (l lines) json() (string, error) {
	b, err := json.Marshal([]string(l))
	return string(b), err
}

func createMatch(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, payload string) (string, error) {
	var in struct {
		Module string
		Params map[string]any
		Bad    bool
	}
	if err := json.Unmarshal([]byte(payload), &in); err != nil {
		return "", err
	}
	if in.Bad {
		in.Params = map[string]any{"own": struct{ A int }{1}}
	}
	return nk.MatchCreate(ctx, in.Module, in.Params)
}

func signalMatch(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, payload string) (string, error) {
	var in struct{ ID, Data string }
	if err := json.Unmarshal([]byte(payload), &in); err != nil {
		return "", err
	}
	return nk.MatchSignal(ctx, in.ID, in.Data)
}

func getMatch(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, id string) (string, error) {
	m, err := nk.MatchGet(ctx, id)
	if err != nil {
		return "", err
	}
	if m == nil {
		return "nil", nil
	}
	return fmt.Sprint(m.Authoritative, m.GetLabel().GetValue(), m.Size, m.TickRate, m.HandlerName), nil
}

func listMatches(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, payload string) (string, error) {
	var in struct {
		Limit    int
		Label    string
		Query    string
		Min, Max *int
	}
	if err := json.Unmarshal([]byte(payload), &in); err != nil {
		return "", err
	}
	found, err := nk.MatchList(ctx, in.Limit, true, in.Label, in.Min, in.Max, in.Query)
	if err != nil {
		return "", err
	}
	var out lines
	for _, m := range found {
		out.add("%s %d %d %s", m.GetLabel().GetValue(), m.Size, m.TickRate, m.HandlerName)
	}
	return out.json()
}

// storeObjects runs a list of storage operations and answers what each said.
func storeObjects(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, payload string) (string, error) {
	var ops []struct {
		Op, Key, User, Value, Version, Caller, Cursor string
		Read, Write, Limit                            int
	}
	if err := json.Unmarshal([]byte(payload), &ops); err != nil {
		return "", err
	}
	const collection = "conf"
	var out lines
	for _, op := range ops {
		switch op.Op {
		case "write":
			acks, err := nk.StorageWrite(ctx, []*runtime.StorageWrite{{
				Collection: collection, Key: op.Key, UserID: op.User, Value: op.Value, Version: op.Version,
				PermissionRead: op.Read, PermissionWrite: op.Write,
			}})
			if err != nil {
				out.add("write: %v", err)
				continue
			}
			out.add("write: %s", acks[0].Version)
		case "read":
			found, err := nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: collection, Key: op.Key, UserID: op.User}})
			out.add("read: %s %v", values(found), err)
		case "delete":
			out.add("delete: %v", nk.StorageDelete(ctx, []*runtime.StorageDelete{{Collection: collection, Key: op.Key, UserID: op.User, Version: op.Version}}))
		case "list":
			found, cursor, err := nk.StorageList(ctx, op.Caller, op.User, collection, op.Limit, op.Cursor)
			out.add("list: %s more %t %v", values(found), cursor != "", err)
		}
	}
	return out.json()
}

func values(found []*api.StorageObject) string {
	var out string
	for _, o := range found {
		out += fmt.Sprintf("[%s %d%d %s]", o.Key, o.PermissionRead, o.PermissionWrite, o.Value)
	}
	return out
}

// multiUpdate tries a transaction whose last part fails, and one that succeeds.
func multiUpdate(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, user string) (string, error) {
	var out lines
	write := func(key, version string) *runtime.StorageWrite {
		return &runtime.StorageWrite{Collection: "conf", Key: key, UserID: user, Value: `{"n":1}`, Version: version}
	}
	update := []*runtime.AccountUpdate{{UserID: user, DisplayName: "Multi"}}
	_, _, err := nk.MultiUpdate(ctx, update, []*runtime.StorageWrite{write("multi-a", ""), write("multi-b", "wrong")}, nil, nil, false)
	out.add("fails: %v", err)
	found, err := nk.StorageRead(ctx, []*runtime.StorageRead{{Collection: "conf", Key: "multi-a", UserID: user}})
	out.add("kept: %d %v", len(found), err)
	a, err := nk.AccountGetId(ctx, user)
	out.add("name: %q %v", a.GetUser().GetDisplayName(), err)
	drop := []*runtime.StorageDelete{{Collection: "conf", Key: "multi-b", UserID: user}}
	acks, _, err := nk.MultiUpdate(ctx, update, []*runtime.StorageWrite{write("multi-a", "*"), write("multi-b", "")}, drop, nil, false)
	out.add("works: %d %v", len(acks), err)
	a, err = nk.AccountGetId(ctx, user)
	out.add("name: %q %v", a.GetUser().GetDisplayName(), err)
	return out.json()
}

func writeScore(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, payload string) (string, error) {
	var in struct {
		Board, Owner, Name string
		Score, Subscore    int64
	}
	if err := json.Unmarshal([]byte(payload), &in); err != nil {
		return "", err
	}
	r, err := nk.LeaderboardRecordWrite(ctx, in.Board, in.Owner, in.Name, in.Score, in.Subscore, nil, nil)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(r.Score, r.Subscore, r.NumScore, r.Rank, r.GetUsername().GetValue(), r.Metadata), nil
}

// variousErrors asks the module API for things that do not exist.
func variousErrors(ctx context.Context, _ runtime.Logger, _ *sql.DB, nk runtime.NakamaModule, _ string) (string, error) {
	var out lines
	_, err := nk.AccountGetId(ctx, nobody)
	out.add("account: %v", err)
	_, err = nk.AccountGetId(ctx, "x")
	out.add("account: %v", err)
	users, err := nk.UsersGetId(ctx, []string{nobody}, nil)
	out.add("users: %d %v", len(users), err)
	out.add("update: %v", nk.AccountUpdateId(ctx, nobody, "", nil, "x", "", "", "", ""))
	out.add("delete: %v", nk.AccountDeleteId(ctx, nobody, false))
	out.add("delete: %v", nk.AccountDeleteId(ctx, "00000000-0000-0000-0000-000000000000", false))
	out.add("disconnect: %v", nk.SessionDisconnect(ctx, nobody))
	out.add("disconnect: %v", nk.SessionDisconnect(ctx, "x"))
	_, err = nk.MatchSignal(ctx, "x", "")
	out.add("signal: %v", err)
	_, err = nk.MatchSignal(ctx, nobody+".", "")
	out.add("signal: %v", err)
	_, err = nk.MatchSignal(ctx, nobody+".elsewhere", "")
	out.add("signal: %v", err)
	_, err = nk.LeaderboardRecordWrite(ctx, "conf_none", nobody, "", 1, 0, nil, nil)
	out.add("record: %v", err)
	_, err = nk.LeaderboardRecordWrite(ctx, "conf_best", nobody, "", -1, 0, nil, nil)
	out.add("record: %v", err)
	_, _, _, _, err = nk.LeaderboardRecordsList(ctx, "conf_none", nil, 10, "", 0)
	out.add("records: %v", err)
	_, _, err = nk.FriendsList(ctx, nobody, 10, nil, "")
	out.add("friends: %v", err)
	_, _, err = nk.FriendsList(ctx, nobody, 0, nil, "")
	out.add("friends: %v", err)
	out.add("notify: %v", nk.NotificationSend(ctx, nobody, "", nil, 1, "", false))
	out.add("notify: %v", nk.NotificationSend(ctx, nobody, "s", nil, 0, "", false))
	_, _, _, err = nk.AuthenticateDevice(ctx, "short", "", true)
	out.add("device: %v", err)
	_, _, _, err = nk.AuthenticateCustom(ctx, "conf-nobody", "", false)
	out.add("custom: %v", err)
	_, _, err = nk.AuthenticateTokenGenerate("", "", 0, nil)
	out.add("token: %v", err)
	return out.json()
}
