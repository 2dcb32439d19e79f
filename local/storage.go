package local

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// objectKey names a storage object.
type objectKey struct{ Collection, Key, User string }

func (k objectKey) compare(o objectKey) int {
	return cmp.Or(strings.Compare(k.Collection, o.Collection), strings.Compare(k.Key, o.Key), strings.Compare(k.User, o.User))
}

// object is a stored value. Read is 0 nobody, 1 owner, 2 everybody; Write is 0 nobody, 1 owner. The module may do all.
type object struct {
	Collection, Key, User string
	Value, Version        string
	Read, Write           int32
	Created, Updated      int64 // Unix microseconds
}

func (o *object) key() objectKey { return objectKey{o.Collection, o.Key, o.User} }

func (o *object) api() *api.StorageObject {
	return &api.StorageObject{
		Collection: o.Collection, Key: o.Key, UserId: o.User, Value: o.Value, Version: o.Version,
		PermissionRead: o.Read, PermissionWrite: o.Write,
		CreateTime: timestamppb.New(time.UnixMicro(o.Created).Truncate(time.Second)),
		UpdateTime: timestamppb.New(time.UnixMicro(o.Updated).Truncate(time.Second)),
	}
}

// objectWrite is one write. Version is "" for whatever is there, "*" for nothing there, or what must be there.
type objectWrite struct {
	key            objectKey
	value, version string
	read, write    int32
}

// objectDelete is one delete; version "" deletes whatever is there.
type objectDelete struct {
	key     objectKey
	version string
}

var errDeleteRejected = errors.New("Storage delete rejected - not found, version check failed, or permission denied.")

// checkValue refuses what is not a JSON object.
func checkValue(v string) bool {
	return json.Valid([]byte(v)) && strings.HasPrefix(strings.TrimSpace(v), "{")
}

// readObjects returns the objects that exist and that the caller may read; caller "" is the module.
func (s *store) readObjects(ctx context.Context, callerID string, keys []objectKey) ([]*api.StorageObject, error) {
	out := []*api.StorageObject{}
	err := s.view(ctx, opRead, func() error {
		seen := map[objectKey]bool{}
		once := !vary(keys)
		for _, k := range keys {
			o := s.objects[k]
			if o != nil && !(once && seen[k]) && o.readableBy(callerID) {
				out = append(out, o.api())
			}
			seen[k] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// vary reports whether keys differ in more than one part. If so, Nakama joins them, and what is asked for twice comes twice.
func vary(keys []objectKey) bool {
	parts := 0
	for _, part := range []func(objectKey) string{
		func(k objectKey) string { return k.Collection }, func(k objectKey) string { return k.Key }, func(k objectKey) string { return k.User },
	} {
		if slices.ContainsFunc(keys, func(k objectKey) bool { return part(k) != part(keys[0]) }) {
			parts++
		}
	}
	return parts > 1
}

func (o *object) readableBy(callerID string) bool {
	return callerID == "" || o.Read == 2 || (o.Read == 1 && o.User == callerID)
}

// writeObjects writes all of it or nothing.
func (s *store) writeObjects(ctx context.Context, authoritative bool, writes []objectWrite) (acks []*api.StorageObjectAck, err error) {
	err = s.update(ctx, opWrite, func(t *tx) error {
		acks, err = t.writeObjects(authoritative, writes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return acks, nil
}

// deleteObjects deletes all of it or nothing.
func (s *store) deleteObjects(ctx context.Context, authoritative bool, deletes []objectDelete) error {
	return s.update(ctx, opDelete, func(t *tx) error { return t.deleteObjects(authoritative, deletes) })
}

// writeObjects returns the acknowledgements in the order of the writes, but the error of the first write by key.
func (t *tx) writeObjects(authoritative bool, writes []objectWrite) ([]*api.StorageObjectAck, error) {
	order := make([]int, len(writes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return writes[a].key.compare(writes[b].key) })
	acks := make([]*api.StorageObjectAck, len(writes))
	for _, i := range order {
		o, err := t.writeObject(authoritative, writes[i])
		if err != nil {
			return nil, err
		}
		acks[i] = &api.StorageObjectAck{
			Collection: o.Collection, Key: o.Key, UserId: o.User, Version: o.Version,
			CreateTime: timestamppb.New(time.UnixMicro(o.Created)), UpdateTime: timestamppb.New(time.UnixMicro(o.Updated)),
		}
	}
	return acks, nil
}

func (t *tx) deleteObjects(authoritative bool, deletes []objectDelete) error {
	for _, d := range deletes {
		o := t.object(d.key)
		if o == nil && authoritative && d.version == "" {
			continue
		}
		if o == nil || (!authoritative && o.Write == 0) || (d.version != "" && d.version != o.Version) {
			return errDeleteRejected
		}
		t.putObject(d.key, nil)
	}
	return nil
}

// refusal is why a write may not take the place of what is there, nil if it may.
func (w *objectWrite) refusal(authoritative bool, old *object) error {
	switch {
	case old == nil && (w.version == "" || w.version == "*"):
		return nil
	case old == nil || w.version == "*":
		return runtime.ErrStorageRejectedVersion
	case !authoritative && old.Write != 1:
		return runtime.ErrStorageRejectedPermission
	case w.version != "" && old.Version != w.version:
		return runtime.ErrStorageRejectedVersion
	}
	return nil
}

func (t *tx) writeObject(authoritative bool, w objectWrite) (*object, error) {
	old := t.object(w.key)
	if err := w.refusal(authoritative, old); err != nil {
		return nil, err
	}
	if t.user(w.key.User) == nil {
		return nil, errors.New(`ERROR: insert or update on table "storage" violates foreign key constraint "storage_user_id_fkey" (SQLSTATE 23503)`)
	}
	value, err := normalizeJSON(w.value)
	if err != nil {
		return nil, err
	}
	// The version is of the text as it was sent, although the value is kept normalised.
	sum := md5.Sum([]byte(w.value))
	version := hex.EncodeToString(sum[:])
	if old != nil && w.version == "" && old.Version == version && old.Read == w.read && old.Write == w.write {
		return old, nil // not even its time changes
	}
	now := time.Now().UnixMicro()
	o := &object{
		Collection: w.key.Collection, Key: w.key.Key, User: w.key.User, Value: value,
		Version: version, Read: w.read, Write: w.write, Created: now, Updated: now,
	}
	if old != nil {
		o.Created = old.Created
	}
	t.putObject(w.key, o)
	return o, nil
}

// ownerOf returns the owner in canonical spelling; "" is the system's user.
func ownerOf(raw string) (string, error) {
	if raw == "" {
		return systemUser, nil
	}
	id, err := uuid.FromString(raw)
	if err != nil {
		return "", errors.New("expects an empty or valid user id")
	}
	return id.String(), nil
}
