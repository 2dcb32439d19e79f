package archive

import (
	"encoding/json"
	"fmt"

	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// Result returns a result, nil if there is none (yet).
func (a *Archive) Result(resultID string) (*Result, error) {
	r, _, err := a.readResult(resultID)
	return r, err
}

// History is a page of a user's results, the newest first. cursor is "" for the first page, and what the last page returned for the next;
// next is "" when there is none.
func (a *Archive) History(userID string, limit int, cursor string) (results []*Result, next string, err error) {
	page, next, err := a.page(userID, historyCollection, limit, cursor)
	if err != nil {
		return nil, "", err
	}
	ids := make([]string, 0, len(page))
	for _, o := range page {
		var ref historyRef
		if err := json.Unmarshal([]byte(o.value), &ref); err == nil {
			ids = append(ids, ref.ResultID)
		}
	}
	results, _, err = a.readResults(ids)
	return results, next, err
}

// hasResult reports whether a table is settled.
func (a *Archive) hasResult(resultID string) (bool, error) {
	r, _, err := a.readResult(resultID)
	return r != nil, err
}

// readResult returns a result with its version, or nil.
func (a *Archive) readResult(resultID string) (*Result, string, error) {
	results, versions, err := a.readResults([]string{resultID})
	if err != nil || len(results) == 0 {
		return nil, "", err
	}
	return results[0], versions[0], nil
}

// readResults returns those of the results that are there, in the order of their ids.
func (a *Archive) readResults(ids []string) (results []*Result, versions []string, err error) {
	reads := make([]*runtime.StorageRead, len(ids))
	for i, id := range ids {
		reads[i] = &runtime.StorageRead{Collection: resultsCollection, Key: id}
	}
	if len(reads) == 0 {
		return nil, nil, nil
	}
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, reads)
	if err != nil {
		return nil, nil, err
	}
	byID := make(map[string]*api.StorageObject, len(objects))
	for _, o := range objects {
		byID[o.Key] = o
	}
	for _, id := range ids {
		o := byID[id]
		if o == nil {
			continue
		}
		r := &Result{}
		if err := json.Unmarshal([]byte(o.Value), r); err != nil {
			return nil, nil, fmt.Errorf("unreadable result %s: %w", id, err)
		}
		results, versions = append(results, r), append(versions, o.Version)
	}
	return results, versions, nil
}

// Record returns the record of a result, nil if it is not kept any more.
func (a *Archive) Record(r *Result) ([]byte, error) {
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, []*runtime.StorageRead{{Collection: recordsCollection, Key: r.RecordKey}})
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	var stored storedRecord
	if err := json.Unmarshal([]byte(objects[0].Value), &stored); err != nil {
		return nil, fmt.Errorf("unreadable record of %s: %w", r.ResultID, err)
	}
	return stored.Record, nil
}

// historyRef leads to a result.
type historyRef struct {
	ResultID string `json:"result_id"`
}

// lastMs is later than every time, so that what is subtracted from it sorts the newest first.
const lastMs = 1<<48 - 1

func historyKey(r *Result) string { return fmt.Sprintf("%012x.%s", lastMs-r.EndedUnixMs, r.ResultID) }
