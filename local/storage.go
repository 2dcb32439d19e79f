package local

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
func (s *store) readObjects(callerID string, keys []objectKey) ([]*api.StorageObject, error) {
	if err := s.faults.storage("read"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []*api.StorageObject{}
	seen := map[objectKey]bool{}
	for _, k := range keys {
		o := s.objects[k]
		if o != nil && !seen[k] && o.readableBy(callerID) {
			out = append(out, o.api())
		}
		seen[k] = true
	}
	return out, nil
}

func (o *object) readableBy(callerID string) bool {
	return callerID == "" || o.Read == 2 || (o.Read == 1 && o.User == callerID)
}

// transact writes and deletes all of it or nothing.
func (s *store) transact(authoritative bool, writes []objectWrite, deletes []objectDelete) ([]*api.StorageObjectAck, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.transactLocked(authoritative, writes, deletes)
}

func (s *store) transactLocked(authoritative bool, writes []objectWrite, deletes []objectDelete) ([]*api.StorageObjectAck, error) {
	before := map[objectKey]*object{}
	for _, w := range writes {
		before[w.key] = s.objects[w.key]
	}
	for _, d := range deletes {
		before[d.key] = s.objects[d.key]
	}
	acks, err := s.applyLocked(authoritative, writes, deletes)
	if err == nil {
		s.changed()
		return acks, nil
	}
	for k, o := range before {
		delete(s.objects, k)
		if o != nil {
			s.objects[k] = o
		}
	}
	return nil, err
}

func (s *store) applyLocked(authoritative bool, writes []objectWrite, deletes []objectDelete) ([]*api.StorageObjectAck, error) {
	acks := make([]*api.StorageObjectAck, 0, len(writes))
	for _, w := range writes {
		o, err := s.writeLocked(authoritative, w)
		if err != nil {
			return nil, err
		}
		acks = append(acks, &api.StorageObjectAck{
			Collection: o.Collection, Key: o.Key, UserId: o.User, Version: o.Version,
			CreateTime: timestamppb.New(time.UnixMicro(o.Created)), UpdateTime: timestamppb.New(time.UnixMicro(o.Updated)),
		})
	}
	for _, d := range deletes {
		if err := s.deleteLocked(authoritative, d); err != nil {
			return nil, err
		}
	}
	return acks, nil
}

func (s *store) writeLocked(authoritative bool, w objectWrite) (*object, error) {
	if err := s.faults.storage("write"); err != nil {
		return nil, err
	}
	old := s.objects[w.key]
	switch {
	case w.version == "*" && old != nil:
		return nil, runtime.ErrStorageRejectedVersion
	case w.version != "" && w.version != "*" && old == nil:
		return nil, runtime.ErrStorageRejectedVersion
	case old != nil && !authoritative && old.Write != 1:
		return nil, runtime.ErrStorageRejectedPermission
	case old != nil && w.version != "" && old.Version != w.version:
		return nil, runtime.ErrStorageRejectedVersion
	case s.users[w.key.User] == nil:
		return nil, errors.New(`ERROR: insert or update on table "storage" violates foreign key constraint "storage_user_id_fkey" (SQLSTATE 23503)`)
	}
	value, err := normalizeJSON(w.value)
	if err != nil {
		return nil, err
	}
	// The version is of the text as it was sent, although the value is kept normalised.
	sum := md5.Sum([]byte(w.value))
	now := time.Now().UnixMicro()
	o := &object{
		Collection: w.key.Collection, Key: w.key.Key, User: w.key.User, Value: value,
		Version: hex.EncodeToString(sum[:]), Read: w.read, Write: w.write, Created: now, Updated: now,
	}
	if old != nil {
		o.Created = old.Created
	}
	s.objects[w.key] = o
	return o, nil
}

func (s *store) deleteLocked(authoritative bool, d objectDelete) error {
	if err := s.faults.storage("delete"); err != nil {
		return err
	}
	o := s.objects[d.key]
	if authoritative && d.version == "" {
		delete(s.objects, d.key)
		return nil
	}
	if o == nil || (!authoritative && o.Write == 0) || (d.version != "" && d.version != o.Version) {
		return errDeleteRejected
	}
	delete(s.objects, d.key)
	return nil
}

// listObjects lists a collection, of one owner or (owner "") of all, from a cursor on.
func (s *store) listObjects(callerID, owner, collection string, limit int, cursor string) ([]*api.StorageObject, string, error) {
	if err := s.faults.storage("list"); err != nil {
		return nil, "", err
	}
	after, err := decodeCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*object
	for _, o := range s.objects {
		if o.Collection == collection && o.listable(callerID, owner) && o.cursor() > after {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b *object) int { return strings.Compare(a.cursor(), b.cursor()) })
	next := ""
	if limit = max(limit, 0); len(found) > limit {
		found = found[:limit]
		if limit > 0 {
			next = base64.RawURLEncoding.EncodeToString([]byte(found[limit-1].cursor()))
		}
	}
	out := make([]*api.StorageObject, 0, len(found))
	for _, o := range found {
		out = append(out, o.api())
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
