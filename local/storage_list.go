package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
)

// listObjects lists a collection, of one owner or (owner "") of all, from a cursor on.
func (s *store) listObjects(ctx context.Context, callerID, owner, collection string, limit int, cursor string) (out []*api.StorageObject, next string, err error) {
	out = []*api.StorageObject{}
	if limit <= 0 {
		return out, "", nil
	}
	after, err := decodeCursor[objectCursor](base64.RawURLEncoding, cursor)
	if err != nil {
		return nil, "", fail(codeInvalidArgument, "Malformed cursor was used.")
	}
	if after != nil {
		after.narrow(callerID, owner)
	}
	err = s.view(ctx, opList, func() error {
		var found []*object
		for _, o := range s.objects {
			if o.Collection == collection && o.listable(callerID, owner) && (after == nil || after.before(o)) {
				found = append(found, o)
			}
		}
		slices.SortFunc(found, func(a, b *object) int { return a.inList().compare(b.inList()) })
		if len(found) > limit {
			found = found[:limit]
			if next, err = encodeCursor(base64.RawURLEncoding, found[limit-1].inList()); err != nil {
				return err
			}
		}
		for _, o := range found {
			out = append(out, o.api())
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	if next == cursor {
		next = "" // the page of a made-up cursor may end where it began
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

// inList is an object's place in a listing.
func (o *object) inList() objectCursor {
	return objectCursor{Key: o.Key, UserID: uuid.FromStringOrNil(o.User), Read: o.Read}
}

// compare orders by read permission, key and owner.
func (c objectCursor) compare(o objectCursor) int {
	return cmp.Or(cmp.Compare(c.Read, o.Read), strings.Compare(c.Key, o.Key), bytes.Compare(c.UserID[:], o.UserID[:]))
}

func (c objectCursor) before(o *object) bool { return c.compare(o.inList()) < 0 }

// narrow replaces what a listing knows better than the cursor: its only owner, and its only permission.
func (c *objectCursor) narrow(callerID, owner string) {
	if owner != "" {
		c.UserID = uuid.FromStringOrNil(owner)
	}
	if callerID != "" && callerID != owner {
		c.Read = 2
	}
}
