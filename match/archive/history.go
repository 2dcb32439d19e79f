package archive

import "encoding/json"

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
