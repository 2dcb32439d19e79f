package archive

import (
	"fmt"

	"github.com/heroiclabs/nakama-common/runtime"
)

// Report is what a player has to say about another one.
type Report struct {
	UserID string `json:"user_id,omitempty"` // who reports; empty when that user's data was deleted
	From   int    `json:"from"`              // the seat of who reports
	Seat   int    `json:"seat"`              // who is reported
	Reason string `json:"reason"`
	Text   string `json:"text,omitempty"`
	UnixMs int64  `json:"unix_ms"`
}

// reports are those of one match, kept as long as its record.
type reports struct {
	ResultID string   `json:"result_id"`
	Reports  []Report `json:"reports"`
}

// Report stores a report with the record of a match. A second one by the same player about the same seat replaces the
// first.
func (a *Archive) Report(r *Result, report Report) error {
	err := a.changeReports(r.RecordKey, func(all *reports) bool {
		all.ResultID = r.ResultID
		for i, old := range all.Reports {
			if old.From == report.From && old.Seat == report.Seat {
				all.Reports[i] = report
				return true
			}
		}
		all.Reports = append(all.Reports, report)
		return true
	})
	if err != nil {
		return err
	}
	now, err := a.Result(r.ResultID)
	if err == nil && (now == nil || now.PlayerOf(report.UserID) == nil) { // who reports has had the data deleted meanwhile
		err = a.forgetReports(r.RecordKey, report.UserID)
	}
	return err
}

// Reports are those about a match, in the order in which they came.
func (a *Archive) Reports(r *Result) ([]Report, error) {
	all, _, err := a.readReports(r.RecordKey)
	return all.Reports, err
}

func (a *Archive) forgetReports(recordKey, userID string) error {
	if recordKey == "" { // not of ours
		return nil
	}
	return a.changeReports(recordKey, func(all *reports) bool {
		changed := false
		for i := range all.Reports {
			if all.Reports[i].UserID == userID {
				all.Reports[i].UserID, all.Reports[i].Text, changed = "", "", true
			}
		}
		return changed
	})
}

// changeReports changes what is stored, if change says that it has.
func (a *Archive) changeReports(recordKey string, change func(*reports) bool) error {
	for range settleTries {
		all, version, err := a.readReports(recordKey)
		if err != nil {
			return err
		}
		if !change(&all) {
			return nil
		}
		ctx, cancel := callContext()
		_, err = a.nk().StorageWrite(ctx, []*runtime.StorageWrite{
			{Collection: reportsCollection, Key: recordKey, Value: encode(all), Version: version},
		})
		cancel()
		if !isConflict(err) {
			return err
		}
	}
	return fmt.Errorf("reports of %s: %w", recordKey, errUnsteady)
}

func (a *Archive) readReports(recordKey string) (all reports, version string, err error) {
	o, err := a.readOne(reportsCollection, recordKey)
	if err != nil || o == nil {
		return all, absent, err
	}
	if err := decode(o.value, &all); err != nil {
		return reports{}, "", permanent(fmt.Errorf("reports of %s: %w", recordKey, err))
	}
	return all, o.version, nil
}
