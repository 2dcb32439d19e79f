package archive

import (
	"strings"

	"github.com/heroiclabs/nakama-common/api"
)

// pageSize is how many objects are listed at a time: Nakama's most.
const pageSize = 100

// object is a stored object as list shows it.
type object struct {
	key, userID, value, version string
}

func newObject(o *api.StorageObject) object {
	return object{key: o.Key, userID: o.UserId, value: o.Value, version: o.Version}
}

// systemUser owns what no user owns.
const systemUser = "00000000-0000-0000-0000-000000000000"

// list shows every object of a collection, of one user or, with "", of all, in the order of the keys. It ends with the first error, and with errEnough
// without one.
func (a *Archive) list(userID, collection string, see func(object) error) error {
	cursor := ""
	for {
		page, next, err := a.page(userID, collection, pageSize, cursor)
		if err != nil {
			return err
		}
		for _, o := range page {
			if err := see(o); err != nil {
				if err == errEnough {
					return nil
				}
				return err
			}
		}
		if cursor = next; cursor == "" {
			return nil
		}
	}
}

func (a *Archive) page(userID, collection string, limit int, cursor string) ([]object, string, error) {
	ctx, cancel := callContext()
	defer cancel()
	found, next, err := a.nk().StorageList(ctx, "", userID, collection, limit, cursor)
	if err != nil {
		return nil, "", err
	}
	page := make([]object, len(found))
	for i, o := range found {
		page[i] = newObject(o)
	}
	return page, next, nil
}

type enough struct{}

func (enough) Error() string { return "enough" }

// errEnough ends a list early.
var errEnough error = enough{}

// IsBadCursor reports whether Nakama could not read a cursor.
func IsBadCursor(err error) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), "malformed cursor")
}
