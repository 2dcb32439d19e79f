package archive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heroiclabs/nakama-common/runtime"
)

// Result returns a result, nil if there is none (yet).
func (a *Archive) Result(resultID string) (*Result, error) {
	r, _, err := a.readResult(resultID)
	return r, err
}

// History is a page of at most limit of a user's results, the newest first. cursor is "" for the first page, and what
// the last page returned for the next; next is "" when there is none. It fails with ErrBadCursor. A result that cannot
// be read, or that does not name the user, is left out.
func (a *Archive) History(userID string, limit int, cursor string) (results []*Result, next string, err error) {
	p, err := a.readPlayer(userID)
	if err != nil {
		return nil, "", err
	}
	end := p.results() // the number of the first result that is not shown; they are numbered from the oldest
	if cursor != "" {
		n, err := strconv.Atoi(cursor)
		if err != nil || n < 1 {
			return nil, "", ErrBadCursor
		}
		end = min(end, n)
	}
	begin := max(0, end-limit)
	refs, err := a.readRefs(userID, p, begin, end)
	if err != nil {
		return nil, "", err
	}
	slices.Reverse(refs)
	if begin > 0 {
		next = strconv.Itoa(begin)
	}
	results, err = a.readResults(refs)
	return slices.DeleteFunc(results, func(r *Result) bool { return r.PlayerOf(userID) == nil }), next, err
}

// readRefs returns the ids of a user's results from begin up to end, numbered from the oldest. A page that is missing
// or cannot be read is left out.
func (a *Archive) readRefs(userID string, p *versioned, begin, end int) ([]string, error) {
	pages := map[int]*historyPage{p.Pages: {Results: p.Recent}}
	var reads []*runtime.StorageRead
	for n := begin / recentMax; n < p.Pages && n*recentMax < end; n++ {
		reads = append(reads, &runtime.StorageRead{Collection: pagesCollection, Key: pageKey(userID, n)})
	}
	if len(reads) > 0 {
		ctx, cancel := callContext()
		defer cancel()
		objects, err := a.nk().StorageRead(ctx, reads)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			page, number := &historyPage{}, 0
			if _, err := fmt.Sscanf(strings.TrimPrefix(o.Key, userID), ".%d", &number); err != nil || decode(o.Value, page) != nil {
				a.complain(o.Key, fmt.Errorf("page %s of a history cannot be used", o.Key))
				continue
			}
			pages[number] = page
		}
	}
	var ids []string
	for i := begin; i < end; i++ {
		if page := pages[i/recentMax]; page != nil && i%recentMax < len(page.Results) {
			ids = append(ids, page.Results[i%recentMax].ResultID)
		}
	}
	return ids, nil
}

// hasResult reports whether a table is settled.
func (a *Archive) hasResult(resultID string) (bool, error) {
	r, _, err := a.readResult(resultID)
	return r != nil, err
}

// readResult returns a result with its version, or nil. The error for one that cannot be used is permanent.
func (a *Archive) readResult(resultID string) (*Result, string, error) {
	o, err := a.readOne(resultsCollection, resultID)
	if err != nil || o == nil {
		return nil, "", err
	}
	r, err := o.result()
	return r, o.version, err
}

// result reads a stored result. The error is permanent.
func (o object) result() (*Result, error) {
	r := &Result{}
	err := decode(o.value, r)
	if err == nil && r.ResultID != o.key {
		err = fmt.Errorf("it is of match %.64q", r.ResultID)
	}
	if err != nil {
		return nil, permanent(fmt.Errorf("result %s: %w", o.key, err))
	}
	return r, nil
}

// readResults returns those of the results that are there and can be used, in the order of their ids.
func (a *Archive) readResults(ids []string) ([]*Result, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	reads := make([]*runtime.StorageRead, len(ids))
	for i, id := range ids {
		reads[i] = &runtime.StorageRead{Collection: resultsCollection, Key: id}
	}
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, reads)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*Result, len(objects))
	for _, o := range objects {
		r, err := newObject(o).result()
		if err != nil {
			a.complain(o.Key, err)
			continue
		}
		byID[o.Key] = r
	}
	var results []*Result
	for _, id := range ids {
		if r := byID[id]; r != nil {
			results = append(results, r)
		}
	}
	return results, nil
}

// Record returns the record of a result, nil if it is not kept any more.
func (a *Archive) Record(r *Result) ([]byte, error) {
	o, err := a.readOne(recordsCollection, r.RecordKey)
	if err != nil || o == nil {
		return nil, err
	}
	var stored storedRecord
	if err := decode(o.value, &stored); err != nil {
		return nil, fmt.Errorf("record of %s: %w", r.ResultID, err)
	}
	return stored.Record, nil
}
