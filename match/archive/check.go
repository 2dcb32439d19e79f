package archive

import (
	"errors"
	"fmt"
	"math"

	"set3d/domain"
)

// Limits of what is stored. What is read is checked against them, although only the server writes it: an operator's
// hand, a backup of another server or a fault of an earlier version must cost no more than the one object.
const (
	valueMax  = 4 << 20 // bytes of an object
	idMax     = 64      // bytes of an id
	nameMax   = 1 << 10 // bytes of a name or a reason
	countMax  = 1 << 40 // of matches, Sets, milliseconds
	muMax     = 1_000   // of a rating, either side of 0; a newcomer's is 25
	reportMax = 64      // reports about a match: eight players about seven others each
	unixMsMax = 1 << 48 // the year 10889
)

// permanentError says that something can never succeed as it is.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

func permanent(err error) error { return permanentError{err} }

// isPermanent reports whether trying again is of no use: the data is at fault, not the database's state. Of the
// database's own errors these are the classes 22 (data exception) and 23 (integrity constraint) of SQL.
func isPermanent(err error) bool {
	if errors.As(err, new(permanentError)) {
		return true
	}
	var database interface{ SQLState() string }
	if !errors.As(err, &database) || len(database.SQLState()) != 5 {
		return false
	}
	class := database.SQLState()[:2]
	return class == "22" || class == "23"
}

func checkID(id string) error {
	if id == "" || len(id) > idMax {
		return fmt.Errorf("an id of %d bytes", len(id))
	}
	return nil
}

// checkUser checks the id of a user, which may be missing. That it is a UUID is not checked: alive knows what Nakama
// can be asked for.
func checkUser(id string) error {
	if len(id) > idMax {
		return fmt.Errorf("a user id of %d bytes", len(id))
	}
	return nil
}

func checkCounts(counts ...int64) error {
	for _, n := range counts {
		if n < 0 || n > countMax {
			return fmt.Errorf("a count of %d", n)
		}
	}
	return nil
}

func checkTexts(texts ...string) error {
	for _, text := range texts {
		if len(text) > nameMax {
			return fmt.Errorf("a text of %d bytes", len(text))
		}
	}
	return nil
}

func checkTime(unixMs int64) error {
	if unixMs < 0 || unixMs > unixMsMax {
		return fmt.Errorf("a time of %d ms", unixMs)
	}
	return nil
}

func (s *Stats) check() error {
	r := s.rating()
	if !r.IsValid() || math.Abs(r.Mu) > muMax || r.Sigma > muMax {
		return fmt.Errorf("a rating of %g, %g", r.Mu, r.Sigma)
	}
	return checkCounts(int64(s.Matches), int64(s.Wins), int64(s.Sets), int64(s.Misses), int64(s.Streak), int64(s.BestStreak),
		s.FastestTimedMs, int64(s.Ranked))
}

func (r *Result) check() error {
	if len(r.Players) > domain.MaxPlayers || len(r.Winners) > len(r.Players) {
		return fmt.Errorf("%d players, %d winners", len(r.Players), len(r.Winners))
	}
	for _, seat := range r.Winners {
		if seat < 0 || seat >= len(r.Players) {
			return fmt.Errorf("a winner at seat %d of %d", seat, len(r.Players))
		}
	}
	for i := range r.Players {
		p := &r.Players[i]
		if p.Seat != i || p.Wrong > p.Claims {
			return fmt.Errorf("seat %d of player %d, %d wrong claims of %d", p.Seat, i, p.Wrong, p.Claims)
		}
		err := errors.Join(checkCounts(int64(p.Claims), int64(p.Wrong), int64(p.Reaction.Count), p.Reaction.Fastest, p.Reaction.Median),
			checkUser(p.UserID), checkTexts(p.Name, p.Bot))
		if err != nil {
			return fmt.Errorf("player %d: %w", i, err)
		}
	}
	return errors.Join(checkID(r.ResultID), checkTime(r.StartedUnixMs), checkTime(r.EndedUnixMs),
		checkTexts(r.TableID, r.MatchID, r.Preset, r.Reason, r.Commitment, r.Key, r.RecordSHA256, r.RecordKey),
		checkCounts(r.DurationMs, int64(r.RecordBytes)))
}

func (s *storedRecord) check() error { return checkID(s.ResultID) }

func (t *Terms) check() error {
	if len(t.Seats) > domain.MaxPlayers {
		return fmt.Errorf("%d seats", len(t.Seats))
	}
	for i := range t.Seats {
		s := &t.Seats[i]
		if err := errors.Join(checkUser(s.UserID), checkTexts(s.Name, s.Avatar, s.Bot)); err != nil {
			return fmt.Errorf("seat %d: %w", i, err)
		}
	}
	return errors.Join(checkTime(t.StartedUnixMs), checkTexts(t.Preset))
}

func (p *Progress) check() error {
	switch p.State {
	case Running, Suspended, Ended, Abandoned, Aborted, Stopped, settled:
	default:
		return fmt.Errorf("state %.20q", p.State)
	}
	return errors.Join(checkID(p.ID), checkTexts(p.MatchID), checkTime(p.SavedUnixMs))
}

func (t *Table) check() error { return errors.Join(t.Progress.check(), t.Terms.check()) }

func (c *stored[T]) check() error {
	switch {
	case c.Format > checkpointFormat:
		return fmt.Errorf("%w: format %d, this one reads 1 to %d", errNewer, c.Format, checkpointFormat)
	case c.Format < 1:
		return fmt.Errorf("format %d", c.Format)
	}
	if table, ok := any(&c.Table).(*Table); ok {
		return errors.Join(table.check(), checkTexts(c.Owner.Node, c.Owner.Boot))
	}
	return nil
}

func (r *reports) check() error {
	if len(r.Reports) > reportMax {
		return fmt.Errorf("%d reports", len(r.Reports))
	}
	for i := range r.Reports {
		report := &r.Reports[i]
		if report.Seat < 0 || report.Seat >= domain.MaxPlayers || report.From < 0 || report.From >= domain.MaxPlayers {
			return fmt.Errorf("a report of seat %d about seat %d", report.From, report.Seat)
		}
	}
	return nil
}

func (n *node) check() error { return checkTime(n.UntilUnixMs) }
