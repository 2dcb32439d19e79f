package local

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/heroiclabs/nakama-common/api"
)

// listObjects lists a collection, of one owner or (owner "") of all, from a cursor on.
func (s *store) listObjects(ctx context.Context, callerID, owner, collection string, limit int, cursor string) (out []*api.StorageObject, next string, err error) {
	after, err := decodeCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	err = s.view(ctx, opList, func() error {
		var found []*object
		for _, o := range s.objects {
			if o.Collection == collection && o.listable(callerID, owner) && o.cursor() > after {
				found = append(found, o)
			}
		}
		slices.SortFunc(found, func(a, b *object) int { return strings.Compare(a.cursor(), b.cursor()) })
		if limit = max(limit, 0); len(found) > limit {
			found = found[:limit]
			if limit > 0 {
				next = base64.RawURLEncoding.EncodeToString([]byte(found[limit-1].cursor()))
			}
		}
		out = make([]*api.StorageObject, 0, len(found))
		for _, o := range found {
			out = append(out, o.api())
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return out, next, nil
}

func (o *object) listable(callerID, owner string) bool {
	switch {
	case owner == "":
		return callerID == "" || o.Read == 2
	case o.User != owner:
		return false
	}
	return o.readableBy(callerID)
}

// cursor orders objects in a listing: read permission, key, owner.
func (o *object) cursor() string { return fmt.Sprintf("%d\x00%s\x00%s", o.Read, o.Key, o.User) }

func decodeCursor(c string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(c)
	if err != nil {
		return "", fail(codeInvalidArgument, "Malformed cursor was used.")
	}
	return string(raw), nil
}
