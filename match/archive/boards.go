package archive

import (
	"fmt"

	"github.com/heroiclabs/nakama-common/runtime"
)

// leaderboard is one of Nakama's leaderboards, which shows one number of the statistics.
type leaderboard struct {
	id    string
	order string
	score func(*Stats) (int64, bool) // false: the player has none
}

// leaderboards are all of them. They are always set from the statistics, never raised, so whatever they show can be made right again.
func leaderboards() []leaderboard {
	return []leaderboard{
		{"set3d_wins", "desc", func(s *Stats) (int64, bool) { return int64(s.Wins), s.Matches > 0 }},
		{"set3d_sets", "desc", func(s *Stats) (int64, bool) { return int64(s.Sets), s.Matches > 0 }},
		{"set3d_rating", "desc", func(s *Stats) (int64, bool) { return int64(max(0, s.Rating())), s.Ranked > 0 }},
		{"set3d_fastest", "asc", func(s *Stats) (int64, bool) { return s.FastestTimedMs, s.FastestTimedMs > 0 }},
	}
}

// CreateLeaderboards makes the leaderboards that are not there.
func (a *Archive) CreateLeaderboards() error {
	for _, l := range leaderboards() {
		ctx, cancel := callContext()
		err := a.nk().LeaderboardCreate(ctx, l.id, true, l.order, "set", "", nil, true)
		cancel()
		if err != nil {
			return fmt.Errorf("leaderboard %s: %w", l.id, err)
		}
	}
	return nil
}

// publishAll shows what a settlement has changed on the leaderboards: of most matches one or two numbers a player.
func (a *Archive) publishAll(t *Table, s *settlement) error {
	if s.over { // by somebody who may not have come so far
		for userID, username := range s.alive {
			if err := a.publish(userID, username); err != nil {
				return fmt.Errorf("leaderboards of user %s: %w", userID, err)
			}
		}
		return nil
	}
	for seat := range s.stats {
		if err := a.publishChanges(t.Seats[seat].UserID, s, seat); err != nil {
			return fmt.Errorf("leaderboards of user %s: %w", t.Seats[seat].UserID, err)
		}
	}
	return nil
}

// publishChanges is publish for a player whose statistics were just written.
func (a *Archive) publishChanges(userID string, s *settlement, seat int) error {
	after := s.stats[seat]
	if after == nil || *after == s.before[seat] {
		return nil
	}
	for _, l := range leaderboards() {
		old, had := l.score(&s.before[seat])
		if score, has := l.score(after); has == had && score == old {
			continue
		}
		if err := a.setScore(l, after, userID, s.alive[userID]); err != nil {
			return fmt.Errorf("leaderboard %s: %w", l.id, err)
		}
	}
	switch _, now, err := a.readStats(userID); {
	case err != nil || now == s.versions[seat]:
		return err
	case now == "": // deleted meanwhile
		return a.unpublish(userID)
	}
	return a.publish(userID, s.alive[userID])
}

// publish shows a user's statistics on the leaderboards. Two matches of the user may end at once, in two processes, and the older statistics must
// not be shown last: what was written is looked at again until nothing has changed meanwhile.
func (a *Archive) publish(userID, username string) error {
	shown := false
	for range settleTries {
		s, version, err := a.readStats(userID)
		if err != nil {
			return err
		}
		if version == "" {
			if shown { // deleted meanwhile
				return a.unpublish(userID)
			}
			return nil
		}
		shown = true
		for _, l := range leaderboards() {
			if err := a.setScore(l, &s, userID, username); err != nil {
				return fmt.Errorf("leaderboard %s: %w", l.id, err)
			}
		}
		_, now, err := a.readStats(userID)
		if err != nil {
			return err
		}
		if now == version {
			return nil
		}
	}
	return errUnsteady
}

var errUnsteady = fmt.Errorf("the statistics have changed %d times meanwhile", settleTries)

func (a *Archive) setScore(l leaderboard, s *Stats, userID, username string) error {
	ctx, cancel := callContext()
	defer cancel()
	score, has := l.score(s)
	if !has {
		return nil
	}
	_, err := a.nk().LeaderboardRecordWrite(ctx, l.id, userID, username, score, 0, nil, nil)
	return err
}

// unpublish takes a user off the leaderboards.
func (a *Archive) unpublish(userID string) error {
	for _, l := range leaderboards() {
		ctx, cancel := callContext()
		err := a.nk().LeaderboardRecordDelete(ctx, l.id, userID)
		cancel()
		if err != nil {
			return fmt.Errorf("leaderboard %s: %w", l.id, err)
		}
	}
	return nil
}

// readStats returns a user's statistics and their version; "" if there are none.
func (a *Archive) readStats(userID string) (Stats, string, error) {
	ctx, cancel := callContext()
	defer cancel()
	objects, err := a.nk().StorageRead(ctx, []*runtime.StorageRead{{Collection: statsCollection, Key: statsKey, UserID: userID}})
	if err != nil || len(objects) == 0 {
		return newStats(), "", err
	}
	s, err := decodeStats(objects[0].Value)
	return s, objects[0].Version, err
}

// Stats returns a user's statistics; those of a newcomer if there are none.
func (a *Archive) Stats(userID string) (Stats, error) {
	s, _, err := a.readStats(userID)
	return s, err
}

// RepairLeaderboards sets all leaderboards from all statistics, and takes off whoever has none. It returns how many players it
// has looked at.
func (a *Archive) RepairLeaderboards() (int, error) {
	seen := 0
	err := a.list("", statsCollection, func(o object) error {
		seen++
		users, err := a.alive([]string{o.userID})
		if err != nil {
			return err
		}
		if username, exists := users[o.userID]; exists {
			return a.publish(o.userID, username)
		}
		return nil
	})
	for _, l := range leaderboards() {
		if err == nil {
			err = a.sweepLeaderboard(l)
		}
	}
	return seen, err
}

// sweepLeaderboard removes the records of those who have no number to be shown there.
func (a *Archive) sweepLeaderboard(l leaderboard) error {
	cursor := ""
	var owners []string
	for {
		ctx, cancel := callContext()
		records, _, next, _, err := a.nk().LeaderboardRecordsList(ctx, l.id, nil, pageSize, cursor, 0)
		cancel()
		if err != nil {
			return err
		}
		for _, r := range records {
			owners = append(owners, r.OwnerId)
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	for _, userID := range owners {
		s, version, err := a.readStats(userID)
		if err != nil {
			return err
		}
		if _, has := l.score(&s); has && version != "" {
			continue
		}
		ctx, cancel := callContext()
		err = a.nk().LeaderboardRecordDelete(ctx, l.id, userID)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}
