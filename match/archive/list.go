package archive

import (
	"errors"
	"strings"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
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

// readOne reads an object of the system's, or nil.
func (a *Archive) readOne(collection, key string) (*object, error) {
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, []*runtime.StorageRead{{Collection: collection, Key: key}})
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	o := newObject(objects[0])
	return &o, nil
}

// list shows every object of a collection of the system's, in the order of the keys. It ends with the first error, and
// with errEnough without one.
func (a *Archive) list(collection string, see func(object) error) error {
	return a.pages(collection, func(page []object) error {
		for _, o := range page {
			if err := see(o); err != nil {
				return err
			}
		}
		return nil
	})
}

// pages is list, by up to 100 objects at a time.
func (a *Archive) pages(collection string, see func([]object) error) error {
	for cursor := ""; ; {
		page, next, err := a.page(collection, cursor)
		if err == nil {
			err = see(page)
		}
		switch {
		case err == errEnough:
			return nil
		case err != nil:
			return err
		case next == "":
			return nil
		}
		cursor = next
	}
}

// page lists the objects of the system alone, whatever others there are in the collection.
func (a *Archive) page(collection, cursor string) ([]object, string, error) {
	return a.pageOf(systemUser, collection, cursor)
}

// pageOf lists the objects of one user or, with "", of all.
func (a *Archive) pageOf(userID, collection, cursor string) ([]object, string, error) {
	ctx, cancel := callContext()
	defer cancel()
	found, next, err := a.nk().StorageList(ctx, "", userID, collection, pageSize, cursor)
	if err != nil {
		return nil, "", err
	}
	page := make([]object, len(found))
	for i, o := range found {
		page[i] = newObject(o)
	}
	return page, next, nil
}

// failedMax bounds how many errors of single objects a pass over all of them collects.
const failedMax = 30

// appendSome appends an error unless there are enough already.
func appendSome(failed []error, err error) []error {
	if len(failed) >= failedMax {
		return failed
	}
	return append(failed, err)
}

type enough struct{}

func (enough) Error() string { return "enough" }

// errEnough ends a list early.
var errEnough error = enough{}

// ErrBadCursor says that a cursor is none of History's.
var ErrBadCursor = errors.New("malformed cursor")

// IsBadCursor reports whether the cursor of a list, of ours or of Nakama's, could not be read.
func IsBadCursor(err error) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), ErrBadCursor.Error())
}
