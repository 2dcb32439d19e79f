package match

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// put writes an object of the system's.
func (s *fakeStorage) put(collection, key, value string) {
	s.t.Helper()
	if _, err := s.write([]*runtime.StorageWrite{{Collection: collection, Key: key, Value: value}}); err != nil {
		s.t.Fatal(err)
	}
}

// A match that cannot be settled is listed and counted, told to players who ask, and tried again when an operator wants
// it.
func TestAdminQueueRetriesWhatIsSetAside(t *testing.T) {
	g := newGame(t, endDeck, "ann", "bob")
	ann := g.players[0]
	tableID := g.m.table().setup.TableID
	g.n.storage.put("set3d_results", tableID, `{"players":7}`)
	ann.claim(g.m, 1, "0110 1101 2122")
	ann.claim(g.m, 2, "1110 0112 2111")
	eventually(t, func() bool { return g.n.module.archive.Counters().SetAside == 1 })
	var queue adminQueueResponse
	g.n.mustAdmin("admin_queue", `{}`, &queue)
	if len(queue.SetAside) != 1 || queue.SetAside[0].TableID != tableID || queue.Waiting != 0 || queue.Finished != 0 {
		t.Fatalf("queue %+v", queue)
	}
	g.n.module.measure()
	wantGauge(t, g.n, "set3d_archive_set_aside", 1)
	for payload, reason := range map[string]string{
		`{"retry":"NONE"}`: "UNKNOWN_RESULT", `{"retry":7}`: "WRONG_TYPE", `{"retry":"` + strings.Repeat("x", 129) + `"}`: "OUT_OF_RANGE",
	} {
		if _, err := g.n.admin("admin_queue", payload); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", payload, err)
		}
	}
	g.n.mustAdmin("admin_queue", `{"retry":"`+tableID+`"}`, nil) // nothing has changed: it is set aside again
	eventually(t, func() bool { return g.n.module.archive.Counters().SetAside == 1 })
	g.n.storage.remove([]*runtime.StorageDelete{{Collection: "set3d_results", Key: tableID}})
	if _, err := ann.rpc("get_result", `{"result_id":"`+tableID+`"}`); err == nil || !strings.Contains(err.Error(), "NOT_SETTLED") {
		t.Fatalf("a player is told %v", err)
	}
	g.n.mustAdmin("admin_queue", `{"retry":"`+tableID+`"}`, nil)
	eventually(t, func() bool {
		r, err := g.n.module.archive.Result(tableID)
		return err == nil && r != nil && g.n.module.archive.Counters().SetAside == 0
	})
}

// Clients' writes and deletes in the server's collections are refused, and all others pass as they are.
func TestStorageHooks(t *testing.T) {
	n := newFake(t)
	for collection, refused := range map[string]bool{
		"set3d_stats": true, "set3d_": true, "set3d_anything": true, "set3d": false, "other": false, "SET3D_players": false, "": false,
	} {
		write := &api.WriteStorageObjectsRequest{Objects: []*api.WriteStorageObject{{Collection: "fine"}, {Collection: collection}, nil}}
		wrote, err := n.storage.beforeWrite(context.Background(), n.logger, nil, n, write)
		deletion := &api.DeleteStorageObjectsRequest{ObjectIds: []*api.DeleteStorageObjectId{{Collection: "fine"}, {Collection: collection}, nil}}
		deleted, err2 := n.storage.beforeDelete(context.Background(), n.logger, nil, n, deletion)
		for _, err := range []error{err, err2} {
			var refusal *runtime.Error
			switch {
			case !refused && err != nil:
				t.Errorf("%q: %v", collection, err)
			case refused && (!errors.As(err, &refusal) || refusal.Code != codePermissionDenied || !json.Valid([]byte(refusal.Message)) ||
				!strings.Contains(refusal.Message, "SERVER_OWNED")):
				t.Errorf("%q: %v", collection, err)
			}
		}
		if !refused && (wrote != write || deleted != deletion) {
			t.Errorf("%q: changed", collection)
		}
	}
}
