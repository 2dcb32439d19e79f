package archive

// Export is what is stored of a match about one of its players.
type Export struct {
	Result  *Result  `json:"result"`            // the others without their ids
	Record  []byte   `json:"record,omitempty"`  // as base64; absent when it is not kept any more
	Reports []Report `json:"reports,omitempty"` // those that the player has made
}

// Export returns what is stored of a match about one of its players.
func (a *Archive) Export(r *Result, userID string) (Export, error) {
	own := *r
	own.Players = append([]PlayerResult(nil), r.Players...)
	for i := range own.Players {
		if p := &own.Players[i]; p.UserID != userID && p.Bot == "" && !p.Deleted {
			p.UserID, p.Name = "", anotherName
		}
	}
	e := Export{Result: &own}
	var err error
	if e.Record, err = a.Record(r); err != nil {
		return e, err
	}
	all, err := a.Reports(r)
	for _, report := range all {
		if report.UserID == userID {
			e.Reports = append(e.Reports, report)
		}
	}
	return e, err
}
