package local

import (
	"errors"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

var errNoKey = fail(codeInvalidArgument, "Invalid collection or key value supplied. They must be set.")

func (s *Server) readStorage(c *call) (proto.Message, error) {
	in := &api.ReadStorageObjectsRequest{}
	if err := c.body(in); err != nil {
		return nil, err
	}
	keys := make([]objectKey, 0, len(in.ObjectIds))
	for _, id := range in.ObjectIds {
		if id.Collection == "" || id.Key == "" {
			return nil, errNoKey
		}
		owner, err := ownerOf(id.UserId)
		if err != nil || id.UserId != "" && owner == systemUser {
			return nil, fail(codeInvalidArgument, "Invalid user ID - make sure user ID is a valid UUID.")
		}
		keys = append(keys, objectKey{id.Collection, id.Key, owner})
	}
	found, err := s.store.readObjects(c.Context(), c.who.userID.String(), keys)
	if err != nil {
		return nil, fail(codeInternal, "Error reading storage objects.")
	}
	return &api.StorageObjects{Objects: found}, nil
}

func (s *Server) writeStorage(c *call) (proto.Message, error) {
	in := &api.WriteStorageObjectsRequest{}
	if err := c.body(in); err != nil {
		return nil, err
	}
	if hook := s.module.beforeWrite; hook != nil {
		out, err := hook(s.apiHook(c, modeBefore), s.hookLogger("writestorageobjects", modeBefore), nil, s.nk, in)
		if in, err = hookOutcome(out, err); err != nil {
			return nil, err
		}
	}
	writes := make([]objectWrite, 0, len(in.Objects))
	for _, o := range in.Objects {
		w := objectWrite{
			key: objectKey{o.Collection, o.Key, c.who.userID.String()}, value: o.Value, version: o.Version,
			read: permission(o.PermissionRead), write: permission(o.PermissionWrite),
		}
		switch {
		case o.Collection == "" || o.Key == "":
			return nil, errNoKey
		case w.read < 0 || w.read > 2:
			return nil, fail(codeInvalidArgument, "Invalid Read permission supplied. It must be either 0, 1 or 2.")
		case w.write < 0 || w.write > 1:
			return nil, fail(codeInvalidArgument, "Invalid Write permission supplied. It must be either 0 or 1.")
		case !checkValue(o.Value):
			return nil, fail(codeInvalidArgument, "Value must be a JSON object.")
		}
		writes = append(writes, w)
	}
	acks, err := s.store.writeObjects(c.Context(), false, writes)
	if err != nil {
		return nil, storageError(err, "Error writing storage objects.")
	}
	return &api.StorageObjectAcks{Acks: acks}, nil
}

func permission(v *wrapperspb.Int32Value) int32 {
	if v == nil {
		return 1
	}
	return v.Value
}

// storageError is the client's view of a failed transaction: rejections in their own words, nothing else.
func storageError(err error, otherwise string) error {
	if errors.Is(err, runtime.ErrStorageRejectedVersion) || errors.Is(err, runtime.ErrStorageRejectedPermission) || errors.Is(err, errDeleteRejected) {
		return fail(codeInvalidArgument, err.Error())
	}
	return fail(codeInternal, otherwise)
}

func (s *Server) deleteStorage(c *call) (proto.Message, error) {
	in := &api.DeleteStorageObjectsRequest{}
	if err := c.body(in); err != nil {
		return nil, err
	}
	if hook := s.module.beforeDeleteObjects; hook != nil {
		out, err := hook(s.apiHook(c, modeBefore), s.hookLogger("deletestorageobjects", modeBefore), nil, s.nk, in)
		if in, err = hookOutcome(out, err); err != nil {
			return nil, err
		}
	}
	deletes := make([]objectDelete, 0, len(in.ObjectIds))
	for _, id := range in.ObjectIds {
		if id.Collection == "" || id.Key == "" {
			return nil, errNoKey
		}
		deletes = append(deletes, objectDelete{objectKey{id.Collection, id.Key, c.who.userID.String()}, id.Version})
	}
	if err := s.store.deleteObjects(c.Context(), false, deletes); err != nil {
		return nil, storageError(err, "Error deleting storage objects.")
	}
	return nil, nil
}

func (s *Server) listStorage(c *call) (proto.Message, error) {
	limit, err := c.limitParam(1, 100)
	if err != nil {
		return nil, err
	}
	owner := c.PathValue("user")
	if owner == "" {
		owner = c.query.Get("user_id")
	}
	if owner != "" {
		id, err := uuid.FromString(owner)
		if err != nil {
			return nil, fail(codeInvalidArgument, "Invalid user ID - make sure user ID is a valid UUID.")
		}
		owner = id.String()
	}
	in, err := s.beforeListStorage(c, &api.ListStorageObjectsRequest{
		UserId: owner, Collection: c.PathValue("collection"), Limit: wrapperspb.Int32(int32(limit)),
		Cursor: c.query.Get("cursor"),
	})
	if err != nil {
		return nil, err
	}
	reader, most := c.who.userID.String(), int(in.GetLimit().GetValue())
	found, next, err := s.store.listObjects(c.Context(), reader, in.UserId, in.Collection, most, in.Cursor)
	var status *statusError
	switch {
	case errors.As(err, &status):
		return nil, err
	case err != nil:
		return nil, fail(codeInternal, "Error listing storage objects.")
	}
	return &api.StorageObjectList{Objects: found, Cursor: next}, nil
}
