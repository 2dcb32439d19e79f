package local

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
	"github.com/stretchr/testify/require"
)

// paged has three objects of ann's, three scores and three friends: a page of two is not the last.
func paged(t *testing.T) (h *host, ann account) {
	t.Helper()
	h = start(t, Config{}, nil)
	ctx, nk := context.Background(), h.srv.nk
	ann = h.login("ann")
	require.NoError(t, nk.LeaderboardCreate(ctx, "b", true, "desc", "set", "", nil, true))
	require.NoError(t, nk.LeaderboardCreate(ctx, "other", true, "desc", "set", "", nil, true))
	for i := range 3 {
		_, err := nk.StorageWrite(ctx, []*runtime.StorageWrite{{Collection: "c", Key: fmt.Sprint("k", i), UserID: ann.id, Value: `{}`, PermissionRead: 2}})
		require.NoError(t, err)
		friend := h.login(fmt.Sprint("friend", i))
		for _, board := range []string{"b", "other"} {
			_, err = nk.LeaderboardRecordWrite(ctx, board, friend.id, fmt.Sprint("friend", i), int64(10-i), 0, nil, nil)
			require.NoError(t, err)
		}
		status, body := ann.do("POST", "/v2/friend?ids="+friend.id, "")
		require.Equal(t, 200, status, body)
	}
	return h, ann
}

// page asks over HTTP for a page of a list.
func (a account) page(path, cursor string) (status int, body string) {
	return a.do("GET", path+"limit=2&cursor="+url.QueryEscape(cursor), "")
}

// next is the cursor of the page after the first.
func (a account) next(path string) string {
	a.h.Helper()
	status, body := a.page(path, "")
	require.Equal(a.h, 200, status, body)
	var page struct {
		Cursor string
		Next   string `json:"next_cursor"`
	}
	require.NoError(a.h, json.Unmarshal([]byte(body), &page))
	require.NotEmpty(a.h, page.Cursor+page.Next)
	return page.Cursor + page.Next
}

// TestMadeUpCursors: what Nakama cannot read is refused, by every list and in Nakama's words.
func TestMadeUpCursors(t *testing.T) {
	h, ann := paged(t)
	ctx, nk := context.Background(), h.srv.nk
	lists := map[string]struct {
		path, http, module string
		list               func(cursor string) error
	}{
		"objects": {"/v2/storage/c?user_id=" + ann.id + "&", "Malformed cursor was used.", "Malformed cursor was used.", func(cursor string) error {
			_, _, err := nk.StorageList(ctx, "", ann.id, "c", 2, cursor)
			return err
		}},
		"records": {"/v2/leaderboard/b?", "Cursor is invalid or expired.", "leaderboard cursor invalid", func(cursor string) error {
			_, _, _, _, err := nk.LeaderboardRecordsList(ctx, "b", nil, 2, cursor, 0)
			return err
		}},
		"friends": {"/v2/friend?", "Cursor is invalid.", runtime.ErrFriendInvalidCursor.Error(), func(cursor string) error {
			_, _, err := nk.FriendsList(ctx, ann.id, 2, nil, cursor)
			return err
		}},
	}
	for name, l := range lists {
		own := ann.next(l.path)
		require.NoError(t, l.list(own), name)
		made := []string{"zz", "zzzz", "%", "AAAA", own[1:], own[:len(own)/2], own + "!"}
		for other, o := range lists {
			if other != name {
				made = append(made, ann.next(o.path))
			}
		}
		for _, text := range []string{"2\x00k1\x00" + ann.id, "next2@b", "next2@friends"} { // what the host once had
			made = append(made, base64.RawURLEncoding.EncodeToString([]byte(text)), base64.URLEncoding.EncodeToString([]byte(text)))
		}
		for _, cursor := range made {
			require.EqualError(t, l.list(cursor), l.module, "%s %q", name, cursor)
			status, body := ann.page(l.path, cursor)
			require.Equal(t, 400, status, "%s %q", name, cursor)
			require.JSONEq(t, `{"code":3,"message":"`+l.http+`"}`, body)
		}
	}
}

// TestCursorsOfOtherLists: those of another board, of another season and of another filter are refused.
func TestCursorsOfOtherLists(t *testing.T) {
	h, ann := paged(t)
	ctx, nk := context.Background(), h.srv.nk
	season, err := encodeCursor(base64.URLEncoding, recordCursor{IsNext: true, LeaderboardId: "b", ExpiryTime: 1, Score: 9})
	require.NoError(t, err)
	for _, cursor := range []string{ann.next("/v2/leaderboard/other?"), season} {
		_, _, _, _, err := nk.LeaderboardRecordsList(ctx, "b", nil, 2, cursor, 0)
		require.ErrorIs(t, err, errInvalidCursor)
		status, body := ann.page("/v2/leaderboard/b/owner/"+ann.id+"?", cursor)
		require.Equal(t, 500, status, "a list around somebody fails as for any other cause: %s", body)
		_, _, _, _, err = nk.LeaderboardRecordsList(ctx, "b", nil, 0, cursor, 0)
		require.NoError(t, err, "without records there is nothing to begin")
	}
	invited, mutual := friendInvited, friendMutual
	_, next, err := nk.FriendsList(ctx, ann.id, 2, &invited, "")
	require.NoError(t, err)
	_, _, err = nk.FriendsList(ctx, ann.id, 2, &mutual, next)
	require.ErrorIs(t, err, runtime.ErrFriendInvalidCursor)
	_, _, err = nk.FriendsList(ctx, ann.id, 2, &invited, next)
	require.NoError(t, err)
	_, _, err = nk.StorageList(ctx, "", ann.id, "c", 0, "zz")
	require.NoError(t, err, "a page of nothing has no beginning")
}

// TestPagesOfWhatChanges: a page begins after the last one's last entry, also when that is there no more.
func TestPagesOfWhatChanges(t *testing.T) {
	h, ann := paged(t)
	ctx, nk := context.Background(), h.srv.nk
	objects, next, err := nk.StorageList(ctx, "", ann.id, "c", 2, "")
	require.NoError(t, err)
	require.Equal(t, "k0 k1", keys(objects))
	require.NoError(t, nk.StorageDelete(ctx, []*runtime.StorageDelete{
		{Collection: "c", Key: "k0", UserID: ann.id}, {Collection: "c", Key: "k1", UserID: ann.id},
	}))
	for _, caller := range []string{"", ann.id, h.login("friend0").id} {
		objects, last, err := nk.StorageList(ctx, caller, ann.id, "c", 2, next)
		require.NoError(t, err)
		require.Equal(t, "k2", keys(objects))
		require.Empty(t, last)
	}

	records, _, next, prev, err := nk.LeaderboardRecordsList(ctx, "b", nil, 2, "", 0)
	require.NoError(t, err)
	require.Equal(t, "friend0#1 friend1#2", ranking(records))
	require.Empty(t, prev)
	require.NoError(t, nk.LeaderboardRecordDelete(ctx, "b", records[1].OwnerId))
	records, _, last, prev, err := nk.LeaderboardRecordsList(ctx, "b", nil, 2, next, 0)
	require.NoError(t, err)
	require.Equal(t, "friend2#3", ranking(records), "the rank goes on from the page before")
	require.Empty(t, last)
	records, _, next, before, err := nk.LeaderboardRecordsList(ctx, "b", nil, 2, prev, 0)
	require.NoError(t, err)
	require.Equal(t, "friend0#2", ranking(records))
	require.Empty(t, before)
	records, _, _, _, err = nk.LeaderboardRecordsList(ctx, "b", nil, 2, next, 0)
	require.NoError(t, err)
	require.Equal(t, "friend2#3", ranking(records))
}

// TestWhatAListingKnowsBetter than its cursor: its only owner, and what clients may read.
func TestWhatAListingKnowsBetter(t *testing.T) {
	h, ann := paged(t)
	ctx, nk := context.Background(), h.srv.nk
	_, next, err := nk.StorageList(ctx, ann.id, ann.id, "c", 1, "")
	require.NoError(t, err)
	at, err := decodeCursor[objectCursor](base64.RawURLEncoding, next)
	require.NoError(t, err)
	require.Equal(t, &objectCursor{Key: "k0", UserID: uuid.FromStringOrNil(ann.id), Read: 2}, at)
	objects, _, err := nk.StorageList(ctx, "", "", "c", 10, next)
	require.NoError(t, err)
	require.Equal(t, "k1 k2", keys(objects))
	nobodys, err := encodeCursor(base64.RawURLEncoding, objectCursor{Key: "k1", Read: 2})
	require.NoError(t, err)
	for owner, want := range map[string]string{"": "k1 k2", ann.id: "k2"} {
		objects, _, err = nk.StorageList(ctx, "", owner, "c", 10, nobodys)
		require.NoError(t, err)
		require.Equal(t, want, keys(objects), "a listing of one owner knows whose it is")
	}
	private, err := encodeCursor(base64.RawURLEncoding, objectCursor{Key: "k1", UserID: at.UserID, Read: 0})
	require.NoError(t, err)
	for caller, want := range map[string]string{"": "k0 k1 k2", ann.id: "k2"} {
		objects, _, err = nk.StorageList(ctx, caller, "", "c", 10, private)
		require.NoError(t, err)
		require.Equal(t, want, keys(objects), "clients list what all may read, whatever the cursor says")
	}
}

// TestLeaderboardWithoutALimit: one record, none if owners are asked for alone.
func TestLeaderboardWithoutALimit(t *testing.T) {
	_, ann := paged(t)
	next := ann.next("/v2/leaderboard/b?")
	for query, want := range map[string]int{"": 1, "?owner_ids=" + ann.id: 0, "?owner_ids=" + ann.id + "&cursor=" + url.QueryEscape(next): 1} {
		status, body := ann.do("GET", "/v2/leaderboard/b"+query, "")
		require.Equal(t, 200, status, body)
		var page struct{ Records []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(body), &page))
		require.Len(t, page.Records, want, query)
	}
}

func keys(objects []*api.StorageObject) string {
	var out []string
	for _, o := range objects {
		out = append(out, o.Key)
	}
	return strings.Join(out, " ")
}

func ranking(records []*api.LeaderboardRecord) string {
	var out []string
	for _, r := range records {
		out = append(out, fmt.Sprintf("%s#%d", r.Username.GetValue(), r.Rank))
	}
	return strings.Join(out, " ")
}
