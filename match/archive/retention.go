package archive

import (
	"errors"
	"time"
)

// sweepRecords deletes the records, with the reports about them, that are kept no longer. The results stay.
func (a *Archive) sweepRecords() error {
	if a.config.KeepRecords == 0 {
		return nil
	}
	oldest := time.Now().Add(-a.config.KeepRecords).UTC().Format(dayLayout)
	for {
		page, _, err := a.page(recordsCollection, "")
		if err != nil {
			return err
		}
		expired := 0
		for _, o := range page {
			if o.key >= oldest {
				return nil
			}
			if err := errors.Join(a.remove(reportsCollection, o.key), a.remove(recordsCollection, o.key)); err != nil {
				return err
			}
			expired++
		}
		if expired == 0 {
			return nil
		}
	}
}
