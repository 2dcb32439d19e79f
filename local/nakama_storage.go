package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

func keyOf(collection, key, userID string) (objectKey, error) {
	if collection == "" {
		return objectKey{}, errors.New("expects collection to be a non-empty string")
	}
	if key == "" {
		return objectKey{}, errors.New("expects key to be a non-empty string")
	}
	owner, err := ownerOf(userID)
	return objectKey{collection, key, owner}, err
}

func writesOf(in []*runtime.StorageWrite) ([]objectWrite, error) {
	out := make([]objectWrite, 0, len(in))
	for _, w := range in {
		k, err := keyOf(w.Collection, w.Key, w.UserID)
		if err != nil {
			return nil, err
		}
		if !checkValue(w.Value) {
			return nil, errors.New("value must be a JSON-encoded object")
		}
		out = append(out, objectWrite{
			key: k, value: w.Value, version: w.Version, read: int32(w.PermissionRead), write: int32(w.PermissionWrite),
		})
	}
	return out, nil
}

func deletesOf(in []*runtime.StorageDelete) ([]objectDelete, error) {
	out := make([]objectDelete, 0, len(in))
	for _, d := range in {
		k, err := keyOf(d.Collection, d.Key, d.UserID)
		if err != nil {
			return nil, err
		}
		out = append(out, objectDelete{key: k, version: d.Version})
	}
	return out, nil
}

func readsOf(in []*runtime.StorageRead) ([]objectKey, error) {
	out := make([]objectKey, 0, len(in))
	for _, r := range in {
		k, err := keyOf(r.Collection, r.Key, r.UserID)
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

func (n *nakama) StorageRead(ctx context.Context, reads []*runtime.StorageRead) ([]*api.StorageObject, error) {
	keys, err := readsOf(reads)
	if err != nil {
		return nil, err
	}
	return n.srv.store.readObjects(ctx, "", keys)
}

func (n *nakama) StorageWrite(ctx context.Context, writes []*runtime.StorageWrite) ([]*api.StorageObjectAck, error) {
	ops, err := writesOf(writes)
	if err != nil {
		return nil, err
	}
	return n.srv.store.writeObjects(ctx, true, ops)
}

func (n *nakama) StorageWriteRetry(ctx context.Context, reads []*runtime.StorageRead, updateFn func(objects []*api.StorageObject) ([]*runtime.StorageWrite, error), maxRetries int) ([]*api.StorageObjectAck, error) {
	for range maxRetries + 1 {
		objects, err := n.StorageRead(ctx, reads)
		if err != nil {
			return nil, err
		}
		writes, err := updateFn(objects)
		if err != nil {
			return nil, err
		}
		acks, err := n.StorageWrite(ctx, writes)
		if !errors.Is(err, runtime.ErrStorageRejectedVersion) {
			return acks, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil, runtime.ErrStorageWriteExhaustedRetries
}

func (n *nakama) StorageDelete(ctx context.Context, deletes []*runtime.StorageDelete) error {
	ops, err := deletesOf(deletes)
	if err != nil {
		return err
	}
	return n.srv.store.deleteObjects(ctx, true, ops)
}

func (n *nakama) StorageList(ctx context.Context, callerID, userID, collection string, limit int, cursor string) ([]*api.StorageObject, string, error) {
	if callerID != "" {
		id, err := uuid.FromString(callerID)
		if err != nil {
			return nil, "", errors.New("expects an empty or valid caller id")
		}
		callerID = id.String()
		if id == uuid.Nil {
			callerID = ""
		}
	}
	if userID != "" {
		owner, err := ownerOf(userID)
		if err != nil {
			return nil, "", err
		}
		userID = owner
	}
	if limit < 0 {
		return nil, "", errors.New("limit must not be negative")
	}
	return n.srv.store.listObjects(ctx, callerID, userID, collection, limit, cursor)
}

// MultiUpdate changes accounts and storage in one transaction. Wallets are not in the local host.
func (n *nakama) MultiUpdate(ctx context.Context, accountUpdates []*runtime.AccountUpdate, storageWrites []*runtime.StorageWrite, storageDeletes []*runtime.StorageDelete, walletUpdates []*runtime.WalletUpdate, _ bool) ([]*api.StorageObjectAck, []*runtime.WalletUpdateResult, error) {
	if len(walletUpdates) != 0 {
		return nil, nil, errUnsupported("wallets")
	}
	writes, err := writesOf(storageWrites)
	if err != nil {
		return nil, nil, err
	}
	deletes, err := deletesOf(storageDeletes)
	if err != nil {
		return nil, nil, err
	}
	changes := make([]accountChange, 0, len(accountUpdates))
	for _, u := range accountUpdates {
		c, err := accountChangeOf(u)
		if err != nil {
			return nil, nil, err
		}
		changes = append(changes, c)
	}
	if len(changes)+len(writes)+len(deletes) == 0 {
		return nil, nil, nil
	}
	var acks []*api.StorageObjectAck
	err = n.srv.store.update(ctx, opMulti, func(t *tx) error {
		for _, c := range changes {
			if err := t.updateAccount(c); err != nil {
				return err
			}
		}
		if acks, err = t.writeObjects(true, writes); err != nil {
			return err
		}
		return t.deleteObjects(true, deletes)
	})
	if err != nil {
		return nil, nil, err
	}
	return acks, []*runtime.WalletUpdateResult{}, nil
}

func metadataText(m map[string]any) (string, error) {
	if m == nil {
		return "", nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("error encoding metadata: %v", err)
	}
	return normalizeJSON(string(raw))
}
